//! Building a table: the full-data path first, then every replicate.

use super::{Manifest, Settings, TvbTable};
use crate::backend::{Backend, Job, Problem};
use crate::fit::{PathOptions, Reference, Start};
use crate::memory::{self, TooLarge};
use crate::model::{Degenerate, Model, ModelData};
use crate::resample::{Design, Resamples};
use std::sync::atomic::AtomicBool;

/// Why a table was not built.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BuildError {
    /// Not even the full data can be fitted.
    #[error(
        "the full data cannot be fitted: {0}; try fewer components, another prior or other start values"
    )]
    FullData(#[from] Degenerate),
    /// Interrupted.
    #[error("interrupted")]
    Cancelled,
    /// It would not fit into memory.
    #[error(transparent)]
    Memory(#[from] TooLarge),
}

/// Bytes of so many paths of a table in memory.
pub(super) fn bytes(manifest: &Manifest, paths: usize) -> f64 {
    // Parameters, bound, sweeps and status.
    let fit = 8.0 * (manifest.layout.len() + 3) as f64;
    paths as f64 * manifest.omegas.len() as f64 * fit
}

/// Number of paths of a manifest.
pub(super) fn n_paths(manifest: &Manifest) -> usize {
    [Design::Full, Design::Split, Design::Subset].map(|d| manifest.numbers(d).len()).iter().sum()
}

/// Refuses a table that memory cannot hold.
pub(super) fn check_memory(manifest: &Manifest, paths: usize, more: f64) -> Result<(), TooLarge> {
    let fits = paths as f64 * manifest.omegas.len() as f64;
    let what = format!("a table of {fits} fits of {} numbers each", manifest.layout.len() + 3);
    memory::check(
        &what,
        bytes(manifest, paths) + more,
        "ask for fewer bootstraps (-B) or points (--grid), or use a machine with more memory",
    )
}

/// How a build is watched and stopped.
pub struct Watch<'a> {
    /// Set to stop soon.
    pub cancel: &'a AtomicBool,
    /// Called once with the number of paths, before the first.
    pub begin: &'a (dyn Fn(u64) + Sync),
    /// Called after each path.
    pub done: &'a (dyn Fn() + Sync),
}

impl Watch<'static> {
    /// Watches nothing and never stops.
    pub fn silent() -> Watch<'static> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Watch { cancel: &NEVER, begin: &|_| (), done: &|| () }
    }
}

/// All jobs of a manifest, in the order of storage.
pub(super) fn jobs(manifest: &Manifest) -> Vec<Job> {
    [Design::Full, Design::Split, Design::Subset]
        .into_iter()
        .flat_map(|design| manifest.numbers(design).map(move |replicate| Job { design, replicate }))
        .collect()
}

/// The full-data path that replicates start from.
pub(super) fn reference(
    model: &dyn Model,
    omegas: &[f64],
    start: &Start,
    path: &PathOptions,
) -> Result<Reference, BuildError> {
    Ok(Reference::new(model, omegas, start, path)?)
}

/// Builds a table in memory.
pub fn build(
    settings: Settings,
    model: &dyn Model,
    data: ModelData,
    resamples: &Resamples,
    backend: &dyn Backend,
    watch: &Watch<'_>,
) -> Result<TvbTable, BuildError> {
    let manifest = Manifest::new(settings, model.layout(), &data);
    check_memory(&manifest, n_paths(&manifest), 0.0)?;
    let reference = reference(model, &manifest.omegas, &manifest.start, &manifest.path)?;
    let problem = Problem {
        model,
        omegas: &manifest.omegas,
        resamples,
        reference: &reference,
        options: &manifest.path,
    };
    let jobs = jobs(&manifest);
    (watch.begin)(jobs.len() as u64);
    let fits = backend.run(&problem, &jobs, watch.cancel, watch.done);
    let paths = jobs
        .into_iter()
        .zip(fits)
        .map(|(job, fits)| fits.map(|fits| (job, fits)).ok_or(BuildError::Cancelled))
        .collect::<Result<_, _>>()?;
    Ok(TvbTable::new(manifest, paths, Some(data)))
}
