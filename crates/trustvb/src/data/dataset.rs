//! Named numeric columns, checked once: what a Gaussian mixture is fitted to.

use super::collinear::{find_relation_in, scaled_gram};
use super::csv::read_csv;
use super::error::DataError;
use super::missing::{BadCell, MissingCells, RowUnit};
use super::read::ReadOptions;
use super::select::{check_names, resolve, select};

/// What messages call data that came from no file.
pub(super) const IN_MEMORY: &str = "the data";

/// At least one row of at least one finite numeric column; names are distinct and not empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    source: String,
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

impl Dataset {
    /// Checks columns that are already in memory. Names are trimmed.
    ///
    /// ```
    /// use trustvb::data::Dataset;
    /// let data = Dataset::from_columns(vec!["x".into()], vec![vec![1.0, 2.5]])?;
    /// assert_eq!(data.n_rows(), 2);
    /// # Ok::<(), trustvb::data::DataError>(())
    /// ```
    pub fn from_columns(names: Vec<String>, columns: Vec<Vec<f64>>) -> Result<Self, DataError> {
        let names = check_columns(names, &columns)?;
        Ok(Self::assemble(IN_MEMORY.to_owned(), names, columns))
    }

    /// Columns of one length in which cells may be missing, as NaN; the caller has checked the rest.
    pub(crate) fn with_gaps(names: Vec<String>, columns: Vec<Vec<f64>>) -> Dataset {
        Dataset::assemble(IN_MEMORY.to_owned(), names, columns)
    }

    /// Whether every cell holds a finite number.
    pub(crate) fn is_complete(&self) -> bool {
        self.columns.iter().flatten().all(|x| x.is_finite())
    }

    /// Readers have checked everything; this only assembles.
    pub(super) fn assemble(source: String, names: Vec<String>, columns: Vec<Vec<f64>>) -> Self {
        Self { source, names, columns }
    }

    /// The 272 eruptions of the Old Faithful geyser: `eruptions` and `waiting`, in minutes
    /// (Azzalini and Bowman, 1990).
    pub fn faithful() -> Self {
        let text = include_str!("../../data/faithful.csv");
        read_csv(text.as_bytes(), "Old Faithful", &ReadOptions::default())
            .and_then(|frame| frame.into_dataset())
            .expect("the embedded file is valid, as a test shows")
    }

    /// Replaces what messages call the data.
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// What messages call the data: mostly the file.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Values of column `j`.
    pub fn column(&self, j: usize) -> &[f64] {
        &self.columns[j]
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.columns[0].len()
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.columns.len()
    }

    /// Position of the column with this name, or else with this number from 1.
    pub fn column_index(&self, name_or_number: &str) -> Result<usize, DataError> {
        resolve(name_or_number, &self.names, &self.source)
    }

    /// The columns asked for by name or by number from 1, in that order.
    pub fn select(&self, columns: &[String]) -> Result<Dataset, DataError> {
        let options = ReadOptions { columns: Some(columns.to_vec()), ..ReadOptions::default() };
        let choices = select(&self.names, &options, &self.source)?;
        Ok(Dataset {
            source: self.source.clone(),
            columns: choices.iter().map(|c| self.columns[c.position].clone()).collect(),
            names: choices.into_iter().map(|choice| choice.name).collect(),
        })
    }

    pub(super) fn into_parts(self) -> (String, Vec<String>, Vec<Vec<f64>>) {
        (self.source, self.names, self.columns)
    }

    /// Checks that a mixture of `n_components` Gaussians with full covariances makes sense: rows
    /// enough for components and columns, no constant column, no exact linear relation.
    pub fn check_for_mixture(&self, n_components: usize) -> Result<(), DataError> {
        self.check_for(n_components, true)
    }

    /// As [`Dataset::check_for_mixture`], for a mixture in which columns are independent: there may be more of them than
    /// rows, and one may follow from others.
    pub fn check_for_independent_columns(&self, n_components: usize) -> Result<(), DataError> {
        self.check_for(n_components, false)
    }

    fn check_for(&self, n_components: usize, with_covariances: bool) -> Result<(), DataError> {
        let ranges: Vec<[f64; 2]> = self.columns.iter().map(|column| range(column)).collect();
        let known = (&self.source[..], &self.names[..], self.n_rows(), &ranges[..]);
        let columns: Vec<&[f64]> = self.columns.iter().map(Vec::as_slice).collect();
        let gram = || scaled_gram(&columns, true);
        check_rows(known, n_components, with_covariances.then_some(&gram))
    }
}

/// So few components are tried whatever the number of units: that is quick, and warnings say what it is worth.
const FEW_COMPONENTS: usize = 10;

/// Checks that there are units enough for the components: at least one for each, and two where the components are many,
/// which would work for long on what nobody can tell apart.
pub(crate) fn check_components(
    source: &str,
    unit: &'static str,
    n_units: usize,
    n_components: usize,
) -> Result<(), DataError> {
    let file = || source.to_owned();
    if n_units < n_components {
        return Err(DataError::TooFewUnits { file: file(), unit, n_units, n_components });
    }
    if n_components > FEW_COMPONENTS && n_units < 2 * n_components {
        return Err(DataError::ManyComponents { file: file(), unit, n_units, n_components });
    }
    Ok(())
}

