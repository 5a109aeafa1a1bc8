//! Who does the work: a batch of whole ω-paths in, their fits out.

mod cpu;

pub use cpu::Cpu;

use crate::fit::{PathFits, PathOptions, Reference};
use crate::model::Model;
use crate::resample::{Design, Resamples};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

/// What all paths of a table have in common.
pub struct Work<'a> {
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
    /// Fits at the first ω that were made before, and need not be made again.
    pub known: Option<&'a BTreeMap<Job, PathFits>>,
}

/// One replicate of one design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Job {
    /// How its weights are drawn.
    pub design: Design,
    /// Which replicate.
    pub replicate: u32,
}

/// Takes the fits of a job when they are done; [`ControlFlow::Break`] ends the run.
pub type Sink<'a> = dyn Fn(Job, PathFits) -> ControlFlow<()> + Sync + 'a;

/// Computes paths.
///
/// The unit of work is a whole path because fits along it feed each other, and because a path is
/// what a table stores: a backend that holds many paths at once (a GPU) and one that walks them
/// one by one give the same thing. Single fits or single sweeps would tie every backend to the
/// driver's inner loop. Paths go to a sink as they are done, so that who writes them to a disk does not
/// decide how many are computed at once.
pub trait Backend: Sync {
    /// Its name, for manifests and benchmarks.
    fn name(&self) -> &'static str;
    /// Gives the fits of every job to `sink`, in any order; those not begun before `cancel` was set are left out.
    fn run(&self, work: &Work<'_>, jobs: &[Job], cancel: &AtomicBool, sink: &Sink<'_>);
}
