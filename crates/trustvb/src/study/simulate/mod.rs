//! Data sets with known truth: mixtures of Gaussians (or of t or skewed laws), and mixtures of regressions.
//!
//! [`SimulationSettings`] are what a user writes, in a study's file or on the command line;
//! [`SimulationSettings::check`] makes of them a [`Simulation`] that cannot be wrong, with every number
//! in place. [`Simulation::draw`] gives data set `replication` of a seed, and no other data set has to
//! be drawn for it.

mod bmlr;
mod gmm;
mod limits;

pub use bmlr::{BmlrSimulation, NoiseSize};
pub use gmm::GmmSimulation;

use super::{StudyError, Truth};
use crate::hash::hex;
use crate::model::ModelData;
use crate::random::{Purpose, stream};
use rand::Rng;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Which kind of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SimulatedModel {
    /// Rows of a mixture of Gaussians, or of t or skewed components.
    #[default]
    Gmm,
    /// Groups of rows, each following one of several regressions.
    Bmlr,
}

impl SimulatedModel {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            SimulatedModel::Gmm => "gmm",
            SimulatedModel::Bmlr => "bmlr",
        }
    }
}

/// A simulation as it is written. What is left out has a default; what belongs to the other model is
/// refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimulationSettings {
    /// The model.
    pub model: SimulatedModel,
    /// Rows (gmm); in a study a list stands for one cell each.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    pub n: Vec<usize>,
    /// Groups (bmlr).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<usize>,
    /// Rows of each group (bmlr); in a study a list stands for one cell each.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    pub rows: Vec<usize>,
    /// Weights of the components; they need not add up to 1. Default: 0.65 and 0.35 for two
    /// components, otherwise proportional to K, K−1, …, 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Vec<f64>>,
    /// Number of components; default: what the other settings say, otherwise 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub components: Option<usize>,
    /// Number of columns, for `separation`; default 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<usize>,
    /// Distance between the centres of neighbouring components in each coordinate; default 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separation: Option<f64>,
    /// Centres, one row per component, instead of `separation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub centres: Option<Vec<Vec<f64>>>,
    /// Covariance matrices: one for all components or one each; default: unit matrices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covariances: Option<Vec<Vec<Vec<f64>>>>,
    /// Degrees of freedom of t-distributed components, scaled to the given covariances; more than 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub df: Option<f64>,
    /// Skewness of the standardised coordinates of skewed components with the given means and
    /// covariances: 2 is that of an exponential law, a negative one has its long tail below (gmm).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skew: Option<f64>,
    /// Coefficients, one row per component (bmlr).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coefficients: Option<Vec<Vec<f64>>>,
    /// Ratio of the norms of signal and noise in each group (bmlr); default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snr: Option<f64>,
    /// Standard deviation of the noise, instead of `snr` (bmlr).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_sd: Option<f64>,
    /// Whether all groups of a component share one draw of the noise, as in the paper's code (bmlr);
    /// default: each group has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_noise: Option<bool>,
    /// Mean of the regressors (bmlr); default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x_mean: Option<f64>,
}

/// A simulation with every number in place, components by decreasing weight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Simulation {
    /// Rows of a mixture.
    Gmm(GmmSimulation),
    /// Groups of a mixture of regressions.
    Bmlr(BmlrSimulation),
}

impl SimulationSettings {
    /// The sizes it asks for: rows (gmm), or rows per group (bmlr).
    pub fn sizes(&self) -> &[usize] {
        match self.model {
            SimulatedModel::Gmm => &self.n,
            SimulatedModel::Bmlr => &self.rows,
        }
    }

    /// The same with one size.
    pub fn with_size(&self, size: usize) -> SimulationSettings {
        let mut one = self.clone();
        match self.model {
            SimulatedModel::Gmm => one.n = vec![size],
            SimulatedModel::Bmlr => one.rows = vec![size],
        }
        one
    }

    /// The simulation these settings mean. They must have exactly one size.
    pub fn check(&self) -> Result<Simulation, StudyError> {
        let [size] = self.sizes() else {
            let name = if self.model == SimulatedModel::Gmm { "n" } else { "rows" };
            let found = self.sizes().len();
            return Err(wrong(name, format!("there are {found} sizes; one is needed")));
        };
        limits::check(self)?;
        match self.model {
            SimulatedModel::Gmm => {
                self.refuse(&[
                    ("groups", self.groups.is_some()),
                    ("rows", !self.rows.is_empty()),
                    ("coefficients", self.coefficients.is_some()),
                    ("snr", self.snr.is_some()),
                    ("noise_sd", self.noise_sd.is_some()),
                    ("shared_noise", self.shared_noise.is_some()),
                    ("x_mean", self.x_mean.is_some()),
                ])?;
                GmmSimulation::new(self, *size).map(Simulation::Gmm)
            }
            SimulatedModel::Bmlr => {
                self.refuse(&[
                    ("n", !self.n.is_empty()),
                    ("columns", self.columns.is_some()),
                    ("separation", self.separation.is_some()),
                    ("centres", self.centres.is_some()),
                    ("covariances", self.covariances.is_some()),
                    ("df", self.df.is_some()),
                    ("skew", self.skew.is_some()),
                ])?;
                BmlrSimulation::new(self, *size).map(Simulation::Bmlr)
            }
        }
    }

