//! Building a table: the full-data path first, then every replicate.

use super::{Manifest, Settings, TvbTable};
use crate::backend::{Backend, Job, Problem};
use crate::fit::{PathOptions, Reference, Start};
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
