//! The TVB table: fits over a grid of ω and many resamples, built once and asked any question.
//!
//! [`Settings`] are what a user chooses; with the data's names and hash they become a [`Manifest`],
//! which decides every number of the table. A [`TableRequest`] makes a [`TvbTable`] in memory. On disk (feature
//! `parquet`) a table is a folder that can be resumed, built in shards and merged; `docs/TABLES.md` in
//! the repository describes its files.

mod build;
#[cfg(feature = "parquet")]
mod diff;
#[cfg(feature = "parquet")]
mod disk;
#[cfg(feature = "parquet")]
mod estimate;
mod extend;
#[cfg(feature = "parquet")]
mod info;
mod manifest;
#[cfg(feature = "parquet")]
mod parts;
mod plan;
#[cfg(feature = "parquet")]
mod reader;
mod request;
#[cfg(feature = "parquet")]
mod sealed;
mod usual;
mod words;

pub use crate::defaults::{STARTS, TABLE_TOLERANCE};
#[cfg(feature = "parquet")]
pub use crate::store::StoreError;
pub use build::{BuildError, Watch};
#[cfg(feature = "parquet")]
pub use diff::{TableDiff, diff};
#[cfg(feature = "parquet")]
pub use disk::{Shard, TableError, merge, open, save};
#[cfg(feature = "parquet")]
pub use estimate::Estimate;
#[cfg(feature = "parquet")]
pub use info::{TableCheck, TableInfo, check, info};
pub(crate) use manifest::hash_data;
pub use manifest::{Manifest, OmegaGrid, Replicates, Settings};
pub use plan::{MAX_BOOTSTRAPS, MAX_GRID, Plan, PlanError};
#[cfg(feature = "parquet")]
pub use reader::TableReader;
#[cfg(feature = "parquet")]
pub(crate) use reader::Thin;
pub use request::{Blueprint, TableRequest};
pub use usual::{LeftOut, Usual};
pub use words::TableWords;

use crate::backend::Job;
use crate::calibrate::Ask;
use crate::fit::{PathFits, StatusCode};
use crate::functional::FunctionalError;
use crate::model::{ModelData, ModelError};
use crate::posterior::{Layout, Posterior};
use crate::problem::Problem;
use crate::resample::Design;
use crate::weights::UnitWeights;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
#[cfg(feature = "parquet")]
use std::sync::OnceLock;

/// A table in memory.
#[derive(Clone, Debug)]
pub struct TvbTable {
    manifest: Manifest,
    layout: Arc<Layout>,
    paths: BTreeMap<Job, PathFits>,
    behind: Behind,
    /// Where the rest is, if only what certain questions need was read.
    #[cfg(feature = "parquet")]
    thin: Option<Arc<Thin>>,
}

/// What a table was built from.
#[derive(Clone, Debug)]
enum Behind {
    /// The problem itself.
    Problem(Problem),
    /// Data that were kept with it, and the problem once somebody needs it.
    #[cfg(feature = "parquet")]
    Data(Arc<KeptData>, Arc<OnceLock<Problem>>),
    /// Nothing that is still there.
    #[cfg(feature = "parquet")]
    Nothing,
}

/// Data as they are kept with a table.
#[cfg(feature = "parquet")]
#[derive(Clone, Debug)]
pub(crate) struct KeptData {
    data: ModelData,
    weights: Option<Arc<UnitWeights>>,
}

impl TvbTable {
    /// A table of given paths, with the data that were kept.
    #[cfg(feature = "parquet")]
    pub(crate) fn new(
        manifest: Manifest,
        paths: BTreeMap<Job, PathFits>,
        data: Option<Arc<KeptData>>,
    ) -> TvbTable {
        let behind = match data {
            Some(data) => Behind::Data(data, Arc::default()),
            None => Behind::Nothing,
        };
        let layout = Arc::new(manifest.layout.clone());
        TvbTable { manifest, layout, paths, behind, thin: None }
    }

    /// A table of a problem.
    fn of(problem: &Problem, manifest: Manifest, paths: BTreeMap<Job, PathFits>) -> TvbTable {
        let layout = problem.model().layout().clone();
        TvbTable {
            manifest,
            layout,
            paths,
            behind: Behind::Problem(problem.clone()),
            #[cfg(feature = "parquet")]
            thin: None,
        }
    }

    /// The problem that it was built for, unless the data were left out.
    pub fn problem(&self) -> Result<Option<Problem>, ModelError> {
        match &self.behind {
            Behind::Problem(problem) => Ok(Some(problem.clone())),
            #[cfg(feature = "parquet")]
            Behind::Nothing => Ok(None),
            #[cfg(feature = "parquet")]
            Behind::Data(data, known) => {
                if let Some(problem) = known.get() {
                    return Ok(Some(problem.clone()));
                }
                let KeptData { data, weights } = KeptData::clone(data);
                let mut problem = Problem::new(self.manifest.model.clone(), data)?;
                if let Some(weights) = weights {
                    let weights = UnitWeights::clone(&weights);
                    // The data were kept as the model had them.
                    problem = match weights.n_rows() == problem.data().n_units() {
                        true => problem.weighted_as_it_is(weights),
                        false => problem.weighted(weights)?,
                    };
                }
                Ok(Some(known.get_or_init(|| problem).clone()))
            }
        }
    }

