//! Streams delimited text into column vectors, and writes a data set as such text.

use std::io::{self, Read, Write};
use std::mem;

use csv::{ByteRecord, ReaderBuilder};

use super::dataset::{Dataset, check_size};
use super::error::DataError;
use super::frame::{Column, Frame, RowNumbers, TextBuilder};
use super::lines::UnixLines;
use super::missing::{BadCell, MissingCells, RowUnit};
use super::read::ReadOptions;
use super::select::{Choice, select};
use crate::memory;
use crate::remedy::Remedy;

/// As much of the first line as is looked at to find the separator.
const HEAD_LIMIT: usize = 1 << 20;

/// Rows between two calls of the progress hook.
const PROGRESS_ROWS: usize = 1 << 14;

/// Reads the wanted columns of delimited text with a header line; `name` stands for it in messages.
///
/// The separator is the comma; a tab or a semicolon serves when the header has no comma, and the
/// tab in files named `.tsv`.
pub fn read_csv(
    reader: impl Read,
    name: &str,
    options: &ReadOptions<'_>,
) -> Result<Frame, DataError> {
    read_csv_sized(reader, name, options, 0)
}

/// [`read_csv`] where the number of bytes is known.
pub(super) fn read_csv_sized(
    reader: impl Read,
    name: &str,
    options: &ReadOptions<'_>,
    total_bytes: u64,
) -> Result<Frame, DataError> {
    let mut rows = CsvRows::open(reader, name, options, total_bytes)?;
    // A double is eight bytes and takes at most some 26 in a file, of the columns that are wanted.
    let wanted = rows.table.choices.len() as f64 / rows.header.len().max(1) as f64;
    let bytes = total_bytes as f64 * wanted * 8.0 / 26.0;
    memory::check("its numbers", bytes, &[Remedy::Columns("choose columns")])
        .map_err(|error| DataError::Memory { file: name.to_owned(), error })?;
    let frame = rows.piece(usize::MAX)?;
    let (n_read, n_columns) = (rows.table.n_read, rows.header.len());
    check_size(name, n_read, rows.table.choices.len())?;
    frame.ok_or_else(|| DataError::HeaderOnly { file: name.to_owned(), n_columns })
}

type Source<R> = UnixLines<io::Chain<io::Cursor<Vec<u8>>, R>>;

/// Delimited text whose header has been read, to be read on in pieces.
pub(super) struct CsvRows<'a, R> {
    records: csv::Reader<Source<R>>,
    record: ByteRecord,
    header: Vec<String>,
    table: Table,
    progress: Option<&'a dyn Fn(u64, u64)>,
    total_bytes: u64,
    ended: bool,
}

