//! What can be written in a functional, for a page that completes it.

use super::advice::{function_names, quote};
use super::quantity::{Axis, QUANTITIES};
use crate::posterior::Layout;
use serde::Serialize;

/// The names that functionals of one layout are made of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Vocabulary {
    /// The quantities.
    pub quantities: Vec<QuantityName>,
    /// Number of components.
    pub components: usize,
    /// Names of columns or coefficients as they must be typed.
    pub coordinates: Vec<String>,
    /// Functions.
    pub functions: Vec<&'static str>,
}

/// A quantity that can be named.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QuantityName {
    /// Its name.
    pub name: &'static str,
    /// What each of its indices runs over: `component` or `coordinate`.
    pub indices: Vec<&'static str>,
}

impl Vocabulary {
    /// Of posteriors with this layout.
    pub fn new(layout: &Layout) -> Vocabulary {
        let index = |axis: &Axis| match axis {
            Axis::Component => "component",
            Axis::Coordinate => "coordinate",
        };
        let there = QUANTITIES.iter().filter(|quantity| quantity.block(layout).is_some());
        Vocabulary {
            quantities: there
                .map(|q| QuantityName { name: q.name, indices: q.axes.iter().map(index).collect() })
                .collect(),
            components: layout.n_components,
            coordinates: layout.coordinates.iter().map(|name| quote(name)).collect(),
            functions: function_names(),
        }
    }
}
