//! The models that there are: the one place that lists them.

use super::Spec;
use super::bmlr::{self, BmlrSimulation, BmlrSimulationSettings, RegressionMixture};
use super::gmm::{self, GaussianMixture, GmmSimulation, GmmSimulationSettings};
use super::mixture::{self, ColumnMixture, MixtureSimulation, MixtureSimulationSettings};
use super::spec::Kind;
use crate::functional::Quantity;
use crate::study::{SettingsOf, SimulationOf};
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

/// Which model, with all its settings. What it can be asked is [`Spec`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "lowercase")]
#[non_exhaustive]
pub enum ModelSpec {
    /// A Gaussian mixture.
    Gmm(GaussianMixture),
    /// A mixture of linear regressions.
    Bmlr(RegressionMixture),
    /// A mixture whose columns are independent, each of its own kind.
    Mixture(ColumnMixture),
}

impl Deref for ModelSpec {
    type Target = dyn Spec;

    fn deref(&self) -> &(dyn Spec + 'static) {
        match self {
            ModelSpec::Gmm(spec) => spec,
            ModelSpec::Bmlr(spec) => spec,
            ModelSpec::Mixture(spec) => spec,
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

impl From<ColumnMixture> for ModelSpec {
    fn from(spec: ColumnMixture) -> ModelSpec {
        ModelSpec::Mixture(spec)
    }
}

/// A simulation as it is written: of which model, and with what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "lowercase")]
#[non_exhaustive]
pub enum SimulationSettings {
    /// Rows of a mixture of Gaussians, or of t or skewed components.
    Gmm(GmmSimulationSettings),
    /// Groups of rows, each following one of several regressions.
    Bmlr(BmlrSimulationSettings),
    /// Rows of columns of different kinds.
    Mixture(MixtureSimulationSettings),
}

impl Deref for SimulationSettings {
    type Target = dyn SettingsOf;

    fn deref(&self) -> &(dyn SettingsOf + 'static) {
        match self {
            SimulationSettings::Gmm(settings) => settings,
            SimulationSettings::Bmlr(settings) => settings,
            SimulationSettings::Mixture(settings) => settings,
        }
    }
}

impl DerefMut for SimulationSettings {
    fn deref_mut(&mut self) -> &mut (dyn SettingsOf + 'static) {
        match self {
            SimulationSettings::Gmm(settings) => settings,
            SimulationSettings::Bmlr(settings) => settings,
            SimulationSettings::Mixture(settings) => settings,
        }
    }
}

/// A simulation with every number in place, components by decreasing weight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Simulation {
    /// Rows of a mixture.
    Gmm(GmmSimulation),
    /// Groups of a mixture of regressions.
    Bmlr(BmlrSimulation),
    /// Rows of a mixture of columns.
    Mixture(MixtureSimulation),
}

impl Deref for Simulation {
    type Target = dyn SimulationOf;

    fn deref(&self) -> &(dyn SimulationOf + 'static) {
        match self {
            Simulation::Gmm(simulation) => simulation,
            Simulation::Bmlr(simulation) => simulation,
            Simulation::Mixture(simulation) => simulation,
        }
    }
}

/// All models, in the order in which they are listed to users.
pub const KINDS: [&Kind; 3] = [&gmm::KIND, &bmlr::KIND, &mixture::KIND];

/// What users can ask of any model, each name of a block once.
pub(crate) fn quantities() -> impl Iterator<Item = &'static Quantity> {
    KINDS.iter().enumerate().flat_map(|(at, kind)| {
        let before = move |q: &&Quantity| !KINDS[..at].iter().any(|k| k.quantities.contains(q));
        kind.quantities.iter().filter(before)
    })
}
