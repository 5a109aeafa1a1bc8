//! Statistics as a plain table of numbers, a row per group, and back.

use super::GroupStatistics;
use crate::data::{DataError, Dataset, Formula, GroupNames, Pieces, ReadOptions, read_path};
use crate::linalg::{packed_index, packed_len};
use crate::model::moments;
use std::path::Path;

/// The first column of statistics that are stored as a table; rows that are stored begin with the
/// response instead.
pub(in crate::model) const IS_STATISTICS: &str = "(group)";

/// The second column.
const ROWS: &str = "rows";

impl GroupStatistics {
    /// Statistics as a table keeps them in its `data.parquet`, for more of the same table without the
    /// file that they came from; `None` when the file is something else.
    pub fn read_stored(
        path: &Path,
        formula: &Formula,
    ) -> Result<Option<GroupStatistics>, DataError> {
        let marks = vec![IS_STATISTICS.to_owned(), ROWS.to_owned()];
        let marks = ReadOptions { columns: Some(marks), ..ReadOptions::default() };
        // A pipe can be read but once, and is left to who reads it in pieces.
        if !std::fs::metadata(path).is_ok_and(|found| found.is_file()) {
            return Ok(None);
        }
        // Only the header is read here. What else is wrong with the file is said when it is read.
        if Pieces::open(path, &marks, 1).is_err() {
            return Ok(None);
        }
        let data = read_path(path, &ReadOptions::default())?.into_dataset()?;
        let Some(found) = GroupStatistics::from_dataset(&data) else { return Ok(None) };
        if !formula.gives(found.response_name(), found.design_names()) {
            let GroupNames { source: file, response, design, .. } = found.names;
            let variables = [response].into_iter().chain(design).collect();
            let formula = formula.text().to_owned();
            return Err(DataError::OtherFormula { file, variables, formula });
        }
        Ok(Some(found))
    }

    /// Names and values: the group's number, its rows, sums and sums of products, then for all
    /// groups alike the centre, the least and the largest value of each variable.
    pub(in crate::model) fn to_columns(&self) -> Vec<(String, Vec<f64>)> {
        let width = self.width();
        let n = self.n_groups();
        let length = moments::len(width);
        let sum = |at: usize| -> Vec<f64> {
            self.sums.iter().skip(at).step_by(length).copied().collect()
        };
        let names: Vec<&String> = self.names.design.iter().chain([&self.names.response]).collect();
        let mut columns = vec![
            (IS_STATISTICS.to_owned(), (0..n).map(|group| group as f64).collect()),
            (ROWS.to_owned(), sum(0)),
        ];
        columns.extend((0..width).map(|j| (format!("sum[{}]", names[j]), sum(1 + j))));
        for i in 0..width {
            for j in 0..=i {
                let at = 1 + width + packed_index(i, j);
                columns.push((format!("product[{},{}]", i + 1, j + 1), sum(at)));
            }
        }
        let same = |what: &str, value: &dyn Fn(usize) -> f64| -> Vec<(String, Vec<f64>)> {
            (0..width).map(|j| (format!("{what}[{}]", names[j]), vec![value(j); n])).collect()
        };
        columns.extend(same("centre", &|j| self.centre[j]));
        columns.extend(same("least", &|j| self.ranges[j][0]));
        columns.extend(same("largest", &|j| self.ranges[j][1]));
        columns
    }

    /// The inverse of [`to_columns`](Self::to_columns); `None` when the columns are not those.
    pub(in crate::model) fn from_dataset(data: &Dataset) -> Option<GroupStatistics> {
        let stored = data.names();
        if stored.first()? != IS_STATISTICS || stored.get(1)? != ROWS {
            return None;
        }
        let mut names: Vec<String> = stored[2..]
            .iter()
            .map_while(|name| name.strip_prefix("sum[")?.strip_suffix(']').map(str::to_owned))
            .collect();
        let width = names.len();
        if width < 2 || stored.len() != 2 + width + packed_len(width) + 3 * width {
            return None;
        }
        let n_groups = data.n_rows();
        let length = moments::len(width);
        let mut sums = vec![0.0; n_groups * length];
        for at in 0..length {
            let places = sums.iter_mut().skip(at).step_by(length);
            places.zip(data.column(1 + at)).for_each(|(place, &x)| *place = x);
        }
        if data.column(1).iter().any(|&rows| rows < 1.0) {
            return None;
        }
        let after = 1 + length;
        let first = |j: usize| data.column(after + j)[0];
        let response = names.pop()?;
        Some(GroupStatistics {
            names: GroupNames {
                source: data.source().to_owned(),
                response,
                design: names,
                labels: Some(data.column(0).iter().map(f64::to_string).collect()),
                n_groups,
            },
            n_dropped: 0,
            centre: (0..width).map(first).collect(),
            ranges: (0..width).map(|j| [first(width + j), first(2 * width + j)]).collect(),
            sums,
        })
    }
}
