//! Long work: on threads of its own, while R's thread hears interrupts, tells progress and calls R functions.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use trustvb::defaults::MAX_THREADS;
use trustvb::functional::Draws;
use trustvb::table::Watch;

use crate::errors::{bug, error, interrupted, Class};

unsafe extern "C" {
    /// Whether the user has asked to stop; in `interrupt.c`, because R jumps over the frames that ask.
    safe fn trustvb_interrupted() -> c_int;
}

/// What a piece of work tells and hears.
#[derive(Default)]
pub(crate) struct Tracker {
    pub(crate) cancel: AtomicBool,
    pub(crate) total: AtomicU64,
    pub(crate) done: AtomicU64,
}

impl Tracker {
    /// Does work that tells and hears as tables do.
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

/// A function of R to be called on draws: its number, the draws, and where its values go.
pub(crate) struct Call {
    pub(crate) function: usize,
    pub(crate) draws: Draws,
    pub(crate) values: Sender<Vec<f64>>,
}

/// What R's thread waits for.
enum Event<T> {
    Call(Call),
    Done(T),
}

/// Sends calls to R's thread.
pub(crate) type Caller = Arc<dyn Fn(Call) + Send + Sync>;

/// How work is done.
pub(crate) struct Manner {
    /// Threads, all cores if not said.
    pub(crate) threads: Option<usize>,
    /// What to call the work when progress is shown.
    pub(crate) shown: Option<&'static str>,
    /// What to say when it is interrupted.
    pub(crate) interrupted: String,
}

/// How often interrupts and progress are looked after.
const TICK: Duration = Duration::from_millis(50);

/// Progress is shown of work that takes longer.
const SHORT: Duration = Duration::from_millis(500);

/// Runs `work` on threads and returns what it returns. R's thread stays behind: `answer` calls R functions for it.
pub(crate) fn run<T: Send + 'static>(
    manner: &Manner,
    tracker: &Arc<Tracker>,
    answer: impl Fn(&Call) -> savvy::Result<Vec<f64>>,
    work: impl FnOnce(&Tracker, Caller) -> T + Send + 'static,
) -> savvy::Result<T> {
    let pool = pool(manner.threads)?;
    let (events, received) = channel::<Event<T>>();
    let shared = tracker.clone();
    let caller: Caller = {
        let events = Mutex::new(events.clone());
        Arc::new(move |call| {
            // Nobody listens after an interruption; the caller then hears nothing either and stops.
            if let Ok(events) = events.lock() {
                let _ = events.send(Event::Call(call));
            }
        })
    };
    std::thread::spawn(move || {
        let result = pool.install(|| work(&shared, caller));
        let _ = events.send(Event::Done(result));
    });
    let mut bar = Bar { began: Instant::now(), what: manner.shown, drawn: 0 };
    let result = attend(&received, tracker, &answer, manner, &mut bar);
    bar.clear();
    if result.is_err() {
        tracker.cancel.store(true, Ordering::Relaxed);
        // Threads that still run must not outlive the library that they are in; fits end soon.
        while !matches!(received.recv(), Ok(Event::Done(_)) | Err(_)) {}
    }
    result
}

fn attend<T>(
    received: &Receiver<Event<T>>,
    tracker: &Tracker,
    answer: &impl Fn(&Call) -> savvy::Result<Vec<f64>>,
    manner: &Manner,
    bar: &mut Bar,
) -> savvy::Result<T> {
    let mut looked = Instant::now();
    loop {
        match received.recv_timeout(TICK) {
            Ok(Event::Done(result)) => return Ok(result),
            Ok(Event::Call(call)) => {
                let values = answer(&call)?;
                let _ = call.values.send(values);
            }
            Err(RecvTimeoutError::Disconnected) => return Err(bug("the work has no result")),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if looked.elapsed() >= TICK {
            looked = Instant::now();
            if trustvb_interrupted() != 0 {
                return Err(interrupted(&manner.interrupted));
            }
            bar.draw(tracker);
        }
    }
}

/// A line on R's standard error that says how far the work is.
struct Bar {
    began: Instant,
    what: Option<&'static str>,
    drawn: usize,
}

impl Bar {
    fn draw(&mut self, tracker: &Tracker) {
        let total = tracker.total.load(Ordering::Relaxed);
        let (Some(what), true) = (self.what, total > 0 && self.began.elapsed() > SHORT) else {
            return;
        };
        let done = tracker.done.load(Ordering::Relaxed);
        let line = format!("{what}: {done} of {total}");
        self.drawn = self.drawn.max(line.len());
        savvy::io::r_eprint(&format!("\r{line:<width$}", width = self.drawn), false);
    }

    fn clear(&self) {
        if self.drawn > 0 {
            savvy::io::r_eprint(&format!("\r{:width$}\r", "", width = self.drawn), false);
        }
    }
}

/// Threads of this process: a forked child, such as `parallel::mclapply` makes, has none of its parent's.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

fn pool(threads: Option<usize>) -> savvy::Result<Arc<ThreadPool>> {
    let make = |n: usize| {
        ThreadPoolBuilder::new()
            .num_threads(n.min(MAX_THREADS))
            .build()
            .map(Arc::new)
            .map_err(|why| error(Class::Options, format!("`threads`: {why}; ask for fewer")))
    };
    if let Some(n) = threads {
        return make(n);
    }
    let mut held = POOL.lock().map_err(|_| bug("the threads are locked"))?;
    let pid = std::process::id();
    if let Some((_, pool)) = held.as_ref().filter(|(of, _)| *of == pid) {
        return Ok(pool.clone());
    }
    let pool = make(0)?;
    if let Some(parents) = held.replace((pid, pool.clone())) {
        // Dropping it would wait for threads that are not there.
        std::mem::forget(parents);
    }
    Ok(pool)
}
