//! Long work: on threads of its own, with the interpreter free, Ctrl-C heard and progress told.

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use trustvb::defaults::MAX_THREADS;
use trustvb::table::Watch;

use crate::errors::{run_error, value_error};

/// What a piece of work tells and hears.
#[derive(Default)]
pub(crate) struct Tracker {
    pub(crate) cancel: AtomicBool,
    pub(crate) total: AtomicU64,
    pub(crate) done: AtomicU64,
}

impl Tracker {
    /// Does work that tells and hears as tables and studies do.
    pub(crate) fn watched<T>(&self, work: impl FnOnce(&Watch<'_>) -> T) -> T {
        work(&Watch {
            cancel: &self.cancel,
            begin: &|pieces| self.total.store(pieces, Ordering::Relaxed),
            done: &|| {
                self.done.fetch_add(1, Ordering::Relaxed);
            },
        })
    }
}

/// How often signals and progress are looked after.
const TICK: Duration = Duration::from_millis(50);

/// How long an interrupted piece of work is waited for; it then ends by itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// Runs `work` on `n_jobs` threads (all cores if not said) and returns what it returns.
///
/// The calling thread stays behind to hear Ctrl-C and to call `progress(done, total)`. When either
/// raises, the work is told to stop and the exception goes on.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    n_jobs: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
    tracker: &Arc<Tracker>,
    work: impl FnOnce(&Tracker) -> T + Send + 'static,
) -> PyResult<T> {
    let pool = pool(n_jobs)?;
    let (sender, receiver) = channel();
    let shared = tracker.clone();
    let worker = std::thread::spawn(move || {
        let result = pool.install(|| work(&shared));
        // Nobody listens after an interruption.
        let _ = sender.send(result);
    });
    let receiver = Mutex::new(receiver);
    let wait = |for_how_long: Duration| {
        py.detach(|| match receiver.lock() {
            Ok(receiver) => receiver.recv_timeout(for_how_long),
            Err(_) => Err(RecvTimeoutError::Disconnected),
        })
    };
    loop {
        match wait(TICK) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => {
                let _ = worker.join();
                return Err(run_error("the work ended without a result: this is a bug in trustvb"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let told = py.check_signals().and_then(|()| match progress {
            Some(progress) => {
                let done = tracker.done.load(Ordering::Relaxed);
                let total = tracker.total.load(Ordering::Relaxed);
                progress.call1((done, total)).map(|_| ())
            }
            None => Ok(()),
        });
        if let Err(exception) = told {
            tracker.cancel.store(true, Ordering::Relaxed);
            let since = Instant::now();
            while since.elapsed() < PATIENCE {
                if !matches!(wait(TICK), Err(RecvTimeoutError::Timeout)) {
                    break;
                }
            }
            return Err(exception);
        }
    }
}

/// Threads of this process: a forked child has none of its parent's, so it gets its own.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

fn pool(n_jobs: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    if let Some(n) = n_jobs {
        let n = n.min(MAX_THREADS);
        return Ok(Arc::new(ThreadPoolBuilder::new().num_threads(n).build().map_err(value_error)?));
    }
    let mut held = POOL.lock().map_err(run_error)?;
    let pid = std::process::id();
    if let Some((_, pool)) = held.as_ref().filter(|(of, _)| *of == pid) {
        return Ok(pool.clone());
    }
    let pool = Arc::new(ThreadPoolBuilder::new().build().map_err(run_error)?);
    if let Some(parents) = held.replace((pid, pool.clone())) {
        // Dropping it would wait for threads that are not there.
        std::mem::forget(parents);
    }
    Ok(pool)
}
