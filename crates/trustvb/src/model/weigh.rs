//! Weights from a column of a file: read beside the model's columns, and taken out before the model sees them.

use super::ModelData;
use super::wish::{Source, TakePieces, WishError, WishedWeights};
use crate::data::{Column, DataError, Frame, ReadOptions, RowUnit};
use crate::weights::{UnitWeights, WeightError, WeightKind, WeightsFrom};
use std::cell::RefCell;
use std::path::Path;

/// A source without the column that holds weights, which are kept here.
pub(super) struct Weighing<'a> {
    source: &'a dyn Source,
    wish: &'a WishedWeights,
    found: RefCell<Option<Found>>,
}

/// The weights of the rows that were read, and where each row is in the file.
struct Found {
    file: String,
    column: String,
    values: Vec<f64>,
    unit: RowUnit,
    numbers: Vec<u64>,
}

impl<'a> Weighing<'a> {
    pub(super) fn new(source: &'a dyn Source, wish: &'a WishedWeights) -> Weighing<'a> {
        Weighing { source, wish, found: RefCell::new(None) }
    }

    /// The weights of the data that were made from what was read.
    pub(super) fn weights(self, data: &ModelData) -> Result<UnitWeights, WishError> {
        let Some(found) = self.found.into_inner() else {
            let what = format!("{} was not read with the data", self.wish.kind.option());
            return Err(WishError::Options(what));
        };
        let refused = |error: WeightError| {
            let place = |row: usize| format!("{} {}", found.unit.word(), found.numbers[row]);
            let (file, column) = (&found.file, &found.column);
            let mut what = error.said(&place);
            if error.suggests_survey_weights() {
                what = format!("{what}, with {} {column}", WeightKind::Survey.option());
            }
            DataError::Units { file: file.clone(), what: format!("column `{column}`: {what}") }
        };
        let from = WeightsFrom { kind: self.wish.kind, column: found.column.clone() };
        // Checked row by row first, so that what is wrong is said of its row, and not of its group.
        UnitWeights::new(from.clone(), found.values.clone()).map_err(refused)?;
        let of_units = data.of_units(&found.values).map_err(refused)?;
        Ok(UnitWeights::new(from, of_units).map_err(refused)?)
    }
}

impl Source for Weighing<'_> {
    fn frame(&self, options: ReadOptions<'_>) -> Result<Frame, DataError> {
        let wanted = &self.wish.column;
        let columns = options.columns.clone().map(|mut columns| {
            columns.push(wanted.clone());
            columns
        });
        let frame = self.source.frame(ReadOptions { columns, ..options })?;
        let at = frame.column_index(wanted)?;
        let (unit, file) = (frame.row_unit(), frame.source().to_owned());
        let numbers = (0..frame.n_rows()).map(|row| frame.row_number(row)).collect();
        let column = frame.names()[at].clone();
        if frame.n_columns() == 1 {
            return Err(DataError::NoColumns { file, n_columns: 1 });
        }
        let (rest, taken) = frame.without(at);
        let values = match taken {
            Column::Numeric(values) => values,
            Column::Text(text) => {
                let number = |text: &String| text.trim().parse::<f64>().unwrap_or(f64::NAN);
                let levels: Vec<f64> = text.levels().iter().map(number).collect();
                text.codes().iter().map(|&code| levels[code as usize]).collect()
            }
        };
        *self.found.borrow_mut() = Some(Found { file, column, values, unit, numbers });
        Ok(rest)
    }

    /// All rows at once: what is read in pieces has no weights.
    fn pieces(&self, options: ReadOptions<'_>, take: &mut TakePieces<'_>) -> Result<(), DataError> {
        take(&mut std::iter::once(self.frame(options)))
    }

    /// None, so that nobody reads past this source.
    fn path(&self) -> Option<&Path> {
        None
    }
}
