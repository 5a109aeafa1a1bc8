//! What small symmetric positive definite matrices need.
//!
//! A symmetric or lower triangular `p × p` matrix is a slice of `p(p+1)/2` numbers, row after row
//! of its lower triangle. Written by hand because at the sizes of our subject (p from 1 to 50) a
//! packed Cholesky without allocation is as fast as any library and needs none.

pub(crate) mod eigen;
mod long;
mod lu;
pub(crate) mod square;

pub(crate) use long::{LONG, add_rows};
pub(crate) use lu::Lu;

/// Numbers in a packed triangle of order `p`.
pub const fn packed_len(p: usize) -> usize {
    p * (p + 1) / 2
}

/// Position of element `(i, j)`, in either order, in a packed triangle.
pub const fn packed_index(i: usize, j: usize) -> usize {
    if i >= j { i * (i + 1) / 2 + j } else { j * (j + 1) / 2 + i }
}

/// A matrix that should have been positive definite is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("matrix is not positive definite (pivot {0})")]
pub struct NotPositiveDefinite(
    /// The 0-based pivot at which the factorisation stopped.
    pub usize,
);

/// Replaces a packed symmetric matrix by its lower Cholesky factor.
pub fn cholesky(p: usize, a: &mut [f64]) -> Result<(), NotPositiveDefinite> {
    if p >= LONG {
        return long::cholesky(p, a);
    }
    for i in 0..p {
        let row_i = i * (i + 1) / 2;
        for j in 0..=i {
            let row_j = j * (j + 1) / 2;
            let mut sum = a[row_i + j];
            for k in 0..j {
                sum -= a[row_i + k] * a[row_j + k];
            }
            if i > j {
                a[row_i + j] = sum / a[row_j + j];
            } else if sum > 0.0 && sum.is_finite() {
                a[row_i + i] = sum.sqrt();
            } else {
                return Err(NotPositiveDefinite(i));
            }
        }
    }
    Ok(())
}

/// Inverse of a lower triangular matrix, into `out`.
pub fn invert_lower(p: usize, l: &[f64], out: &mut [f64]) {
    if p >= LONG {
        return long::invert_lower(l, out);
    }
    for j in 0..p {
        out[packed_index(j, j)] = 1.0 / l[packed_index(j, j)];
        for i in j + 1..p {
            let mut sum = 0.0;
            for k in j..i {
                sum += l[packed_index(i, k)] * out[packed_index(k, j)];
            }
            out[packed_index(i, j)] = -sum / l[packed_index(i, i)];
        }
    }
}

/// `log det(L Lᵀ)` from the Cholesky factor `L`.
pub fn ln_det_from_cholesky(p: usize, l: &[f64]) -> f64 {
    2.0 * (0..p).map(|i| l[packed_index(i, i)].ln()).sum::<f64>()
}

/// `Aᵀ A` of a lower triangular `A`: the inverse of `L Lᵀ` when `A = L^-1`.
pub fn gram(p: usize, a: &[f64], out: &mut [f64]) {
    if p >= LONG {
        return long::gram(a, out);
    }
    for i in 0..p {
        for j in 0..=i {
            out[packed_index(i, j)] =
                (i..p).map(|k| a[packed_index(k, i)] * a[packed_index(k, j)]).sum();
        }
    }
}

/// Solves `L x = b` in place, given a lower triangle.
pub(crate) fn solve_lower(p: usize, l: &[f64], b: &mut [f64]) {
    for i in 0..p {
        for j in 0..i {
            b[i] -= l[packed_index(i, j)] * b[j];
        }
        b[i] /= l[packed_index(i, i)];
    }
}

/// Solves `L Lᵀ x = b` in place.
pub fn solve_cholesky(p: usize, l: &[f64], b: &mut [f64]) {
    solve_lower(p, l, b);
    for i in (0..p).rev() {
        for j in i + 1..p {
            b[i] -= l[packed_index(j, i)] * b[j];
        }
        b[i] /= l[packed_index(i, i)];
    }
}

