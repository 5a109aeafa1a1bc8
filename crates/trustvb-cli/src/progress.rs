//! Progress on standard error: a bar with the time left, silent when piped or told to be quiet.

use crate::say::say;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether anybody watches.
pub(crate) fn is_visible(quiet: bool) -> bool {
    !quiet && std::io::stderr().is_terminal()
}

/// A bar for `what`, hidden unless somebody watches.
pub(crate) fn bar(what: &'static str, quiet: bool) -> ProgressBar {
    if !is_visible(quiet) {
        return ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    }
    let bar = ProgressBar::new(0);
    bar.set_style(style("{prefix} {wide_bar} {pos}/{len}, {eta} left"));
    bar.set_prefix(what);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A bar for the bytes of a file that is read, and how to tell it of those done and in all (0 when
/// unknown).
pub(crate) fn reading(path: &Path, quiet: bool) -> (ProgressBar, impl Fn(u64, u64)) {
    let bar = bar("reading", quiet);
    let visible = is_visible(quiet);
    if visible {
        bar.set_style(style("{prefix} {wide_bar} {bytes}/{total_bytes}, {eta} left"));
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

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
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