    fn refuse(&self, settings: &[(&str, bool)]) -> Result<(), StudyError> {
        match settings.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((name, _)) => {
                Err(wrong(name, format!("it is not a setting of {}", self.model.name())))
            }
        }
    }

    /// Weights that add up to 1 for `k` components.
    fn weights(&self, k: usize) -> Result<Vec<f64>, StudyError> {
        let weights = match &self.weights {
            Some(weights) => weights.clone(),
            None if k == 2 => vec![0.65, 0.35],
            None => (1..=k).rev().map(|i| i as f64).collect(),
        };
        if weights.len() != k {
            return Err(wrong("weights", format!("{} for {k} components", weights.len())));
        }
        if let Some(bad) = weights.iter().find(|w| !(w.is_finite() && **w > 0.0)) {
            return Err(wrong("weights", format!("{bad} is not a positive number")));
        }
        let total: f64 = weights.iter().sum();
        // Weights that already add up to 1 but for rounding stay as they are written.
        if (total - 1.0).abs() < 1e-12 {
            return Ok(weights);
        }
        Ok(weights.iter().map(|w| w / total).collect())
    }
}

impl Simulation {
    /// Its model's name.
    pub fn model(&self) -> SimulatedModel {
        match self {
            Simulation::Gmm(_) => SimulatedModel::Gmm,
            Simulation::Bmlr(_) => SimulatedModel::Bmlr,
        }
    }

    /// Data set `replication` of a seed.
    pub fn draw(&self, seed: u64, replication: u64) -> Result<ModelData, StudyError> {
        let mut rng = stream(seed, Purpose::Simulate, replication);
        match self {
            Simulation::Gmm(gmm) => Ok(ModelData::Rows(gmm.draw(&mut rng)?)),
            Simulation::Bmlr(bmlr) => Ok(ModelData::Groups(bmlr.draw(&mut rng)?)),
        }
    }

    /// The truth behind its data sets.
    pub fn truth(&self) -> Truth {
        match self {
            Simulation::Gmm(gmm) => gmm.truth(),
            Simulation::Bmlr(bmlr) => bmlr.truth(),
        }
    }

    /// The same with few units: enough to know the model's blocks.
    pub(super) fn small(&self) -> Simulation {
        match self.clone() {
            Simulation::Gmm(gmm) => Simulation::Gmm(GmmSimulation { n: 200, ..gmm }),
            Simulation::Bmlr(bmlr) => {
                let rows = bmlr.coefficients[0].len() + 5;
                Simulation::Bmlr(BmlrSimulation { groups: 200, rows, ..bmlr })
            }
        }
    }

    /// The seed of this simulation's data in a study: it depends on the study's seed and on every number
    /// of the simulation, but not on names or on other cells.
    pub fn seed(&self, study_seed: u64) -> u64 {
        let mut hash = Sha256::new();
        hash.update(study_seed.to_le_bytes());
        hash.update(serde_json::to_string(self).unwrap_or_default().as_bytes());
        let digits = hex(hash);
        u64::from_str_radix(&digits[..16], 16).unwrap_or(0) >> 11
    }
}

/// The seed of everything random in the calibration of data set `replication`; it has 53 bits, so that
/// a double in a file holds it.
pub fn calibration_seed(data_seed: u64, replication: u64) -> u64 {
    stream(data_seed, Purpose::Study, replication).next_u64() >> 11
}

fn wrong(setting: &str, what: String) -> StudyError {
    StudyError::Setting { setting: setting.to_owned(), what }
}

/// Which component each of `n` units belongs to needs one uniform number per unit.
fn component(weights: &[f64], uniform: f64) -> usize {
    let mut left = uniform;
    for (k, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return k;
        }
    }
    weights.len() - 1
}

/// The numbers of the components from the heaviest to the lightest, equals in their order.
fn by_weight(weights: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&i, &j| weights[j].total_cmp(&weights[i]));
    order
}

/// Accepts `1000` and `[1000, 2000]`.
fn one_or_many<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<usize>, D::Error> {
    struct OneOrMany;
    impl<'de> serde::de::Visitor<'de> for OneOrMany {
        type Value = Vec<usize>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a whole number or a list of them")
        }
        fn visit_i64<E: serde::de::Error>(self, x: i64) -> Result<Vec<usize>, E> {
            usize::try_from(x).map(|x| vec![x]).map_err(|_| E::custom(format!("{x} is negative")))
        }
        fn visit_u64<E: serde::de::Error>(self, x: u64) -> Result<Vec<usize>, E> {
            usize::try_from(x).map(|x| vec![x]).map_err(E::custom)
        }
        fn visit_seq<A: serde::de::SeqAccess<'de>>(
            self,
            mut list: A,
        ) -> Result<Vec<usize>, A::Error> {
            let mut sizes = Vec::new();
            while let Some(size) = list.next_element()? {
                sizes.push(size);
            }
            Ok(sizes)
        }
    }
    deserializer.deserialize_any(OneOrMany)
}

#[cfg(test)]
mod tests;
