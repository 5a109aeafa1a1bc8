//! Calibration against closed forms: models with one component, where VB is exact and the coverage
//! curve of every calibrator can be written down.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::simulate::normals;
use common::tables::{Case, ask, ask_one, has_flag};
use trustvb::calibrate::{Answer, Method};
use trustvb::data::{Dataset, Grouped};
use trustvb::model::{GmmPrior, Noise, PriorBase};
use trustvb::resample::Design;
use trustvb::special::{normal, student};

const N: usize = 400;
const B: u32 = 1500;

/// Weighted moments of one or two columns.
struct Moments {
    n: f64,
    mean: f64,
    /// With denominator n − 1.
    variance: f64,
    /// `(R^-1)_11` of the correlation matrix R.
    inflation: f64,
}

impl Moments {
    /// Of the first column.
    fn new(columns: &[Vec<f64>], weights: &[f64]) -> Moments {
        let n: f64 = weights.iter().sum();
        let mean = |x: &[f64]| x.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>() / n;
        let means: Vec<f64> = columns.iter().map(|x| mean(x)).collect();
        let cross = |i: usize, j: usize| {
            let pairs = columns[i].iter().zip(&columns[j]).zip(weights);
            pairs.map(|((x, y), w)| w * (x - means[i]) * (y - means[j])).sum::<f64>() / (n - 1.0)
        };
        let inflation = match columns.len() {
            1 => 1.0,
            _ => 1.0 / (1.0 - cross(0, 1).powi(2) / (cross(0, 0) * cross(1, 1))),
        };
        Moments { n, mean: means[0], variance: cross(0, 0), inflation }
    }

    /// Degrees of freedom and scale of `mu[1,1]`. With `m0 = x̄`, `β0 = 1`, `ν0 = p + 2` and
    /// `W0^-1 = D R^-1 D`, (M4) gives `W^-1_11 = s²((R^-1)_11 + ω(n−1))`, and the t law has `ν−p+1 =
    /// 3 + ωn` degrees of freedom and squared scale `W^-1_11/((1+ωn)(3+ωn))`.
    fn law(&self, omega: f64) -> (f64, f64) {
        let df = 3.0 + omega * self.n;
        let w_inverse = self.variance * (self.inflation + omega * (self.n - 1.0));
        (df, (w_inverse / ((1.0 + omega * self.n) * df)).sqrt())
    }

    /// Half the length of the central interval.
    fn half_length(&self, omega: f64, level: f64) -> f64 {
        let (df, scale) = self.law(omega);
        scale * student::quantile(df, 0.5 + 0.5 * level)
    }

    /// Sampling standard deviation of the mean under the bootstrap.
    fn sd_of_mean(&self) -> f64 {
        (self.variance * (self.n - 1.0) / self.n / self.n).sqrt()
    }
}

/// P(|Z·sd + shift| ≤ half).
fn normal_coverage(half: f64, shift: f64, sd: f64) -> f64 {
    normal::cdf((half - shift) / sd) - normal::cdf((-half - shift) / sd)
}

/// The largest ω ≤ 1 at which a coverage that falls with ω reaches the level.
fn root(coverage: impl Fn(f64) -> f64, level: f64) -> f64 {
    if coverage(1.0) >= level {
        return 1.0;
    }
    let (mut low, mut high) = (1e-3_f64, 1.0_f64);
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if coverage(middle) >= level { low = middle } else { high = middle }
    }
    low
}

fn columns(p: usize) -> Vec<Vec<f64>> {
    let mut columns = vec![normals(11, N)];
    if p == 2 {
        // Correlation 0.6.
        let other = normals(12, N);
        let second = columns[0].iter().zip(&other).map(|(x, e)| 5.0 + 3.0 * (0.6 * x + 0.8 * e));
        columns.push(second.collect());
    }
    columns
}

fn dataset(columns: &[Vec<f64>]) -> Dataset {
    let names = (1..=columns.len()).map(|j| format!("x{j}")).collect();
    Dataset::from_columns(names, columns.to_vec()).unwrap()
}

/// Share of a log ω by which ω̂ can be off when ĉ is off by one standard error: near the root
/// `ĉ = 2Φ(z ω^-1/2) − 1`, so `dĉ/d log ω = −z φ(z)`.
fn log_omega_se(level: f64, bootstraps: u32) -> f64 {
    let z = normal::quantile(0.5 + 0.5 * level);
    (level * (1.0 - level) / f64::from(bootstraps)).sqrt() / (z * normal::ln_pdf(z).exp())
}

