//! The gamma function's logarithm and its derivatives, and the pieces of Stirling's formula.

use crate::simd::{InstructionSet, Kernel, LANES, Vector, dispatch_on, ln};
use std::f64::consts::{LN_2, PI};

/// `c_0 + c_1 x + c_2 x² + …`.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, &c| sum * x + c)
}

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
    let tail = s * polynomial(&DIGAMMA_SERIES, s);
    z.ln() - (0.5 * r + tail) - shift
}

/// ψ and log Γ of many positive arguments, computed eight at a time.
///
/// A sweep needs a dozen of each; one by one they would cost as much as the E-step of a few hundred
/// rows. Absolute errors are a few units of rounding of `log Γ(x + 8)`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    len: usize,
    arguments: Vec<[f64; LANES]>,
    digammas: Vec<[f64; LANES]>,
    ln_gammas: Vec<[f64; LANES]>,
}

/// Beyond these the product of eight factors could overflow, or its reciprocal.
const SAFE: std::ops::Range<f64> = 1e-200..1e30;

impl Batch {
    /// Takes `arguments` and computes both functions of all of them, for [`Batch::digamma`] and
    /// [`Batch::ln_gamma`] by position.
    pub(crate) fn evaluate(&mut self, arguments: impl Iterator<Item = f64>) {
        self.len = 0;
        let mut ordinary = true;
        for x in arguments {
            let (block, lane) = (self.len / LANES, self.len % LANES);
            if block == self.arguments.len() {
                self.arguments.push([1.0; LANES]);
                self.digammas.push([0.0; LANES]);
                self.ln_gammas.push([0.0; LANES]);
            }
            self.arguments[block][lane] = x;
            ordinary &= SAFE.contains(&x);
            self.len += 1;
        }
        let blocks = self.len.div_ceil(LANES);
        if ordinary {
            // Lanes past the end hold ones or older arguments.
            let kernel = DigammaLnGamma {
                arguments: &self.arguments[..blocks],
                digammas: &mut self.digammas,
                ln_gammas: &mut self.ln_gammas,
            };
            dispatch_on(InstructionSet::best(), kernel);
        } else {
            for i in 0..self.len {
                let (block, lane) = (i / LANES, i % LANES);
                let x = self.arguments[block][lane];
                self.digammas[block][lane] = digamma(x);
                self.ln_gammas[block][lane] = ln_gamma(x);
            }
        }
    }

    /// `ψ` of argument `i`.
    pub(crate) fn digamma(&self, i: usize) -> f64 {
        self.digammas[i / LANES][i % LANES]
    }

    /// `log Γ` of argument `i`.
    pub(crate) fn ln_gamma(&self, i: usize) -> f64 {
        self.ln_gammas[i / LANES][i % LANES]
    }
}

struct DigammaLnGamma<'a> {
    arguments: &'a [[f64; LANES]],
    digammas: &'a mut [[f64; LANES]],
    ln_gammas: &'a mut [[f64; LANES]],
}

impl Kernel for DigammaLnGamma<'_> {
    type Output = ();

    /// Every argument is shifted by eight as in [`digamma`], then both asymptotic series.
    #[inline(always)]
    fn run<V: Vector>(self) {
        let number = |x: f64| V::splat(x);
        let outputs = self.digammas.iter_mut().zip(self.ln_gammas);
        for (x, (psi, ln_gamma)) in self.arguments.iter().zip(outputs) {
            let x = V::load(x);
            let u = x.mul(x.add(number(7.0)));
            // Coefficients from the constant upwards.
            let polynomial = |coefficients: &[f64], x: V| {
                let terms = coefficients.iter().rev();
                terms.fold(V::zero(), |sum, &c| sum.mul_add(x, number(c)))
            };
            let numerator = polynomial(&[720.0, 504.0, 84.0, 4.0], u);
            let product = u.mul(polynomial(&[720.0, 252.0, 28.0, 1.0], u));
            let z = x.add(number(8.0));
            // One division for 1/z and the sum of reciprocals.
            let both = number(1.0).div(z.mul(product));
            let r = both.mul(product);
            let shift = x.mul_add(number(2.0), number(7.0)).mul(numerator).mul(both.mul(z));
            let s = r.mul(r);
            let ln_z = ln(z);
            let tail = s.mul(polynomial(&DIGAMMA_SERIES, s));
            ln_z.sub(r.mul_add(number(0.5), tail)).sub(shift).store(psi);
            let error = r.mul(polynomial(&STIRLING_SERIES, s));
            let leading = z.sub(number(0.5)).mul_add(ln_z, number(HALF_LN_2PI));
            let stirling = leading.sub(z).add(error);
            stirling.sub(ln(product)).store(ln_gamma);
        }
    }
}

