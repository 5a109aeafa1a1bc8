//! One sweep with one precision matrix for all components.
//!
//! `μ_k | Λ ~ N(m0, (β0 Λ)^-1)` and `Λ ~ Wishart(W0, ν0)` are conjugate together, so `q(μ, Λ)` is one law:
//!
//! ```text
//! μ_k | Λ ~ N(m_k, (β_k Λ)^-1),  Λ ~ Wishart(W, ν):   ν = ν0 + ωΣN_k,
//! W^-1 = W0^-1 + Kβ0 m0 m0ᵀ + ω Σ w xxᵀ − Σ_k β_k m_k m_kᵀ
//! log ρ_nk = E[log π_k] − p/(2β_k) − ν/2 m_kᵀW m_k + ν m_kᵀW x_n   (and what all components have in common)
//! ```
//!
//! Only `N_k` and `Σ w r x` depend on responsibilities: an E-step costs what means cost. `Σ w xxᵀ` is fixed by the weights.
//! It stands in the state all the same, a K-th part with each component, because influence needs what it is moved by. So
//! does `E[Λ]`, from which `W0^-1` is learned as in (M4''), with one matrix for a component's.

use super::own_prior::{Made, OwnPrior};
use super::pooling::{Pool, Scaled};
use super::prior::Covariances;
use super::scale_both_sides;
use super::shaped::ShapedGmm;
use super::shaped_prior::TiedPrior;
use super::spec::BLOCK;
use super::spread::{ScaleOf, Spread};
use super::steps::Steps;
use super::tied_pullback::TiedPullback;
use crate::linalg::square::full;
use crate::linalg::{
    cholesky, gram, invert_lower, ln_det_from_cholesky, packed_index, packed_len, trace_of_product,
};
use crate::model::kernel::Scratch;
use crate::model::linear::{self, Members};
use crate::model::{Degenerate, Model, Pullback};
use crate::posterior::{NormalWishartKl, Posterior};
use crate::special::gamma::{Batch, trigamma};
use std::f64::consts::{LN_2, TAU};
use std::rc::Rc;

/// Working memory of fits with one covariance.
pub(super) struct TiedSweeper<'a> {
    model: &'a ShapedGmm,
    members: Members,
    /// `Σw`, `Σ w x` and the triangle of `Σ w xxᵀ` of the units that are loaded.
    totals: Vec<f64>,
    prior: Option<Rc<TiedPrior>>,
    /// What is learned of the scale, if it is.
    pool: Option<Pool>,
    /// `E[Λ]` of the state.
    precision: Vec<f64>,
    alpha: Vec<f64>,
    beta: Vec<f64>,
    /// `m_k`, component after component.
    mean: Vec<f64>,
    nu: f64,
    w_inverse: Vec<f64>,
    factor: Vec<f64>,
    inverse_factor: Vec<f64>,
    /// `W`.
    w: Vec<f64>,
    /// `Σ w` of what log densities have in common for all components.
    common: f64,
    densities: Vec<f64>,
    sums: Vec<f64>,
    /// Of `α_1 … α_K`, `Σα`, then `(ν+1−j)/2`.
    gammas: Batch,
    scratch: Scratch,
}

impl<'a> TiedSweeper<'a> {
    pub(super) fn new(model: &'a ShapedGmm) -> TiedSweeper<'a> {
        let (k, p) = (model.n_components, model.p());
        let triangle = packed_len(p);
        TiedSweeper {
            model,
            members: Members::default(),
            totals: vec![0.0; 1 + p + triangle],
            prior: None,
            pool: model.prior.is_pooled().then(|| Pool::new(p, 1, 1)),
            precision: vec![0.0; triangle],
            alpha: vec![0.0; k],
            beta: vec![0.0; k],
            mean: vec![0.0; k * p],
            nu: 0.0,
            w_inverse: vec![0.0; triangle],
            factor: vec![0.0; triangle],
            inverse_factor: vec![0.0; triangle],
            w: vec![0.0; triangle],
            common: 0.0,
            densities: vec![0.0; k * (p + 1)],
            sums: vec![0.0; k * (p + 1)],
            gammas: Batch::default(),
            scratch: Scratch::default(),
        }
    }
}

impl Steps for TiedSweeper<'_> {
    type Prior = TiedPrior;

