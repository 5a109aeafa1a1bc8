//! One file as many: the rows of each value of a column.

use super::error::DataError;
use super::frame::{Column, Frame};
use super::read::ReadOptions;
use super::read_csv;
use crate::hash::hex;
use sha2::{Digest, Sha256};

/// Rows that share a value of a column, as a file of their own without that column.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// The value that they share.
    pub label: String,
    /// Number of rows.
    pub n_rows: usize,
    name: String,
    text: String,
}

/// How a file must be read to be split: every cell as it is written.
pub fn as_written() -> ReadOptions<'static> {
    ReadOptions { as_text: true, keep_missing: true, ..ReadOptions::default() }
}

impl Slice {
    /// Splits a frame that was read [`as_written`] by a column, in the order in which its values appear. Rows without a
    /// value there are counted and left out.
    ///
    /// # Errors
    /// If there is no such column, or no other.
    pub fn split(frame: &Frame, column: &str) -> Result<(Vec<Slice>, usize), DataError> {
        let by = frame.column_index(column)?;
        if frame.n_columns() < 2 {
            return Err(DataError::NoColumns { file: frame.source().to_owned(), n_columns: 1 });
        }
        let cell = |j: usize, i: usize| match frame.column(j) {
            Column::Text(text) => text.get(i).to_owned(),
            Column::Numeric(values) if values[i].is_nan() => String::new(),
            Column::Numeric(values) => values[i].to_string(),
        };
        let others: Vec<usize> = (0..frame.n_columns()).filter(|&j| j != by).collect();
        let header: Vec<String> = others.iter().map(|&j| quoted(&frame.names()[j])).collect();
        let mut places = std::collections::HashMap::new();
        let (mut slices, mut n_without) = (Vec::<Slice>::new(), 0);
        for i in 0..frame.n_rows() {
            let label = cell(by, i);
            if label.trim().is_empty() {
                n_without += 1;
                continue;
            }
            let place = *places.entry(label).or_insert_with_key(|label| {
                slices.push(Slice {
                    label: label.clone(),
                    n_rows: 0,
                    name: format!("{}, {} {label}", frame.source(), frame.names()[by]),
                    text: format!("{}\n", header.join(",")),
                });
                slices.len() - 1
            });
            let cells: Vec<String> = others.iter().map(|&j| quoted(&cell(j, i))).collect();
            let slice = &mut slices[place];
            slice.n_rows += 1;
            slice.text.push_str(&cells.join(","));
            slice.text.push('\n');
        }
        Ok((slices, n_without))
    }

    /// Its rows, read as a file of them would be.
    pub fn frame(&self, options: &ReadOptions<'_>) -> Result<Frame, DataError> {
        read_csv(self.text.as_bytes(), &self.name, options)
    }

    /// SHA-256 of the labels and rows of all of them, in order.
    pub fn hash(slices: &[Slice]) -> String {
        let mut hash = Sha256::new();
        for slice in slices {
            for text in [&slice.label, &slice.text] {
                hash.update((text.len() as u64).to_le_bytes());
                hash.update(text.as_bytes());
            }
        }
        hex(hash)
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// A cell of CSV; one that is empty is quoted, or a line of nothing but it would be none.
fn quoted(text: &str) -> String {
    match text.is_empty() || text.contains([',', ';', '\t', '"', '\r', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, column: &str) -> Result<(Vec<Slice>, usize), DataError> {
        Slice::split(&read_csv(text.as_bytes(), "plants.csv", &as_written())?, column)
    }

    #[test]
    fn each_value_has_its_rows_as_they_are_written() {
        let text = "x,site,y\n1.50,B,a\n2,A,\"b, c\"\n,B,\n4,,d\n1e3,A,e\n";
        let (slices, without) = split(text, "site").unwrap();
        assert_eq!(without, 1);
        let shown: Vec<(&str, usize, &str)> =
            slices.iter().map(|s| (s.label.as_str(), s.n_rows, s.text.as_str())).collect();
        assert_eq!(shown[0], ("B", 2, "x,y\n1.50,a\n\"\",\"\"\n"));
        assert_eq!(shown[1], ("A", 2, "x,y\n2,\"b, c\"\n1e3,e\n"));
        assert_eq!(slices[1].name(), "plants.csv, site A");
        let columns = Some(vec!["x".to_owned()]);
        let options = ReadOptions { columns, ..ReadOptions::default() };
        assert_eq!(slices[1].frame(&options).unwrap().numeric(0).unwrap(), [2.0, 1000.0]);
        let changed = split(&text.replace("1e3", "1000"), "site").unwrap().0;
        assert_eq!(Slice::hash(&slices), Slice::hash(&slices.clone()));
        assert_ne!(Slice::hash(&slices), Slice::hash(&changed));
    }

    #[test]
    fn a_column_that_is_not_there_or_alone_is_refused() {
        let error = split("x,y\n1,2\n", "site").unwrap_err().to_string();
        assert!(error.contains("site") && error.contains("plants.csv"), "{error}");
        assert!(split("site\nA\n", "site").is_err());
    }
}
