//! Tail integrals of nearly Gaussian densities, for shapes so large that fractions converge slowly.

/// Nodes in (0, 1) of the Gauss–Legendre rule on [−1, 1]; the rule is symmetric.
const NODES: [f64; HALF] = [
    0.06405689286260563,
    0.1911188674736163,
    0.3150426796961634,
    0.4337935076260451,
    0.5454214713888396,
    0.6480936519369755,
    0.7401241915785544,
    0.820001985973903,
    0.8864155270044011,
    0.9382745520027328,
    0.9747285559713095,
    0.9951872199970213,
];

/// Weights of [`NODES`].
const WEIGHTS: [f64; HALF] = [
    0.12793819534675216,
    0.1258374563468283,
    0.12167047292780339,
    0.1155056680537256,
    0.10744427011596563,
    0.09761865210411388,
    0.08619016153195327,
    0.0733464814110803,
    0.05929858491543678,
    0.04427743881741981,
    0.028531388628933663,
    0.0123412297999872,
];

/// Half the number of points of the rule.
const HALF: usize = 12;

/// A tail is cut where its density has fallen by `e^-CUT`.
const CUT: f64 = 40.0;

/// `∫ exp(g(s))/(1+s) ds` from 0 outwards, upwards if `up` and else downwards, where `g(0) = 0`.
///
/// `slope ≥ 0` is how fast `g` falls at 0 in that direction and `curvature > 0` is `−g″(0)`, both only
/// to place the end of the integral. `s` is a relative change of a positive quantity, so that
/// `ds/(1+s)` is an element of its logarithm.
pub(super) fn integrate(slope: f64, curvature: f64, up: bool, g: impl Fn(f64) -> f64) -> f64 {
    let length = 2.0 * CUT / (slope + (slope * slope + 2.0 * CUT * curvature).sqrt());
    let half = if up { 0.5 * length } else { -0.5 * length };
    let mut sum = 0.0;
    for (node, weight) in NODES.iter().zip(&WEIGHTS) {
        let near = half * (1.0 - node);
        let far = half * (1.0 + node);
        sum += weight * (g(near).exp() / (1.0 + near) + g(far).exp() / (1.0 + far));
    }
    0.5 * length * sum
}
