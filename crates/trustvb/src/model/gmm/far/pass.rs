//! One pass over rows: what goes to them, and the sums that come back.

use super::super::kernel::{Densities, piece};
use crate::linalg::packed_len;
use crate::model::kernel::{Scratch, least_piece};
use crate::model::moments;
use crate::model::passes::{Degree, Hessian, Influences, Pull, Shape};
use crate::simd::{InstructionSet, LANES, dispatch_on};
use rayon::prelude::*;

/// What a pass sums up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassKind {
    /// An E-step: for each component `Σ r`, `Σ r x` and the triangle of `Σ r xxᵀ`; then `Σ log Σρ`.
    Statistics,
    /// Sums behind the derivative of an E-step as a matrix.
    Hessian,
    /// The derivative of an E-step, applied to a change of its coefficients.
    Pull,
    /// The influence of rows on a quantity: `Σ ψ` and `Σ ψ²`.
    Influence,
}

const KINDS: [PassKind; 4] =
    [PassKind::Statistics, PassKind::Hessian, PassKind::Pull, PassKind::Influence];

/// One pass over rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// What it sums up.
    pub kind: PassKind,
    /// Number of components.
    pub n_components: usize,
    /// What is taken off each column.
    pub centre: Vec<f64>,
    /// What columns are then divided by.
    pub scale: Vec<f64>,
    /// The numbers behind the log densities of each component.
    pub densities: Vec<f64>,
    /// A change of coefficients, or slopes in sums of features; empty where there is none.
    pub change: Vec<f64>,
}

/// Features of a row of `p` columns: 1, the columns, and the triangle of their products.
pub(super) fn features(p: usize) -> usize {
    1 + p + packed_len(p)
}

/// What opens the numbers of a pass; the last digit is the version of their order.
const MARK: f64 = 7_001.0;

/// Sums of all pieces that are held at once are at most so many numbers.
const HELD_SUMS: usize = 1 << 22;

impl Pass {
    /// Numbers that it sums up.
    pub fn n_sums(&self) -> usize {
        let (k, features) = (self.n_components, features(self.centre.len()));
        match self.kind {
            PassKind::Statistics => k * features + 1,
            PassKind::Hessian => moments::len(k * features) + k * moments::len(features),
            PassKind::Pull => k * features,
            PassKind::Influence => 2,
        }
    }

    /// The pass as numbers, to be sent.
    pub fn to_numbers(&self) -> Vec<f64> {
        let kind = KINDS.iter().position(|kind| *kind == self.kind).unwrap_or(0);
        let mut all = vec![MARK, kind as f64, self.centre.len() as f64, self.n_components as f64];
        for part in [&self.centre, &self.scale, &self.densities, &self.change] {
            all.extend_from_slice(part);
        }
        all
    }

    /// The inverse of [`Pass::to_numbers`].
    pub fn from_numbers(numbers: &[f64]) -> Result<Pass, String> {
        let wrong = || "these numbers are no pass over rows of this version of trustvb".to_owned();
        let Some((&[mark, kind, p, k], rest)) = numbers.split_first_chunk::<4>() else {
            return Err(wrong());
        };
        let (p, k) = (p as usize, k as usize);
        let kind = KINDS.get(kind as usize).copied().filter(|_| mark == MARK).ok_or_else(wrong)?;
        // Far below what would overflow.
        if p == 0 || k == 0 || p > 1 << 16 || k > 1 << 16 {
            return Err(wrong());
        }
        let length = k * features(p);
        let of_change = match kind {
            PassKind::Statistics | PassKind::Hessian => 0,
            PassKind::Pull | PassKind::Influence => length,
        };
        if rest.len() != 2 * p + length + of_change {
            return Err(wrong());
        }
        let (centre, rest) = rest.split_at(p);
        let (scale, rest) = rest.split_at(p);
        let (densities, change) = rest.split_at(length);
        let own = <[f64]>::to_vec;
        Ok(Pass {
            kind,
            n_components: k,
            centre: own(centre),
            scale: own(scale),
            densities: own(densities),
            change: own(change),
        })
    }

