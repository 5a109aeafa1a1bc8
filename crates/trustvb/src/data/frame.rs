//! What a file holds once read: named columns of numbers or text, and where each row came from.

use std::collections::HashMap;

use super::dataset::{Dataset, IN_MEMORY, check_columns};
use super::error::DataError;
use super::missing::RowUnit;
use super::select::resolve;

/// A column of text: one code per row into the distinct texts, in order of first appearance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextColumn {
    codes: Vec<u32>,
    levels: Vec<String>,
    order: Vec<String>,
}

impl TextColumn {
    /// From one text per row; `None` when there are more distinct texts than codes.
    pub fn from_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<TextColumn> {
        let mut builder = TextBuilder::default();
        texts.into_iter().all(|text| builder.push(text)).then(|| builder.finish())
    }

    /// With an order of its levels, which they have where the data come from: that of an ordered factor, say. Levels that no
    /// row has may be among them.
    pub fn ordered(self, order: Vec<String>) -> TextColumn {
        TextColumn { order, ..self }
    }

    /// The order of its levels; empty where none is known.
    pub fn order(&self) -> &[String] {
        &self.order
    }

    /// One code per row, an index into [`levels`](Self::levels).
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The distinct texts, in order of first appearance.
    pub fn levels(&self) -> &[String] {
        &self.levels
    }

    /// The text of row `i`.
    pub fn get(&self, i: usize) -> &str {
        &self.levels[self.codes[i] as usize]
    }

    /// The rows that are kept, with only the texts that still occur.
    #[cfg(feature = "parquet")]
    pub(super) fn filtered(self, kept: &[bool]) -> TextColumn {
        if kept.iter().all(|&kept| kept) {
            return self;
        }
        let mut builder = TextBuilder::default();
        for (&code, _) in self.codes.iter().zip(kept).filter(|(_, kept)| **kept) {
            // There are no more texts than before, so the codes suffice.
            builder.push(&self.levels[code as usize]);
        }
        TextColumn { order: self.order, ..builder.finish() }
    }
}

/// Collects a [`TextColumn`] row by row.
#[derive(Debug, Default)]
pub(super) struct TextBuilder {
    column: TextColumn,
    index: HashMap<String, u32>,
}

impl TextBuilder {
    /// Appends a row; `false` when there are more distinct texts than codes.
    pub(super) fn push(&mut self, text: &str) -> bool {
        let code = match self.index.get(text) {
            Some(&code) => code,
            None => {
                let Ok(code) = u32::try_from(self.column.levels.len()) else { return false };
                self.column.levels.push(text.to_owned());
                self.index.insert(text.to_owned(), code);
                code
            }
        };
        self.column.codes.push(code);
        true
    }

    pub(super) fn finish(self) -> TextColumn {
        self.column
    }
}

/// A column of a [`Frame`].
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Finite numbers.
    Numeric(Vec<f64>),
    /// Text, such as the labels of groups.
    Text(TextColumn),
}

impl Column {
    pub(super) fn len(&self) -> usize {
        match self {
            Column::Numeric(values) => values.len(),
            Column::Text(text) => text.codes.len(),
        }
    }
}

/// Rows' numbers in the file, kept as runs of consecutive numbers: one run for most files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RowNumbers {
    n_rows: usize,
    /// First row of each run, and its number.
    runs: Vec<(usize, u64)>,
}

impl RowNumbers {
    pub(super) fn push(&mut self, number: u64) {
        let continues = self
            .runs
            .last()
            .is_some_and(|&(row, first)| first + (self.n_rows - row) as u64 == number);
        if !continues {
            self.runs.push((self.n_rows, number));
        }
        self.n_rows += 1;
    }

    fn get(&self, row: usize) -> u64 {
        let run = self.runs.partition_point(|&(first, _)| first <= row);
        match run.checked_sub(1).map(|run| self.runs[run]) {
            Some((first, number)) => number + (row - first) as u64,
            None => row as u64 + 1,
        }
    }
}

/// A file's chosen columns, complete and of one length, before a model has chosen among them.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    source: String,
    unit: RowUnit,
    names: Vec<String>,
    columns: Vec<Column>,
    rows: RowNumbers,
    dropped: Vec<u64>,
}

