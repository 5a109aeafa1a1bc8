//! Reads flat numeric and text columns of a Parquet file.

use std::collections::HashMap;
use std::fs::File;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};

use super::arrow::durations;
use super::column::{BATCH, ColumnBuilder, column_kind, corrupt};
use crate::data::dataset::{Dataset, check_size};
use crate::data::error::DataError;
use crate::data::frame::{Frame, RowNumbers};
use crate::data::missing::{BadCell, MissingCells, RowUnit};
use crate::data::read::ReadOptions;
use crate::data::select::select;
use crate::memory;
use crate::remedy::Remedy;

/// Rows that room is made for before they are read: a footer may be wrong.
const ROWS_AT_FIRST: usize = 1 << 20;

/// Reads the wanted columns of an open Parquet file; `name` stands for it in messages.
pub(in crate::data) fn read_parquet<R: ChunkReader + 'static>(
    file: R,
    name: &str,
    options: &ReadOptions<'_>,
) -> Result<Frame, DataError> {
    let mut rows = ParquetRows::open(file, name, options)?;
    let n_rows = rows.reader.metadata().file_metadata().num_rows();
    let bytes = 8.0 * n_rows as f64 * rows.columns.len() as f64;
    let what = format!("{n_rows} rows of {} columns", rows.columns.len());
    memory::check(&what, bytes, &[Remedy::Columns("choose columns"), Remedy::Stream])
        .map_err(|error| DataError::Memory { file: name.to_owned(), error })?;
    let frame = rows.piece(usize::MAX)?;
    check_size(name, rows.n_rows, rows.columns.len())?;
    let n_columns = rows.n_columns;
    frame.ok_or_else(|| DataError::HeaderOnly { file: name.to_owned(), n_columns })
}

/// Refuses a file whose compression is none that can be read here.
fn check_codecs(metadata: &ParquetMetaData, name: &str) -> Result<(), DataError> {
    let chunks = metadata.row_groups().iter().flat_map(|group| group.columns());
    match chunks.map(|chunk| chunk.compression()).find(|codec| !is_known(codec)) {
        None => Ok(()),
        Some(codec) => {
            let codec = format!("{codec:?}").split('(').next().unwrap_or_default().to_owned();
            Err(DataError::Codec { file: name.to_owned(), codec })
        }
    }
}

/// Compressions that are built in.
fn is_known(codec: &Compression) -> bool {
    use Compression::{GZIP, LZ4, LZ4_RAW, SNAPPY, UNCOMPRESSED, ZSTD};
    matches!(codec, UNCOMPRESSED | SNAPPY | GZIP(_) | LZ4 | LZ4_RAW | ZSTD(_))
}

/// The decoder checks most of what a damaged file can hold, but asserts some of it; a bad file is the
/// user's trouble and must come back as an error all the same.
fn guarded<T>(name: &str, read: impl FnOnce() -> Result<T, DataError>) -> Result<T, DataError> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(corrupt(name, "its pages contradict its footer")))
}

/// Columns, and the file's own key–value pairs.
pub(crate) type ColumnsAndMetadata = (Vec<Vec<f64>>, Vec<(String, String)>);

/// Reads columns of doubles and 32-bit integers (both given as doubles, NaN allowed) from a file's content. They must
/// all be there and have `n_rows` rows; the footer is asked before anything is decoded. They come in the
/// order of `names`; what is wrong is said without the file's name.
pub(crate) fn read_columns(
    content: Bytes,
    names: &[String],
    n_rows: usize,
) -> Result<ColumnsAndMetadata, String> {
    let read = || read_columns_unguarded(content, names, n_rows);
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(ParquetError::General("its pages contradict its footer".into())))
        .map_err(|error| error.to_string())
}

