//! What a table is made with: everything that decides its content.

use crate::backend::Job;
use crate::fit::{PathOptions, Start};
use crate::hash::hex;
use crate::model::{ModelData, ModelSpec};
use crate::posterior::Layout;
use crate::problem::Problem;
use crate::resample::{Design, Subsets};
use crate::weights::{UnitWeights, WeightsFrom};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ops::Range;

/// A grid of fractions, even in log ω, from 1 down to `min`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OmegaGrid {
    /// Number of points.
    pub points: usize,
    /// The smallest ω.
    pub min: f64,
}

impl OmegaGrid {
    /// Its points, from 1 downwards.
    pub fn omegas(&self) -> Vec<f64> {
        let last = self.points.max(2) - 1;
        let step = self.min.ln() / last as f64;
        (0..self.points)
            .map(|i| match i {
                0 => 1.0,
                i if i == last => self.min,
                i => (step * i as f64).exp(),
            })
            .collect()
    }
}

/// How many bootstraps of each design.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replicates {
    /// Bootstraps of all units.
    pub full: u32,
    /// Bootstraps of one half (with the other half itself as replicate 0).
    pub split: u32,
}

/// What a user chooses, checked: it comes from a [`Plan`](super::Plan).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Settings {
    /// The model.
    pub model: ModelSpec,
    /// The grid, from large to small.
    pub omegas: Vec<f64>,
    /// The smallest ω to consider, also for methods that choose their own points.
    pub omega_min: f64,
    /// Bootstraps of each design.
    pub replicates: Replicates,
    /// Designs whose bootstraps are fitted at the first ω alone, because no method that was asked for looks at others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_one: Vec<Design>,
    /// Bootstraps for methods that draw their own.
    pub bootstraps: u32,
    /// Fresh splits at every ω.
    pub fresh_splits: bool,
    /// The subsets that bootstraps of all units are drawn from, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subsets: Option<Subsets>,
    /// Hash of the user's own resamples, if any.
    pub resamples: Option<String>,
    /// Seed of everything random.
    pub seed: u64,
    /// Where the full-data fit begins.
    pub start: Start,
    /// How to fit along a path.
    pub path: PathOptions,
    /// Intervals of means as t quantile times posterior standard deviation, as in the paper's code.
    pub published_intervals: bool,
}

impl Settings {
    /// Bootstraps of a design.
    pub fn bootstraps_of(&self, design: Design) -> u32 {
        match design {
            Design::Full => self.replicates.full,
            Design::Split => self.replicates.split,
            Design::Subset => 0,
        }
    }

    /// The points of the grid at which bootstraps of a design are fitted, from large to small.
    pub fn omegas_of(&self, design: Design) -> &[f64] {
        // What little bootstraps are compared with is fitted where they are.
        let own = if design == Design::Subset { Design::Full } else { design };
        match self.at_one.contains(&own) {
            true => &self.omegas[..self.omegas.len().min(1)],
            false => &self.omegas,
        }
    }

    /// ` at ω = 1` for a design that has nothing else where others have a grid.
    pub fn only_at(&self, design: Design) -> &'static str {
        if self.omegas_of(design).len() < self.omegas.len() { " at ω = 1" } else { "" }
    }

    /// The same for one replicate: the full data are fitted on the whole grid.
    pub(crate) fn omegas_of_job(&self, job: Job) -> &[f64] {
        match (job.design, job.replicate) {
            (Design::Full, 0) => &self.omegas,
            _ => self.omegas_of(job.design),
        }
    }

    /// Fits of some replicates.
    pub(super) fn fits_of(&self, jobs: impl IntoIterator<Item = Job>) -> usize {
        jobs.into_iter().map(|job| self.omegas_of_job(job).len()).sum()
    }

    /// The replicates of a design. The full data themselves are always there; a half sample only with its
    /// bootstraps.
    pub(super) fn numbers(&self, design: Design) -> Range<u32> {
        match design {
            Design::Full => 0..self.replicates.full + 1,
            Design::Split if self.replicates.split == 0 => 0..0,
            Design::Split => 0..self.replicates.split + 1,
            Design::Subset => 1..self.subsets.map_or(0, |subsets| subsets.count) + 1,
        }
    }
}

