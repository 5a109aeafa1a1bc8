//! Functionals against closed forms, draws and hand computation, and every message users can meet.

mod errors;
mod laws;
mod parsing;
mod sampling;

use super::*;
use crate::posterior::{Block, Family};

/// Two components, three columns, one of them with an odd name.
pub(super) fn gmm() -> (Layout, Vec<f64>) {
    let coordinates = ["eruptions", "waiting", "a b"].map(str::to_owned).to_vec();
    let layout = Layout::new(
        2,
        coordinates,
        vec![Block::weights("pi", 2), Block::centre("mu_lambda", Family::NormalWishart, 2, 3)],
    );
    let parameters = vec![
        40.0, 20.0, // α
        30.0, 33.0, 4.0, 80.0, -1.0, 3.0, 1.0, 90.0, 0.5, -2.0, 2.5, // β ν m W^-1
        12.0, 15.5, 2.0, 55.0, 2.0, 1.0, 0.2, 40.0, 0.1, 0.3, 5.0,
    ];
    assert_eq!(layout.len(), parameters.len());
    (layout, parameters)
}

/// Three components, two coefficients, a precision and a noise precision each.
pub(super) fn bmlr() -> (Layout, Vec<f64>) {
    let coordinates = ["(Intercept)", "x1"].map(str::to_owned).to_vec();
    let layout = Layout::new(
        3,
        coordinates,
        vec![
            Block::weights("pi", 3),
            Block::centre("beta", Family::MvNormal, 3, 2),
            Block::component("tau", Family::Gamma, 3, 1),
            Block::component("noise", Family::Gamma, 3, 1),
        ],
    );
    let parameters = vec![
        5.0, 3.0, 0.4, // α
        1.0, -2.0, 0.5, 0.1, 0.3, // m S
        0.0, 2.0, 0.2, -0.05, 0.1, //
        3.0, 0.5, 1.0, 0.0, 2.0, //
        2.5, 1.5, 2.0, 0.7, 1.1, 4.0, // a b of tau
        20.0, 5.0, 8.0, 16.0, 30.0, 3.0, // a b of noise
    ];
    assert_eq!(layout.len(), parameters.len());
    (layout, parameters)
}

pub(super) fn parts(text: &str, layout: &Layout) -> Vec<Part> {
    Functional::parse(text, layout).unwrap_or_else(|e| panic!("{e}")).parts
}

pub(super) fn one(text: &str, layout: &Layout) -> Part {
    let mut parts = parts(text, layout);
    assert_eq!(parts.len(), 1, "{text}");
    parts.remove(0)
}

#[track_caller]
pub(super) fn close(found: f64, expected: f64) {
    let tolerance = 1e-12 * expected.abs().max(1.0);
    assert!((found - expected).abs() <= tolerance, "{found} for {expected}");
}
