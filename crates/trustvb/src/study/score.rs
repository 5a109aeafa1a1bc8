//! What a set of replications says: coverage with its limits, interval scores, quantiles.

use crate::functional::SampledLaw;
use crate::special::normal;

/// Wilson's limits for a share of `hits` among `n`, at a confidence level (Wilson 1927).
///
/// Unlike the Normal limits they stay within `[0, 1]` and are not empty at shares of 0 and 1. NaN for
/// `n = 0`.
///
/// ```
/// let (lower, upper) = trustvb::study::wilson(95, 100, 0.95);
/// assert!((lower - 0.8882).abs() < 1e-4 && (upper - 0.9785).abs() < 1e-4);
/// ```
pub fn wilson(hits: usize, n: usize, level: f64) -> (f64, f64) {
    if n == 0 {
        return (f64::NAN, f64::NAN);
    }
    let z = normal::quantile(0.5 + 0.5 * level);
    let (n, share) = (n as f64, hits as f64 / n as f64);
    let shrink = 1.0 + z * z / n;
    let centre = (share + z * z / (2.0 * n)) / shrink;
    let half = z / shrink * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

/// The interval score of `[lower, upper]` at level `1−a` for a truth: its length, plus `2/a` times the
/// distance by which it misses (Gneiting & Raftery 2007). Lower is better, and no interval has a lower
/// expectation than the one between the true `a/2` and `1−a/2` quantiles.
pub fn interval_score(lower: f64, upper: f64, level: f64, truth: f64) -> f64 {
    let miss = (lower - truth).max(0.0) + (truth - upper).max(0.0);
    (upper - lower) + 2.0 / (1.0 - level) * miss
}

/// Length and mean score of the best interval around these estimates that has one length for all data
/// sets: from `ĥ − q(1−a/2)` to `ĥ − q(a/2)`, with `q` the quantiles of the errors `ĥ − truth`.
///
/// It needs the truth, so nobody can have it: it is what an interval with the estimate's own spread and
/// bias could reach, a yardstick for methods that must find that spread from one data set.
pub fn oracle(estimates: &[f64], level: f64, truth: f64) -> (f64, f64) {
    let errors = SampledLaw::new(estimates.iter().map(|x| x - truth).collect());
    let tail = 0.5 * (1.0 - level);
    let (low, high) = (errors.quantile(tail), errors.quantile(1.0 - tail));
    let scores: Vec<f64> = errors
        .sorted()
        .iter()
        .map(|error| interval_score(error - high, error - low, level, 0.0))
        .collect();
    (high - low, mean_and_sd(&scores).0)
}

/// Mean and standard deviation (with `n − 1`); NaN where there are too few values.
pub fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { f64::NAN })
}

/// A ratio of means with the standard error that pairing leaves it.
///
/// `R = ȳ/x̄`, with the standard deviation of `y − R x` over `x̄ √n` (the delta method). Pairs with
/// values that are not finite must be left out before.
pub fn ratio_of_means(pairs: &[(f64, f64)]) -> (f64, f64) {
    let n = pairs.len() as f64;
    let x = pairs.iter().map(|p| p.0).sum::<f64>() / n;
    let y = pairs.iter().map(|p| p.1).sum::<f64>() / n;
    let ratio = y / x;
    let residuals: Vec<f64> = pairs.iter().map(|p| p.1 - ratio * p.0).collect();
    (ratio, mean_and_sd(&residuals).1 / (x * n.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-6, "{a} is not {b}");
    }

    #[test]
    fn wilson_limits_agree_with_published_values() {
        // Newcombe (1998), Table I: 81/263, 15/148, 0/20 and 1/29.
        for (hits, n, lower, upper) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let (found_lower, found_upper) = wilson(hits, n, 0.95);
            assert!((found_lower - lower).abs() < 5e-5, "{hits}/{n}: {found_lower}");
            assert!((found_upper - upper).abs() < 5e-5, "{hits}/{n}: {found_upper}");
        }
        assert!(wilson(0, 0, 0.95).0.is_nan());
        let (lower, upper) = wilson(7, 7, 0.95);
        assert!(lower > 0.6 && upper == 1.0);
    }

    #[test]
    fn interval_scores_have_their_closed_form() {
        close(interval_score(1.0, 3.0, 0.95, 2.0), 2.0);
        close(interval_score(1.0, 3.0, 0.95, 0.5), 2.0 + 40.0 * 0.5);
        close(interval_score(1.0, 3.0, 0.9, 3.25), 2.0 + 20.0 * 0.25);
        // For N(0, 1) and [−z, z] the expectation is 2z + (4/a)(φ(z) − z a/2) = (4/a) φ(z).
        let (z, a) = (normal::quantile(0.975), 0.05);
        let n = 200_000;
        let expected = 4.0 / a * (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let mean = (0..n)
            .map(|i| {
                let x = normal::quantile((f64::from(i) + 0.5) / f64::from(n));
                interval_score(-z, z, 1.0 - a, x)
            })
            .sum::<f64>()
            / f64::from(n);
        assert!((mean - expected).abs() < 1e-3, "{mean} {expected}");
    }

    #[test]
    fn no_interval_of_one_length_is_better_than_the_oracle() {
        // Skewed errors: −log of uniform numbers, an Exp(1), whose quantiles are known.
        let n = 2000;
        let estimates: Vec<f64> =
            (0..n).map(|i| 3.0 - ((f64::from(i) + 0.5) / f64::from(n)).ln()).collect();
        let (length, score) = oracle(&estimates, 0.9, 3.0);
        assert!((length - (0.95_f64 / 0.05).ln()).abs() < 0.02, "{length}");
        let mean = |low: f64, high: f64| {
            let scores: Vec<f64> =
                estimates.iter().map(|x| interval_score(x - high, x - low, 0.9, 3.0)).collect();
            mean_and_sd(&scores).0
        };
        for low in [0.0, 0.03, 0.05, 0.07, 0.1, 0.2] {
            for high in [2.0, 2.5, 2.9, 3.0, 3.1, 3.5] {
                assert!(score <= mean(low, high) + 1e-9, "{low} {high}");
            }
        }
        assert!(oracle(&[], 0.9, 0.0).1.is_nan());
    }

    #[test]
    fn a_constant_ratio_has_no_error() {
        let pairs: Vec<(f64, f64)> = (1..50).map(|i| (f64::from(i), 0.9 * f64::from(i))).collect();
        let (ratio, se) = ratio_of_means(&pairs);
        close(ratio, 0.9);
        close(se, 0.0);
        let (ratio, se) = ratio_of_means(&[(1.0, 2.0), (3.0, 2.0)]);
        close(ratio, 1.0);
        close(se, 2.0_f64.sqrt() / (2.0 * 2.0_f64.sqrt()));
    }

    #[test]
    fn the_spread_is_that_of_a_sample() {
        close(mean_and_sd(&[1.0, 2.0, 4.0, 8.0]).1, 3.095696);
        assert!(mean_and_sd(&[1.0]).1.is_nan());
    }
}
