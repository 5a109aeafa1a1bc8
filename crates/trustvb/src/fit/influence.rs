//! The influence of each unit on a function of the posterior, at a fixed point.
//!
//! The fixed point `s = G(s; w)` is differentiated in the weights: `ds/dw_n = (I − J)^-1 g_n` with
//! `J = ∂G/∂s` and `g_n` unit n's own contribution, so `ψ_n = ∇h·(I − J)^-1 g_n = λ·g_n` with
//! `(I − J)ᵀλ = ∇h`: one linear system per function, whatever the number of units. `J` and `∇h`
//! are taken by central differences, which are good to nine digits here and need nothing of a
//! model but its sweep. A prior computed from the data moves with the weights too; since the
//! components' statistics add up to the sample's, computing the prior from the state itself gives
//! the same fixed point and the right total derivative.

use crate::linalg::Lu;
use crate::model::{Degenerate, Model};
use crate::posterior::Posterior;
use rayon::prelude::*;

/// States longer than this would make the matrix `J` too large to be practical.
const MAX_STATE: usize = 4000;

/// Why there is no influence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InfluenceError {
    /// A sweep near the fixed point failed.
    #[error("the fit is degenerate: {0}")]
    Degenerate(#[from] Degenerate),
    /// `I − J` is singular: the fixed point is not isolated.
    #[error("the fit is not a well-separated optimum, so the influence of a unit is not defined")]
    Singular,
    /// The model is too large for a dense system.
    #[error(
        "the model's state has {0} numbers, more than the {MAX_STATE} for which influence is computed: \
         use fewer columns or components, or a method that resamples"
    )]
    TooLarge(usize),
}

/// A fixed point with its derivative, ready to answer for any function.
#[derive(Debug)]
pub struct Linearisation {
    omega: f64,
    state: Vec<f64>,
    step: Vec<f64>,
    system: Lu,
    responsibilities: Vec<f64>,
    weights: Option<Vec<f64>>,
}

/// Each unit's influence on one function.
#[derive(Clone, Debug)]
pub struct Influence {
    /// `ψ_n`: the change of the function per unit of weight on unit n.
    pub psi: Vec<f64>,
    /// The infinitesimal jackknife standard deviation, `sqrt(Σ w_n (ψ_n − ψ̄)²)`.
    pub sd: f64,
}

impl Linearisation {
    /// Linearises the sweep at a fixed point `state` of the weighted sample.
    pub fn new(
        model: &dyn Model,
        weights: Option<&[f64]>,
        omega: f64,
        state: &[f64],
    ) -> Result<Linearisation, InfluenceError> {
        let weights = weights.or_else(|| model.repeats());
        let n = model.state_len();
        if n > MAX_STATE {
            return Err(InfluenceError::TooLarge(n));
        }
        let mut sweeper = model.sweeper();
        sweeper.load(weights)?;
        let responsibilities = sweeper.responsibilities(omega, state)?;
        let mut step = vec![0.0; n];
        sweeper.scale(omega, state, &mut step);
        // Cube root of the rounding unit balances rounding against truncation.
        for s in &mut step {
            *s *= 6e-6;
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
                    let width = central_difference(&mut point, i, step[i], |point, which| {
                        let out = if which { &mut up } else { &mut down };
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
        Ok(Linearisation {
            omega,
            state: state.to_vec(),
            step,
            system,
            responsibilities,
            weights: weights.map(<[f64]>::to_vec),
        })
    }

    /// The influence of every unit on `h` of the posterior. `model` is the one that was linearised.
    pub fn influence(
        &self,
        model: &dyn Model,
        h: &dyn Fn(&Posterior) -> f64,
    ) -> Result<Influence, InfluenceError> {
        let mut sweeper = model.sweeper();
        sweeper.load(self.weights.as_deref())?;
        let n = self.state.len();
        let mut adjoint = vec![0.0; n];
        let mut point = self.state.clone();
        for i in 0..n {
            let (mut up, mut down) = (0.0, 0.0);
            let width = central_difference(&mut point, i, self.step[i], |point, which| {
                let value = h(&sweeper.posterior_with_own_prior(self.omega, point)?);
                if which {
                    up = value
                } else {
                    down = value
                }
                Ok(())
            })?;
            adjoint[i] = (up - down) / width;
        }
        self.system.solve(&mut adjoint);
        let k = model.n_components();
        let mut contribution = vec![0.0; n];
        let psi: Vec<f64> = (0..model.n_units())
            .map(|unit| {
                let r = &self.responsibilities[unit * k..(unit + 1) * k];
                sweeper.contribution(unit, r, &mut contribution);
                adjoint.iter().zip(&contribution).map(|(a, g)| a * g).sum()
            })
            .collect();
        let weight = |unit: usize| self.weights.as_ref().map_or(1.0, |w| w[unit]);
        let total: f64 = (0..psi.len()).map(weight).sum();
        let mean = psi.iter().enumerate().map(|(i, x)| weight(i) * x).sum::<f64>() / total;
        let variance: f64 =
            psi.iter().enumerate().map(|(i, x)| weight(i) * (x - mean) * (x - mean)).sum();
        Ok(Influence { psi, sd: variance.sqrt() })
    }
}

/// Evaluates at `point[i] ± step` (one-sided when one of them is not feasible) and returns the
/// distance between the two points. `point` is as before afterwards.
fn central_difference(
    point: &mut [f64],
    i: usize,
    step: f64,
    mut evaluate: impl FnMut(&[f64], bool) -> Result<(), Degenerate>,
) -> Result<f64, Degenerate> {
    let centre = point[i];
    point[i] = centre + step;
    let upper = point[i];
    let up = evaluate(point, true);
    point[i] = centre - step;
    let lower = point[i];
    let down = evaluate(point, false);
    point[i] = centre;
    match (up, down) {
        (Ok(()), Ok(())) => Ok(upper - lower),
        (Ok(()), Err(_)) => evaluate(point, false).map(|()| upper - centre),
        (Err(_), Ok(())) => evaluate(point, true).map(|()| centre - lower),
        (Err(why), Err(_)) => Err(why),
    }
}
