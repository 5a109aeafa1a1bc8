//! One column of a Parquet file: which types are taken, and how its values grow.

use std::mem;

use parquet::basic::{ConvertedType, LogicalType, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::schema::types::ColumnDescriptor;

use crate::data::error::DataError;
use crate::data::frame::{Column, TextBuilder};
use crate::data::missing::{MissingCells, RowUnit};
use crate::data::select::Choice;
use crate::remedy::Remedy;

/// Values decoded at a time.
pub(super) const BATCH: usize = 1 << 14;

pub(super) fn corrupt(file: &str, reason: impl ToString) -> DataError {
    DataError::Corrupt { file: file.to_owned(), reason: reason.to_string() }
}

/// How a column's values are stored and to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Signed,
    Unsigned,
    Plain,
}

/// Refuses what is neither number nor text, with the type's name and the remedy.
pub(super) fn column_kind(
    descriptor: &ColumnDescriptor,
    choice: &Choice,
) -> Result<Kind, (String, &'static [Remedy])> {
    if descriptor.path().parts().len() > 1 || descriptor.max_rep_level() > 0 {
        return Err((
            "nested or repeated".to_owned(),
            &[
                Remedy::Columns("only flat columns can be read: leave it out"),
                Remedy::Do("flatten it"),
            ],
        ));
    }
    const REMEDIES: &[Remedy] =
        &[Remedy::Do("convert it to double or integer"), Remedy::Columns("leave it out")];
    let physical = descriptor.physical_type();
    let logical = descriptor.logical_type_ref();
    let converted = descriptor.converted_type();
    let described = match (logical, converted) {
        (Some(logical), _) => format!("{logical:?}"),
        (None, ConvertedType::NONE) => physical.to_string(),
        (None, converted) => converted.to_string(),
    };
    match physical {
        PhysicalType::BOOLEAN | PhysicalType::FLOAT | PhysicalType::DOUBLE => Ok(Kind::Plain),
        PhysicalType::INT32 | PhysicalType::INT64 => match (logical, converted) {
            (Some(LogicalType::Integer(integer)), _) if !integer.is_signed => Ok(Kind::Unsigned),
            (Some(LogicalType::Integer(_)), _) => Ok(Kind::Signed),
            (
                None,
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64,
            ) => Ok(Kind::Unsigned),
            (
                None,
                ConvertedType::NONE
                | ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64,
            ) => Ok(Kind::Signed),
            _ => Err((described, REMEDIES)),
        },
        PhysicalType::BYTE_ARRAY => {
            let is_text = match logical {
                Some(logical) => matches!(logical, LogicalType::String | LogicalType::Enum),
                None => matches!(
                    converted,
                    ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::ENUM
                ),
            };
            match (is_text, choice.text) {
                (true, true) => Ok(Kind::Plain),
                (true, false) => Err((
                    described,
                    &[
                        Remedy::Do("it holds text: code it as numbers"),
                        Remedy::Columns("leave it out"),
                        Remedy::MixedModel("text"),
                    ],
                )),
                (false, _) => Err((described, REMEDIES)),
            }
        }
        PhysicalType::INT96 | PhysicalType::FIXED_LEN_BYTE_ARRAY => Err((described, REMEDIES)),
    }
}

/// A column as it grows; missing cells hold NaN or an empty text until the rows are sorted out.
pub(super) struct ColumnBuilder {
    pub(super) choice: Choice,
    pub(super) leaf: usize,
    kind: Kind,
    /// Rows read so far.
    pub(super) n_rows: usize,
    numbers: Vec<f64>,
    texts: TextBuilder,
    /// Rows of the file without a value, from 0.
    pub(super) missing: Vec<usize>,
    /// What the first of them hold.
    pub(super) shown: Vec<String>,
}

impl ColumnBuilder {
    pub(super) fn new(choice: Choice, leaf: usize, kind: Kind) -> Self {
        ColumnBuilder {
            choice,
            leaf,
            kind,
            n_rows: 0,
            numbers: Vec::new(),
            texts: TextBuilder::default(),
            missing: Vec::new(),
            shown: Vec::new(),
        }
    }

