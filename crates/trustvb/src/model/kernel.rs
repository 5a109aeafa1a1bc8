//! What the E-steps of all mixtures share: pieces of work, and the softmax over components.

use crate::simd::{LANES, Lines, Vector, exp, ln_and_inverse};
use rayon::prelude::*;
use std::ops::Range;

/// Blocks of eight units handled together, so that they stay in the first-level cache.
pub(super) const CHUNK: usize = 24;

/// Blocks that make one independent piece of work. Fixed, so that sums do not depend on threads.
const PIECE: usize = 1024;

/// The same for rows of more than so many columns, whose products take that much longer to sum.
const PIECE_OF_MANY_COLUMNS: usize = 64;
const MANY_COLUMNS: usize = 32;

/// More pieces than this are made longer instead.
const MAX_PIECES: usize = 256;

/// Reusable memory of an E-step.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Log densities, then weighted responsibilities: `CHUNK` blocks per component.
    pub(super) chunk: Lines,
    /// Running sums per lane.
    pub(super) sums: Lines,
    /// The columns of a chunk, in groups.
    pub(super) groups: Lines,
    /// Products of shares and columns.
    pub(super) products: Lines,
}

/// One piece of an E-step: units eight at a time, `width` features each, and the numbers behind `k` log densities.
pub(super) struct Piece<'a> {
    pub(super) width: usize,
    pub(super) k: usize,
    pub(super) blocks: &'a [[f64; LANES]],
    pub(super) weights: &'a [[f64; LANES]],
    pub(super) densities: &'a [f64],
    pub(super) stats: &'a mut [f64],
    pub(super) scratch: &'a mut Scratch,
}

impl Piece<'_> {
    /// Makes room for `stride` sums of each component.
    pub(super) fn clear(&mut self, stride: usize) {
        self.scratch.chunk.resize(self.k * CHUNK);
        self.scratch.sums.clear(self.k * stride);
    }

    /// Adds up the lanes of all sums.
    #[inline(always)]
    pub(super) fn finish<V: Vector>(self) {
        for (s, lanes) in self.stats.iter_mut().zip(&*self.scratch.sums) {
            *s = V::load(lanes).sum();
        }
    }
}

/// Runs `piece` over ranges of blocks, in parallel when there are several, and adds up the
/// statistics and the returned sums in the order of the pieces.
pub(super) fn in_pieces(
    n_blocks: usize,
    stats: &mut [f64],
    scratch: &mut Scratch,
    piece: impl Fn(Range<usize>, &mut [f64], &mut Scratch) -> f64 + Sync,
) -> f64 {
    in_pieces_of(piece_length(1, n_blocks), n_blocks, stats, scratch, piece)
}

/// Blocks per piece where rows of `p` columns and their products are summed: with many columns a few rows are work enough.
pub(super) fn piece_length(p: usize, n_blocks: usize) -> usize {
    least_piece(p).max(n_blocks.div_ceil(MAX_PIECES))
}

/// The fewest blocks of `p` columns that are work enough for a piece.
pub(super) fn least_piece(p: usize) -> usize {
    if p > MANY_COLUMNS { PIECE_OF_MANY_COLUMNS } else { PIECE }
}