    /// Blocks of eight rows that make one piece: sums are taken piece by piece and added in order, so that neither
    /// threads nor the way in which rows arrive change a bit.
    pub(super) fn piece_length(p: usize) -> usize {
        least_piece(p)
    }

    /// Adds the sums over `n` rows in blocks, in the units of the pass. All but the last call give whole pieces.
    pub(super) fn add(&self, blocks: &[[f64; LANES]], n: usize, sums: &mut [f64]) {
        let p = self.centre.len();
        let length = Pass::piece_length(p);
        let densities = Densities { p, numbers: self.densities.clone() };
        let together = (HELD_SUMS / sums.len()).max(rayon::current_num_threads());
        let pieces: Vec<&[[f64; LANES]]> = blocks.chunks(length * p).collect();
        for (turn, pieces) in pieces.chunks(together).enumerate() {
            let done: Vec<Vec<f64>> = pieces
                .par_iter()
                .enumerate()
                .map_init(Scratch::default, |scratch, (i, blocks)| {
                    let before = (turn * together + i) * length * LANES;
                    let n = (n - before).min(length * LANES);
                    self.of_piece(blocks, n, &densities, scratch)
                })
                .collect();
            for piece in done {
                sums.iter_mut().zip(piece).for_each(|(sum, x)| *sum += x);
            }
        }
    }

    fn of_piece(
        &self,
        blocks: &[[f64; LANES]],
        n: usize,
        densities: &Densities,
        scratch: &mut Scratch,
    ) -> Vec<f64> {
        let (p, k) = (self.centre.len(), self.n_components);
        let shape = Shape { degree: Degree::Second, width: p };
        let weight = |row: usize| if row < n { 1.0 } else { 0.0 };
        let weights: Vec<[f64; LANES]> = (0..n.div_ceil(LANES))
            .map(|b| std::array::from_fn(|lane| weight(b * LANES + lane)))
            .collect();
        let set = InstructionSet::best();
        let mut all = vec![0.0; self.n_sums()];
        let (numbers, change, weights) = (&densities.numbers[..], &self.change[..], &weights[..]);
        match self.kind {
            PassKind::Statistics => {
                if let Some((ln_evidence, sums)) = all.split_last_mut() {
                    *ln_evidence = piece(set, p, blocks, weights, densities, sums, scratch);
                }
            }
            PassKind::Hessian => {
                let (densities, sums) = (numbers, &mut all[..]);
                let pass = Hessian { shape, k, blocks, weights, densities, sums, scratch };
                dispatch_on(set, pass);
            }
            PassKind::Pull => {
                let (known, densities, out) = (None, numbers, &mut all[..]);
                let pass =
                    Pull { shape, k, blocks, weights, known, densities, change, out, scratch };
                dispatch_on(set, pass);
            }
            PassKind::Influence => {
                let (slopes, squares, densities) = (change, None, numbers);
                let mut psi = vec![[0.0; LANES]; weights.len()];
                let out = &mut psi[..];
                let pass =
                    Influences { shape, k, blocks, densities, slopes, squares, scratch, out };
                dispatch_on(set, pass);
                for x in psi.iter().flatten().take(n) {
                    all[0] += x;
                    all[1] += x * x;
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_a_pass_again_or_refused() {
        for kind in KINDS {
            let length = 2 * features(3);
            let change = match kind {
                PassKind::Statistics | PassKind::Hessian => Vec::new(),
                PassKind::Pull | PassKind::Influence => vec![0.5; length],
            };
            let pass = Pass {
                kind,
                n_components: 2,
                centre: vec![1.0, 2.0, 3.0],
                scale: vec![4.0, 5.0, 6.0],
                densities: (0..length).map(|i| i as f64).collect(),
                change,
            };
            let numbers = pass.to_numbers();
            assert_eq!(Pass::from_numbers(&numbers), Ok(pass));
            for wrong in [&numbers[..3], &numbers[1..], &numbers[..numbers.len() - 1], &[]] {
                assert!(Pass::from_numbers(wrong).is_err());
            }
        }
        for head in [[MARK, 9.0, 1.0, 1.0], [MARK, 0.0, f64::NAN, 1.0], [MARK, 0.0, 1e300, 1e300]] {
            assert!(Pass::from_numbers(&head).is_err());
        }
    }
}
