//! Groups without their rows: the sums that a mixture of regressions needs of each.

mod accumulate;
mod stored;

pub(in crate::model) use stored::IS_STATISTICS;

use crate::data::{self, DataError, GroupNames, Regressors};
use crate::linalg::packed_index;
use crate::model::moments;
use std::borrow::Cow;
use std::ops::Deref;

/// Each group's number of rows and its sums and sums of products of the design's columns and the
/// response, from which [`Bmlr::from_statistics`](super::Bmlr::from_statistics) makes the same model as
/// [`Bmlr::new`](super::Bmlr::new) does from the rows.
///
/// [`from_pieces`](GroupStatistics::from_pieces) reads rows once and forgets them, so that memory grows
/// with the groups and not with the rows. Where there is an intercept, sums are taken of the distances from
/// a centre, the means of the first piece: a column far from zero keeps its digits. Moving to the means of
/// all rows then loses at most the digits of `rows / rows of the first piece`, because those rows
/// are themselves part of the variance.
///
/// ```
/// use trustvb::data::{Formula, Pieces};
/// use trustvb::model::GroupStatistics;
///
/// let text = "plot,height,light\nA,1.5,0.2\nB,0.7,0.9\nA,1.9,0.4\n";
/// let formula = Formula::parse("height ~ light | plot")?;
/// let pieces = Pieces::from_csv(text.as_bytes(), "plants.csv", &formula.read_options(), Pieces::ROWS)?;
/// let plants = GroupStatistics::from_pieces(&formula, pieces)?;
/// assert_eq!((plants.n_groups(), plants.n_rows()), (2, 3));
/// # Ok::<(), trustvb::data::DataError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GroupStatistics {
    names: GroupNames,
    n_dropped: usize,
    /// What is subtracted from the columns of the design, then from the response.
    centre: Vec<f64>,
    /// Least and largest value of each.
    ranges: Vec<[f64; 2]>,
    /// Per group the rows, the sums and the triangle of the sums of products, as in [`moments`].
    sums: Vec<f64>,
}

/// A column in a few numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VariableSummary {
    /// Mean of all rows.
    pub mean: f64,
    /// Standard deviation, with the number of rows less one.
    pub sd: f64,
    /// Least value.
    pub least: f64,
    /// Largest value.
    pub largest: f64,
}

impl Deref for GroupStatistics {
    type Target = GroupNames;

    fn deref(&self) -> &GroupNames {
        &self.names
    }
}

impl GroupStatistics {
    /// Number of rows that were read and kept.
    pub fn n_rows(&self) -> usize {
        // Whole numbers: exact up to 2^53 rows.
        self.pooled().n_rows() as usize
    }

    /// Number of rows that were dropped because a cell was missing.
    pub fn n_dropped(&self) -> usize {
        self.n_dropped
    }

    /// Rows in each group.
    pub fn group_sizes(&self) -> Vec<usize> {
        (0..self.n_groups()).map(|group| self.sums(group).n_rows() as usize).collect()
    }

    /// Column `j` of the design in a few numbers, or the response for `j` = their number.
    pub fn summary(&self, j: usize) -> VariableSummary {
        let pooled = self.pooled();
        let (n, mean) = (pooled.n_rows(), pooled.mean(j));
        let [least, largest] = self.range(j);
        let sd = (pooled.mean_square(j, mean) * n / (n - 1.0)).sqrt();
        VariableSummary { mean, sd, least, largest }
    }

    /// Checks that a mixture of `n_components` regressions makes sense; see
    /// [`Grouped::check_for_mixture`](crate::data::Grouped::check_for_mixture).
    pub fn check_for_mixture(
        &self,
        n_components: usize,
        min_rows_per_group: usize,
    ) -> Result<(), DataError> {
        data::check_for_mixture(self, n_components, min_rows_per_group)
    }

    /// Columns of the design and the response.
    fn width(&self) -> usize {
        self.n_columns() + 1
    }

