//! Units as derivatives of a sweep see them: features in which log densities are linear, and passes over them.
//!
//! With `φ_n` the features of unit n, the constant 1 first, `log ρ_nk = c_k·φ_n`, and an E-step takes coefficients `c` to
//! the sums `R(c)_k = Σ_n w_n r_nk φ_n`. Its derivative is
//!
//! ```text
//! dR_k = Σ_n w_n r_nk (a_nk − Σ_j r_nj a_nj) φ_n      with   a_nk = dc_k·φ_n
//! ```
//!
//! It is the second derivative of `Σ_n w_n log Σ_k ρ_nk`, hence symmetric: the same pass takes cotangents of the sums to
//! cotangents of the coefficients. Sums are taken in pieces of a fixed size, so that threads change no bit.

use super::kernel::{Scratch, in_pieces_of};
use super::passes::{Degree, Hessian, Influences, Pull, Responsibilities, Shape};
use super::{Degenerate, moments};
use crate::linalg::{packed_index, packed_len};
use crate::simd::{InstructionSet, LANES, dispatch_on};
use rayon::prelude::*;

/// All units of a model, with their features.
#[derive(Clone, Copy, Debug)]
pub struct Units<'a> {
    shape: Shape,
    n: usize,
    blocks: &'a [[f64; LANES]],
    squares: bool,
    /// What each unit counts beside its weight, where that is not 1.
    each: Option<&'a [f64]>,
    /// Who passes over them, where they are not in memory; `blocks` is then empty.
    far: Option<&'a dyn FarUnits>,
}

/// Passes over units that are not in memory, each of weight 1, whose features are their columns and the products of these.
pub(crate) trait FarUnits: Send + Sync + std::fmt::Debug {
    /// How many there are.
    fn n_units(&self) -> usize;
    /// The sums that [`Units::hessian`] is made of.
    fn hessian(&self, densities: &[f64], k: usize) -> Result<Vec<f64>, Degenerate>;
    /// The derivative of an E-step, applied to a change.
    fn pull(&self, densities: &[f64], k: usize, change: &[f64]) -> Result<Vec<f64>, Degenerate>;
    /// `Σ ψ` and `Σ ψ²`.
    fn influence(
        &self,
        densities: &[f64],
        k: usize,
        slopes: &[f64],
    ) -> Result<[f64; 2], Degenerate>;
}

impl<'a> Units<'a> {
    /// `n` units whose features are their columns, eight units at a time.
    pub(super) fn of_first_degree(n: usize, width: usize, blocks: &'a [[f64; LANES]]) -> Self {
        let shape = Shape { degree: Degree::First, width };
        Units { shape, n, blocks, squares: false, each: None, far: None }
    }

    /// `n` units whose features are their columns and the products of these.
    pub(super) fn of_second_degree(n: usize, width: usize, blocks: &'a [[f64; LANES]]) -> Self {
        let shape = Shape { degree: Degree::Second, width };
        Units { shape, n, blocks, squares: false, each: None, far: None }
    }

    /// The same where they are not in memory.
    pub(super) fn of_far(width: usize, far: &'a dyn FarUnits) -> Self {
        Units { far: Some(far), ..Units::of_second_degree(far.n_units(), width, &[]) }
    }

    /// Whether they are not in memory, so that nothing is known of each of them.
    pub(crate) fn is_far(&self) -> bool {
        self.far.is_some()
    }

    /// The same where each component's state also holds, after the sums of features, a K-th part of `Σ w xxᵀ` of the
    /// columns: responsibilities do not matter to it, weights do.
    pub(super) fn with_squares(self) -> Self {
        Units { squares: true, ..self }
    }

    /// The same where a unit of weight 1 counts as much as is given.
    pub(super) fn counting(self, each: &'a [f64]) -> Self {
        Units { each: Some(each), ..self }
    }

    /// Features of a unit, the constant among them.
    pub(crate) fn n_features(&self) -> usize {
        self.shape.n_features()
    }

    /// The weights of all units (`None`: all one), eight at a time.
    pub(crate) fn weights(&self, weights: Option<&[f64]>) -> Vec<[f64; LANES]> {
        if self.is_far() {
            return Vec::new();
        }
        let weight = |unit: usize| match weights {
            _ if unit >= self.n => 0.0,
            None => self.counts(unit),
            Some(weights) => weights[unit] * self.counts(unit),
        };
        let block = |b: usize| std::array::from_fn(|lane| weight(b * LANES + lane));
        (0..self.n.div_ceil(LANES)).map(block).collect()
    }