/// Inverse and log determinant of a packed symmetric positive definite matrix.
pub fn invert_spd(p: usize, a: &[f64]) -> Result<(Vec<f64>, f64), NotPositiveDefinite> {
    let mut factor = a.to_vec();
    cholesky(p, &mut factor)?;
    let mut inverse_factor = vec![0.0; a.len()];
    invert_lower(p, &factor, &mut inverse_factor);
    let mut inverse = vec![0.0; a.len()];
    gram(p, &inverse_factor, &mut inverse);
    Ok((inverse, ln_det_from_cholesky(p, &factor)))
}

/// `tr(A B)` of two packed symmetric matrices.
pub fn trace_of_product(p: usize, a: &[f64], b: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..p {
        let row = i * (i + 1) / 2;
        for j in 0..i {
            sum += 2.0 * a[row + j] * b[row + j];
        }
        sum += a[row + i] * b[row + i];
    }
    sum
}

/// `xᵀ A x` of a packed symmetric matrix.
pub fn quadratic_form(p: usize, a: &[f64], x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..p {
        let row = i * (i + 1) / 2;
        for j in 0..i {
            sum += 2.0 * a[row + j] * x[i] * x[j];
        }
        sum += a[row + i] * x[i] * x[i];
    }
    sum
}

/// Packs the lower triangle of a full matrix given by rows, which must be square and symmetric.
pub fn pack(rows: &[Vec<f64>]) -> Option<Vec<f64>> {
    let p = rows.len();
    let mut packed = Vec::with_capacity(packed_len(p));
    for (i, row) in rows.iter().enumerate() {
        if row.len() != p {
            return None;
        }
        for j in 0..=i {
            let (x, y) = (row[j], rows[j].get(i).copied()?);
            if (x - y).abs() > 1e-9 * (x.abs() + y.abs()) {
                return None;
            }
            packed.push(x);
        }
    }
    Some(packed)
}

/// Rows of the full symmetric matrix behind a packed one.
pub fn unpack(p: usize, packed: &[f64]) -> Vec<Vec<f64>> {
    (0..p).map(|i| (0..p).map(|j| packed[packed_index(i, j)]).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn random_spd(p: usize, entries: &[f64]) -> Vec<f64> {
        let mut a = vec![0.0; packed_len(p)];
        for i in 0..p {
            for j in 0..=i {
                a[packed_index(i, j)] =
                    (0..p).map(|k| entries[i * p + k] * entries[j * p + k]).sum::<f64>();
            }
            a[packed_index(i, i)] += 0.1;
        }
        a
    }

    proptest! {
        #[test]
        fn inverse_times_matrix_is_identity(
            p in 1usize..7,
            entries in prop::collection::vec(-2.0f64..2.0, 49),
        ) {
            let a = random_spd(p, &entries);
            let (inverse, _) = invert_spd(p, &a).unwrap();
            let (full, inv) = (unpack(p, &a), unpack(p, &inverse));
            for i in 0..p {
                for j in 0..p {
                    let product: f64 = (0..p).map(|k| full[i][k] * inv[k][j]).sum();
                    let expected = if i == j { 1.0 } else { 0.0 };
                    prop_assert!((product - expected).abs() < 1e-8);
                }
            }
            prop_assert!((trace_of_product(p, &a, &inverse) - p as f64).abs() < 1e-8);
        }
    }

    #[test]
    fn determinant_and_forms_by_hand() {
        let a = [4.0, 2.0, 3.0];
        let (inverse, ln_det) = invert_spd(2, &a).unwrap();
        assert!((ln_det - 8f64.ln()).abs() < 1e-14);
        for (got, expected) in inverse.iter().zip([3.0 / 8.0, -0.25, 0.5]) {
            assert!((got - expected).abs() < 1e-15);
        }
        assert_eq!(quadratic_form(2, &a, &[1.0, -1.0]), 3.0);
        assert_eq!(cholesky(2, &mut [1.0, 2.0, 1.0]), Err(NotPositiveDefinite(1)));
    }
}
