//! The gamma function's logarithm and its derivatives, and the pieces of Stirling's formula.

use std::f64::consts::{LN_2, PI};

/// `½ log 2π`.
pub(super) const HALF_LN_2PI: f64 = 0.918_938_533_204_672_8;

/// `log Γ(x)` for `x > 0`; NaN elsewhere.
pub fn ln_gamma(x: f64) -> f64 {
    if x > 0.0 { libm::lgamma(x) } else { f64::NAN }
}

/// The digamma function `ψ(x) = d/dx log Γ(x)` for `x > 0`; NaN elsewhere.
///
/// Below 8 the argument is shifted by eight in one step: with `u = x² + 7x`, the factors of
/// `x(x+1)…(x+7)` pair up into `u(u+6)(u+10)(u+12)`, so the sum of the eight reciprocals is a single
/// ratio of polynomials with positive coefficients. Above, the asymptotic series (Abramowitz & Stegun
/// 1964, 6.3.18).
pub fn digamma(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return f64::NAN;
    }
    if x == f64::INFINITY {
        return x;
    }
    let (z, shift) = if x < 8.0 {
        let u = x * (x + 7.0);
        let numerator = 720.0 + u * (504.0 + u * (84.0 + u * 4.0));
        let denominator = u * (720.0 + u * (252.0 + u * (28.0 + u)));
        (x + 8.0, (2.0 * x + 7.0) * numerator / denominator)
    } else {
        (x, 0.0)
    };
    let r = 1.0 / z;
    let s = r * r;
    let tail = s
        * (1.0 / 12.0
            - s * (1.0 / 120.0
                - s * (1.0 / 252.0
                    - s * (1.0 / 240.0
                        - s * (1.0 / 132.0 - s * (691.0 / 32760.0 - s * (1.0 / 12.0)))))));
    z.ln() - (0.5 * r + tail) - shift
}

/// The trigamma function `ψ′(x)` for `x > 0`; NaN elsewhere.
///
/// The recurrence `ψ′(x) = ψ′(x+1) + 1/x²` up to 10, then the asymptotic series (Abramowitz & Stegun
/// 1964, 6.4.12).
pub fn trigamma(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return f64::NAN;
    }
    let mut z = x;
    let mut sum = 0.0;
    while z < 10.0 {
        sum += 1.0 / (z * z);
        z += 1.0;
    }
    let r = 1.0 / z;
    let s = r * r;
    let tail = 1.0 / 6.0
        - s * (1.0 / 30.0
            - s * (1.0 / 42.0
                - s * (1.0 / 30.0 - s * (5.0 / 66.0 - s * (691.0 / 2730.0 - s * (7.0 / 6.0))))));
    sum + r * (1.0 + r * (0.5 + r * tail))
}

/// The multivariate log-gamma function
/// `log Γ_p(x) = p(p−1)/4 · log π + Σ_{j=1..p} log Γ(x + (1−j)/2)`, for `x > (p−1)/2`; NaN elsewhere.
pub fn ln_multigamma(p: usize, x: f64) -> f64 {
    let dimension = p as f64;
    let constant = 0.25 * dimension * (dimension - 1.0) * PI.ln();
    (0..p).fold(constant, |sum, j| sum + ln_gamma(x - 0.5 * j as f64))
}

/// `log B(a, b)` for `a, b > 0`, without the cancellation of `log Γ(a) + log Γ(b) − log Γ(a+b)`.
///
/// Stirling's formula is applied to each gamma function and the large terms are combined by hand
/// (DiDonato & Morris 1992); what is left of each function is its Stirling error.
pub fn ln_beta(a: f64, b: f64) -> f64 {
    let (large, small) = if a >= b { (a, b) } else { (b, a) };
    if small.is_nan() || large.is_nan() || small <= 0.0 {
        return f64::NAN;
    }
    let sum = large + small;
    let ratio = small / large;
    HALF_LN_2PI - 0.5 * small.ln() - (large - 0.5) * ratio.ln_1p()
        + small * (ratio / (1.0 + ratio)).ln()
        + stirling_error(small)
        + (stirling_error(large) - stirling_error(sum))
}

/// The error of Stirling's formula, `log Γ(x) − (x−½) log x + x − ½ log 2π`.
///
/// The asymptotic series from 8 upwards, the definition below (Loader 2000).
pub(super) fn stirling_error(x: f64) -> f64 {
    if x >= 8.0 {
        let r = 1.0 / x;
        let s = r * r;
        r * (1.0 / 12.0
            - s * (1.0 / 360.0
                - s * (1.0 / 1260.0
                    - s * (1.0 / 1680.0
                        - s * (1.0 / 1188.0 - s * (691.0 / 360_360.0 - s * (1.0 / 156.0)))))))
    } else if x == 0.5 {
        0.5 - 0.5 * LN_2
    } else {
        libm::lgamma(x) - (x - 0.5) * x.ln() + x - HALF_LN_2PI
    }
}

/// `log(1+s) − s`, without cancellation for small `s`.
///
/// With `r = s/(2+s)` this is `−s·r + 2r³(1/3 + r²/5 + …)`.
pub(super) fn ln_1p_minus(s: f64) -> f64 {
    if s.abs() > 0.35 {
        return s.ln_1p() - s;
    }
    let r = s / (2.0 + s);
    let t = r * r;
    let series = 1.0 / 3.0
        + t * (1.0 / 5.0
            + t * (1.0 / 7.0
                + t * (1.0 / 9.0
                    + t * (1.0 / 11.0
                        + t * (1.0 / 13.0
                            + t * (1.0 / 15.0
                                + t * (1.0 / 17.0
                                    + t * (1.0 / 19.0 + t * (1.0 / 21.0 + t / 23.0)))))))));
    r * (2.0 * t * series - s)
}

/// The deviance `x log(x/m) + m − x ≥ 0` between a count `x` and its mean `m` (Loader 2000).
pub(super) fn deviance(x: f64, m: f64) -> f64 {
    let s = (m - x) / x;
    if s.abs() > 0.35 {
        // Not ln_1p(s): a ratio below 1e-16 would be lost in s = −1.
        x * (s - (m / x).ln())
    } else {
        -x * ln_1p_minus(s)
    }
}
