//! Reads the text of a functional into a tree, by operator precedence (Pratt 1973).
//!
//! Sums and products are kept as flat lists, so the depth of a tree is the depth of its brackets, signs
//! and powers. That depth is bounded, and with it every recursion over a tree.

use super::error::FunctionalError;
use super::lexer::{Span, Token, tokenize};

/// Longest text, in characters.
pub(super) const MAX_LENGTH: usize = 10_000;
/// Deepest nesting of brackets, signs and powers.
pub(super) const MAX_DEPTH: usize = 100;

/// One index between brackets.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Index {
    /// Empty: all of them.
    All,
    /// A 1-based number as typed; perhaps not whole, perhaps out of range.
    Number(f64),
    /// A coordinate's name.
    Name(String),
}

/// A parsed expression and its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tree {
    pub(super) kind: Kind,
    pub(super) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Number(f64),
    /// A quantity of the posterior; without brackets there are no indices at all.
    Quantity {
        name: String,
        name_span: Span,
        indices: Option<Vec<(Index, Span)>>,
    },
    Call {
        name: String,
        name_span: Span,
        arguments: Vec<Tree>,
    },
    Negate(Box<Tree>),
    /// Terms, each with whether it is subtracted.
    Sum(Vec<(bool, Tree)>),
    /// Factors, each with whether it divides.
    Product(Vec<(bool, Tree)>),
    Power(Box<Tree>, Box<Tree>),
}

/// Binding strengths. A sign binds less than a power, so `-x^2` is `-(x^2)`.
const SUM: u8 = 10;
const PRODUCT: u8 = 20;
const SIGN: u8 = 30;
const POWER: u8 = 40;

