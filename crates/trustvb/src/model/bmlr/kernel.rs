//! The E-step of a mixture of regressions: log densities are linear in a group's features.
//!
//! `length` is the number of features; `blocks` holds eight groups at a time, feature after feature.

use crate::model::kernel::{CHUNK, Scratch, in_pieces, softmax};
use crate::simd::{InstructionSet, Kernel, LANES, Vector, dispatch_on};

/// Sums over all groups into `stats` (per component `N_k`, then `Σ w r` times each feature) and
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
        scratch.chunk.resize(k * CHUNK, [0.0; LANES]);
        scratch.sums.clear();
        scratch.sums.resize(k * (length + 1), [0.0; LANES]);
        let kernel = EStep {
            length,
            k,
            blocks: &blocks[range.start * length..range.end * length],
            weights: &weights[range],
            densities,
            stats,
            scratch,
        };
        dispatch_on(InstructionSet::best(), kernel)
    })
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
    let mut totals: [V; F] = std::array::from_fn(|f| V::load(&sums[first + f]));
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

struct EStep<'a> {
    length: usize,
    k: usize,
    blocks: &'a [[f64; LANES]],
    weights: &'a [[f64; LANES]],
    densities: &'a [f64],
    stats: &'a mut [f64],
    scratch: &'a mut Scratch,
}

impl Kernel for EStep<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<V: Vector>(self) -> f64 {
        let EStep { length, k, blocks, weights, densities, stats, scratch } = self;
        let chunk = &mut scratch.chunk[..];
        let mut bound = V::zero();
        for (blocks, weights) in blocks.chunks(CHUNK * length).zip(weights.chunks(CHUNK)) {
            for c in 0..k {
                let numbers = &densities[c * (length + 1)..(c + 1) * (length + 1)];
                let out = &mut chunk[c * CHUNK..c * CHUNK + weights.len()];
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
            bound = softmax::<V>(k, weights, chunk, bound);
            for c in 0..k {
                let shares = &chunk[c * CHUNK..c * CHUNK + weights.len()];
                let sums = &mut scratch.sums[c * (length + 1)..(c + 1) * (length + 1)];
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
        }
        for (s, lanes) in stats.iter_mut().zip(&scratch.sums) {
            *s = V::load(lanes).sum();
        }
        bound.sum()
    }
}
