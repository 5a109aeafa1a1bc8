//! The gamma distribution with unit rate: the regularised incomplete gamma function and its inverse.

use super::gamma::{deviance, ln_1p_minus, ln_gamma, stirling_error};
use super::root::{Trial, solve};
use super::{normal, tail};
use std::f64::consts::PI;

/// From this shape upwards the tail integral is cheaper than the series and the fraction.
const LARGE_SHAPE: f64 = 1500.0;

/// `P(X ≤ x)` for `X ~ Gamma(shape, 1)`.
pub fn cdf(shape: f64, x: f64) -> f64 {
    tails(shape, x).0
}

/// `P(X > x)` for `X ~ Gamma(shape, 1)`.
pub fn sf(shape: f64, x: f64) -> f64 {
    tails(shape, x).1
}

/// The log density `(shape−1) log x − x − log Γ(shape)`; −∞ outside the support.
pub fn ln_pdf(shape: f64, x: f64) -> f64 {
    if invalid(shape) || x.is_nan() {
        f64::NAN
    } else if x < 0.0 || x == f64::INFINITY {
        f64::NEG_INFINITY
    } else if x == 0.0 {
        match shape.total_cmp(&1.0) {
            std::cmp::Ordering::Less => f64::INFINITY,
            std::cmp::Ordering::Equal => 0.0,
            std::cmp::Ordering::Greater => f64::NEG_INFINITY,
        }
    } else {
        ln_kernel(shape, x) - x.ln()
    }
}

/// The `p`-quantile; NaN for `p` outside [0, 1].
///
/// For tiny shapes a quantile may lie below the smallest positive number, and is then 0.
pub fn quantile(shape: f64, p: f64) -> f64 {
    shape * log_ratio_quantile(shape, p, 1.0 - p).exp()
}

/// The logarithm of the ratio of a quantile to `shape`, for lower tail `p` and upper tail `q`, where
/// `p + q = 1`; near 0 for large shapes, so that its rounding does not matter there.
pub(crate) fn log_ratio_quantile(shape: f64, p: f64, q: f64) -> f64 {
    if invalid(shape) || !(p >= 0.0 && q >= 0.0) {
        return f64::NAN;
    }
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    if q == 0.0 {
        return f64::INFINITY;
    }
    // As x → 0 the tail is x^shape/Γ(shape+1): exact when x is negligible, and always a lower bound.
    let left = (p.ln() + ln_gamma(shape + 1.0)) / shape;
    if left < -40.0 {
        return left - shape.ln();
    }
    // Wilson & Hilferty (1931): the cube root of a gamma variable is nearly Normal.
    let z = if p < q { normal::quantile(p) } else { -normal::quantile(q) };
    let c = 1.0 / (9.0 * shape);
    let root = 1.0 - c + z * c.sqrt();
    let bound = left - shape.ln();
    let start = if root > 0.1 { bound.max(3.0 * root.ln()) } else { bound };
    let lower = p <= q;
    solve(if lower { p } else { q }, lower, start, (bound, f64::INFINITY), |v| {
        let x = shape * v.exp();
        let (cdf, sf) = tails(shape, x);
        Trial {
            tail: if lower { cdf } else { sf },
            density: ln_kernel(shape, x).exp(),
            slope: shape - x,
        }
    })
}

/// Whether a shape parameter is not a positive finite number.
fn invalid(shape: f64) -> bool {
    !(shape > 0.0 && shape < f64::INFINITY)
}

/// `log(x^shape e^-x / Γ(shape))`, the log density of `log X`, in Loader's (2000) form.
fn ln_kernel(shape: f64, x: f64) -> f64 {
    0.5 * (shape / (2.0 * PI)).ln() - stirling_error(shape) - deviance(shape, x)
}

/// Both tails at `x`.
fn tails(shape: f64, x: f64) -> (f64, f64) {
    if invalid(shape) || x.is_nan() {
        return (f64::NAN, f64::NAN);
    }
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    if x == f64::INFINITY {
        return (1.0, 0.0);
    }
    let kernel = ln_kernel(shape, x).exp();
    let upper =
        if shape > LARGE_SHAPE { x > shape } else { x > shape + 1.0 || x > 1.5 * shape + 0.5 };
    if kernel == 0.0 {
        return if x > shape { (1.0, 0.0) } else { (0.0, 1.0) };
    }
    let small = if shape > LARGE_SHAPE {
        let lean = shape - x;
        kernel * tail::integrate(lean.abs(), shape, upper, |s| shape * ln_1p_minus(s) + lean * s)
    } else if upper {
        kernel * upper_fraction(shape, x)
    } else {
        kernel * lower_series(shape, x)
    };
    let small = small.min(1.0);
    if upper { (1.0 - small, small) } else { (small, 1.0 - small) }
}

/// `Σ_n x^n / (shape)_{n+1}`: the lower tail divided by the kernel (DLMF 8.11.4).
fn lower_series(shape: f64, x: f64) -> f64 {
    let mut term = 1.0 / shape;
    let mut sum = term;
    let mut n = shape;
    loop {
        n += 1.0;
        term *= x / n;
        sum += term;
        if term <= f64::EPSILON * 0.1 * sum {
            return sum;
        }
    }
}

/// The upper tail divided by the kernel, as Legendre's continued fraction (DLMF 8.9.2) in its even form,
/// by the forward recurrence for numerators and denominators.
fn upper_fraction(shape: f64, x: f64) -> f64 {
    let mut partial = x + 1.0 - shape;
    let (mut a0, mut a1) = (0.0, 1.0);
    let (mut b0, mut b1) = (1.0, partial);
    let mut previous = f64::NAN;
    let mut n = 0.0;
    for _ in 0..10_000 {
        for _ in 0..4 {
            n += 1.0;
            partial += 2.0;
            let factor = n * (shape - n);
            (a0, a1) = (a1, partial * a1 + factor * a0);
            (b0, b1) = (b1, partial * b1 + factor * b0);
        }
        let value = a1 / b1;
        if (value - previous).abs() <= 2.0 * f64::EPSILON * value.abs() {
            return value;
        }
        previous = value;
        if b1.abs() > 1e150 {
            for c in [&mut a0, &mut a1, &mut b0, &mut b1] {
                *c *= 1e-150;
            }
        }
    }
    previous
}