    /// Reads up to `limit` rows.
    pub(super) fn read_chunk(
        &mut self,
        chunk: &mut ColumnReader,
        limit: usize,
        file: &str,
    ) -> Result<(), DataError> {
        let unsigned = self.kind == Kind::Unsigned;
        if self.choice.text {
            return match chunk {
                ColumnReader::BoolColumnReader(r) => {
                    self.texts_of(r, limit, file, |v| Ok(v.to_string()))
                }
                ColumnReader::Int32ColumnReader(r) => self.texts_of(r, limit, file, |v| {
                    Ok(if unsigned { (*v as u32).to_string() } else { v.to_string() })
                }),
                ColumnReader::Int64ColumnReader(r) => self.texts_of(r, limit, file, |v| {
                    Ok(if unsigned { (*v as u64).to_string() } else { v.to_string() })
                }),
                ColumnReader::FloatColumnReader(r) => {
                    self.texts_of(r, limit, file, |v| Ok(v.to_string()))
                }
                ColumnReader::DoubleColumnReader(r) => {
                    self.texts_of(r, limit, file, |v| Ok(v.to_string()))
                }
                ColumnReader::ByteArrayColumnReader(r) => self.texts_of(r, limit, file, |v| {
                    v.as_utf8().map(|text| text.trim().to_owned()).map_err(|_| ())
                }),
                _ => Err(corrupt(file, "a column changes its type")),
            };
        }
        match chunk {
            ColumnReader::BoolColumnReader(r) => {
                self.numbers_of(r, limit, file, |v| f64::from(u8::from(*v)))
            }
            ColumnReader::Int32ColumnReader(r) => self.numbers_of(r, limit, file, |v| {
                if unsigned { f64::from(*v as u32) } else { f64::from(*v) }
            }),
            ColumnReader::Int64ColumnReader(r) => {
                let mut rounded = None;
                self.numbers_of(r, limit, file, |v| {
                    let x = if unsigned { *v as u64 as f64 } else { *v as f64 };
                    // In a wider type, where the largest numbers do not come back by saturation.
                    let given = if unsigned { i128::from(*v as u64) } else { i128::from(*v) };
                    let exact = x as i128 == given;
                    if !exact && rounded.is_none() {
                        let value = if unsigned { (*v as u64).to_string() } else { v.to_string() };
                        rounded = Some(value);
                    }
                    x
                })?;
                match rounded {
                    None => Ok(()),
                    Some(value) => {
                        let (file, column) = (file.to_owned(), self.choice.name.clone());
                        Err(DataError::Inexact { file, column, value })
                    }
                }
            }
            ColumnReader::FloatColumnReader(r) => {
                self.numbers_of(r, limit, file, |v| f64::from(*v))
            }
            ColumnReader::DoubleColumnReader(r) => self.numbers_of(r, limit, file, |v| *v),
            _ => Err(corrupt(file, "a column changes its type")),
        }
    }

    fn numbers_of<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        limit: usize,
        file: &str,
        mut convert: impl FnMut(&T::T) -> f64,
    ) -> Result<(), DataError> {
        each_value(reader, limit, file, |value| {
            let number = value.map_or(f64::NAN, &mut convert);
            if !number.is_finite() {
                self.note_missing(value.map(|_| number.to_string()));
            }
            self.numbers.push(number);
            self.n_rows += 1;
            Ok(())
        })
    }

    fn texts_of<T: DataType>(
        &mut self,
        reader: &mut ColumnReaderImpl<T>,
        limit: usize,
        file: &str,
        convert: impl Fn(&T::T) -> Result<String, ()>,
    ) -> Result<(), DataError> {
        each_value(reader, limit, file, |value| {
            let text = match value.map(&convert) {
                Some(Err(())) => {
                    return Err(DataError::NotUtf8 {
                        file: file.to_owned(),
                        unit: RowUnit::Row,
                        row: self.n_rows as u64 + 1,
                        column: format!("`{}`", self.choice.name),
                    });
                }
                Some(Ok(text)) => Some(text),
                None => None,
            };
            if text.as_ref().is_none_or(|text| text.is_empty() || text == "NaN") {
                self.note_missing(text.clone());
            }
            if !self.texts.push(text.as_deref().unwrap_or("")) {
                return Err(corrupt(file, "more distinct texts than can be counted"));
            }
            self.n_rows += 1;
            Ok(())
        })
    }

    /// The kept ones of the rows since the last call.
    pub(super) fn take(&mut self, kept: &[bool]) -> (String, Column) {
        let built = if self.choice.text {
            Column::Text(mem::take(&mut self.texts).finish().filtered(kept))
        } else {
            let mut numbers = mem::take(&mut self.numbers);
            let mut row = 0;
            numbers.retain(|_| {
                row += 1;
                kept[row - 1]
            });
            Column::Numeric(numbers)
        };
        (self.choice.name.clone(), built)
    }

    fn note_missing(&mut self, text: Option<String>) {
        self.missing.push(self.n_rows);
        if self.shown.len() < MissingCells::SHOWN {
            self.shown.push(text.unwrap_or_else(|| "null".to_owned()));
        }
    }
}

/// Calls `take` with each of up to `limit` values of a chunk in turn, `None` for a null.
fn each_value<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    limit: usize,
    file: &str,
    mut take: impl FnMut(Option<&T::T>) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let (mut values, mut levels) = (Vec::with_capacity(BATCH), Vec::new());
    let mut left = limit;
    loop {
        values.clear();
        levels.clear();
        let (n_records, n_values, _) = reader
            .read_records(left.min(BATCH), Some(&mut levels), None, &mut values)
            .map_err(|error| corrupt(file, error))?;
        if n_records == 0 {
            return Ok(());
        }
        left -= n_records;
        if levels.is_empty() {
            values.iter().try_for_each(|value| take(Some(value)))?;
        } else {
            // A flat column has one level above null.
            let mut present = values[..n_values].iter();
            for &level in &levels {
                if level == 0 {
                    take(None)?;
                } else {
                    let value = present.next();
                    take(Some(value.ok_or_else(|| corrupt(file, "fewer values than levels"))?))?;
                }
            }
        }
    }
}
