//! Finds columns that other columns determine exactly, by a pivoted Cholesky factorisation.

use crate::linalg::{packed_index, packed_len};
use crate::simd::{InstructionSet, Kernel, LANES, Vector, dispatch_on};

/// A pivot below this share of a column's own sum of squares counts as zero. Sums over millions of
/// rows keep relative errors well under it, and a column that agrees with the others to six digits
/// stays above it.
const TOLERANCE: f64 = 1e-12;

/// Standardised coefficients below this are rounding, not part of the relation.
const COEFFICIENT: f64 = 1e-6;

/// One exact linear relation among columns.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Relation {
    /// Columns in it, ascending.
    pub(super) columns: Vec<usize>,
    /// Rank of all the columns together.
    pub(super) rank: usize,
}

/// Looks for an exact linear relation in the lower triangle of the Gram matrix of columns scaled to length one.
pub(super) fn find_relation_in(gram: &[Vec<f64>]) -> Option<Relation> {
    let p = gram.len();
    let mut diagonal = vec![1.0; p];
    let mut order: Vec<usize> = (0..p).collect();
    // factor[i] is the row of column i, with one entry for each pivot so far.
    let mut factor: Vec<Vec<f64>> = vec![Vec::new(); p];

    for rank in 0..p {
        let mut best = rank;
        for candidate in rank + 1..p {
            if diagonal[order[candidate]] > diagonal[order[best]] {
                best = candidate;
            }
        }
        let largest: f64 = diagonal[order[best]];
        if largest.is_nan() || largest <= TOLERANCE {
            let pivots = &order[..rank];
            let dependent = order[rank..].iter().copied().min()?;
            return Some(Relation { columns: involved(dependent, pivots, &factor), rank });
        }
        // Moving the pivot by rotation keeps the rest in file order, so ties go to the left.
        order[rank..=best].rotate_right(1);
        let pivot = order[rank];
        let root = diagonal[pivot].sqrt();
        for &i in &order[rank + 1..] {
            let dot: f64 = factor[i].iter().zip(&factor[pivot]).map(|(a, b)| a * b).sum();
            let entry = (gram[pivot.max(i)][pivot.min(i)] - dot) / root;
            factor[i].push(entry);
            diagonal[i] -= entry * entry;
        }
        factor[pivot].push(root);
    }
    None
}

/// The dependent column and the pivots with a coefficient in it.
fn involved(dependent: usize, pivots: &[usize], factor: &[Vec<f64>]) -> Vec<usize> {
    // Back substitution: the pivots' rows form a lower triangle L, and Lᵀ c = the dependent's row.
    let mut coefficients = factor[dependent].clone();
    for k in (0..pivots.len()).rev() {
        coefficients[k] /= factor[pivots[k]][k];
        let c = coefficients[k];
        for j in 0..k {
            coefficients[j] -= c * factor[pivots[k]][j];
        }
    }
    let mut columns: Vec<usize> = pivots
        .iter()
        .zip(&coefficients)
        .filter(|(_, c)| c.abs() > COEFFICIENT)
        .map(|(&column, _)| column)
        .collect();
    columns.push(dependent);
    columns.sort_unstable();
    columns
}

/// Lower triangle of the Gram matrix of the columns scaled to length one; `centred` measures them from their means, as
/// beside an intercept. Columns must not be constant (centred) or zero (not centred).
pub(super) fn scaled_gram(columns: &[&[f64]], centred: bool) -> Vec<Vec<f64>> {
    let scaled: Vec<(f64, f64)> = columns
        .iter()
        .map(|column| {
            // Dividing by the largest value first keeps squares of 1e200 finite.
            let size = column.iter().fold(0.0_f64, |m, v| m.max(v.abs())).max(f64::MIN_POSITIVE);
            let mean = if centred {
                sum(column.len(), &|i| column[i] / size) / column.len() as f64
            } else {
                0.0
            };
            (mean, size)
        })
        .collect();
    let (p, n) = (columns.len(), columns.first().map_or(0, |column| column.len()));
    let mut products = vec![0.0; packed_len(p)];
    let mut values = vec![[0.0; LANES]; p * BLOCK / LANES];
    for start in (0..n).step_by(BLOCK) {
        let rows = start..(start + BLOCK).min(n);
        // The last block ends with zeros.
        let n_lanes = rows.len().div_ceil(LANES);
        values.fill([0.0; LANES]);
        for ((column, (mean, size)), own) in
            columns.iter().zip(&scaled).zip(values.chunks_exact_mut(n_lanes))
        {
            let own = own.as_flattened_mut().iter_mut();
            own.zip(&column[rows.clone()]).for_each(|(own, x)| *own = x / size - mean);
        }
        let values = &values[..p * n_lanes];
        let products = Products { n_lanes, values, sums: &mut products };
        dispatch_on(InstructionSet::best(), products);
    }
    let lengths: Vec<f64> = (0..p).map(|j| products[packed_index(j, j)].sqrt()).collect();
    let cosine = |a: usize, b: usize| products[packed_index(a, b)] / (lengths[a] * lengths[b]);
    let line = |a: usize| (0..=a).map(|b| if a == b { 1.0 } else { cosine(a, b) }).collect();
    (0..p).map(line).collect()
}

