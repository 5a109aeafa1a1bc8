//! The derivative of a sweep by differences of whole sweeps, for models that say nothing of theirs.
//!
//! Twice as many sweeps as the state has numbers, and a dense system: the least that one needs of a model, good to nine
//! digits, and what the derivatives of [`super::Linearisation`] are tested against.

use super::influence::InfluenceError;
use crate::linalg::Lu;
use crate::model::{Degenerate, Model, STEP, central_difference};
use crate::posterior::Posterior;
use rayon::prelude::*;

/// States longer than this would make the matrix `J` too large to be practical.
pub(super) const MAX_STATE: usize = 4000;

/// A fixed point with its derivative.
#[derive(Debug)]
pub(super) struct Differenced {
    omega: f64,
    state: Vec<f64>,
    step: Vec<f64>,
    system: Lu,
    responsibilities: Vec<f64>,
}

impl Differenced {
    pub(super) fn new(
        model: &dyn Model,
        weights: Option<&[f64]>,
        omega: f64,
        state: &[f64],
    ) -> Result<Differenced, InfluenceError> {
        let n = model.state_len();
        if n > MAX_STATE {
            return Err(InfluenceError::TooLarge(n));
        }
        let mut sweeper = model.sweeper();
        sweeper.load(weights)?;
        let responsibilities = sweeper.responsibilities(omega, state)?;
        let mut step = vec![0.0; n];
        sweeper.scale(omega, state, &mut step);
        for s in &mut step {
            *s *= STEP;
        }
        let mut transposed = vec![0.0; n * n];
        // A derivative does not depend on what else its thread computes, so neither does the result on their number.
        let together = n.div_ceil(4 * rayon::current_num_threads()).max(1);
        let done: Vec<Result<(), Degenerate>> = transposed
            .par_chunks_mut(together * n)
            .enumerate()
            .map(|(piece, rows)| {
                let mut sweeper = model.sweeper();
                sweeper.load(weights)?;
                let (mut up, mut down) = (vec![0.0; n], vec![0.0; n]);
                let mut point = state.to_vec();
                for (row, i) in rows.chunks_exact_mut(n).zip(piece * together..) {
                    let width = central_difference(&mut point, i, step[i], |point, upwards| {
                        let out = if upwards { &mut up } else { &mut down };
                        sweeper.sweep_with_own_prior(omega, point, out).map(|_| ())
                    })?;
                    for (j, x) in row.iter_mut().enumerate() {
                        *x = -(up[j] - down[j]) / width;
                    }
                    row[i] += 1.0;
                }
                Ok(())
            })
            .collect();
        done.into_iter().collect::<Result<(), Degenerate>>()?;
        let system = Lu::new(n, transposed).ok_or(InfluenceError::Singular)?;
        Ok(Differenced { omega, state: state.to_vec(), step, system, responsibilities })
    }

    /// `ψ_n` of every unit.
    pub(super) fn influence(
        &self,
        model: &dyn Model,
        weights: Option<&[f64]>,
        h: &dyn Fn(&Posterior) -> f64,
    ) -> Result<Vec<f64>, InfluenceError> {
        let mut sweeper = model.sweeper();
        sweeper.load(weights)?;
        let n = self.state.len();
        let mut adjoint = vec![0.0; n];
        let mut point = self.state.clone();
        for i in 0..n {
            let (mut up, mut down) = (0.0, 0.0);
            let width = central_difference(&mut point, i, self.step[i], |point, upwards| {
                let value = h(&sweeper.posterior_with_own_prior(self.omega, point)?);
                *(if upwards { &mut up } else { &mut down }) = value;
                Ok(())
            })?;
            adjoint[i] = (up - down) / width;
        }
        self.system.solve(&mut adjoint);
        let k = model.n_components();
        let mut contribution = vec![0.0; n];
        let of_unit = |unit: usize| {
            let r = &self.responsibilities[unit * k..(unit + 1) * k];
            sweeper.contribution(unit, r, &mut contribution);
            adjoint.iter().zip(&contribution).map(|(a, g)| a * g).sum()
        };
        Ok((0..model.n_units()).map(of_unit).collect())
    }
}
