//! One sweep with diagonal or spherical covariances: (M4) with p = 1 for each group of columns of one variance.
//!
//! With `d` columns in a group, and sums over these, (M1) is maximised by
//!
//! ```text
//! μ_k | λ_k ~ N(m_k, 1/(β_k λ_k)),  λ_k ~ Gamma(ν_k/2, w_k/2):   ν_k = ν0 + dωN_k,   w_k = w0 + Σ_j (β0 m0_j² + ω Σ w r x_j² − β_k m_kj²)
//! log ρ_nk = E[log π_k] + Σ_groups ½[d(ψ(ν_k/2) + log 2 − log w_k − 1/β_k − log 2π) − ν_k/w_k Σ_j (x_nj − m_kj)²]
//! ```

use super::pooling::{Pool, Pooling};
use super::shaped::ShapedGmm;
use super::shaped_prior::{AxesPrior, Scales};
use super::steps::Steps;
use crate::model::kernel::Scratch;
use crate::model::linear::{self, Members};
use crate::model::pullback::Differences;
use crate::model::{Degenerate, Pullback};
use crate::posterior::{NormalWishartKl, Posterior};
use crate::special::gamma::Batch;
use std::f64::consts::{LN_2, TAU};
use std::rc::Rc;

/// Working memory of fits with diagonal or spherical covariances.
pub(super) struct AxesSweeper<'a> {
    model: &'a ShapedGmm,
    members: Members,
    total_weight: f64,
    prior: Option<Rc<AxesPrior>>,
    /// What is learned of the scale of each group, where it is.
    pools: Vec<Pool>,
    alpha: Vec<f64>,
    beta: Vec<f64>,
    /// `m_k`, component after component.
    mean: Vec<f64>,
    /// `ν` and `w`, group after group, a number per component.
    nu: Vec<f64>,
    w_inverse: Vec<f64>,
    /// What the next state holds of scales that are learned: `E[λ]` and `P(loose)`, in the same order.
    precisions: Vec<f64>,
    loose: Vec<f64>,
    densities: Vec<f64>,
    sums: Vec<f64>,
    /// Of `α_1 … α_K`, `Σα`, then `ν/2`.
    gammas: Batch,
    scratch: Scratch,
}

impl<'a> AxesSweeper<'a> {
    pub(super) fn new(model: &'a ShapedGmm) -> AxesSweeper<'a> {
        let (k, groups) = (model.n_components, model.n_groups());
        let pools = if model.prior.is_pooled() { groups } else { 0 };
        AxesSweeper {
            model,
            members: Members::default(),
            total_weight: 0.0,
            prior: None,
            pools: (0..pools).map(|_| Pool::new(1, k, 2)).collect(),
            alpha: vec![0.0; k],
            beta: vec![0.0; k],
            mean: vec![0.0; k * model.p()],
            nu: vec![0.0; groups * k],
            w_inverse: vec![0.0; groups * k],
            precisions: vec![0.0; groups * k],
            loose: vec![0.0; groups * k],
            densities: vec![0.0; k * model.statistics_len()],
            sums: vec![0.0; k * model.statistics_len()],
            gammas: Batch::default(),
            scratch: Scratch::default(),
        }
    }
}

/// The prior of one variance as its divergence needs it: `w0`, its logarithm or what stands for it, and `log Γ(ν0/2)`.
struct ScaleOf {
    nu0: f64,
    w: f64,
    ln_w: f64,
    ln_gamma: f64,
}

impl ScaleOf {
    fn new(scales: &Scales, pools: &[Pool], g: usize, k: usize) -> ScaleOf {
        match (scales, pools.get(g)) {
            (Scales::Fixed { nu0, w0_inverse, ln_gamma }, _) => {
                let w = w0_inverse[g];
                ScaleOf { nu0: *nu0, w, ln_w: w.ln(), ln_gamma: *ln_gamma }
            }
            (Scales::Pooled(_), Some(pool)) => ScaleOf {
                nu0: pool.nu0[k],
                w: pool.t[k] * pool.s[0],
                ln_w: pool.ln_det[k],
                ln_gamma: pool.ln_gammas[k],
            },
            // There is a pool for every scale that is learned.
            (Scales::Pooled(_), None) => {
                ScaleOf { nu0: f64::NAN, w: f64::NAN, ln_w: f64::NAN, ln_gamma: f64::NAN }
            }
        }
    }
}

impl Steps for AxesSweeper<'_> {
    type Prior = AxesPrior;