    /// A question about it, such as `pi[1]` or `mu[1,waiting] - mu[2,waiting]`.
    pub fn ask(&self, functional: &str) -> Result<Ask<'_>, FunctionalError> {
        Ask::new(self, functional)
    }

    /// What it was made with.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Whether parts like its own carry checksums; a table that was read in an older format has none.
    pub fn is_checked(&self) -> bool {
        self.manifest.schema >= Manifest::SEALED
    }

    /// The blocks of its posteriors.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// The data behind it, unless they were left out.
    pub fn data(&self) -> Option<&ModelData> {
        match &self.behind {
            Behind::Problem(problem) => Some(problem.data()),
            #[cfg(feature = "parquet")]
            Behind::Data(kept, _) => Some(&kept.data),
            #[cfg(feature = "parquet")]
            Behind::Nothing => None,
        }
    }

    /// The weights of its units, where they have any and the data were not left out.
    pub fn weights(&self) -> Option<&Arc<UnitWeights>> {
        match &self.behind {
            Behind::Problem(problem) => problem.weights(),
            #[cfg(feature = "parquet")]
            Behind::Data(kept, _) => kept.weights.as_ref(),
            #[cfg(feature = "parquet")]
            Behind::Nothing => None,
        }
    }

    /// The grid, from large to small.
    pub fn omegas(&self) -> &[f64] {
        &self.manifest.omegas
    }

    /// The points of the grid at which bootstraps of a design were fitted.
    pub fn omegas_of(&self, design: Design) -> &[f64] {
        self.manifest.omegas_of(design)
    }

    /// A replicate's fits along the grid, when the table has them.
    pub fn path(&self, job: Job) -> Option<&PathFits> {
        self.paths.get(&job)
    }

    /// All paths it has.
    pub fn paths(&self) -> impl Iterator<Item = (&Job, &PathFits)> {
        self.paths.iter()
    }

    /// Fits that it has.
    pub fn n_fits(&self) -> usize {
        self.paths.values().map(|path| path.status.len()).sum()
    }

    /// The bootstraps of a design that the table has.
    pub fn bootstraps(&self, design: Design) -> impl Iterator<Item = (&Job, &PathFits)> {
        let from = Job { design, replicate: 1 };
        self.paths.range(from..).take_while(move |(job, _)| job.design == design)
    }

    /// The fit that a bootstrap is checked against: replicate 0 of its design, or its subset.
    pub fn checked_against(&self, bootstrap: Job) -> Job {
        match self.manifest.subsets {
            Some(subsets) if bootstrap.design == Design::Full => {
                let replicate = subsets.of_bootstrap(bootstrap.replicate);
                Job { design: Design::Subset, replicate }
            }
            _ => Job { replicate: 0, ..bootstrap },
        }
    }

    /// The fits that bootstraps of a design are checked against, as far as they are there.
    pub fn checked_jobs(&self, design: Design) -> Vec<Job> {
        let bootstraps = match self.manifest.subsets {
            Some(subsets) => subsets.count,
            None => 1,
        };
        (1..=bootstraps)
            .map(|replicate| self.checked_against(Job { design, replicate }))
            .filter(|job| self.paths.contains_key(job))
            .collect()
    }

    /// Posterior parameters at grid point `i` of a path; `None` when that fit is degenerate, or when a table that was read
    /// for certain questions does not have them all.
    pub fn parameters<'a>(&self, path: &'a PathFits, i: usize) -> Option<&'a [f64]> {
        let row = self.layout.len();
        let fitted = path.status.get(i).is_some_and(|status| *status != StatusCode::Degenerate);
        path.parameters.get(i * row..(i + 1) * row).filter(|_| fitted && !path.bound.is_empty())
    }

    /// As [`parameters`](Self::parameters); of a table that was read for certain questions with NaN for all that they
    /// do not need.
    pub(crate) fn row<'a>(&self, path: &'a PathFits, i: usize) -> Option<Cow<'a, [f64]>> {
        #[cfg(feature = "parquet")]
        if let Some(thin) = self.thin.as_deref().filter(|_| Thin::is_thin(path)) {
            let fitted = path.status.get(i).is_some_and(|status| *status != StatusCode::Degenerate);
            return fitted.then(|| Cow::Owned(thin.row(&self.layout, path, i)));
        }
        self.parameters(path, i).map(Cow::Borrowed)
    }

    /// Whether only what certain questions need was read of it.
    #[cfg(feature = "parquet")]
    pub fn is_thin(&self) -> bool {
        self.thin.is_some()
    }

    /// What a table that was read for certain questions has beside its paths.
    #[cfg(feature = "parquet")]
    pub(crate) fn thin(&self) -> Option<&Thin> {
        self.thin.as_deref()
    }

    /// Replicate 0 of a design: all units, or the half sample.
    pub fn zeroth(&self, design: Design, i: usize) -> Option<&[f64]> {
        self.path(Job { design, replicate: 0 }).and_then(|path| self.parameters(path, i))
    }

    /// The full-data posterior at any ω within the grid, between two grid points by
    /// [`Layout::interpolate`].
    pub fn full_data_posterior(&self, omega: f64) -> Option<Posterior> {
        let omegas = self.omegas();
        let after = omegas.iter().position(|&w| w <= omega)?;
        let low = self.zeroth(Design::Full, after)?;
        if after == 0 || omegas[after] == omega {
            return Some(Posterior::new(self.layout.clone(), low.to_vec()));
        }
        let high = self.zeroth(Design::Full, after - 1)?;
        let parameters =
            self.layout.interpolate(omega, (omegas[after], low), (omegas[after - 1], high));
        Some(Posterior::new(self.layout.clone(), parameters))
    }
}
