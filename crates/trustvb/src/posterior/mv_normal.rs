//! The multivariate Normal block: regression coefficients.

use super::Marginal;
use crate::linalg::{cholesky, packed_index, quadratic_form};
use rand_distr::{Distribution, StandardNormal};

/// `β ~ N(m, S)`, stored as `m` and the lower triangle of `S`.
#[derive(Clone, Copy, Debug)]
pub struct MvNormal<'a> {
    p: usize,
    mean: &'a [f64],
    covariance: &'a [f64],
}

impl<'a> MvNormal<'a> {
    pub(crate) fn new(p: usize, parameters: &'a [f64]) -> MvNormal<'a> {
        let (mean, covariance) = parameters.split_at(p);
        MvNormal { p, mean, covariance }
    }

    /// `m`.
    pub fn mean(&self) -> &'a [f64] {
        self.mean
    }

    /// The lower triangle of `S`, packed by rows.
    pub fn covariance(&self) -> &'a [f64] {
        self.covariance
    }

    /// Mean and variance of the linear form `cᵀβ`.
    pub fn linear(&self, c: &[f64]) -> (f64, f64) {
        let mean = c.iter().zip(self.mean).map(|(c, m)| c * m).sum();
        (mean, quadratic_form(self.p, self.covariance, c))
    }

    /// The law of one coordinate.
    pub fn marginal(&self, j: usize) -> Marginal {
        Marginal::Normal { mean: self.mean[j], sd: self.covariance[packed_index(j, j)].sqrt() }
    }

    /// `E_q(τ)[KL(self ‖ N(0, τ^-1 I))]` given `E[τ]`, `E[log τ]` and `log|S|`.
    pub fn kl_to_ridge(&self, mean_tau: f64, mean_ln_tau: f64, ln_det: f64) -> f64 {
        let p = self.p as f64;
        0.5 * (mean_tau * self.second_moment() - p - ln_det - p * mean_ln_tau)
    }

    /// `E[βᵀβ] = mᵀm + tr S`.
    pub fn second_moment(&self) -> f64 {
        let trace: f64 = (0..self.p).map(|j| self.covariance[packed_index(j, j)]).sum();
        self.mean.iter().map(|m| m * m).sum::<f64>() + trace
    }

    /// A draw into `out`; NaN when `S` is not positive definite.
    pub fn draw(&self, rng: &mut impl rand::Rng, out: &mut [f64]) {
        let mut factor = self.covariance.to_vec();
        if cholesky(self.p, &mut factor).is_err() {
            out.fill(f64::NAN);
            return;
        }
        let z: Vec<f64> = (0..self.p).map(|_| StandardNormal.sample(rng)).collect();
        for i in 0..self.p {
            out[i] = self.mean[i] + (0..=i).map(|j| factor[packed_index(i, j)] * z[j]).sum::<f64>();
        }
    }
}
