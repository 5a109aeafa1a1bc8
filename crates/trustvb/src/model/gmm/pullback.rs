//! The transposed derivative of (M4) and (M3) with full covariances, by matrices: see [`Pullback`].
//!
//! Written backwards from `update` and `prepare`. A bar is a cotangent; with `Q_k = E[Λ_k] = ν_k W_k`, a density has the
//! coefficients `½E[log|Λ_k|] − ½p/β_k − ½mᵀQm + …`, `Qm`, and `−½Q_ii`, `−Q_ij`, and
//!
//! ```text
//! Q = νW        ν̄ += tr(Q̄W)      W̄ = νQ̄        W = (W^-1)^-1     W̄^-1 −= W W̄ W
//! E[log|Λ|]     ν̄ += Σ_j ½ψ'((ν+1−j)/2)          W̄^-1 −= W
//! S = d Y^-1    d̄ += tr(S̄S)/d    Ȳ −= S S̄ S / d                                       (M4'')
//! ```

use super::own_prior::OwnPrior;
use super::pooling::Scaled;
use super::prior::ResolvedPrior;
use crate::linalg::square::{
    add_cotangent, add_outer, add_scaled, dot, from_cotangent, sandwich, times,
};
use crate::model::Pullback;

/// The derivative at one state.
#[derive(Debug)]
pub(super) struct GmmPullback {
    pub(super) p: usize,
    pub(super) omega: f64,
    pub(super) stride: usize,
    pub(super) beta0: f64,
    pub(super) m0: Vec<f64>,
    /// Of the columns, between the model's units and the data's.
    pub(super) scale: Vec<f64>,
    pub(super) densities: Vec<f64>,
    pub(super) components: Vec<Component>,
    /// `ψ'(Σα)`.
    pub(super) trigamma_total: f64,
    pub(super) pool: Option<Scaled>,
    pub(super) own: OwnPrior,
}

/// What is needed of one component.
#[derive(Debug)]
pub(super) struct Component {
    /// `ψ'(α)`.
    pub(super) trigamma: f64,
    pub(super) beta: f64,
    pub(super) nu: f64,
    /// `Σ_j ½ψ'((ν+1−j)/2)`.
    pub(super) trigammas: f64,
    pub(super) mean: Vec<f64>,
    /// `W`, full.
    pub(super) w: Vec<f64>,
    /// What the printed update adds to `W^-1`.
    pub(super) printed: Option<Printed>,
}

/// `e u uᵀ` with `u = Σwrx/N − m0`.
#[derive(Debug)]
pub(super) struct Printed {
    pub(super) count: f64,
    pub(super) first: Vec<f64>,
    pub(super) shift: Vec<f64>,
    /// `e`, and its slope in `N`.
    pub(super) extra: f64,
    pub(super) slope: f64,
}

impl Printed {
    /// From a component's statistics.
    pub(super) fn new(prior: &ResolvedPrior, omega: f64, statistics: &[f64]) -> Printed {
        let (count, beta0) = (statistics[0], prior.beta0);
        let first = statistics[1..=prior.m0.len()].to_vec();
        let share = |omega: f64| beta0 * omega * count / (beta0 + omega * count);
        let slope = |omega: f64| omega * beta0 * beta0 / (beta0 + omega * count).powi(2);
        Printed {
            count,
            shift: first.iter().zip(&prior.m0).map(|(x, m)| x / count - m).collect(),
            first,
            extra: share(1.0) - share(omega),
            slope: slope(1.0) - slope(omega),
        }
    }
}

/// Cotangents of one component's `q(θ)`.
struct Slopes {
    alpha: f64,
    beta: f64,
    nu: f64,
    mean: Vec<f64>,
    /// Of `W^-1`, full.
    w_inverse: Vec<f64>,
}

/// Cotangents of the learned scale: of `E[S]`, full, and of `E[log|S|]`.
struct OfScale {
    s: Vec<f64>,
    ln_det: f64,
}

