//! Progress on standard error: a bar with the time left, silent when piped or told to be quiet.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::path::Path;
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

/// A flag that Ctrl-C sets; a second Ctrl-C ends the process at once.
pub(crate) fn interruption() -> &'static AtomicBool {
    // A handler may already be there, or not be possible: the default, ending at once, is fine too.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
    &INTERRUPTED
}
