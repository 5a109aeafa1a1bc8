//! Reads a file piece by piece, so that one of any size needs the memory of a piece.

use std::io::Read;
use std::path::Path;

use super::csv::CsvRows;
use super::error::DataError;
use super::frame::Frame;
use super::parquet::ParquetRows;
use super::read::{Opened, ReadOptions, open};

/// The rows of a file as [`Frame`]s of bounded size, in the order of the file.
///
/// Columns, checks and messages are those of [`read_path`](super::read_path), and rows have their
/// numbers in the file. A cell that is missing is still refused with all the others, so the file is
/// read to its end before the error comes. With `drop_missing` a piece can be empty. Nothing follows an
/// error.
///
/// ```
/// use trustvb::data::{Pieces, ReadOptions};
///
/// let text = "x\n1\n2\n3\n";
/// let pieces = Pieces::from_csv(text.as_bytes(), "three.csv", &ReadOptions::default(), 2)?;
/// let rows: Vec<usize> = pieces.map(|piece| piece.map(|frame| frame.n_rows())).collect::<Result<_, _>>()?;
/// assert_eq!(rows, [2, 1]);
/// # Ok::<(), trustvb::data::DataError>(())
/// ```
pub struct Pieces<'a> {
    rows: Rows<'a>,
    rows_per_piece: usize,
    ended: bool,
}

/// What is read, by format.
enum Rows<'a> {
    Csv(Box<CsvRows<'a, Box<dyn Read + 'a>>>),
    Parquet(Box<ParquetRows<'a>>),
}

impl<'a> Pieces<'a> {
    /// Rows of a piece, unless there is a reason for another number: some megabytes, and sums over a
    /// piece long enough to be worth a turn.
    pub const ROWS: usize = 1 << 16;

    /// Opens a CSV or Parquet file; its content decides which, not its name.
    pub fn open(
        path: &Path,
        options: &ReadOptions<'a>,
        rows_per_piece: usize,
    ) -> Result<Pieces<'a>, DataError> {
        let name = path.display().to_string();
        let rows = match open(path, &name)? {
            Opened::Parquet(file) => {
                Rows::Parquet(Box::new(ParquetRows::open(file, &name, options)?))
            }
            Opened::Text(reader, bytes) => {
                let reader: Box<dyn Read + 'a> = Box::new(reader);
                Rows::Csv(Box::new(CsvRows::open(reader, &name, options, bytes)?))
            }
        };
        Ok(Pieces::new(rows, rows_per_piece))
    }

    /// Delimited text from anywhere, as [`read_csv`](super::read_csv) takes it.
    pub fn from_csv(
        reader: impl Read + 'a,
        name: &str,
        options: &ReadOptions<'a>,
        rows_per_piece: usize,
    ) -> Result<Pieces<'a>, DataError> {
        let reader: Box<dyn Read + 'a> = Box::new(reader);
        let rows = Rows::Csv(Box::new(CsvRows::open(reader, name, options, 0)?));
        Ok(Pieces::new(rows, rows_per_piece))
    }

    fn new(rows: Rows<'a>, rows_per_piece: usize) -> Pieces<'a> {
        Pieces { rows, rows_per_piece: rows_per_piece.max(1), ended: false }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Result<Frame, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let piece = match &mut self.rows {
            Rows::Csv(rows) => rows.piece(self.rows_per_piece),
            Rows::Parquet(rows) => rows.piece(self.rows_per_piece),
        };
        self.ended = !matches!(piece, Ok(Some(_)));
        piece.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, read_csv};

    /// Everything that pieces hold: rows as text with their numbers, and dropped rows.
    fn all(frames: &[Frame]) -> (Vec<(u64, String)>, Vec<u64>) {
        let (mut rows, mut dropped) = (Vec::new(), Vec::new());
        for frame in frames {
            for i in 0..frame.n_rows() {
                let cell = |j: usize| match frame.column(j) {
                    Column::Numeric(values) => values[i].to_string(),
                    Column::Text(text) => text.get(i).to_owned(),
                };
                let cells: Vec<String> = (0..frame.n_columns()).map(cell).collect();
                rows.push((frame.row_number(i), cells.join("|")));
            }
            dropped.extend(frame.dropped_rows());
        }
        (rows, dropped)
    }

    fn compare(text: &str, options: &ReadOptions<'_>) -> Result<usize, String> {
        let whole = read_csv(text.as_bytes(), "rows.csv", options).map_err(|e| e.to_string());
        for rows in [1, 2, 3, 5, 100] {
            let pieces = Pieces::from_csv(text.as_bytes(), "rows.csv", options, rows)
                .and_then(|pieces| pieces.collect::<Result<Vec<_>, _>>())
                .map_err(|e| e.to_string());
            match (&whole, pieces) {
                (Ok(whole), Ok(pieces)) => {
                    assert!(pieces.iter().all(|frame| frame.n_rows() <= rows));
                    assert_eq!(all(&pieces), all(std::slice::from_ref(whole)));
                }
                (whole, pieces) => {
                    let pieces = pieces.map(|_| ());
                    assert_eq!(pieces.unwrap_err(), *whole.as_ref().unwrap_err());
                }
            }
        }
        whole.map(|frame| frame.n_rows())
    }

    #[test]
    fn pieces_make_the_whole() {
        let text = "g,x,y\nA,1,2\n\nB,3,4\n\"C\nD\",5,6\r\nA,7,8\nB,9,10\nC,11,12\n";
        let options = ReadOptions { text_columns: vec!["g".to_owned()], ..ReadOptions::default() };
        assert_eq!(compare(text, &options), Ok(6));
        let gaps = text.replace(",3,", ",,").replace("9,10", "9,NA");
        let message = compare(&gaps, &options).unwrap_err();
        assert!(message.contains("2 cells are missing or infinite, in 2 rows"), "{message}");
        assert!(message.contains("line 4") && message.contains("line 8"), "{message}");
        let options = ReadOptions { drop_missing: true, ..options };
        assert_eq!(compare(&gaps, &options), Ok(4));
    }

    #[test]
    fn what_is_wrong_is_said_alike() {
        let options = ReadOptions::default();
        for (text, expected) in [
            ("", "is empty"),
            ("x,y\n", "0 rows"),
            ("x,y\n1,2\n3,4\n5,oops\n7,8\n", "line 4, column `y`: `oops`"),
            ("x,y\n1,2\n3,4\n5\n", "line 4: 1 cell"),
            ("x,x\n1,2\n", "both named `x`"),
        ] {
            let message = compare(text, &options).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
        let drop = ReadOptions { drop_missing: true, ..ReadOptions::default() };
        let message = compare("x\nNA\nNA\nNA\n", &drop).unwrap_err();
        assert!(message.contains("none is left without them"), "{message}");
    }

    #[test]
    fn nothing_follows_an_error() {
        let options = ReadOptions::default();
        let mut pieces = Pieces::from_csv("x\n1\nb\n3\n".as_bytes(), "x.csv", &options, 1).unwrap();
        assert!(pieces.next().is_some_and(|piece| piece.is_ok()));
        assert!(pieces.next().is_some_and(|piece| piece.is_err()));
        assert!(pieces.next().is_none());
    }
}