impl Pullback for GmmPullback {
    fn densities(&self) -> &[f64] {
        &self.densities
    }

    fn pull(&self, coefficients: &[f64], next: &[f64], state: &mut [f64]) {
        let p = self.p;
        let features = coefficients.len() / self.components.len();
        let mut of_scale = OfScale { s: vec![0.0; p * p], ln_det: 0.0 };
        let total: f64 = coefficients.iter().step_by(features).sum();
        let slopes = coefficients.chunks_exact(features).enumerate().map(|(k, own)| {
            let extra = &next[k * self.stride + features..(k + 1) * self.stride];
            let mut slopes = self.of_density(k, own, extra, &mut of_scale);
            slopes.alpha = own[0] * self.components[k].trigamma - total * self.trigamma_total;
            slopes
        });
        let slopes: Vec<Slopes> = slopes.collect();
        self.to_state(slopes, of_scale, state);
    }

    fn pull_posterior(&self, parameters: &[f64], state: &mut [f64]) {
        let (p, k) = (self.p, self.components.len());
        let (alpha, blocks) = parameters.split_at(k);
        let slopes = blocks.chunks_exact(blocks.len() / k).zip(alpha).map(|(block, &alpha)| {
            let (mean, w_inverse) = block[2..].split_at(p);
            let mut w_inverse = from_cotangent(p, w_inverse);
            for i in 0..p {
                for j in 0..p {
                    w_inverse[i * p + j] *= self.scale[i] * self.scale[j];
                }
            }
            let mean = mean.iter().zip(&self.scale).map(|(x, s)| x * s).collect();
            Slopes { alpha, beta: block[0], nu: block[1], mean, w_inverse }
        });
        let slopes = slopes.collect();
        self.to_state(slopes, OfScale { s: vec![0.0; p * p], ln_det: 0.0 }, state);
    }
}

impl GmmPullback {
    /// From cotangents of a component's coefficients and of what the next state holds beside its sums to those of its
    /// `q(μ, Λ)`, and of the learned scale.
    fn of_density(
        &self,
        k: usize,
        coefficients: &[f64],
        extra: &[f64],
        of_scale: &mut OfScale,
    ) -> Slopes {
        let (p, c) = (self.p, &self.components[k]);
        let (constant, linear) = (coefficients[0], &coefficients[1..=p]);
        let mut q = from_cotangent(p, &coefficients[1 + p..]);
        // Off the diagonal a coefficient is −Q_ij, of which the matrix has two.
        for i in 0..p {
            for j in 0..p {
                q[i * p + j] *= if i == j { -0.5 } else { -1.0 };
            }
        }
        add_outer(p, 1.0, linear, &c.mean, &mut q);
        add_outer(p, -0.5 * constant, &c.mean, &c.mean, &mut q);
        let mut towards: Vec<f64> = linear.to_vec();
        add_scaled(-constant, &c.mean, &mut towards);
        let mean: Vec<f64> = times(p, &c.w, &towards).iter().map(|x| c.nu * x).collect();
        let mut ln_det = 0.5 * constant;
        if let Some(pool) = &self.pool {
            let (precision, ties) = extra.split_at(p * (p + 1) / 2);
            add_scaled(1.0, &from_cotangent(p, precision), &mut q);
            let (of_trace, of_ln_det) = pool.of_ties(k, ties);
            add_scaled(of_trace, &pool.s, &mut q);
            add_scaled(of_trace * c.nu, &c.w, &mut of_scale.s);
            ln_det += of_ln_det;
            of_scale.ln_det += of_ln_det;
        }
        let mut w_inverse = sandwich(p, &c.w, &q);
        w_inverse.iter_mut().for_each(|x| *x *= -c.nu);
        add_scaled(-ln_det, &c.w, &mut w_inverse);
        Slopes {
            alpha: 0.0,
            beta: 0.5 * constant * p as f64 / (c.beta * c.beta),
            nu: dot(&q, &c.w) + ln_det * c.trigammas,
            mean,
            w_inverse,
        }
    }