impl<'a, R: Read> CsvRows<'a, R> {
    /// Reads the header and finds the wanted columns; `total_bytes` is 0 when unknown.
    pub(super) fn open(
        mut reader: R,
        name: &str,
        options: &ReadOptions<'a>,
        total_bytes: u64,
    ) -> Result<CsvRows<'a, R>, DataError> {
        let refused = |source: io::Error| DataError::Read { file: name.to_owned(), source };
        let mut text = read_head(&mut reader).map_err(refused)?;
        if text.starts_with(b"\xef\xbb\xbf") {
            text.drain(..3);
        }
        refuse_other_formats(&text, name)?;
        let records = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(find_delimiter(&text, name))
            .buffer_capacity(1 << 17)
            .from_reader(UnixLines::new(io::Cursor::new(text).chain(reader)));
        let mut rows = CsvRows {
            records,
            record: ByteRecord::new(),
            header: Vec::new(),
            table: Table::new(Vec::new(), name, options),
            progress: options.progress,
            total_bytes,
            ended: false,
        };
        if rows.next_record()?.is_none() {
            return Err(DataError::Empty { file: name.to_owned() });
        }
        rows.header = read_header(&rows.record, name)?;
        rows.table = Table::new(select(&rows.header, options, name)?, name, options);
        Ok(rows)
    }

    /// The next record's line, or `None` at the end.
    fn next_record(&mut self) -> Result<Option<u64>, DataError> {
        let before = self.records.position().line();
        match self.records.read_byte_record(&mut self.record) {
            Ok(false) => Ok(None),
            Ok(true) => {
                // Lines end in one \n each, so only blank lines and line breaks in quotes need
                // counting: the record began where its last line is, less the breaks within it.
                let after = self.records.position().line();
                let breaks = if after == before + 1 {
                    0
                } else {
                    self.record.as_slice().iter().filter(|&&byte| byte == b'\n').count() as u64
                };
                if let Some(progress) = self.progress
                    && self.records.position().record().is_multiple_of(PROGRESS_ROWS as u64)
                {
                    progress(self.records.get_ref().bytes_read(), self.total_bytes);
                }
                // A quote left open has no last line break to subtract.
                Ok(Some(after.saturating_sub(1 + breaks).max(before)))
            }
            Err(error) => {
                Err(DataError::Read { file: self.table.file.clone(), source: error.into() })
            }
        }
    }

    /// The next `limit` rows of the file, those with missing cells dropped or refused; `None` after
    /// the last.
    pub(super) fn piece(&mut self, limit: usize) -> Result<Option<Frame>, DataError> {
        if self.ended {
            return Ok(None);
        }
        let mut n_rows = 0;
        // A file that will be refused is read to its end, so that all that is missing is counted.
        while n_rows < limit || self.table.is_refused() {
            let Some(line) = self.next_record()? else {
                self.ended = true;
                if let Some(progress) = self.progress {
                    progress(self.total_bytes, self.total_bytes);
                }
                self.table.check_end(self.header.len())?;
                break;
            };
            if self.record.len() != self.header.len() {
                return Err(DataError::Ragged {
                    file: self.table.file.clone(),
                    line,
                    expected: self.header.len(),
                    found: self.record.len(),
                });
            }
            self.table.push(&self.record, line)?;
            n_rows += 1;
        }
        Ok((n_rows > 0).then(|| self.table.take()))
    }
}

/// Writes names and values as CSV that [`read_csv`] reads back bit for bit.
pub fn write_csv(dataset: &Dataset, mut writer: impl Write) -> io::Result<()> {
    let quoted = |name: &String| {
        if name.contains([',', ';', '\t', '"', '\r', '\n']) {
            format!("\"{}\"", name.replace('"', "\"\""))
        } else {
            name.clone()
        }
    };
    let names: Vec<String> = dataset.names().iter().map(quoted).collect();
    writeln!(writer, "{}", names.join(","))?;
    let mut line = String::new();
    for i in 0..dataset.n_rows() {
        use std::fmt::Write;
        line.clear();
        for j in 0..dataset.n_columns() {
            let value = dataset.column(j)[i];
            let separator = if j == 0 { "" } else { "," };
            let size = value.abs();
            // Both forms are the shortest that read back to the same bits.
            let written = if size == 0.0 || (1e-5..1e16).contains(&size) {
                write!(line, "{separator}{value}")
            } else {
                write!(line, "{separator}{value:e}")
            };
            written.map_err(io::Error::other)?;
        }
        line.push('\n');
        writer.write_all(line.as_bytes())?;
    }
    writer.flush()
}

/// Reads up to the end of the first line with something on it.
fn read_head(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut chunk = [0_u8; 4096];
    while head.len() < HEAD_LIMIT {
        let n = match reader.read(&mut chunk) {
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        head.extend_from_slice(&chunk[..n]);
        let started = head.trim_ascii_start();
        if n == 0 || started.contains(&b'\n') || started.contains(&b'\r') {
            break;
        }
    }
    Ok(head)
}

fn refuse_other_formats(head: &[u8], file: &str) -> Result<(), DataError> {
    let export = "export the sheet as CSV";
    let utf8 = "save it as UTF-8";
    let known: [(&[u8], &str, &str); 6] = [
        (b"\x1f\x8b", "a gzip archive", "unpack it first"),
        (b"\x28\xb5\x2f\xfd", "a zstd archive", "unpack it first"),
        (b"PK\x03\x04", "a zip archive or an Excel workbook", export),
        (b"\xd0\xcf\x11\xe0", "an old Excel workbook", export),
        (b"\xff\xfe", "UTF-16 text", utf8),
        (b"\xfe\xff", "UTF-16 text", utf8),
    ];
    match known.into_iter().find(|(magic, ..)| head.starts_with(magic)) {
        Some((_, what, remedy)) => {
            Err(DataError::WrongFormat { file: file.to_owned(), what, remedy })
        }
        None => Ok(()),
    }
}

/// The separator, judged by the header outside quotes and by the file's name.
fn find_delimiter(head: &[u8], name: &str) -> u8 {
    let lower = name.to_ascii_lowercase();
    if lower.ends_with(".tsv") || lower.ends_with(".tab") {
        return b'\t';
    }
    let mut quoted = false;
    let mut seen = [false; 3];
    for &byte in head.trim_ascii_start() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            b',' if !quoted => seen[0] = true,
            b'\t' if !quoted => seen[1] = true,
            b';' if !quoted => seen[2] = true,
            _ => {}
        }
    }
    match seen {
        [true, ..] | [false, false, false] => b',',
        [_, true, _] => b'\t',
        _ => b';',
    }
}

