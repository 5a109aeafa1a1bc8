//! The standard Normal distribution.

use super::gamma::HALF_LN_2PI;
use std::f64::consts::FRAC_1_SQRT_2;

/// `P(Z ≤ z) = ½ erfc(−z/√2)`.
pub fn cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

/// `P(Z > z)`.
pub fn sf(z: f64) -> f64 {
    cdf(-z)
}

/// `log φ(z) = −½z² − ½ log 2π`.
pub fn ln_pdf(z: f64) -> f64 {
    -0.5 * z * z - HALF_LN_2PI
}

/// The `p`-quantile: ∓∞ at `p = 0, 1`, NaN outside [0, 1].
pub fn quantile(p: f64) -> f64 {
    if p <= 0.5 { lower_quantile(p) } else { -lower_quantile(1.0 - p) }
}

/// The quantile for `p ≤ ½`.
///
/// Starts from a rational function of `√(−2 log p)` that is within 4.5e-4 (Hastings 1955, in
/// Abramowitz & Stegun 1964, 26.2.23), then takes Halley steps on the logarithm of the tail.
fn lower_quantile(p: f64) -> f64 {
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    if p.is_nan() || p < 0.0 {
        return f64::NAN;
    }
    if p == 0.5 {
        return 0.0;
    }
    let t = (-2.0 * p.ln()).sqrt();
    let mut z = (2.515_517 + t * (0.802_853 + t * 0.010_328))
        / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)))
        - t;
    for _ in 0..2 {
        let tail = cdf(z);
        let gap = ((tail - p) / p).ln_1p();
        let hazard = ln_pdf(z).exp() / tail;
        let newton = gap / hazard;
        let step = newton / (1.0 + 0.5 * newton * (z + hazard));
        if !step.is_finite() {
            break;
        }
        z -= step;
    }
    z
}