    /// Least and largest value of a column of the design, or of the response after them.
    pub(super) fn range(&self, j: usize) -> [f64; 2] {
        self.ranges[j]
    }

    /// The sums of a group.
    pub(super) fn sums(&self, group: usize) -> Sums<'_> {
        let length = moments::len(self.width());
        let sums = &self.sums[group * length..(group + 1) * length];
        Sums { centre: &self.centre, sums: Cow::Borrowed(sums) }
    }

    /// The sums of all rows.
    pub(super) fn pooled(&self) -> Sums<'_> {
        // In blocks, so that the error grows with the number of blocks and not of groups.
        const BLOCK: usize = 512;
        let length = moments::len(self.width());
        let mut total = vec![0.0; length];
        let add = |total: &mut [f64], more: &[f64]| {
            total.iter_mut().zip(more).for_each(|(total, more)| *total += more);
        };
        for groups in self.sums.chunks(BLOCK * length) {
            let mut block = vec![0.0; length];
            groups.chunks_exact(length).for_each(|sums| add(&mut block, sums));
            add(&mut total, &block);
        }
        Sums { centre: &self.centre, sums: Cow::Owned(total) }
    }
}

/// Sums over some rows of the distances from a centre.
pub(super) struct Sums<'a> {
    centre: &'a [f64],
    sums: Cow<'a, [f64]>,
}

impl Sums<'_> {
    /// Number of rows.
    pub(super) fn n_rows(&self) -> f64 {
        self.sums[0]
    }

    fn first(&self, j: usize) -> f64 {
        self.sums[1 + j]
    }

    /// `Σ (x_i − c_i)(x_j − c_j)` for another centre `c`.
    pub(super) fn product_about(&self, c: &[f64], i: usize, j: usize) -> f64 {
        self.product(i, j, c[i] - self.centre[i], c[j] - self.centre[j])
    }

    /// The same for a centre that is moved by `a` for `x_i` and by `b` for `x_j`.
    fn product(&self, i: usize, j: usize, a: f64, b: f64) -> f64 {
        let second = self.sums[1 + self.centre.len() + packed_index(i, j)];
        second - a * self.first(j) - b * self.first(i) + self.n_rows() * a * b
    }

    /// The mean.
    pub(super) fn mean(&self, j: usize) -> f64 {
        self.centre[j] + self.first(j) / self.n_rows()
    }

    /// Mean square of the distances from `c`.
    pub(super) fn mean_square(&self, j: usize, c: f64) -> f64 {
        let moved = c - self.centre[j];
        (self.product(j, j, moved, moved) / self.n_rows()).max(0.0)
    }
}

impl Regressors for GroupStatistics {
    fn names(&self) -> &GroupNames {
        &self.names
    }
    fn n_rows(&self) -> usize {
        self.n_rows()
    }
    fn group_sizes(&self) -> Vec<usize> {
        self.group_sizes()
    }
    fn constant(&self, column: usize) -> Option<f64> {
        let [least, largest] = self.range(column);
        (least == largest).then_some(least)
    }
    fn ranges(&self) -> Vec<(&str, [f64; 2])> {
        let names = self.names.design.iter().map(String::as_str).chain([self.response_name()]);
        names.zip(self.ranges.iter().copied()).collect()
    }
    fn scaled_gram(&self, columns: &[usize], centred: bool) -> Vec<Vec<f64>> {
        let pooled = self.pooled();
        // The move itself, not the mean: adding it to a large centre would round it.
        let moved = |j: usize| match centred {
            true => pooled.first(j) / pooled.n_rows(),
            false => -self.centre[j],
        };
        let product = |i: usize, j: usize| pooled.product(i, j, moved(i), moved(j));
        let length = |j: usize| product(j, j).max(0.0).sqrt();
        let entry = |a: usize, b: usize| product(a, b) / (length(a) * length(b));
        (0..columns.len())
            .map(|a| {
                (0..=a).map(|b| if a == b { 1.0 } else { entry(columns[a], columns[b]) }).collect()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
