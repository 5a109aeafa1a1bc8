//! Streams delimited text into column vectors, and writes a data set as such text.

use std::io::{self, Read, Write};

use csv::{ByteRecord, ReaderBuilder};

use super::dataset::{Dataset, check_size};
use super::error::DataError;
use super::frame::{Column, Frame, RowNumbers, TextBuilder};
use super::lines::UnixLines;
use super::missing::{BadCell, MissingCells, RowUnit};
use super::read::ReadOptions;
use super::select::{Choice, select};

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
    mut reader: impl Read,
    name: &str,
    options: &ReadOptions<'_>,
    total_bytes: u64,
) -> Result<Frame, DataError> {
    let refused = |source: io::Error| DataError::Read { file: name.to_owned(), source };
    let head = read_head(&mut reader).map_err(refused)?;
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
    refuse_other_formats(text, name)?;
    let delimiter = find_delimiter(text, name);
    let mut records = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .buffer_capacity(1 << 17)
        .from_reader(UnixLines::new(io::Cursor::new(text).chain(reader)));
    let mut record = ByteRecord::new();
    let mut next = |record: &mut ByteRecord| -> Result<Option<u64>, DataError> {
        let before = records.position().line();
        match records.read_byte_record(record) {
            Ok(false) => Ok(None),
            Ok(true) => {
                // Lines end in one \n each, so only blank lines and line breaks in quotes need
                // counting: the record began where its last line is, less the breaks within it.
                let after = records.position().line();
                let breaks = if after == before + 1 {
                    0
                } else {
                    record.as_slice().iter().filter(|&&byte| byte == b'\n').count() as u64
                };
                if let Some(progress) = options.progress
                    && records.position().record().is_multiple_of(PROGRESS_ROWS as u64)
                {
                    progress(records.get_ref().bytes_read(), total_bytes);
                }
                // A quote left open has no last line break to subtract.
                Ok(Some(after.saturating_sub(1 + breaks).max(before)))
            }
            Err(error) => Err(refused(error.into())),
        }
    };

    if next(&mut record)?.is_none() {
        return Err(DataError::Empty { file: name.to_owned() });
    }
    let header = read_header(&record, name)?;
    let choices = select(&header, options, name)?;
    let mut table = Table::new(choices, name, options.drop_missing);
    while let Some(line) = next(&mut record)? {
        if record.len() != header.len() {
            return Err(DataError::Ragged {
                file: name.to_owned(),
                line,
                expected: header.len(),
                found: record.len(),
            });
        }
        table.push(&record, line)?;
    }
    if let Some(progress) = options.progress {
        progress(total_bytes, total_bytes);
    }
    table.finish(header.len())
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
fn is_missing(text: &str) -> bool {
    const MARKS: [&str; 8] = ["", "NA", "N/A", "#N/A", "NaN", "null", "none", "."];
    MARKS.iter().any(|mark| mark.eq_ignore_ascii_case(text))
}

/// What to do about text in a numeric column.
fn hint(text: &str) -> &'static str {
    let number = |text: &str| text.parse::<f64>().is_ok();
    if text.matches(',').count() == 1 && number(&text.replace(',', ".")) {
        "write the decimal comma as a point, as in 1.5"
    } else if text.contains(',') && number(&text.replace(',', "")) {
        "write it without separators of thousands"
    } else if text.contains('_') && number(&text.replace('_', "")) {
        "write it without underscores"
    } else if text.strip_prefix("0x").or(text.strip_prefix("0X")).is_some() {
        "write it in decimal, not hexadecimal"
    } else if text.split_whitespace().count() > 1 && text.split_whitespace().all(number) {
        "separate cells by commas, tabs or semicolons, not by blanks"
    } else {
        "correct it, or choose numeric columns with --columns"
    }
}

/// The columns as they grow.
struct Table<'a> {
    file: &'a str,
    drop_missing: bool,
    choices: Vec<Choice>,
    numbers: Vec<Vec<f64>>,
    texts: Vec<TextBuilder>,
    /// This row's numbers, held until the whole row is known to be good.
    row: Vec<f64>,
    rows: RowNumbers,
    dropped: Vec<u64>,
    missing: MissingCells,
    n_read: usize,
}

impl<'a> Table<'a> {
    fn new(choices: Vec<Choice>, file: &'a str, drop_missing: bool) -> Self {
        let n_text = choices.iter().filter(|choice| choice.text).count();
        Table {
            file,
            drop_missing,
            numbers: vec![Vec::new(); choices.len() - n_text],
            texts: (0..n_text).map(|_| TextBuilder::default()).collect(),
            row: Vec::with_capacity(choices.len()),
            choices,
            rows: RowNumbers::default(),
            dropped: Vec::new(),
            missing: MissingCells {
                file: file.to_owned(),
                unit: RowUnit::Line,
                first: Vec::new(),
                n_cells: 0,
                n_rows: 0,
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
                    file: self.file.to_owned(),
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
                            file: self.file.to_owned(),
                            line,
                            column: choice.name.clone(),
                            text: text.to_owned(),
                            hint: hint(text),
                        });
                    }
                }
            };
            if missing {
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
        // A file that will be refused is read on only to count what is missing.
        if self.missing.n_cells > 0 && !self.drop_missing {
            return Ok(());
        }
        for (column, &value) in self.numbers.iter_mut().zip(&self.row) {
            column.push(value);
        }
        let text_choices = self.choices.iter().filter(|choice| choice.text);
        for (builder, choice) in self.texts.iter_mut().zip(text_choices) {
            let text = std::str::from_utf8(record[choice.position].trim_ascii()).unwrap_or("");
            if !builder.push(text) {
                return Err(DataError::TooLarge {
                    file: self.file.to_owned(),
                    n_rows: self.n_read,
                    n_columns: self.choices.len(),
                });
            }
        }
        self.rows.push(line);
        Ok(())
    }

    fn finish(self, n_columns: usize) -> Result<Frame, DataError> {
        let file = || self.file.to_owned();
        if self.n_read == 0 {
            return Err(DataError::HeaderOnly { file: file(), n_columns });
        }
        if self.missing.n_cells > 0 && !self.drop_missing {
            return Err(DataError::Missing(Box::new(self.missing)));
        }
        if self.dropped.len() == self.n_read {
            return Err(DataError::AllDropped { file: file(), n_rows: self.n_read });
        }
        check_size(self.file, self.n_read, self.choices.len())?;
        let mut numbers = self.numbers.into_iter();
        let mut texts = self.texts.into_iter();
        let columns = self
            .choices
            .into_iter()
            .filter_map(|choice| {
                let column = if choice.text {
                    Column::Text(texts.next()?.finish())
                } else {
                    Column::Numeric(numbers.next()?)
                };
                Some((choice.name, column))
            })
            .collect();
        Ok(Frame::assemble(self.file, RowUnit::Line, columns, self.rows, self.dropped))
    }
}

#[cfg(test)]
#[path = "csv_tests.rs"]
mod tests;
