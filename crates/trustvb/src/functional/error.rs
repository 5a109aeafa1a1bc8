//! What is wrong with a functional, shown under the text that the user typed.

use std::ops::Range;

/// How many characters of a long text are shown around the mistake.
const WINDOW: usize = 72;

/// A functional that cannot be read or does not fit the posterior.
///
/// Its display is the message, the text with carets under the mistake, and a suggestion:
///
/// ```text
/// there is no component 3: this posterior has 2
///   pi[3] + 1
///      ^
/// use a component from 1 to 2
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.render())]
pub struct FunctionalError {
    message: String,
    suggestion: Option<String>,
    text: String,
    span: Range<usize>,
}

impl FunctionalError {
    pub(super) fn new(
        text: &str,
        span: Range<usize>,
        message: impl Into<String>,
        suggestion: Option<String>,
    ) -> FunctionalError {
        FunctionalError { message: message.into(), suggestion, text: text.to_owned(), span }
    }

    /// What is wrong, in one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it, where something can be said.
    pub fn suggestion(&self) -> Option<&str> {
        self.suggestion.as_deref()
    }

    /// The text as typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The offending bytes of [`text`](Self::text); empty at its end when something is missing there.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    fn render(&self) -> String {
        let (shown, before, width) = self.excerpt();
        let mut out = format!(
            "{}\n  {shown}\n  {}{}",
            self.message,
            " ".repeat(before),
            "^".repeat(width.max(1))
        );
        if let Some(suggestion) = &self.suggestion {
            out.push('\n');
            out.push_str(suggestion);
        }
        out
    }

    /// The text around the span on one line, the characters before the carets and their number.
    fn excerpt(&self) -> (String, usize, usize) {
        let count = |range: Range<usize>| self.text.get(range).map_or(0, |s| s.chars().count());
        let start = count(0..self.span.start);
        let width = count(self.span.clone());
        let clean = self.text.chars().map(|c| if c.is_control() { ' ' } else { c });
        let total = self.text.chars().count();
        if total <= WINDOW {
            return (clean.collect(), start, width);
        }
        let from = start.saturating_sub(WINDOW / 3).min(total - WINDOW);
        let to = from + WINDOW;
        let mut shown: String = clean.skip(from).take(WINDOW).collect();
        let mut before = start - from;
        if from > 0 {
            shown.insert(0, '…');
            before += 1;
        }
        if to < total {
            shown.push('…');
        }
        (shown, before, width.min(to.saturating_sub(start)))
    }
}

/// The known name that is most like `wanted`, if any is like it at all.
pub(super) fn nearest<'a>(
    wanted: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let lower = wanted.to_lowercase();
    let mut best = None;
    let mut best_score = 0.58;
    for name in known {
        // The one forgives swapped letters, the other a name that was cut short.
        let known = name.to_lowercase();
        let score = 0.5
            * (strsim::normalized_damerau_levenshtein(&lower, &known)
                + strsim::jaro_winkler(&lower, &known));
        if score > best_score {
            (best, best_score) = (Some(name), score);
        }
    }
    best
}

/// `a, b and c`, cut after twenty.
pub(super) fn list<S: AsRef<str>>(names: &[S]) -> String {
    const SHOWN: usize = 20;
    let mut parts: Vec<String> = names.iter().take(SHOWN).map(|s| s.as_ref().to_owned()).collect();
    if names.len() > SHOWN {
        parts.push(format!("{} more", names.len() - SHOWN));
    }
    match parts.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// `1 index`, `2 indices`: a count with the right form of its noun.
pub(super) fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
