//! Everything that can be wrong with data, each with the place, the numbers and the remedy.

use std::io;

use thiserror::Error;

use super::dataset::{LARGEST, SMALLEST};
use super::missing::{MissingCells, RowUnit};
use super::wording::{caret, count, quoted_list, shorten, two_values};
use crate::memory::{TooLarge, in_words as bytes_in_words};
use crate::remedy::{Advise, Remedy};

/// What is wrong with a file, a formula or a data set.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// The path leads nowhere.
    #[error("{file}: there is no such file; check the path")]
    FileMissing {
        /// The path as given.
        file: String,
    },
    /// A column that is not what it is meant to be.
    #[error("{file}: column `{column}` {what}")]
    Column {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// What is wrong.
        what: String,
        /// What to do about it.
        remedies: &'static [Remedy],
    },
    /// Columns of two values, which no Gaussian has.
    #[error("{file}: {}, which no Gaussian mixture describes", two_values(columns))]
    TwoValues {
        /// The file.
        file: String,
        /// The columns, each with its values.
        columns: Vec<(String, [f64; 2])>,
    },
    /// Units that cannot be.
    #[error("{file}: {what}")]
    Units {
        /// The file.
        file: String,
        /// What is wrong, and what to do.
        what: String,
    },
    /// The path is a directory.
    #[error("{file} is a directory; give the path of a CSV or Parquet file in it")]
    IsDirectory {
        /// The path as given.
        file: String,
    },
    /// The operating system refused to read.
    #[error("{file}: cannot be read ({source}); check the path and its permissions")]
    Read {
        /// The path as given.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// The operating system refused to write.
    #[error("{file}: cannot be written ({source}); check the folder, its permissions and the disk")]
    Write {
        /// The path as given.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// The file was written to while it was read.
    #[error("{file}: it changed while it was read; run again when nothing writes to it")]
    Changed {
        /// The path as given.
        file: String,
    },
    /// Rows that are to be read again and again could not be kept.
    #[error(
        "{folder}: the scratch file that rows are kept in cannot be written ({source}), of which {} are there; it needs \
         8 bytes for each row and column: make room, or set TMPDIR to a folder that has it", bytes_in_words(*.written)
    )]
    Scratch {
        /// The folder of temporary files.
        folder: String,
        /// Bytes written before.
        written: u64,
        /// Why.
        source: io::Error,
    },
    /// Nothing is in the file.
    #[error(
        "{file} is empty; it needs a header line with the names of the columns and a line for \
         each row"
    )]
    Empty {
        /// The file.
        file: String,
    },
    /// Names, but no rows.
    #[error("{file}: a header of {} but 0 rows; add at least one row", count(*.n_columns, "column"))]
    HeaderOnly {
        /// The file.
        file: String,
        /// Number of names in the header.
        n_columns: usize,
    },
    /// The file is something other than text.
    #[error("{file} looks like {what}, not like CSV or Parquet; {remedy}")]
    WrongFormat {
        /// The file.
        file: String,
        /// What it seems to be.
        what: &'static str,
        /// How to convert it.
        remedy: &'static str,
    },
    /// The first line holds numbers only.
    #[error(
        "{file}, line 1: every entry is a number (the first is `{first}`), so the header seems to \
         be missing; put a line with the names of the columns first"
    )]
    HeaderIsData {
        /// The file.
        file: String,
        /// First cell of the line.
        first: String,
    },
    /// A column without a name.
    #[error(
        "{file}: column {position} has no name in the header (a column of row numbers comes from R's write.csv \
         without row.names = FALSE or pandas' to_csv without index=False)"
    )]
    EmptyName {
        /// The file.
        file: String,
        /// Number of the column, from 1.
        position: usize,
    },
    /// Two columns with one name.
    #[error(
        "{file}: columns {first} and {second} are both named `{name}`; give each column a name of \
         its own"
    )]
    DuplicateName {
        /// The file.
        file: String,
        /// The name, trimmed.
        name: String,
        /// Number of the first such column, from 1.
        first: usize,
        /// Number of the second.
        second: usize,
    },
    /// A row with too few or too many cells.
    #[error(
        "{file}, line {line}: {}, but the header has {expected}; quote cells that hold the \
         separator, close every quote, and name every column, row names included", count(*.found, "cell")
    )]
    Ragged {
        /// The file.
        file: String,
        /// Line of the row; the header is line 1.
        line: u64,
        /// Cells in the header.
        expected: usize,
        /// Cells in the row.
        found: usize,
    },
    /// Bytes that are not UTF-8.
    #[error("{file}, {} {row}, column {column}: the text is not valid UTF-8; save the file as \
             UTF-8", unit.word())]
    NotUtf8 {
        /// The file.
        file: String,
        /// How `row` is counted.
        unit: RowUnit,
        /// Where.
        row: u64,
        /// The column's name, or its number when it is the name that cannot be read.
        column: String,
    },
    /// Text where a number is needed.
    #[error("{file}, line {line}, column `{column}`: `{}` is not a number", shorten(text))]
    NotNumeric {
        /// The file.
        file: String,
        /// Line of the row; the header is line 1.
        line: u64,
        /// Name of the column.
        column: String,
        /// What the cell holds.
        text: String,
        /// What to do about it.
        remedies: &'static [Remedy],
    },
    /// Empty, NA, NaN or infinite cells.
    #[error("{}", .0.text())]
    Missing(Box<MissingCells>),
    /// Dropping the rows with missing cells leaves nothing.
    #[error(
        "{file}: each of its {} has a missing or infinite cell, so that none is left without them",
        count(*.n_rows, "row")
    )]
    AllDropped {
        /// The file.
        file: String,
        /// Rows in the file.
        n_rows: usize,
    },
    /// A name or number that no column has.
    #[error("{file} has no column `{name}`; {suggestion}")]
    UnknownColumn {
        /// The file.
        file: String,
        /// The name or number asked for.
        name: String,
        /// The nearest name and the list of names.
        suggestion: String,
    },
    /// A column asked for twice.
    #[error("column `{name}` of {file} is asked for twice; name it once")]
    RepeatedColumn {
        /// The file.
        file: String,
        /// The column.
        name: String,
    },
    /// Every column was left out.
    #[error("{file}: no column is left of its {n_columns}; choose at least one")]
    NoColumns {
        /// The file.
        file: String,
        /// Columns in the file.
        n_columns: usize,
    },
    /// A text column where numbers are needed.
    #[error(
        "{file}: column `{column}` holds text (the first is `{}`), and numbers are needed; leave \
         it out, or code it as numbers",
        shorten(first)
    )]
    TextColumn {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// Its first entry.
        first: String,
    },
    /// A Parquet column of a type that is neither number nor text.
    #[error("{file}: column `{column}` is of the Parquet type {found}")]
    ColumnType {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// Its type.
        found: String,
        /// What to do about it.
        remedies: &'static [Remedy],
    },
    /// A Parquet file that cannot be decoded.
    #[error("{file}: the Parquet file is damaged or incomplete ({reason}); write or copy it again")]
    Corrupt {
        /// The file.
        file: String,
        /// What the decoder said.
        reason: String,
    },
    /// Parquet support was left out of this build.
    #[error(
        "{file}: this build of trustvb cannot handle Parquet; use CSV, or build with the feature \
         `parquet`"
    )]
    ParquetDisabled {
        /// The file.
        file: String,
    },
    /// More cells than can be counted or held.
    #[error("{file}: {n_rows} rows of {n_columns} columns are more than this machine can address")]
    TooLarge {
        /// The file.
        file: String,
        /// Rows.
        n_rows: usize,
        /// Columns.
        n_columns: usize,
    },
    /// Columns of different lengths.
    #[error("{file}: column `{column}` has {}, but the first column has {expected}; give columns \
             of one length", count(*.found, "value"))]
    UnequalLengths {
        /// The source of the data.
        file: String,
        /// The column.
        column: String,
        /// Length of the first column.
        expected: usize,
        /// Length of this one.
        found: usize,
    },
    /// As many names as columns are needed.
    #[error("{file}: {} for {n_columns} columns; give each column one name", count(*.n_names, "name"))]
    NameCount {
        /// The source of the data.
        file: String,
        /// Names.
        n_names: usize,
        /// Columns.
        n_columns: usize,
    },
    /// Columns that never change.
    #[error(
        "{file}: {} the same value in all {n_rows} rows ({}); leave {} out", 
        if columns.len() == 1 { "a column has" } else { "several columns have" },
        quoted_list(columns),
        if columns.len() == 1 { "it" } else { "them" }
    )]
    Constant {
        /// The file.
        file: String,
        /// The columns.
        columns: Vec<String>,
        /// Rows.
        n_rows: usize,
    },
    /// A column that others determine.
    #[error(
        "{file}: columns {} are exactly collinear: the {n_columns} columns carry only {} of \
         information",
        quoted_list(columns), count(*.rank, "dimension")
    )]
    Collinear {
        /// The file.
        file: String,
        /// The columns of one exact linear relation.
        columns: Vec<String>,
        /// All columns.
        n_columns: usize,
        /// Their rank.
        rank: usize,
    },
    /// Fewer units than components.
    #[error(
        "{file}: {} for {n_components} components", count(*.n_units, unit)
    )]
    TooFewUnits {
        /// The file.
        file: String,
        /// What a unit is: `row` or `group`.
        unit: &'static str,
        /// Units.
        n_units: usize,
        /// Components asked for.
        n_components: usize,
    },
    /// Very many components, with fewer than two units for each.
    #[error(
        "{file}: {n_components} components for {}, which is fewer than two for each", count(*.n_units, unit)
    )]
    ManyComponents {
        /// The file.
        file: String,
        /// What a unit is: `row` or `group`.
        unit: &'static str,
        /// Units.
        n_units: usize,
        /// Components asked for.
        n_components: usize,
    },
    /// Fewer rows than the columns need.
    #[error(
        "{file}: {} for {}, where at least {needed} rows are needed; choose fewer columns, or \
         bring more data", count(*.n_rows, "row"), count(*.n_columns, "column")
    )]
    TooFewRows {
        /// The file.
        file: String,
        /// Rows.
        n_rows: usize,
        /// Columns.
        n_columns: usize,
        /// Rows needed.
        needed: usize,
    },
    /// A group with fewer rows than needed.
    #[error(
        "{file}: group `{group}` has {}, where {needed} are needed{}; leave such groups out or \
         bring more rows for them", count(*.n_rows, "row"),
        if *.others > 0 { format!(" (and {} likewise)", count(*.others, "other group")) }
        else { String::new() }
    )]
    SmallGroup {
        /// The file.
        file: String,
        /// Label of the first such group.
        group: String,
        /// Its rows.
        n_rows: usize,
        /// Rows needed.
        needed: usize,
        /// How many other groups are too small.
        others: usize,
    },
    /// A formula that cannot be read.
    #[error("formula, character {}: {message}\n{}", at + 1, caret(text, *at))]
    Formula {
        /// The formula.
        text: String,
        /// Character where it goes wrong, from 0.
        at: usize,
        /// What was expected and what was found.
        message: String,
    },
    /// A term of the formula that is not a finite number in some row.
    #[error(
        "{file}, {} {row}: `{term}` is {value}; check the values it is computed from, or change \
         the formula", unit.word()
    )]
    TermNotFinite {
        /// The file.
        file: String,
        /// How `row` is counted.
        unit: RowUnit,
        /// Where.
        row: u64,
        /// The term.
        term: String,
        /// Its value there.
        value: f64,
    },
    /// Stored sums that another formula made.
    #[error(
        "{file} holds sums of {}, which is not what the formula `{formula}` gives; use the formula of \
         the table that it comes from, or give the rows",
        quoted_list(variables)
    )]
    OtherFormula {
        /// The file.
        file: String,
        /// Names in it: the response, then the design's columns.
        variables: Vec<String>,
        /// The formula asked for.
        formula: String,
    },
    /// Values whose squares are not finite.
    #[error(
        "{file}: the squares of `{column}` add up to more than a double can hold (it goes to {value:e}); \
         change its units in the file or in the formula, as in I({column} / 1e100)"
    )]
    SquaresOverflow {
        /// The file.
        file: String,
        /// The column or term.
        column: String,
        /// Its largest value in size.
        value: f64,
    },
    /// Values so large or so close together that arithmetic on their squares loses digits.
    #[error(
        "{file}: column `{column}` goes from {least:e} to {largest:e}; squares of such numbers leave the range of a \
         double, so change its units: sizes and spread must be between {SMALLEST:e} and {LARGEST:e}"
    )]
    Scale {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// Its least value.
        least: f64,
        /// Its largest value.
        largest: f64,
    },
    /// A whole number that a double would round.
    #[error("{file}: column `{column}` holds {value}, which a double cannot hold exactly")]
    Inexact {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// The number.
        value: String,
    },
    /// A compression that was left out.
    #[error(
        "{file}: its columns are compressed with {codec}, which this version does not read; write the file again with \
         zstd, snappy, gzip or lz4"
    )]
    Codec {
        /// The file.
        file: String,
        /// Its compression.
        codec: String,
    },
    /// More than memory holds.
    #[error("{file}: {error}")]
    Memory {
        /// The file.
        file: String,
        /// Both sizes.
        error: TooLarge,
    },
    /// A file of centres whose columns do not fit.
    #[error(
        "{file}: {} ({}), but the model has {} ({}); give one column for each, in that order or \
         under those names",
        count(found.len(), "column"), quoted_list(found),
        count(expected.len(), "column"), quoted_list(expected)
    )]
    CentreColumns {
        /// The file.
        file: String,
        /// Names in the file.
        found: Vec<String>,
        /// Names of the model's columns.
        expected: Vec<String>,
    },
}