    /// The influence `ψ_n = λ·g_n` of every unit, with `g_n` what it adds to a state per unit of weight and `λ` (component
    /// after component, as long as a state) what a change of the state does.
    pub(crate) fn influence(&self, densities: &[f64], k: usize, adjoint: &[f64]) -> Vec<f64> {
        let (features, stride) = (self.n_features(), adjoint.len() / k);
        let slopes: Vec<f64> =
            adjoint.chunks_exact(stride).flat_map(|own| own[..features].iter().copied()).collect();
        let squares = self.squares.then(|| {
            // All components hold the same part, so its slope is their mean; no constant, no linear terms.
            let mut mean = vec![0.0; 1 + self.shape.width + packed_len(self.shape.width)];
            for own in adjoint.chunks_exact(stride) {
                let into = mean[1 + self.shape.width..].iter_mut();
                into.zip(&own[features..]).for_each(|(mean, x)| *mean += x / k as f64);
            }
            mean
        });
        let (squares, width) = (squares.as_deref(), self.shape.width);
        let mut psi = vec![[0.0; LANES]; self.n.div_ceil(LANES)];
        psi.par_chunks_mut(PIECE).enumerate().for_each_init(
            Scratch::default,
            |scratch, (piece, out)| {
                let from = piece * PIECE;
                let blocks = &self.blocks[from * width..(from + out.len()) * width];
                let (shape, slopes) = (self.shape, &slopes[..]);
                let pass =
                    Influences { shape, k, blocks, densities, slopes, squares, scratch, out };
                dispatch_on(InstructionSet::best(), pass);
            },
        );
        let psi = psi.into_iter().flatten().take(self.n);
        psi.enumerate().map(|(unit, x)| x * self.counts(unit)).collect()
    }

    /// `Σ ψ_n` and `Σ ψ_n²` of all units, as [`Units::influence`] has them, each of weight 1.
    pub(crate) fn influence_sums(
        &self,
        densities: &[f64],
        k: usize,
        adjoint: &[f64],
    ) -> Result<[f64; 2], Degenerate> {
        let Some(far) = self.far else {
            let psi = self.influence(densities, k, adjoint);
            return Ok([psi.iter().sum(), psi.iter().map(|x| x * x).sum()]);
        };
        let stride = adjoint.len() / k;
        let sums = adjoint.chunks_exact(stride).flat_map(|own| &own[..self.n_features()]);
        far.influence(densities, k, &sums.copied().collect::<Vec<f64>>())
    }

    fn counts(&self, unit: usize) -> f64 {
        self.each.map_or(1.0, |each| each[unit])
    }

    /// The derivative of the sums of features in the coefficients, as the triangle of a symmetric matrix. `weights` as
    /// [`Units::weights`] gives them.
    pub(crate) fn hessian(
        &self,
        densities: &[f64],
        k: usize,
        weights: &[[f64; LANES]],
    ) -> Result<Vec<f64>, Degenerate> {
        let features = self.n_features();
        let (all, own) = (moments::len(k * features), moments::len(features));
        let sums = match self.far {
            Some(far) => far.hessian(densities, k)?,
            None => self.hessian_sums(densities, k, weights, all + k * own),
        };
        // Within a component Σ w r φφᵀ, and everywhere less what Σ_j r_j a_j takes off.
        let mut hessian: Vec<f64> = sums[1 + k * features..all].iter().map(|x| -x).collect();
        for c in 0..k {
            let own = &sums[all + c * own + 1 + features..all + (c + 1) * own];
            for i in 0..features {
                for j in 0..=i {
                    let at = packed_index(c * features + i, c * features + j);
                    hessian[at] += own[packed_index(i, j)];
                }
            }
        }
        Ok(hessian)
    }

    fn hessian_sums(
        &self,
        densities: &[f64],
        k: usize,
        weights: &[[f64; LANES]],
        n_sums: usize,
    ) -> Vec<f64> {
        let (mut sums, mut scratch) = (vec![0.0; n_sums], Scratch::default());
        let (shape, width) = (self.shape, self.shape.width);
        let length = PIECE.max(weights.len().div_ceil(16));
        in_pieces_of(length, weights.len(), &mut sums, &mut scratch, |range, sums, scratch| {
            let blocks = &self.blocks[range.start * width..range.end * width];
            let weights = &weights[range];
            let pass = Hessian { shape, k, blocks, weights, densities, sums, scratch };
            dispatch_on(InstructionSet::best(), pass);
            0.0
        });
        sums
    }