impl Frame {
    /// Readers have checked names and lengths; this only assembles.
    pub(super) fn assemble(
        source: &str,
        unit: RowUnit,
        columns: Vec<(String, Column)>,
        rows: RowNumbers,
        dropped: Vec<u64>,
    ) -> Frame {
        let (names, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        debug_assert!(columns.iter().all(|column| column.len() == rows.n_rows));
        Frame { source: source.to_owned(), unit, names, columns, rows, dropped }
    }

    /// Checks columns that are already in memory: names, lengths, and that numbers are finite.
    pub fn from_columns(columns: Vec<(String, Column)>) -> Result<Frame, DataError> {
        let (mut names, mut numbers, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        for (name, column) in columns {
            names.push(name);
            let (values, text) = match column {
                Column::Numeric(values) => (values, None),
                Column::Text(text) => (vec![0.0; text.codes.len()], Some(text)),
            };
            numbers.push(values);
            texts.push(text);
        }
        let names = check_columns(names, &numbers)?;
        let n_rows = numbers[0].len();
        let columns = numbers
            .into_iter()
            .zip(texts)
            .map(|(values, text)| text.map_or(Column::Numeric(values), Column::Text))
            .collect();
        Ok(Frame {
            source: IN_MEMORY.to_owned(),
            unit: RowUnit::Row,
            names,
            columns,
            rows: RowNumbers { n_rows, runs: vec![(0, 1)] },
            dropped: Vec::new(),
        })
    }

    /// The file, as messages name it.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of rows kept.
    pub fn n_rows(&self) -> usize {
        self.rows.n_rows
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.columns.len()
    }

    /// Column `j`.
    pub fn column(&self, j: usize) -> &Column {
        &self.columns[j]
    }

    /// Position of the column with this name, or else with this number from 1.
    pub fn column_index(&self, name_or_number: &str) -> Result<usize, DataError> {
        resolve(name_or_number, &self.names, &self.source)
    }

    /// Line (header = 1) or row of the file that row `i` was read from.
    pub fn row_number(&self, i: usize) -> u64 {
        self.rows.get(i)
    }

    /// How [`row_number`](Self::row_number) counts.
    pub fn row_unit(&self) -> RowUnit {
        self.unit
    }

    /// Lines or rows of the file that were dropped because a cell was missing.
    pub fn dropped_rows(&self) -> &[u64] {
        &self.dropped
    }

    /// The other columns, and column `j`.
    pub(crate) fn without(mut self, j: usize) -> (Frame, Column) {
        self.names.remove(j);
        let column = self.columns.remove(j);
        (self, column)
    }

    /// The numbers of column `j`, or an error when it holds text.
    pub fn numeric(&self, j: usize) -> Result<&[f64], DataError> {
        match &self.columns[j] {
            Column::Numeric(values) => Ok(values),
            Column::Text(text) => Err(self.text_error(j, text)),
        }
    }

    fn text_error(&self, j: usize, text: &TextColumn) -> DataError {
        DataError::TextColumn {
            file: self.source.clone(),
            column: self.names[j].clone(),
            first: text.levels.first().cloned().unwrap_or_default(),
        }
    }

    /// Takes the columns, all of which must be numeric, without copying them.
    pub fn into_dataset(self) -> Result<Dataset, DataError> {
        for (j, column) in self.columns.iter().enumerate() {
            if let Column::Text(text) = column {
                return Err(self.text_error(j, text));
            }
        }
        let columns = self
            .columns
            .into_iter()
            .filter_map(|column| match column {
                Column::Numeric(values) => Some(values),
                Column::Text(_) => None,
            })
            .collect();
        Ok(Dataset::assemble(self.source, self.names, columns))
    }
}

/// Columns in memory, to which a formula can then be applied.
impl From<Dataset> for Frame {
    fn from(dataset: Dataset) -> Self {
        let n_rows = dataset.n_rows();
        let (source, names, columns) = dataset.into_parts();
        Frame {
            source,
            unit: RowUnit::Row,
            names,
            columns: columns.into_iter().map(Column::Numeric).collect(),
            rows: RowNumbers { n_rows, runs: vec![(0, 1)] },
            dropped: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_numbers_survive_gaps() {
        let numbers = [2, 3, 4, 7, 8, 20];
        let mut rows = RowNumbers::default();
        numbers.iter().for_each(|&number| rows.push(number));
        assert_eq!(rows.runs.len(), 3);
        assert_eq!((0..6).map(|i| rows.get(i)).collect::<Vec<_>>(), numbers);
    }

    #[test]
    fn a_dataset_is_a_frame() {
        let data = Dataset::faithful();
        let frame = Frame::from(data.clone());
        assert_eq!((frame.n_rows(), frame.row_number(271)), (272, 272));
        assert_eq!(frame.into_dataset().unwrap(), data);
    }

    #[test]
    fn text_is_coded_in_order_of_appearance() {
        let mut builder = TextBuilder::default();
        for text in ["b", "a", "b"] {
            assert!(builder.push(text));
        }
        let column = builder.finish();
        assert_eq!((column.codes(), column.get(1)), (&[0, 1, 0][..], "a"));
        assert_eq!(column.levels(), ["b", "a"]);
    }
}
