//! What a mixture of regressions asks of its data, whether they are held as rows or as sums.

use std::borrow::Cow;

use super::collinear::find_relation_in;
use super::dataset::check_scale;
use super::error::DataError;

/// Name of the column of ones.
pub(crate) const INTERCEPT: &str = "(Intercept)";

/// Grouped data, as far as they must be known to be checked.
pub(crate) trait Regressors {
    /// What messages call the data.
    fn source(&self) -> &str;
    /// Names of the design's columns.
    fn design_names(&self) -> &[String];
    /// Number of rows.
    fn n_rows(&self) -> usize;
    /// Number of rows of each group.
    fn group_sizes(&self) -> Vec<usize>;
    /// A group's name in messages.
    fn group_label(&self, group: usize) -> Cow<'_, str>;
    /// Whether groups have labels, or are single rows.
    fn has_labels(&self) -> bool;
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
    let file = || data.source().to_owned();
    let sizes = data.group_sizes();
    if sizes.len() < n_components {
        return Err(DataError::TooFewUnits {
            file: file(),
            unit: if data.has_labels() { "group" } else { "row" },
            n_units: sizes.len(),
            n_components,
        });
    }
    let mut small = (0..sizes.len()).filter(|&group| sizes[group] < min_rows_per_group);
    if let Some(group) = small.next() {
        return Err(DataError::SmallGroup {
            file: file(),
            group: data.group_label(group).into_owned(),
            n_rows: sizes[group],
            needed: min_rows_per_group,
            others: small.count(),
        });
    }
    let (n_rows, n_columns) = (data.n_rows(), data.design_names().len());
    if n_rows < n_columns {
        return Err(DataError::TooFewRows { file: file(), n_rows, n_columns, needed: n_columns });
    }
    for (name, range) in data.ranges() {
        check_scale(data.source(), name, range)?;
    }
    check_rank(data)
}

fn check_rank(data: &dyn Regressors) -> Result<(), DataError> {
    let names = data.design_names();
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
            file: data.source().to_owned(),
            columns: useless,
            n_rows: data.n_rows(),
        });
    }
    match find_relation_in(&data.scaled_gram(&others, intercept.is_some())) {
        None => Ok(()),
        Some(relation) => Err(DataError::Collinear {
            file: data.source().to_owned(),
            columns: relation.columns.iter().map(|&j| names[others[j]].clone()).collect(),
            n_columns: names.len(),
            rank: relation.rank + usize::from(intercept.is_some()),
        }),
    }
}
