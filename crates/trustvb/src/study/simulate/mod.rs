//! Data sets with known truth, for any model that can be simulated.
//!
//! [`SimulationSettings`](crate::model::SimulationSettings) are what a user writes, in a study's file or on the command
//! line; [`SettingsOf::check`] makes of them a [`Simulation`] that cannot be wrong, with every number in place.
//! [`Simulation::draw`] gives data set `replication` of a seed, and no other data set has to be drawn for it. What is a
//! model's own is in its folder.

mod limits;

pub(crate) use limits::{check_description, check_size};

use super::{FitSettings, StudyError, Truth};
use crate::hash::hex;
use crate::model::{ModelData, ModelSpec, Simulation};
use crate::posterior::{Layout, Posterior};
use crate::random::{Purpose, stream};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// A simulation of one model as it is written. What is left out has a default.
pub trait SettingsOf {
    /// The sizes it asks for: in a study a list stands for one cell each.
    fn sizes(&self) -> &[usize];
    /// The same with other sizes.
    fn set_sizes(&mut self, sizes: Vec<usize>);
    /// What its sizes are called: `n`, `rows`.
    fn size_name(&self) -> &'static str;
    /// The simulation these settings mean with their size; they must have exactly one.
    fn with_one_size(&self, size: usize) -> Result<Simulation, StudyError>;

    /// The simulation these settings mean. They must have exactly one size.
    fn check(&self) -> Result<Simulation, StudyError> {
        match self.sizes() {
            [size] => self.with_one_size(*size),
            sizes => {
                let what = format!("there are {} sizes; one is needed", sizes.len());
                Err(wrong(self.size_name(), what))
            }
        }
    }
}

/// A simulation of one model with every number in place, components by decreasing weight.
pub trait SimulationOf {
    /// The model's name.
    fn model(&self) -> &'static str;
    /// What its size is called: `n`, `rows`.
    fn size_name(&self) -> &'static str;
    /// A data set from a stream.
    fn draw_from(&self, rng: &mut ChaCha8Rng) -> Result<ModelData, StudyError>;
    /// The truth behind its data sets.
    fn truth(&self) -> Truth;
    /// The truth as parameters of a posterior without spread; what has no true value stays as it is.
    fn fill(&self, layout: &Layout, parameters: &mut [f64]);
    /// The blocks that hold its truth for data of these coordinates, where those of what is fitted may not: a study may fit
    /// another model than the data's.
    fn true_layout(&self, _coordinates: &[String]) -> Option<Layout> {
        None
    }
    /// The same with few units: enough to know the model's blocks.
    fn small(&self) -> Simulation;
    /// The same with so many units, where the limit of very many units can be asked for.
    fn with_units(&self, n: usize) -> Option<Simulation>;
    /// Rows and columns of its data.
    fn shape(&self) -> (f64, f64);
    /// The model that a study's settings mean for such data.
    fn fitted(&self, fit: &FitSettings) -> Result<ModelSpec, StudyError>;
}

impl Simulation {
    /// Data set `replication` of a seed.
    pub fn draw(&self, seed: u64, replication: u64) -> Result<ModelData, StudyError> {
        self.draw_from(&mut stream(seed, Purpose::Simulate, replication))
    }

    /// A posterior whose means are the truth, so that whatever is defined for posteriors (functionals,
    /// distances between components) is defined for the truth. What has no true value is NaN.
    pub fn true_posterior(&self, layout: &Arc<Layout>) -> Result<Posterior, StudyError> {
        let (truth, model) = (self.truth().pi.len(), layout.n_components);
        if truth != model {
            return Err(StudyError::Components { truth, model });
        }
        let mut parameters = vec![f64::NAN; layout.len()];
        self.fill(layout, &mut parameters);
        Ok(Posterior::new(layout.clone(), parameters))
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

pub(crate) fn wrong(setting: &str, what: String) -> StudyError {
    StudyError::Setting { setting: setting.to_owned(), what }
}

/// Weights that add up to 1 for `k` components, from those given: by default 0.65 and 0.35 for two components,
/// otherwise proportional to K, K−1, …, 1.
pub(crate) fn weights(given: Option<&Vec<f64>>, k: usize) -> Result<Vec<f64>, StudyError> {
    let weights = match given {
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

/// Which component each of `n` units belongs to needs one uniform number per unit.
pub(crate) fn component(weights: &[f64], uniform: f64) -> usize {
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
pub(crate) fn by_weight(weights: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&i, &j| weights[j].total_cmp(&weights[i]));
    order
}

/// Accepts `1000` and `[1000, 2000]`.
pub(crate) fn one_or_many<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<usize>, D::Error> {
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
