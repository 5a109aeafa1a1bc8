//! A regression formula in R's notation, and what it makes of a frame.

mod expression;
mod lexer;
mod parser;

use std::collections::BTreeSet;

use self::expression::Expression;
use super::error::DataError;
use super::frame::{Column, Frame, TextBuilder};
use super::grouped::Grouped;
use super::read::ReadOptions;
use super::regressors::INTERCEPT;
use super::wording::suggestion;

/// A variable or an expression, with the name it gets in output.
#[derive(Debug, Clone, PartialEq)]
struct Factor {
    label: String,
    expression: Expression,
}

/// A product of factors: `x`, `x:z`.
#[derive(Debug, Clone, PartialEq)]
struct Term {
    factors: Vec<Factor>,
}

impl Term {
    fn label(&self) -> String {
        let labels: Vec<&str> = self.factors.iter().map(|factor| factor.label.as_str()).collect();
        labels.join(":")
    }

    /// `a:b` and `b:a` are one term.
    fn same_as(&self, other: &Term) -> bool {
        let set = |term: &Term| -> BTreeSet<String> {
            term.factors.iter().map(|factor| factor.label.clone()).collect()
        };
        set(self) == set(other)
    }

    /// The column's name when the term is one bare column.
    fn column(&self) -> Option<&str> {
        match self.factors.as_slice() {
            [Factor { expression: Expression::Column(name), .. }] => Some(name),
            _ => None,
        }
    }
}

/// What stands between two signs on the right-hand side.
#[derive(Debug, Clone, PartialEq)]
enum Item {
    Intercept,
    AllOthers,
    Terms(Vec<Term>),
}

/// A formula such as `y ~ 0 + x1 + x2 | group`, with R's conventions.
///
/// There is an intercept unless `0 +`, `+ 0` or `- 1` removes it; `.` stands for all other columns;
/// `- x` removes a term; `a:b` is a product and `a*b` is `a + b + a:b`; `log(x)`, `exp(x)`,
/// `sqrt(x)` and arithmetic in `I(…)` are computed; names with blanks go in back-ticks. Rows with the
/// same label in the column after `|` form a group; without `|` each row is a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    text: String,
    response: Factor,
    /// Added (`true`) or removed (`false`) from left to right.
    items: Vec<(bool, Item)>,
    group: Option<String>,
}

impl Formula {
    /// Parses a formula; an error shows where it went wrong and what was expected.
    pub fn parse(text: &str) -> Result<Self, DataError> {
        parser::parse(text)
    }

    /// The formula as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The column that holds the groups.
    pub fn group(&self) -> Option<&str> {
        self.group.as_deref()
    }