/// Checks that a mixture makes sense for rows of which source, names, number and the ranges of columns are known: rows
/// enough, no constant column, no size that squares lose; and with covariances (`gram` gives the lower triangle of the
/// Gram matrix of the centred columns scaled to length one) no exact linear relation.
pub(crate) fn check_rows(
    (source, names, n_rows, ranges): (&str, &[String], usize, &[[f64; 2]]),
    n_components: usize,
    gram: Option<&dyn Fn() -> Vec<Vec<f64>>>,
) -> Result<(), DataError> {
    let n_columns = names.len();
    let file = || source.to_owned();
    check_components(source, "row", n_rows, n_components)?;
    if gram.is_some() && n_rows <= n_columns {
        let needed = n_columns + 1;
        return Err(DataError::TooFewRows { file: file(), n_rows, n_columns, needed });
    }
    let is_constant = |[least, largest]: &[f64; 2]| least == largest;
    let constant = names.iter().zip(ranges).filter(|(_, range)| is_constant(range));
    let columns: Vec<String> = constant.map(|(name, _)| name.clone()).collect();
    if !columns.is_empty() {
        return Err(DataError::Constant { file: file(), columns, n_rows });
    }
    for (name, range) in names.iter().zip(ranges) {
        check_scale(source, name, *range)?;
    }
    match gram.and_then(|gram| find_relation_in(&gram())) {
        Some(relation) => Err(DataError::Collinear {
            file: file(),
            columns: relation.columns.iter().map(|&j| names[j].clone()).collect(),
            n_columns,
            rank: relation.rank,
        }),
        None => Ok(()),
    }
}

/// The least spread and the largest size that a column may have: squares of squares, which laws of variances need,
/// then stay within the range of a double.
pub(super) const SMALLEST: f64 = 1e-70;
pub(super) const LARGEST: f64 = 1e70;

/// Refuses a column that goes from `least` to `largest` if its squares would lose digits. One that does not change is
/// not refused for its spread.
pub(super) fn check_scale(file: &str, column: &str, range: [f64; 2]) -> Result<(), DataError> {
    let [least, largest] = range;
    let (spread, size) = (largest - least, least.abs().max(largest.abs()));
    match size <= LARGEST && (spread == 0.0 || spread >= SMALLEST) {
        true => Ok(()),
        false => {
            let (file, column) = (file.to_owned(), column.to_owned());
            Err(DataError::Scale { file, column, least, largest })
        }
    }
}

/// Least and largest of some values.
pub(super) fn range(values: &[f64]) -> [f64; 2] {
    values.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], &x| [a.min(x), b.max(x)])
}

pub(super) fn is_constant(values: &[f64]) -> bool {
    values.iter().all(|&v| v == values[0])
}

/// Checks names, lengths and values of columns in memory, and returns the names trimmed.
pub(super) fn check_columns(
    names: Vec<String>,
    columns: &[Vec<f64>],
) -> Result<Vec<String>, DataError> {
    let file = || IN_MEMORY.to_owned();
    let names: Vec<String> = names.into_iter().map(|name| name.trim().to_owned()).collect();
    let n_columns = columns.len();
    if names.len() != n_columns {
        return Err(DataError::NameCount { file: file(), n_names: names.len(), n_columns });
    }
    let Some(n_rows) = columns.first().map(Vec::len) else {
        return Err(DataError::Empty { file: file() });
    };
    if n_rows == 0 {
        return Err(DataError::HeaderOnly { file: file(), n_columns });
    }
    check_names(&names, IN_MEMORY, &|_| true)?;
    let mut bad_cells: Vec<(usize, usize)> = Vec::new();
    for (j, column) in columns.iter().enumerate() {
        if column.len() != n_rows {
            return Err(DataError::UnequalLengths {
                file: file(),
                column: names[j].clone(),
                expected: n_rows,
                found: column.len(),
            });
        }
        bad_cells.extend((0..n_rows).filter(|&i| !column[i].is_finite()).map(|i| (i, j)));
    }
    check_size(IN_MEMORY, n_rows, n_columns)?;
    if bad_cells.is_empty() {
        return Ok(names);
    }
    bad_cells.sort_unstable();
    let first = bad_cells
        .iter()
        .take(MissingCells::SHOWN)
        .map(|&(i, j)| BadCell {
            row: i as u64 + 1,
            column: names[j].clone(),
            text: columns[j][i].to_string(),
        })
        .collect();
    let n_cells = bad_cells.len();
    bad_cells.dedup_by_key(|cell| cell.0);
    let n_rows = bad_cells.len();
    let missing = MissingCells {
        file: file(),
        unit: RowUnit::Row,
        first,
        n_cells,
        n_rows,
        of_numbers_only: true,
    };
    Err(DataError::Missing(Box::new(missing)))
}

