//! What the E-steps of all mixtures share: pieces of work, and the softmax over components.

use crate::simd::{LANES, Vector, exp, ln};
use rayon::prelude::*;
use std::ops::Range;

/// Blocks of eight units handled together, so that they stay in the first-level cache.
pub(super) const CHUNK: usize = 24;

/// Blocks that make one independent piece of work. Fixed, so that sums do not depend on threads.
const PIECE: usize = 1024;

/// More pieces than this are made longer instead.
const MAX_PIECES: usize = 256;

/// Reusable memory of an E-step.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Log densities, then weighted responsibilities: `CHUNK` blocks per component.
    pub(super) chunk: Vec<[f64; LANES]>,
    /// Running sums per lane.
    pub(super) sums: Vec<[f64; LANES]>,
}

/// Runs `piece` over ranges of blocks, in parallel when there are several, and adds up the
/// statistics and the returned sums in the order of the pieces.
pub(super) fn in_pieces(
    n_blocks: usize,
    stats: &mut [f64],
    scratch: &mut Scratch,
    piece: impl Fn(Range<usize>, &mut [f64], &mut Scratch) -> f64 + Sync,
) -> f64 {
    let length = PIECE.max(n_blocks.div_ceil(MAX_PIECES));
    if n_blocks <= length {
        return piece(0..n_blocks, stats, scratch);
    }
    let pieces: Vec<(Vec<f64>, f64)> = (0..n_blocks.div_ceil(length))
        .into_par_iter()
        .map_init(Scratch::default, |scratch, i| {
            let mut sums = vec![0.0; stats.len()];
            let range = i * length..n_blocks.min((i + 1) * length);
            let bound = piece(range, &mut sums, scratch);
            (sums, bound)
        })
        .collect();
    stats.fill(0.0);
    let mut bound = 0.0;
    for (sums, part) in pieces {
        for (s, x) in stats.iter_mut().zip(sums) {
            *s += x;
        }
        bound += part;
    }
    bound
}

/// Turns log densities into weighted responsibilities `w r`; adds `w log Σρ` to the bound.
#[inline(always)]
pub(super) fn softmax<V: Vector>(
    k: usize,
    weights: &[[f64; LANES]],
    chunk: &mut [[f64; LANES]],
    mut bound: V,
) -> V {
    for (block, w) in weights.iter().enumerate() {
        let w = V::load(w);
        if k == 1 {
            bound = w.mul_add(V::load(&chunk[block]), bound);
            w.store(&mut chunk[block]);
        } else if k == 2 {
            // One exponential: r1 = 1/(1 + e^(l0−l1)). It is cut off at e^709, where l0 is the sum.
            let (l0, l1) = (V::load(&chunk[block]), V::load(&chunk[CHUNK + block]));
            let ratio = exp(l0.sub(l1));
            let sum = ratio.add(V::splat(1.0));
            let share = w.div(sum);
            bound = w.mul_add(l1.add(ln(sum)).max(l0), bound);
            ratio.mul(share).store(&mut chunk[block]);
            share.store(&mut chunk[CHUNK + block]);
        } else {
            let mut largest = V::load(&chunk[block]);
            for c in 1..k {
                largest = largest.max(V::load(&chunk[c * CHUNK + block]));
            }
            let mut sum = V::zero();
            for c in 0..k {
                let e = exp(V::load(&chunk[c * CHUNK + block]).sub(largest));
                e.store(&mut chunk[c * CHUNK + block]);
                sum = sum.add(e);
            }
            let share = w.div(sum);
            bound = w.mul_add(largest.add(ln(sum)), bound);
            for c in 0..k {
                V::load(&chunk[c * CHUNK + block]).mul(share).store(&mut chunk[c * CHUNK + block]);
            }
        }
    }
    bound
}
