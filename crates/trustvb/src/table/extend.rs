//! A table that grows: fits that another one has are not made again.

use super::build::{check_memory, jobs, n_paths, run_from};
use super::{Blueprint, BuildError, Manifest, TvbTable, Watch};
use crate::backend::{Backend, Job};
use crate::fit::{PathFits, StatusCode};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What a table gives to one that is to be built.
#[derive(Clone, Copy, PartialEq)]
enum Gives {
    /// Whole paths.
    Whole,
    /// Fits at the first ω, from which paths can go on.
    First,
    /// Nothing.
    Nothing,
}

impl Blueprint {
    /// How many fits of `table` need not be made again for this one: none unless both have the same problem and the
    /// same settings but for grid, designs and number of bootstraps.
    pub fn known_fits(&self, table: &TvbTable) -> usize {
        let (_, known) = known(&self.manifest(), table);
        known.iter().map(|(_, path)| path.status.len()).sum()
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
        let (gives, there) = known(&manifest, table);
        let there: BTreeMap<Job, PathFits> =
            there.into_iter().map(|(job, path)| (*job, path.clone())).collect();
        let (whole, first) = match gives {
            Gives::Whole => (there, BTreeMap::new()),
            Gives::First | Gives::Nothing => (BTreeMap::new(), there),
        };
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
}

/// The paths of `table` that one with this manifest can use, and how.
fn known<'t>(manifest: &Manifest, table: &'t TvbTable) -> (Gives, Vec<(&'t Job, &'t PathFits)>) {
    #[cfg(feature = "parquet")]
    if table.is_thin() {
        return (Gives::Nothing, Vec::new());
    }
    let gives = match alike(manifest) == alike(table.manifest()) {
        true if table.omegas() == manifest.omegas => Gives::Whole,
        true if table.omegas() == &manifest.omegas[..1] => Gives::First,
        _ => Gives::Nothing,
    };
    // A fit that was read from a file has no state to go on from.
    let goes_on = |path: &PathFits| {
        path.end.is_some() || path.status.first() == Some(&StatusCode::Degenerate)
    };
    let wanted = |(job, path): &(&Job, &PathFits)| {
        manifest.numbers(job.design).contains(&job.replicate)
            && (gives == Gives::Whole || goes_on(path))
    };
    match gives {
        Gives::Nothing => (gives, Vec::new()),
        _ => (gives, table.paths().filter(wanted).collect()),
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
