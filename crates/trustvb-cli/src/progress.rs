//! Progress on standard error: a bar with the time left, silent when piped or told to be quiet.

use crate::say::say;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Whether anybody watches.
pub(crate) fn is_visible(quiet: bool) -> bool {
    !quiet && std::io::stderr().is_terminal()
}

/// What takes less time than this shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar for `what`, hidden unless somebody watches and it takes more than a second.
pub(crate) fn bar(what: &'static str, quiet: bool) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    if !is_visible(quiet) {
        return bar;
    }
    bar.set_style(style("{prefix} {wide_bar} {pos}/{len}, {left}"));
    bar.set_prefix(what);
    let late = bar.clone();
    std::thread::spawn(move || {
        std::thread::sleep(PATIENCE);
        if !late.is_finished() {
            late.set_draw_target(ProgressDrawTarget::stderr());
            late.enable_steady_tick(Duration::from_millis(200));
        }
    });
    bar
}

/// A bar for the paths of a table, which begin after the full data have been fitted. `begin` is to be called with their
/// number, `done` after each.
pub(crate) struct Paths {
    pub(crate) bar: ProgressBar,
    begun: AtomicBool,
}

impl Paths {
    pub(crate) fn new(quiet: bool) -> Paths {
        let bar = bar("fitting resamples", quiet);
        bar.set_style(style("fitting the full data {spinner} ({elapsed})"));
        Paths { bar, begun: AtomicBool::new(false) }
    }

    pub(crate) fn begin(&self, paths: u64) {
        self.bar.set_length(paths);
    }

    pub(crate) fn done(&self) {
        if !self.begun.swap(true, Ordering::Relaxed) {
            self.bar.set_style(style("{prefix} {wide_bar} {pos}/{len}, {left}"));
            self.bar.reset_eta();
        }
        self.bar.inc(1);
    }
}

/// How long an iteration will still take, from how fast its change has fallen: a line through the logarithms of the first
/// and the last change of the same start.
pub(crate) struct Falling {
    tolerance: f64,
    start: usize,
    first: Option<(Instant, f64)>,
}

impl Falling {
    pub(crate) fn to(tolerance: f64) -> Falling {
        Falling { tolerance, start: 0, first: None }
    }

    /// Time left after a change at some time, in words; nothing as long as nobody can say.
    pub(crate) fn left(&mut self, start: usize, change: f64, now: Instant) -> String {
        let usable = change > 0.0 && change.is_finite();
        if !usable || self.start != start {
            (self.start, self.first) = (start, usable.then_some((now, change)));
            return String::new();
        }
        let (since, first) = *self.first.get_or_insert((now, change));
        let passed = now.duration_since(since).as_secs_f64();
        let rate = (first / change).ln() / passed;
        if passed < 1.0 || rate <= 0.0 {
            return String::new();
        }
        let seconds = ((change / self.tolerance).ln() / rate).clamp(0.0, 1e6);
        format!(", about {} left", HumanDuration(Duration::from_secs_f64(seconds)))
    }
}

/// A bar for the bytes of a file that is read, and how to tell it of those done and in all (0 when
/// unknown).
pub(crate) fn reading(path: &Path, quiet: bool) -> (ProgressBar, impl Fn(u64, u64)) {
    let bar = bar("reading", quiet);
    let visible = is_visible(quiet);
    if visible {
        bar.set_style(style("{prefix} {wide_bar} {bytes}/{total_bytes}, {left}"));
    }
    let told = bar.clone();
    let report = move |done: u64, total: u64| {
        if visible && total == 0 {
            told.set_style(style("{prefix} {spinner} {bytes} ({elapsed})"));
        }
        told.set_length(total.max(done));
        told.set_position(done);
    };
    // A bar without a length would show as full until the first rows are there.
    report(0, std::fs::metadata(path).map_or(0, |file| file.len()));
    (bar, report)
}

/// A line for work whose end is not known.
pub(crate) fn spinner(what: &'static str, quiet: bool) -> ProgressBar {
    let bar = bar(what, quiet);
    if is_visible(quiet) {
        bar.set_style(style("{prefix} {spinner} {msg} ({elapsed})"));
    }
    bar
}

/// `{left}` is the time left, as soon as something is done that tells it.
fn style(template: &str) -> ProgressStyle {
    let left = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
        // A bar that cannot be written is of no use to anybody.
        let _ = match (state.pos(), state.elapsed().as_secs()) {
            (0, seconds) => write!(text, "{seconds} s so far"),
            _ => write!(text, "{:#} left", HumanDuration(state.eta())),
        };
    };
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("left", left)
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// What an interrupted command has kept, in words.
static KEPT: Mutex<Option<String>> = Mutex::new(None);

/// What Ctrl-C does instead, for a command that ends by it.
static INSTEAD: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

/// How long work may take to end by itself after Ctrl-C. Then the process ends: every file is written whole or not
/// at all, so nothing is lost but what was not done.
const GRACE: Duration = Duration::from_millis(600);

/// A flag that Ctrl-C sets.
pub(crate) fn interruption() -> &'static AtomicBool {
    &INTERRUPTED
}

/// Hears Ctrl-C from now on: the first asks work to end, and ends the process when it has not; a second ends
/// it at once.
pub(crate) fn listen() {
    // A handler may not be possible: the default, ending at once, is fine too.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        if let Some(instead) = take(&INSTEAD) {
            return instead();
        }
        std::thread::spawn(|| {
            std::thread::sleep(GRACE);
            trustvb::data::abandon_files();
            say(interrupted());
            std::process::exit(130);
        });
    });
}

/// Lets Ctrl-C do something else than end the process.
pub(crate) fn on_interruption(instead: impl FnOnce() + Send + 'static) {
    if let Ok(mut slot) = INSTEAD.lock() {
        *slot = Some(Box::new(instead));
    }
}

/// Tells what an interruption from now on leaves behind.
pub(crate) fn keeps(what: impl Into<String>) {
    if let Ok(mut kept) = KEPT.lock() {
        *kept = Some(what.into());
    }
}

/// What to say after an interruption.
pub(crate) fn interrupted() -> String {
    let kept = KEPT.lock().ok().and_then(|kept| kept.clone());
    format!("interrupted; {}", kept.as_deref().unwrap_or("nothing was written"))
}

fn take<T>(slot: &Mutex<Option<T>>) -> Option<T> {
    slot.lock().ok().and_then(|mut slot| slot.take())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_how_a_change_falls() {
        let began = Instant::now();
        let at = |seconds: u64| began + Duration::from_secs(seconds);
        let mut falling = Falling::to(1e-10);
        assert_eq!(falling.left(0, 1e-2, at(0)), "");
        // A power of ten in two seconds: six more take twelve.
        assert_eq!(falling.left(0, 1e-3, at(2)), ", about 14 seconds left");
        assert_eq!(falling.left(0, 1e-4, at(4)), ", about 12 seconds left");
        // Another start begins anew, and a change that grows tells nothing.
        assert_eq!(falling.left(1, 1e-2, at(5)), "");
        assert_eq!(falling.left(1, 1e-1, at(9)), "");
        assert_eq!(falling.left(1, f64::NAN, at(12)), "");
    }
}
