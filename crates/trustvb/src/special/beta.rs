//! The beta distribution: the regularised incomplete beta function and its inverse.

use super::gamma::{deviance, ln_1p_minus, ln_beta, stirling_error};
use super::root::{Trial, solve};
use super::{normal, tail};
use std::f64::consts::PI;

/// When both shapes exceed this the tail integral is cheaper than the fraction.
const LARGE_SHAPE: f64 = 1500.0;

/// `P(X ≤ x)` for `X ~ Beta(a, b)`, the regularised incomplete beta function `I_x(a, b)`.
pub fn cdf(a: f64, b: f64, x: f64) -> f64 {
    tails(a, b, x, 1.0 - x).0
}

/// `P(X > x)` for `X ~ Beta(a, b)`.
pub fn sf(a: f64, b: f64, x: f64) -> f64 {
    tails(a, b, x, 1.0 - x).1
}

/// The log density `(a−1) log x + (b−1) log(1−x) − log B(a, b)`; −∞ outside the support.
pub fn ln_pdf(a: f64, b: f64, x: f64) -> f64 {
    let at_end = |shape: f64, other: f64| match shape.total_cmp(&1.0) {
        std::cmp::Ordering::Less => f64::INFINITY,
        std::cmp::Ordering::Equal => other.ln(),
        std::cmp::Ordering::Greater => f64::NEG_INFINITY,
    };
    if invalid(a, b) || x.is_nan() {
        f64::NAN
    } else if !(0.0..=1.0).contains(&x) {
        f64::NEG_INFINITY
    } else if x == 0.0 {
        at_end(a, b)
    } else if x == 1.0 {
        at_end(b, a)
    } else {
        ln_kernel(a, b, x, 1.0 - x) - x.ln() - (-x).ln_1p()
    }
}

/// The `p`-quantile; NaN for `p` outside [0, 1].
///
/// For tiny shapes a quantile may be closer to 0 or 1 than any other number is, and is then that end.
pub fn quantile(a: f64, b: f64, p: f64) -> f64 {
    let (x, y) = at_log_ratio(a, b, log_ratio_quantile(a, b, p, 1.0 - p));
    if y < x { 1.0 - y } else { x }
}

/// The quantile with lower tail `p` and upper tail `q`, where `p + q = 1`, as the logarithm of the ratio
/// of its odds `x/(1−x)` to `a/b`.
///
/// This is the logit moved to where it is near 0 when the shapes are large, so that its rounding does
/// not matter there.
pub(crate) fn log_ratio_quantile(a: f64, b: f64, p: f64, q: f64) -> f64 {
    if invalid(a, b) || !(p >= 0.0 && q >= 0.0) {
        return f64::NAN;
    }
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    if q == 0.0 {
        return f64::INFINITY;
    }
    if p > q { -lower_log_ratio_quantile(b, a, q, p) } else { lower_log_ratio_quantile(a, b, p, q) }
}

/// [`log_ratio_quantile`] for `p ≤ ½`.
fn lower_log_ratio_quantile(a: f64, b: f64, p: f64, q: f64) -> f64 {
    let n = a + b;
    let centre = (a / b).ln();
    let ln_norm = ln_beta(a, b);
    // As x → 0 the lower tail is odds^a/(a B(a,b)), and as x → 1 the upper is odds^-b/(b B(a,b)): exact
    // where the smaller of x and 1−x is negligible. The logarithm of a tail is concave in the logit, so
    // these lines lie above the tails and their roots enclose the quantile.
    let negligible = 40.0 + n.ln().max(0.0);
    let left = (p.ln() + a.ln() + ln_norm) / a;
    if left < -negligible {
        return left - centre;
    }
    let right = -(q.ln() + b.ln() + ln_norm) / b;
    if right > negligible {
        return right - centre;
    }
    let bracket = (left - centre, right - centre);
    let guess = if a.min(b) > 1.0 {
        // Half the logarithm of an F variable is nearly Normal (Fisher & Cornish 1960, in
        // Abramowitz & Stegun 1964, 26.5.22).
        let z = -normal::quantile(p);
        let (ra, rb) = (1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0));
        let h = 2.0 / (ra + rb);
        let l = (z * z - 3.0) / 6.0;
        let w = z * (h + l).max(0.0).sqrt() / h - (rb - ra) * (l + 5.0 / 6.0 - 2.0 / (3.0 * h));
        -2.0 * w
    } else {
        bracket.0
    };
    let start = guess.max(bracket.0).min(bracket.1);
    solve(p, true, start, bracket, |w| {
        let (x, y) = at_log_ratio(a, b, w);
        Trial {
            tail: tails(a, b, x, y).0,
            density: ln_kernel(a, b, x, y).exp(),
            slope: a * y - b * x,
        }
    })
}

/// The probability whose odds are `a/b · e^w`, and its complement.
fn at_log_ratio(a: f64, b: f64, w: f64) -> (f64, f64) {
    let e = (-w.abs()).exp();
    let (a, b) = if w > 0.0 { (a, b * e) } else { (a * e, b) };
    (a / (a + b), b / (a + b))
}