    /// Reads only the columns that the formula needs, the group as text.
    pub fn read_options(&self) -> ReadOptions<'static> {
        let mut needed = Vec::new();
        self.response.expression.columns(&mut needed);
        let mut removed = Vec::new();
        let mut all_others = false;
        for (added, item) in &self.items {
            match item {
                Item::Intercept => {}
                Item::AllOthers => all_others = true,
                Item::Terms(terms) if *added => {
                    let factors = terms.iter().flat_map(|term| &term.factors);
                    factors.for_each(|factor| factor.expression.columns(&mut needed));
                }
                Item::Terms(terms) => {
                    removed.extend(terms.iter().filter_map(|term| term.column().map(str::to_owned)))
                }
            }
        }
        let text_columns: Vec<String> = self.group.iter().cloned().collect();
        let mut seen = BTreeSet::new();
        needed.retain(|name| !text_columns.contains(name) && seen.insert(name.clone()));
        if all_others {
            // A removed column need not even be numeric, unless another term uses it.
            removed.retain(|name| !needed.contains(name) && !text_columns.contains(name));
            ReadOptions { text_columns, skip_columns: removed, ..ReadOptions::default() }
        } else {
            ReadOptions { columns: Some(needed), text_columns, ..ReadOptions::default() }
        }
    }

    /// The columns that the response is computed from.
    pub fn response_columns(&self) -> Vec<String> {
        let mut columns = Vec::new();
        self.response.expression.columns(&mut columns);
        columns
    }

    /// Names and columns of the design alone, from a frame that need not hold a response.
    pub fn design(&self, frame: &Frame) -> Result<(Vec<String>, Vec<Vec<f64>>), DataError> {
        let (intercept, terms) = self.expand(frame.names());
        let mut names = Vec::with_capacity(terms.len() + 1);
        let mut design = Vec::with_capacity(terms.len() + 1);
        if intercept {
            names.push(INTERCEPT.to_owned());
            design.push(vec![1.0; frame.n_rows()]);
        }
        for term in &terms {
            let mut product: Option<Vec<f64>> = None;
            for factor in &term.factors {
                let values = factor.expression.evaluate(frame)?;
                product = Some(match product {
                    None => values,
                    Some(mut held) => {
                        held.iter_mut().zip(&values).for_each(|(h, v)| *h *= v);
                        held
                    }
                });
            }
            let values = product.unwrap_or_default();
            check_finite(&values, &term.label(), frame)?;
            names.push(term.label());
            design.push(values);
        }
        if design.is_empty() {
            let file = frame.source().to_owned();
            return Err(DataError::NoColumns { file, n_columns: frame.n_columns() });
        }
        Ok((names, design))
    }

    /// Computes response, design and groups from a frame.
    pub fn apply(&self, frame: &Frame) -> Result<Grouped, DataError> {
        let (names, design) = self.design(frame)?;
        let file = frame.source().to_owned();
        let response = self.response.expression.evaluate(frame)?;
        check_finite(&response, &self.response.label, frame)?;
        let (groups, labels) = match &self.group {
            None => ((0..frame.n_rows()).collect(), None),
            Some(group) => {
                let (groups, labels) = group_rows(frame, group)?;
                (groups, Some(labels))
            }
        };
        let response_name = self.response.label.clone();
        Ok(Grouped::assemble(file, response_name, response, names, design, groups, labels))
    }

    /// Whether it gives a response and a design of these names; `.` may stand for any columns.
    pub(crate) fn gives(&self, response: &str, design: &[String]) -> bool {
        if self.items.iter().any(|(_, item)| matches!(item, Item::AllOthers)) {
            return self.response.label == response;
        }
        let (intercept, terms) = self.expand(&[]);
        let intercept = intercept.then(|| INTERCEPT.to_owned());
        let names = intercept.into_iter().chain(terms.iter().map(Term::label));
        self.response.label == response && names.eq(design.iter().cloned())
    }

    /// The terms in R's order: as written, main effects before products.
    fn expand(&self, names: &[String]) -> (bool, Vec<Term>) {
        let mut in_response = Vec::new();
        self.response.expression.columns(&mut in_response);
        let mut intercept = true;
        let mut terms: Vec<Term> = Vec::new();
        for (added, item) in &self.items {
            let listed = match item {
                Item::Intercept => {
                    intercept = *added;
                    continue;
                }
                Item::Terms(listed) => listed.clone(),
                Item::AllOthers => names
                    .iter()
                    .filter(|name| !in_response.contains(name) && self.group() != Some(name))
                    .map(|name| Term {
                        factors: vec![Factor {
                            label: name.clone(),
                            expression: Expression::Column(name.clone()),
                        }],
                    })
                    .collect(),
            };
            for term in listed {
                if !added {
                    terms.retain(|held| !held.same_as(&term));
                } else if !terms.iter().any(|held| held.same_as(&term)) {
                    terms.push(term);
                }
            }
        }
        terms.sort_by_key(|term| term.factors.len());
        (intercept, terms)
    }
}

/// Position of a column by its exact name: a number in a formula is a number.
fn find_column(frame: &Frame, name: &str) -> Result<usize, DataError> {
    frame.names().iter().position(|held| held == name).ok_or_else(|| DataError::UnknownColumn {
        file: frame.source().to_owned(),
        name: name.to_owned(),
        suggestion: suggestion(name, frame.names()),
    })
}

/// The group of each row, and the labels in order of first appearance.
fn group_rows(frame: &Frame, group: &str) -> Result<(Vec<usize>, Vec<String>), DataError> {
    let built;
    let text = match frame.column(find_column(frame, group)?) {
        Column::Text(text) => text,
        Column::Numeric(values) => {
            let mut builder = TextBuilder::default();
            if !values.iter().all(|value| builder.push(&value.to_string())) {
                return Err(DataError::TooLarge {
                    file: frame.source().to_owned(),
                    n_rows: frame.n_rows(),
                    n_columns: frame.n_columns(),
                });
            }
            built = builder.finish();
            &built
        }
    };
    Ok((text.codes().iter().map(|&code| code as usize).collect(), text.levels().to_vec()))
}

fn check_finite(values: &[f64], term: &str, frame: &Frame) -> Result<(), DataError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(i) => Err(DataError::TermNotFinite {
            file: frame.source().to_owned(),
            unit: frame.row_unit(),
            row: frame.row_number(i),
            term: term.to_owned(),
            value: values[i],
        }),
    }
}

#[cfg(test)]
mod tests;
