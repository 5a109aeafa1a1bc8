//! What can be written in a functional, for a page that completes it.

use super::advice::{function_names, quote};
use super::quantity::quantities_in;
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
    /// What it is, in a word or two.
    pub words: &'static str,
    /// What each of its indices runs over: `component`, `coordinate` or `level`.
    pub indices: Vec<&'static str>,
}

impl Vocabulary {
    /// Of posteriors with this layout.
    pub fn new(layout: &Layout) -> Vocabulary {
        Vocabulary {
            quantities: quantities_in(layout)
                .map(|q| QuantityName {
                    name: q.name,
                    words: q.words,
                    indices: q.axes().iter().map(|axis| axis.name()).collect(),
                })
                .collect(),
            components: layout.n_components,
            coordinates: layout.coordinates.iter().map(|name| quote(name)).collect(),
            functions: function_names(),
        }
    }
}
