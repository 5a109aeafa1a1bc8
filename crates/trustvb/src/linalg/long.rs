//! The same factorisations for matrices of many columns: loops run along rows, so that the compiler can use vectors.
//!
//! Every entry sees the same operations in the same order as in the plain loops, so that not a bit differs.

use super::NotPositiveDefinite;
use crate::simd::{InstructionSet, Kernel, Vector, dispatch_on};

/// From this order on it pays.
pub(crate) const LONG: usize = 12;

/// Where row `i` of a packed triangle begins.
const fn row(i: usize) -> usize {
    i * (i + 1) / 2
}

/// See [`super::cholesky`]; column after column, each taken off what is to the right of it.
pub(super) fn cholesky(p: usize, a: &mut [f64]) -> Result<(), NotPositiveDefinite> {
    dispatch_on(InstructionSet::best(), Cholesky { p, a })
}

/// See [`super::invert_lower`].
pub(super) fn invert_lower(l: &[f64], out: &mut [f64]) {
    dispatch_on(InstructionSet::best(), InvertLower { l, out });
}

/// See [`super::gram`].
pub(super) fn gram(a: &[f64], out: &mut [f64]) {
    dispatch_on(InstructionSet::best(), Gram { a, out });
}

/// `out_j = Σ_l factors_l rows_lj` over the rows of a packed triangle, `l` from `j` on: a row of the product of two
/// triangles.
pub(crate) fn add_rows(factors: &[f64], rows: &[f64], out: &mut [f64]) {
    dispatch_on(InstructionSet::best(), AddRows { factors, rows, out });
}

struct Cholesky<'a> {
    p: usize,
    a: &'a mut [f64],
}

impl Kernel for Cholesky<'_> {
    type Output = Result<(), NotPositiveDefinite>;

    #[inline(always)]
    fn run<V: Vector>(self) -> Self::Output {
        let Cholesky { p, a } = self;
        let mut column = vec![0.0; p];
        for j in 0..p {
            let pivot = a[row(j) + j];
            if !(pivot > 0.0 && pivot.is_finite()) {
                return Err(NotPositiveDefinite(j));
            }
            let pivot = pivot.sqrt();
            a[row(j) + j] = pivot;
            for i in j + 1..p {
                let own = &mut a[row(i) + j..=row(i) + i];
                let factor = own[0] / pivot;
                own[0] = factor;
                column[i] = factor;
                for (x, above) in own[1..].iter_mut().zip(&column[j + 1..=i]) {
                    *x -= factor * above;
                }
            }
        }
        Ok(())
    }
}

struct InvertLower<'a> {
    l: &'a [f64],
    out: &'a mut [f64],
}

impl Kernel for InvertLower<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        let InvertLower { l, out } = self;
        let mut i = 0;
        while row(i) < l.len() {
            let own = &l[row(i)..=row(i) + i];
            let (above, rest) = out.split_at_mut(row(i));
            let sums = &mut rest[..=i];
            sums.fill(0.0);
            for (k, factor) in own[..i].iter().enumerate() {
                for (sum, x) in sums.iter_mut().zip(&above[row(k)..=row(k) + k]) {
                    *sum += factor * x;
                }
            }
            for sum in &mut sums[..i] {
                *sum = -*sum / own[i];
            }
            sums[i] = 1.0 / own[i];
            i += 1;
        }
    }
}

struct Gram<'a> {
    a: &'a [f64],
    out: &'a mut [f64],
}

impl Kernel for Gram<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        let Gram { a, out } = self;
        // What a sum of nothing is.
        out.fill(-0.0);
        let mut k = 0;
        while row(k) < a.len() {
            let own = &a[row(k)..=row(k) + k];
            for i in 0..=k {
                for (x, y) in out[row(i)..=row(i) + i].iter_mut().zip(own) {
                    *x += own[i] * y;
                }
            }
            k += 1;
        }
    }
}

struct AddRows<'a> {
    factors: &'a [f64],
    rows: &'a [f64],
    out: &'a mut [f64],
}

impl Kernel for AddRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        let AddRows { factors, rows, out } = self;
        out.fill(-0.0);
        for (l, factor) in factors.iter().enumerate() {
            for (x, y) in out.iter_mut().zip(&rows[row(l)..=row(l) + l]) {
                *x += factor * y;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{packed_index, packed_len};
    use super::*;

    /// As the plain loops have it, row after row.
    fn plain(p: usize, a: &[f64]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let at = packed_index;
        let mut l = a.to_vec();
        for i in 0..p {
            for j in 0..=i {
                let mut sum = l[at(i, j)];
                for k in 0..j {
                    sum -= l[at(i, k)] * l[at(j, k)];
                }
                l[at(i, j)] = if i > j { sum / l[at(j, j)] } else { sum.sqrt() };
            }
        }
        let mut inverse = vec![0.0; a.len()];
        for j in 0..p {
            inverse[at(j, j)] = 1.0 / l[at(j, j)];
            for i in j + 1..p {
                let mut sum = 0.0;
                for k in j..i {
                    sum += l[at(i, k)] * inverse[at(k, j)];
                }
                inverse[at(i, j)] = -sum / l[at(i, i)];
            }
        }
        let mut gram = vec![0.0; a.len()];
        for i in 0..p {
            for j in 0..=i {
                gram[at(i, j)] = (i..p).map(|k| inverse[at(k, i)] * inverse[at(k, j)]).sum();
            }
        }
        (l, inverse, gram)
    }

    #[test]
    fn rows_change_no_bit() {
        for p in [1, 2, 5, 12, 29, 64] {
            let mut a: Vec<f64> = (0..packed_len(p)).map(|i| ((i * i) as f64).sin()).collect();
            (0..p).for_each(|i| a[packed_index(i, i)] += p as f64);
            let (l, inverse, product) = plain(p, &a);
            let mut found = a.clone();
            cholesky(p, &mut found).unwrap();
            assert_eq!(found, l);
            let mut found = vec![0.0; a.len()];
            invert_lower(&l, &mut found);
            assert_eq!(found, inverse);
            let mut found = vec![0.0; a.len()];
            gram(&inverse, &mut found);
            assert_eq!(found, product);
            let i = p - 1;
            let factors = &inverse[packed_index(i, 0)..];
            let mut found = vec![0.0; p];
            add_rows(factors, &l, &mut found);
            for (j, x) in found.iter().enumerate() {
                let sum: f64 = (j..=i).map(|k| factors[k] * l[packed_index(k, j)]).sum();
                assert_eq!(x.to_bits(), sum.to_bits());
            }
        }
        let bad = [1.0, 2.0, 1.0];
        assert_eq!(cholesky(2, &mut bad.to_vec()), Err(NotPositiveDefinite(1)));
    }
}
