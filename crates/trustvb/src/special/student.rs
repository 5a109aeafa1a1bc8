//! Student's t distribution, as a beta distribution of `t²/(df + t²)`.

use super::gamma::{HALF_LN_2PI, ln_beta};
use super::{beta, normal};

/// Beyond these degrees of freedom a t is a Normal to working precision.
const NORMAL_FROM: f64 = 1e17;

/// `P(T ≤ t)` with `df` degrees of freedom.
pub fn cdf(df: f64, t: f64) -> f64 {
    if df >= NORMAL_FROM {
        return normal::cdf(t);
    }
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    let size = t.abs();
    let (inner, outer) = if size > 1e100 * df.sqrt().max(1.0) {
        // The square would overflow; only the leading term of the tail is left.
        let a = 0.5 * df;
        let tail = (a * (df.ln() - 2.0 * size.ln()) - a.ln() - ln_beta(a, 0.5)).exp();
        (1.0 - tail, tail)
    } else {
        let ratio = size / df.sqrt();
        let odds = ratio * ratio;
        // Both come from one quotient, so that neither is found by subtraction.
        let y = odds / (1.0 + odds);
        let x = 1.0 / (1.0 + odds);
        beta::tails(0.5, 0.5 * df, y, x)
    };
    if t <= 0.0 { 0.5 * outer } else { 0.5 + 0.5 * inner }
}

/// The log density `−(df+1)/2 · log(1 + t²/df) − ½ log df − log B(df/2, ½)`.
pub fn ln_pdf(df: f64, t: f64) -> f64 {
    if df >= NORMAL_FROM {
        return -0.5 * t * t - HALF_LN_2PI;
    }
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    let ratio = t.abs() / df.sqrt();
    let growth = if ratio > 1e100 { 2.0 * ratio.ln() } else { (ratio * ratio).ln_1p() };
    -0.5 * (df + 1.0) * growth - 0.5 * df.ln() - ln_beta(0.5 * df, 0.5)
}

/// The `p`-quantile: ∓∞ at `p = 0, 1`, NaN outside [0, 1].
///
/// The odds of `y = t²/(df + t²)`, divided by the ratio `1/df` of its shapes, are `t²`.
pub fn quantile(df: f64, p: f64) -> f64 {
    if df >= NORMAL_FROM {
        return normal::quantile(p);
    }
    if p == 0.5 && df > 0.0 {
        return 0.0;
    }
    let tail = p.min(1.0 - p);
    let ln_square = beta::log_ratio_quantile(0.5, 0.5 * df, 1.0 - 2.0 * tail, 2.0 * tail);
    let size = (0.5 * ln_square).exp();
    if p < 0.5 { -size } else { size }
}
