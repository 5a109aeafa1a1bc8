//! Rows of columns of different kinds, some of whose cells may be missing.

use crate::data::DataError;
use crate::remedy::Remedy;
use serde::{Deserialize, Serialize};

/// What a column holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[non_exhaustive]
pub enum ColumnKind {
    /// Numbers.
    Gaussian,
    /// Whole numbers from 0.
    Count,
    /// One of several levels.
    Category {
        /// Their names, in order: that of the data where they have one, otherwise by number where all are numbers, or by
        /// letters.
        levels: Vec<String>,
    },
}

impl ColumnKind {
    /// How it is called on a command line.
    pub fn name(&self) -> &'static str {
        match self {
            ColumnKind::Gaussian => "gaussian",
            ColumnKind::Count => "count",
            ColumnKind::Category { .. } => "category",
        }
    }
}

/// A column with its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MixtureColumn {
    /// Its name.
    pub name: String,
    /// What it holds.
    #[serde(flatten)]
    pub kind: ColumnKind,
}

impl MixtureColumn {
    /// The levels of a category that a single row has, in words.
    pub(super) fn seen_once(&self, values: &[f64]) -> Option<String> {
        let ColumnKind::Category { levels } = &self.kind else { return None };
        let mut counts = vec![0_usize; levels.len()];
        for level in values.iter().filter(|x| !x.is_nan()) {
            if let Some(count) = counts.get_mut(*level as usize) {
                *count += 1;
            }
        }
        let rare = levels.iter().zip(counts).filter(|(_, count)| *count == 1);
        let rare: Vec<String> = rare.map(|(level, _)| format!("`{level}`")).collect();
        match rare.as_slice() {
            [] => None,
            all if all.len() <= 3 => Some(all.join(" and ")),
            [first, ..] => Some(format!("{first} and {} other levels", rare.len() - 1)),
        }
    }

    /// Says what in it is not of its kind.
    pub(super) fn check(&self, values: &[f64]) -> Result<(), String> {
        let mut values = values.iter().copied().filter(|x| !x.is_nan());
        let is_whole = |x: f64, below: f64| x >= 0.0 && x == x.trunc() && x < below;
        let wrong = match &self.kind {
            ColumnKind::Gaussian => values
                .find(|x| x.abs() > LARGEST)
                .map(|bad| format!("holds {bad}; use other units")),
            ColumnKind::Count => values
                .find(|x| !is_whole(*x, MOST))
                .map(|bad| format!("holds {bad}, which is no count; say gaussian or category")),
            ColumnKind::Category { levels } => values
                .find(|x| !is_whole(*x, levels.len() as f64))
                .map(|bad| format!("holds {bad}, which is none of its levels")),
        };
        wrong.map_or(Ok(()), Err)
    }
}

/// Rows as numbers: a level by its place from 0, NaN where a cell is missing.
#[derive(Clone, Debug)]
pub struct MixedData {
    source: String,
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    remarks: Vec<String>,
}

impl MixedData {
    /// Columns of one length, coded; models refuse what is not of its kind.
    pub fn new(source: &str, names: Vec<String>, columns: Vec<Vec<f64>>) -> MixedData {
        MixedData { source: source.to_owned(), names, columns, remarks: Vec::new() }
    }

    /// With what is to be said of how it was read.
    pub(super) fn with_remarks(self, remarks: Vec<String>) -> MixedData {
        MixedData { remarks, ..self }
    }

    /// What is to be said of how it was read, a sentence each.
    pub(super) fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// The file, as messages name it.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The coded columns.
    pub fn columns(&self) -> &[Vec<f64>] {
        &self.columns
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    /// Number of cells that are missing.
    pub fn n_missing(&self) -> usize {
        self.columns.iter().flatten().filter(|x| x.is_nan()).count()
    }

    /// The columns without levels that only rows of weight 0 have, and the rows coded anew; `None` if there are no such
    /// levels. Those rows lose such a cell, which is as good as missing: no unit has it. One that has no other keeps the
    /// first level, because a row must hold something.
    pub(super) fn without_absent_levels(
        &self,
        columns: &[MixtureColumn],
        weights: &[f64],
    ) -> Option<(Vec<MixtureColumn>, MixedData)> {
        let (mut found, mut coded, mut any) = (columns.to_vec(), self.columns.clone(), false);
        for ((column, values), given) in found.iter_mut().zip(&mut coded).zip(&self.columns) {
            let ColumnKind::Category { levels } = &mut column.kind else { continue };
            // Rows with each level: those of weight 0, and others.
            let mut rows = vec![[0_usize; 2]; levels.len()];
            for (x, weight) in given.iter().zip(weights).filter(|(x, _)| !x.is_nan()) {
                rows[*x as usize][usize::from(*weight > 0.0)] += 1;
            }
            // A level that was declared and that no row has is the user's own wish.
            let absent: Vec<bool> = rows.iter().map(|rows| rows[0] > 0 && rows[1] == 0).collect();
            if !absent.contains(&true) {
                continue;
            }
            any = true;
            let place = |x: f64| {
                let before = absent[..x as usize].iter().filter(|absent| !**absent).count();
                if absent[x as usize] { f64::NAN } else { before as f64 }
            };
            values.iter_mut().filter(|x| !x.is_nan()).for_each(|x| *x = place(*x));
            let mut kept = absent.iter().map(|absent| !absent);
            levels.retain(|_| kept.next().unwrap_or(true));
        }
        if !any {
            return None;
        }
        for row in 0..self.n_rows() {
            let held = coded.iter().any(|values| !values[row].is_nan());
            let had = self.columns.iter().position(|values| !values[row].is_nan());
            if let (false, Some(column)) = (held, had) {
                coded[column][row] = 0.0;
            }
        }
        Some((found, MixedData::new(&self.source, self.names.clone(), coded)))
    }

    /// Refuses columns that are not of their kind, say nothing, or hold nothing in some row.
    pub(super) fn check(&self, columns: &[MixtureColumn]) -> Result<(), DataError> {
        let refused = |column: &MixtureColumn, what: String, remedies: &'static [Remedy]| {
            let (file, column) = (self.source.clone(), column.name.clone());
            Err(DataError::Column { file, column, what, remedies })
        };
        const OUT: &[Remedy] = &[Remedy::Columns("leave it out")];
        for (column, values) in columns.iter().zip(&self.columns) {
            if values.len() != self.n_rows() {
                let what = format!("has {} values, but others {}", values.len(), self.n_rows());
                return refused(column, what, &[]);
            }
            let mut there = values.iter().copied().filter(|x| !x.is_nan());
            let Some(first) = there.next() else {
                return refused(column, "has no value at all".to_owned(), OUT);
            };
            if there.all(|x| x == first) {
                let what = "has one value only, so it tells no classes apart";
                return refused(column, what.to_owned(), OUT);
            }
            column.check(values).or_else(|what| refused(column, what, &[]))?;
        }
        let empty = (0..self.n_rows()).find(|&i| self.columns.iter().all(|c| c[i].is_nan()));
        match empty {
            Some(row) => {
                let what = format!("row {} holds no value at all; leave it out", row + 1);
                Err(DataError::Units { file: self.source.clone(), what })
            }
            None => Ok(()),
        }
    }
}

/// The largest number whose square is no trouble.
const LARGEST: f64 = 1e70;

/// The largest count: beyond, neighbours cannot be told apart.
const MOST: f64 = 9e15;
