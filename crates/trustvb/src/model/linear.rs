//! The E-step of models whose log densities are linear in a unit's features, and the units that take part in it.
//!
//! `length` is the number of features; `blocks` holds eight units at a time, feature after feature.

use super::forms;
use super::kernel::{CHUNK, Piece, Scratch, in_pieces, softmax};
use super::softmax as softmax_of_one;
use crate::simd::{InstructionSet, Kernel, LANES, Vector, dispatch_on};

/// Sums over all units into `stats` (per component `N_k`, then `Σ w r` times each feature) and
/// returns `Σ_n w_n log Σ_k ρ_nk`. `densities` holds per component `c_0, c_1, …` with
/// `log ρ_nk = c_0 + Σ_f c_f feature_f`.
pub(super) fn e_step(
    length: usize,
    blocks: &[[f64; LANES]],
    weights: &[[f64; LANES]],
    densities: &[f64],
    stats: &mut [f64],
    scratch: &mut Scratch,
) -> f64 {
    let k = densities.len() / (length + 1);
    in_pieces(weights.len(), stats, scratch, |range, stats, scratch| {
        let blocks = &blocks[range.start * length..range.end * length];
        let weights = &weights[range];
        let mut piece = Piece { width: length, k, blocks, weights, densities, stats, scratch };
        piece.clear(length + 1);
        dispatch_on(InstructionSet::best(), Linear(piece))
    })
}

/// The units of positive weight, with their features where these are not all units.
#[derive(Debug, Default)]
pub(super) struct Members {
    units: Vec<usize>,
    use_all: bool,
    compacted: Vec<[f64; LANES]>,
    weights: Vec<[f64; LANES]>,
}

impl Members {
    /// Takes the weights of `n` units (`None`: all one) with `length` features each.
    pub(super) fn load(
        &mut self,
        n: usize,
        length: usize,
        weights: Option<&[f64]>,
        feature: impl Fn(usize, usize) -> f64,
    ) {
        let weight = |unit: usize| weights.map_or(1.0, |w| w[unit]);
        self.units.clear();
        self.units.extend((0..n).filter(|&unit| weight(unit) > 0.0));
        self.use_all = self.units.len() == n;
        let n_blocks = self.units.len().div_ceil(LANES);
        self.weights.clear();
        self.weights.resize(n_blocks, [0.0; LANES]);
        self.compacted.clear();
        if !self.use_all {
            self.compacted.resize(n_blocks * length, [0.0; LANES]);
        }
        for (next, &unit) in self.units.iter().enumerate() {
            let (block, lane) = (next / LANES, next % LANES);
            self.weights[block][lane] = weight(unit);
            if !self.use_all {
                for f in 0..length {
                    self.compacted[block * length + f][lane] = feature(unit, f);
                }
            }
        }
    }

    /// Their features, of which `all` are those of all units.
    pub(super) fn blocks<'a>(&'a self, all: &'a [[f64; LANES]]) -> &'a [[f64; LANES]] {
        if self.use_all { all } else { &self.compacted }
    }

    /// Their weights, eight at a time.
    pub(super) fn weights(&self) -> &[[f64; LANES]] {
        &self.weights
    }

    /// Each with its weight.
    pub(super) fn units(&self) -> impl Iterator<Item = (usize, f64)> {
        let weight = |i: usize| self.weights[i / LANES][i % LANES];
        self.units.iter().enumerate().map(move |(i, &unit)| (unit, weight(i)))
    }
}

/// Responsibilities of `n` units, unit after unit, under the `densities` of an E-step.
pub(super) fn responsibilities(
    n: usize,
    length: usize,
    densities: &[f64],
    feature: impl Fn(usize, usize) -> f64,
) -> Vec<f64> {
    let k = densities.len() / (length + 1);
    let mut all = vec![0.0; n * k];
    for (unit, r) in all.chunks_exact_mut(k).enumerate() {
        for (r, numbers) in r.iter_mut().zip(densities.chunks_exact(length + 1)) {
            *r = numbers[0] + (0..length).map(|f| numbers[1 + f] * feature(unit, f)).sum::<f64>();
        }
        softmax_of_one(r);
    }
    all
}

/// Features whose sums are kept in registers together.
const TOGETHER: usize = 8;

/// Adds `Σ share·feature` for `F` features from `first` on.
#[inline(always)]
fn add_features<V: Vector, const F: usize>(
    first: usize,
    length: usize,
    blocks: &[[f64; LANES]],
    shares: &[[f64; LANES]],
    sums: &mut [[f64; LANES]],
) {
    let mut totals = [V::zero(); F];
    for f in 0..F {
        totals[f] = V::load(&sums[first + f]);
    }
    for (features, share) in blocks.chunks_exact(length).zip(shares) {
        let (features, share) = (&features[first..first + F], V::load(share));
        for f in 0..F {
            totals[f] = share.mul_add(V::load(&features[f]), totals[f]);
        }
    }
    for f in 0..F {
        totals[f].store(&mut sums[first + f]);
    }
}

/// Adds `Σ share` and `Σ share·feature` of a chunk to `sums`.
#[inline(always)]
pub(super) fn add<V: Vector>(
    length: usize,
    blocks: &[[f64; LANES]],
    shares: &[[f64; LANES]],
    sums: &mut [[f64; LANES]],
) {
    let mut count = V::load(&sums[0]);
    for share in shares {
        count = count.add(V::load(share));
    }
    count.store(&mut sums[0]);
    let whole = length - length % TOGETHER;
    for f in (0..whole).step_by(TOGETHER) {
        add_features::<V, TOGETHER>(f, length, blocks, shares, &mut sums[1..]);
    }
    for f in whole..length {
        add_features::<V, 1>(f, length, blocks, shares, &mut sums[1..]);
    }
}

struct Linear<'a>(Piece<'a>);

impl Kernel for Linear<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<V: Vector>(mut self) -> f64 {
        let Piece { width: length, k, blocks, weights, densities, ref mut scratch, .. } = self.0;
        let scratch = &mut **scratch;
        let chunk = &mut scratch.chunk[..];
        let mut bound = V::zero();
        for (blocks, weights) in blocks.chunks(CHUNK * length).zip(weights.chunks(CHUNK)) {
            for c in 0..k {
                let numbers = &densities[c * (length + 1)..(c + 1) * (length + 1)];
                let out = &mut chunk[c * CHUNK..c * CHUNK + weights.len()];
                forms::linear::<V>(length, blocks, numbers, out);
            }
            bound = softmax::<V>(k, weights, chunk, bound);
            for c in 0..k {
                let shares = &chunk[c * CHUNK..c * CHUNK + weights.len()];
                let sums = &mut scratch.sums[c * (length + 1)..(c + 1) * (length + 1)];
                add::<V>(length, blocks, shares, sums);
            }
        }
        self.0.finish::<V>();
        bound.sum()
    }
}
