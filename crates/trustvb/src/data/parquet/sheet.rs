//! Rows as named columns of words and numbers, and Parquet files of them read back as they were written.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use bytes::Bytes;
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::column::BATCH;
use super::write::ColumnValues;

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Words.
    Text(Vec<String>),
    /// Numbers.
    Numbers(Vec<f64>),
    /// Whole numbers.
    Integers(Vec<i32>),
}

impl Cells {
    fn values(&self) -> ColumnValues<'_> {
        match self {
            Cells::Text(x) => ColumnValues::Text(x),
            Cells::Numbers(x) => ColumnValues::Doubles(x),
            Cells::Integers(x) => ColumnValues::Integers(x),
        }
    }

    /// Takes the cells of another column behind its own; `false` if they are of another kind.
    fn append(&mut self, other: Cells) -> bool {
        match (self, other) {
            (Cells::Text(own), Cells::Text(mut more)) => own.append(&mut more),
            (Cells::Numbers(own), Cells::Numbers(mut more)) => own.append(&mut more),
            (Cells::Integers(own), Cells::Integers(mut more)) => own.append(&mut more),
            _ => return false,
        }
        true
    }
}

/// Rows as named columns of equal length. Two columns may have the same name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// Names and cells.
    pub columns: Vec<(String, Cells)>,
}

impl Sheet {
    /// Rows.
    pub fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, cells)| cells.values().len())
    }

    /// Takes the rows of another sheet behind its own; `false` if its columns are others.
    pub fn append(&mut self, other: Sheet) -> bool {
        if self.columns.is_empty() {
            *self = other;
            return true;
        }
        self.columns.len() == other.columns.len()
            && self
                .columns
                .iter_mut()
                .zip(other.columns)
                .all(|((name, own), (theirs, cells))| *name == theirs && own.append(cells))
    }

    /// The words of a column.
    pub fn words(&self, name: &str) -> Option<&[String]> {
        self.columns.iter().find_map(|(own, cells)| match cells {
            Cells::Text(words) if own == name => Some(words.as_slice()),
            _ => None,
        })
    }

    /// Its columns, to be written.
    pub(crate) fn values(&self) -> Vec<(&str, ColumnValues<'_>)> {
        self.columns.iter().map(|(name, cells)| (name.as_str(), cells.values())).collect()
    }
}

/// A file's own key–value pairs.
type Pairs = Vec<(String, String)>;

/// All columns of a file's content and its key–value pairs. What is wrong is said without the file's name.
pub(crate) fn read_sheet(content: impl Into<Bytes>) -> Result<(Sheet, Pairs), String> {
    let content = content.into();
    guarded(|| read_unguarded(content))
}

/// The key–value pairs of a Parquet file; none of what is not there or no such file.
pub(crate) fn metadata_of(path: &Path) -> Pairs {
    let read = || {
        let file = File::open(path).map_err(|error| ParquetError::External(Box::new(error)))?;
        Ok(pairs(SerializedFileReader::new(file)?.metadata()))
    };
    guarded(read).unwrap_or_default()
}

/// The decoder asserts some of what a damaged file can hold.
fn guarded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(ParquetError::General("its pages contradict its footer".into())))
        .map_err(|error| error.to_string())
}

fn pairs(metadata: &ParquetMetaData) -> Pairs {
    let pairs = metadata.file_metadata().key_value_metadata().into_iter().flatten();
    pairs.map(|pair| (pair.key.clone(), pair.value.clone().unwrap_or_default())).collect()
}

fn read_unguarded(content: Bytes) -> Result<(Sheet, Pairs), ParquetError> {
    let wrong = |what: String| Err(ParquetError::General(what));
    let reader = SerializedFileReader::new(content)?;
    let metadata = reader.metadata();
    let schema = metadata.file_metadata().schema_descr_ptr();
    let mut sheet = Sheet::default();
    for index in 0..reader.num_row_groups() {
        let group = reader.get_row_group(index)?;
        let mut own = Sheet::default();
        for (leaf, column) in schema.columns().iter().enumerate() {
            let cells = match group.get_column_reader(leaf)? {
                ColumnReader::DoubleColumnReader(mut reader) => {
                    let mut values = Vec::new();
                    while reader.read_records(BATCH, None, None, &mut values)?.0 > 0 {}
                    Cells::Numbers(values)
                }
                ColumnReader::Int32ColumnReader(mut reader) => {
                    let mut values = Vec::new();
                    while reader.read_records(BATCH, None, None, &mut values)?.0 > 0 {}
                    Cells::Integers(values)
                }
                ColumnReader::ByteArrayColumnReader(mut reader) => {
                    let mut values: Vec<ByteArray> = Vec::new();
                    while reader.read_records(BATCH, None, None, &mut values)?.0 > 0 {}
                    let words = values.iter().map(|word| word.as_utf8().map(str::to_owned));
                    Cells::Text(words.collect::<Result<_, _>>()?)
                }
                _ => return wrong(format!("`{}` is of another type", column.name())),
            };
            own.columns.push((column.name().to_owned(), cells));
        }
        let n_rows = own.n_rows();
        if own.columns.iter().any(|(_, cells)| cells.values().len() != n_rows) {
            return wrong("columns of unequal length".to_owned());
        }
        sheet.append(own);
    }
    Ok((sheet, pairs(metadata)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::parquet::{RowGroups, parquet_bytes};

    fn rows(words: &[&str], numbers: &[f64]) -> Sheet {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let whole = numbers.iter().map(|x| *x as i32).collect();
        let columns = [
            ("rows", Cells::Text(words)),
            ("x", Cells::Numbers(numbers.to_vec())),
            ("rows", Cells::Integers(whole)),
        ];
        Sheet { columns: columns.map(|(name, cells)| (name.to_owned(), cells)).to_vec() }
    }

    #[test]
    fn a_sheet_comes_back_as_it_was_written() {
        let sheet = rows(&["B, wet", "", " ü "], &[1.5, -0.0, 3e300]);
        let content = parquet_bytes(&sheet.values(), &[("who", "me".to_owned())]).unwrap();
        let (read, pairs) = read_sheet(content).unwrap();
        assert_eq!(read, sheet);
        assert_eq!(pairs, [("who".to_owned(), "me".to_owned())]);
        assert_eq!(read.words("rows").unwrap()[0], "B, wet");
        assert!(read_sheet(b"PAR1 and nothing else PAR1".to_vec()).is_err());
    }

    #[test]
    fn row_groups_are_one_sheet() {
        let (first, second) = (rows(&["a"], &[1.0]), rows(&["b", "c"], &[2.0, 3.0]));
        let mut file = RowGroups::begin(&first.values(), &[], Vec::new()).unwrap();
        file.write(&first.values()).unwrap();
        file.write(&second.values()).unwrap();
        let (read, _) = read_sheet(file.finish().unwrap()).unwrap();
        let mut all = first;
        assert!(all.append(second));
        assert_eq!(read, all);
        assert!(!all.append(Sheet { columns: vec![("x".to_owned(), Cells::Text(Vec::new()))] }));
    }
}