/// [`in_pieces`] of `length` blocks, which must not depend on the number of threads.
pub(super) fn in_pieces_of(
    length: usize,
    n_blocks: usize,
    stats: &mut [f64],
    scratch: &mut Scratch,
    piece: impl Fn(Range<usize>, &mut [f64], &mut Scratch) -> f64 + Sync,
) -> f64 {
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

/// `ρ0/ρ1`, the one exponential that two components need. It is cut off at e^700.
#[inline(always)]
pub(super) fn ratio_of_two<V: Vector>([l0, l1]: [V; 2]) -> V {
    exp(l0.sub(l1))
}

/// The weighted responsibilities of two components and `log Σρ` from [`ratio_of_two`]:
/// `r1 = 1/(1 + ratio)`. Where the ratio was cut off, l0 is the sum.
#[inline(always)]
pub(super) fn softmax_of_two<V: Vector>([l0, l1]: [V; 2], ratio: V, w: V) -> ([V; 2], V) {
    let (ln_sum, inverse) = ln_and_inverse(ratio.add(V::splat(1.0)));
    let share = w.mul(inverse);
    ([ratio.mul(share), share], l1.add(ln_sum).max(l0))
}

/// Blocks whose softmax is taken together: each step is done for all of them before the next, so that
/// the processor has independent work while it waits for a result.
pub(super) const TOGETHER: usize = 4;

/// Turns log densities into weighted responsibilities `w r`; adds `w log Σρ` to the bound.
#[inline(always)]
pub(super) fn softmax<V: Vector>(
    k: usize,
    weights: &[[f64; LANES]],
    chunk: &mut [[f64; LANES]],
    mut bound: V,
) -> V {
    let (groups, rest) = weights.as_chunks::<TOGETHER>();
    for (group, w) in groups.iter().enumerate() {
        bound = softmax_of_blocks(k, group * TOGETHER, w, chunk, bound);
    }
    for (block, w) in rest.iter().enumerate() {
        bound = softmax_of_blocks(k, groups.len() * TOGETHER + block, &[*w], chunk, bound);
    }
    bound
}

/// [`softmax`] of `B` blocks from `first` on. Loops instead of closures: a closure that the compiler does
/// not inline has not the instructions that the kernel was compiled for, and is several times slower.
#[inline(always)]
fn softmax_of_blocks<V: Vector, const B: usize>(
    k: usize,
    first: usize,
    weights: &[[f64; LANES]; B],
    chunk: &mut [[f64; LANES]],
    mut bound: V,
) -> V {
    let place = |c: usize, b: usize| c * CHUNK + first + b;
    if k == 1 {
        for (b, w) in weights.iter().enumerate() {
            let w = V::load(w);
            bound = w.mul_add(V::load(&chunk[place(0, b)]), bound);
            w.store(&mut chunk[place(0, b)]);
        }
    } else if k == 2 {
        let mut ln = [[V::zero(); 2]; B];
        for b in 0..B {
            ln[b] = [V::load(&chunk[place(0, b)]), V::load(&chunk[place(1, b)])];
        }
        let mut ratio = [V::zero(); B];
        for b in 0..B {
            ratio[b] = ratio_of_two(ln[b]);
        }
        for b in 0..B {
            let w = V::load(&weights[b]);
            let (shares, ln_sum) = softmax_of_two(ln[b], ratio[b], w);
            bound = w.mul_add(ln_sum, bound);
            shares[0].store(&mut chunk[place(0, b)]);
            shares[1].store(&mut chunk[place(1, b)]);
        }
    } else {
        let mut largest = [V::splat(f64::NEG_INFINITY); B];
        for c in 0..k {
            for b in 0..B {
                largest[b] = largest[b].max(V::load(&chunk[place(c, b)]));
            }
        }
        let mut sum = [V::zero(); B];
        for c in 0..k {
            for b in 0..B {
                let e = exp(V::load(&chunk[place(c, b)]).sub(largest[b]));
                e.store(&mut chunk[place(c, b)]);
                sum[b] = sum[b].add(e);
            }
        }
        let mut share = [V::zero(); B];
        for b in 0..B {
            let (ln_sum, inverse) = ln_and_inverse(sum[b]);
            let w = V::load(&weights[b]);
            bound = w.mul_add(largest[b].add(ln_sum), bound);
            share[b] = w.mul(inverse);
        }
        for c in 0..k {
            for b in 0..B {
                V::load(&chunk[place(c, b)]).mul(share[b]).store(&mut chunk[place(c, b)]);
            }
        }
    }
    bound
}
