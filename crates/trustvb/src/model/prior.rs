//! What the priors of all models share.

use serde::{Deserialize, Serialize};

/// Which prior the unset parameters come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PriorBase {
    /// What each model recommends; answers do not depend on the columns' units.
    #[default]
    Default,
    /// The paper's prior on standardised columns, mapped back. It was the default of `gmm` once, and is how tables of
    /// that time are read; for `bmlr` it is the default.
    Standardised,
    /// The paper's prior on the columns as they are.
    Paper,
}

/// Accepts `0.5` and `[0.5, 0.5]`, but not `[0.5, 0.7]`: components are exchangeable.
pub(super) fn one_number<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<f64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(f64),
        Many(Vec<f64>),
    }
    match Option::deserialize(deserializer)? {
        None => Ok(None),
        Some(OneOrMany::One(x)) => Ok(Some(x)),
        Some(OneOrMany::Many(xs)) if !xs.is_empty() && xs.iter().all(|x| *x == xs[0]) => {
            Ok(Some(xs[0]))
        }
        Some(OneOrMany::Many(_)) => Err(serde::de::Error::custom(
            "alpha0 must be the same for all components: give one number",
        )),
    }
}

/// Checks that a prior's parameter, when given, is finite and above `least`.
pub(super) fn check_above(name: &str, x: Option<f64>, least: f64) -> Result<(), String> {
    match x {
        Some(x) if !(x.is_finite() && x > least) => {
            Err(format!("the prior's {name} is {x} but must be greater than {least}"))
        }
        _ => Ok(()),
    }
}
