//! What a mixture of regressions asks of its data, whether they are held as rows or as sums.

use std::borrow::Cow;

use super::collinear::find_relation_in;
use super::dataset::{check_components, check_scale};
use super::error::DataError;

/// Name of the column of ones.
pub(crate) const INTERCEPT: &str = "(Intercept)";

/// What grouped data are called: the file, the response, the design's columns and the groups.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupNames {
    pub(crate) source: String,
    pub(crate) response: String,
    pub(crate) design: Vec<String>,
    /// None when every row is its own group.
    pub(crate) labels: Option<Vec<String>>,
    pub(crate) n_groups: usize,
}

impl GroupNames {
    /// What messages call the data: mostly the file.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Name of the response.
    pub fn response_name(&self) -> &str {
        &self.response
    }

    /// Names of the design's columns; `(Intercept)` comes first where there is one.
    pub fn design_names(&self) -> &[String] {
        &self.design
    }

    /// Number of the design's columns.
    pub fn n_columns(&self) -> usize {
        self.design.len()
    }

    /// Number of groups: the units of the model.
    pub fn n_groups(&self) -> usize {
        self.n_groups
    }

    /// The group's label as in the file, or the row's number from 1 when rows are the groups.
    pub fn group_label(&self, group: usize) -> Cow<'_, str> {
        match &self.labels {
            Some(labels) => Cow::Borrowed(&labels[group]),
            None => Cow::Owned((group + 1).to_string()),
        }
    }
}

/// Grouped data, as far as they must be known to be checked.
pub(crate) trait Regressors {
    /// What they are called.
    fn names(&self) -> &GroupNames;
    /// Number of rows.
    fn n_rows(&self) -> usize;
    /// Number of rows of each group.
    fn group_sizes(&self) -> Vec<usize>;
    /// The value of a column of the design that never changes.
    fn constant(&self, column: usize) -> Option<f64>;
    /// Names of the design's columns and of the response, each with its least and largest value.
    fn ranges(&self) -> Vec<(&str, [f64; 2])>;
    /// Lower triangle of the Gram matrix of these columns of the design scaled to length one;
    /// `centred` measures them from their means.
    fn scaled_gram(&self, columns: &[usize], centred: bool) -> Vec<Vec<f64>>;
}

/// Checks that a mixture of `n_components` regressions makes sense: groups enough for the components,
/// rows enough in all and in each group, and a design of full rank.
pub(crate) fn check_for_mixture(
    data: &dyn Regressors,
    n_components: usize,
    min_rows_per_group: usize,
) -> Result<(), DataError> {
    let named = data.names();
    let file = || named.source.clone();
    let sizes = data.group_sizes();
    let unit = if named.labels.is_some() { "group" } else { "row" };
    check_components(&named.source, unit, sizes.len(), n_components)?;
    let mut small = (0..sizes.len()).filter(|&group| sizes[group] < min_rows_per_group);
    if let Some(group) = small.next() {
        return Err(DataError::SmallGroup {
            file: file(),
            group: named.group_label(group).into_owned(),
            n_rows: sizes[group],
            needed: min_rows_per_group,
            others: small.count(),
        });
    }
    let (n_rows, n_columns) = (data.n_rows(), named.n_columns());
    if n_rows < n_columns {
        return Err(DataError::TooFewRows { file: file(), n_rows, n_columns, needed: n_columns });
    }
    for (name, range) in data.ranges() {
        check_scale(&named.source, name, range)?;
    }
    check_rank(data)
}

fn check_rank(data: &dyn Regressors) -> Result<(), DataError> {
    let (source, names) = (&data.names().source, &data.names().design);
    let intercept = names.iter().position(|name| name == INTERCEPT);
    let others: Vec<usize> = (0..names.len()).filter(|&j| Some(j) != intercept).collect();
    let useless: Vec<String> = others
        .iter()
        // Beside an intercept any constant is one too many; alone, only zeros are.
        .filter(|&&j| data.constant(j).is_some_and(|value| intercept.is_some() || value == 0.0))
        .map(|&j| names[j].clone())
        .collect();
    if !useless.is_empty() {
        return Err(DataError::Constant {
            file: source.clone(),
            columns: useless,
            n_rows: data.n_rows(),
        });
    }
    match find_relation_in(&data.scaled_gram(&others, intercept.is_some())) {
        None => Ok(()),
        Some(relation) => Err(DataError::Collinear {
            file: source.clone(),
            columns: relation.columns.iter().map(|&j| names[others[j]].clone()).collect(),
            n_columns: names.len(),
            rank: relation.rank + usize::from(intercept.is_some()),
        }),
    }
}