    fn take_weights(&mut self, weights: Option<&[f64]>) -> Result<(), Degenerate> {
        let rows = &self.model.rows;
        let p = self.model.p();
        self.members.load(rows.len(), p, weights, |unit, f| rows.get(unit, f));
        let blocks = self.members.blocks(&rows.blocks);
        let mut sums = vec![[0.0; crate::simd::LANES]; crate::model::moments::len(p)];
        crate::model::moments::add(p, blocks, self.members.weights(), &mut sums);
        for (total, lanes) in self.totals.iter_mut().zip(&sums) {
            *total = lanes.iter().sum();
        }
        self.prior = None;
        self.prior = Some(Rc::new(self.resolve(&self.totals)?));
        Ok(())
    }

    fn prior(&self) -> Option<&Rc<TiedPrior>> {
        self.prior.as_ref()
    }

    fn resolve(&self, moments: &[f64]) -> Result<TiedPrior, Degenerate> {
        let model = self.model;
        let units = (&model.centre[..], &model.scale[..]);
        model.prior.resolve_tied(model.n_components, moments, units)
    }

    fn sizes(&self) -> (usize, usize) {
        (self.totals.len(), self.model.stride())
    }

    fn jacobian(&self) -> (f64, f64) {
        (self.totals[0], self.model.ln_scale)
    }

    /// `q(θ)` from the statistics in `state`, without a division by `N_k`: an emptied component becomes the prior.
    fn update(&mut self, prior: &TiedPrior, omega: f64, state: &[f64]) -> Result<(), Degenerate> {
        let p = self.model.p();
        let (beta0, m0) = (prior.centres.beta0, &prior.centres.m0);
        self.nu = 0.0;
        self.w_inverse.fill(0.0);
        self.precision.fill(0.0);
        let triangle = packed_len(p);
        for (k, s) in state.chunks_exact(self.model.stride()).enumerate() {
            let count = s[0];
            if count.is_nan() || count < 0.0 {
                return Err(Degenerate::NegativeCount { component: k + 1 });
            }
            let (first, second) = s[1..].split_at(p);
            let (second, extra) = second.split_at(triangle);
            self.precision.iter_mut().zip(extra).for_each(|(sum, x)| *sum += x);
            self.alpha[k] = prior.centres.weights.alpha0() + omega * count;
            let beta = beta0 + omega * count;
            self.beta[k] = beta;
            self.nu += omega * count;
            let mean = &mut self.mean[k * p..(k + 1) * p];
            for j in 0..p {
                mean[j] = (beta0 * m0[j] + omega * first[j]) / beta;
            }
            let mut at = 0;
            for i in 0..p {
                for j in 0..=i {
                    self.w_inverse[at] +=
                        beta0 * m0[i] * m0[j] + omega * second[at] - beta * mean[i] * mean[j];
                    at += 1;
                }
            }
        }
        match (&prior.covariance, &mut self.pool) {
            (Covariances::Pooled(pooling), Some(pool)) => {
                let mut nu = [self.nu];
                let extras = std::iter::once(&self.precision[..]);
                pool.learn(pooling, extras, &mut self.w_inverse, &mut nu).map_err(|_| {
                    Degenerate::NotPositiveDefinite {
                        what: "prior of the covariance",
                        component: 1,
                    }
                })?;
                self.nu = nu[0];
            }
            (Covariances::Fixed(fixed), _) => {
                self.nu += fixed.nu0;
                self.w_inverse.iter_mut().zip(&fixed.w0_inverse).for_each(|(w, w0)| *w += w0);
            }
            (Covariances::Pooled(_), None) => {}
        }
        Ok(())
    }

    /// `q(θ)` with the prior's spread around given centres (in the data's units).
    fn place(&mut self, prior: &TiedPrior, centres: &[f64]) {
        let (model, p) = (self.model, self.model.p());
        self.alpha.fill(prior.centres.weights.alpha0());
        self.beta.fill(prior.centres.beta0);
        for (at, (m, x)) in self.mean.iter_mut().zip(centres).enumerate() {
            *m = (x - model.centre[at % p]) / model.scale[at % p];
        }
        let (spread, nu0) = match &prior.covariance {
            Covariances::Pooled(pooling) => pooling.unseen(),
            Covariances::Fixed(fixed) => (fixed.w0_inverse.clone(), fixed.nu0),
        };
        self.nu = nu0;
        self.w_inverse.copy_from_slice(&spread);
    }

