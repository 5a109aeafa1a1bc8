//! The prior of a mixture of columns: what a user may set, and its value for a given sample.

use super::features::{FeatureKind, Features};
use crate::model::Degenerate;
use crate::model::prior::{PriorBase, check_above};
use crate::posterior::{Block, Family};
use serde::{Deserialize, Serialize};

/// Prior parameters. What is `None` has its usual value, computed from the sample that is fitted (for a resample,
/// from the resample) where it depends on data. Neither units nor the order of columns and levels matter.
///
/// | | usual | meaning |
/// |---|---|---|
/// | `alpha0` | 1 | Dirichlet parameter of every weight |
/// | `level0` | 1 | observations that the prior of a category is worth, spread evenly over its levels |
/// | `beta0` | 0.01 | observations that the prior of a mean is worth; it is the column's mean |
/// | `nu0` | 3 | degrees of freedom of a precision |
/// | `spread0` | 0.3 | what is added to a scatter, in units of the column's variance over K^(2/columns) |
/// | `rate0` | 0.5 | shape of the prior of a rate, whose mean is the column's |
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixturePrior {
    /// There is one base only.
    #[serde(default)]
    pub base: PriorBase,
    /// Dirichlet parameter of every weight.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::model::prior::one_number"
    )]
    pub alpha0: Option<f64>,
    /// Observations that the prior of a category is worth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level0: Option<f64>,
    /// Observations that the prior of a mean is worth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta0: Option<f64>,
    /// Degrees of freedom of a precision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nu0: Option<f64>,
    /// What is added to a scatter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread0: Option<f64>,
    /// Shape of the prior of a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate0: Option<f64>,
}

/// The prior of one column in the model's units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ColumnPrior {
    Gaussian {
        mean: f64,
        beta: f64,
        nu: f64,
        w_inverse: f64,
    },
    /// The Dirichlet parameter of every level.
    Category {
        alpha: f64,
    },
    Count {
        a: f64,
        b: f64,
    },
}

impl MixturePrior {
    /// Checks the given parameters.
    pub fn check(&self) -> Result<(), String> {
        if self.base != PriorBase::Default {
            return Err(
                "the prior's base must be \"default\": there is no other for mixture".into()
            );
        }
        for (name, x) in [
            ("alpha0", self.alpha0),
            ("level0", self.level0),
            ("beta0", self.beta0),
            ("nu0", self.nu0),
            ("spread0", self.spread0),
            ("rate0", self.rate0),
        ] {
            check_above(name, x, 0.0)?;
        }
        Ok(())
    }

    /// Dirichlet parameter of every weight.
    pub(super) fn alpha0(&self) -> f64 {
        self.alpha0.unwrap_or(1.0)
    }

    /// What it adds to the counts of the copies of a block, in their order: `a` and `b` of a rate, the parameter of each
    /// level. The exposure `N` behind rates is found from the sum of all `b`, because the prior's own depends on it.
    pub(super) fn counts(&self, block: &Block, own: &[f64], omega: f64) -> Option<Vec<f64>> {
        let k = block.copies as f64;
        match block.family {
            Family::Dirichlet => {
                Some(vec![self.level0.unwrap_or(1.0) / block.dim as f64; own.len()])
            }
            Family::Gamma => {
                let a = self.rate0.unwrap_or(0.5);
                let sum = |at: usize| own.iter().skip(at).step_by(2).sum::<f64>();
                // Σb = K b0 + ωN, with b0 = a (N + 1) / (S + ½) and Σa = K a + ωS.
                let events = (sum(0) - k * a) / omega;
                let each = a / (events + 0.5);
                let exposure = (sum(1) - k * each) / (omega + k * each);
                let prior = [a, each * (exposure + 1.0)];
                Some(prior.iter().copied().cycle().take(own.len()).collect())
            }
            Family::NormalWishart | Family::MvNormal => None,
        }
    }

    /// The prior of every column for a sample whose units and features add up to `totals`.
    pub(super) fn resolve(
        &self,
        features: &Features,
        n_components: usize,
        totals: &[f64],
    ) -> Result<Vec<ColumnPrior>, Degenerate> {
        let share = (n_components as f64).powf(-2.0 / features.columns().len() as f64);
        let columns = features.columns().iter().map(|column| {
            let n = column.observed(totals);
            if n <= 0.0 {
                return Err(Degenerate::Prior("a column has no value in this sample".to_owned()));
            }
            let sums = &totals[1 + column.first..];
            Ok(match column.kind {
                FeatureKind::Gaussian { .. } => {
                    let mean = sums[0] / n;
                    let scatter = sums[1] - n * mean * mean;
                    let variance = scatter / if n > 1.0 { n - 1.0 } else { n };
                    if variance.is_nan() || variance <= 0.0 {
                        let what = "a column does not vary in this sample".to_owned();
                        return Err(Degenerate::Prior(what));
                    }
                    ColumnPrior::Gaussian {
                        mean,
                        beta: self.beta0.unwrap_or(0.01),
                        nu: self.nu0.unwrap_or(3.0),
                        w_inverse: self.spread0.unwrap_or(0.3) * variance * share,
                    }
                }
                FeatureKind::Category { levels } => {
                    ColumnPrior::Category { alpha: self.level0.unwrap_or(1.0) / levels as f64 }
                }
                FeatureKind::Count => {
                    // Half an event more, so that a sample without any has a prior too.
                    let mean = (sums[0] + 0.5) / (n + 1.0);
                    let a = self.rate0.unwrap_or(0.5);
                    ColumnPrior::Count { a, b: a / mean }
                }
            })
        });
        columns.collect()
    }
}
