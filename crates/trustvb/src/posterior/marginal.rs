//! The distributions that a scalar function of the parameters can have under a variational posterior.

use crate::special::{beta, gamma_dist, normal, student};
use rand::{Rng, RngExt};
use rand_distr::Distribution;

/// The exact distribution of one scalar under a variational posterior.
///
/// Conjugate updates leave only a handful of families, so a closed enum serves better than a trait: it
/// is `Copy`, it can be stored in a table, and a `match` finds every place that must learn of a new one.
/// Methods never panic; parameters outside the documented ranges give NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Marginal {
    /// A beta distribution on [0, 1]: weights of a mixture, and their sums.
    Beta {
        /// First shape, positive.
        a: f64,
        /// Second shape, positive.
        b: f64,
    },
    /// `location + scale · T`, where T is Student's t: means of a Gaussian with unknown precision.
    StudentT {
        /// Degrees of freedom, positive.
        df: f64,
        /// Centre of symmetry.
        location: f64,
        /// Scale, positive; not the standard deviation.
        scale: f64,
    },
    /// A Normal distribution: linear forms of regression coefficients.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation, positive.
        sd: f64,
    },
    /// A gamma distribution with density proportional to `x^(shape−1) e^(−rate·x)`: precisions.
    Gamma {
        /// Shape, positive.
        shape: f64,
        /// Rate, the reciprocal of a scale, positive.
        rate: f64,
    },
    /// The reciprocal of a `Gamma(shape, rate = scale)` variable: variances.
    InverseGamma {
        /// Shape, positive.
        shape: f64,
        /// Scale, positive.
        scale: f64,
    },
    /// A point mass: something the model fixes, such as the sum of all weights.
    Degenerate {
        /// The only possible value.
        value: f64,
    },
}

impl Marginal {
    /// `P(X ≤ x)`.
    pub fn cdf(&self, x: f64) -> f64 {
        match *self {
            Self::Beta { a, b } => beta::cdf(a, b, x),
            Self::StudentT { df, location, scale } => student::cdf(df, (x - location) / scale),
            Self::Normal { mean, sd } => normal::cdf((x - mean) / sd),
            Self::Gamma { shape, rate } => gamma_dist::cdf(shape, x * rate),
            Self::InverseGamma { shape, scale } => gamma_dist::sf(shape, reciprocal(scale, x)),
            Self::Degenerate { value } => step(x >= value, x),
        }
    }

    /// `P(X > x)`, accurate where `1 − cdf(x)` would round to 0.
    pub fn sf(&self, x: f64) -> f64 {
        match *self {
            Self::Beta { a, b } => beta::sf(a, b, x),
            Self::StudentT { df, location, scale } => student::cdf(df, (location - x) / scale),
            Self::Normal { mean, sd } => normal::sf((x - mean) / sd),
            Self::Gamma { shape, rate } => gamma_dist::sf(shape, x * rate),
            Self::InverseGamma { shape, scale } => gamma_dist::cdf(shape, reciprocal(scale, x)),
            Self::Degenerate { value } => step(x < value, x),
        }
    }

    /// The `p`-quantile: an end of the [support](Self::support) at `p = 0, 1`, NaN outside [0, 1].
    pub fn quantile(&self, p: f64) -> f64 {
        match *self {
            Self::Beta { a, b } => beta::quantile(a, b, p),
            Self::StudentT { df, location, scale } => location + scale * student::quantile(df, p),
            Self::Normal { mean, sd } => mean + sd * normal::quantile(p),
            Self::Gamma { shape, rate } => gamma_dist::quantile(shape, p) / rate,
            Self::InverseGamma { shape, scale } => {
                scale / shape * (-gamma_dist::log_ratio_quantile(shape, 1.0 - p, p)).exp()
            }
            Self::Degenerate { value } if (0.0..=1.0).contains(&p) => value,
            Self::Degenerate { .. } => f64::NAN,
        }
    }