/// Coefficients of `s, s², …` in `log z − ½/z − ψ(z)`, with `s = 1/z²`.
const DIGAMMA_SERIES: [f64; 7] = [
    1.0 / 12.0,
    -1.0 / 120.0,
    1.0 / 252.0,
    -1.0 / 240.0,
    1.0 / 132.0,
    -691.0 / 32_760.0,
    1.0 / 12.0,
];

/// Coefficients of `r, rs, rs², …` in the error of Stirling's formula, with `r = 1/z` and `s = r²`.
const STIRLING_SERIES: [f64; 7] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
];

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
    let tail = polynomial(
        &[1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0],
        s,
    );
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
        r * polynomial(&STIRLING_SERIES, s)
    } else if x == 0.5 {
        0.5 - 0.5 * LN_2
    } else {
        libm::lgamma(x) - (x - 0.5) * x.ln() + x - HALF_LN_2PI
    }
}

/// 1/3, 1/5, …, 1/23.
const RECIPROCALS_OF_ODD: [f64; 11] = [
    1.0 / 3.0,
    1.0 / 5.0,
    1.0 / 7.0,
    1.0 / 9.0,
    1.0 / 11.0,
    1.0 / 13.0,
    1.0 / 15.0,
    1.0 / 17.0,
    1.0 / 19.0,
    1.0 / 21.0,
    1.0 / 23.0,
];

/// `log(1+s) − s`, without cancellation for small `s`.
///
/// With `r = s/(2+s)` this is `−s·r + 2r³(1/3 + r²/5 + …)`.
pub(super) fn ln_1p_minus(s: f64) -> f64 {
    if s.abs() > 0.35 {
        return s.ln_1p() - s;
    }
    let r = s / (2.0 + s);
    let t = r * r;
    let series = polynomial(&RECIPROCALS_OF_ODD, t);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_equals_the_functions_one_by_one() {
        let mut xs: Vec<f64> = (0..2001).map(|i| 10f64.powf(-4.0 + 0.006 * i as f64)).collect();
        xs.extend([0.5, 1.0, 1.5, 2.0, 3.0]);
        let mut batch = Batch::default();
        for xs in [&xs[..], &[1e-3, 1e40, 2.0], &[0.3]] {
            batch.evaluate(xs.iter().copied());
            for (i, &x) in xs.iter().enumerate() {
                let (psi, expected) = (batch.digamma(i), digamma(x));
                let size = expected.abs().max(1.0);
                assert!((psi - expected).abs() <= 1e-14 * size, "ψ({x}): {psi} {expected}");
                let (ln_gamma, expected) = (batch.ln_gamma(i), libm::lgamma(x));
                let size = expected.abs().max(10.0);
                assert!((ln_gamma - expected).abs() <= 1e-15 * size, "logΓ({x}): {ln_gamma}");
            }
        }
        batch.evaluate([f64::NAN, -1.0].into_iter());
        assert!(batch.digamma(0).is_nan() && batch.ln_gamma(1).is_nan());
    }
}