/// What a table records about itself; two tables with equal manifests hold the same numbers.
///
/// It is the settings (whose fields it shows as its own, in the file too) and what they met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the format.
    pub schema: u32,
    /// Version of the library that wrote it.
    pub library: String,
    /// What the user chose.
    #[serde(flatten)]
    pub settings: Settings,
    /// The blocks of the model's posterior.
    pub layout: Layout,
    /// Names of the data's columns.
    pub columns: Vec<String>,
    /// Whether the data are statistics of groups whose rows were not held (`--stream`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub statistics: bool,
    /// Where the units' weights are from, if they have any; the weights themselves are the last column of the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<WeightsFrom>,
    /// Number of units.
    pub n_units: usize,
    /// SHA-256 of names and values of the data.
    pub data_hash: String,
    /// Replicates per part on disk.
    pub block: u32,
}

impl std::ops::Deref for Manifest {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.settings
    }
}

impl Manifest {
    /// The version of the files' meaning; raised when an older reader would misread them. Since 2 `data.parquet` may
    /// hold statistics instead of rows; since 3 manifest and parts are sealed; since 4 bootstraps of a design may be fitted
    /// at the first ω alone.
    pub(super) const SCHEMA: u32 = 4;

    /// The first version whose manifests and parts are sealed. A table in which all designs have the whole grid is still
    /// written so.
    pub(super) const SEALED: u32 = 3;

    /// The version that says all of these settings: the smallest, so that tables of earlier programs can be completed.
    fn version(settings: &Settings) -> u32 {
        if settings.at_one.is_empty() { Manifest::SEALED } else { Manifest::SCHEMA }
    }

    /// The manifest of a table of a problem with these settings.
    pub fn new(settings: Settings, problem: &Problem) -> Manifest {
        let data = problem.data();
        Manifest {
            schema: Manifest::version(&settings),
            library: env!("CARGO_PKG_VERSION").to_owned(),
            settings,
            layout: problem.model().layout().as_ref().clone(),
            columns: data.variables(),
            statistics: data.is_statistics(),
            weights: problem.weights().map(|weights| weights.from().clone()),
            n_units: problem.n_units(),
            data_hash: problem.data_hash().to_owned(),
            block: BLOCK,
        }
    }

    /// What was fitted, and how many of them: `272 rows`, `1000 rows weighted by wt`.
    pub fn units_in_words(&self) -> String {
        let units = self.model.unit().count(self.n_units);
        match &self.weights {
            Some(weights) => format!("{units} {}", weights.in_words()),
            None => units,
        }
    }

    /// The manifest of a table that stays in memory and never meets its data again: it says nothing of
    /// their names and values.
    #[cfg(feature = "parquet")]
    pub(crate) fn without_data(settings: Settings, layout: &Layout, n_units: usize) -> Manifest {
        Manifest {
            schema: Manifest::version(&settings),
            library: env!("CARGO_PKG_VERSION").to_owned(),
            settings,
            layout: layout.clone(),
            columns: Vec::new(),
            statistics: false,
            weights: None,
            n_units,
            data_hash: String::new(),
            block: BLOCK,
        }
    }
}

/// Gives a manifest of a schema before 3 today's form: what was the default prior of `gmm` then has a name now.
#[cfg(feature = "parquet")]
pub(super) fn upgrade(value: &mut serde_json::Value) {
    let Some(model) = value.get_mut("model").filter(|model| model["name"] == "gmm") else { return };
    if let Some(base) = model.get_mut("prior").and_then(|prior| prior.get_mut("base"))
        && *base == "default"
    {
        *base = "standardised".into();
    }
}

/// Replicates per part: small enough that a killed build loses seconds, large enough that a
/// table is not thousands of files.
const BLOCK: u32 = 20;

/// SHA-256 of the names and the bits of all values, and of weights.
pub(crate) fn hash_data(data: &ModelData, weights: Option<&UnitWeights>) -> String {
    let mut hash = Sha256::new();
    for (name, column) in data.column_names().iter().zip(data.columns()) {
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
        hash.update((column.len() as u64).to_le_bytes());
        for x in column {
            hash.update(x.to_bits().to_le_bytes());
        }
    }
    if let Some(weights) = weights {
        hash.update(weights.from().kind.name().as_bytes());
        for x in weights.totals() {
            hash.update(x.to_bits().to_le_bytes());
        }
    }
    hex(hash)
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "parquet")]
    #[test]
    fn the_default_prior_of_older_tables_keeps_its_meaning() {
        let of = |text: &str| {
            let mut value = serde_json::from_str(text).unwrap();
            super::upgrade(&mut value);
            value["model"]["prior"]["base"].as_str().unwrap().to_owned()
        };
        let gmm = r#"{"model": {"name": "gmm", "prior": {"base": "default", "beta0": 2.0}}}"#;
        assert_eq!(of(gmm), "standardised");
        assert_eq!(of(&gmm.replace("default", "paper")), "paper");
        assert_eq!(of(&gmm.replace("gmm", "bmlr")), "default");
    }
}