    fn take_weights(&mut self, weights: Option<&[f64]>) -> Result<(), Degenerate> {
        let rows = &self.model.rows;
        let length = self.model.length();
        self.members.load(rows.len(), length, weights, |unit, f| rows.get(unit, f));
        // Totals of the sample: an E-step with one component that takes everything.
        let mut totals = vec![0.0; length + 1];
        linear::e_step(
            length,
            self.members.blocks(&rows.blocks),
            self.members.weights(),
            &vec![0.0; length + 1],
            &mut totals,
            &mut Scratch::default(),
        );
        self.total_weight = totals[0];
        self.prior = None;
        self.prior = Some(Rc::new(self.resolve(&totals)?));
        Ok(())
    }

    fn prior(&self) -> Option<&Rc<AxesPrior>> {
        self.prior.as_ref()
    }

    fn resolve(&self, totals: &[f64]) -> Result<AxesPrior, Degenerate> {
        let model = self.model;
        let units = (&model.centre[..], &model.scale[..]);
        model.prior.resolve_axes(model.n_components, totals, model.group_size(), units)
    }

    fn own_prior(&self, state: &[f64]) -> Result<AxesPrior, Degenerate> {
        let mut prior = self.resolve(&self.totals(state))?;
        if let Scales::Pooled(poolings) = &mut prior.scales {
            poolings.iter_mut().for_each(Pooling::straight);
        }
        Ok(prior)
    }

    fn sizes(&self) -> (usize, usize) {
        (self.model.statistics_len(), self.model.stride())
    }

    fn jacobian(&self) -> (f64, f64) {
        (self.total_weight, self.model.ln_scale)
    }

    /// `q(θ)` from the statistics in `state`, without a division by `N_k`: an emptied component becomes the prior.
    fn update(&mut self, prior: &AxesPrior, omega: f64, state: &[f64]) -> Result<(), Degenerate> {
        let (p, n, stride) = (self.model.p(), self.model.n_components, self.model.stride());
        let (beta0, m0) = (prior.centres.beta0, &prior.centres.m0);
        let columns = self.model.group_size();
        for (k, s) in state.chunks_exact(stride).enumerate() {
            let count = s[0];
            if count.is_nan() || count < 0.0 {
                return Err(Degenerate::NegativeCount { component: k + 1 });
            }
            self.alpha[k] = prior.centres.weights.alpha0() + omega * count;
            let beta = beta0 + omega * count;
            self.beta[k] = beta;
            for g in 0..self.model.n_groups() {
                self.nu[g * n + k] = columns as f64 * omega * count;
                self.w_inverse[g * n + k] = omega * s[1 + p + g];
            }
            for j in 0..p {
                let m = (beta0 * m0[j] + omega * s[1 + j]) / beta;
                self.mean[k * p + j] = m;
                let g = self.model.group_of(j);
                self.w_inverse[g * n + k] += beta0 * m0[j] * m0[j] - beta * m * m;
            }
        }
        match &prior.scales {
            Scales::Fixed { nu0, w0_inverse, .. } => {
                self.nu.iter_mut().for_each(|nu| *nu += nu0);
                for (own, w0) in self.w_inverse.chunks_exact_mut(n).zip(w0_inverse) {
                    own.iter_mut().for_each(|w| *w += w0);
                }
            }
            Scales::Pooled(poolings) => {
                let statistics = self.model.statistics_len();
                let scatters = self.w_inverse.chunks_exact_mut(n).zip(self.nu.chunks_exact_mut(n));
                let pools = self.pools.iter_mut().zip(poolings).enumerate();
                for ((g, (pool, pooling)), (scatters, counts)) in pools.zip(scatters) {
                    let at = statistics + 2 * g;
                    let extras = state.chunks_exact(stride).map(|s| &s[at..at + 2]);
                    pool.learn(pooling, extras, scatters, counts).map_err(|_| {
                        Degenerate::NotPositiveDefinite {
                            what: "prior of the variance",
                            component: 1,
                        }
                    })?;
                }
            }
        }
        Ok(())
    }

    /// `q(θ)` with the prior's spread around given centres (in the data's units).
    fn place(&mut self, prior: &AxesPrior, centres: &[f64]) {
        let (model, p) = (self.model, self.model.p());
        self.alpha.fill(prior.centres.weights.alpha0());
        self.beta.fill(prior.centres.beta0);
        for (at, (m, x)) in self.mean.iter_mut().zip(centres).enumerate() {
            *m = (x - model.centre[at % p]) / model.scale[at % p];
        }
        for g in 0..model.n_groups() {
            let own = g * model.n_components..(g + 1) * model.n_components;
            let (w, nu0) = match &prior.scales {
                Scales::Fixed { nu0, w0_inverse, .. } => (w0_inverse[g], *nu0),
                Scales::Pooled(poolings) => {
                    let (spread, nu0) = poolings[g].unseen();
                    (spread[0], nu0)
                }
            };
            self.nu[own.clone()].fill(nu0);
            self.w_inverse[own].fill(w);
        }
    }