    /// From cotangents of `q(θ)` to those of the state.
    fn to_state(&self, mut slopes: Vec<Slopes>, mut of_scale: OfScale, state: &mut [f64]) {
        let p = self.p;
        let statistics = 1 + p + p * (p + 1) / 2;
        state.fill(0.0);
        let mut of_matrix = vec![0.0; p * p];
        let mut of_centre = vec![0.0; p];
        let mut of_ties = vec![(0.0, 0.0); slopes.len()];
        for (k, (own, c)) in slopes.iter_mut().zip(&self.components).enumerate() {
            let out = &mut state[k * self.stride..k * self.stride + statistics];
            if let Some(pool) = &self.pool {
                of_ties[k] = (dot(&own.w_inverse, &pool.s), own.nu);
                add_scaled(pool.t[k], &own.w_inverse, &mut of_scale.s);
            } else {
                add_scaled(1.0, &own.w_inverse, &mut of_matrix);
            }
            // W^-1 = … + β0 m0 m0ᵀ + ωΣwrxxᵀ − β m mᵀ, and m = (β0 m0 + ωΣwrx)/β.
            let (v, omega) = (&own.w_inverse, self.omega);
            add_scaled(2.0 * self.beta0, &times(p, v, &self.m0), &mut of_centre);
            add_cotangent(p, omega, v, &mut out[1 + p..]);
            let along = times(p, v, &c.mean);
            own.beta -= dot(&along, &c.mean);
            add_scaled(-2.0 * c.beta, &along, &mut own.mean);
            own.beta -= dot(&own.mean, &c.mean) / c.beta;
            add_scaled(self.beta0 / c.beta, &own.mean, &mut of_centre);
            add_scaled(omega / c.beta, &own.mean, &mut out[1..=p]);
            out[0] += omega * (own.alpha + own.beta + own.nu);
            if let Some(printed) = &c.printed {
                let along = times(p, v, &printed.shift);
                out[0] += printed.slope * dot(&along, &printed.shift);
                let towards = 2.0 * printed.extra / printed.count;
                add_scaled(towards, &along, &mut out[1..=p]);
                out[0] -= towards * dot(&along, &printed.first) / printed.count;
                add_scaled(-2.0 * printed.extra, &along, &mut of_centre);
            }
        }
        if let Some(pool) = &self.pool {
            of_matrix = self.of_pool(pool, &of_scale, &of_ties, state);
        }
        self.own.pull(&of_centre, &of_matrix, self.stride, state);
    }

    /// From cotangents of the learned scale and of the ties `(t̄_k, ν̄_k)` to those of the state's expectations; returns that
    /// of `H^-1`.
    fn of_pool(
        &self,
        pool: &Scaled,
        of_scale: &OfScale,
        of_ties: &[(f64, f64)],
        state: &mut [f64],
    ) -> Vec<f64> {
        let p = self.p;
        let statistics = 1 + p + p * (p + 1) / 2;
        // E[S] = d Y^-1 and E[log|S|] = Σψ((d+1−j)/2) − log|Y| + …, with Y = H^-1 + Σ t_k E[Λ_k].
        let of_d = dot(&of_scale.s, &pool.s) / pool.d + of_scale.ln_det * pool.trigammas;
        let mut of_y = sandwich(p, &pool.s, &of_scale.s);
        of_y.iter_mut().for_each(|x| *x /= -pool.d);
        add_scaled(-of_scale.ln_det / pool.d, &pool.s, &mut of_y);
        for (k, (of_t, of_nu)) in of_ties.iter().enumerate() {
            let out = &mut state[k * self.stride + statistics..(k + 1) * self.stride];
            add_cotangent(p, pool.t[k], &of_y, out);
            let of_t = of_t + dot(&of_y, &pool.precisions[k]);
            pool.to_ties(of_t, of_nu + of_d, &mut out[p * (p + 1) / 2..]);
        }
        of_y
    }
}
