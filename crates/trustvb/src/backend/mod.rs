//! Who does the work: a batch of whole ω-paths in, their fits out.

mod cpu;

pub use cpu::Cpu;
#[cfg(feature = "parquet")]
pub(crate) use cpu::run_job;

use crate::fit::{PathFits, PathOptions, Reference};
use crate::model::Model;
use crate::resample::{Design, Resamples};
use std::sync::atomic::AtomicBool;

/// What all paths of a table have in common.
pub struct Problem<'a> {
    /// The model with its data.
    pub model: &'a dyn Model,
    /// The grid, from large to small.
    pub omegas: &'a [f64],
    /// Where weights come from.
    pub resamples: &'a Resamples,
    /// The full-data path.
    pub reference: &'a Reference,
    /// How to fit.
    pub options: &'a PathOptions,
}

/// One replicate of one design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Job {
    /// How its weights are drawn.
    pub design: Design,
    /// Which replicate.
    pub replicate: u32,
}

/// Computes paths.
///
/// The unit of work is a whole path because fits along it feed each other, and because a path is
/// what a table stores: a backend that holds many paths at once (a GPU) and one that walks them
/// one by one return the same thing. Single fits or single sweeps would tie every backend to the
/// driver's inner loop.
pub trait Backend: Sync {
    /// Its name, for manifests and benchmarks.
    fn name(&self) -> &'static str;
    /// The fits of every job, in the order of the jobs; `None` for those not reached before
    /// `cancel` was set. `done` is called after each path.
    fn run(
        &self,
        problem: &Problem<'_>,
        jobs: &[Job],
        cancel: &AtomicBool,
        done: &(dyn Fn() + Sync),
    ) -> Vec<Option<PathFits>>;
}