    /// A whole `q(θ)`, ready for an E-step.
    fn take(&mut self, posterior: &Posterior) -> Result<(), Degenerate> {
        let prior = self.loaded()?;
        let (model, p) = (self.model, self.model.p());
        let alpha = posterior.dirichlet("pi").map_or(&[][..], |d| d.alpha());
        if alpha.len() != model.n_components {
            return Err(Degenerate::NotFinite);
        }
        self.alpha.copy_from_slice(alpha);
        let inverse_scale: Vec<f64> = model.scale.iter().map(|s| 1.0 / s).collect();
        for k in 0..model.n_components {
            let block = posterior.normal_wishart(BLOCK, k).ok_or(Degenerate::NotFinite)?;
            self.beta[k] = block.beta;
            for j in 0..p {
                self.mean[k * p + j] = (block.mean()[j] - model.centre[j]) / model.scale[j];
            }
            if k == 0 {
                self.nu = block.nu;
                scale_both_sides(block.w_inverse(), &inverse_scale, &mut self.w_inverse);
            }
        }
        self.prepare(&prior)?;
        Ok(())
    }

    /// What the E-step needs of `q(θ)`, and `KL(q(θ) ‖ p(θ))`.
    fn prepare(&mut self, prior: &TiedPrior) -> Result<f64, Degenerate> {
        let (p, n) = (self.model.p(), self.model.n_components);
        let p_f = p as f64;
        let nu = self.nu;
        let total: f64 = self.alpha.iter().sum();
        let halves = (0..p).map(|j| 0.5 * (nu - j as f64));
        self.gammas.evaluate(self.alpha.iter().copied().chain([total]).chain(halves));
        let gammas = &self.gammas;
        let values = |i: usize| (gammas.digamma(i), gammas.ln_gamma(i));
        let alphas = self.alpha.iter().enumerate().map(|(k, &a)| (a, values(k)));
        let mut kl = prior.centres.weights.kl_from(alphas, values(n));
        self.factor.copy_from_slice(&self.w_inverse);
        cholesky(p, &mut self.factor).map_err(|_| Degenerate::NotPositiveDefinite {
            what: "scatter matrix",
            component: 1,
        })?;
        invert_lower(p, &self.factor, &mut self.inverse_factor);
        gram(p, &self.inverse_factor, &mut self.w);
        let ln_det = ln_det_from_cholesky(p, &self.factor);
        let digammas: f64 = (n + 1..n + 1 + p).map(|i| gammas.digamma(i)).sum();
        let ln_gammas: f64 = (n + 1..n + 1 + p).map(|i| gammas.ln_gamma(i)).sum();
        let beta0 = prior.centres.beta0;
        let spread = Spread::of(&prior.covariance, self.pool.as_ref())?;
        let ScaleOf { nu0, t, ln_det: ln_det_prior, ln_gammas: ln_gammas_prior } =
            spread.of_component(0);
        kl += spread.kl;
        // Of Λ alone: the means follow.
        kl += NormalWishartKl {
            p,
            beta: beta0,
            nu,
            beta0,
            nu0,
            ln_det_ratio: ln_det_prior - ln_det,
            trace: t * trace_of_product(p, spread.matrix, &self.w),
            shift: 0.0,
            digammas,
            ln_multigamma_ratio: ln_gammas - ln_gammas_prior,
        }
        .kl();
        let psi_total = gammas.digamma(n);
        for (k, numbers) in self.densities.chunks_exact_mut(p + 1).enumerate() {
            let (beta, mean) = (self.beta[k], &self.mean[k * p..(k + 1) * p]);
            let (mut form, mut shift) = (0.0, 0.0);
            for i in 0..p {
                let row = |j: usize| self.w[packed_index(i.max(j), i.min(j))];
                let along: f64 = (0..p).map(|j| row(j) * mean[j]).sum();
                let from_prior: f64 =
                    (0..p).map(|j| row(j) * (mean[j] - prior.centres.m0[j])).sum();
                numbers[1 + i] = nu * along;
                form += mean[i] * along;
                shift += (mean[i] - prior.centres.m0[i]) * from_prior;
            }
            numbers[0] = gammas.digamma(k) - psi_total - 0.5 * (p_f / beta + nu * form);
            kl += 0.5 * (p_f * ((beta / beta0).ln() + beta0 / beta - 1.0) + beta0 * nu * shift);
        }
        let mean_ln_det = digammas + p_f * LN_2 - ln_det;
        let squares = trace_of_product(p, &self.w, &self.totals[1 + p..]);
        self.common = 0.5 * (self.totals[0] * (mean_ln_det - p_f * TAU.ln()) - nu * squares);
        Ok(kl)
    }