/// Later code multiplies rows by columns by eight bytes; refuse what would wrap.
pub(super) fn check_size(file: &str, n_rows: usize, n_columns: usize) -> Result<(), DataError> {
    let bytes = n_rows.checked_mul(n_columns).and_then(|cells| cells.checked_mul(8));
    match bytes {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(()),
        _ => Err(DataError::TooLarge { file: file.to_owned(), n_rows, n_columns }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remedy::{Advise, in_command};

    fn named(names: &[&str], columns: &[&[f64]]) -> Result<Dataset, DataError> {
        Dataset::from_columns(
            names.iter().map(|name| (*name).to_owned()).collect(),
            columns.iter().map(|column| column.to_vec()).collect(),
        )
    }

    #[test]
    fn old_faithful_is_embedded() {
        let data = Dataset::faithful();
        assert_eq!((data.n_rows(), data.n_columns()), (272, 2));
        assert_eq!(data.names(), ["eruptions", "waiting"]);
        assert_eq!((data.column(0)[0], data.column(1)[271]), (3.6, 74.0));
        data.check_for_mixture(2).unwrap();
        assert_eq!(data.column_index("waiting").unwrap(), 1);
        assert_eq!(data.column_index("2").unwrap(), 1);
        let chosen = data.select(&["waiting".to_owned(), "1".to_owned()]).unwrap();
        assert_eq!(chosen.names(), ["waiting", "eruptions"]);
        assert_eq!(chosen.column(0), data.column(1));
        assert!(data.select(&["wait".to_owned()]).is_err());
    }

    #[test]
    fn columns_in_memory_are_checked() {
        let cases: [(Result<Dataset, DataError>, &[&str]); 8] = [
            (named(&[], &[]), &["the data is empty"]),
            (named(&["a"], &[&[]]), &["0 rows"]),
            (named(&["a"], &[&[1.0], &[2.0]]), &["1 name for 2 columns"]),
            (named(&["a", " "], &[&[1.0], &[2.0]]), &["column 2 has no name"]),
            (named(&["a", " a "], &[&[1.0], &[2.0]]), &["columns 1 and 2", "`a`"]),
            (named(&["a", "b"], &[&[1.0, 2.0], &[2.0]]), &["`b` has 1 value", "has 2"]),
            (
                named(&["a", "b"], &[&[1.0, f64::NAN], &[f64::INFINITY, 2.0]]),
                &["2 cells are", "2 rows", "row 1, column `b`: `inf`; row 2, column `a`: `NaN`"],
            ),
            (named(&["a"], &[&[f64::NEG_INFINITY]]), &["1 cell is", "in 1 row", "-inf"]),
        ];
        for (result, fragments) in cases {
            let message = result.unwrap_err().advised(in_command);
            for fragment in fragments {
                assert!(message.contains(fragment), "{fragment:?} not in {message:?}");
            }
        }
    }

    #[test]
    fn data_unfit_for_a_mixture_are_refused() {
        let line: Vec<f64> = (0..9).map(f64::from).collect();
        let square: Vec<f64> = line.iter().map(|v| v * v).collect();
        let mixed: Vec<f64> = line.iter().zip(&square).map(|(a, b)| 2.0 * a - b + 1.0).collect();
        let wide: Vec<&[f64]> = vec![&line[..3]; 3];
        let cases: [(Dataset, usize, &[&str]); 4] = [
            (named(&["a"], &[&line]).unwrap(), 10, &["9 rows for 10 components", "--components"]),
            (named(&["a", "b", "c"], &wide).unwrap(), 2, &["3 rows for 3 columns", "at least 4"]),
            (
                named(&["a", "b"], &[&line, &[7.0; 9]]).unwrap(),
                2,
                &["same value in all 9 rows (`b`)", "leave it out"],
            ),
            (
                named(&["a", "b", "c"], &[&line, &square, &mixed]).unwrap(),
                2,
                &["`a`, `b` and `c` are exactly collinear", "only 2 dimensions", "--columns"],
            ),
        ];
        for (data, n_components, fragments) in cases {
            let message = data.check_for_mixture(n_components).unwrap_err().advised(in_command);
            for fragment in fragments {
                assert!(message.contains(fragment), "{fragment:?} not in {message:?}");
            }
        }
    }

    #[test]
    fn columns_whose_squares_leave_the_range_of_a_double_are_refused() {
        let wave =
            |size: f64| -> Vec<f64> { (0..9).map(|i| (f64::from(i) * 0.7).sin() * size).collect() };
        for size in [1e-60, 1.0, 1e69] {
            named(&["b"], &[&wave(size)]).unwrap().check_for_mixture(2).unwrap();
        }
        for size in [1e-162, 1e-80, 1e80, 1e154, 1e300] {
            let data = named(&["b"], &[&wave(size)]).unwrap();
            let message = data.check_for_mixture(2).unwrap_err().advised(in_command);
            assert!(
                message.contains("column `b` goes from") && message.contains("change its units"),
                "{message}"
            );
        }
    }

    #[test]
    fn sizes_that_would_wrap_are_refused() {
        assert!(check_size("f", usize::MAX / 4, 5).is_err());
        assert!(check_size("f", 1_000_000, 5).is_ok());
    }
}
