//! The coordinates in which k-means looks at rows: clusters that are plain in one may be hidden in another.
//!
//! k-means sees distance, so columns that vary together drown a cluster that lies apart in a direction of little variance.
//! Standardising columns does not help against that, and starts that all look alike all fail alike. Beside them
//! one start looks in each other way. Most of these are the same whatever linear map is applied to the rows; the principal
//! components are not, and are looked at because directions of odd moments are not found among too many.

use super::points::Points;
use super::pursuit::{self, Index};
use super::rows::{Line, Rows};
use crate::fit::Clusterable;
use crate::linalg::eigen::symmetric_eigen;
use crate::linalg::square::{dot, full};
use crate::linalg::{cholesky, invert_lower, packed_index, packed_len};
use crate::simd::{InstructionSet, Kernel, LANES, Vector, dispatch_on};
use rand_chacha::ChaCha8Rng;

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
    /// Up to `K − 1` directions of least kurtosis, each sought from a random one.
    Pursued,
    /// The most skewed ones, as clusters of unlike sizes make them.
    Skewed,
    /// The first principal components of the columns, so many, each with standard deviation 1. With few rows for the
    /// columns, moments of single directions are chance: among few directions less of it is found.
    Leading(usize),
    /// Directions of least kurtosis among these.
    LeadingPursued(usize),
}

/// Directions of which kind are sought how often, each from other random ones; not more often than twice the columns.
const PURSUITS: [(View, usize); 2] = [(View::Pursued, 5), (View::Skewed, 12)];

/// How many principal components are looked at, by themselves and for directions.
const LEADING: [usize; 4] = [1, 2, 3, 4];
const LEADING_PURSUED: [usize; 4] = [2, 4, 8, 16];

impl View {
    /// Views of `p` columns beside that of the columns themselves. One column looks the same in all of them.
    fn others(p: usize) -> impl Iterator<Item = View> {
        let fixed = [View::Whitened, View::Flat, View::Odd].into_iter().filter(move |_| p > 1);
        let few = move |(view, times): (View, usize)| {
            std::iter::repeat_n(view, if p > 1 { times.min(2 * p) } else { 0 })
        };
        let fewer = move |q: &usize| *q < p;
        fixed
            .chain(PURSUITS.into_iter().flat_map(few))
            .chain(LEADING.into_iter().filter(fewer).map(View::Leading))
            .chain(LEADING_PURSUED.into_iter().filter(fewer).map(View::LeadingPursued))
    }

    /// How many these are.
    pub(super) fn n_others(p: usize) -> usize {
        View::others(p).count()
    }

    /// The columns themselves for 0, then the others.
    pub(super) fn numbered(p: usize, number: usize) -> View {
        number.checked_sub(1).and_then(|at| View::others(p).nth(at)).unwrap_or(View::Scaled)
    }
}

/// More columns than this have no directions of their own: their fourth moments take many rows, and long.
const MOST_COLUMNS: usize = 64;

/// Rows per column below which fourth moments say nothing.
const ROWS_PER_COLUMN: usize = 8;

/// Some rows in the coordinates of a view.
pub(super) struct Seen {
    /// Coordinates, which come first; the columns themselves come last. In the plain view they are the same numbers.
    q: usize,
    p: usize,
    rows: Rows,
}

impl Seen {
    /// The rows as they are, where they do not allow the view.
    pub(super) fn new(
        points: &Points<'_>,
        chosen: &[(usize, f64)],
        view: View,
        n_components: usize,
        rng: &mut ChaCha8Rng,
    ) -> Seen {
        let p = points.p;
        let mut rows = Rows::new(p, chosen.len(), |i, j| points.rows.get(chosen[i].0, j));
        for (own, weights) in rows.weights.iter_mut().zip(chosen.chunks(LANES)) {
            own.iter_mut().zip(weights).for_each(|(own, &(_, weight))| *own = weight);
        }
        let mut pursued = |white: Rows, index: Index| {
            white.mapped(&pursuit::directions(&white, index, n_components.max(2) - 1, rng))
        };
        let coordinates = match view {
            View::Scaled => None,
            View::Whitened => whitened(&rows),
            View::Flat | View::Odd => whitened(&rows)
                .and_then(|white| Some(white.mapped(&directions(&white, view, n_components)?))),
            View::Pursued => whitened(&rows).map(|white| pursued(white, Index::Flatness)),
            View::Skewed => whitened(&rows).map(|white| pursued(white, Index::Skewness)),
            View::Leading(most) => leading(&rows, most),
            View::LeadingPursued(most) => {
                leading(&rows, most).map(|white| pursued(white, Index::Flatness))
            }
        };
        match coordinates {
            Some(coordinates) => {
                let q = coordinates.p();
                Seen { q, p, rows: coordinates.beside(&rows) }
            }
            None => Seen { q: p, p, rows },
        }
    }

