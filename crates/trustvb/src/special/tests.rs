//! Every function against 60-digit references, closed forms, and its own inverse.

use super::{beta, gamma, gamma_dist, normal, student};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Largest allowed error of a distribution function.
const CDF_TOLERANCE: f64 = 1e-13;
/// Largest allowed error of `cdf(quantile(p))`.
const QUANTILE_TOLERANCE: f64 = 1e-12;

fn rows(table: &str) -> Vec<Vec<f64>> {
    let text = include_str!("../../tests/fixtures/distributions.json");
    let file: BTreeMap<String, serde_json::Value> = serde_json::from_str(text).unwrap();
    serde_json::from_value(file[table].clone()).unwrap()
}

/// The error relative to the value, or absolute for values below 1.
fn error(found: f64, expected: f64) -> f64 {
    if found == expected {
        return 0.0;
    }
    (found - expected).abs() / expected.abs().max(1.0)
}

#[track_caller]
fn assert_close(found: f64, expected: f64, tolerance: f64, at: &[f64]) {
    let e = error(found, expected);
    assert!(e <= tolerance, "{found:e} for {expected:e}, error {e:e}, at {at:?}");
}

#[test]
fn gamma_functions_match_references() {
    for r in rows("functions") {
        assert_close(gamma::ln_gamma(r[0]), r[1], 1e-15, &r);
        assert_close(gamma::digamma(r[0]), r[2], 2e-15, &r);
        assert_close(gamma::trigamma(r[0]), r[3], 2e-15, &r);
    }
    for r in rows("ln_beta") {
        assert_close(gamma::ln_beta(r[0], r[1]), r[2], 4e-15, &r);
        assert_eq!(gamma::ln_beta(r[0], r[1]), gamma::ln_beta(r[1], r[0]));
    }
    for r in rows("ln_multigamma") {
        assert_close(gamma::ln_multigamma(r[0] as usize, r[1]), r[2], 4e-15, &r);
    }
}

#[test]
fn beta_matches_references() {
    for r in rows("beta") {
        let (a, b, x) = (r[0], r[1], r[2]);
        assert_close(beta::cdf(a, b, x), r[3], CDF_TOLERANCE, &r);
        assert_close(beta::sf(a, b, x), r[4], CDF_TOLERANCE, &r);
        assert_close(beta::ln_pdf(a, b, x), r[5], 1e-12, &r);
    }
}

#[test]
fn gamma_distribution_matches_references() {
    for r in rows("gamma") {
        let (shape, x) = (r[0], r[1]);
        assert_close(gamma_dist::cdf(shape, x), r[2], CDF_TOLERANCE, &r);
        assert_close(gamma_dist::sf(shape, x), r[3], CDF_TOLERANCE, &r);
        assert_close(gamma_dist::ln_pdf(shape, x), r[4], 1e-12, &r);
    }
}

#[test]
fn student_matches_references() {
    for r in rows("student") {
        let (df, t) = (r[0], r[1]);
        assert_close(student::cdf(df, t), r[2], CDF_TOLERANCE, &r);
        assert_close(student::cdf(df, -t), r[3], CDF_TOLERANCE, &r);
        assert_close(student::ln_pdf(df, t), r[4], 1e-12, &r);
    }
}

#[test]
fn normal_matches_references() {
    for r in rows("normal") {
        let (z, cdf, sf) = (r[0], r[1], r[2]);
        assert_close(normal::cdf(z) / cdf, 1.0, 1e-12, &r);
        assert_close(normal::sf(z) / sf, 1.0, 1e-12, &r);
        if cdf < 0.6 {
            assert_close(normal::quantile(cdf), z, 1e-14, &r);
        }
    }
}

/// Small tails keep their relative accuracy, which quantiles and logarithms of tails rely on.
#[test]
fn tails_are_relatively_accurate() {
    for r in rows("beta") {
        if r[3] > 1e-290 && r[3] < 0.4 {
            assert_close(beta::cdf(r[0], r[1], r[2]) / r[3], 1.0, 1e-10, &r);
        }
    }
    for r in rows("gamma") {
        if r[2] > 1e-290 && r[2] < 0.4 {
            assert_close(gamma_dist::cdf(r[0], r[1]) / r[2], 1.0, 1e-10, &r);
        }
    }
}

const PROBABILITIES: [f64; 11] =
    [1e-300, 1e-12, 1e-6, 0.025, 0.3, 0.5, 0.500001, 0.8, 0.975, 1.0 - 1e-6, 1.0 - 1e-12];
