//! A table that grows: fits that another one has are not made again.

use super::build::{check_memory, jobs, n_paths, run_from};
use super::{Blueprint, BuildError, Manifest, TvbTable, Watch};
use crate::backend::{Backend, Job};
use crate::fit::{PathFits, StatusCode};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What a table gives to one that is to be built.
struct Known {
    /// Whole paths.
    whole: BTreeMap<Job, PathFits>,
    /// Fits at the first ω, from which paths can go on.
    first: BTreeMap<Job, PathFits>,
}

impl Known {
    fn n_fits(&self) -> usize {
        self.whole.values().chain(self.first.values()).map(|path| path.status.len()).sum()
    }
}

impl Blueprint {
    /// How many fits of `table` need not be made again for this one: none unless both have the same problem and the
    /// same settings but for grid, designs and number of bootstraps.
    pub fn known_fits(&self, table: &TvbTable) -> usize {
        self.known(&self.manifest(), table).n_fits()
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
        check_memory(&manifest, n_paths(&manifest), 0.0)?;
        let Known { whole, first } = self.known(&manifest, table);
        let jobs: Vec<Job> =
            jobs(&manifest).into_iter().filter(|job| !whole.contains_key(job)).collect();
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

    fn known(&self, manifest: &Manifest, table: &TvbTable) -> Known {
        let mut known = Known { whole: BTreeMap::new(), first: BTreeMap::new() };
        if alike(manifest) != alike(table.manifest()) {
            return known;
        }
        let wanted = |job: &Job| manifest.numbers(job.design).contains(&job.replicate);
        let there = table.paths().filter(|(job, _)| wanted(job));
        if table.omegas() == manifest.omegas {
            known.whole = there.map(|(job, path)| (*job, path.clone())).collect();
        } else if table.omegas() == &manifest.omegas[..1] {
            // A fit that was read from a file has no state to go on from.
            let goes_on = |path: &PathFits| {
                path.end.is_some() || path.status.first() == Some(&StatusCode::Degenerate)
            };
            let those = there.filter(|(_, path)| goes_on(path));
            known.first = those.map(|(job, path)| (*job, path.clone())).collect();
        }
        known
    }
}

/// A manifest without what says how many fits there are, and not which.
fn alike(manifest: &Manifest) -> Manifest {
    let mut same = manifest.clone();
    same.settings.omegas.clear();
    same.settings.omega_min = 0.0;
    same.settings.replicates = Default::default();
    same.settings.bootstraps = 0;
    same
}
