//! The coordinates in which k-means looks at rows: clusters that are plain in one may be hidden in another.
//!
//! k-means sees distance, so columns that vary together drown a cluster that lies apart in a direction of little variance.
//! Standardising columns does not help against that, and starts that all look alike all fail alike. Beside them
//! one start looks in each other way. These are the same whatever linear map is applied to the rows.

use super::points::Points;
use crate::fit::Clusterable;
use crate::linalg::eigen::symmetric_eigen;
use crate::linalg::{cholesky, invert_lower, packed_index, packed_len};

/// How rows are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// Each column with standard deviation 1.
    Scaled,
    /// Covariance of all rows the identity.
    Whitened,
    /// The `K − 1` directions in which rows have the lightest tails, as two clusters of like size have across the gap.
    Flat,
    /// The `K` directions whose tails are least like a Gaussian's: heavy ones too, as a small cluster far off makes them.
    Odd,
}

impl View {
    const ALL: [View; 4] = [View::Scaled, View::Whitened, View::Flat, View::Odd];

    /// Views of `p` columns beside that of the columns themselves. One column looks the same in all of them.
    pub(super) fn n_others(p: usize) -> usize {
        if p > 1 { View::ALL.len() - 1 } else { 0 }
    }

    /// The columns themselves for 0.
    pub(super) fn numbered(number: usize) -> View {
        View::ALL[number % View::ALL.len()]
    }
}

/// More columns than this have no directions of their own: their fourth moments take many rows, and long.
const MOST_COLUMNS: usize = 64;

/// Rows per column below which fourth moments say nothing.
const ROWS_PER_COLUMN: usize = 8;

/// Some rows in the coordinates of a view.
pub(super) struct Seen {
    /// Coordinates, and the columns themselves.
    q: usize,
    p: usize,
    /// Row after row: coordinates, then columns.
    numbers: Vec<f64>,
}

impl Seen {
    /// Nothing where the view is of the rows as they are, or where these rows do not allow it.
    pub(super) fn new(
        points: &Points<'_>,
        chosen: &[(usize, f64)],
        view: View,
        n_components: usize,
    ) -> Option<Seen> {
        let p = points.p;
        if view == View::Scaled {
            return None;
        }
        let mut rows = vec![0.0; chosen.len() * p];
        for (row, &(unit, _)) in rows.chunks_exact_mut(p).zip(chosen) {
            points.centre_of(unit, row);
        }
        let weights: Vec<f64> = chosen.iter().map(|&(_, weight)| weight).collect();
        let white = whitened(p, &rows, &weights)?;
        let directions = match view {
            View::Flat => {
                directions(p, &white, &weights, n_components.max(2) - 1, |moment| moment)?
            }
            View::Odd => directions(p, &white, &weights, n_components, |moment| {
                -(moment - (p + 2) as f64).abs()
            })?,
            View::Scaled | View::Whitened => Vec::new(),
        };
        let q = if directions.is_empty() { p } else { directions.len() / p };
        let mut numbers = Vec::with_capacity(chosen.len() * (q + p));
        for (z, x) in white.chunks_exact(p).zip(rows.chunks_exact(p)) {
            if directions.is_empty() {
                numbers.extend_from_slice(z);
            }
            numbers.extend(
                directions
                    .chunks_exact(p)
                    .map(|d| d.iter().zip(z).map(|(d, z)| d * z).sum::<f64>()),
            );
            numbers.extend_from_slice(x);
        }
        Some(Seen { q, p, numbers })
    }

    /// The columns of centres, without their coordinates.
    pub(super) fn columns(&self, centres: &[f64]) -> Vec<f64> {
        centres.chunks_exact(self.q + self.p).flat_map(|own| own[self.q..].to_vec()).collect()
    }

    fn row(&self, unit: usize) -> &[f64] {
        &self.numbers[unit * (self.q + self.p)..][..self.q + self.p]
    }
}