    /// The units that a change of coefficients moves, with their responsibilities where they are few.
    pub(crate) fn undecided(
        &self,
        densities: &[f64],
        k: usize,
        weights: Vec<[f64; LANES]>,
    ) -> Undecided {
        if self.is_far() {
            return Undecided { k, densities: densities.to_vec(), weights, few: None };
        }
        let width = self.shape.width;
        let pieces: Vec<(Vec<usize>, Vec<f64>)> = (0..weights.len().div_ceil(PIECE))
            .into_par_iter()
            .map(|piece| {
                let (from, shape) = (piece * PIECE, self.shape);
                let weights = &weights[from..weights.len().min(from + PIECE)];
                let blocks = &self.blocks[from * width..(from + weights.len()) * width];
                let mut out = vec![[0.0; LANES]; weights.len() * k];
                let scratch = &mut Scratch::default();
                let pass = Responsibilities { shape, k, blocks, densities, scratch, out: &mut out };
                dispatch_on(InstructionSet::best(), pass);
                let (mut units, mut responsibilities) = (Vec::new(), Vec::new());
                for unit in 0..weights.len() * LANES {
                    let r = |c: usize| out[unit / LANES * k + c][unit % LANES];
                    let spread: f64 = (0..k).map(|c| r(c) * (1.0 - r(c))).sum();
                    if weights[unit / LANES][unit % LANES] * spread > DECIDED {
                        units.push(from * LANES + unit);
                        responsibilities.extend((0..k).map(r));
                    }
                }
                (units, responsibilities)
            })
            .collect();
        let n: usize = pieces.iter().map(|(units, _)| units.len()).sum();
        if 4 * n > self.n {
            return Undecided { k, densities: densities.to_vec(), weights, few: None };
        }
        let n_blocks = n.div_ceil(LANES);
        let mut few = Few {
            blocks: vec![[0.0; LANES]; n_blocks * width],
            responsibilities: vec![[0.0; LANES]; n_blocks * k],
        };
        let mut of_few = vec![[0.0; LANES]; n_blocks];
        let units = pieces.iter().flat_map(|(units, r)| units.iter().zip(r.chunks_exact(k)));
        for (next, (&unit, r)) in units.enumerate() {
            let (block, lane) = (next / LANES, next % LANES);
            let (from, from_lane) = (unit / LANES, unit % LANES);
            of_few[block][lane] = weights[from][from_lane];
            for j in 0..width {
                few.blocks[block * width + j][lane] = self.blocks[from * width + j][from_lane];
            }
            for (c, r) in r.iter().enumerate() {
                few.responsibilities[block * k + c][lane] = *r;
            }
        }
        Undecided { k, densities: densities.to_vec(), weights: of_few, few: Some(few) }
    }
}

/// Blocks that make one independent piece of a pass.
const PIECE: usize = 1024;

/// A unit whose responsibilities would move by no more than this share is left out of passes.
const DECIDED: f64 = 1e-11;

/// The units that a change of coefficients moves, with their weights and responsibilities.
#[derive(Debug)]
pub struct Undecided {
    k: usize,
    densities: Vec<f64>,
    weights: Vec<[f64; LANES]>,
    /// Where they are few; otherwise all units are taken, and responsibilities computed anew in every pass, for which there
    /// might be no memory.
    few: Option<Few>,
}

#[derive(Debug)]
struct Few {
    /// Their columns.
    blocks: Vec<[f64; LANES]>,
    /// A block for each component, block of units after block.
    responsibilities: Vec<[f64; LANES]>,
}

