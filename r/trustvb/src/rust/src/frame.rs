//! A data frame of R as the library reads data.

use savvy::{savvy, ListSexp, NotAvailableValue, Sexp, TypedSexp};
use std::path::Path;
use trustvb::data::{Column, DataError, Formula, Frame, ReadOptions, TextColumn};
use trustvb::model::{Source, TakePieces};

use crate::errors::{bug, data, error, Class};
use crate::values::{list, named, Value};

/// Named columns of numbers or texts.
#[derive(Clone)]
pub(crate) struct Columns(Vec<(String, Values)>, Vec<(String, Vec<String>)>);

#[derive(Clone)]
enum Values {
    Numbers(Vec<f64>),
    /// An empty text is a missing cell.
    Texts(Vec<String>),
}

impl Columns {
    /// From a named list of doubles and texts; R's side has made everything else one of them.
    pub(crate) fn read(list: &ListSexp) -> savvy::Result<Columns> {
        let column = |(name, values): (&str, savvy::Sexp)| {
            let values = match values.into_typed() {
                TypedSexp::Real(x) => Values::Numbers(x.to_vec()),
                TypedSexp::Integer(x) => {
                    let number = |i: &i32| if i.is_na() { f64::NAN } else { f64::from(*i) };
                    Values::Numbers(x.iter().map(number).collect())
                }
                TypedSexp::String(x) => {
                    let text = |s: &'static str| if s.is_na() { "" } else { s }.to_owned();
                    Values::Texts(x.iter().map(text).collect())
                }
                _ => return Err(bug(format!("column `{name}` is neither numbers nor texts"))),
            };
            Ok((name.to_owned(), values))
        };
        Ok(Columns(list.iter().map(column).collect::<savvy::Result<_>>()?, Vec::new()))
    }

    /// With the levels of factors in their order: for each level the name of its column, and the level.
    pub(crate) fn ordered(self, names: Vec<String>, levels: Vec<String>) -> Columns {
        let mut orders: Vec<(String, Vec<String>)> = Vec::new();
        for (name, level) in names.into_iter().zip(levels) {
            match orders.last_mut() {
                Some((known, order)) if *known == name => order.push(level),
                _ => orders.push((name, vec![level])),
            }
        }
        Columns(self.0, orders)
    }

    /// As the library has it.
    pub(crate) fn frame(&self) -> savvy::Result<Frame> {
        self.chosen(&ReadOptions::default()).map_err(data)
    }

    /// A frame of texts, as a file is read for a mixture of columns: a number is the shortest text that reads back the
    /// same, and an empty text is a missing cell.
    pub(crate) fn texts(&self) -> savvy::Result<Frame> {
        let options = ReadOptions { as_text: true, ..ReadOptions::default() };
        self.chosen(&options).map_err(data)
    }

    fn chosen(&self, options: &ReadOptions<'_>) -> Result<Frame, DataError> {
        let wanted = |name: &String| {
            let listed = options.columns.as_ref().is_none_or(|list| list.contains(name));
            (listed || options.text_columns.contains(name)) && !options.skip_columns.contains(name)
        };
        let columns = self.0.iter().filter(|(name, _)| wanted(name)).map(|(name, values)| {
            let as_text = options.as_text || options.text_columns.contains(name);
            let texts: Vec<String> = match values {
                Values::Numbers(numbers) if !as_text => {
                    return Ok((name.clone(), Column::Numeric(numbers.clone())));
                }
                Values::Numbers(numbers) => numbers.iter().map(|x| text(*x)).collect(),
                Values::Texts(texts) => texts.clone(),
            };
            let column = TextColumn::from_texts(texts.iter().map(String::as_str));
            let column = column.ok_or_else(|| DataError::TooLarge {
                file: "the data".to_owned(),
                n_rows: texts.len(),
                n_columns: self.0.len(),
            })?;
            let order = self.1.iter().find(|(known, _)| known == name);
            let order = order.map(|(_, order)| order.clone()).unwrap_or_default();
            Ok((name.clone(), Column::Text(column.ordered(order))))
        });
        Frame::from_columns(columns.collect::<Result<Vec<_>, DataError>>()?)
    }
}

fn text(x: f64) -> String {
    if x.is_nan() {
        String::new()
    } else {
        x.to_string()
    }
}

impl Source for Columns {
    fn frame(&self, options: ReadOptions<'_>) -> Result<Frame, DataError> {
        self.chosen(&options)
    }

    fn pieces(&self, options: ReadOptions<'_>, take: &mut TakePieces<'_>) -> Result<(), DataError> {
        take(&mut std::iter::once(self.chosen(&options)))
    }

    fn path(&self) -> Option<&Path> {
        None
    }
}

/// Refuses new data without a column that is needed.
pub(crate) fn needed(frame: &Frame, names: &[String]) -> savvy::Result<()> {
    match names.iter().find(|name| !frame.names().contains(name)) {
        Some(name) => Err(error(
            Class::Data,
            format!("the new data have no column `{name}`, which the fit needs; add it"),
        )),
        None => Ok(()),
    }
}

/// Whether a formula is one of the library's own.
#[savvy]
fn formula_is_known(text: &str) -> savvy::Result<Sexp> {
    let known = Formula::parse(text).is_ok();
    list(named([("known", Value::whole(usize::from(known)))]))
}
