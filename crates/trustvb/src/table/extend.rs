//! A table that grows: fits that another one has are not made again.

use super::build::{check_memory, jobs, run_from};
use super::{Blueprint, BuildError, Manifest, TvbTable, Watch};
use crate::backend::{Backend, Job};
use crate::fit::{PathFits, StatusCode};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What a table gives to one that is to be built.
#[derive(Default)]
struct Known<'t> {
    /// Paths, and how many of their fits are wanted, from the first.
    whole: Vec<(&'t Job, &'t PathFits, usize)>,
    /// Fits at the first ω, from which paths can go on.
    first: Vec<(&'t Job, &'t PathFits)>,
}

impl Blueprint {
    /// How many fits of `table` need not be made again for this one: none unless both have the same problem and the
    /// same settings but for grid, designs and number of bootstraps.
    pub fn known_fits(&self, table: &TvbTable) -> usize {
        let Known { whole, first } = known(&self.manifest(), table);
        first.len() + whole.iter().map(|(.., wanted)| wanted).sum::<usize>()
    }

    /// Builds the table in memory as [`build`](Self::build) does, bit for bit, without making those fits again that
    /// `table` has.
    pub fn extend(
        &self,
        table: &TvbTable,
        backend: &dyn Backend,
        watch: &Watch<'_>,
    ) -> Result<TvbTable, BuildError> {
        let manifest = self.manifest();
        let mut jobs = jobs(&manifest);
        check_memory(&manifest, manifest.fits_of(jobs.iter().copied()), 0.0)?;
        let Known { whole, first } = known(&manifest, table);
        let row = manifest.layout.len();
        let whole: BTreeMap<Job, PathFits> =
            whole.into_iter().map(|(job, path, wanted)| (*job, path.up_to(wanted, row))).collect();
        let first: BTreeMap<Job, PathFits> =
            first.into_iter().map(|(job, path)| (*job, path.clone())).collect();
        jobs.retain(|job| !whole.contains_key(job));
        (watch.begin)(jobs.len() as u64);
        let paths = Mutex::new(whole);
        if !jobs.is_empty() {
            run_from(self, &manifest, &first, &[jobs], backend, watch, |job, fits| {
                paths.lock().unwrap_or_else(PoisonError::into_inner).insert(job, fits);
                Ok::<(), BuildError>(())
            })?;
        }
        let paths = paths.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(TvbTable::of(&self.problem, manifest, paths))
    }
}

/// The paths of `table` that one with this manifest can use, and how.
fn known<'t>(manifest: &Manifest, table: &'t TvbTable) -> Known<'t> {
    let mut known = Known::default();
    #[cfg(feature = "parquet")]
    if table.is_thin() {
        return known;
    }
    if alike(manifest) != alike(table.manifest()) {
        return known;
    }
    // A fit that was read from a file has no state to go on from.
    let goes_on = |path: &PathFits| {
        path.end.is_some() || path.status.first() == Some(&StatusCode::Degenerate)
    };
    for (job, path) in table.paths() {
        if !manifest.numbers(job.design).contains(&job.replicate) {
            continue;
        }
        let (there, wanted) = (table.manifest().omegas_of_job(*job), manifest.omegas_of_job(*job));
        // The first fits of a path do not depend on what follows.
        if there.starts_with(wanted) {
            known.whole.push((job, path, wanted.len()));
        } else if there == &wanted[..1] && goes_on(path) {
            known.first.push((job, path));
        }
    }
    known
}

/// A manifest without what says how many fits there are, and not which.
fn alike(manifest: &Manifest) -> Manifest {
    let mut same = manifest.clone();
    same.settings.omegas.clear();
    same.settings.omega_min = 0.0;
    same.settings.replicates = Default::default();
    same.settings.at_one.clear();
    same.schema = 0;
    same.settings.bootstraps = 0;
    same
}