/// A centre has coordinates and columns; only the coordinates count as distance.
impl Clusterable for Seen {
    fn n_units(&self) -> usize {
        self.numbers.len() / (self.q + self.p)
    }
    fn centre_len(&self) -> usize {
        self.q + self.p
    }
    fn loss(&self, unit: usize, centre: &[f64]) -> f64 {
        self.row(unit)[..self.q].iter().zip(centre).map(|(x, c)| (x - c) * (x - c)).sum()
    }
    fn centre_of(&self, unit: usize, out: &mut [f64]) {
        out.copy_from_slice(self.row(unit));
    }
    fn refit(&self, members: &mut dyn Iterator<Item = (usize, f64)>, out: &mut [f64]) {
        let mut total = 0.0;
        let mut sum = vec![0.0; self.q + self.p];
        for (unit, weight) in members {
            total += weight;
            for (s, x) in sum.iter_mut().zip(self.row(unit)) {
                *s += weight * x;
            }
        }
        if total > 0.0 {
            for (x, s) in out.iter_mut().zip(sum) {
                *x = s / total;
            }
        }
    }
}

/// Weighted rows with mean 0 and the identity for covariance; nothing where columns are dependent.
fn whitened(p: usize, rows: &[f64], weights: &[f64]) -> Option<Vec<f64>> {
    let total: f64 = weights.iter().sum();
    let mut mean = vec![0.0; p];
    for (row, w) in rows.chunks_exact(p).zip(weights) {
        mean.iter_mut().zip(row).for_each(|(m, x)| *m += w / total * x);
    }
    let centred: Vec<f64> = rows.iter().enumerate().map(|(at, x)| x - mean[at % p]).collect();
    let mut covariance = vec![0.0; packed_len(p)];
    for (row, w) in centred.chunks_exact(p).zip(weights) {
        for i in 0..p {
            let share = w / total * row[i];
            for j in 0..=i {
                covariance[packed_index(i, j)] += share * row[j];
            }
        }
    }
    cholesky(p, &mut covariance).ok()?;
    let mut inverse = vec![0.0; packed_len(p)];
    invert_lower(p, &covariance, &mut inverse);
    let mut white = Vec::with_capacity(centred.len());
    for row in centred.chunks_exact(p) {
        white.extend(
            (0..p).map(|i| (0..=i).map(|j| inverse[packed_index(i, j)] * row[j]).sum::<f64>()),
        );
    }
    white.iter().all(|x| x.is_finite()).then_some(white)
}

/// The `count` directions of whitened rows that come first by their fourth moment, a row each.
///
/// They are eigenvectors of `E[|z|² zzᵀ]`, whose eigenvalue is `p + 2` where rows are Gaussian: invariant coordinate
/// selection (Tyler, Critchley, Dümbgen & Oja 2009), with Cardoso's fourth-order scatter. Among them is the direction that
/// best separates two clusters, without knowing these.
fn directions(
    p: usize,
    white: &[f64],
    weights: &[f64],
    count: usize,
    first: impl Fn(f64) -> f64,
) -> Option<Vec<f64>> {
    if p > MOST_COLUMNS || weights.len() < ROWS_PER_COLUMN * p {
        return None;
    }
    let total: f64 = weights.iter().sum();
    let mut scatter = vec![0.0; p * p];
    for (z, w) in white.chunks_exact(p).zip(weights) {
        let far = w / total * z.iter().map(|z| z * z).sum::<f64>();
        for (i, own) in scatter.chunks_exact_mut(p).enumerate() {
            own.iter_mut().zip(z).for_each(|(s, x)| *s += far * z[i] * x);
        }
    }
    let (moments, vectors) = symmetric_eigen(p, scatter);
    let mut order: Vec<usize> = (0..p).collect();
    order.sort_by(|&a, &b| first(moments[a]).total_cmp(&first(moments[b])));
    order.truncate(count);
    Some(order.iter().flat_map(|&at| vectors[at * p..(at + 1) * p].to_vec()).collect())
}
