//! Writes columns as Parquet so that a reader sees the whole file or none of it.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{
    Compression, ConvertedType, Encoding, Repetition, Type as PhysicalType, ZstdLevel,
};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};

use crate::data::dataset::Dataset;
use crate::data::error::DataError;
use crate::data::replace::replace_file;

/// Rows in a row group: 8 MB of doubles for each column.
const ROW_GROUP: usize = 1 << 20;

/// A column to be written.
#[derive(Clone, Copy, Debug)]
pub enum ColumnValues<'a> {
    /// Doubles, stored byte-stream split.
    Doubles(&'a [f64]),
    /// 32-bit integers.
    Integers(&'a [i32]),
    /// Words, stored with a dictionary.
    Text(&'a [String]),
}

impl ColumnValues<'_> {
    /// Rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            ColumnValues::Doubles(x) => x.len(),
            ColumnValues::Integers(x) => x.len(),
            ColumnValues::Text(x) => x.len(),
        }
    }
}

/// Writes a data set's columns as doubles, whole or not at all.
pub fn write_parquet(dataset: &Dataset, path: &Path) -> Result<(), DataError> {
    write_columns_parquet(&columns_of(dataset), path)
}

/// The Parquet file of a data set's columns, in memory.
pub(crate) fn dataset_bytes(dataset: &Dataset) -> io::Result<Vec<u8>> {
    parquet_bytes(&columns_of(dataset), &[])
}

/// Writes named columns of equal length as a Parquet file, whole or not at all.
pub fn write_columns_parquet(
    columns: &[(&str, ColumnValues<'_>)],
    path: &Path,
) -> Result<(), DataError> {
    replace_file(path, |file| write_columns(columns, &[], file).map_err(to_io))
        .map_err(|source| DataError::Write { file: path.display().to_string(), source })
}

fn columns_of(dataset: &Dataset) -> Vec<(&str, ColumnValues<'_>)> {
    let values = (0..dataset.names().len()).map(|j| ColumnValues::Doubles(dataset.column(j)));
    dataset.names().iter().map(String::as_str).zip(values).collect()
}

/// The Parquet file of named columns of equal length and of key–value pairs, in memory.
pub(crate) fn parquet_bytes(
    columns: &[(&str, ColumnValues<'_>)],
    metadata: &[(&str, String)],
) -> io::Result<Vec<u8>> {
    write_columns(columns, metadata, Vec::new()).map_err(to_io)
}

fn to_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(inner) => *inner,
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    }
}

fn write_columns<W: Write + Send>(
    columns: &[(&str, ColumnValues<'_>)],
    metadata: &[(&str, String)],
    file: W,
) -> Result<W, ParquetError> {
    let mut writer = begin(columns, metadata, file)?;
    let n_rows = columns.first().map_or(0, |(_, values)| values.len());
    for start in (0..n_rows).step_by(ROW_GROUP) {
        write_group(&mut writer, columns, start..(start + ROW_GROUP).min(n_rows))?;
    }
    writer.into_inner()
}

/// A Parquet file that grows by row groups, so that its rows need never be in memory together.
pub(crate) struct RowGroups<W: Write + Send>(SerializedFileWriter<W>);

impl<W: Write + Send> RowGroups<W> {
    /// Begins a file of columns with these names and types; their values are not written.
    pub(crate) fn begin(
        columns: &[(&str, ColumnValues<'_>)],
        metadata: &[(&str, String)],
        file: W,
    ) -> io::Result<RowGroups<W>> {
        begin(columns, metadata, file).map(RowGroups).map_err(to_io)
    }

    /// Writes rows as a group of their own.
    pub(crate) fn write(&mut self, columns: &[(&str, ColumnValues<'_>)]) -> io::Result<()> {
        let n_rows = columns.first().map_or(0, |(_, values)| values.len());
        write_group(&mut self.0, columns, 0..n_rows).map_err(to_io)
    }

    /// Ends the file.
    pub(crate) fn finish(self) -> io::Result<W> {
        self.0.into_inner().map_err(to_io)
    }
}

/// Begins a file with the schema of these columns.
fn begin<W: Write + Send>(
    columns: &[(&str, ColumnValues<'_>)],
    metadata: &[(&str, String)],
    file: W,
) -> Result<SerializedFileWriter<W>, ParquetError> {
    let mut fields = Vec::with_capacity(columns.len());
    let mut properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("trustvb ", env!("CARGO_PKG_VERSION")).to_owned());
    if !metadata.is_empty() {
        let pairs =
            metadata.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()));
        properties = properties.set_key_value_metadata(Some(pairs.collect()));
    }
    for (name, values) in columns {
        let physical = match values {
            ColumnValues::Doubles(_) => {
                let column = ColumnPath::new(vec![(*name).to_owned()]);
                properties = properties.set_column_encoding(column, Encoding::BYTE_STREAM_SPLIT);
                PhysicalType::DOUBLE
            }
            ColumnValues::Integers(_) => PhysicalType::INT32,
            ColumnValues::Text(_) => {
                let column = ColumnPath::new(vec![(*name).to_owned()]);
                properties = properties.set_column_dictionary_enabled(column, true);
                PhysicalType::BYTE_ARRAY
            }
        };
        let text = matches!(values, ColumnValues::Text(_));
        let field = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_converted_type(if text { ConvertedType::UTF8 } else { ConvertedType::NONE })
            .build()?;
        fields.push(Arc::new(field));
    }
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
    SerializedFileWriter::new(file, schema, Arc::new(properties.build()))
}

/// Writes some rows as a row group.
fn write_group<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    columns: &[(&str, ColumnValues<'_>)],
    range: Range<usize>,
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for (_, values) in columns {
        let Some(mut column) = group.next_column()? else { break };
        match values {
            ColumnValues::Doubles(x) => {
                column.typed::<DoubleType>().write_batch(&x[range.clone()], None, None)?
            }
            ColumnValues::Integers(x) => {
                column.typed::<Int32Type>().write_batch(&x[range.clone()], None, None)?
            }
            ColumnValues::Text(x) => {
                let words: Vec<ByteArray> =
                    x[range.clone()].iter().map(|word| word.as_str().into()).collect();
                column.typed::<ByteArrayType>().write_batch(&words, None, None)?
            }
        };
        column.close()?;
    }
    group.close()?;
    Ok(())
}
