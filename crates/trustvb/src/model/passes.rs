//! The vector code of passes over units: responsibilities, influence, and derivatives of an E-step.

use super::kernel::{CHUNK, Scratch, softmax};
use super::moments::FEW;
use super::panels::Groups;
use super::{forms, linear, moments};
use crate::linalg::packed_len;
use crate::simd::{Kernel, LANES, Lines, Vector};

/// How features are made of the columns that are stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) degree: Degree,
    /// Columns.
    pub(super) width: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Degree {
    /// Features are the columns.
    First,
    /// Features are the columns and the triangle of their products. Densities are given as `c, b, A` of `c − ½|Ax − b|²`.
    Second,
}

impl Shape {
    /// Features of a unit, the constant among them.
    pub(super) fn n_features(self) -> usize {
        match self.degree {
            Degree::First => 1 + self.width,
            Degree::Second => 1 + self.width + packed_len(self.width),
        }
    }

    /// `c·φ` of a chunk.
    #[inline(always)]
    fn forms<V: Vector>(self, chunk: Chunk<'_>, c: &[f64], out: &mut [[f64; LANES]]) {
        match self.degree {
            Degree::First => forms::linear::<V>(self.width, chunk.blocks, c, out),
            Degree::Second => forms::quadratic::<V>(chunk.groups, c, out),
        }
    }

    /// Responsibilities of a chunk, a component after the other at every [`CHUNK`] of `out`.
    #[inline(always)]
    fn responsibilities<V: Vector>(
        self,
        k: usize,
        chunk: Chunk<'_>,
        densities: &[f64],
        out: &mut [[f64; LANES]],
    ) {
        let count = chunk.blocks.len() / self.width;
        for (c, numbers) in densities.chunks_exact(self.n_features()).enumerate() {
            let out = &mut out[c * CHUNK..c * CHUNK + count];
            match self.degree {
                Degree::First => forms::linear::<V>(self.width, chunk.blocks, numbers, out),
                Degree::Second => forms::gaussian::<V>(chunk.groups, numbers, out),
            }
        }
        softmax::<V>(k, &[[1.0; LANES]; CHUNK][..count], out, V::zero());
    }

    /// Adds `Σ share φ` of a chunk.
    #[inline(always)]
    fn add<V: Vector>(
        self,
        chunk: Chunk<'_>,
        shares: &[[f64; LANES]],
        sums: &mut [[f64; LANES]],
        room: &mut Lines,
    ) {
        match self.degree {
            Degree::First => linear::add::<V>(self.width, chunk.blocks, shares, sums),
            Degree::Second if self.width <= FEW => {
                moments::accumulate_few::<V>(self.width, chunk.blocks, shares, sums);
            }
            Degree::Second => moments::accumulate_many::<V>(chunk.groups, shares, sums, room),
        }
    }

    /// The features of one block, the constant first.
    #[inline(always)]
    fn features<V: Vector>(self, x: &[[f64; LANES]], out: &mut [[f64; LANES]]) {
        out[0] = [1.0; LANES];
        out[1..=self.width].copy_from_slice(x);
        if self.degree == Degree::Second {
            let mut at = 1 + self.width;
            for i in 0..self.width {
                let x_i = V::load(&x[i]);
                for j in 0..=i {
                    x_i.mul(V::load(&x[j])).store(&mut out[at]);
                    at += 1;
                }
            }
        }
    }
}

/// A chunk of units as they are stored, and in groups.
#[derive(Clone, Copy)]
struct Chunk<'a> {
    blocks: &'a [[f64; LANES]],
    groups: Groups<'a>,
}

impl<'a> Chunk<'a> {
    #[inline(always)]
    fn new<V: Vector>(shape: Shape, blocks: &'a [[f64; LANES]], room: &'a mut Lines) -> Chunk<'a> {
        // Features of first degree need no tiles.
        let tiled = if shape.degree == Degree::Second { blocks } else { &[] };
        Chunk { blocks, groups: Groups::new::<V>(shape.width, tiled, room) }
    }
}