    /// The columns of centres, without their coordinates.
    pub(super) fn columns(&self, centres: &[f64]) -> Vec<f64> {
        let length = self.centre_len();
        centres.chunks_exact(length).flat_map(|own| own[length - self.p..].to_vec()).collect()
    }
}

/// A centre has coordinates and columns; only the coordinates count as distance.
impl Clusterable for Seen {
    fn n_units(&self) -> usize {
        self.rows.len()
    }
    fn centre_len(&self) -> usize {
        self.rows.p()
    }
    fn loss(&self, unit: usize, centre: &[f64]) -> f64 {
        (0..self.q).map(|j| (self.rows.get(unit, j) - centre[j]).powi(2)).sum()
    }
    /// All rows are there for k-means and in its order, so that `units` need not be looked at.
    fn losses(&self, _: &[(usize, f64)], centre: &[f64], out: &mut [f64]) {
        let (width, centre) = (self.rows.p(), &centre[..self.q]);
        let distances = Distances { width, blocks: &self.rows.blocks, centre, out };
        dispatch_on(InstructionSet::best(), distances);
    }
    fn centre_of(&self, unit: usize, out: &mut [f64]) {
        out.iter_mut().zip(self.rows.row(unit)).for_each(|(out, x)| *out = x);
    }
    fn refit(&self, members: &mut dyn Iterator<Item = (usize, f64)>, out: &mut [f64]) {
        let mut total = 0.0;
        let mut sum = vec![0.0; out.len()];
        for (unit, weight) in members {
            total += weight;
            for (s, x) in sum.iter_mut().zip(self.rows.row(unit)) {
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

/// Squared distances of rows from a centre, in the first columns of each.
struct Distances<'a> {
    width: usize,
    blocks: &'a [[f64; LANES]],
    centre: &'a [f64],
    out: &'a mut [f64],
}

impl Kernel for Distances<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        for (x, out) in self.blocks.chunks_exact(self.width).zip(self.out.chunks_mut(LANES)) {
            let mut sum = V::zero();
            for (x, &c) in x.iter().zip(self.centre) {
                let difference = V::load(x).sub(V::splat(c));
                sum = difference.mul_add(difference, sum);
            }
            let mut lanes = [0.0; LANES];
            sum.store(&mut lanes);
            out.copy_from_slice(&lanes[..out.len()]);
        }
    }
}

/// Weighted rows with mean 0 and the identity for covariance; nothing where columns are dependent.
fn whitened(rows: &Rows) -> Option<Rows> {
    let p = rows.p();
    let (mean, mut covariance) = covariance(rows);
    cholesky(p, &mut covariance).ok()?;
    let mut inverse = vec![0.0; packed_len(p)];
    invert_lower(p, &covariance, &mut inverse);
    let lines = (0..p).map(|i| {
        let line = &inverse[packed_index(i, 0)..=packed_index(i, i)];
        Line { shift: -dot(line, &mean), slopes: line.to_vec() }
    });
    is_finite(rows.mapped(&lines.collect::<Vec<_>>()))
}

/// The first principal components of weighted rows, at most so many, with mean 0 and variance 1; nothing where one has none.
fn leading(rows: &Rows, most: usize) -> Option<Rows> {
    let p = rows.p();
    let (mean, covariance) = covariance(rows);
    let (values, vectors) = symmetric_eigen(p, full(p, &covariance));
    let largest = (0..p).rev().take(most).map(|at| {
        let slopes: Vec<f64> =
            vectors[at * p..(at + 1) * p].iter().map(|v| v / values[at].sqrt()).collect();
        Line { shift: -dot(&slopes, &mean), slopes }
    });
    is_finite(rows.mapped(&largest.collect::<Vec<_>>()))
}

fn is_finite(rows: Rows) -> Option<Rows> {
    rows.blocks.iter().flatten().all(|x| x.is_finite()).then_some(rows)
}

/// Weighted means and the lower triangle of the covariance matrix.
fn covariance(rows: &Rows) -> (Vec<f64>, Vec<f64>) {
    let p = rows.p();
    let (mean, mut covariance) = moments(rows);
    for i in 0..p {
        for j in 0..=i {
            covariance[packed_index(i, j)] -= mean[i] * mean[j];
        }
    }
    (mean, covariance)
}

/// Weighted means of columns and of their products, the lower triangle of these.
fn moments(rows: &Rows) -> (Vec<f64>, Vec<f64>) {
    let p = rows.p();
    let sums = rows.moments();
    let mean = |sum: &f64| sum / sums[0];
    (sums[1..=p].iter().map(mean).collect(), sums[1 + p..].iter().map(mean).collect())
}

/// The directions of whitened rows that a view looks along: those that come first by their fourth moment.
///
/// They are eigenvectors of `E[|z|² zzᵀ]`, whose eigenvalue is `p + 2` where rows are Gaussian: invariant coordinate
/// selection (Tyler, Critchley, Dümbgen & Oja 2009), with Cardoso's fourth-order scatter. Among them is the direction that
/// best separates two clusters, without knowing these.
fn directions(white: &Rows, view: View, n_components: usize) -> Option<Vec<Line>> {
    let p = white.p();
    if p > MOST_COLUMNS || white.len() < ROWS_PER_COLUMN * p {
        return None;
    }
    let total: f64 = white.weights.iter().flatten().sum();
    let mut far = white.clone();
    for (weights, block) in far.weights.iter_mut().zip(white.blocks.chunks_exact(p)) {
        for (lane, weight) in weights.iter_mut().enumerate() {
            *weight *= block.iter().map(|z| z[lane] * z[lane]).sum::<f64>();
        }
    }
    let sums = &far.moments()[1 + p..];
    let scatter = (0..p * p).map(|at| {
        let (i, j) = (at / p, at % p);
        sums[packed_index(i.max(j), i.min(j))] / total
    });
    // The lightest tails come first.
    let (moments, vectors) = symmetric_eigen(p, scatter.collect());
    let mut order: Vec<usize> = (0..p).collect();
    if view == View::Odd {
        let oddity = |at: usize| (moments[at] - (p + 2) as f64).abs();
        order.sort_by(|&a, &b| oddity(b).total_cmp(&oddity(a)));
        order.truncate(n_components);
    } else {
        order.truncate(n_components.max(2) - 1);
    }
    let line = |at: &usize| Line { shift: 0.0, slopes: vectors[at * p..(at + 1) * p].to_vec() };
    Some(order.iter().map(line).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    #[test]
    fn distances_of_many_rows_are_those_of_each() {
        for (n, p) in [(1, 1), (7, 3), (8, 2), (61, 5)] {
            let rows = Rows::new(p, n, |i, j| ((3 + i * 7 + j * 5) % 11) as f64 - 0.3 * i as f64);
            let points = Points { rows: &rows, p };
            let chosen: Vec<(usize, f64)> = (0..n).rev().map(|unit| (unit, 1.0)).collect();
            for view in std::iter::once(View::Scaled).chain(View::others(p)) {
                let seen = Seen::new(&points, &chosen, view, 2, &mut stream(1, Purpose::Start, 0));
                let mut centre = vec![0.0; seen.centre_len()];
                seen.centre_of(n / 2, &mut centre);
                let mut losses = vec![f64::NAN; n];
                seen.losses(&chosen, &centre, &mut losses);
                for (unit, loss) in losses.iter().enumerate() {
                    let one = seen.loss(unit, &centre);
                    assert!((loss - one).abs() <= 1e-12 * (1.0 + one), "{view:?} {loss} {one}");
                }
                assert_eq!(losses[n / 2], 0.0);
            }
        }
    }
}