const SHAPES: [f64; 16] =
    [1e-3, 0.02, 0.5, 0.61, 1.0, 1.7, 5.0, 33.0, 210.0, 1499.0, 1501.0, 1e4, 1e5, 5e5, 1e6, 1e7];

#[test]
fn gamma_quantiles_invert() {
    for shape in SHAPES {
        for p in PROBABILITIES {
            let x = gamma_dist::quantile(shape, p);
            if x >= f64::MIN_POSITIVE {
                assert_close(gamma_dist::cdf(shape, x), p, QUANTILE_TOLERANCE, &[shape, p, x]);
            } else {
                assert!(gamma_dist::cdf(shape, f64::MIN_POSITIVE) >= p, "{shape} {p} {x}");
            }
        }
    }
}

#[test]
fn beta_quantiles_invert() {
    for a in SHAPES {
        for b in SHAPES {
            for p in PROBABILITIES {
                let x = beta::quantile(a, b, p);
                // Doubles near 1 are too sparse for the steep distribution function there.
                let spacing = if x > 0.5 { 2.3e-16 } else { 2.3e-16 * x };
                let (low, high) = ((x - spacing).max(0.0), (x + spacing).min(1.0));
                let (low, high) = (beta::cdf(a, b, low), beta::cdf(a, b, high.max(1e-307)));
                let slack = QUANTILE_TOLERANCE;
                assert!(
                    low - slack <= p && p <= high + slack,
                    "{a} {b} {p}: {x:e} {low:e} {high:e}"
                );
            }
        }
    }
}

#[test]
fn student_quantiles_invert() {
    for df in SHAPES.into_iter().chain([1e9, 1e14, f64::INFINITY]) {
        for p in PROBABILITIES {
            let t = student::quantile(df, p);
            if t.abs() < 1e300 {
                assert_close(student::cdf(df, t), p, QUANTILE_TOLERANCE, &[df, p, t]);
            }
        }
    }
    assert_close(student::quantile(1e7, 0.975), 1.959_964_221_767_205, 1e-15, &[]);
}

#[test]
fn normal_quantiles_invert() {
    for p in [1e-300, 1e-100, 1e-17, 1e-5, 0.02, 0.3, 0.499_999_9] {
        let z = normal::quantile(p);
        assert_close(normal::cdf(z) / p, 1.0, 5e-13, &[p, z]);
    }
    assert_close(normal::quantile(0.975), 1.959_963_984_540_054_2, 5e-16, &[]);
    assert_eq!(normal::quantile(0.5), 0.0);
}

#[test]
fn ends_and_bad_arguments() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    assert_eq!((beta::quantile(2.0, 3.0, 0.0), beta::quantile(2.0, 3.0, 1.0)), (0.0, 1.0));
    assert_eq!((gamma_dist::quantile(2.0, 0.0), gamma_dist::quantile(2.0, 1.0)), (0.0, inf));
    assert_eq!((student::quantile(2.0, 0.0), student::quantile(2.0, 1.0)), (-inf, inf));
    assert_eq!((normal::quantile(0.0), normal::quantile(1.0)), (-inf, inf));
    assert_eq!((beta::cdf(2.0, 3.0, -inf), beta::cdf(2.0, 3.0, inf)), (0.0, 1.0));
    assert_eq!((gamma_dist::cdf(2.0, -inf), gamma_dist::cdf(2.0, inf)), (0.0, 1.0));
    assert_eq!((student::cdf(2.0, -inf), student::cdf(2.0, inf)), (0.0, 1.0));
    for bad in [
        beta::cdf(nan, 1.0, 0.5),
        beta::cdf(1.0, -1.0, 0.5),
        beta::cdf(1.0, 1.0, nan),
        beta::quantile(1.0, 1.0, nan),
        beta::quantile(1.0, 1.0, 1.1),
        beta::quantile(0.0, 1.0, 0.5),
        beta::ln_pdf(1.0, 1.0, nan),
        gamma_dist::cdf(nan, 1.0),
        gamma_dist::cdf(1.0, nan),
        gamma_dist::quantile(1.0, nan),
        gamma_dist::quantile(1.0, -0.1),
        gamma_dist::quantile(nan, 0.5),
        student::cdf(nan, 1.0),
        student::cdf(1.0, nan),
        student::cdf(0.0, 1.0),
        student::quantile(1.0, nan),
        student::quantile(nan, 0.5),
        student::quantile(1.0, 1.5),
        normal::quantile(nan),
        normal::quantile(1.5),
        normal::quantile(-0.5),
        gamma::digamma(nan),
        gamma::ln_gamma(nan),
        gamma::trigamma(-1.0),
        gamma::ln_beta(nan, 1.0),
    ] {
        assert!(bad.is_nan());
    }
}

