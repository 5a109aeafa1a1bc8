//! The processor: paths in parallel, each by itself from start to end.

use super::{Backend, Job, Problem};
use crate::fit::{PathFits, fit_path};
use crate::resample::Design;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// All cores of this machine, or as many as the current rayon pool has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu;

impl Backend for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn run(
        &self,
        problem: &Problem<'_>,
        jobs: &[Job],
        cancel: &AtomicBool,
        done: &(dyn Fn() + Sync),
    ) -> Vec<Option<PathFits>> {
        jobs.par_iter()
            .with_max_len(1)
            .map(|job| {
                if cancel.load(Ordering::Relaxed) {
                    return None;
                }
                let fits = run_job(problem, *job);
                done();
                Some(fits)
            })
            .collect()
    }
}

/// One path, by the thread that asks.
pub(crate) fn run_job(problem: &Problem<'_>, job: Job) -> PathFits {
    if job.design == Design::Full && job.replicate == 0 {
        return problem.reference.fits.clone();
    }
    let n = problem.model.n_units();
    // Streams of random starts: one per design and replicate.
    let number = match job.design {
        Design::Full | Design::Split => {
            u64::from(job.replicate) * 2 + u64::from(job.design == Design::Split)
        }
        Design::Subset => (1 << 40) + u64::from(job.replicate),
    };
    fit_path(
        problem.model,
        problem.omegas,
        &|i| problem.resamples.weights(job.design, job.replicate, i, n),
        problem.resamples.changes_with_omega(job.design),
        number,
        problem.reference,
        problem.options,
    )
}