/// Whether a shape parameter is not a positive finite number.
fn invalid(a: f64, b: f64) -> bool {
    !(a > 0.0 && b > 0.0 && a < f64::INFINITY && b < f64::INFINITY)
}

/// `log(x^a y^b / B(a, b))`, the log density of `logit X`, in Loader's (2000) form.
fn ln_kernel(a: f64, b: f64, x: f64, y: f64) -> f64 {
    let n = a + b;
    0.5 * (a / (2.0 * PI) * (b / n)).ln()
        + (stirling_error(n) - stirling_error(a) - stirling_error(b))
        - deviance(a, n * x)
        - deviance(b, n * y)
}

/// Both tails at `x`, given with its complement `y = 1 − x`.
pub(crate) fn tails(a: f64, b: f64, x: f64, y: f64) -> (f64, f64) {
    if invalid(a, b) || x.is_nan() || y.is_nan() {
        return (f64::NAN, f64::NAN);
    }
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    if y <= 0.0 {
        return (1.0, 0.0);
    }
    if a > b && b > LARGE_SHAPE {
        // The two terms of the tail integrand's exponent would cancel for a ≫ b.
        let (sf, cdf) = tails(b, a, y, x);
        return (cdf, sf);
    }
    // a·y − b·x = a − (a+b)x is positive below the mean.
    let lean = a * y - b * x;
    let kernel = ln_kernel(a, b, x, y).exp();
    if kernel == 0.0 {
        return if lean > 0.0 { (0.0, 1.0) } else { (1.0, 0.0) };
    }
    if a.min(b) > LARGE_SHAPE {
        let n = a + b;
        // s is the relative change of the odds x/y.
        let g = |s: f64| a * ln_1p_minus(s) - n * ln_1p_minus(x * s) + lean * s;
        let small = kernel * tail::integrate(lean.abs(), n * x * y, lean < 0.0, g);
        return if lean < 0.0 { (1.0 - small, small) } else { (small, 1.0 - small) };
    }
    if x * (a + b + 2.0) <= a + 1.0 {
        let small = (kernel * lower(a, b, x, y, lean)).min(1.0);
        (small, 1.0 - small)
    } else {
        let small = (kernel * lower(b, a, y, x, -lean)).min(1.0);
        (1.0 - small, small)
    }
}

/// The lower tail divided by the kernel `x^a y^b / B(a, b)`, for `x` up to about the mean.
fn lower(a: f64, b: f64, x: f64, y: f64, lean: f64) -> f64 {
    if (a + b) * x < 0.9 * (a + 1.0) && x < 0.9 && (a + b) * x < 2.0 {
        lower_series(a, b, x)
    } else {
        lower_fraction(a, b, x, y, lean)
    }
}

/// `Σ_n (a+b)_n x^n / (a)_{n+1}`, whose terms are all positive (DLMF 8.17.8).
fn lower_series(a: f64, b: f64, x: f64) -> f64 {
    let mut term = 1.0 / a;
    let mut sum = term;
    let mut n = 0.0;
    loop {
        term *= (a + b + n) / (a + 1.0 + n) * x;
        n += 1.0;
        sum += term;
        if term <= 0.1 * f64::EPSILON * sum {
            return sum;
        }
    }
}

/// The continued fraction of DiDonato & Morris (1992, eq. 9), by the forward recurrence for numerators
/// and denominators.
fn lower_fraction(a: f64, b: f64, x: f64, y: f64, lean: f64) -> f64 {
    // Partial denominator b_n and numerator a_n of 1/(b_0 + a_1/(b_1 + …)).
    let mut inverse = 1.0 / (a + 1.0);
    let (mut p0, mut p1) = (0.0, 1.0);
    let (mut q0, mut q1) = (1.0, a * (lean + 1.0) * inverse);
    let mut previous = f64::NAN;
    let mut n = 0.0;
    for _ in 0..100_000 {
        for _ in 0..4 {
            n += 1.0;
            // inverse is 1/(a + 2n − 1) here and 1/(a + 2n + 1) below.
            let step = n * (b - n) * x * inverse;
            let numerator = (a + n - 1.0) * (a + b + n - 1.0) * x * inverse * step;
            inverse = 1.0 / (a + 2.0 * n + 1.0);
            let denominator = n + step + (a + n) * (lean + 1.0 + n * (1.0 + y)) * inverse;
            (p0, p1) = (p1, denominator * p1 + numerator * p0);
            (q0, q1) = (q1, denominator * q1 + numerator * q0);
        }
        let value = p1 / q1;
        if (value - previous).abs() <= 2.0 * f64::EPSILON * value.abs() {
            return value;
        }
        previous = value;
        if q1.abs() > 1e150 {
            for c in [&mut p0, &mut p1, &mut q0, &mut q1] {
                *c *= 1e-150;
            }
        }
    }
    previous
}
