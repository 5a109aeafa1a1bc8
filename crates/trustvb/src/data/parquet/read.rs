//! Reads flat numeric and text columns of a Parquet file.

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use parquet::basic::{ConvertedType, LogicalType, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use crate::data::dataset::{Dataset, check_size};
use crate::data::error::DataError;
use crate::data::frame::{Column, Frame, RowNumbers, TextBuilder};
use crate::data::missing::{BadCell, MissingCells, RowUnit};
use crate::data::read::ReadOptions;
use crate::data::select::{Choice, select};

/// Values decoded at a time.
const BATCH: usize = 1 << 14;

/// Reads the wanted columns of an open Parquet file; `name` stands for it in messages.
pub(in crate::data) fn read_parquet<R: ChunkReader + 'static>(
    file: R,
    name: &str,
    options: &ReadOptions<'_>,
) -> Result<Frame, DataError> {
    // The decoder checks most of what a damaged file can hold, but asserts some of it; a bad file
    // is the user's trouble and must come back as an error all the same.
    catch_unwind(AssertUnwindSafe(|| read_checked(file, name, options)))
        .unwrap_or_else(|_| Err(corrupt(name, "its pages contradict its footer")))
}

/// Reads columns of doubles and 32-bit integers (both given as doubles, NaN allowed), which must
/// all be there, in the order of `names`; `file` stands for the content in messages.
pub(crate) fn read_table(
    content: Vec<u8>,
    file: &str,
    names: &[String],
) -> Result<Vec<Vec<f64>>, DataError> {
    let read = || -> Result<Vec<Vec<f64>>, ParquetError> {
        let reader = SerializedFileReader::new(Bytes::from(content))?;
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let mut columns = vec![Vec::new(); names.len()];
        for index in 0..reader.num_row_groups() {
            let group = reader.get_row_group(index)?;
            for (column, name) in columns.iter_mut().zip(names) {
                let leaf = (0..schema.num_columns())
                    .find(|&leaf| schema.column(leaf).name() == name)
                    .ok_or_else(|| ParquetError::General(format!("no column `{name}`")))?;
                match group.get_column_reader(leaf)? {
                    ColumnReader::DoubleColumnReader(mut reader) => {
                        while reader.read_records(BATCH, None, None, column)?.0 > 0 {}
                    }
                    ColumnReader::Int32ColumnReader(mut reader) => {
                        let mut integers = Vec::new();
                        while reader.read_records(BATCH, None, None, &mut integers)?.0 > 0 {}
                        column.extend(integers.into_iter().map(f64::from));
                    }
                    _ => return Err(ParquetError::General(format!("`{name}` is of another type"))),
                }
            }
        }
        let rows = usize::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or(0);
        match columns.iter().all(|c| c.len() == rows) {
            true => Ok(columns),
            false => Err(ParquetError::General("columns of unequal length".to_owned())),
        }
    };
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(ParquetError::General("its pages contradict its footer".into())))
        .map_err(|error| corrupt(file, error))
}

/// Reads a whole data set that is in memory.
pub(crate) fn read_dataset(content: Vec<u8>, file: &str) -> Result<Dataset, DataError> {
    read_parquet(Bytes::from(content), file, &ReadOptions::default())?.into_dataset()
}

fn corrupt(file: &str, reason: impl ToString) -> DataError {
    DataError::Corrupt { file: file.to_owned(), reason: reason.to_string() }
}