fn read_columns_unguarded(
    content: Bytes,
    names: &[String],
    n_rows: usize,
) -> Result<ColumnsAndMetadata, ParquetError> {
    let wrong = |what: String| Err(ParquetError::General(what));
    let reader = SerializedFileReader::new(content)?;
    let metadata = reader.metadata();
    let found = metadata.file_metadata().num_rows();
    if usize::try_from(found) != Ok(n_rows) {
        return wrong(format!("it has {found} rows where {n_rows} are expected"));
    }
    let schema = metadata.file_metadata().schema_descr_ptr();
    let leaves: HashMap<&str, usize> =
        schema.columns().iter().enumerate().map(|(leaf, column)| (column.name(), leaf)).collect();
    let mut columns: Vec<Vec<f64>> =
        names.iter().map(|_| Vec::with_capacity(n_rows.min(ROWS_AT_FIRST))).collect();
    let mut integers = Vec::new();
    for index in 0..reader.num_row_groups() {
        let group = reader.get_row_group(index)?;
        for (column, name) in columns.iter_mut().zip(names) {
            let Some(&leaf) = leaves.get(name.as_str()) else {
                return wrong(format!("no column `{name}`"));
            };
            match group.get_column_reader(leaf)? {
                ColumnReader::DoubleColumnReader(mut reader) => {
                    while reader.read_records(BATCH, None, None, column)?.0 > 0 {
                        if column.len() > n_rows {
                            return wrong(format!("`{name}` has more rows than its footer says"));
                        }
                    }
                }
                ColumnReader::Int32ColumnReader(mut reader) => {
                    integers.clear();
                    while reader.read_records(BATCH, None, None, &mut integers)?.0 > 0 {
                        if integers.len() > n_rows {
                            return wrong(format!("`{name}` has more rows than its footer says"));
                        }
                    }
                    column.extend(integers.iter().map(|&i| f64::from(i)));
                }
                _ => return wrong(format!("`{name}` is of another type")),
            }
        }
    }
    if columns.iter().any(|column| column.len() != n_rows) {
        return wrong("columns of unequal length".to_owned());
    }
    let pairs = metadata.file_metadata().key_value_metadata().into_iter().flatten();
    let pairs = pairs.map(|pair| (pair.key.clone(), pair.value.clone().unwrap_or_default()));
    Ok((columns, pairs.collect()))
}

/// Reads a whole data set from a file's content; `file` stands for it in messages.
pub(crate) fn read_dataset_in(content: Vec<u8>, file: &str) -> Result<Dataset, DataError> {
    let options = ReadOptions { keep_missing: true, ..ReadOptions::default() };
    read_parquet(Bytes::from(content), file, &options)?.into_dataset()
}

/// An open Parquet file, to be read in pieces.
pub(in crate::data) struct ParquetRows<'a, R: ChunkReader + 'static = File> {
    name: String,
    reader: SerializedFileReader<R>,
    /// Columns in the file, wanted or not.
    n_columns: usize,
    columns: Vec<ColumnBuilder>,
    /// The row group being read.
    open: Option<OpenGroup>,
    /// Row groups opened so far.
    n_opened: usize,
    /// Rows read so far, and dropped of them.
    n_rows: usize,
    n_dropped: usize,
    drop_missing: bool,
    keep_missing: bool,
    missing: MissingCells,
    progress: Option<&'a dyn Fn(u64, u64)>,
    done_bytes: u64,
    total_bytes: u64,
    ended: bool,
}

/// A row group with the readers of its wanted columns, each with its compressed size.
struct OpenGroup {
    chunks: Vec<(ColumnReader, u64)>,
    n_rows: usize,
    n_read: usize,
}

