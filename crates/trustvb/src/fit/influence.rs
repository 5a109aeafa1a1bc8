//! The influence of each unit on a function of the posterior, at a fixed point.
//!
//! The fixed point `s = G(s; w)` is differentiated in the weights: `ds/dw_n = (I − J)^-1 g_n` with
//! `J = ∂G/∂s` and `g_n` unit n's own contribution, so `ψ_n = ∇h·(I − J)^-1 g_n = λ·g_n` with
//! `(I − J)ᵀλ = ∇h`: one linear system per function, whatever the number of units. A prior computed from the data moves
//! with the weights too; since the components' statistics add up to the sample's, computing the prior from the state
//! itself gives the same fixed point and the right total derivative.
//!
//! `Jᵀ` is a pass over the units ([`Units`]) and what a model says of the rest of its sweep ([`Pullback`]). Where the state
//! is short, one pass gives the matrix, which is factorised once for all functions. Where it is long the matrix is never
//! made: each function's system is solved by applying `Jᵀ` a few dozen times. Which of the two depends on the model alone,
//! and neither on threads nor on what was asked before.

use super::differenced::{Differenced, MAX_STATE};
use super::krylov;
use super::slopes::slopes;
use crate::linalg::{Lu, packed_index};
use crate::model::{Degenerate, Model, Pullback, Undecided, Units};
use crate::posterior::Posterior;
use rayon::prelude::*;
use std::cell::RefCell;

/// States longer than this have no matrix made of their derivative.
const DENSE: usize = 1000;

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
    /// The units are not in memory.
    #[error("the units are not in memory, and only sums of their influence are computed")]
    Far,
}

/// A fixed point with its derivative, ready to answer for any function.
#[derive(Debug)]
pub struct Linearisation {
    weights: Option<Vec<f64>>,
    derivative: Derivative,
}

#[derive(Debug)]
enum Derivative {
    /// From what the model says of its sweep.
    Pulled(Pulled),
    /// From differences of sweeps.
    Differenced(Box<Differenced>),
}

#[derive(Debug)]
struct Pulled {
    n_components: usize,
    posterior: Posterior,
    pullback: Box<dyn Pullback>,
    system: System,
}

