//! Recursive descent from tokens to a formula.

use super::expression::{Expression, Function, Operator};
use super::lexer::{Kind, Token, error, tokens};
use super::{Factor, Formula, Item, Term};
use crate::data::error::DataError;

/// Deeper nesting is a mistake, and would exhaust the stack.
const DEPTH_LIMIT: usize = 50;

/// `a*b*…` of this many factors has 63 terms.
const CROSSING_LIMIT: usize = 6;

/// Parses a whole formula.
pub(super) fn parse(text: &str) -> Result<Formula, DataError> {
    let mut parser = Parser { text, tokens: tokens(text)?, next: 0, depth: 0 };
    let response_at = parser.peek().at;
    let response = parser.factor("the response")?;
    parser.expect('~', "`~` after the response")?;
    let items = parser.items()?;
    let group = if parser.take('|') {
        let token = parser.peek().clone();
        match token.kind {
            Kind::Name(name) if token.text != "." => {
                parser.next += 1;
                Some(name)
            }
            _ => return Err(parser.unexpected("the name of the group column after `|`")),
        }
    } else {
        None
    };
    if parser.peek().kind != Kind::End {
        return Err(match parser.peek().kind {
            Kind::Symbol('^' | '/') => {
                parser.fail("arithmetic goes inside I(), as in I(x^2)".to_owned())
            }
            _ if group.is_some() => parser.unexpected("the end after the group column"),
            _ => parser.unexpected("`+`, `-`, `:`, `*`, `|` or the end"),
        });
    }
    let repeated = items.iter().any(|(added, item)| match item {
        Item::Terms(terms) if *added => {
            terms.iter().any(|term| term.factors.iter().any(|f| f.label == response.label))
        }
        _ => false,
    });
    if repeated {
        let message = format!("the response `{}` is also a term on the right", response.label);
        return Err(error(text, response_at, message));
    }
    Ok(Formula { text: text.to_owned(), response, items, group })
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.next]
    }

    fn fail(&self, message: String) -> DataError {
        error(self.text, self.peek().at, message)
    }

    fn unexpected(&self, expected: &str) -> DataError {
        let found = match self.peek().kind {
            Kind::End => "the end".to_owned(),
            _ => format!("`{}`", self.peek().text),
        };
        self.fail(format!("expected {expected}, found {found}"))
    }

    fn take(&mut self, symbol: char) -> bool {
        let found = self.peek().kind == Kind::Symbol(symbol);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: char, what: &str) -> Result<(), DataError> {
        if self.take(symbol) { Ok(()) } else { Err(self.unexpected(what)) }
    }

    fn items(&mut self) -> Result<Vec<(bool, Item)>, DataError> {
        let mut items = Vec::new();
        let mut added = !self.take('-');
        if added {
            self.take('+');
        }
        loop {
            items.push(self.item(added)?);
            added = if self.take('+') {
                true
            } else if self.take('-') {
                false
            } else {
                return Ok(items);
            };
        }
    }

    fn item(&mut self, added: bool) -> Result<(bool, Item), DataError> {
        let token = self.peek().clone();
        match token.kind {
            Kind::Number(value) if value == 0.0 || value == 1.0 => {
                self.next += 1;
                Ok((added == (value == 1.0), Item::Intercept))
            }
            Kind::Number(_) => {
                Err(self.fail(format!("expected a term, 0 or 1, found `{}`", token.text)))
            }
            Kind::Name(_) if token.text == "." => {
                self.next += 1;
                if matches!(self.peek().kind, Kind::Symbol(':' | '*')) {
                    return Err(self.fail("`.` stands alone, not in products".to_owned()));
                }
                Ok((added, Item::AllOthers))
            }
            _ => Ok((added, Item::Terms(self.crossing()?))),
        }
    }

    /// `a*b` as `a`, `b`, `a:b`; `:` binds tighter.
    fn crossing(&mut self) -> Result<Vec<Term>, DataError> {
        let mut terms = vec![self.product()?];
        let mut factors = 1;
        while self.take('*') {
            factors += 1;
            if factors > CROSSING_LIMIT {
                return Err(self.fail(format!("at most {CROSSING_LIMIT} factors between `*`")));
            }
            let right = self.product()?;
            let crossed: Vec<Term> = terms.iter().map(|left| joined(left, &right)).collect();
            terms.push(right);
            terms.extend(crossed);
        }
        Ok(terms)
    }

    fn product(&mut self) -> Result<Term, DataError> {
        let mut term = Term { factors: vec![self.factor("a column or a function")?] };
        while self.take(':') {
            let right = Term { factors: vec![self.factor("a column or a function after `:`")?] };
            term = joined(&term, &right);
        }
        Ok(term)
    }

    fn factor(&mut self, what: &str) -> Result<Factor, DataError> {
        let start = self.next;
        match &self.peek().kind {
            Kind::Name(_) if self.peek().text != "." => {}
            Kind::Symbol('(') => {
                return Err(self.fail(format!(
                    "expected {what}, found `(`; write the terms out, and arithmetic inside I()"
                )));
            }
            _ => return Err(self.unexpected(what)),
        }
        let expression = self.primary()?;
        let label = match &expression {
            Expression::Column(name) => name.clone(),
            _ => self.tokens[start..self.next].iter().map(|token| token.text.as_str()).collect(),
        };
        Ok(Factor { label, expression })
    }

    fn sum(&mut self) -> Result<Expression, DataError> {
        let mut left = self.scaled()?;
        loop {
            let operator = if self.take('+') {
                Operator::Add
            } else if self.take('-') {
                Operator::Subtract
            } else {
                return Ok(left);
            };
            left = binary(operator, left, self.scaled()?);
        }
    }

    fn scaled(&mut self) -> Result<Expression, DataError> {
        let mut left = self.signed()?;
        loop {
            let operator = if self.take('*') {
                Operator::Multiply
            } else if self.take('/') {
                Operator::Divide
            } else {
                return Ok(left);
            };
            left = binary(operator, left, self.signed()?);
        }
    }

    /// A sign binds less than a power: -x^2 is -(x^2).
    fn signed(&mut self) -> Result<Expression, DataError> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(self.fail(format!("nested deeper than {DEPTH_LIMIT} levels")));
        }
        let value = if self.take('-') {
            Expression::Negated(Box::new(self.signed()?))
        } else {
            self.take('+');
            let base = self.primary()?;
            if self.take('^') { binary(Operator::Power, base, self.signed()?) } else { base }
        };
        self.depth -= 1;
        Ok(value)
    }

    fn primary(&mut self) -> Result<Expression, DataError> {
        let token = self.peek().clone();
        match token.kind {
            Kind::Number(value) => {
                self.next += 1;
                Ok(Expression::Number(value))
            }
            Kind::Symbol('(') => {
                self.next += 1;
                self.bracketed()
            }
            Kind::Name(name) if name != "." => {
                self.next += 1;
                if self.peek().kind != Kind::Symbol('(') {
                    return Ok(Expression::Column(name));
                }
                let Some(function) = Function::named(&token.text) else {
                    let message =
                        format!("expected one of {}, found `{}`", Function::NAMES, token.text);
                    return Err(error(self.text, token.at, message));
                };
                self.next += 1;
                Ok(Expression::Call(function, Box::new(self.bracketed()?)))
            }
            _ => Err(self.unexpected("a column, a number or a function")),
        }
    }

    fn bracketed(&mut self) -> Result<Expression, DataError> {
        let inner = self.sum()?;
        self.expect(')', "`)`")?;
        Ok(inner)
    }
}

fn binary(operator: Operator, left: Expression, right: Expression) -> Expression {
    Expression::Binary(operator, Box::new(left), Box::new(right))
}

/// The product of two terms; a factor in both counts once, as in R.
fn joined(left: &Term, right: &Term) -> Term {
    let mut term = left.clone();
    for factor in &right.factors {
        if !term.factors.iter().any(|held| held.label == factor.label) {
            term.factors.push(factor.clone());
        }
    }
    term
}
