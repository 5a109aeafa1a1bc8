//! The processor: paths in parallel, each by itself from start to end.

use super::{Backend, Job, Sink, Work};
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
            let mut walk = work.walk(*job);
            while walk.step() {}
            sink(*job, walk.into_fits())
        });
        // Whoever broke off knows why.
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) = done;
    }
}