    /// A whole `q(θ)`, ready for an E-step.
    fn take(&mut self, posterior: &Posterior) -> Result<(), Degenerate> {
        let prior = self.loaded()?;
        let (model, p, n) = (self.model, self.model.p(), self.model.n_components);
        let alpha = posterior.dirichlet("pi").map_or(&[][..], |d| d.alpha());
        if alpha.len() != n {
            return Err(Degenerate::NotFinite);
        }
        self.alpha.copy_from_slice(alpha);
        for (j, name) in model.column_blocks().iter().enumerate() {
            for k in 0..n {
                let block = posterior.normal_wishart(name, k).ok_or(Degenerate::NotFinite)?;
                self.beta[k] = block.beta;
                self.mean[k * p + j] = (block.mean()[0] - model.centre[j]) / model.scale[j];
                let at = model.group_of(j) * n + k;
                self.nu[at] = block.nu;
                self.w_inverse[at] = block.w_inverse()[0] / (model.scale[j] * model.scale[j]);
            }
        }
        // Scales that are learned cost what the last update found; here only densities count.
        self.prepare(&prior)?;
        Ok(())
    }

    /// What the E-step needs of `q(θ)`, and `KL(q(θ) ‖ p(θ))`.
    fn prepare(&mut self, prior: &AxesPrior) -> Result<f64, Degenerate> {
        let (p, n) = (self.model.p(), self.model.n_components);
        let (length, columns) = (self.model.length(), self.model.group_size());
        let total: f64 = self.alpha.iter().sum();
        let halves = self.nu.iter().map(|nu| 0.5 * nu);
        self.gammas.evaluate(self.alpha.iter().copied().chain([total]).chain(halves));
        let gammas = &self.gammas;
        let values = |i: usize| (gammas.digamma(i), gammas.ln_gamma(i));
        let alphas = self.alpha.iter().enumerate().map(|(k, &a)| (a, values(k)));
        let mut kl = prior.centres.weights.kl_from(alphas, values(n));
        kl += self.pools.iter().map(|pool| pool.kl).sum::<f64>();
        let beta0 = prior.centres.beta0;
        for (k, numbers) in self.densities.chunks_exact_mut(length + 1).enumerate() {
            numbers.fill(0.0);
            numbers[0] = gammas.digamma(k) - gammas.digamma(n);
            let beta = self.beta[k];
            for g in 0..length - p {
                let at = g * n + k;
                let (nu, w) = (self.nu[at], self.w_inverse[at]);
                if !(w > 0.0 && w.is_finite()) {
                    return Err(Degenerate::NotPositiveDefinite {
                        what: "scatter",
                        component: k + 1,
                    });
                }
                let (psi, ln_gamma_nu) = values(n + 1 + at);
                let mean_ln = psi + LN_2 - w.ln();
                let precision = nu / w;
                let d = columns as f64;
                numbers[0] += 0.5 * d * (mean_ln - 1.0 / beta - TAU.ln());
                numbers[1 + p + g] = -0.5 * precision;
                let mut shift = 0.0;
                for j in g * columns..(g + 1) * columns {
                    let m = self.mean[k * p + j];
                    numbers[0] -= 0.5 * precision * m * m;
                    numbers[1 + j] = precision * m;
                    shift += (m - prior.centres.m0[j]) * (m - prior.centres.m0[j]);
                }
                let scale = ScaleOf::new(&prior.scales, &self.pools, g, k);
                kl += NormalWishartKl {
                    p: 1,
                    beta,
                    nu,
                    beta0,
                    nu0: scale.nu0,
                    ln_det_ratio: scale.ln_w - w.ln(),
                    trace: scale.w / w,
                    shift: shift / w,
                    digammas: psi,
                    ln_multigamma_ratio: ln_gamma_nu - scale.ln_gamma,
                }
                .kl();
                // The means of a group's other columns.
                kl += 0.5 * (d - 1.0) * ((beta / beta0).ln() + beta0 / beta - 1.0);
                if let (Scales::Pooled(poolings), Some(pool)) = (&prior.scales, self.pools.get(g)) {
                    self.precisions[at] = precision;
                    let loose = std::slice::from_mut(&mut self.loose[at]);
                    pool.tie(&poolings[g], mean_ln, pool.s[0] * precision, loose);
                }
            }
        }
        Ok(kl)
    }