/// Parses a whole text.
pub(super) fn parse(text: &str) -> Result<Tree, FunctionalError> {
    if let Some((at, _)) = text.char_indices().nth(MAX_LENGTH) {
        let message = format!(
            "the text has {} characters; at most {MAX_LENGTH} are read",
            text.chars().count()
        );
        return Err(FunctionalError::new(text, at..text.len(), message, None));
    }
    let tokens = tokenize(text)?;
    let mut parser = Parser { text, tokens, next: 0, depth: 0 };
    if parser.peek() == &Token::End {
        let hint = Some("write something like pi[1] or log(sd[1,1])".to_owned());
        return Err(FunctionalError::new(text, 0..text.len(), "the functional is empty", hint));
    }
    let tree = parser.expression(0)?;
    match parser.peek() {
        Token::End => Ok(tree),
        _ => Err(parser.stray()),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Token, Span)>,
    next: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].0
    }

    fn span(&self) -> Span {
        self.tokens[self.next].1.clone()
    }

    /// Steps over a token, but never past the end.
    fn advance(&mut self) {
        self.next = (self.next + 1).min(self.tokens.len() - 1);
    }

    fn error(&self, span: Span, message: String, hint: Option<&str>) -> FunctionalError {
        FunctionalError::new(self.text, span, message, hint.map(str::to_owned))
    }

    /// Something stands where only an operator or the end may stand.
    fn stray(&self) -> FunctionalError {
        let found = self.peek().describe();
        let (message, hint) = match self.peek() {
            Token::Symbol(')') => ("this ) has no (".to_owned(), None),
            Token::Symbol(']') => ("this ] has no [".to_owned(), None),
            Token::Symbol('[') => {
                ("only a quantity can be indexed".to_owned(), Some("index as in mu[1,2]"))
            }
            Token::Symbol(',') => (
                "unexpected `,`".to_owned(),
                Some("indices are written in [ ], as in mu[1,2]; a decimal point is ."),
            ),
            _ => (
                format!("expected an operator before {found}"),
                Some("the operators are + - * / ^; multiplication is written out, as in 2*pi[1]"),
            ),
        };
        self.error(self.span(), message, hint)
    }

    fn expression(&mut self, binding: u8) -> Result<Tree, FunctionalError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            return Err(self.error(self.span(), message, Some("split it into smaller pieces")));
        }
        let mut left = self.prefix()?;
        // Only a list begun in this loop may grow: one from inside parentheses is finished.
        let mut open = 0;
        loop {
            let (strength, inverse) = match self.peek() {
                Token::Symbol('+') => (SUM, false),
                Token::Symbol('-') => (SUM, true),
                Token::Symbol('*') => (PRODUCT, false),
                Token::Symbol('/') => (PRODUCT, true),
                Token::Symbol('^') => (POWER, false),
                _ => break,
            };
            if strength <= binding {
                break;
            }
            self.advance();
            let right = self.expression(if strength == POWER { POWER - 1 } else { strength })?;
            let span = left.span.start..right.span.end;
            left = match (strength, left.kind) {
                (SUM, Kind::Sum(mut terms)) if open == SUM => {
                    terms.push((inverse, right));
                    Tree { kind: Kind::Sum(terms), span }
                }
                (PRODUCT, Kind::Product(mut factors)) if open == PRODUCT => {
                    factors.push((inverse, right));
                    Tree { kind: Kind::Product(factors), span }
                }
                (_, kind) => {
                    let first = Tree { kind, span: left.span };
                    let kind = match strength {
                        SUM => Kind::Sum(vec![(false, first), (inverse, right)]),
                        PRODUCT => Kind::Product(vec![(false, first), (inverse, right)]),
                        _ => Kind::Power(Box::new(first), Box::new(right)),
                    };
                    Tree { kind, span }
                }
            };
            open = strength;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn prefix(&mut self) -> Result<Tree, FunctionalError> {
        let (token, span) = self.tokens[self.next].clone();
        match token {
            Token::Number(x) => {
                self.advance();
                Ok(Tree { kind: Kind::Number(x), span })
            }
            Token::Symbol('-') => {
                self.advance();
                let inner = self.expression(SIGN)?;
                let span = span.start..inner.span.end;
                Ok(Tree { kind: Kind::Negate(Box::new(inner)), span })
            }
            Token::Symbol('+') => {
                self.advance();
                self.expression(SIGN)
            }
            Token::Symbol('(') => {
                self.advance();
                let inner = self.expression(0)?;
                let end = self.close(')', &span)?;
                Ok(Tree { kind: inner.kind, span: span.start..end })
            }
            Token::Name(name) => {
                self.advance();
                match self.peek() {
                    Token::Symbol('[') => self.indexed(name, span),
                    Token::Symbol('(') => self.call(name, span),
                    _ => Ok(Tree {
                        span: span.clone(),
                        kind: Kind::Quantity { name, name_span: span, indices: None },
                    }),
                }
            }
            Token::Quoted(_) => Err(self.error(
                span,
                "a quoted name can only be an index".to_owned(),
                Some("write for example mu[1,`a column`]"),
            )),
            Token::End => Err(self.error(
                span,
                "the functional ends too early".to_owned(),
                Some("a number, a quantity or ( must follow"),
            )),
            Token::Symbol(_) => {
                let message = format!(
                    "expected a number, a quantity or ( but found {}",
                    self.peek().describe()
                );
                Err(self.error(span, message, None))
            }
        }
    }

    /// Steps over the closing bracket that belongs to the one at `opened`; returns where it ends.
    fn close(&mut self, bracket: char, opened: &Span) -> Result<usize, FunctionalError> {
        let end = self.span().end;
        match self.peek() {
            Token::Symbol(c) if *c == bracket => {
                self.advance();
                Ok(end)
            }
            Token::End => {
                let open = self.text.get(opened.clone()).unwrap_or("(");
                let message = format!("this {open} is never closed");
                Err(self.error(opened.clone(), message, Some(&format!("add a {bracket}"))))
            }
            Token::Symbol(')' | ']') => {
                let message = format!("expected {bracket} but found {}", self.peek().describe());
                Err(self.error(self.span(), message, None))
            }
            _ => Err(self.stray()),
        }
    }

    fn indexed(&mut self, name: String, name_span: Span) -> Result<Tree, FunctionalError> {
        let opened = self.span();
        self.advance();
        let mut indices = Vec::new();
        loop {
            let (token, span) = self.tokens[self.next].clone();
            let index = match token {
                Token::Symbol(',' | ']') => Some(Index::All),
                Token::Number(x) => Some(Index::Number(x)),
                Token::Name(s) | Token::Quoted(s) => Some(Index::Name(s)),
                Token::End => None,
                Token::Symbol(_) => {
                    let message = format!(
                        "an index is a whole number or a name, not {}",
                        self.peek().describe()
                    );
                    return Err(self.error(span, message, Some(INDEX_HINT)));
                }
            };
            match index {
                Some(Index::All) => indices.push((Index::All, span)),
                Some(index) => {
                    self.advance();
                    indices.push((index, span));
                }
                None => {}
            }
            if self.peek() == &Token::Symbol(',') {
                self.advance();
                continue;
            }
            if !matches!(self.peek(), Token::Symbol(']' | ')') | Token::End) {
                let message = format!("expected , or ] but found {}", self.peek().describe());
                return Err(self.error(self.span(), message, Some(INDEX_HINT)));
            }
            let end = self.close(']', &opened)?;
            let span = name_span.start..end;
            return Ok(Tree {
                kind: Kind::Quantity { name, name_span, indices: Some(indices) },
                span,
            });
        }
    }

    fn call(&mut self, name: String, name_span: Span) -> Result<Tree, FunctionalError> {
        let opened = self.span();
        self.advance();
        let mut arguments = Vec::new();
        if self.peek() != &Token::Symbol(')') {
            arguments.push(self.expression(0)?);
            while self.peek() == &Token::Symbol(',') {
                self.advance();
                arguments.push(self.expression(0)?);
            }
        }
        let end = self.close(')', &opened)?;
        let span = name_span.start..end;
        Ok(Tree { kind: Kind::Call { name, name_span, arguments }, span })
    }
}

const INDEX_HINT: &str = "indices count from 1; names with other characters than letters, digits, _ \
                          and . are put in backticks";
