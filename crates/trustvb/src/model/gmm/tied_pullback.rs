//! The transposed derivative of the updates with one precision matrix for all components: see [`Pullback`].
//!
//! With `Q = νW`, the coefficients of a density are `… − ½p/β_k − ½m_kᵀQm_k` and `Qm_k`. The part of `Σwxxᵀ` that a state
//! holds moves `W^-1`, but no state moves it.

use super::own_prior::OwnPrior;
use super::pooling::Scaled;
use crate::linalg::square::{
    add_cotangent, add_outer, add_scaled, dot, from_cotangent, sandwich, times,
};
use crate::model::Pullback;

/// The derivative at one state.
#[derive(Debug)]
pub(super) struct TiedPullback {
    pub(super) p: usize,
    pub(super) omega: f64,
    pub(super) beta0: f64,
    pub(super) m0: Vec<f64>,
    /// Of the columns, between the model's units and the data's.
    pub(super) scale: Vec<f64>,
    pub(super) densities: Vec<f64>,
    /// `ψ'(α_k)`, and `ψ'(Σα)`.
    pub(super) trigammas: Vec<f64>,
    pub(super) trigamma_total: f64,
    pub(super) beta: Vec<f64>,
    /// `m_k`, component after component.
    pub(super) mean: Vec<f64>,
    pub(super) nu: f64,
    /// `W`, full.
    pub(super) w: Vec<f64>,
    /// The learned scale, if it is.
    pub(super) pool: Option<Scaled>,
    pub(super) own: OwnPrior,
}

/// Cotangents of `q(θ)`: numbers of components, then what they share.
struct Slopes {
    alpha: Vec<f64>,
    beta: Vec<f64>,
    mean: Vec<f64>,
    nu: f64,
    /// Of `W^-1`, full.
    w_inverse: Vec<f64>,
}

impl Pullback for TiedPullback {
    fn densities(&self) -> &[f64] {
        &self.densities
    }

    fn pull(&self, coefficients: &[f64], next: &[f64], state: &mut [f64]) {
        let (p, n) = (self.p, self.beta.len());
        let mut q = vec![0.0; p * p];
        if self.pool.is_some() {
            // The next state has a K-th of Q with each component.
            for own in next.chunks_exact(next.len() / n) {
                let cotangent = from_cotangent(p, &own[self.statistics()..]);
                add_scaled(1.0 / n as f64, &cotangent, &mut q);
            }
        }
        let total: f64 = coefficients.iter().step_by(p + 1).sum();
        let (mut alpha, mut beta, mut means) = (Vec::new(), Vec::new(), Vec::new());
        for (k, own) in coefficients.chunks_exact(p + 1).enumerate() {
            let (constant, linear) = (own[0], &own[1..]);
            let mean = &self.mean[k * p..(k + 1) * p];
            add_outer(p, 1.0, linear, mean, &mut q);
            add_outer(p, -0.5 * constant, mean, mean, &mut q);
            let mut towards = linear.to_vec();
            add_scaled(-constant, mean, &mut towards);
            means.extend(times(p, &self.w, &towards).iter().map(|x| self.nu * x));
            beta.push(0.5 * constant * p as f64 / (self.beta[k] * self.beta[k]));
            alpha.push(constant * self.trigammas[k] - total * self.trigamma_total);
        }
        let mut w_inverse = sandwich(p, &self.w, &q);
        w_inverse.iter_mut().for_each(|x| *x *= -self.nu);
        let nu = dot(&q, &self.w);
        self.to_state(Slopes { alpha, beta, mean: means, nu, w_inverse }, state);
    }

    fn pull_posterior(&self, parameters: &[f64], state: &mut [f64]) {
        let (p, k) = (self.p, self.beta.len());
        let (alpha, blocks) = parameters.split_at(k);
        let (mut beta, mut mean, mut nu) = (Vec::new(), Vec::new(), 0.0);
        let mut w_inverse = vec![0.0; p * p];
        for block in blocks.chunks_exact(blocks.len() / k) {
            beta.push(block[0]);
            nu += block[1];
            mean.extend(block[2..2 + p].iter().zip(&self.scale).map(|(x, s)| x * s));
            add_scaled(1.0, &from_cotangent(p, &block[2 + p..]), &mut w_inverse);
        }
        for i in 0..p {
            for j in 0..p {
                w_inverse[i * p + j] *= self.scale[i] * self.scale[j];
            }
        }
        self.to_state(Slopes { alpha: alpha.to_vec(), beta, mean, nu, w_inverse }, state);
    }
}

impl TiedPullback {
    /// Numbers per component in the state before its part of `E[Λ]`.
    fn statistics(&self) -> usize {
        1 + self.p + self.p * (self.p + 1) / 2
    }

    /// From cotangents of `q(θ)` to those of the state.
    fn to_state(&self, mut slopes: Slopes, state: &mut [f64]) {
        let (p, n) = (self.p, self.beta.len());
        let (v, omega, stride) = (&slopes.w_inverse, self.omega, state.len() / n);
        state.fill(0.0);
        // W^-1 = W0^-1 + Σ_k (β0 m0 m0ᵀ + ωΣwxxᵀ − β_k m_k m_kᵀ).
        let mut of_centre = vec![0.0; p];
        add_scaled(2.0 * n as f64 * self.beta0, &times(p, v, &self.m0), &mut of_centre);
        for (k, out) in state.chunks_exact_mut(stride).enumerate() {
            let mean = &self.mean[k * p..(k + 1) * p];
            let (of_mean, beta) = (&mut slopes.mean[k * p..(k + 1) * p], self.beta[k]);
            add_cotangent(p, omega, v, &mut out[1 + p..self.statistics()]);
            let along = times(p, v, mean);
            add_scaled(-2.0 * beta, &along, of_mean);
            let of_beta = slopes.beta[k] - dot(&along, mean) - dot(of_mean, mean) / beta;
            add_scaled(self.beta0 / beta, of_mean, &mut of_centre);
            add_scaled(omega / beta, of_mean, &mut out[1..=p]);
            out[0] += omega * (slopes.alpha[k] + of_beta + slopes.nu);
        }
        let Some(pool) = &self.pool else {
            return self.own.pull(&of_centre, v, stride, state);
        };
        // W^-1 = t E[S] + …, E[S] = d Y^-1, Y = H^-1 + t E[Λ].
        let t = pool.t[0];
        let mut of_y = sandwich(p, &pool.s, v);
        of_y.iter_mut().for_each(|x| *x *= -t / pool.d);
        for out in state.chunks_exact_mut(stride) {
            add_cotangent(p, t, &of_y, &mut out[self.statistics()..]);
        }
        self.own.pull(&of_centre, &of_y, stride, state);
    }
}
