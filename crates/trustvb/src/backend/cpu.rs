//! The processor: paths in parallel, each by itself from start to end.

use super::{Backend, Job, Sink, Work};
use crate::fit::{PathFits, Replicate, fit_replicate};
use crate::resample::Design;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// All cores of this machine, or as many as the current rayon pool has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu;

impl Backend for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn run(&self, work: &Work<'_>, jobs: &[Job], cancel: &AtomicBool, sink: &Sink<'_>) {
        let done = jobs.par_iter().with_max_len(1).try_for_each(|job| {
            if cancel.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            sink(*job, run_job(work, *job))
        });
        // Whoever broke off knows why.
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) = done;
    }
}

/// One path, by the thread that asks.
fn run_job(work: &Work<'_>, job: Job) -> PathFits {
    if job.design == Design::Full && job.replicate == 0 {
        return work.reference.fits.clone();
    }
    let n = work.model.n_units();
    // Streams of random starts: one per design and replicate.
    let number = match job.design {
        Design::Full | Design::Split => {
            u64::from(job.replicate) * 2 + u64::from(job.design == Design::Split)
        }
        Design::Subset => (1 << 40) + u64::from(job.replicate),
    };
    let replicate = Replicate {
        weights: &|i| work.resamples.weights(job.design, job.replicate, i, n),
        weights_change: work.resamples.changes_with_omega(job.design),
        number,
        first: work.known.and_then(|known| known.get(&job)),
    };
    fit_replicate(work.model, work.omegas, &replicate, work.reference, work.options)
}