/// Responsibilities of all units: a block for each component, block of units after block.
pub(super) struct Responsibilities<'a> {
    pub(super) shape: Shape,
    pub(super) k: usize,
    pub(super) blocks: &'a [[f64; LANES]],
    pub(super) densities: &'a [f64],
    pub(super) scratch: &'a mut Scratch,
    pub(super) out: &'a mut [[f64; LANES]],
}

impl Kernel for Responsibilities<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        let Responsibilities { shape, k, blocks, densities, scratch, out } = self;
        let Scratch { chunk: shares, groups, .. } = scratch;
        shares.resize(k * CHUNK);
        for (blocks, out) in blocks.chunks(CHUNK * shape.width).zip(out.chunks_mut(CHUNK * k)) {
            let units = Chunk::new::<V>(shape, blocks, groups);
            shape.responsibilities::<V>(k, units, densities, shares);
            for (b, out) in out.chunks_exact_mut(k).enumerate() {
                for c in 0..k {
                    out[c] = shares[c * CHUNK + b];
                }
            }
        }
    }
}

/// `ψ_n = Σ_k r_nk λ_k·φ_n` of all units, and what `squares` adds to it.
pub(super) struct Influences<'a> {
    pub(super) shape: Shape,
    pub(super) k: usize,
    pub(super) blocks: &'a [[f64; LANES]],
    pub(super) densities: &'a [f64],
    pub(super) slopes: &'a [f64],
    pub(super) squares: Option<&'a [f64]>,
    pub(super) scratch: &'a mut Scratch,
    pub(super) out: &'a mut [[f64; LANES]],
}

impl Kernel for Influences<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        let Influences { shape, k, blocks, densities, slopes, squares, scratch, out } = self;
        scratch.chunk.resize((k + 1) * CHUNK);
        let (responsibilities, forms) = scratch.chunk.split_at_mut(k * CHUNK);
        let features = shape.n_features();
        for (blocks, out) in blocks.chunks(CHUNK * shape.width).zip(out.chunks_mut(CHUNK)) {
            // Squares are forms of second degree, whatever the features are.
            let tiled = Shape {
                degree: if squares.is_some() { Degree::Second } else { shape.degree },
                ..shape
            };
            let units = Chunk::new::<V>(tiled, blocks, &mut scratch.groups);
            shape.responsibilities::<V>(k, units, densities, responsibilities);
            match squares {
                Some(numbers) => forms::quadratic::<V>(units.groups, numbers, out),
                None => out.fill([0.0; LANES]),
            }
            for (c, slopes) in slopes.chunks_exact(features).enumerate() {
                shape.forms::<V>(units, slopes, &mut forms[..out.len()]);
                for (b, out) in out.iter_mut().enumerate() {
                    let r = V::load(&responsibilities[c * CHUNK + b]);
                    r.mul_add(V::load(&forms[b]), V::load(out)).store(out);
                }
            }
        }
    }
}

/// The derivative of the sums of features, applied to a change of coefficients.
pub(super) struct Pull<'a> {
    pub(super) shape: Shape,
    pub(super) k: usize,
    pub(super) blocks: &'a [[f64; LANES]],
    pub(super) weights: &'a [[f64; LANES]],
    /// Responsibilities, where they are kept.
    pub(super) known: Option<&'a [[f64; LANES]]>,
    pub(super) densities: &'a [f64],
    pub(super) change: &'a [f64],
    pub(super) out: &'a mut [f64],
    pub(super) scratch: &'a mut Scratch,
}

