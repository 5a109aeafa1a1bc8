//! The second-order behaviour of a fixed point in the units' weights: the bias of a function of it.
//!
//! Along `w = 1 + t d` the fixed point `s = G(s; w)` moves by `t u + ½ t² s″` with
//!
//! ```text
//! u  = (I − J)^-1 g_d,                      g_d = Σ_n d_n g_n
//! s″ = (I − J)^-1 (2 ∂g_d/∂s u + ∂²G/∂s² [u, u])
//! ```
//!
//! and `½ d²h/dt²`, averaged over directions with the covariance of resampled weights, is the bias of
//! `h(θ̂)`, of which [`Linearisation`] gives the spread. Directions are random: half of the units
//! gain what the other half loses, which has that covariance (`I − 11ᵀ/n`). A handful is
//! enough, because the bias needs only be known to a small share of the spread. No fit is made,
//! five sweeps each.

use super::influence::{InfluenceError, Linearisation};
use crate::model::{Model, Sweeper};
use crate::posterior::Posterior;
use crate::random::{Purpose, index, stream};

/// Directions that are averaged.
const DIRECTIONS: u64 = 16;

/// Steps are this share of a direction, in which the state moves by about one standard deviation.
const STEP: f64 = 0.05;

/// First and second derivatives of a fixed point in a few directions of the weights, ready to answer
/// for any function.
#[derive(Debug)]
pub struct Curvature {
    /// `u` and `s″` of each direction.
    directions: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Curvature {
    /// Differentiates twice where `linear` did once, for units that all have weight 1.
    pub fn new(
        model: &dyn Model,
        linear: &Linearisation,
        seed: u64,
    ) -> Result<Curvature, InfluenceError> {
        let mut even = model.sweeper();
        even.load(None)?;
        let mut tilted = model.sweeper();
        let sweep = |sweeper: &mut dyn Sweeper, size: f64, along: &[f64]| {
            let point = moved(&linear.state, size, along);
            let mut next = vec![0.0; point.len()];
            sweeper.sweep_with_own_prior(linear.omega, &point, &mut next)?;
            Ok::<_, InfluenceError>(next)
        };
        // The state itself but for what the fit's tolerance left.
        let centre = sweep(even.as_mut(), 0.0, &linear.state)?;
        let mut directions = Vec::new();
        for number in 0..DIRECTIONS {
            tilted.load(Some(&tilt(model.n_units(), seed, number)))?;
            let g = moved(&sweep(tilted.as_mut(), 0.0, &linear.state)?, -1.0, &centre);
            let mut u = g.clone();
            linear.system.solve_transposed(&mut u);
            let (up, down) =
                (sweep(tilted.as_mut(), STEP, &u)?, sweep(tilted.as_mut(), -STEP, &u)?);
            let (above, below) =
                (sweep(even.as_mut(), STEP, &u)?, sweep(even.as_mut(), -STEP, &u)?);
            let mut bend: Vec<f64> = (0..u.len())
                .map(|i| {
                    // ∂g_d/∂s u is what the tilted sweep's derivative has beyond J u = u − g.
                    let mixed = (up[i] - down[i]) / (2.0 * STEP) - (u[i] - g[i]);
                    let second = (above[i] + below[i] - 2.0 * centre[i]) / (STEP * STEP);
                    2.0 * mixed + second
                })
                .collect();
            linear.system.solve_transposed(&mut bend);
            directions.push((u, bend));
        }
        Ok(Curvature { directions })
    }

    /// The bias of `h` of the posterior: its mean over resamples, less its value at the fixed point.
    /// `linear` is the linearisation that this was made from.
    pub fn bias(
        &self,
        model: &dyn Model,
        linear: &Linearisation,
        h: &dyn Fn(&Posterior) -> f64,
    ) -> Result<f64, InfluenceError> {
        let mut sweeper = model.sweeper();
        sweeper.load(None)?;
        let mut value = |state: &[f64]| {
            sweeper.posterior_with_own_prior(linear.omega, state).map(|posterior| h(&posterior))
        };
        let centre = value(&linear.state)?;
        let mut sum = 0.0;
        for (u, bend) in &self.directions {
            let middle = moved(&linear.state, 0.5 * STEP * STEP, bend);
            let ends = value(&moved(&middle, STEP, u))? + value(&moved(&middle, -STEP, u))?;
            sum += (ends - 2.0 * centre) / (2.0 * STEP * STEP);
        }
        Ok(sum / self.directions.len() as f64)
    }
}

/// `state + size · along`.
fn moved(state: &[f64], size: f64, along: &[f64]) -> Vec<f64> {
    state.iter().zip(along).map(|(s, a)| s + size * a).collect()
}

/// Weights `1 + d`: a random half of the units has 2, the other half 0, and one is left over when their
/// number is odd.
fn tilt(n_units: usize, seed: u64, number: u64) -> Vec<f64> {
    let mut rng = stream(seed, Purpose::Direction, number);
    let mut weights: Vec<f64> = (0..n_units)
        .map(|i| match (n_units % 2 == 1, i) {
            (true, 0) => 1.0,
            _ if i % 2 == 0 => 2.0,
            _ => 0.0,
        })
        .collect();
    for i in (1..n_units).rev() {
        weights.swap(i, index(&mut rng, i + 1));
    }
    weights
}
