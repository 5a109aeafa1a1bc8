//! How wide a line may be, and text that keeps to it.

use crate::args::OutputArgs;
use std::io::{IsTerminal, stdout};
use unicode_width::UnicodeWidthStr;

/// The width of a terminal of which nothing is known, and of what goes to a file or a pipe.
const USUAL: usize = 80;

/// Sentences longer than this are hard to read, however wide the terminal is.
const LONGEST: usize = 100;

/// Narrower than this nothing can be shown.
const NARROWEST: usize = 40;

/// Columns that an answer may take: the terminal's, if it goes to one; otherwise those of `COLUMNS`, or 80.
pub(crate) fn width(output: &OutputArgs) -> usize {
    let shown = output.output.is_none() && stdout().is_terminal();
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    let width = match terminal_size::terminal_size().filter(|_| shown) {
        Some((terminal_size::Width(width), _)) => usize::from(width),
        None => told().unwrap_or(USUAL),
    };
    width.max(NARROWEST)
}

/// Columns that a text takes on a terminal.
pub(crate) fn columns(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// A text in lines of at most `width` columns, broken at spaces; further lines begin with `indent`.
pub(crate) fn wrap(text: &str, width: usize, indent: &str) -> String {
    let width = width.min(LONGEST);
    let mut out = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        if used > 0 && used + 1 + columns(word) > width {
            out.push('\n');
            out.push_str(indent);
            used = columns(indent);
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += columns(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("! one two three", 10, "  "), "! one two\n  three");
        assert_eq!(wrap("averyveryverylongword x", 10, "  "), "averyveryverylongword\n  x");
        assert_eq!(wrap("ω ω ω", 5, ""), "ω ω ω");
    }
}
