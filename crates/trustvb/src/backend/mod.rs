//! Who does the work: a batch of whole ω-paths in, their fits out.

mod cpu;

pub use cpu::Cpu;

use crate::fit::{PathFits, PathOptions, Reference, Shortcut, Spare, Trip, Walk};
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
    /// The number of the grid's first point, where resamples differ from one to the next: `tvb-sequential` asks for
    /// grids of one ω, step after step.
    pub first: usize,
    /// Fits at the first ω that were made before, and need not be made again.
    pub known: Option<&'a BTreeMap<Job, PathFits>>,
}

impl<'a> Work<'a> {
    /// The path of a job, at its beginning. That of the full data is known and at its end.
    pub fn walk(&self, job: Job) -> Walk<'a> {
        self.walk_with(job, None)
    }

    /// As [`Work::walk`], in the working memory of another.
    fn walk_with(&self, job: Job, spare: Option<Spare<'a>>) -> Walk<'a> {
        let (resamples, model, first) = (self.resamples, self.model, self.first);
        let trip = Trip {
            model: self.model,
            omegas: self.omegas,
            weights: Box::new(move |i| {
                resamples.weights_for(model, job.design, job.replicate, first + i)
            }),
            weights_change: self.resamples.changes_with_omega(job.design),
            number: self.stream(job),
            first: self.known.and_then(|known| known.get(&job)),
            reference: self.reference,
            shortcut: self.shortcut(job),
            options: self.options,
        };
        match job.design == Design::Full && job.replicate == 0 {
            true => Walk::known(trip),
            false => Walk::with(trip, spare),
        }
    }

    /// How a job gets to its first fit sooner. Fits of half samples and little bootstraps are further away from that of all
    /// units.
    fn shortcut(&self, job: Job) -> Option<&'a Shortcut> {
        let shortcut = self.reference.shortcut.as_ref();
        shortcut.filter(|_| self.resamples.are_of_all_units(job.design))
    }

    /// Streams of random starts: one per design and replicate.
    fn stream(&self, job: Job) -> u64 {
        let replicate = u64::from(job.replicate);
        match job.design {
            Design::Full | Design::Split if self.first > 0 => (self.first as u64) << 32 | replicate,
            Design::Full | Design::Split => replicate * 2 + u64::from(job.design == Design::Split),
            Design::Subset => (1 << 40) + replicate,
        }
    }
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
/// what a table stores. What a path does is a step machine ([`Work::walk`]): it asks for sweeps. A backend
/// that makes the sweeps of many paths at once (a GPU) and one that walks them one by one ([`Cpu`]) give the
/// same thing, and neither knows how fits start, stop, speed up or are matched. Paths go to a sink as they are
/// done, so that who writes them to a disk does not decide how many are computed at once.
pub trait Backend: Sync {
    /// Its name, for manifests and benchmarks.
    fn name(&self) -> &'static str;
    /// Gives the fits of every job to `sink`, in any order; those not begun before `cancel` was set are left out.
    fn run(&self, work: &Work<'_>, jobs: &[Job], cancel: &AtomicBool, sink: &Sink<'_>);
}