impl Kernel for Pull<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        let Pull { shape, k, blocks, weights, known, densities, change, out, scratch } = self;
        let features = shape.n_features();
        scratch.chunk.resize(2 * k * CHUNK);
        scratch.sums.clear(k * features);
        let Scratch { chunk, sums, groups, products } = scratch;
        let (chunk, r) = chunk.split_at_mut(k * CHUNK);
        let chunks = blocks.chunks(CHUNK * shape.width).zip(weights.chunks(CHUNK));
        for (number, (blocks, weights)) in chunks.enumerate() {
            let units = Chunk::new::<V>(shape, blocks, groups);
            match known {
                None => shape.responsibilities::<V>(k, units, densities, r),
                Some(known) => {
                    let own = known[number * CHUNK * k..].chunks_exact(k).take(weights.len());
                    for (b, own) in own.enumerate() {
                        for c in 0..k {
                            r[c * CHUNK + b] = own[c];
                        }
                    }
                }
            }
            for (c, change) in change.chunks_exact(features).enumerate() {
                let out = &mut chunk[c * CHUNK..c * CHUNK + weights.len()];
                shape.forms::<V>(units, change, out);
            }
            for (b, w) in weights.iter().enumerate() {
                let mut mean = V::zero();
                for c in 0..k {
                    let at = c * CHUNK + b;
                    mean = V::load(&r[at]).mul_add(V::load(&chunk[at]), mean);
                }
                let w = V::load(w);
                for c in 0..k {
                    let at = c * CHUNK + b;
                    let moved = V::load(&chunk[at]).sub(mean);
                    w.mul(V::load(&r[at])).mul(moved).store(&mut chunk[at]);
                }
            }
            for (c, sums) in sums.chunks_exact_mut(features).enumerate() {
                let shares = &chunk[c * CHUNK..c * CHUNK + weights.len()];
                shape.add::<V>(units, shares, sums, products);
            }
        }
        for (out, lanes) in out.iter_mut().zip(&**sums) {
            *out = V::load(lanes).sum();
        }
    }
}

/// Sums behind the matrix of that derivative.
pub(super) struct Hessian<'a> {
    pub(super) shape: Shape,
    pub(super) k: usize,
    pub(super) blocks: &'a [[f64; LANES]],
    pub(super) weights: &'a [[f64; LANES]],
    pub(super) densities: &'a [f64],
    pub(super) sums: &'a mut [f64],
    pub(super) scratch: &'a mut Scratch,
}

impl Kernel for Hessian<'_> {
    type Output = ();

    /// Moments of `r_1 φ, …, r_K φ` with weights `w`, then for each component those of `φ` with weights `w r`.
    #[inline(always)]
    fn run<V: Vector>(self) {
        let Hessian { shape, k, blocks, weights, densities, sums, scratch } = self;
        let (features, width) = (shape.n_features(), shape.width);
        let all = k * features;
        scratch.chunk.resize(k * CHUNK + CHUNK * (features + all));
        scratch.sums.clear(sums.len());
        let Scratch { chunk, sums: own, groups, products } = scratch;
        let (shares, rest) = chunk.split_at_mut(k * CHUNK);
        let (plain, shared) = rest.split_at_mut(CHUNK * features);
        let (of_all, of_each) = own.split_at_mut(moments::len(all));
        for (blocks, weights) in blocks.chunks(CHUNK * width).zip(weights.chunks(CHUNK)) {
            let count = weights.len();
            let units = Chunk::new::<V>(shape, blocks, groups);
            shape.responsibilities::<V>(k, units, densities, shares);
            for (b, x) in blocks.chunks_exact(width).enumerate() {
                let phi = &mut plain[b * features..(b + 1) * features];
                shape.features::<V>(x, phi);
                for c in 0..k {
                    let r = V::load(&shares[c * CHUNK + b]);
                    let at = b * all + c * features;
                    for (out, phi) in shared[at..at + features].iter_mut().zip(phi.iter()) {
                        r.mul(V::load(phi)).store(out);
                    }
                }
                for c in 0..k {
                    let r = V::load(&shares[c * CHUNK + b]);
                    r.mul(V::load(&weights[b])).store(&mut shares[c * CHUNK + b]);
                }
            }
            let (plain, shared) = (&plain[..count * features], &shared[..count * all]);
            moments::accumulate::<V>(all, shared, weights, of_all, groups, products);
            for (c, sums) in of_each.chunks_exact_mut(moments::len(features)).enumerate() {
                let shares = &shares[c * CHUNK..c * CHUNK + count];
                moments::accumulate::<V>(features, plain, shares, sums, groups, products);
            }
        }
        for (out, lanes) in sums.iter_mut().zip(&**own) {
            *out = V::load(lanes).sum();
        }
    }
}
