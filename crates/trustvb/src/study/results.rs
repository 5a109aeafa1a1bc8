//! The intervals of a study as one table, for people and for other programs.

use super::folder::{CellInfo, Folder};
use super::simulate::calibration_seed;
use super::{Half, Record, Study, StudyError};
use crate::data::{ColumnValues, parquet_bytes};
use crate::location::Location;

/// What a study has found so far.
#[derive(Clone, Debug)]
pub struct Results {
    /// The study.
    pub study: Study,
    /// Its cells.
    pub cells: Vec<CellInfo>,
    /// Whether its parts carry checksums; those of studies of older formats do not.
    pub checked: bool,
    /// Records of each cell, replication after replication.
    pub records: Vec<Vec<Record>>,
}

impl Results {
    /// Reads the parts that are there; a damaged one is an error.
    pub fn read(place: &Location) -> Result<Results, StudyError> {
        let folder = Folder::open(place)?;
        let records = folder.records()?;
        let checked = folder.is_sealed();
        let (study, cells) = folder.into_plan();
        Ok(Results { study, cells, checked, records })
    }

    /// Only the cells of one half, so that the other is not looked at.
    pub fn half(mut self, half: Half) -> Results {
        let both = self.cells.into_iter().zip(self.records);
        (self.cells, self.records) = both.filter(|(cell, _)| Half::of(&cell.name) == half).unzip();
        self
    }

    /// Replications that are there, and that there should be.
    pub fn replications(&self) -> (usize, usize) {
        let methods = self.study.methods.len() * self.study.levels.len();
        let each = |cell: &CellInfo| (cell.targets.len() * methods).max(1);
        let done = self.cells.iter().zip(&self.records).map(|(c, r)| r.len() / each(c)).sum();
        (done, self.cells.len() * self.study.replications as usize)
    }

    /// Writes `replications.parquet`, which a seed fixes bit for bit, and `seconds.parquet`, which
    /// nothing fixes.
    pub fn write(&self, place: &Location) -> Result<(), StudyError> {
        let rows = self.rows();
        let mut keys = Columns::default();
        keys.text("cell", &rows, |r| r.cell.name.clone());
        keys.integers("size", &rows, |r| r.cell.size as i32);
        keys.integers("replication", &rows, |r| r.record.replication as i32);
        keys.text("quantity", &rows, |r| r.quantity.to_owned());
        keys.text("method", &rows, |r| r.method.to_owned());
        keys.doubles("level", &rows, |r| r.level);
        let mut columns = keys.clone();
        columns.text("outcome", &rows, |r| r.record.outcome.name().to_owned());
        columns.doubles("seed", &rows, |r| {
            calibration_seed(r.cell.seed, u64::from(r.record.replication)) as f64
        });
        columns.doubles("truth", &rows, |r| r.truth);
        columns.doubles("estimate", &rows, |r| r.record.estimate);
        columns.doubles("lower", &rows, |r| r.record.lower);
        columns.doubles("upper", &rows, |r| r.record.upper);
        columns.doubles("hit", &rows, |r| {
            r.record.covers(r.truth).map_or(f64::NAN, |hit| f64::from(u8::from(hit)))
        });
        columns.doubles("omega", &rows, |r| r.record.omega);
        columns.doubles("coverage", &rows, |r| r.record.coverage);
        columns.doubles("coverage_se", &rows, |r| r.record.coverage_se);
        columns.doubles("fits", &rows, |r| r.record.fits);
        columns.text("flags", &rows, |r| r.record.flag_names().join(";"));
        columns.write(place, "replications.parquet")?;
        keys.doubles("seconds", &rows, |r| r.record.seconds);
        keys.write(place, "seconds.parquet")
    }

    fn rows(&self) -> Vec<Row<'_>> {
        let mut rows = Vec::new();
        for (cell, records) in self.cells.iter().zip(&self.records) {
            for record in records {
                let at = record.quantity as usize;
                rows.push(Row {
                    record,
                    cell,
                    quantity: &cell.quantities[at],
                    truth: cell.targets[at],
                    method: self.study.methods[record.method as usize].name(),
                    level: self.study.levels[record.level as usize],
                });
            }
        }
        rows
    }
}

/// A record with the words for its numbers.
struct Row<'a> {
    record: &'a Record,
    cell: &'a CellInfo,
    quantity: &'a str,
    truth: f64,
    method: &'static str,
    level: f64,
}

/// Named columns, in the order in which they are added.
#[derive(Clone, Default)]
struct Columns(Vec<(&'static str, Values)>);

#[derive(Clone)]
enum Values {
    Text(Vec<String>),
    Integers(Vec<i32>),
    Doubles(Vec<f64>),
}

impl Columns {
    fn text(&mut self, name: &'static str, rows: &[Row<'_>], of: impl Fn(&Row<'_>) -> String) {
        self.0.push((name, Values::Text(rows.iter().map(of).collect())));
    }

    fn integers(&mut self, name: &'static str, rows: &[Row<'_>], of: impl Fn(&Row<'_>) -> i32) {
        self.0.push((name, Values::Integers(rows.iter().map(of).collect())));
    }

    fn doubles(&mut self, name: &'static str, rows: &[Row<'_>], of: impl Fn(&Row<'_>) -> f64) {
        self.0.push((name, Values::Doubles(rows.iter().map(of).collect())));
    }

    fn write(&self, place: &Location, file: &str) -> Result<(), StudyError> {
        let columns: Vec<(&str, ColumnValues<'_>)> = self
            .0
            .iter()
            .map(|(name, values)| {
                let values = match values {
                    Values::Text(x) => ColumnValues::Text(x),
                    Values::Integers(x) => ColumnValues::Integers(x),
                    Values::Doubles(x) => ColumnValues::Doubles(x),
                };
                (*name, values)
            })
            .collect();
        let written = parquet_bytes(&columns, &[]).and_then(|bytes| place.write(file, bytes));
        written.map_err(|source| StudyError::Io { file: place.name_of(file), source })
    }
}
