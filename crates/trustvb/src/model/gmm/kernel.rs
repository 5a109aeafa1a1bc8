//! The E-step of a Gaussian mixture: rows in, expected sufficient statistics out.
//!
//! Rows pass through in chunks that stay in the first-level cache: log densities per component,
//! softmax, weighted sums. Nothing of size N×K is kept. The number of columns is a constant to
//! the compiler up to six, where all sums of a component fit into registers. Two components in one or
//! two columns need so little that a block of rows passes through all three without leaving them.

use super::rows::Rows;
use crate::linalg::{packed_index, packed_len};
use crate::model::forms;
use crate::model::kernel::{
    CHUNK, Piece, Scratch, TOGETHER, in_pieces_of, piece_length, ratio_of_two, softmax,
    softmax_of_two,
};
use crate::model::moments::{self, FEW, Moments};
use crate::model::panels::Groups;
use crate::simd::{InstructionSet, Kernel, LANES, Vector, dispatch_on};
use std::f64::consts::FRAC_1_SQRT_2;

/// What the E-step needs of a component, packed: `c`, then `b = A m`, then the triangle of `A`, so
/// that `log ρ = c − ½|A x − b|²`.
#[derive(Clone, Debug, Default)]
pub(super) struct Densities {
    pub(super) p: usize,
    pub(super) numbers: Vec<f64>,
}

impl Densities {
    pub(super) fn stride(p: usize) -> usize {
        1 + p + packed_len(p)
    }

    /// `log ρ_nk` of one row: the obvious version, which the vector code is tested against.
    pub(super) fn ln_density(&self, component: usize, x: impl Fn(usize) -> f64) -> f64 {
        let p = self.p;
        let stride = Self::stride(p);
        let numbers = &self.numbers[component * stride..(component + 1) * stride];
        let (b, a) = numbers[1..].split_at(p);
        let mut form = 0.0;
        let mut at = 0;
        for i in 0..p {
            let mut z = -b[i];
            for j in 0..=i {
                z += a[at] * x(j);
                at += 1;
            }
            form += z * z;
        }
        numbers[0] - 0.5 * form
    }
}

impl Densities {
    /// `Σ_k Σ_n w r log ρ_nk` from the statistics of the responsibilities.
    pub(super) fn expected_ln_density(&self, stats: &[f64]) -> f64 {
        let p = self.p;
        let stride = Self::stride(p);
        let mut total = 0.0;
        for (numbers, s) in self.numbers.chunks_exact(stride).zip(stats.chunks_exact(stride)) {
            let (b, a) = numbers[1..].split_at(p);
            let (first, second) = s[1..].split_at(p);
            // Σ w r |A x − b|², row by row of A.
            let mut form = 0.0;
            for i in 0..p {
                let row = &a[packed_index(i, 0)..=packed_index(i, i)];
                let linear: f64 = row.iter().zip(first).map(|(a, m)| a * m).sum();
                let mut square = 0.0;
                for j in 0..=i {
                    for l in 0..=i {
                        square += row[j] * row[l] * second[packed_index(j, l)];
                    }
                }
                form += square - 2.0 * b[i] * linear + b[i] * b[i] * s[0];
            }
            total += numbers[0] * s[0] - 0.5 * form;
        }
        total
    }
}

/// Sums over all rows into `stats` (per component `N`, `Σwrx`, triangle of `Σwrxxᵀ`) and returns
/// `Σ_n w_n log Σ_k ρ_nk`.
pub(super) fn e_step(
    rows: &Rows,
    densities: &Densities,
    stats: &mut [f64],
    scratch: &mut Scratch,
) -> f64 {
    let p = densities.p;
    let n_blocks = rows.weights.len();
    in_pieces_of(piece_length(p, n_blocks), n_blocks, stats, scratch, |range, stats, scratch| {
        let blocks = &rows.blocks[range.start * p..range.end * p];
        piece(InstructionSet::best(), p, blocks, &rows.weights[range], densities, stats, scratch)
    })
}