impl<'a, R: ChunkReader + 'static> ParquetRows<'a, R> {
    /// Reads the footer and finds the wanted columns; `name` stands for the file in messages.
    pub(in crate::data) fn open(
        file: R,
        name: &str,
        options: &ReadOptions<'a>,
    ) -> Result<ParquetRows<'a, R>, DataError> {
        guarded(name, || ParquetRows::open_checked(file, name, options))
    }

    fn open_checked(
        file: R,
        name: &str,
        options: &ReadOptions<'a>,
    ) -> Result<ParquetRows<'a, R>, DataError> {
        let reader = SerializedFileReader::new(file).map_err(|error| corrupt(name, error))?;
        let metadata = reader.metadata();
        let schema = metadata.file_metadata().schema_descr();
        let fields = schema.root_schema().get_fields();
        let header: Vec<String> =
            fields.iter().map(|field| field.name().trim().to_owned()).collect();
        if header.is_empty() {
            return Err(DataError::Empty { file: name.to_owned() });
        }
        let pairs = metadata.file_metadata().key_value_metadata().into_iter().flatten();
        let arrow =
            pairs.filter(|pair| pair.key == "ARROW:schema").find_map(|pair| pair.value.as_ref());
        let durations = arrow.map_or_else(Vec::new, |schema| durations(schema));
        let mut columns = Vec::new();
        for choice in select(&header, options, name)? {
            let leaf = (0..schema.num_columns())
                .find(|&leaf| schema.get_column_root_idx(leaf) == choice.position)
                .ok_or_else(|| corrupt(name, format!("column `{}` has no values", choice.name)))?;
            let descriptor = schema.column(leaf);
            let kind = column_kind(&descriptor, &choice).map_err(|(found, remedies)| {
                DataError::ColumnType {
                    file: name.to_owned(),
                    column: choice.name.clone(),
                    found,
                    remedies,
                }
            })?;
            if durations.contains(&choice.name) && !choice.text {
                return Err(DataError::ColumnType {
                    file: name.to_owned(),
                    column: choice.name,
                    found: "Duration".to_owned(),
                    remedies: &[
                        Remedy::Do("convert it to a number of seconds or days"),
                        Remedy::Columns("leave it out"),
                    ],
                });
            }
            columns.push(ColumnBuilder::new(choice, leaf, kind));
        }
        check_codecs(metadata, name)?;
        let total_bytes: u64 = metadata
            .row_groups()
            .iter()
            .flat_map(|group| columns.iter().filter_map(|c| group.columns().get(c.leaf)))
            .map(|chunk| u64::try_from(chunk.compressed_size()).unwrap_or(0))
            .fold(0, u64::saturating_add);
        Ok(ParquetRows {
            name: name.to_owned(),
            reader,
            n_columns: header.len(),
            columns,
            open: None,
            n_opened: 0,
            n_rows: 0,
            n_dropped: 0,
            drop_missing: options.drop_missing,
            keep_missing: options.keep_missing,
            missing: MissingCells {
                file: name.to_owned(),
                unit: RowUnit::Row,
                first: Vec::new(),
                n_cells: 0,
                n_rows: 0,
                of_numbers_only: false,
            },
            progress: options.progress,
            done_bytes: 0,
            total_bytes,
            ended: false,
        })
    }

    /// The next `limit` rows of the file, those with missing cells dropped or refused; `None` after
    /// the last.
    pub(in crate::data) fn piece(&mut self, limit: usize) -> Result<Option<Frame>, DataError> {
        let name = self.name.clone();
        guarded(&name, || self.piece_checked(limit))
    }

    fn piece_checked(&mut self, limit: usize) -> Result<Option<Frame>, DataError> {
        while !self.ended {
            let first = self.n_rows;
            while self.n_rows - first < limit && self.read_some(limit - (self.n_rows - first))? {}
            let n_rows = self.n_rows - first;
            self.ended = n_rows < limit;
            let frame = self.take(first, n_rows);
            if self.ended {
                self.check_end()?;
            }
            // A file that will be refused is read to its end, so that all that is missing is counted.
            if !self.is_refused() {
                return Ok((n_rows > 0).then_some(frame));
            }
        }
        Ok(None)
    }

    /// Reads up to `limit` rows from the row group at hand, or else from the next; `false` when there
    /// is none.
    fn read_some(&mut self, limit: usize) -> Result<bool, DataError> {
        if self.open.is_none() {
            self.open = self.next_group()?;
        }
        let Some(group) = &mut self.open else { return Ok(false) };
        let count = limit.min(group.n_rows - group.n_read);
        let to = group.n_read + count;
        let end = self.n_rows.checked_add(count);
        let end = end.ok_or_else(|| corrupt(&self.name, "too many rows"))?;
        for (column, (chunk, size)) in self.columns.iter_mut().zip(&mut group.chunks) {
            // To the end of the chunk, where it should end: what is left over there is damage.
            let wanted = if to == group.n_rows { usize::MAX } else { count };
            column.read_chunk(chunk, wanted, &self.name)?;
            if column.n_rows != end {
                let reason = format!(
                    "column `{}` holds {} rows where the footer counts {end}",
                    column.choice.name, column.n_rows
                );
                return Err(corrupt(&self.name, reason));
            }
            let share = |rows: usize| {
                (u128::from(*size) * rows as u128 / group.n_rows.max(1) as u128) as u64
            };
            let bytes = share(to) - share(group.n_read);
            self.done_bytes = self.done_bytes.saturating_add(bytes);
            if let Some(progress) = self.progress {
                progress(self.done_bytes, self.total_bytes);
            }
        }
        self.n_rows = end;
        group.n_read = to;
        if to == group.n_rows {
            self.open = None;
        }
        Ok(true)
    }

    fn next_group(&mut self) -> Result<Option<OpenGroup>, DataError> {
        let damaged = |error: ParquetError| corrupt(&self.name, error);
        if self.n_opened == self.reader.metadata().num_row_groups() {
            return Ok(None);
        }
        let group = self.reader.get_row_group(self.n_opened).map_err(damaged)?;
        let n_rows = usize::try_from(group.metadata().num_rows())
            .map_err(|_| corrupt(&self.name, "a row group with a negative number of rows"))?;
        let chunks = self
            .columns
            .iter()
            .map(|column| {
                let size = group.metadata().column(column.leaf).compressed_size();
                let chunk = group.get_column_reader(column.leaf).map_err(damaged)?;
                Ok((chunk, u64::try_from(size).unwrap_or(0)))
            })
            .collect::<Result<_, DataError>>()?;
        self.n_opened += 1;
        Ok(Some(OpenGroup { chunks, n_rows, n_read: 0 }))
    }

    /// Whether a cell is missing and nothing is to be done about it.
    fn is_refused(&self) -> bool {
        self.missing.n_cells > 0 && !self.drop_missing
    }

    /// What can only be said of the whole file.
    fn check_end(&self) -> Result<(), DataError> {
        let file = || self.name.clone();
        if self.n_rows == 0 {
            return Err(DataError::HeaderOnly { file: file(), n_columns: self.n_columns });
        }
        if self.is_refused() {
            return Err(DataError::Missing(Box::new(self.missing.clone())));
        }
        if self.n_dropped == self.n_rows {
            return Err(DataError::AllDropped { file: file(), n_rows: self.n_rows });
        }
        Ok(())
    }

    /// The rows since the last call, `n_rows` from `first` on, without those that miss a cell.
    fn take(&mut self, first: usize, n_rows: usize) -> Frame {
        if self.keep_missing {
            for column in &mut self.columns {
                column.missing.clear();
                column.shown.clear();
            }
        }
        let missing = self.columns.iter().flat_map(|c| &c.missing);
        let mut bad_rows: Vec<usize> = missing.map(|row| row - first).collect();
        self.missing.n_cells += bad_rows.len();
        bad_rows.sort_unstable();
        bad_rows.dedup();
        self.missing.n_rows += bad_rows.len();
        let mut shown: Vec<BadCell> = self
            .columns
            .iter_mut()
            .flat_map(|column| {
                let missing = mem::take(&mut column.missing).into_iter();
                let texts = mem::take(&mut column.shown);
                missing.zip(texts).map(|(row, text)| BadCell {
                    row: row as u64 + 1,
                    column: column.choice.name.clone(),
                    text,
                })
            })
            .collect();
        shown.sort_by_key(|cell| cell.row);
        self.missing.first.extend(shown);
        self.missing.first.truncate(MissingCells::SHOWN);
        self.n_dropped += bad_rows.len();

        let mut kept = vec![true; n_rows];
        bad_rows.iter().for_each(|&row| kept[row] = false);
        let number = |row: usize| (first + row) as u64 + 1;
        let mut rows = RowNumbers::default();
        (0..n_rows).filter(|&row| kept[row]).for_each(|row| rows.push(number(row)));
        let columns = self.columns.iter_mut().map(|column| column.take(&kept)).collect();
        let dropped = bad_rows.into_iter().map(number).collect();
        Frame::assemble(&self.name, RowUnit::Row, columns, rows, dropped)
    }
}
