//! The processor: paths in parallel, each by itself from start to end.

use super::{Backend, Job, Sink, Work};
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Paths of one fit that follow each other in the same working memory.
const TOGETHER: usize = 16;

/// All cores of this machine, or as many as the current rayon pool has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu;

impl Backend for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn run(&self, work: &Work<'_>, jobs: &[Job], cancel: &AtomicBool, sink: &Sink<'_>) {
        // Short paths go a few at a time, in the same working memory: making it anew would cost them a tenth of their
        // time. Long ones go one by one, so that no thread waits for another's.
        let threads = rayon::current_num_threads();
        let together = match work.omegas.len() {
            1 => (jobs.len() / (8 * threads)).clamp(1, TOGETHER),
            _ => 1,
        };
        let paths = jobs.par_iter().with_max_len(together);
        let done = paths.try_for_each_init(
            || None,
            |spare, job| {
                if cancel.load(Ordering::Relaxed) {
                    return ControlFlow::Break(());
                }
                let mut walk = work.walk_with(*job, spare.take());
                while walk.step() {}
                let (fits, used) = walk.finish();
                *spare = Some(used);
                sink(*job, fits)
            },
        );
        // Whoever broke off knows why.
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) = done;
    }
}
