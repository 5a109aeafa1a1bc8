//! The prior of a mixture of regressions, and what is known of the noise.

use crate::model::prior::{PriorBase, check_above};
use serde::{Deserialize, Serialize};

/// Prior parameters. What is `None` takes its reference value: `α0 = 1/K`, `a0 = b0 = 0.1`,
/// `c0 = d0 = 0.1`. With `base = "default"` they hold for standardised columns and response (centred
/// when there is an intercept), which makes answers invariant to units; with `base = "paper"` for
/// the columns as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BmlrPrior {
    /// On which columns the prior is meant.
    #[serde(default)]
    pub base: PriorBase,
    /// Dirichlet parameter of every weight.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::model::prior::one_number"
    )]
    pub alpha0: Option<f64>,
    /// Shape of `τ_k`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a0: Option<f64>,
    /// Rate of `τ_k`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b0: Option<f64>,
    /// Shape of the noise precision `λ_k`, when it is estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c0: Option<f64>,
    /// Rate of the noise precision `λ_k`, when it is estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub d0: Option<f64>,
    /// A known noise precision, the same as `--noise known=…`; the noise is then not estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda: Option<f64>,
}

impl BmlrPrior {
    /// The reference prior on the columns as they are.
    pub fn paper() -> BmlrPrior {
        BmlrPrior { base: PriorBase::Paper, ..BmlrPrior::default() }
    }

    /// Checks the given parameters.
    pub fn check(&self) -> Result<(), String> {
        check_above("alpha0", self.alpha0, 0.0)?;
        check_above("a0", self.a0, 0.0)?;
        check_above("b0", self.b0, 0.0)?;
        check_above("c0", self.c0, 0.0)?;
        check_above("d0", self.d0, 0.0)?;
        check_above("lambda", self.lambda, 0.0)
    }
}

/// The noise precision `λ`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Noise {
    /// Unknown, one per component.
    #[default]
    Estimate,
    /// Known and the same for all components, in units of the response to the power −2.
    Known(f64),
}

impl Noise {
    /// Checks that a known precision is positive.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Noise::Known(x) => check_above("known noise precision", Some(*x), 0.0),
            Noise::Estimate => Ok(()),
        }
    }
}
