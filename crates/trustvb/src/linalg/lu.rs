//! Gaussian elimination with partial pivoting for the one dense system we solve, `(I − J)ᵀ λ = ∇h`.
//!
//! Columns are eliminated in blocks, so that the rest of the matrix passes through memory once per block and not once per
//! column, and rows of the rest are shared among threads. Every entry sees the same subtractions in the same order as
//! without blocks: neither they nor the threads change a bit.

use crate::simd::{InstructionSet, Kernel, Vector, dispatch_on};
use rayon::prelude::*;

/// Columns eliminated together.
const BLOCK: usize = 48;

/// Columns of the rest that are updated together, so that the block's part of them stays in the cache.
const STRIP: usize = 512;

/// Rows of the rest that make one piece of work.
const PIECE: usize = 32;

/// An LU factorisation of a square matrix.
#[derive(Debug)]
pub(crate) struct Lu {
    n: usize,
    factors: Vec<f64>,
    pivots: Vec<usize>,
}

impl Lu {
    /// Factorises the row-major `n × n` matrix `a`; `None` when it is singular to working precision.
    pub(crate) fn new(n: usize, mut a: Vec<f64>) -> Option<Lu> {
        let largest = a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let mut pivots = Vec::with_capacity(n);
        for first in (0..n).step_by(BLOCK) {
            let last = n.min(first + BLOCK);
            for column in first..last {
                let pivot = (column..n)
                    .max_by(|&i, &j| a[i * n + column].abs().total_cmp(&a[j * n + column].abs()))?;
                let value = a[pivot * n + column];
                if !value.is_finite() || value.abs() <= 1e-14 * largest {
                    return None;
                }
                if pivot != column {
                    for j in 0..n {
                        a.swap(pivot * n + j, column * n + j);
                    }
                }
                pivots.push(pivot);
                let (above, below) = a.split_at_mut((column + 1) * n);
                let pivot_row = &above[column * n..];
                for row in below.chunks_exact_mut(n) {
                    let factor = row[column] / value;
                    row[column] = factor;
                    for j in column + 1..last {
                        row[j] -= factor * pivot_row[j];
                    }
                }
            }
            // The block's own rows beyond it, each from those above it.
            for row in first + 1..last {
                let (above, below) = a.split_at_mut(row * n);
                let rest = Rest { n, first, last: row, from: last, above, rows: &mut below[..n] };
                dispatch_on(InstructionSet::best(), rest);
            }
            let (above, below) = a.split_at_mut(last * n);
            below.par_chunks_mut(PIECE * n).for_each(|rows| {
                dispatch_on(
                    InstructionSet::best(),
                    Rest { n, first, last, from: last, above, rows },
                );
            });
        }
        Some(Lu { n, factors: a, pivots })
    }

    /// Rows of the matrix.
    pub(crate) fn len(&self) -> usize {
        self.n
    }

    /// Solves `A x = b` in place.
    pub(crate) fn solve(&self, b: &mut [f64]) {
        let n = self.n;
        for (i, &pivot) in self.pivots.iter().enumerate() {
            b.swap(i, pivot);
        }
        for i in 0..n {
            let row = &self.factors[i * n..i * n + i];
            b[i] -= row.iter().zip(b.iter()).map(|(l, x)| l * x).sum::<f64>();
        }
        for i in (0..n).rev() {
            let row = &self.factors[i * n..(i + 1) * n];
            let sum: f64 = (i + 1..n).map(|j| row[j] * b[j]).sum();
            b[i] = (b[i] - sum) / row[i];
        }
    }
}

/// Eliminates columns `first..last` from `rows`, in their columns from `from` on, with the pivot rows in `above`.
struct Rest<'a> {
    n: usize,
    first: usize,
    last: usize,
    from: usize,
    above: &'a [f64],
    rows: &'a mut [f64],
}

impl Kernel for Rest<'_> {
    type Output = ();

    /// Plain loops: they are compiled for the instructions that were chosen, without fused operations.
    #[inline(always)]
    fn run<V: Vector>(self) {
        let Rest { n, first, last, from, above, rows } = self;
        for left in (from..n).step_by(STRIP) {
            let right = n.min(left + STRIP);
            let pivot_row = |column: usize| &above[column * n + left..column * n + right];
            for row in rows.chunks_exact_mut(n) {
                let (factors, rest) = row.split_at_mut(from);
                let rest = &mut rest[left - from..right - from];
                let mut column = first;
                while column + 4 <= last {
                    let (u0, u1) = (pivot_row(column), pivot_row(column + 1));
                    let (u2, u3) = (pivot_row(column + 2), pivot_row(column + 3));
                    let f = &factors[column..column + 4];
                    for ((((x, u0), u1), u2), u3) in rest.iter_mut().zip(u0).zip(u1).zip(u2).zip(u3)
                    {
                        *x = *x - f[0] * u0 - f[1] * u1 - f[2] * u2 - f[3] * u3;
                    }
                    column += 4;
                }
                for column in column..last {
                    let factor = factors[column];
                    for (x, u) in rest.iter_mut().zip(pivot_row(column)) {
                        *x -= factor * u;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, Lu, STRIP};

    /// Column after column, as in any textbook.
    fn plain(n: usize, mut a: Vec<f64>) -> (Vec<f64>, Vec<usize>) {
        let mut pivots = Vec::new();
        for column in 0..n {
            let pivot = (column..n)
                .max_by(|&i, &j| a[i * n + column].abs().total_cmp(&a[j * n + column].abs()))
                .unwrap();
            for j in 0..n {
                a.swap(pivot * n + j, column * n + j);
            }
            pivots.push(pivot);
            for i in column + 1..n {
                let factor = a[i * n + column] / a[column * n + column];
                a[i * n + column] = factor;
                for j in column + 1..n {
                    a[i * n + j] -= factor * a[column * n + j];
                }
            }
        }
        (a, pivots)
    }

    #[test]
    fn blocks_and_threads_change_no_bit() {
        for n in [1, BLOCK - 1, BLOCK + 5, STRIP + BLOCK + 7] {
            let a: Vec<f64> = (0..n * n).map(|i| (1.0 + (i * i % 7919) as f64).sin()).collect();
            let (factors, pivots) = plain(n, a.clone());
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let lu = pool.install(|| Lu::new(n, a.clone())).unwrap();
                assert!(lu.factors == factors && lu.pivots == pivots, "n = {n}, {threads} threads");
            }
        }
    }

    #[test]
    fn solves_what_was_multiplied() {
        let n = 6;
        let a: Vec<f64> = (0..n * n).map(|i| (1.0 + (i * i) as f64).sin()).collect();
        let x: Vec<f64> = (0..n).map(|i| i as f64 - 2.5).collect();
        let mut b: Vec<f64> = (0..n).map(|i| (0..n).map(|j| a[i * n + j] * x[j]).sum()).collect();
        Lu::new(n, a).unwrap().solve(&mut b);
        for (got, expected) in b.iter().zip(&x) {
            assert!((got - expected).abs() < 1e-10);
        }
        assert!(Lu::new(2, vec![1.0, 2.0, 2.0, 4.0]).is_none());
    }
}
