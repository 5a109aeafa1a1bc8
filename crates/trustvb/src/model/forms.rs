//! Functions of rows that vector code evaluates a chunk of blocks at a time, for any number of columns.
//!
//! A triangular matrix times a matrix of rows is done in tiles of a few rows of the triangle and a group of blocks, so that
//! a number that is loaded is used several times.

use super::panels::{Column, GROUP, Groups, Panel, Panels};
use crate::linalg::packed_index;
use crate::simd::{LANES, Part, Vector};

/// `c − ½|A x − b|²` for a chunk of rows, with `numbers` holding `c`, `b` and the triangle of `A`.
#[inline(always)]
pub(super) fn gaussian<V: Vector>(rows: Groups<'_>, numbers: &[f64], out: &mut [[f64; LANES]]) {
    let (b, a) = numbers[1..].split_at(rows.p);
    let (half, c) = (V::Part::splat(-0.5), V::Part::splat(numbers[0]));
    let panels = Panels::new::<V::Part>(rows.p);
    for (x, out) in rows.iter().zip(out.chunks_mut(GROUP)) {
        for part in 0..V::Part::COUNT {
            let tiles = Tiles { x, part, a, b };
            let mut form = [V::Part::splat(0.0); GROUP];
            for at in 0..panels.number {
                let Panel { start, width } = panels.get(at);
                match width {
                    4 => tiles.add_squares::<V::Part, 4>(start, &mut form),
                    3 => tiles.add_squares::<V::Part, 3>(start, &mut form),
                    2 => tiles.add_squares::<V::Part, 2>(start, &mut form),
                    _ => tiles.add_squares::<V::Part, 1>(start, &mut form),
                }
            }
            for (out, form) in out.iter_mut().zip(form) {
                form.mul_add(half, c).store(out, part);
            }
        }
    }
}

/// `c + bᵀx + Σ_{j ≤ i} a_ij x_i x_j` for a chunk of rows, with `numbers` holding `c`, `b` and the triangle of `a`.
#[inline(always)]
pub(super) fn quadratic<V: Vector>(rows: Groups<'_>, numbers: &[f64], out: &mut [[f64; LANES]]) {
    let (b, a) = numbers[1..].split_at(rows.p);
    let panels = Panels::new::<V::Part>(rows.p);
    for (x, out) in rows.iter().zip(out.chunks_mut(GROUP)) {
        for part in 0..V::Part::COUNT {
            let tiles = Tiles { x, part, a, b };
            let mut form = [V::Part::splat(numbers[0]); GROUP];
            for at in 0..panels.number {
                let Panel { start, width } = panels.get(at);
                match width {
                    4 => tiles.add_products::<V::Part, 4>(start, &mut form),
                    3 => tiles.add_products::<V::Part, 3>(start, &mut form),
                    2 => tiles.add_products::<V::Part, 2>(start, &mut form),
                    _ => tiles.add_products::<V::Part, 1>(start, &mut form),
                }
            }
            for (out, form) in out.iter_mut().zip(form) {
                form.store(out, part);
            }
        }
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

/// One part of the tiles of a group's columns `x`, a triangle `a` and a vector `b`.
struct Tiles<'a> {
    x: &'a [Column],
    part: usize,
    a: &'a [f64],
    b: &'a [f64],
}

impl Tiles<'_> {
    /// Adds `(A x − b)_i²` for `R` rows from `i` on to `form`.
    #[inline(always)]
    fn add_squares<P: Part, const R: usize>(&self, i: usize, form: &mut [P; GROUP]) {
        let z = self.times_rows::<P, R>(i, -1.0);
        for row in z {
            for t in 0..GROUP {
                form[t] = row[t].mul_add(row[t], form[t]);
            }
        }
    }

    /// Adds `x_i (b + a x)_i` for `R` rows from `i` on to `form`.
    #[inline(always)]
    fn add_products<P: Part, const R: usize>(&self, i: usize, form: &mut [P; GROUP]) {
        let z = self.times_rows::<P, R>(i, 1.0);
        for (row, x) in z.iter().zip(&self.x[i..]) {
            for t in 0..GROUP {
                form[t] = row[t].mul_add(P::load(&x[t], self.part), form[t]);
            }
        }
    }

    /// `(sign·b + A x)_i` for `R` rows from `i` on.
    #[inline(always)]
    fn times_rows<P: Part, const R: usize>(&self, i: usize, sign: f64) -> [[P; GROUP]; R] {
        let mut z = [[P::splat(0.0); GROUP]; R];
        // Columns that all R rows have, then the triangle at their end.
        let (mut common, mut ends): ([&[f64]; R], [&[f64]; R]) = ([&[]; R], [&[]; R]);
        for r in 0..R {
            let start = packed_index(i + r, 0);
            (common[r], ends[r]) = self.a[start..start + i + r + 1].split_at(i);
            z[r] = [P::splat(sign * self.b[i + r]); GROUP];
        }
        for (j, x) in self.x[..i].iter().enumerate() {
            let mut a = [P::splat(0.0); R];
            for r in 0..R {
                a[r] = P::splat(common[r][j]);
            }
            for t in 0..GROUP {
                let x = P::load(&x[t], self.part);
                for r in 0..R {
                    z[r][t] = a[r].mul_add(x, z[r][t]);
                }
            }
        }
        for (j, x) in self.x[i..i + R].iter().enumerate() {
            for r in j..R {
                let a = P::splat(ends[r][j]);
                for t in 0..GROUP {
                    z[r][t] = a.mul_add(P::load(&x[t], self.part), z[r][t]);
                }
            }
        }
        z
    }
}