#[derive(Debug)]
enum System {
    /// `(I − J)ᵀ`, factorised.
    Dense(Lu),
    /// What a pass needs, and the size of each entry of the state, in which residuals are measured.
    Applied { undecided: Undecided, scale: Vec<f64> },
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
        Linearisation::with_limit(model, weights, omega, state, DENSE)
    }

    /// As [`Linearisation::new`], by differences of whole sweeps, which nothing but the sweep itself is needed for. It
    /// takes twice as many sweeps as the state has numbers, of which there may be 4000 at most: for checks.
    pub fn by_differences(
        model: &dyn Model,
        weights: Option<&[f64]>,
        omega: f64,
        state: &[f64],
    ) -> Result<Linearisation, InfluenceError> {
        let weights = weights.or_else(|| model.repeats());
        let made = Box::new(Differenced::new(model, weights, omega, state)?);
        let weights = weights.map(<[f64]>::to_vec);
        Ok(Linearisation { weights, derivative: Derivative::Differenced(made) })
    }

    /// As [`Linearisation::new`], with a matrix for states of at most `dense` numbers.
    pub fn with_limit(
        model: &dyn Model,
        weights: Option<&[f64]>,
        omega: f64,
        state: &[f64],
        dense: usize,
    ) -> Result<Linearisation, InfluenceError> {
        let weights = weights.or_else(|| model.repeats());
        let mut sweeper = model.sweeper();
        sweeper.load(weights)?;
        let (Some(units), Some(pullback)) = (model.units(), sweeper.pullback(omega, state)?) else {
            return Linearisation::by_differences(model, weights, omega, state);
        };
        let (k, n) = (model.n_components(), state.len());
        let of_units = units.weights(weights);
        let system = if n <= dense {
            let hessian = units.hessian(pullback.densities(), k, &of_units)?;
            let matrix = matrix(pullback.as_ref(), &units, &hessian, k, n);
            System::Dense(Lu::new(n, transposed(n, &matrix)).ok_or(InfluenceError::Singular)?)
        } else {
            let mut scale = vec![0.0; n];
            sweeper.scale(omega, state, &mut scale);
            let undecided = units.undecided(pullback.densities(), k, of_units);
            System::Applied { undecided, scale }
        };
        let posterior = sweeper.posterior_with_own_prior(omega, state)?;
        let pulled = Pulled { n_components: k, posterior, pullback, system };
        let weights = weights.map(<[f64]>::to_vec);
        Ok(Linearisation { weights, derivative: Derivative::Pulled(pulled) })
    }

    /// `I − J` at any state, row after row; `None` where the model does not say what its sweep's derivative is.
    pub(super) fn matrix(
        model: &dyn Model,
        weights: Option<&[f64]>,
        omega: f64,
        state: &[f64],
    ) -> Option<Vec<f64>> {
        let weights = weights.or_else(|| model.repeats());
        let mut sweeper = model.sweeper();
        sweeper.load(weights).ok()?;
        let (units, pullback) = (model.units()?, sweeper.pullback(omega, state).ok()??);
        let k = model.n_components();
        let hessian = units.hessian(pullback.densities(), k, &units.weights(weights)).ok()?;
        Some(matrix(pullback.as_ref(), &units, &hessian, k, state.len()))
    }

    /// `(I − J)^-1`, row after row; `None` where no matrix was made.
    pub(super) fn inverse(&self) -> Option<Vec<f64>> {
        let Derivative::Pulled(Pulled { system: System::Dense(lu), .. }) = &self.derivative else {
            return None;
        };
        let n = lu.len();
        let mut rows = vec![0.0; n * n];
        for (i, row) in rows.chunks_exact_mut(n).enumerate() {
            row[i] = 1.0;
            lu.solve(row);
        }
        Some(rows)
    }

    /// The influence of every unit on `h` of the posterior. `model` is the one that was linearised.
    pub fn influence(
        &self,
        model: &dyn Model,
        h: &dyn Fn(&Posterior) -> f64,
    ) -> Result<Influence, InfluenceError> {
        let psi = match (&self.derivative, model.units()) {
            (Derivative::Pulled(_), Some(units)) if units.is_far() => {
                return Err(InfluenceError::Far);
            }
            (Derivative::Pulled(pulled), Some(units)) => {
                let adjoint = pulled.adjoint(&units, h)?;
                units.influence(pulled.pullback.densities(), pulled.n_components, &adjoint)
            }
            (Derivative::Differenced(by), _) => by.influence(model, self.weights.as_deref(), h)?,
            // Another model than the one that was linearised.
            (Derivative::Pulled(_), None) => return Err(Degenerate::NotFinite.into()),
        };
        let weight = |unit: usize| self.weights.as_ref().map_or(1.0, |w| w[unit]);
        let total: f64 = (0..psi.len()).map(weight).sum();
        let mean = psi.iter().enumerate().map(|(i, x)| weight(i) * x).sum::<f64>() / total;
        let variance: f64 =
            psi.iter().enumerate().map(|(i, x)| weight(i) * (x - mean) * (x - mean)).sum();
        Ok(Influence { psi, sd: variance.sqrt() })
    }

    /// [`Influence::sd`] alone, also where units are not in memory.
    pub fn sd(
        &self,
        model: &dyn Model,
        h: &dyn Fn(&Posterior) -> f64,
    ) -> Result<f64, InfluenceError> {
        match (&self.derivative, model.units()) {
            (Derivative::Pulled(pulled), Some(units)) if units.is_far() => {
                let adjoint = pulled.adjoint(&units, h)?;
                let (densities, k) = (pulled.pullback.densities(), pulled.n_components);
                // The mean is a share of 1/n of the spread, so no digits are lost.
                let [sum, squares] = units.influence_sums(densities, k, &adjoint)?;
                let variance = squares - sum * sum / model.n_units() as f64;
                Ok(variance.max(0.0).sqrt())
            }
            _ => Ok(self.influence(model, h)?.sd),
        }
    }
}