    /// The E-step at the `q(θ)` that is prepared, into a state; returns `Σ w log Σρ`.
    fn e_step(&mut self, state: &mut [f64]) -> Result<f64, Degenerate> {
        let (n, p) = (self.model.n_components, self.model.p());
        let ln_evidence = linear::e_step(
            p,
            self.members.blocks(&self.model.rows.blocks),
            self.members.weights(),
            &self.densities,
            &mut self.sums,
            &mut self.scratch,
        );
        let states = state.chunks_exact_mut(self.model.stride());
        for (next, sums) in states.zip(self.sums.chunks_exact(p + 1)) {
            next[..=p].copy_from_slice(sums);
            let (squares, extra) = next[1 + p..].split_at_mut(packed_len(p));
            for (x, total) in squares.iter_mut().zip(&self.totals[1 + p..]) {
                *x = total / n as f64;
            }
            for (x, w) in extra.iter_mut().zip(&self.w) {
                *x = self.nu * w / n as f64;
            }
        }
        Ok(ln_evidence + self.common)
    }

    fn posterior_of(
        &mut self,
        prior: &TiedPrior,
        omega: f64,
        state: &[f64],
    ) -> Result<Posterior, Degenerate> {
        self.update(prior, omega, state)?;
        let (model, p) = (self.model, self.model.p());
        let mut w_inverse = vec![0.0; packed_len(p)];
        scale_both_sides(&self.w_inverse, &model.scale, &mut w_inverse);
        let mut parameters = self.alpha.clone();
        for (beta, mean) in self.beta.iter().zip(self.mean.chunks_exact(p)) {
            parameters.extend([*beta, self.nu]);
            parameters.extend((0..p).map(|j| model.centre[j] + model.scale[j] * mean[j]));
            parameters.extend_from_slice(&w_inverse);
        }
        Ok(Posterior::new(model.layout().clone(), parameters))
    }

    fn responsibilities_now(&self) -> Result<Vec<f64>, Degenerate> {
        let rows = &self.model.rows;
        let get = |unit: usize, f: usize| rows.get(unit, f);
        Ok(linear::responsibilities(rows.len(), self.model.p(), &self.densities, get))
    }

    /// `N_k + 1/ω`; what all share is of the size of all.
    fn scales_of(&self, omega: f64, state: &[f64], scale: &mut [f64]) {
        let (stride, p) = (self.model.stride(), self.model.p());
        for (s, out) in state.chunks_exact(stride).zip(scale.chunks_exact_mut(stride)) {
            out[..=p].fill(s[0] + 1.0 / omega);
            let (squares, extra) = out[1 + p..].split_at_mut(packed_len(p));
            squares.fill(self.totals[0] + 1.0 / omega);
            if self.pool.is_some() {
                let precisions = &s[1 + p + packed_len(p)..];
                for (i, j) in (0..p).flat_map(|i| (0..=i).map(move |j| (i, j))) {
                    let size = precisions[packed_index(i, i)] * precisions[packed_index(j, j)];
                    extra[packed_index(i, j)] = size.abs().sqrt();
                }
            }
        }
    }

    fn pullback_of(&mut self, omega: f64, state: &[f64]) -> Result<Box<dyn Pullback>, Degenerate> {
        let (model, p) = (self.model, self.model.p());
        let totals = Steps::totals(self, state);
        let prior = self.resolve(&totals)?;
        self.update(&prior, omega, state)?;
        self.prepare(&prior)?;
        let (pool, made) = match (&prior.covariance, &self.pool) {
            (Covariances::Pooled(pooling), Some(pool)) => {
                let extras = std::iter::once(&self.precision[..]);
                let made = Made::InverseOfMultiple(pooling.share(model.n_components));
                (Some(Scaled::new(pooling, pool, extras, &[])), made)
            }
            _ => (None, Made::Given),
        };
        Ok(Box::new(TiedPullback {
            p,
            omega,
            beta0: prior.centres.beta0,
            m0: prior.centres.m0.clone(),
            scale: model.scale.clone(),
            densities: self.densities.clone(),
            trigammas: self.alpha.iter().map(|a| trigamma(*a)).collect(),
            trigamma_total: trigamma(self.alpha.iter().sum()),
            beta: self.beta.clone(),
            mean: self.mean.clone(),
            nu: self.nu,
            w: full(p, &self.w),
            pool,
            own: OwnPrior::new(&model.prior, &totals, p, made)?,
        }))
    }

    fn contribution_of(&self, unit: usize, responsibilities: &[f64], out: &mut [f64]) {
        let (n, p, rows) = (self.model.n_components, self.model.p(), &self.model.rows);
        for (r, out) in responsibilities.iter().zip(out.chunks_exact_mut(self.model.stride())) {
            out[0] = *r;
            for i in 0..p {
                let x = rows.get(unit, i);
                out[1 + i] = r * x;
                for j in 0..=i {
                    out[1 + p + packed_index(i, j)] = x * rows.get(unit, j) / n as f64;
                }
            }
        }
    }
}
