//! Exponential and logarithm of eight doubles, within 2 units in the last place.

use super::Vector;

/// Bits of √½: subtracting them before taking the exponent puts the mantissa into `[√½, √2)`.
pub(super) const SQRT_HALF_BITS: u64 = 0x3FE6_A09E_667F_3BCD;

/// `1.5·2^52`: adding it rounds a small double to an integer, kept in the low bits of the sum.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// ln 2 in two parts; the first has trailing zeros so that its small multiples are exact.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Arguments of [`exp`] are raised to this: e^-600 is 0 for every sum, but its products with other
/// small numbers are still normal numbers, which processors handle at full speed.
const LEAST: f64 = -600.0;

/// `exp(x)` for `x` between −600 and 700; beyond, the values there.
///
/// `x = n ln 2 + r` with `|r| ≤ ½ ln 2`, and the Taylor polynomial of degree 13 in `r`, whose
/// truncation is below 5e-18 there.
#[inline(always)]
pub(crate) fn exp<V: Vector>(x: V) -> V {
    let x = x.max(V::splat(LEAST)).min(V::splat(700.0));
    let shifted = x.mul_add(V::splat(std::f64::consts::LOG2_E), V::splat(ROUND));
    let n = shifted.sub(V::splat(ROUND));
    let r = n.mul_add(V::splat(-LN2_HIGH), x);
    let r = n.mul_add(V::splat(-LN2_LOW), r);
    // Terms r^2/2! … r^13/13!, by Estrin's scheme in r² and r⁴ to keep the chain short.
    let c = |k: usize| V::splat(INVERSE_FACTORIAL[k]);
    let r2 = r.mul(r);
    let r4 = r2.mul(r2);
    let p23 = r.mul_add(c(3), c(2));
    let p45 = r.mul_add(c(5), c(4));
    let p67 = r.mul_add(c(7), c(6));
    let p89 = r.mul_add(c(9), c(8));
    let p1011 = r.mul_add(c(11), c(10));
    let p1213 = r.mul_add(c(13), c(12));
    let low = r2.mul_add(p45, p23);
    let middle = r2.mul_add(p89, p67);
    let high = r2.mul_add(p1213, p1011);
    let tail = r4.mul_add(r4.mul_add(high, middle), low);
    let one_plus = r2.mul_add(tail, r).add(V::splat(1.0));
    one_plus.mul(V::power_of_two(shifted))
}

