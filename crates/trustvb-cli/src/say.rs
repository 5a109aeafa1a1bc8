//! What is said to people: remarks on standard error, and text without what would steer a terminal.

use std::fmt::Display;
use std::io::{self, Write};

/// Says something on standard error. Nobody may be there to hear it, which is no reason to fail.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "trustvb: {}", printable(&text.to_string()));
}

/// The text with control characters written out, line ends excepted: names come from files of strangers, and an
/// escape sequence in one must not reach the terminal.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

/// The same for one cell of a table, in which a line end would break the line.
pub(crate) fn on_one_line(text: &str) -> String {
    printable(text).replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_written_out() {
        assert_eq!(printable("a\u{1b}[31mb\u{9b}2J\tc\nd"), "a\\u{1b}[31mb\\u{9b}2J\\tc\nd");
        assert_eq!(on_one_line("größe\nµ"), "größe\\nµ");
    }
}
