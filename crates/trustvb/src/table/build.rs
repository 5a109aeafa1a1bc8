//! Building a table: the full-data path first, then every replicate.

use super::{Blueprint, Manifest, PlanError, TvbTable};
use crate::backend::{Backend, Job, Work};
use crate::fit::{PathFits, Reference};
use crate::memory::{self, TooLarge};
use crate::model::Degenerate;
use crate::remedy::{Advise, Remedy};
use crate::resample::Design;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Why a table was not built.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BuildError {
    /// Not even the full data can be fitted.
    #[error(
        "the full data cannot be fitted: {0}; try fewer components, another prior or other start values"
    )]
    FullData(Degenerate),
    /// Rows that are not in memory cannot be looked at.
    #[error(transparent)]
    Rows(Degenerate),
    /// Wishes that do not go together.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Interrupted.
    #[error("interrupted")]
    Cancelled,
    /// It would not fit into memory.
    #[error(transparent)]
    Memory(#[from] TooLarge),
}

impl From<Degenerate> for BuildError {
    fn from(why: Degenerate) -> BuildError {
        match why {
            Degenerate::Rows(_) => BuildError::Rows(why),
            other => BuildError::FullData(other),
        }
    }
}

impl Advise for BuildError {
    fn remedies(&self) -> Vec<Remedy> {
        match self {
            BuildError::Plan(error) => error.remedies(),
            BuildError::Memory(error) => error.remedies(),
            BuildError::FullData(_) | BuildError::Rows(_) | BuildError::Cancelled => Vec::new(),
        }
    }
}

/// Bytes of so many fits of a table in memory.
pub(super) fn bytes(manifest: &Manifest, fits: usize) -> f64 {
    // Parameters, bound, sweeps and status.
    fits as f64 * 8.0 * (manifest.layout.len() + 3) as f64
}

/// Refuses a table that memory cannot hold.
pub(super) fn check_memory(manifest: &Manifest, fits: usize, more: f64) -> Result<(), TooLarge> {
    let what = format!("a table of {fits} fits of {} numbers each", manifest.layout.len() + 3);
    memory::check(
        &what,
        bytes(manifest, fits) + more,
        &[Remedy::FewerFits, Remedy::Do("use a machine with more memory")],
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

/// Runs jobs of a table batch by batch, each result into `sink`, until all are done, the watch is cancelled, or the
/// sink fails.
pub(super) fn run<E: From<BuildError> + Send>(
    blueprint: &Blueprint,
    manifest: &Manifest,
    batches: &[Vec<Job>],
    backend: &dyn Backend,
    watch: &Watch<'_>,
    sink: impl Fn(Job, PathFits) -> Result<(), E> + Sync,
) -> Result<(), E> {
    run_from(blueprint, manifest, &BTreeMap::new(), batches, backend, watch, sink)
}

/// As [`run`], without making those fits at the first ω again that are known.
pub(super) fn run_from<E: From<BuildError> + Send>(
    blueprint: &Blueprint,
    manifest: &Manifest,
    known: &BTreeMap<Job, PathFits>,
    batches: &[Vec<Job>],
    backend: &dyn Backend,
    watch: &Watch<'_>,
    sink: impl Fn(Job, PathFits) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let model = blueprint.problem.model().as_ref();
    let (omegas, start, path) = (&manifest.omegas, &manifest.start, &manifest.path);
    let reference = known
        .get(&Job { design: Design::Full, replicate: 0 })
        .and_then(|first| Reference::extending(first, model, omegas, start, path))
        .unwrap_or_else(|| Reference::new(model, omegas, start, path))
        .map_err(BuildError::from)?;
    let work = Work {
        model,
        omegas: &manifest.omegas,
        resamples: &blueprint.resamples,
        reference: &reference,
        options: &manifest.path,
        first: 0,
        known: Some(known),
    };
    let batch = |work: &Work<'_>, jobs: &[Job]| {
        // Paths of one length at a time.
        let (whole, short): (Vec<Job>, Vec<Job>) = jobs
            .iter()
            .partition(|job| manifest.omegas_of_job(**job).len() == manifest.omegas.len());
        batch(work, &whole, backend, watch, &sink)?;
        match short.first() {
            None => Ok(()),
            Some(job) => {
                let omegas = manifest.omegas_of_job(*job);
                batch(&Work { omegas, ..*work }, &short, backend, watch, &sink)
            }
        }
    };
    if !model.is_far() {
        return batches.iter().try_for_each(|jobs| batch(&work, jobs));
    }
    // One subset after the other is fetched, so that memory holds one.
    let n_units = model.n_units();
    let resamples = blueprint.resamples.within_subsets(n_units);
    for (number, jobs) in by_subset(manifest, batches) {
        if number == 0 {
            batch(&work, &jobs)?;
            continue;
        }
        let fetched = model.excerpt(&blueprint.resamples.subset(number, n_units));
        let fetched = fetched.unwrap_or(Err(Degenerate::NotFinite)).map_err(BuildError::from)?;
        let work = Work { model: fetched.as_ref(), resamples: &resamples, ..work };
        batch(&work, &jobs)?;
    }
    Ok(())
}

/// Jobs by the subset that their units are from; those of all units have the number 0.
fn by_subset(manifest: &Manifest, batches: &[Vec<Job>]) -> BTreeMap<u32, Vec<Job>> {
    let mut jobs: BTreeMap<u32, Vec<Job>> = BTreeMap::new();
    for job in batches.iter().flatten() {
        let number = match (job.design, manifest.subsets) {
            (Design::Subset, _) => job.replicate,
            (Design::Full, Some(subsets)) if job.replicate > 0 => {
                subsets.of_bootstrap(job.replicate)
            }
            _ => 0,
        };
        jobs.entry(number).or_default().push(*job);
    }
    jobs
}

/// Runs some jobs of a table.
fn batch<E: From<BuildError> + Send>(
    work: &Work<'_>,
    jobs: &[Job],
    backend: &dyn Backend,
    watch: &Watch<'_>,
    sink: &(impl Fn(Job, PathFits) -> Result<(), E> + Sync),
) -> Result<(), E> {
    let (done, failed) = (AtomicUsize::new(0), Mutex::new(None));
    backend.run(work, jobs, watch.cancel, &|job, fits| match sink(job, fits) {
        Ok(()) => {
            done.fetch_add(1, Ordering::Relaxed);
            (watch.done)();
            ControlFlow::Continue(())
        }
        Err(error) => {
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            ControlFlow::Break(())
        }
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None if done.into_inner() < jobs.len() => Err(BuildError::Cancelled.into()),
        None => Ok(()),
    }
}

/// Builds a table in memory.
pub(super) fn build(
    blueprint: &Blueprint,
    backend: &dyn Backend,
    watch: &Watch<'_>,
) -> Result<TvbTable, BuildError> {
    let manifest = blueprint.manifest();
    let jobs = jobs(&manifest);
    check_memory(&manifest, manifest.fits_of(jobs.iter().copied()), 0.0)?;
    (watch.begin)(jobs.len() as u64);
    let paths = Mutex::new(BTreeMap::new());
    run(blueprint, &manifest, &[jobs], backend, watch, |job, fits| {
        paths.lock().unwrap_or_else(PoisonError::into_inner).insert(job, fits);
        Ok::<(), BuildError>(())
    })?;
    let paths = paths.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(TvbTable::of(&blueprint.problem, manifest, paths))
}