pub(super) fn piece(
    set: InstructionSet,
    p: usize,
    blocks: &[[f64; LANES]],
    weights: &[[f64; LANES]],
    densities: &Densities,
    stats: &mut [f64],
    scratch: &mut Scratch,
) -> f64 {
    let stride = Densities::stride(p);
    let k = densities.numbers.len() / stride;
    let densities = &densities.numbers;
    let mut piece = Piece { width: p, k, blocks, weights, densities, stats, scratch };
    piece.clear(stride);
    dispatch_on(set, Gaussians(piece))
}

struct Gaussians<'a>(Piece<'a>);

impl Kernel for Gaussians<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<V: Vector>(mut self) -> f64 {
        let Piece { width: p, k, blocks, weights, densities, ref mut scratch, .. } = self.0;
        let scratch = &mut **scratch;
        let sums = &mut scratch.sums[..];
        let bound = match (k, p) {
            (2, 1) => two_components::<V, 1>(blocks, weights, densities, sums),
            (2, 2) => two_components::<V, 2>(blocks, weights, densities, sums),
            _ if p <= FEW => of_few_columns::<V>(p, k, blocks, weights, densities, scratch),
            _ => of_many_columns::<V>(p, k, blocks, weights, densities, scratch),
        };
        self.0.finish::<V>();
        bound.sum()
    }
}

/// The E-step of any number of components, chunk by chunk: densities, softmax, sums. Returns what it
/// adds to the bound.
#[inline(always)]
fn of_few_columns<V: Vector>(
    p: usize,
    k: usize,
    blocks: &[[f64; LANES]],
    weights: &[[f64; LANES]],
    densities: &[f64],
    scratch: &mut Scratch,
) -> V {
    let stride = Densities::stride(p);
    let chunk = &mut scratch.chunk[..];
    let mut bound = V::zero();
    for (blocks, weights) in blocks.chunks(CHUNK * p).zip(weights.chunks(CHUNK)) {
        for c in 0..k {
            let numbers = &densities[c * stride..(c + 1) * stride];
            let out = &mut chunk[c * CHUNK..c * CHUNK + weights.len()];
            match p {
                1 => ln_densities::<V, 1>(blocks, numbers, out),
                2 => ln_densities::<V, 2>(blocks, numbers, out),
                3 => ln_densities::<V, 3>(blocks, numbers, out),
                4 => ln_densities::<V, 4>(blocks, numbers, out),
                5 => ln_densities::<V, 5>(blocks, numbers, out),
                _ => ln_densities::<V, 6>(blocks, numbers, out),
            }
        }
        bound = softmax::<V>(k, weights, chunk, bound);
        for c in 0..k {
            let shares = &chunk[c * CHUNK..c * CHUNK + weights.len()];
            let sums = &mut scratch.sums[c * stride..(c + 1) * stride];
            moments::accumulate_few::<V>(p, blocks, shares, sums);
        }
    }
    bound
}

/// [`of_few_columns`] for more of them, in tiles.
#[inline(always)]
fn of_many_columns<V: Vector>(
    p: usize,
    k: usize,
    blocks: &[[f64; LANES]],
    weights: &[[f64; LANES]],
    densities: &[f64],
    scratch: &mut Scratch,
) -> V {
    let stride = Densities::stride(p);
    let Scratch { chunk, sums, groups, products } = scratch;
    let mut bound = V::zero();
    for (blocks, weights) in blocks.chunks(CHUNK * p).zip(weights.chunks(CHUNK)) {
        let rows = Groups::new::<V>(p, blocks, groups);
        for c in 0..k {
            let out = &mut chunk[c * CHUNK..c * CHUNK + weights.len()];
            forms::gaussian::<V>(rows, &densities[c * stride..(c + 1) * stride], out);
        }
        bound = softmax::<V>(k, weights, chunk, bound);
        for c in 0..k {
            let shares = &chunk[c * CHUNK..c * CHUNK + weights.len()];
            let sums = &mut sums[c * stride..(c + 1) * stride];
            moments::accumulate_many::<V>(rows, shares, sums, products);
        }
    }
    bound
}