fn read_header(record: &ByteRecord, file: &str) -> Result<Vec<String>, DataError> {
    let mut names = Vec::with_capacity(record.len());
    for (position, cell) in record.iter().enumerate() {
        let name = std::str::from_utf8(cell).map_err(|_| DataError::NotUtf8 {
            file: file.to_owned(),
            unit: RowUnit::Line,
            row: 1,
            column: (position + 1).to_string(),
        })?;
        names.push(name.trim().to_owned());
    }
    if names.iter().all(|name| name.parse::<f64>().is_ok_and(f64::is_finite)) {
        let first = names.swap_remove(0);
        return Err(DataError::HeaderIsData { file: file.to_owned(), first });
    }
    Ok(names)
}

/// What one cell of a numeric column holds.
enum Cell {
    Number(f64),
    Missing,
    Text,
}

fn parse_number(text: &str) -> Cell {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Cell::Number(value),
        Ok(_) => Cell::Missing,
        Err(_) if is_missing(text) => Cell::Missing,
        Err(_) => Cell::Text,
    }
}

/// Ways of writing "no number" that statistics packages use.
pub(crate) fn is_missing(text: &str) -> bool {
    const MARKS: [&str; 11] =
        ["", "NA", "N/A", "#N/A", "NaN", "null", "none", ".", "-", "?", "\\N"];
    MARKS.iter().any(|mark| mark.eq_ignore_ascii_case(text))
}

/// What to do about text in a numeric column.
fn remedies(text: &str) -> &'static [Remedy] {
    let number = |text: &str| text.parse::<f64>().is_ok();
    if text.matches(',').count() == 1 && number(&text.replace(',', ".")) {
        &[Remedy::Do("write the decimal comma as a point, as in 1.5")]
    } else if text.contains(',') && number(&text.replace(',', "")) {
        &[Remedy::Do("write it without separators of thousands")]
    } else if text.contains('_') && number(&text.replace('_', "")) {
        &[Remedy::Do("write it without underscores")]
    } else if text.strip_prefix("0x").or(text.strip_prefix("0X")).is_some() {
        &[Remedy::Do("write it in decimal, not hexadecimal")]
    } else if text.split_whitespace().count() > 1 && text.split_whitespace().all(number) {
        &[Remedy::Do("separate cells by commas, tabs or semicolons, not by blanks")]
    } else {
        &[
            Remedy::Do("correct it"),
            Remedy::Columns("choose numeric columns"),
            Remedy::MixedModel("text"),
        ]
    }
}

/// The columns as they grow.
struct Table {
    file: String,
    drop_missing: bool,
    keep_missing: bool,
    choices: Vec<Choice>,
    numbers: Vec<Vec<f64>>,
    texts: Vec<TextBuilder>,
    /// This row's numbers, held until the whole row is known to be good.
    row: Vec<f64>,
    rows: RowNumbers,
    /// Lines dropped since the last [`take`](Table::take), and before it.
    dropped: Vec<u64>,
    n_dropped: usize,
    missing: MissingCells,
    n_read: usize,
}

impl Table {
    fn new(choices: Vec<Choice>, file: &str, options: &ReadOptions<'_>) -> Self {
        let n_text = choices.iter().filter(|choice| choice.text).count();
        Table {
            file: file.to_owned(),
            drop_missing: options.drop_missing,
            keep_missing: options.keep_missing,
            numbers: vec![Vec::new(); choices.len() - n_text],
            texts: (0..n_text).map(|_| TextBuilder::default()).collect(),
            row: Vec::with_capacity(choices.len()),
            choices,
            rows: RowNumbers::default(),
            dropped: Vec::new(),
            n_dropped: 0,
            missing: MissingCells {
                file: file.to_owned(),
                unit: RowUnit::Line,
                first: Vec::new(),
                n_cells: 0,
                n_rows: 0,
                of_numbers_only: false,
            },
            n_read: 0,
        }
    }