#[test]
fn one_gaussian_has_the_curve_of_its_closed_form() {
    for p in [1, 2] {
        let columns = columns(p);
        // The closed form is that of the paper's prior on standardised columns.
        let prior = GmmPrior { base: PriorBase::Standardised, ..GmmPrior::default() };
        let case = Case::gmm_with(dataset(&columns), 1, prior).bootstraps(B, 0);
        let table = case.build();
        let all = Moments::new(&columns, &[1.0; N]);
        let resamples = case.resamples();
        let replicates: Vec<Moments> = (1..=B)
            .map(|b| Moments::new(&columns, &resamples.weights(Design::Full, b, 0, N)))
            .collect();
        for level in [0.8, 0.95] {
            let predicted =
                |omega: f64| normal_coverage(all.half_length(omega, level), 0.0, all.sd_of_mean());
            let expected = root(predicted, level);
            let methods = [Method::Gpc, Method::Anchored, Method::Analytic, Method::Vb];
            let answers = ask(&table, "mu[1,1]", &methods, &[level]);
            for answer in &answers[..2] {
                let what = format!("p = {p}, {level}, {}", answer.method.name());
                for point in &answer.curve {
                    // With the resamples known, the curve is known exactly ...
                    let inside = replicates
                        .iter()
                        .filter(|r| (r.mean - all.mean).abs() <= r.half_length(point.omega, level))
                        .count();
                    let exact = inside as f64 / f64::from(B);
                    assert!(
                        (point.coverage - exact).abs() < 1.5 / f64::from(B),
                        "{what}, ω = {}: {} but {exact}",
                        point.omega,
                        point.coverage
                    );
                    // ... and without them it is Normal, up to noise and the bootstraps' variances.
                    let rough = predicted(point.omega);
                    let se = (rough * (1.0 - rough) / f64::from(B)).sqrt();
                    assert!(
                        (point.coverage - rough).abs() < 4.0 * se + 0.003,
                        "{what}, ω = {}: {} but {rough}",
                        point.omega,
                        point.coverage
                    );
                }
                let off = (answer.omega.ln() - expected.ln()).abs();
                // gpc answers with a point of the grid.
                let step = 0.01_f64.ln().abs() / 39.0;
                assert!(off < 4.0 * log_omega_se(level, B) + step, "{what}: {}", answer.omega);
                check_interval(answer, &all);
            }
            let analytic = &answers[2];
            for point in &analytic.curve {
                assert!((point.coverage - predicted(point.omega)).abs() < 1e-6);
            }
            assert!((analytic.omega.ln() - expected.ln()).abs() < 2e-3, "{}", analytic.omega);
            check_interval(analytic, &all);
            check_interval(&answers[3], &all);
        }
    }
}

/// The reported interval is that of all units at ω̂.
fn check_interval(answer: &Answer, all: &Moments) {
    let half = all.half_length(answer.omega, answer.level);
    // Between grid points the table interpolates.
    for (got, expected) in [(answer.lower, all.mean - half), (answer.upper, all.mean + half)] {
        let off = (got - expected).abs() / half;
        assert!(off < 2e-3, "{} at {}: {got} but {expected}", answer.method.name(), answer.omega);
    }
    assert!((answer.estimate - all.mean).abs() < 1e-9);
}

#[test]
fn a_split_needs_three_times_the_variance() {
    let columns = columns(1);
    let level = 0.95;
    let grid = |case: Case| case.grid(31, 0.1);
    // The grid point nearest to 1/3.
    let third = (30.0 * 3.0_f64.ln() / 10.0_f64.ln()).round() as usize;
    let (mut at_one, mut at_third) = (0.0, 0.0);
    let seeds = 60;
    for seed in 1..=seeds {
        let case = grid(Case::gmm(dataset(&columns), 1)).bootstraps(0, 150).seed(seed);
        let table = case.build();
        let answer = ask_one(&table, "mu[1,1]", Method::Tvb);
        // Given the split, the halves' means are fixed, and only X2's is resampled.
        let half = case.resamples().weights(Design::Split, 0, 0, N);
        let other: Vec<f64> = half.iter().map(|w| 1.0 - w).collect();
        let first = Moments::new(&columns, &half).mean;
        let second = Moments::new(&columns, &other);
        let predicted = |omega: f64| {
            normal_coverage(
                second.half_length(omega, level),
                first - second.mean,
                second.sd_of_mean(),
            )
        };
        for point in &answer.curve {
            let rough = predicted(point.omega);
            let se = (rough * (1.0 - rough) / 150.0).sqrt();
            assert!(
                (point.coverage - rough).abs() < 4.5 * se + 0.015,
                "seed {seed}, ω = {}: {} but {rough}",
                point.omega,
                point.coverage
            );
        }
        at_one += predicted(1.0) / seeds as f64;
        at_third += predicted(table.omegas()[third]) / seeds as f64;
    }
    // Over splits the difference has variance 3σ²/(n/2): .95 at ω = 1/3, and at ω = 1
    // P(|Z| ≤ 1.96/√3) = .742. The spread over splits is .27 and .12.
    assert!((at_one - 0.742).abs() < 0.11, "{at_one}");
    assert!((at_third - 0.95).abs() < 0.05, "{at_third}");
}

