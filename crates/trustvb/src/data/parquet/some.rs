//! Reads some rows of some columns of a Parquet file: what nobody asked for is not decoded.

use super::column::BATCH;
use bytes::Bytes;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Columns of doubles or 32-bit integers, and which rows of them: the file is `n_rows` rows long, a pattern that
/// repeats every `period` rows.
pub(crate) struct SomeRows<'a> {
    /// Names, each with its places in a period, from small to large.
    pub(crate) columns: &'a [(&'a str, &'a [usize])],
    /// Rows after which the pattern repeats.
    pub(crate) period: usize,
    /// Rows of the file.
    pub(crate) n_rows: usize,
}

/// Reads some rows from a file's content, as doubles, once `trusts` has seen the file's own key–value pairs and has said
/// that it may be read so. `None` if it may not, or if its rows are in several groups; what is wrong is said without the
/// file's name.
pub(crate) fn read_some(
    content: Bytes,
    wanted: &SomeRows<'_>,
    trusts: impl FnOnce(&[(String, String)]) -> Result<bool, String>,
) -> Result<Option<Vec<Vec<f64>>>, String> {
    let read = || -> Result<Option<Vec<Vec<f64>>>, String> {
        let reader = SerializedFileReader::new(content).map_err(|error| error.to_string())?;
        let metadata = reader.metadata().file_metadata();
        let pairs = metadata.key_value_metadata().into_iter().flatten();
        let pairs: Vec<(String, String)> =
            pairs.map(|p| (p.key.clone(), p.value.clone().unwrap_or_default())).collect();
        if !trusts(&pairs)? || reader.num_row_groups() != 1 {
            return Ok(None);
        }
        let found = metadata.num_rows();
        if usize::try_from(found) != Ok(wanted.n_rows) {
            let expected = wanted.n_rows;
            return Err(format!("it has {found} rows where {expected} are expected"));
        }
        wanted.read(&reader).map(Some).map_err(|error| error.to_string())
    };
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err("its pages contradict its footer".to_owned()))
}

impl SomeRows<'_> {
    fn read(&self, reader: &SerializedFileReader<Bytes>) -> Result<Vec<Vec<f64>>, ParquetError> {
        let wrong = |what: String| Err(ParquetError::General(what));
        let schema = reader.metadata().file_metadata().schema_descr_ptr();
        let leaves: HashMap<&str, usize> =
            schema.columns().iter().enumerate().map(|(leaf, c)| (c.name(), leaf)).collect();
        let group = reader.get_row_group(0)?;
        let mut all = Vec::with_capacity(self.columns.len());
        for &(name, places) in self.columns {
            let Some(&leaf) = leaves.get(name) else {
                return wrong(format!("no column `{name}`"));
            };
            let values = match group.get_column_reader(leaf)? {
                ColumnReader::DoubleColumnReader(reader) => self.rows(reader, places)?,
                ColumnReader::Int32ColumnReader(reader) => {
                    self.rows(reader, places)?.into_iter().map(f64::from).collect()
                }
                _ => return wrong(format!("`{name}` is of another type")),
            };
            if values.len() != self.n_rows / self.period.max(1) * places.len() {
                return wrong("columns of unequal length".to_owned());
            }
            all.push(values);
        }
        Ok(all)
    }

    /// The values at these places of every period.
    fn rows<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        places: &[usize],
    ) -> Result<Vec<T::T>, ParquetError> {
        let mut values = Vec::new();
        let is_whole = places.len() == self.period;
        let runs = if is_whole { vec![(0, self.n_rows)] } else { runs(places, self.period) };
        for _ in 0..if is_whole { 1 } else { self.n_rows / self.period.max(1) } {
            for &(skipped, taken) in &runs {
                reader.skip_records(skipped)?;
                let mut left = taken;
                while left > 0 {
                    let (read, _, _) =
                        reader.read_records(left.min(BATCH), None, None, &mut values)?;
                    if read == 0 {
                        return Ok(values);
                    }
                    left -= read;
                }
            }
        }
        Ok(values)
    }
}

/// How many rows are skipped and then taken, again and again until the end of a period.
fn runs(places: &[usize], period: usize) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let mut next = 0;
    for &place in places {
        match runs.last_mut() {
            Some((_, taken)) if place == next => *taken += 1,
            _ => runs.push((place - next, 1)),
        }
        next = place + 1;
    }
    runs.push((period - next, 0));
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{ColumnValues, parquet_bytes};

    #[test]
    fn rows_that_are_skipped_and_taken_make_a_period() {
        assert_eq!(runs(&[0], 4), [(0, 1), (3, 0)]);
        assert_eq!(runs(&[1, 2, 4], 5), [(1, 2), (1, 1), (0, 0)]);
        assert_eq!(runs(&[], 3), [(3, 0)]);
    }

    #[test]
    fn some_rows_are_those_of_the_whole() {
        // More rows than a page has.
        let (n_rows, period) = (60_000, 300);
        let x: Vec<f64> = (0..n_rows).map(|i| (f64::from(i) * 0.7).sin()).collect();
        let ids: Vec<i32> = (0..n_rows).map(|i| i / 7).collect();
        let columns = [("x", ColumnValues::Doubles(&x)), ("id", ColumnValues::Integers(&ids))];
        let content = Bytes::from(parquet_bytes(&columns, &[("k", "v".to_owned())]).unwrap());
        for places in [vec![0], vec![3, 4, 299], (0..300).collect(), vec![]] {
            let columns = [("id", &places[..]), ("x", &places[..])];
            let wanted = SomeRows { columns: &columns, period, n_rows: n_rows as usize };
            let found = read_some(content.clone(), &wanted, |pairs| {
                assert!(pairs.contains(&("k".to_owned(), "v".to_owned())));
                Ok(true)
            });
            let rows: Vec<usize> =
                (0..n_rows as usize).filter(|row| places.contains(&(row % period))).collect();
            let found = found.unwrap().unwrap();
            assert!(found[0].iter().copied().eq(rows.iter().map(|&row| f64::from(ids[row]))));
            assert!(found[1].iter().copied().eq(rows.iter().map(|&row| x[row])));
        }
        let places = [0];
        let read = |name: &str, n_rows: usize, trusted: bool| {
            let columns = [(name, &places[..])];
            let wanted = SomeRows { columns: &columns, period, n_rows };
            read_some(content.clone(), &wanted, |_| Ok(trusted))
        };
        assert_eq!(read("x", 60_000, false).unwrap(), None);
        assert!(read("y", 60_000, true).unwrap_err().contains("no column `y`"));
        assert!(read("x", 300, true).unwrap_err().contains("60000 rows where 300"));
    }
}
