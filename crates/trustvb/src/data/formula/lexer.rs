//! Splits a formula into tokens that know which character they begin at.

use crate::data::error::DataError;

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Name(String),
    Number(f64),
    Symbol(char),
    End,
}

/// A token, its text and the character it begins at, from 0.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) text: String,
    pub(super) at: usize,
}

/// The tokens, the last of which is the end.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, DataError> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        if c.is_whitespace() {
            at += 1;
            continue;
        }
        let digit_follows = chars.get(at + 1).is_some_and(char::is_ascii_digit);
        let (kind, end) = if c == '`' {
            let close = chars[at + 1..].iter().position(|&c| c == '`');
            let Some(length) = close else {
                return Err(error(text, at, "this back-tick is not closed".to_owned()));
            };
            let end = at + 1 + length;
            let name: String = chars[at + 1..end].iter().collect();
            if name.trim().is_empty() {
                return Err(error(text, at, "expected a name between the back-ticks".to_owned()));
            }
            (Kind::Name(name.trim().to_owned()), end + 1)
        } else if c.is_ascii_digit() || (c == '.' && digit_follows) {
            let end = number_end(&chars, at);
            let written: String = chars[at..end].iter().collect();
            match written.parse::<f64>() {
                Ok(value) if value.is_finite() => (Kind::Number(value), end),
                _ => return Err(error(text, at, format!("`{written}` is not a finite number"))),
            }
        } else if c.is_alphabetic() || c == '_' || c == '.' {
            let length = chars[at..]
                .iter()
                .position(|&c| !(c.is_alphanumeric() || c == '_' || c == '.'))
                .unwrap_or(chars.len() - at);
            (Kind::Name(chars[at..at + length].iter().collect()), at + length)
        } else if "~+-*/^:|()".contains(c) {
            (Kind::Symbol(c), at + 1)
        } else {
            let message = format!(
                "unexpected `{}`; names with other signs than letters, digits, `.` and `_` go in \
                 back-ticks",
                c.escape_debug()
            );
            return Err(error(text, at, message));
        };
        tokens.push(Token { kind, text: chars[at..end].iter().collect(), at });
        at = end;
    }
    tokens.push(Token { kind: Kind::End, text: String::new(), at: chars.len() });
    Ok(tokens)
}

fn number_end(chars: &[char], start: usize) -> usize {
    let digits = |mut at: usize| {
        while chars.get(at).is_some_and(|c| c.is_ascii_digit() || *c == '.') {
            at += 1;
        }
        at
    };
    let end = digits(start);
    if matches!(chars.get(end), Some('e' | 'E')) {
        let sign = usize::from(matches!(chars.get(end + 1), Some('+' | '-')));
        if chars.get(end + 1 + sign).is_some_and(char::is_ascii_digit) {
            return digits(end + 1 + sign);
        }
    }
    end
}

pub(super) fn error(text: &str, at: usize, message: String) -> DataError {
    DataError::Formula { text: text.to_owned(), at, message }
}