#[test]
fn jackknife_of_one_gaussian_is_the_mean_with_its_standard_error() {
    let columns = columns(1);
    let table = Case::gmm(dataset(&columns), 1).bootstraps(0, 0).grid(2, 0.5).build();
    let moments = Moments::new(&columns, &vec![1.0; columns[0].len()]);
    // The prior mean is the column's, so that the estimate is x̄, whose influence is (x − x̄)/n.
    let sd = (moments.variance * (moments.n - 1.0)).sqrt() / moments.n;
    for answer in ask(&table, "mu[1,1]", &[Method::Jackknife], &[0.5, 0.95]) {
        let half = sd * normal::quantile(0.5 + 0.5 * answer.level);
        assert!((answer.lower - moments.mean + half).abs() < 1e-9 * half, "{answer:?}");
        assert!((answer.upper - moments.mean - half).abs() < 1e-9 * half, "{answer:?}");
        assert_eq!((answer.coverage, answer.extra_fits), (None, 1));
        assert!((answer.omega - 1.0).abs() < 0.02, "{answer:?}");
    }
}

#[test]
fn the_only_weight_of_one_component_is_one() {
    let table = Case::gmm(dataset(&columns(1)), 1).bootstraps(50, 50).grid(10, 0.1).build();
    for text in ["pi[1]", "max(pi[1], pi[1]^2)"] {
        for answer in ask(&table, text, &Method::ALL, &[0.5, 0.95]) {
            let what = format!("{text} by {}: {answer:?}", answer.method.name());
            assert_eq!((answer.omega, answer.lower, answer.upper), (1.0, 1.0, 1.0), "{what}");
            let has_coverage = answer.method.has_posterior() && answer.method != Method::Jackknife;
            let coverage = has_coverage.then_some(1.0);
            assert_eq!((answer.estimate, answer.coverage), (1.0, coverage), "{what}");
            assert!(!has_flag(&answer, "never-reaches-level"), "{what}");
        }
    }
}

/// Groups of two rows of `y = 2x + e/√λ` without intercept, and Σ x², and Σ (X_nᵀe_n)² with the
/// residuals of least squares.
fn regression(precision: f64) -> (Grouped, f64, f64) {
    let (x, e) = (normals(21, 2 * N), normals(22, 2 * N));
    let y: Vec<f64> = x.iter().zip(&e).map(|(x, e)| 2.0 * x + e / precision.sqrt()).collect();
    let xx: f64 = x.iter().map(|x| x * x).sum();
    let xy: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
    let scores = x.chunks(2).zip(y.chunks(2)).map(|(x, y)| {
        let group = x.iter().zip(y);
        group.map(|(x, y)| x * (y - x * xy / xx)).sum::<f64>().powi(2)
    });
    let meat = scores.sum();
    let groups: Vec<String> = (0..2 * N).map(|i| (i / 2).to_string()).collect();
    let names = vec!["x".to_owned()];
    let data = Grouped::from_columns("y".into(), y, names, vec![x], Some(&groups)).unwrap();
    (data, xx, meat)
}

