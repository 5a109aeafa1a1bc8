//! Cuts the text of a functional into tokens that know where they stand.

use super::error::FunctionalError;
use std::ops::Range;

/// A place in the text, in bytes.
pub(super) type Span = Range<usize>;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    /// A name without quotes.
    Name(String),
    /// A name in backticks or double quotes.
    Quoted(String),
    /// One of `+ - * / ^ ( ) [ ] ,`.
    Symbol(char),
    End,
}

impl Token {
    /// As it is called in messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Token::Number(x) => format!("the number {x}"),
            Token::Name(name) => format!("`{name}`"),
            Token::Quoted(name) => format!("the quoted name `{name}`"),
            Token::Symbol(c) => format!("`{c}`"),
            Token::End => "the end".to_owned(),
        }
    }
}

/// All tokens of `text`, with [`Token::End`] as the last.
pub(super) fn tokenize(text: &str) -> Result<Vec<(Token, Span)>, FunctionalError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let start = at;
        let token = match c {
            _ if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            '+' | '-' | '/' | '^' | '(' | ')' | '[' | ']' | ',' => {
                at += 1;
                Token::Symbol(c)
            }
            '*' if text[at + 1..].starts_with('*') => {
                let hint = Some("powers are written with ^".to_owned());
                return Err(FunctionalError::new(
                    text,
                    at..at + 2,
                    "there is no operator **",
                    hint,
                ));
            }
            '*' => {
                at += 1;
                Token::Symbol('*')
            }
            '`' | '"' => {
                let Some(length) = text[at + 1..].find(c) else {
                    let message = format!("this {c} has no partner");
                    let hint = Some(format!("close the name with another {c}"));
                    return Err(FunctionalError::new(text, at..at + 1, message, hint));
                };
                at += length + 2;
                Token::Quoted(text[start + 1..at - 1].to_owned())
            }
            '0'..='9' | '.' if starts_number(&text[at..]) => {
                at += number_length(&text[at..]);
                match text[start..at].parse::<f64>() {
                    Ok(x) if x.is_finite() => Token::Number(x),
                    _ => {
                        let message = format!("{} is too large a number", &text[start..at]);
                        return Err(FunctionalError::new(text, start..at, message, None));
                    }
                }
            }
            _ if c.is_alphabetic() || c == '_' || c == '.' => {
                let rest = &text[at..];
                let in_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
                at += rest.find(|c| !in_name(c)).unwrap_or(rest.len());
                Token::Name(text[start..at].to_owned())
            }
            _ => {
                let hint = match c {
                    '−' | '–' | '—' => Some("a minus is written -"),
                    '×' | '·' => Some("multiplication is written *"),
                    '÷' => Some("division is written /"),
                    '²' => Some("squares are written ^2"),
                    '{' | '}' => Some("indices are written in [ ], groups in ( )"),
                    '<' | '>' | '=' | '!' => Some("comparisons are not available"),
                    ':' => Some("leave an index empty to take all of them, as in mu[1,]"),
                    ';' => Some("give several functionals one by one"),
                    '\'' => Some("names are quoted with ` or \""),
                    '%' | '&' | '|' => Some("the operators are + - * / ^"),
                    _ => None,
                };
                let message = format!("unexpected character `{c}`");
                let span = at..at + c.len_utf8();
                return Err(FunctionalError::new(text, span, message, hint.map(str::to_owned)));
            }
        };
        tokens.push((token, start..at));
    }
    tokens.push((Token::End, text.len()..text.len()));
    Ok(tokens)
}

/// Whether a number begins here: a digit, or a point and a digit.
fn starts_number(rest: &str) -> bool {
    rest.trim_start_matches('.').starts_with(|c: char| c.is_ascii_digit())
        && !rest.starts_with("..")
}

/// Length of the number that begins `rest`: digits, a fraction, an exponent if it is complete.
fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = end + 1 + sign;
        if bytes.get(exponent).is_some_and(u8::is_ascii_digit) {
            end = digits(exponent);
        }
    }
    end
}