fn read_checked<R: ChunkReader + 'static>(
    file: R,
    name: &str,
    options: &ReadOptions<'_>,
) -> Result<Frame, DataError> {
    let damaged = |error: ParquetError| corrupt(name, error);
    let reader = SerializedFileReader::new(file).map_err(damaged)?;
    let metadata = reader.metadata();
    let schema = metadata.file_metadata().schema_descr();
    let fields = schema.root_schema().get_fields();
    let header: Vec<String> = fields.iter().map(|field| field.name().trim().to_owned()).collect();
    if header.is_empty() {
        return Err(DataError::Empty { file: name.to_owned() });
    }
    let choices = select(&header, options, name)?;

    let mut columns = Vec::with_capacity(choices.len());
    for choice in choices {
        let leaf = (0..schema.num_columns())
            .find(|&leaf| schema.get_column_root_idx(leaf) == choice.position)
            .ok_or_else(|| corrupt(name, format!("column `{}` has no values", choice.name)))?;
        let descriptor = schema.column(leaf);
        let kind =
            column_kind(&descriptor, &choice).map_err(|(found, remedy)| DataError::ColumnType {
                file: name.to_owned(),
                column: choice.name.clone(),
                found,
                remedy,
            })?;
        columns.push(ColumnBuilder::new(choice, leaf, kind));
    }

    let total_bytes: u64 = metadata
        .row_groups()
        .iter()
        .flat_map(|group| columns.iter().filter_map(|c| group.columns().get(c.leaf)))
        .map(|chunk| u64::try_from(chunk.compressed_size()).unwrap_or(0))
        .fold(0, u64::saturating_add);
    let mut done_bytes = 0_u64;
    let mut n_rows = 0_usize;
    for index in 0..metadata.num_row_groups() {
        let group = reader.get_row_group(index).map_err(damaged)?;
        let group_rows = usize::try_from(metadata.row_group(index).num_rows())
            .map_err(|_| corrupt(name, "a row group with a negative number of rows"))?;
        let end = n_rows.checked_add(group_rows).ok_or_else(|| corrupt(name, "too many rows"))?;
        for column in &mut columns {
            let chunk = group.get_column_reader(column.leaf).map_err(damaged)?;
            column.read_chunk(chunk, name)?;
            if column.n_rows != end {
                let reason = format!(
                    "column `{}` holds {} rows where the footer counts {end}",
                    column.choice.name, column.n_rows
                );
                return Err(corrupt(name, reason));
            }
            let size = group.metadata().column(column.leaf).compressed_size();
            done_bytes = done_bytes.saturating_add(u64::try_from(size).unwrap_or(0));
            if let Some(progress) = options.progress {
                progress(done_bytes, total_bytes);
            }
        }
        n_rows = end;
    }
    if n_rows == 0 {
        return Err(DataError::HeaderOnly { file: name.to_owned(), n_columns: header.len() });
    }
    check_size(name, n_rows, columns.len())?;
    finish(columns, n_rows, name, options.drop_missing)
}

/// How a column's values are stored and to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Signed,
    Unsigned,
    Plain,
}

/// Refuses what is neither number nor text, with the type's name and the remedy.
fn column_kind(
    descriptor: &ColumnDescriptor,
    choice: &Choice,
) -> Result<Kind, (String, &'static str)> {
    if descriptor.path().parts().len() > 1 || descriptor.max_rep_level() > 0 {
        return Err((
            "nested or repeated".to_owned(),
            "only flat columns can be read: leave it out with --columns, or flatten it",
        ));
    }
    const REMEDY: &str = "convert it to double or integer, or leave it out with --columns";
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
            _ => Err((described, REMEDY)),
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
                    "it holds text: code it as numbers, or leave it out with --columns",
                )),
                (false, _) => Err((described, REMEDY)),
            }
        }
        PhysicalType::INT96 | PhysicalType::FIXED_LEN_BYTE_ARRAY => Err((described, REMEDY)),
    }
}

/// A column as it grows; missing cells hold NaN or an empty text until the rows are sorted out.
struct ColumnBuilder {
    choice: Choice,
    leaf: usize,
    kind: Kind,
    n_rows: usize,
    numbers: Vec<f64>,
    texts: TextBuilder,
    /// Rows without a value, from 0.
    missing: Vec<usize>,
    /// What the first of them hold.
    shown: Vec<String>,
}