impl Advise for DataError {
    fn remedies(&self) -> Vec<Remedy> {
        match self {
            DataError::EmptyName { .. } => {
                vec![Remedy::Do("name it"), Remedy::Columns("choose others")]
            }
            DataError::NotNumeric { remedies, .. }
            | DataError::ColumnType { remedies, .. }
            | DataError::Column { remedies, .. } => remedies.to_vec(),
            DataError::Missing(cells) => cells.remedies(),
            DataError::TwoValues { .. } => vec![
                Remedy::MixedModel("categories"),
                Remedy::AsGaussian,
                Remedy::Columns("leave out what has two values"),
            ],
            DataError::AllDropped { .. } => {
                vec![Remedy::Columns("choose columns that are filled")]
            }
            DataError::TooLarge { .. } => vec![Remedy::Columns("choose columns")],
            DataError::Collinear { .. } => {
                vec![Remedy::ColumnsOrFormula("leave out one of these")]
            }
            DataError::TooFewUnits { n_units, .. } => {
                vec![Remedy::Components(*n_units), Remedy::Do("bring more data")]
            }
            DataError::ManyComponents { n_units, .. } => {
                vec![Remedy::Components(n_units / 2), Remedy::Do("bring more data")]
            }
            DataError::Inexact { .. } => vec![
                Remedy::Do("divide it by a power of two"),
                Remedy::Do("store it as double if it may be rounded"),
                Remedy::Columns("leave the column out"),
            ],
            DataError::Memory { error, .. } => error.remedies(),
            // Their remedies are the same everywhere, and part of what they say.
            _ => Vec::new(),
        }
    }
}

impl DataError {
    /// The same for data of a model that takes rows of numbers only: missing cells are no obstacle to another one.
    pub fn of_numbers_only(mut self) -> DataError {
        if let DataError::Missing(cells) = &mut self {
            cells.of_numbers_only = true;
        }
        self
    }
}
