//! A response, a design matrix and groups of rows: what a mixture of regressions is fitted to.

use std::ops::Deref;

use super::collinear::scaled_gram;
use super::dataset::{check_columns, is_constant, range};
use super::error::DataError;
use super::frame::TextBuilder;
use super::regressors::{self, GroupNames, Regressors};

/// Rows in groups; all rows of a group belong to one component.
#[derive(Debug, Clone, PartialEq)]
pub struct Grouped {
    names: GroupNames,
    response: Vec<f64>,
    design: Vec<Vec<f64>>,
    groups: Vec<usize>,
}

impl Deref for Grouped {
    type Target = GroupNames;

    fn deref(&self) -> &GroupNames {
        &self.names
    }
}

impl Grouped {
    /// Checks columns that are already in memory; `labels` names each row's group, and without it
    /// every row is its own.
    pub fn from_columns(
        response_name: String,
        response: Vec<f64>,
        design_names: Vec<String>,
        design: Vec<Vec<f64>>,
        labels: Option<&[String]>,
    ) -> Result<Self, DataError> {
        let source = "the data".to_owned();
        if design.is_empty() {
            return Err(DataError::NoColumns { file: source, n_columns: 0 });
        }
        let mut names = vec![response_name];
        names.extend(design_names);
        let mut columns = vec![response];
        columns.extend(design);
        let mut names = check_columns(names, &columns)?;
        let response = columns.remove(0);
        let response_name = names.remove(0);
        let n_rows = response.len();
        let (groups, labels) = match labels {
            None => ((0..n_rows).collect(), None),
            Some(labels) => {
                if labels.len() != n_rows {
                    return Err(DataError::UnequalLengths {
                        file: source,
                        column: "group".to_owned(),
                        expected: n_rows,
                        found: labels.len(),
                    });
                }
                let mut builder = TextBuilder::default();
                if !labels.iter().all(|label| builder.push(label)) {
                    return Err(DataError::TooLarge {
                        file: source,
                        n_rows,
                        n_columns: columns.len(),
                    });
                }
                let text = builder.finish();
                let groups = text.codes().iter().map(|&code| code as usize).collect();
                (groups, Some(text.levels().to_vec()))
            }
        };
        Ok(Self::assemble(source, response_name, response, names, columns, groups, labels))
    }

    /// Groups of equally many consecutive rows, labelled by their numbers from 1.
    pub fn balanced(
        response_name: String,
        response: Vec<f64>,
        design_names: Vec<String>,
        design: Vec<Vec<f64>>,
        rows_per_group: usize,
    ) -> Result<Self, DataError> {
        let rows = rows_per_group.max(1);
        let mut data = Self::from_columns(response_name, response, design_names, design, None)?;
        let n_rows = data.response.len();
        data.groups = (0..n_rows).map(|row| row / rows).collect();
        let n_groups = n_rows.div_ceil(rows);
        data.names.n_groups = n_groups;
        data.names.labels = Some((1..=n_groups).map(|group| group.to_string()).collect());
        Ok(data)
    }

    /// The formula has checked everything; this only assembles.
    pub(super) fn assemble(
        source: String,
        response_name: String,
        response: Vec<f64>,
        design_names: Vec<String>,
        design: Vec<Vec<f64>>,
        groups: Vec<usize>,
        labels: Option<Vec<String>>,
    ) -> Self {
        let n_groups = labels.as_ref().map_or(response.len(), Vec::len);
        let names =
            GroupNames { source, response: response_name, design: design_names, labels, n_groups };
        Grouped { names, response, design, groups }
    }

    /// The response of each row.
    pub fn response(&self) -> &[f64] {
        &self.response
    }

    /// Values of the design's column `j`.
    pub fn design_column(&self, j: usize) -> &[f64] {
        &self.design[j]
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.response.len()
    }

    /// The group of each row, numbered from 0 in order of first appearance.
    pub fn groups(&self) -> &[usize] {
        &self.groups
    }

    /// Rows in each group.
    pub fn group_sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.n_groups];
        self.groups.iter().for_each(|&group| sizes[group] += 1);
        sizes
    }

    /// Checks that a mixture of `n_components` regressions makes sense: groups enough for the
    /// components, rows enough in all and in each group, and a design of full rank.
    pub fn check_for_mixture(
        &self,
        n_components: usize,
        min_rows_per_group: usize,
    ) -> Result<(), DataError> {
        regressors::check_for_mixture(self, n_components, min_rows_per_group)
    }
}

impl Regressors for Grouped {
    fn names(&self) -> &GroupNames {
        &self.names
    }
    fn n_rows(&self) -> usize {
        self.response.len()
    }
    fn group_sizes(&self) -> Vec<usize> {
        self.group_sizes()
    }
    fn constant(&self, column: usize) -> Option<f64> {
        let values = self.design_column(column);
        is_constant(values).then(|| values[0])
    }
    fn ranges(&self) -> Vec<(&str, [f64; 2])> {
        let design = self.names.design.iter().enumerate();
        let mut ranges: Vec<_> =
            design.map(|(j, name)| (name.as_str(), range(self.design_column(j)))).collect();
        ranges.push((self.response_name(), range(&self.response)));
        ranges
    }
    fn scaled_gram(&self, columns: &[usize], centred: bool) -> Vec<Vec<f64>> {
        let columns: Vec<&[f64]> = columns.iter().map(|&j| self.design_column(j)).collect();
        scaled_gram(&columns, centred)
    }
}