impl Pulled {
    /// `λ` of `(I − J)ᵀλ = ∇h`.
    fn adjoint(
        &self,
        units: &Units<'_>,
        h: &dyn Fn(&Posterior) -> f64,
    ) -> Result<Vec<f64>, InfluenceError> {
        let mut slope = vec![0.0; self.state_len()];
        self.pullback.pull_posterior(&slopes(&self.posterior, h), &mut slope);
        match &self.system {
            System::Dense(lu) => {
                lu.solve(&mut slope);
                Ok(slope)
            }
            System::Applied { undecided, scale } => {
                // A slope times the size of what it is a slope in: all entries are then comparable.
                slope.iter_mut().zip(scale).for_each(|(x, size)| *x *= size);
                let failed = RefCell::new(None);
                let solved = krylov::solve(&slope, |x, out| {
                    let next: Vec<f64> = x.iter().zip(scale).map(|(x, size)| x / size).collect();
                    if let Err(why) = self.apply(units, undecided, &next, out) {
                        out.fill(f64::NAN);
                        failed.borrow_mut().get_or_insert(why);
                    }
                    out.iter_mut().zip(scale).for_each(|(x, size)| *x *= size);
                });
                if let Some(why) = failed.into_inner() {
                    return Err(why.into());
                }
                let mut adjoint = solved.map_err(|_| InfluenceError::Singular)?;
                adjoint.iter_mut().zip(scale).for_each(|(x, size)| *x /= size);
                Ok(adjoint)
            }
        }
    }

    fn state_len(&self) -> usize {
        match &self.system {
            System::Dense(lu) => lu.len(),
            System::Applied { scale, .. } => scale.len(),
        }
    }

    /// `Jᵀ` applied to the cotangent of a next state.
    fn apply(
        &self,
        units: &Units<'_>,
        undecided: &Undecided,
        next: &[f64],
        state: &mut [f64],
    ) -> Result<(), Degenerate> {
        let (k, features) = (self.n_components, units.n_features());
        let stride = next.len() / k;
        let of_sums: Vec<f64> =
            next.chunks_exact(stride).flat_map(|own| own[..features].iter().copied()).collect();
        let mut coefficients = vec![0.0; k * features];
        undecided.pull(units, &of_sums, &mut coefficients)?;
        self.pullback.pull(&coefficients, next, state);
        Ok(())
    }
}

/// `I − J`, row after row, from the second derivative that one pass gave. Row i of `J` is entry i of the next state pulled
/// back.
fn matrix(
    pullback: &dyn Pullback,
    units: &Units<'_>,
    hessian: &[f64],
    k: usize,
    n: usize,
) -> Vec<f64> {
    let (features, stride) = (units.n_features(), n / k);
    let mut matrix = vec![0.0; n * n];
    matrix.par_chunks_mut(n).enumerate().for_each(|(i, row)| {
        let (component, entry) = (i / stride, i % stride);
        let mut next = vec![0.0; n];
        next[i] = 1.0;
        let coefficients: Vec<f64> = match entry < features {
            true => {
                let at = component * features + entry;
                (0..k * features).map(|j| hessian[packed_index(at, j)]).collect()
            }
            false => vec![0.0; k * features],
        };
        pullback.pull(&coefficients, &next, row);
        row.iter_mut().for_each(|x| *x = -*x);
        row[i] += 1.0;
    });
    matrix
}

fn transposed(n: usize, matrix: &[f64]) -> Vec<f64> {
    (0..n * n).map(|at| matrix[at % n * n + at / n]).collect()
}