    fn push(&mut self, record: &ByteRecord, line: u64) -> Result<(), DataError> {
        self.n_read += 1;
        self.row.clear();
        let mut complete = true;
        for choice in &self.choices {
            let text = std::str::from_utf8(record[choice.position].trim_ascii()).map_err(|_| {
                DataError::NotUtf8 {
                    file: self.file.clone(),
                    unit: RowUnit::Line,
                    row: line,
                    column: format!("`{}`", choice.name),
                }
            })?;
            let missing = if choice.text {
                // `none` and `.` may well be labels; only what R writes for a missing one is not.
                text.is_empty() || text == "NA"
            } else {
                match parse_number(text) {
                    Cell::Number(value) => {
                        self.row.push(value);
                        false
                    }
                    Cell::Missing => true,
                    Cell::Text => {
                        return Err(DataError::NotNumeric {
                            file: self.file.clone(),
                            line,
                            column: choice.name.clone(),
                            text: text.to_owned(),
                            remedies: remedies(text),
                        });
                    }
                }
            };
            if missing && self.keep_missing {
                if !choice.text {
                    self.row.push(f64::NAN);
                }
            } else if missing {
                complete = false;
                self.missing.n_cells += 1;
                if self.missing.first.len() < MissingCells::SHOWN {
                    self.missing.first.push(BadCell {
                        row: line,
                        column: choice.name.clone(),
                        text: text.to_owned(),
                    });
                }
            }
        }
        if !complete {
            self.missing.n_rows += 1;
            if self.drop_missing {
                self.dropped.push(line);
            }
            return Ok(());
        }
        if self.is_refused() {
            return Ok(());
        }
        for (column, &value) in self.numbers.iter_mut().zip(&self.row) {
            column.push(value);
        }
        let text_choices = self.choices.iter().filter(|choice| choice.text);
        for (builder, choice) in self.texts.iter_mut().zip(text_choices) {
            let text = std::str::from_utf8(record[choice.position].trim_ascii()).unwrap_or("");
            // Rows are complete here, unless what is missing is kept.
            let text = if self.keep_missing && text == "NA" { "" } else { text };
            if !builder.push(text) {
                return Err(DataError::TooLarge {
                    file: self.file.clone(),
                    n_rows: self.n_read,
                    n_columns: self.choices.len(),
                });
            }
        }
        self.rows.push(line);
        Ok(())
    }

    /// Whether a cell is missing and nothing is to be done about it.
    fn is_refused(&self) -> bool {
        self.missing.n_cells > 0 && !self.drop_missing
    }

    /// What can only be said of the whole file.
    fn check_end(&self, n_columns: usize) -> Result<(), DataError> {
        let file = || self.file.clone();
        if self.n_read == 0 {
            return Err(DataError::HeaderOnly { file: file(), n_columns });
        }
        if self.is_refused() {
            return Err(DataError::Missing(Box::new(self.missing.clone())));
        }
        if self.n_dropped + self.dropped.len() == self.n_read {
            return Err(DataError::AllDropped { file: file(), n_rows: self.n_read });
        }
        Ok(())
    }

    /// The rows since the last call.
    fn take(&mut self) -> Frame {
        self.n_dropped += self.dropped.len();
        let mut numbers = self.numbers.iter_mut();
        let mut texts = self.texts.iter_mut();
        let columns = self
            .choices
            .iter()
            .filter_map(|choice| {
                let column = if choice.text {
                    Column::Text(mem::take(texts.next()?).finish())
                } else {
                    Column::Numeric(mem::take(numbers.next()?))
                };
                Some((choice.name.clone(), column))
            })
            .collect();
        let (rows, dropped) = (mem::take(&mut self.rows), mem::take(&mut self.dropped));
        Frame::assemble(&self.file, RowUnit::Line, columns, rows, dropped)
    }
}

#[cfg(test)]
#[path = "csv_tests.rs"]
mod tests;