/// The posterior variance is `1/(ωλ Σx²)` (the prior's `E[τ]` is next to nothing), the sampling
/// variance `Σ(X_nᵀe_n)²/(Σx²)²`, so `ω̂ = Σx²/(λ Σ(X_nᵀe_n)²)`: about the true precision over λ.
#[test]
fn a_wrong_noise_precision_is_corrected_by_omega() {
    let truth = 0.5;
    let (data, xx, meat) = regression(truth);
    for factor in [2.0, 4.0, 10.0] {
        let lambda = factor * truth;
        let case = Case::bmlr(data.clone(), 1, Noise::Known(lambda)).bootstraps(B, 0);
        let table = case.build();
        let expected = xx / (lambda * meat);
        assert!((expected * factor).ln().abs() < 0.25, "{expected}");
        for method in [Method::Gpc, Method::Anchored, Method::Analytic] {
            for answer in ask(&table, "beta[1,1]", &[method], &[0.8, 0.95]) {
                let off = (answer.omega / expected).ln().abs();
                let tolerance = match method {
                    Method::Analytic => 0.01,
                    _ => 4.0 * log_omega_se(answer.level, B) + 0.06,
                };
                assert!(
                    off < tolerance,
                    "{factor}, {}: {} but {expected}",
                    method.name(),
                    answer.omega
                );
                // Whatever λ claims, the interval is that of the sandwich.
                let z = normal::quantile(0.5 + 0.5 * answer.level);
                let length = 2.0 * z * meat.sqrt() / xx;
                let ratio = (answer.upper - answer.lower) / length;
                assert!((ratio.ln()).abs() < 0.5 * tolerance + 0.01, "{ratio}");
            }
        }
    }
    // A λ far too small makes VB cover too much, even for a split, and there is nothing to mend; a law that is stretched
    // about its estimate is narrowed.
    let table = Case::bmlr(data, 1, Noise::Known(0.05 * truth)).bootstraps(200, 200).build();
    for method in Method::ALL.into_iter().filter(|m| m.chooses_omega()) {
        let answer = ask_one(&table, "beta[1,1]", method);
        if method.stretches() {
            assert!((answer.omega / 20.0).ln().abs() < 0.5, "{}: {}", method.name(), answer.omega);
            assert!(has_flag(&answer, "above-omega-1"), "{answer:?}");
            continue;
        }
        assert_eq!(answer.omega, 1.0, "{}", method.name());
        assert!(has_flag(&answer, "at-omega-1"), "{answer:?}");
        assert!(answer.flags.iter().any(|f| f.is_remark()));
    }
}

/// The variance of heavy-tailed data: its posterior has relative variance 2/(ωn), its estimate
/// (κ−1)/n with κ the kurtosis, so `ω̂ = 2/(κ−1)`.
#[test]
fn heavy_tails_are_corrected_by_omega() {
    let n = 3000;
    // Laplace: the difference of two exponentials, each half a χ² with two degrees of freedom.
    let z: Vec<Vec<f64>> = (31..35).map(|seed| normals(seed, n)).collect();
    let x: Vec<f64> = (0..n)
        .map(|i| z[0][i].powi(2) + z[1][i].powi(2) - z[2][i].powi(2) - z[3][i].powi(2))
        .collect();
    let mean = x.iter().sum::<f64>() / n as f64;
    let moment = |k: i32| x.iter().map(|x| (x - mean).powi(k)).sum::<f64>() / n as f64;
    let kurtosis = moment(4) / moment(2).powi(2);
    assert!((4.5..8.0).contains(&kurtosis), "{kurtosis}");
    let expected = 2.0 / (kurtosis - 1.0);
    let table = Case::gmm(dataset(&[x]), 1).bootstraps(800, 0).build();
    for text in ["sd[1,1]", "sigma[1,1,1]", "log(sd[1,1])"] {
        let methods = [Method::Anchored, Method::Analytic];
        for answer in ask(&table, text, &methods, &[0.95]) {
            let off = (answer.omega / expected).ln().abs();
            let tolerance = if answer.method == Method::Analytic { 0.03 } else { 0.3 };
            assert!(off < tolerance, "{text}: {} but {expected}", answer.omega);
        }
    }
}

/// With its prior mean far away, a mean shrinks towards it at small ω. The anchor stays, so
/// coverage falls again; `gpc` checks a value that shrinks alike and sees nothing.
#[test]
fn the_anchor_sees_shrinkage() {
    let columns = vec![normals(41, 100)];
    let prior = GmmPrior { m0: Some(vec![10.0]), beta0: Some(1.0), ..GmmPrior::default() };
    let table =
        Case::gmm_with(dataset(&columns), 1, prior).grid(60, 1e-3).bootstraps(300, 0).build();
    let anchored = ask_one(&table, "mu[1,1]", Method::Anchored);
    assert!(has_flag(&anchored, "not-monotone"), "{:?}", anchored.flags);
    assert!(anchored.curve.last().unwrap().coverage < 0.5);
    let gpc = ask_one(&table, "mu[1,1]", Method::Gpc);
    assert!(!has_flag(&gpc, "not-monotone"));
    assert!(gpc.curve.last().unwrap().coverage > 0.95);
}
