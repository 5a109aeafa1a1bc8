//! Full square matrices, row after row, for derivatives: packed triangles are slow to multiply.
//!
//! The *cotangent* of a packed symmetric matrix `X` says what a function changes by per unit of each packed entry. An entry
//! off the diagonal stands for two of the matrix, so that `df = tr(X̄ dX)` with half of it at each of the two.

use super::packed_index;
use crate::simd::{InstructionSet, Kernel, Vector, dispatch_on};

/// The full matrix behind a packed symmetric one.
pub(crate) fn full(p: usize, packed: &[f64]) -> Vec<f64> {
    (0..p * p).map(|at| packed[packed_index(at / p, at % p)]).collect()
}

/// The symmetric `X̄` of a packed cotangent.
pub(crate) fn from_cotangent(p: usize, packed: &[f64]) -> Vec<f64> {
    let entry = |i: usize, j: usize| packed[packed_index(i, j)] * if i == j { 1.0 } else { 0.5 };
    (0..p * p).map(|at| entry(at / p, at % p)).collect()
}

/// Adds `factor` times the packed cotangent of a symmetric `X̄` to `out`.
pub(crate) fn add_cotangent(p: usize, factor: f64, x: &[f64], out: &mut [f64]) {
    let mut at = 0;
    for i in 0..p {
        for j in 0..i {
            out[at] += 2.0 * factor * x[i * p + j];
            at += 1;
        }
        out[at] += factor * x[i * p + i];
        at += 1;
    }
}

/// `W X W` of symmetric matrices.
pub(crate) fn sandwich(p: usize, w: &[f64], x: &[f64]) -> Vec<f64> {
    let mut half = vec![0.0; p * p];
    dispatch_on(InstructionSet::best(), Multiply { p, a: w, b: x, out: &mut half });
    let mut out = vec![0.0; p * p];
    dispatch_on(InstructionSet::best(), Multiply { p, a: &half, b: w, out: &mut out });
    // Rounding must not make it asymmetric: only one triangle of it may be read later.
    for i in 0..p {
        for j in 0..i {
            let mean = 0.5 * (out[i * p + j] + out[j * p + i]);
            (out[i * p + j], out[j * p + i]) = (mean, mean);
        }
    }
    out
}

/// `A x`.
pub(crate) fn times(p: usize, a: &[f64], x: &[f64]) -> Vec<f64> {
    a.chunks_exact(p).map(|row| dot(row, x)).collect()
}

/// Sum of products: of two vectors, or `tr(A B)` of two symmetric matrices.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for l in 0..8 {
            lanes[l] += a[l] * b[l];
        }
    }
    lanes.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

/// Adds `factor · (x yᵀ + y xᵀ)/2`.
pub(crate) fn add_outer(p: usize, factor: f64, x: &[f64], y: &[f64], out: &mut [f64]) {
    for i in 0..p {
        for j in 0..p {
            out[i * p + j] += 0.5 * factor * (x[i] * y[j] + y[i] * x[j]);
        }
    }
}

/// Adds `factor · x`.
pub(crate) fn add_scaled(factor: f64, x: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out += factor * x);
}

struct Multiply<'a> {
    p: usize,
    a: &'a [f64],
    b: &'a [f64],
    out: &'a mut [f64],
}

impl Kernel for Multiply<'_> {
    type Output = ();

    /// Plain loops, compiled for the instructions that were chosen; four rows of `b` for each pass over a row of `out`.
    #[inline(always)]
    fn run<V: Vector>(self) {
        let Multiply { p, a, b, out } = self;
        for (a, out) in a.chunks_exact(p).zip(out.chunks_exact_mut(p)) {
            let whole = p - p % 4;
            for k in (0..whole).step_by(4) {
                let b: [&[f64]; 4] = std::array::from_fn(|r| &b[(k + r) * p..(k + r + 1) * p]);
                let a = [a[k], a[k + 1], a[k + 2], a[k + 3]];
                for j in 0..p {
                    out[j] += (a[0] * b[0][j] + a[1] * b[1][j]) + (a[2] * b[2][j] + a[3] * b[3][j]);
                }
            }
            for k in whole..p {
                let b = &b[k * p..(k + 1) * p];
                for j in 0..p {
                    out[j] += a[k] * b[j];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_by_hand_and_cotangents_there_and_back() {
        let w = full(2, &[2.0, 1.0, 3.0]);
        assert_eq!(w, [2.0, 1.0, 1.0, 3.0]);
        let x = full(2, &[1.0, 0.5, -1.0]);
        assert_eq!(sandwich(2, &w, &x), [5.0, 2.5, 2.5, -5.0]);
        assert_eq!(times(2, &w, &[1.0, -1.0]), [1.0, -2.0]);
        let mut packed = [0.0; 3];
        add_cotangent(2, 1.0, &from_cotangent(2, &[1.0, 2.0, 3.0]), &mut packed);
        assert_eq!(packed, [1.0, 2.0, 3.0]);
        let p = 11;
        let a: Vec<f64> = (0..p * p).map(|i| ((i * i) % 17) as f64 - 8.0).collect();
        let b: Vec<f64> = (0..p * p).map(|i| ((i * 7) % 13) as f64 - 6.0).collect();
        let mut out = vec![0.0; p * p];
        dispatch_on(InstructionSet::best(), Multiply { p, a: &a, b: &b, out: &mut out });
        for i in 0..p {
            for j in 0..p {
                let expected: f64 = (0..p).map(|k| a[i * p + k] * b[k * p + j]).sum();
                assert_eq!(out[i * p + j], expected);
            }
        }
    }
}