const INVERSE_FACTORIAL: [f64; 14] = [
    1.0,
    1.0,
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

/// `ln(x)` for positive normal `x`.
///
/// `x = 2^e m` with `m ∈ [√½, √2)`, and `ln m = 2 atanh(t)`, `t = (m−1)/(m+1)`, `|t| ≤ 0.1716`:
/// `2t(1 + t²(1/3 + t²/5 + …))`, with a polynomial of degree 6 in `t²` for the inner series.
#[inline(always)]
pub(crate) fn ln<V: Vector>(x: V) -> V {
    let (e, m) = x.split_exponent();
    let f = m.sub(V::splat(1.0));
    ln_of_parts(e, f, f.div(m.add(V::splat(1.0))))
}

/// `ln(x)` and `1/x` for `1 ≤ x ≤ 1e305`, with one division for both: `1/(x(m+1))` times `m+1`, and
/// times `x(m−1)`.
#[inline(always)]
pub(crate) fn ln_and_inverse<V: Vector>(x: V) -> (V, V) {
    let (e, m) = x.split_exponent();
    let (f, g) = (m.sub(V::splat(1.0)), m.add(V::splat(1.0)));
    let d = V::splat(1.0).div(x.mul(g));
    (ln_of_parts(e, f, f.mul(x).mul(d)), g.mul(d))
}

/// `e ln 2 + ln(1+f)`, with `t = f/(2+f)`.
#[inline(always)]
fn ln_of_parts<V: Vector>(e: V, f: V, t: V) -> V {
    let u = t.mul(t);
    let mut s = V::splat(2.0 * ATANH[6]);
    for c in ATANH[..6].iter().rev() {
        s = s.mul_add(u, V::splat(2.0 * c));
    }
    // ln m = 2t + t·u·s, with 2t = f − f·t so that no digit of f is lost.
    let correction = t.mul(u.mul_add(s, f.neg()));
    let low = e.mul_add(V::splat(LN2_LOW), correction);
    e.mul_add(V::splat(LN2_HIGH), f.add(low))
}

/// `(atanh(t)/t − 1)/t²` as a polynomial in `u = t²`, interpolated at the Chebyshev nodes of
/// `0 ≤ u ≤ 0.02944`; `u` times the error is below 5e-18.
const ATANH: [f64; 7] = [
    0.333_333_333_333_333_5,
    0.199_999_999_999_497_52,
    0.142_857_143_129_877_4,
    0.111_111_055_673_975_4,
    0.090_914_445_626_308_61,
    0.076_658_608_002_780_2,
    0.073_082_248_425_217_03,
];

#[cfg(test)]
mod tests {
    use super::super::{InstructionSet, Kernel, LANES, Vector, dispatch_on};

    struct Map<'a> {
        input: &'a [[f64; LANES]],
        output: &'a mut [[f64; LANES]],
        function: Function,
    }

    #[derive(Clone, Copy)]
    enum Function {
        Exp,
        Ln,
        LnWithInverse,
        InverseWithLn,
    }

    impl Kernel for Map<'_> {
        type Output = ();
        #[inline(always)]
        fn run<V: Vector>(self) {
            for (x, y) in self.input.iter().zip(self.output) {
                let v = V::load(x);
                let r = match self.function {
                    Function::Exp => super::exp(v),
                    Function::Ln => super::ln(v),
                    Function::LnWithInverse => super::ln_and_inverse(v).0,
                    Function::InverseWithLn => super::ln_and_inverse(v).1,
                };
                r.store(y);
            }
        }
    }

    fn map(set: InstructionSet, input: &[f64], function: Function) -> Vec<f64> {
        let (blocks, rest) = input.as_chunks::<LANES>();
        assert!(rest.is_empty());
        let mut output = vec![[0.0; LANES]; blocks.len()];
        dispatch_on(set, Map { input: blocks, output: &mut output, function });
        output.concat()
    }

    fn ulps(got: f64, expected: f64) -> f64 {
        let unit = f64::from_bits(expected.abs().to_bits() + 1) - expected.abs();
        (got - expected).abs() / unit
    }

    #[test]
    fn exp_is_within_two_ulps_of_libm() {
        let xs: Vec<f64> = (0..80_000).map(|i| -599.9 + 0.0088 * i as f64).collect();
        for set in InstructionSet::available() {
            for (&x, y) in xs.iter().zip(map(set, &xs, Function::Exp)) {
                let error = ulps(y, libm::exp(x));
                assert!(error <= 2.0, "{set:?}: exp({x}) is {error} ulp off");
            }
            let far = map(
                set,
                &[-1e300, f64::NEG_INFINITY, -709.0, 0.0, 0.0, 0.0, 1.0, -1.0],
                Function::Exp,
            );
            assert!(far[..3].iter().all(|x| *x < 1e-260 && x.is_normal()));
            assert_eq!(far[3], 1.0);
        }
    }

    #[test]
    fn ln_is_within_two_ulps_of_libm() {
        let mut xs: Vec<f64> = (0..40_000).map(|i| (-300.0 + 0.0155 * i as f64).exp()).collect();
        xs.extend((0..40_000).map(|i| 0.5 + 1e-4 * i as f64));
        for set in InstructionSet::available() {
            for (&x, y) in xs.iter().zip(map(set, &xs, Function::Ln)) {
                let error = ulps(y, libm::log(x));
                assert!(error <= 2.0, "{set:?}: ln({x}) is {error} ulp off");
            }
        }
    }

    #[test]
    fn ln_and_inverse_are_within_two_ulps() {
        let mut xs: Vec<f64> = (0..40_000).map(|i| (0.01755 * i as f64).exp()).collect();
        xs.extend((0..40_000).map(|i| 1.0 + 1e-4 * i as f64));
        for set in InstructionSet::available() {
            let ln = map(set, &xs, Function::LnWithInverse);
            let inverse = map(set, &xs, Function::InverseWithLn);
            for ((&x, ln), inverse) in xs.iter().zip(ln).zip(inverse) {
                let error = ulps(ln, libm::log(x)).max(ulps(inverse, 1.0 / x));
                assert!(error <= 2.0, "{set:?}: {error} ulp off at {x}");
            }
        }
    }
}
