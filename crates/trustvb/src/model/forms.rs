//! Functions of rows that vector code evaluates a chunk of blocks at a time, for any number of columns.
//!
//! A triangular matrix times a matrix of rows is done in tiles of `T` rows of the triangle and `T` blocks, so that a loaded
//! number is used `T` times.

use crate::linalg::packed_index;
use crate::simd::{LANES, Vector};

/// `c − ½|A x − b|²` for a chunk of rows of `p` numbers, with `numbers` holding `c`, `b` and the triangle of `A`.
#[inline(always)]
pub(super) fn gaussian<V: Vector>(
    p: usize,
    blocks: &[[f64; LANES]],
    numbers: &[f64],
    out: &mut [[f64; LANES]],
) {
    match V::TILE {
        4 => gaussian_tiles::<V, 4>(p, blocks, numbers, out),
        2 => gaussian_tiles::<V, 2>(p, blocks, numbers, out),
        _ => gaussian_tiles::<V, 1>(p, blocks, numbers, out),
    }
}

/// `c + bᵀx + Σ_{j ≤ i} a_ij x_i x_j` for a chunk of rows of `p` numbers, with `numbers` holding `c`, `b` and the triangle
/// of `a`.
#[inline(always)]
pub(super) fn quadratic<V: Vector>(
    p: usize,
    blocks: &[[f64; LANES]],
    numbers: &[f64],
    out: &mut [[f64; LANES]],
) {
    match V::TILE {
        4 => quadratic_tiles::<V, 4>(p, blocks, numbers, out),
        2 => quadratic_tiles::<V, 2>(p, blocks, numbers, out),
        _ => quadratic_tiles::<V, 1>(p, blocks, numbers, out),
    }
}

/// `c_0 + Σ_f c_f feature_f` for a chunk of units of `length` features.
#[inline(always)]
pub(super) fn linear<V: Vector>(
    length: usize,
    blocks: &[[f64; LANES]],
    numbers: &[f64],
    out: &mut [[f64; LANES]],
) {
    for (features, out) in blocks.chunks_exact(length).zip(out) {
        // Two chains, so that additions overlap.
        let mut even = V::splat(numbers[0]);
        let mut odd = V::zero();
        for (pair, c) in features.chunks(2).zip(numbers[1..].chunks(2)) {
            even = V::splat(c[0]).mul_add(V::load(&pair[0]), even);
            if let (Some(x), Some(&c)) = (pair.get(1), c.get(1)) {
                odd = V::splat(c).mul_add(V::load(x), odd);
            }
        }
        even.add(odd).store(out);
    }
}

#[inline(always)]
fn gaussian_tiles<V: Vector, const T: usize>(
    p: usize,
    blocks: &[[f64; LANES]],
    numbers: &[f64],
    out: &mut [[f64; LANES]],
) {
    let (b, a) = numbers[1..].split_at(p);
    let c = V::splat(numbers[0]);
    for (x, out) in blocks.chunks(T * p).zip(out.chunks_mut(T)) {
        let x = group::<T>(p, x, out.len());
        let mut form = [V::zero(); T];
        let whole = p - p % T;
        for i in (0..whole).step_by(T) {
            add_squares::<V, T, T>(i, a, b, &x, &mut form);
        }
        for i in whole..p {
            add_squares::<V, 1, T>(i, a, b, &x, &mut form);
        }
        for (out, form) in out.iter_mut().zip(form) {
            form.mul_add(V::splat(-0.5), c).store(out);
        }
    }
}

#[inline(always)]
fn quadratic_tiles<V: Vector, const T: usize>(
    p: usize,
    blocks: &[[f64; LANES]],
    numbers: &[f64],
    out: &mut [[f64; LANES]],
) {
    let (b, a) = numbers[1..].split_at(p);
    let c = V::splat(numbers[0]);
    for (x, out) in blocks.chunks(T * p).zip(out.chunks_mut(T)) {
        let x = group::<T>(p, x, out.len());
        let mut form = [c; T];
        let whole = p - p % T;
        for i in (0..whole).step_by(T) {
            add_products::<V, T, T>(i, a, b, &x, &mut form);
        }
        for i in whole..p {
            add_products::<V, 1, T>(i, a, b, &x, &mut form);
        }
        for (out, form) in out.iter_mut().zip(form) {
            form.store(out);
        }
    }
}

/// `T` blocks; the last group of a chunk repeats its first block, so that inner loops have no condition.
#[inline(always)]
fn group<const T: usize>(p: usize, x: &[[f64; LANES]], count: usize) -> [&[[f64; LANES]]; T] {
    std::array::from_fn(|t| {
        let t = if t < count { t } else { 0 };
        &x[t * p..(t + 1) * p]
    })
}

/// Adds `(A x − b)_i²` for `R` rows from `i` on, of `T` blocks, to `form`.
#[inline(always)]
fn add_squares<V: Vector, const R: usize, const T: usize>(
    i: usize,
    a: &[f64],
    b: &[f64],
    x: &[&[[f64; LANES]]; T],
    form: &mut [V; T],
) {
    let z = times_rows::<V, R, T>(i, a, std::array::from_fn(|r| -b[i + r]), x);
    for row in z {
        for t in 0..T {
            form[t] = row[t].mul_add(row[t], form[t]);
        }
    }
}

/// Adds `x_i (b + a x)_i` for `R` rows from `i` on, of `T` blocks, to `form`.
#[inline(always)]
fn add_products<V: Vector, const R: usize, const T: usize>(
    i: usize,
    a: &[f64],
    b: &[f64],
    x: &[&[[f64; LANES]]; T],
    form: &mut [V; T],
) {
    let z = times_rows::<V, R, T>(i, a, std::array::from_fn(|r| b[i + r]), x);
    for r in 0..R {
        for t in 0..T {
            form[t] = z[r][t].mul_add(V::load(&x[t][i + r]), form[t]);
        }
    }
}

/// `begin + (A x)_i` for `R` rows of the triangle `A` from `i` on, of `T` blocks.
#[inline(always)]
fn times_rows<V: Vector, const R: usize, const T: usize>(
    i: usize,
    a: &[f64],
    begin: [f64; R],
    x: &[&[[f64; LANES]]; T],
) -> [[V; T]; R] {
    let rows: [&[f64]; R] = std::array::from_fn(|r| {
        let start = packed_index(i + r, 0);
        &a[start..start + i + r + 1]
    });
    let mut z: [[V; T]; R] = std::array::from_fn(|r| [V::splat(begin[r]); T]);
    // Columns that all R rows have, then the triangle at their end.
    let common: [&[f64]; R] = rows.map(|row| &row[..=i]);
    let columns = x.map(|x| &x[..=i]);
    for j in 0..=i {
        let x: [V; T] = std::array::from_fn(|t| V::load(&columns[t][j]));
        for r in 0..R {
            let a = V::splat(common[r][j]);
            for t in 0..T {
                z[r][t] = a.mul_add(x[t], z[r][t]);
            }
        }
    }
    for r in 1..R {
        for j in 1..=r {
            let a = V::splat(rows[r][i + j]);
            for t in 0..T {
                z[r][t] = a.mul_add(V::load(&x[t][i + j]), z[r][t]);
            }
        }
    }
    z
}