impl Undecided {
    /// The derivative of an E-step: from a change of either sums or coefficients (per component as many numbers as there
    /// are features) to one of the other. `units` are those that these were chosen from.
    pub(crate) fn pull(
        &self,
        units: &Units<'_>,
        change: &[f64],
        out: &mut [f64],
    ) -> Result<(), Degenerate> {
        let (k, shape, width) = (self.k, units.shape, units.shape.width);
        if let Some(far) = units.far {
            out.copy_from_slice(&far.pull(&self.densities, k, change)?);
            return Ok(());
        }
        let all = self.few.as_ref().map_or(units.blocks, |few| &few.blocks[..]);
        let densities = &self.densities[..];
        let n_blocks = self.weights.len();
        // Enough work for a thread, and no more pieces than memory for their sums is worth.
        let length = (100_000 / change.len()).max(n_blocks.div_ceil(16)).clamp(4, PIECE);
        let length = length.max(n_blocks.div_ceil(256));
        let mut scratch = Scratch::default();
        in_pieces_of(length, n_blocks, out, &mut scratch, |range, out, scratch| {
            let blocks = &all[range.start * width..range.end * width];
            let known = self.few.as_ref().map(|few| &few.responsibilities[..]);
            let known = known.map(|all| &all[range.start * k..range.end * k]);
            let weights = &self.weights[range];
            let pass = Pull { shape, k, blocks, weights, known, densities, change, out, scratch };
            dispatch_on(InstructionSet::best(), pass);
            0.0
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::softmax;

    fn numbers(n: usize, salt: usize) -> Vec<f64> {
        (0..n).map(|i| ((i * i + 7 * salt) as f64 * 0.37).sin()).collect()
    }

    /// Features of a unit, the constant first, as the definition has them.
    fn features(units: &Units<'_>, unit: usize) -> Vec<f64> {
        let width = units.shape.width;
        let x = |j: usize| units.blocks[unit / LANES * width + j][unit % LANES];
        let mut phi = vec![1.0];
        phi.extend((0..width).map(x));
        if units.shape.degree == Degree::Second {
            phi.extend((0..width).flat_map(|i| (0..=i).map(move |j| x(i) * x(j))));
        }
        phi
    }

    /// `c·φ` with densities of the second degree as `c − ½|Ax − b|²`.
    fn ln_density(units: &Units<'_>, densities: &[f64], unit: usize) -> f64 {
        let phi = features(units, unit);
        let width = units.shape.width;
        if units.shape.degree == Degree::First {
            return phi.iter().zip(densities).map(|(x, c)| x * c).sum();
        }
        let (b, a) = densities[1..].split_at(width);
        let z = |i: usize| -> f64 {
            (0..=i).map(|j| a[packed_index(i, j)] * phi[1 + j]).sum::<f64>() - b[i]
        };
        densities[0] - 0.5 * (0..width).map(|i| z(i) * z(i)).sum::<f64>()
    }

    fn close(got: &[f64], expected: &[f64], what: &str) {
        let size = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        for (got, expected) in got.iter().zip(expected) {
            assert!((got - expected).abs() < 1e-10 * size, "{what}: {got} {expected}");
        }
    }

    #[test]
    fn passes_are_what_their_definitions_say() {
        let n: usize = 333;
        for (width, k, second, spread) in [
            (1, 2, true, 1.0),
            (5, 3, true, 1.0),
            (9, 2, true, 30.0),
            (4, 1, false, 1.0),
            (7, 4, false, 1.0),
        ] {
            let values = numbers(n.div_ceil(LANES) * LANES * width, 1);
            let blocks: Vec<[f64; LANES]> = values.as_chunks::<LANES>().0.to_vec();
            let units = match second {
                true => Units::of_second_degree(n, width, &blocks),
                false => Units::of_first_degree(n, width, &blocks),
            };
            let length = units.n_features();
            let densities: Vec<f64> = numbers(k * length, 2).iter().map(|x| spread * x).collect();
            let change = numbers(k * length, 3);
            let own: Vec<f64> = (0..n).map(|i| [1.0, 0.5, 0.0][i % 3]).collect();
            let weights = units.weights(Some(&own));
            let (mut expected, mut influence) = (vec![0.0; k * length], Vec::new());
            for unit in 0..n {
                let phi = features(&units, unit);
                let mut r: Vec<f64> = densities
                    .chunks_exact(length)
                    .map(|density| ln_density(&units, density, unit))
                    .collect();
                softmax(&mut r);
                let a: Vec<f64> = change
                    .chunks_exact(length)
                    .map(|own| own.iter().zip(&phi).map(|(c, x)| c * x).sum())
                    .collect();
                let mean: f64 = r.iter().zip(&a).map(|(r, a)| r * a).sum();
                influence.push(mean);
                for c in 0..k {
                    for (f, x) in phi.iter().enumerate() {
                        expected[c * length + f] += own[unit] * r[c] * (a[c] - mean) * x;
                    }
                }
            }
            let what = format!("width {width}, K {k}, second degree {second}");
            close(&units.influence(&densities, k, &change), &influence, &what);
            let undecided = units.undecided(&densities, k, weights.clone());
            assert_eq!(undecided.few.is_some(), spread > 1.0 || k == 1, "{what}");
            let mut found = vec![0.0; k * length];
            undecided.pull(&units, &change, &mut found).unwrap();
            close(&found, &expected, &what);
            let hessian = units.hessian(&densities, k, &weights).unwrap();
            let product = |i: usize| -> f64 {
                (0..k * length).map(|j| hessian[packed_index(i, j)] * change[j]).sum()
            };
            close(&(0..k * length).map(product).collect::<Vec<_>>(), &expected, &what);
        }
    }
}