    /// The probability density at `x`; for a point mass, ∞ at its value and 0 elsewhere.
    pub fn density(&self, x: f64) -> f64 {
        match *self {
            Self::Beta { a, b } => beta::ln_pdf(a, b, x).exp(),
            Self::StudentT { df, location, scale } => {
                student::ln_pdf(df, (x - location) / scale).exp() / scale
            }
            Self::Normal { mean, sd } => normal::ln_pdf((x - mean) / sd).exp() / sd,
            Self::Gamma { shape, rate } => gamma_dist::ln_pdf(shape, x * rate).exp() * rate,
            Self::InverseGamma { shape, scale } if x > 0.0 => {
                let y = scale / x;
                // |dy/dx| = y/x; together in the exponent, so that neither overflows alone.
                (gamma_dist::ln_pdf(shape, y) + y.ln() - x.ln()).exp()
            }
            Self::InverseGamma { .. } => step(false, x),
            Self::Degenerate { value } if x == value => f64::INFINITY,
            Self::Degenerate { .. } => step(false, x),
        }
    }

    /// The mean, or `None` where it does not exist.
    pub fn mean(&self) -> Option<f64> {
        match *self {
            Self::Beta { a, b } => Some(a / (a + b)),
            Self::StudentT { df, location, .. } => (df > 1.0).then_some(location),
            Self::Normal { mean, .. } => Some(mean),
            Self::Gamma { shape, rate } => Some(shape / rate),
            Self::InverseGamma { shape, scale } => (shape > 1.0).then(|| scale / (shape - 1.0)),
            Self::Degenerate { value } => Some(value),
        }
    }

    /// The standard deviation, or `None` where it is not finite.
    pub fn sd(&self) -> Option<f64> {
        match *self {
            Self::Beta { a, b } => {
                let n = a + b;
                Some((a / n * (b / n) / (n + 1.0)).sqrt())
            }
            Self::StudentT { df: f64::INFINITY, scale, .. } => Some(scale),
            Self::StudentT { df, scale, .. } => {
                (df > 2.0).then(|| scale * (df / (df - 2.0)).sqrt())
            }
            Self::Normal { sd, .. } => Some(sd),
            Self::Gamma { shape, rate } => Some(shape.sqrt() / rate),
            Self::InverseGamma { shape, scale } => {
                (shape > 2.0).then(|| scale / ((shape - 1.0) * (shape - 2.0).sqrt()))
            }
            Self::Degenerate { .. } => Some(0.0),
        }
    }

    /// The median.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The central interval that holds probability `level`, for `level` in [0, 1].
    ///
    /// Both ends are computed from the same tail probability `(1 − level)/2`.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let tail = 0.5 * (1.0 - level);
        (self.quantile(tail), self.quantile(1.0 - tail))
    }

    /// The smallest closed interval that holds all probability.
    pub fn support(&self) -> (f64, f64) {
        match *self {
            Self::Beta { .. } => (0.0, 1.0),
            Self::StudentT { .. } | Self::Normal { .. } => (f64::NEG_INFINITY, f64::INFINITY),
            Self::Gamma { .. } | Self::InverseGamma { .. } => (0.0, f64::INFINITY),
            Self::Degenerate { value } => (value, value),
        }
    }

    /// One random draw.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        // A constructor refuses only parameters at the edge of the representable; inversion serves there.
        let drawn = match *self {
            Self::Beta { a, b } => rand_distr::Beta::new(a, b).ok().map(|d| d.sample(rng)),
            Self::StudentT { df, location, scale } => {
                rand_distr::StudentT::new(df).ok().map(|d| location + scale * d.sample(rng))
            }
            Self::Normal { mean, sd } => {
                let z: f64 = rand_distr::StandardNormal.sample(rng);
                Some(mean + sd * z)
            }
            Self::Gamma { shape, rate } => {
                rand_distr::Gamma::new(shape, 1.0).ok().map(|d| d.sample(rng) / rate)
            }
            Self::InverseGamma { shape, scale } => {
                rand_distr::Gamma::new(shape, 1.0).ok().map(|d| scale / d.sample(rng))
            }
            Self::Degenerate { value } => Some(value),
        };
        drawn.unwrap_or_else(|| self.quantile(rng.random()))
    }
}

/// `scale/x` on the half line, with everything up to 0 sent to ∞.
fn reciprocal(scale: f64, x: f64) -> f64 {
    if x <= 0.0 { f64::INFINITY } else { scale / x }
}