#[test]
fn closed_forms() {
    for x in [1e-9, 0.1, 0.5, 0.83, 1.0] {
        assert_close(beta::cdf(1.0, 1.0, x), x, 1e-15, &[x]);
        assert_close(beta::cdf(3.0, 1.0, x), x.powi(3), 1e-15, &[x]);
        let arcsine = std::f64::consts::FRAC_2_PI * x.sqrt().asin();
        assert_close(beta::cdf(0.5, 0.5, x), arcsine, 2e-15, &[x]);
    }
    for x in [1e-9, 0.3, 1.0, 1.9, 8.0, 60.0] {
        assert_close(gamma_dist::sf(1.0, x), (-x).exp(), 1e-15, &[x]);
        assert_close(gamma_dist::cdf(0.5, x), libm::erf(x.sqrt()), 2e-15, &[x]);
    }
    for t in [-1e9, -40.0, -1.0, -1e-5, 0.0, 0.7, 12.0] {
        let cauchy = 0.5 + f64::atan(t) / std::f64::consts::PI;
        assert_close(student::cdf(1.0, t), cauchy, 1e-15, &[t]);
        let two = 0.5 + 0.5 * t / (2.0 + t * t).sqrt();
        assert_close(student::cdf(2.0, t), two, 1e-15, &[t]);
        assert_close(student::cdf(1e16, t), normal::cdf(t), 2e-15, &[t]);
    }
}

fn shape() -> impl Strategy<Value = f64> {
    (-3.0..7.0_f64).prop_map(|e| 10_f64.powf(e))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn beta_is_symmetric_and_increasing(a in shape(), b in shape(), z in -9.0..9.0_f64, d in 0.0..0.1_f64) {
        let sd = (1.0 / a + 1.0 / b).sqrt().min(20.0);
        let x = 1.0 / (1.0 + b / a * (-z * sd).exp());
        let (low, high) = (beta::cdf(a, b, x), beta::sf(a, b, x));
        prop_assert!((0.0..=1.0).contains(&low) && (0.0..=1.0).contains(&high));
        prop_assert!((low + high - 1.0).abs() < 4e-16);
        // 1 − x is exact only above a half.
        if x >= 0.5 {
            prop_assert!((beta::cdf(b, a, 1.0 - x) - high).abs() < 1e-13);
        }
        prop_assert!(beta::cdf(a, b, (x + d * x).min(1.0)) >= low - 1e-13);
    }

    #[test]
    fn beta_recurrence(a in shape(), b in shape(), z in -6.0..6.0_f64) {
        // I_x(a,b) = I_x(a+1,b) + x^a (1−x)^b / (a B(a,b)): two independent evaluations.
        let sd = (1.0 / a + 1.0 / b).sqrt().min(20.0);
        let x = 1.0 / (1.0 + b / a * (-z * sd).exp());
        if x <= 0.0 || x >= 1.0 { return Ok(()); }
        let jump = (beta::ln_pdf(a, b, x) + x.ln() + (-x).ln_1p() - a.ln()).exp();
        let gap = beta::cdf(a, b, x) - beta::cdf(a + 1.0, b, x) - jump;
        prop_assert!(gap.abs() < 2e-12, "{a} {b} {x} {gap:e}");
    }

    #[test]
    fn beta_quantile_inverts(a in 0.5..3000.0_f64, b in shape(), p in 1e-12..1.0_f64) {
        let x = beta::quantile(a, b, p);
        if x >= 0.999 { return Ok(()); }
        prop_assert!((beta::cdf(a, b, x) - p).abs() < QUANTILE_TOLERANCE);
    }

    #[test]
    fn gamma_quantile_inverts(a in shape(), p in 1e-12..1.0_f64, d in 0.0..0.1_f64) {
        let x = gamma_dist::quantile(a, p);
        if x < f64::MIN_POSITIVE { return Ok(()); }
        let back = gamma_dist::cdf(a, x);
        prop_assert!((back - p).abs() < QUANTILE_TOLERANCE);
        prop_assert!(gamma_dist::cdf(a, x + d * x) >= back - 1e-13);
    }

    #[test]
    fn student_quantile_inverts(df in shape(), p in 1e-12..1.0_f64) {
        let t = student::quantile(df, p);
        if !t.is_finite() { return Ok(()); }
        prop_assert!((student::cdf(df, t) - p).abs() < QUANTILE_TOLERANCE);
        prop_assert_eq!(student::quantile(df, 1.0 - (1.0 - p)), -student::quantile(df, 1.0 - p));
    }
}