/// `log ρ` of a component for a chunk of rows.
#[inline(always)]
fn ln_densities<V: Vector, const P: usize>(
    blocks: &[[f64; LANES]],
    numbers: &[f64],
    out: &mut [[f64; LANES]],
) {
    let (blocks, _) = blocks.as_chunks::<P>();
    let density = Density::<V, P>::new(numbers);
    for (x, out) in blocks.iter().zip(out) {
        density.ln(&load(x)).store(out);
    }
}

#[inline(always)]
fn load<V: Vector, const P: usize>(x: &[[f64; LANES]; P]) -> [V; P] {
    let mut columns = [V::zero(); P];
    for j in 0..P {
        columns[j] = V::load(&x[j]);
    }
    columns
}

/// A component's numbers in registers, `A` and `b` divided by √2 so that `log ρ = c − |A x − b|²`.
struct Density<V, const P: usize> {
    c: V,
    minus_b: [V; P],
    a: [[V; P]; P],
}

impl<V: Vector, const P: usize> Density<V, P> {
    #[inline(always)]
    fn new(numbers: &[f64]) -> Self {
        let zero = V::zero();
        let mut own = Density { c: V::splat(numbers[0]), minus_b: [zero; P], a: [[zero; P]; P] };
        for i in 0..P {
            own.minus_b[i] = V::splat(-FRAC_1_SQRT_2 * numbers[1 + i]);
            for j in 0..=i {
                own.a[i][j] = V::splat(FRAC_1_SQRT_2 * numbers[1 + P + packed_index(i, j)]);
            }
        }
        own
    }

    #[inline(always)]
    fn ln(&self, x: &[V; P]) -> V {
        let mut ln = self.c;
        for i in 0..P {
            let mut z = self.minus_b[i];
            for j in 0..=i {
                z = self.a[i][j].mul_add(x[j], z);
            }
            ln = z.neg().mul_add(z, ln);
        }
        ln
    }
}

/// The whole E-step of two components when everything they need fits into registers, several blocks
/// together as in [`softmax`]; returns what it adds to the bound.
#[inline(always)]
fn two_components<V: Vector, const P: usize>(
    blocks: &[[f64; LANES]],
    weights: &[[f64; LANES]],
    densities: &[f64],
    sums: &mut [[f64; LANES]],
) -> V {
    let stride = densities.len() / 2;
    let density = std::array::from_fn(|c| Density::new(&densities[c * stride..(c + 1) * stride]));
    let moments = std::array::from_fn(|c| Moments::load(&sums[c * stride..(c + 1) * stride]));
    let mut pair = Pair::<V, P> { density, moments, bound: V::zero() };
    let (blocks, _) = blocks.as_chunks::<P>();
    let (many_blocks, last_blocks) = blocks.as_chunks::<TOGETHER>();
    let (many_weights, last_weights) = weights.as_chunks::<TOGETHER>();
    for (x, w) in many_blocks.iter().zip(many_weights) {
        pair.add(x, w);
    }
    for (x, w) in last_blocks.iter().zip(last_weights) {
        pair.add(&[*x], &[*w]);
    }
    for (moments, sums) in pair.moments.iter().zip(sums.chunks_exact_mut(stride)) {
        moments.store(sums);
    }
    pair.bound
}

/// Two components in registers: what is known of them, and what is summed up.
struct Pair<V, const P: usize> {
    density: [Density<V, P>; 2],
    moments: [Moments<V, P>; 2],
    bound: V,
}