    /// Lets every variance be tied or loose as the prior has it: at a start nothing else is known.
    fn forget_ties(&mut self, prior: &AxesPrior) {
        if let Scales::Pooled(poolings) = &prior.scales {
            let n = self.model.n_components;
            for (own, pooling) in self.loose.chunks_exact_mut(n).zip(poolings) {
                own.chunks_exact_mut(1).for_each(|loose| pooling.forget(loose));
            }
        }
    }

    /// The E-step at the `q(θ)` that is prepared, into a state; returns `Σ w log Σρ`.
    fn e_step(&mut self, state: &mut [f64]) -> Result<f64, Degenerate> {
        let (n, length) = (self.model.n_components, self.model.length());
        let ln_evidence = linear::e_step(
            length,
            self.members.blocks(&self.model.rows.blocks),
            self.members.weights(),
            &self.densities,
            &mut self.sums,
            &mut self.scratch,
        );
        let sums = self.sums.chunks_exact(length + 1);
        for (k, (next, sums)) in state.chunks_exact_mut(self.model.stride()).zip(sums).enumerate() {
            let (statistics, extra) = next.split_at_mut(length + 1);
            statistics.copy_from_slice(sums);
            for (g, extra) in extra.chunks_exact_mut(2).enumerate() {
                extra.copy_from_slice(&[self.precisions[g * n + k], self.loose[g * n + k]]);
            }
        }
        Ok(ln_evidence)
    }

    fn posterior_of(
        &mut self,
        prior: &AxesPrior,
        omega: f64,
        state: &[f64],
    ) -> Result<Posterior, Degenerate> {
        use crate::model::Model;
        self.update(prior, omega, state)?;
        let (model, p, n) = (self.model, self.model.p(), self.model.n_components);
        let mut parameters = self.alpha.clone();
        for j in 0..p {
            let (centre, scale) = (model.centre[j], model.scale[j]);
            for k in 0..n {
                let at = model.group_of(j) * n + k;
                let mean = centre + scale * self.mean[k * p + j];
                let w_inverse = scale * scale * self.w_inverse[at];
                parameters.extend([self.beta[k], self.nu[at], mean, w_inverse]);
            }
        }
        Ok(Posterior::new(model.layout().clone(), parameters))
    }

    fn responsibilities_now(&self) -> Result<Vec<f64>, Degenerate> {
        let rows = &self.model.rows;
        let get = |unit: usize, f: usize| rows.get(unit, f);
        Ok(linear::responsibilities(rows.len(), self.model.length(), &self.densities, get))
    }

    /// `N_k + 1/ω` for sums, as many times as a sum has columns; a precision's own size; 1 for a probability.
    fn scales_of(&self, omega: f64, state: &[f64], scale: &mut [f64]) {
        let (stride, p) = (self.model.stride(), self.model.p());
        let (length, columns) = (self.model.length(), self.model.group_size() as f64);
        for (s, out) in state.chunks_exact(stride).zip(scale.chunks_exact_mut(stride)) {
            let weight = s[0] + 1.0 / omega;
            out[..=p].fill(weight);
            out[1 + p..=length].fill(weight * columns);
            for (own, out) in
                s[length + 1..].chunks_exact(2).zip(out[length + 1..].chunks_exact_mut(2))
            {
                out.copy_from_slice(&[own[0].abs(), 1.0]);
            }
        }
    }

    /// By differences: an update costs little, and a sum changes little of it.
    fn pullback_of(&mut self, omega: f64, state: &[f64]) -> Result<Box<dyn Pullback>, Degenerate> {
        let (n, features) = (self.model.n_components, self.model.statistics_len());
        let mut scale = vec![0.0; state.len()];
        self.scales_of(omega, state, &mut scale);
        let made = Differences::new((n, features), state, &scale, |point, out| {
            let prior = self.own_prior(point)?;
            self.update(&prior, omega, point)?;
            self.prepare(&prior)?;
            out.extend_from_slice(&self.densities);
            for k in 0..n {
                for g in 0..self.pools.len() {
                    out.extend([self.precisions[g * n + k], self.loose[g * n + k]]);
                }
            }
            out.extend_from_slice(self.posterior_of(&prior, omega, point)?.parameters());
            Ok(())
        })?;
        Ok(Box::new(made))
    }

    fn contribution_of(&self, unit: usize, responsibilities: &[f64], out: &mut [f64]) {
        let rows = &self.model.rows;
        let length = self.model.length();
        for (r, out) in responsibilities.iter().zip(out.chunks_exact_mut(self.model.stride())) {
            out[0] = *r;
            for (f, x) in out[1..=length].iter_mut().enumerate() {
                *x = r * rows.get(unit, f);
            }
            out[length + 1..].fill(0.0);
        }
    }
}