/// Sums are made block by block of so many rows, so that their error grows with the number of blocks and not of rows.
const BLOCK: usize = 512;

/// Adds the products of every two columns of a block, eight rows at a time.
struct Products<'a> {
    n_lanes: usize,
    values: &'a [[f64; LANES]],
    sums: &'a mut [f64],
}

impl Kernel for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        let mut sums = self.sums.iter_mut();
        let columns = || self.values.chunks_exact(self.n_lanes);
        for (a, first) in columns().enumerate() {
            for (second, sum) in columns().take(a + 1).zip(&mut sums) {
                let mut total = V::zero();
                for (x, y) in first.iter().zip(second) {
                    total = V::load(x).mul_add(V::load(y), total);
                }
                *sum += total.sum();
            }
        }
    }
}

/// Sums in blocks, so that the error grows with the number of blocks and not of terms.
fn sum(n: usize, term: &dyn Fn(usize) -> f64) -> f64 {
    (0..n).step_by(BLOCK).map(|start| (start..(start + BLOCK).min(n)).map(term).sum::<f64>()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_relation(columns: &[&[f64]], centred: bool) -> Option<Relation> {
        find_relation_in(&scaled_gram(columns, centred))
    }

    fn wave(n: usize, frequency: f64) -> Vec<f64> {
        (0..n).map(|i| (i as f64 * frequency).sin() * 10.0 + 50.0).collect()
    }

    #[test]
    fn independent_columns_have_no_relation() {
        let (a, b, c) = (wave(1000, 0.3), wave(1000, 0.7), wave(1000, 1.1));
        assert_eq!(find_relation(&[&a, &b, &c], true), None);
    }

    #[test]
    fn the_relation_names_only_its_own_columns() {
        let (a, b, c) = (wave(1000, 0.3), wave(1000, 0.7), wave(1000, 1.1));
        let total: Vec<f64> = a.iter().zip(&c).map(|(a, c)| 3.0 * a - c / 7.0 + 4.0).collect();
        let relation = find_relation(&[&a, &b, &c, &total], true).unwrap();
        assert_eq!(relation, Relation { columns: vec![0, 2, 3], rank: 3 });
        // The offset 4 breaks the relation when nothing stands for the intercept.
        assert_eq!(find_relation(&[&a, &b, &c, &total], false), None);
    }

    #[test]
    fn a_million_rows_keep_the_tolerance() {
        let a = wave(1_000_000, 0.001_3);
        let b = wave(1_000_000, 0.77);
        let d: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a / 3.0 + b / 7.0).collect();
        assert_eq!(find_relation(&[&a, &b, &d], true).unwrap().columns, [0, 1, 2]);
    }

    #[test]
    fn six_agreeing_digits_are_not_collinear() {
        let a = wave(1000, 0.3);
        let near: Vec<f64> =
            a.iter().enumerate().map(|(i, a)| a + 1e-4 * (i as f64).cos()).collect();
        assert_eq!(find_relation(&[&a, &near], true), None);
    }

    #[test]
    fn huge_values_do_not_overflow() {
        let a: Vec<f64> = wave(100, 0.3).iter().map(|v| v * 1e300).collect();
        let b: Vec<f64> = a.iter().map(|v| v / 2.0).collect();
        assert_eq!(find_relation(&[&a, &b], true).unwrap().rank, 1);
    }
}