impl ColumnBuilder {
    fn new(choice: Choice, leaf: usize, kind: Kind) -> Self {
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

    fn read_chunk(&mut self, chunk: ColumnReader, file: &str) -> Result<(), DataError> {
        let unsigned = self.kind == Kind::Unsigned;
        if self.choice.text {
            return match chunk {
                ColumnReader::BoolColumnReader(r) => self.texts_of(r, file, |v| Ok(v.to_string())),
                ColumnReader::Int32ColumnReader(r) => self.texts_of(r, file, |v| {
                    Ok(if unsigned { (*v as u32).to_string() } else { v.to_string() })
                }),
                ColumnReader::Int64ColumnReader(r) => self.texts_of(r, file, |v| {
                    Ok(if unsigned { (*v as u64).to_string() } else { v.to_string() })
                }),
                ColumnReader::FloatColumnReader(r) => self.texts_of(r, file, |v| Ok(v.to_string())),
                ColumnReader::DoubleColumnReader(r) => {
                    self.texts_of(r, file, |v| Ok(v.to_string()))
                }
                ColumnReader::ByteArrayColumnReader(r) => self.texts_of(r, file, |v| {
                    v.as_utf8().map(|text| text.trim().to_owned()).map_err(|_| ())
                }),
                _ => Err(corrupt(file, "a column changes its type")),
            };
        }
        match chunk {
            ColumnReader::BoolColumnReader(r) => {
                self.numbers_of(r, file, |v| f64::from(u8::from(*v)))
            }
            ColumnReader::Int32ColumnReader(r) => self.numbers_of(r, file, |v| {
                if unsigned { f64::from(*v as u32) } else { f64::from(*v) }
            }),
            ColumnReader::Int64ColumnReader(r) => {
                self.numbers_of(r, file, |v| if unsigned { *v as u64 as f64 } else { *v as f64 })
            }
            ColumnReader::FloatColumnReader(r) => self.numbers_of(r, file, |v| f64::from(*v)),
            ColumnReader::DoubleColumnReader(r) => self.numbers_of(r, file, |v| *v),
            _ => Err(corrupt(file, "a column changes its type")),
        }
    }

    fn numbers_of<T: DataType>(
        &mut self,
        reader: ColumnReaderImpl<T>,
        file: &str,
        convert: impl Fn(&T::T) -> f64,
    ) -> Result<(), DataError> {
        each_value(reader, file, |value| {
            let number = value.map_or(f64::NAN, &convert);
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
        reader: ColumnReaderImpl<T>,
        file: &str,
        convert: impl Fn(&T::T) -> Result<String, ()>,
    ) -> Result<(), DataError> {
        each_value(reader, file, |value| {
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

    fn note_missing(&mut self, text: Option<String>) {
        self.missing.push(self.n_rows);
        if self.shown.len() < MissingCells::SHOWN {
            self.shown.push(text.unwrap_or_else(|| "null".to_owned()));
        }
    }
}

/// Calls `take` with each value of a chunk in turn, `None` for a null.
fn each_value<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    file: &str,
    mut take: impl FnMut(Option<&T::T>) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let (mut values, mut levels) = (Vec::with_capacity(BATCH), Vec::new());
    loop {
        values.clear();
        levels.clear();
        let (n_records, n_values, _) = reader
            .read_records(BATCH, Some(&mut levels), None, &mut values)
            .map_err(|error| corrupt(file, error))?;
        if n_records == 0 {
            return Ok(());
        }
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

/// Reports or drops rows with missing cells, and assembles the frame.
fn finish(
    columns: Vec<ColumnBuilder>,
    n_rows: usize,
    file: &str,
    drop_missing: bool,
) -> Result<Frame, DataError> {
    let mut bad_rows: Vec<usize> = columns.iter().flat_map(|c| &c.missing).copied().collect();
    let n_cells = bad_rows.len();
    bad_rows.sort_unstable();
    bad_rows.dedup();
    if n_cells > 0 && !drop_missing {
        let mut first: Vec<BadCell> = columns
            .iter()
            .flat_map(|column| {
                column.missing.iter().zip(&column.shown).map(|(&row, text)| BadCell {
                    row: row as u64 + 1,
                    column: column.choice.name.clone(),
                    text: text.clone(),
                })
            })
            .collect();
        first.sort_by_key(|cell| cell.row);
        first.truncate(MissingCells::SHOWN);
        return Err(DataError::Missing(Box::new(MissingCells {
            file: file.to_owned(),
            unit: RowUnit::Row,
            first,
            n_cells,
            n_rows: bad_rows.len(),
        })));
    }
    if bad_rows.len() == n_rows {
        return Err(DataError::AllDropped { file: file.to_owned(), n_rows });
    }
    let mut kept = vec![true; n_rows];
    bad_rows.iter().for_each(|&row| kept[row] = false);
    let mut rows = RowNumbers::default();
    (0..n_rows).filter(|&row| kept[row]).for_each(|row| rows.push(row as u64 + 1));
    let columns = columns
        .into_iter()
        .map(|mut column| {
            let built = if column.choice.text {
                Column::Text(column.texts.finish().filtered(&kept))
            } else {
                let mut row = 0;
                column.numbers.retain(|_| {
                    row += 1;
                    kept[row - 1]
                });
                Column::Numeric(column.numbers)
            };
            (column.choice.name, built)
        })
        .collect();
    let dropped = bad_rows.iter().map(|&row| row as u64 + 1).collect();
    Ok(Frame::assemble(file, RowUnit::Row, columns, rows, dropped))
}