/// 1 if `holds` and else 0, but NaN for a NaN argument.
fn step(holds: bool, x: f64) -> f64 {
    if x.is_nan() { f64::NAN } else { f64::from(u8::from(holds)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    const ALL: [Marginal; 7] = [
        Marginal::Beta { a: 40.0, b: 90.5 },
        Marginal::Beta { a: 0.7, b: 2.0 },
        Marginal::StudentT { df: 7.0, location: -3.0, scale: 0.2 },
        Marginal::Normal { mean: 5.0, sd: 2.0 },
        Marginal::Gamma { shape: 3.5, rate: 0.1 },
        Marginal::InverseGamma { shape: 6.0, scale: 20.0 },
        Marginal::InverseGamma { shape: 2e6, scale: 20.0 },
    ];

    #[test]
    fn quantiles_invert_and_tails_add_up() {
        for m in ALL {
            for p in [1e-12, 0.025, 0.4, 0.5, 0.9, 1.0 - 1e-12] {
                let x = m.quantile(p);
                assert!((m.cdf(x) - p).abs() < 1e-12, "{m:?} at {p}");
                assert!((m.cdf(x) + m.sf(x) - 1.0).abs() < 1e-15, "{m:?} at {p}");
            }
            assert_eq!((m.quantile(0.0), m.quantile(1.0)), m.support());
            assert_eq!(m.interval(0.75), (m.quantile(0.125), m.quantile(0.875)), "{m:?}");
            assert!(m.quantile(f64::NAN).is_nan() && m.cdf(f64::NAN).is_nan());
            assert!(m.density(f64::NAN).is_nan());
        }
    }

    /// The density is the derivative of the distribution function.
    #[test]
    fn density_integrates_to_the_distribution_function() {
        for m in ALL {
            let (low, high) = m.interval(0.8);
            let steps = 2000;
            let h = (high - low) / f64::from(steps);
            let sum: f64 =
                (0..steps).map(|i| m.density(low + (f64::from(i) + 0.5) * h)).sum::<f64>() * h;
            assert!((sum - 0.8).abs() < 1e-4, "{m:?}: {sum}");
        }
    }

    #[test]
    fn draws_have_the_stated_moments_and_distribution() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let n = 100_000;
        for m in ALL {
            let draws: Vec<f64> = (0..n).map(|_| m.sample(&mut rng)).collect();
            let (mean, sd) = (m.mean().unwrap(), m.sd().unwrap());
            let average = draws.iter().sum::<f64>() / f64::from(n);
            let spread = draws.iter().map(|x| (x - average).powi(2)).sum::<f64>() / f64::from(n);
            assert!((average - mean).abs() < 5.0 * sd / f64::from(n).sqrt(), "{m:?}: {average}");
            assert!((spread.sqrt() / sd - 1.0).abs() < 0.05, "{m:?}: {}", spread.sqrt());
            let below = draws.iter().filter(|&&x| x <= m.quantile(0.3)).count() as f64;
            assert!((below / f64::from(n) - 0.3).abs() < 0.0075, "{m:?}: {below}");
        }
    }

    #[test]
    fn moments_that_do_not_exist_are_none() {
        let t = |df| Marginal::StudentT { df, location: 0.0, scale: 1.0 };
        assert_eq!((t(1.0).mean(), t(1.5).mean(), t(2.0).sd()), (None, Some(0.0), None));
        assert_eq!(t(f64::INFINITY).sd(), Some(1.0));
        let v = |shape| Marginal::InverseGamma { shape, scale: 1.0 };
        assert_eq!((v(1.0).mean(), v(2.0).mean(), v(2.0).sd()), (None, Some(1.0), None));
    }

    #[test]
    fn a_point_mass_is_all_at_its_value() {
        let m = Marginal::Degenerate { value: 1.0 };
        assert_eq!((m.cdf(0.999), m.cdf(1.0), m.sf(1.0), m.sf(0.5)), (0.0, 1.0, 0.0, 1.0));
        assert_eq!((m.interval(0.9), m.median(), m.sd()), ((1.0, 1.0), 1.0, Some(0.0)));
        assert_eq!(m.sample(&mut ChaCha8Rng::seed_from_u64(0)), 1.0);
    }

    #[test]
    fn ends_of_the_half_line() {
        let m = Marginal::InverseGamma { shape: 2.0, scale: 3.0 };
        assert_eq!((m.cdf(0.0), m.cdf(-1.0), m.cdf(f64::INFINITY)), (0.0, 0.0, 1.0));
        assert_eq!((m.density(0.0), m.density(-1.0), m.density(1e-300)), (0.0, 0.0, 0.0));
        assert_eq!(m.density(f64::INFINITY), 0.0);
    }
}