impl<V: Vector, const P: usize> Pair<V, P> {
    #[inline(always)]
    fn add<const B: usize>(&mut self, x: &[[[f64; LANES]; P]; B], w: &[[f64; LANES]; B]) {
        let mut ln = [[V::zero(); 2]; B];
        for b in 0..B {
            let x = load(&x[b]);
            ln[b] = [self.density[0].ln(&x), self.density[1].ln(&x)];
        }
        let mut ratio = [V::zero(); B];
        for b in 0..B {
            ratio[b] = ratio_of_two(ln[b]);
        }
        let mut shares = [[V::zero(); 2]; B];
        for b in 0..B {
            let w = V::load(&w[b]);
            let (own, ln_sum) = softmax_of_two(ln[b], ratio[b], w);
            self.bound = w.mul_add(ln_sum, self.bound);
            shares[b] = own;
        }
        for b in 0..B {
            for (moments, share) in self.moments.iter_mut().zip(shares[b]) {
                moments.add(share, |j| V::load(&x[b][j]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every sum as its definition says, row by row.
    fn obvious(rows: &Rows, weights: &[f64], densities: &Densities) -> (Vec<f64>, f64) {
        let p = densities.p;
        let stride = Densities::stride(p);
        let k = densities.numbers.len() / stride;
        let mut stats = vec![0.0; k * stride];
        let mut bound = 0.0;
        for n in 0..rows.len() {
            let l: Vec<f64> = (0..k).map(|c| densities.ln_density(c, |j| rows.get(n, j))).collect();
            let largest = l.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = l.iter().map(|x| (x - largest).exp()).sum();
            bound += weights[n] * (largest + sum.ln());
            for c in 0..k {
                let share = weights[n] * (l[c] - largest).exp() / sum;
                let s = &mut stats[c * stride..(c + 1) * stride];
                s[0] += share;
                let mut at = 1 + p;
                for i in 0..p {
                    s[1 + i] += share * rows.get(n, i);
                    for j in 0..=i {
                        s[at] += share * rows.get(n, i) * rows.get(n, j);
                        at += 1;
                    }
                }
            }
        }
        (stats, bound)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn every_instruction_set_equals_the_obvious_version(
            p in prop_oneof![4 => 1usize..24, 1 => 24usize..70],
            k in 1usize..6, n in 1usize..700, seed in any::<u64>(),
        ) {
            let mut state = seed | 1;
            let mut uniform = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 11) as f64 / (1u64 << 53) as f64
            };
            let values: Vec<f64> = (0..n * p).map(|_| 4.0 * uniform() - 2.0).collect();
            let all = Rows::new(p, n, |i, j| values[i * p + j]);
            let weights: Vec<f64> = (0..n).map(|_| (3.0 * uniform()).floor()).collect();
            let mut rows = Rows::default();
            rows.compact(&all, &weights);
            let mut densities = Densities { p, numbers: Vec::new() };
            for _ in 0..k {
                densities.numbers.push(-3.0 * uniform());
                densities.numbers.extend((0..p).map(|_| 2.0 * uniform() - 1.0));
                densities.numbers.extend((0..packed_len(p)).map(|_| 2.0 * uniform() - 1.0));
            }
            let (expected, expected_bound) = obvious(&all, &weights, &densities);
            let size = weights.iter().sum::<f64>().max(1.0);
            let mut fused: Option<(Vec<f64>, f64)> = None;
            for set in InstructionSet::available() {
                let mut stats = vec![0.0; expected.len()];
                let bound = piece(
                    set, p, &rows.blocks, &rows.weights, &densities, &mut stats,
                    &mut Scratch::default(),
                );
                let largest = expected_bound.abs().max(size);
                prop_assert!((bound - expected_bound).abs() <= 1e-12 * largest);
                for (got, want) in stats.iter().zip(&expected) {
                    prop_assert!((got - want).abs() <= 1e-12 * 4.0 * size, "{set:?} {got} {want}");
                }
                if set != InstructionSet::Portable {
                    let first = fused.get_or_insert_with(|| (stats.clone(), bound));
                    prop_assert!(*first == (stats, bound), "{set:?} has other bits");
                }
            }
        }
    }
}
