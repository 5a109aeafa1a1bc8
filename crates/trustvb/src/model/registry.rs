//! The models that there are: the one place that lists them.

use super::Spec;
use super::bmlr::{self, RegressionMixture};
use super::gmm::{self, GaussianMixture};
use super::spec::Kind;
use crate::functional::Quantity;
use serde::{Deserialize, Serialize};
use std::ops::Deref;

/// Which model, with all its settings. What it can be asked is [`Spec`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "lowercase")]
#[non_exhaustive]
pub enum ModelSpec {
    /// A Gaussian mixture.
    Gmm(GaussianMixture),
    /// A mixture of linear regressions.
    Bmlr(RegressionMixture),
}

impl Deref for ModelSpec {
    type Target = dyn Spec;

    fn deref(&self) -> &(dyn Spec + 'static) {
        match self {
            ModelSpec::Gmm(spec) => spec,
            ModelSpec::Bmlr(spec) => spec,
        }
    }
}

impl From<GaussianMixture> for ModelSpec {
    fn from(spec: GaussianMixture) -> ModelSpec {
        ModelSpec::Gmm(spec)
    }
}

impl From<RegressionMixture> for ModelSpec {
    fn from(spec: RegressionMixture) -> ModelSpec {
        ModelSpec::Bmlr(spec)
    }
}

/// All models, in the order in which they are listed to users.
pub const KINDS: [&Kind; 2] = [&gmm::KIND, &bmlr::KIND];

/// What users can ask of any model, each name of a block once.
pub(crate) fn quantities() -> impl Iterator<Item = &'static Quantity> {
    KINDS.iter().enumerate().flat_map(|(at, kind)| {
        let before = move |q: &&Quantity| !KINDS[..at].iter().any(|k| k.quantities.contains(q));
        kind.quantities.iter().filter(before)
    })
}
