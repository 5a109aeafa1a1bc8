//! One sweep of a Gaussian mixture: (M4) from the statistics, then the E-step (M3).

use super::kernel::Densities;
use super::own_prior::{Made, OwnPrior};
use super::pooling::{Pool, Scaled, half_trigammas};
use super::prior::{Covariances, ResolvedPrior};
use super::pullback::{Component, GmmPullback, Printed};
use super::rows::Rows;
use super::spread::{ScaleOf, Spread};
use super::steps::Steps;
use super::{Gmm, scale_both_sides};
use crate::linalg::square::full;
use crate::linalg::{
    LONG, add_rows, cholesky, gram, invert_lower, invert_spd, packed_index, packed_len,
};
use crate::model::kernel::Scratch;
use crate::model::{Degenerate, Pullback};
use crate::posterior::{NormalWishartKl, Posterior};
use crate::special::gamma::{Batch, trigamma};
use serde::{Deserialize, Serialize};
use std::f64::consts::{LN_2, TAU};
use std::rc::Rc;

/// Which rank-one coefficient `W_k^-1` gets in (M4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Update {
    /// `β0·ωN/(β0 + ωN)`, the maximiser of the bound.
    #[default]
    Corrected,
    /// `β0·N/(β0 + N)`, as the paper prints it: not the maximiser for ω < 1.
    AsPrinted,
}

/// `q(θ)` of all components, in scaled units.
#[derive(Debug, Default)]
struct Components {
    alpha: Vec<f64>,
    beta: Vec<f64>,
    nu: Vec<f64>,
    /// `m_k`, component after component.
    mean: Vec<f64>,
    /// Triangles of `W_k^-1`.
    w_inverse: Vec<f64>,
}

/// Working memory of a Gaussian mixture's fits.
pub(super) struct GmmSweeper<'a> {
    model: &'a Gmm,
    /// The rows with positive weight; empty while all rows have weight 1.
    compacted: Rows,
    use_all: bool,
    total_weight: f64,
    /// `Σ w log Σρ` of the last E-step.
    ln_evidence: f64,
    prior: Option<Rc<ResolvedPrior>>,
    /// What is learned of a scale that components share, if they do.
    pool: Option<Pool>,
    /// What the next state holds of it: triangles of `E[Λ_k]`, and the ties' probabilities.
    precisions: Vec<f64>,
    ties: Vec<f64>,
    /// Statistics without gaps, where states have more than these.
    sums: Vec<f64>,
    components: Components,
    densities: Densities,
    factor: Vec<f64>,
    inverse_factor: Vec<f64>,
    /// A row of a product of triangles.
    products: Vec<f64>,
    /// Of `α_1 … α_K`, `Σα`, then `(ν_k+1−j)/2` for `j = 1 … p` of each component.
    gammas: Batch,
    scratch: Scratch,
}

impl<'a> GmmSweeper<'a> {
    pub(super) fn new(model: &'a Gmm) -> GmmSweeper<'a> {
        let (k, p) = (model.n_components, model.p());
        let triangle = packed_len(p);
        GmmSweeper {
            model,
            compacted: Rows::default(),
            use_all: true,
            total_weight: 0.0,
            ln_evidence: 0.0,
            prior: None,
            pool: model.prior.is_pooled().then(|| Pool::new(p, k, model.prior.n_ties(p))),
            precisions: vec![0.0; k * triangle],
            ties: vec![0.0; k * (model.prior.n_ties(p) - 1)],
            sums: vec![0.0; k * model.statistics_len()],
            components: Components {
                alpha: vec![0.0; k],
                beta: vec![0.0; k],
                nu: vec![0.0; k],
                mean: vec![0.0; k * p],
                w_inverse: vec![0.0; k * triangle],
            },
            densities: Densities { p, numbers: vec![0.0; k * Densities::stride(p)] },
            factor: vec![0.0; triangle],
            inverse_factor: vec![0.0; triangle],
            products: vec![0.0; p],
            gammas: Batch::default(),
            scratch: Scratch::default(),
        }
    }

    /// The statistics of all rows at a given `q(θ)`.
    pub(super) fn statistics_under(
        &mut self,
        posterior: &Posterior,
    ) -> Result<Vec<f64>, Degenerate> {
        self.take(posterior)?;
        let mut stats = vec![0.0; self.sums.len()];
        let chosen = (!self.use_all).then_some(&self.compacted);
        self.model.rows.e_step(chosen, &self.densities, &mut stats, &mut self.scratch)?;
        Ok(stats)
    }
}

impl Steps for GmmSweeper<'_> {
    type Prior = ResolvedPrior;

    fn take_weights(&mut self, weights: Option<&[f64]>) -> Result<(), Degenerate> {
        self.use_all = weights.is_none_or(|w| w.iter().all(|&w| w == 1.0));
        if let Some(weights) = weights.filter(|_| !self.use_all) {
            let far = || Degenerate::Rows("only rows that are in memory have weights".to_owned());
            self.compacted.compact(self.model.rows.held().ok_or_else(far)?, weights);
        }
        let chosen = (!self.use_all).then_some(&self.compacted);
        let moments = self.model.rows.moments(chosen)?;
        self.total_weight = moments[0];
        self.prior = None;
        let prior = self.resolve(&moments)?;
        self.prior = Some(Rc::new(prior));
        Ok(())
    }

    fn prior(&self) -> Option<&Rc<ResolvedPrior>> {
        self.prior.as_ref()
    }

    fn resolve(&self, moments: &[f64]) -> Result<ResolvedPrior, Degenerate> {
        let model = self.model;
        model.prior.resolve(model.n_components, moments, &model.centre, &model.scale)
    }

    fn own_prior(&self, state: &[f64]) -> Result<ResolvedPrior, Degenerate> {
        let mut prior = self.resolve(&self.totals(state))?;
        if let Covariances::Pooled(pooling) = &mut prior.covariances {
            pooling.straight();
        }
        Ok(prior)
    }

    fn sizes(&self) -> (usize, usize) {
        (self.model.statistics_len(), self.model.stride())
    }

    fn jacobian(&self) -> (f64, f64) {
        (self.total_weight, self.model.ln_scale)
    }

    /// (M4): `q(θ)` from the statistics in `state`.
    ///
    /// With `M1 = Σwrx` and `M2 = Σwrxxᵀ`, `W_k^-1 = W0^-1 + β0m0m0ᵀ + ωM2 − β_k m_k m_kᵀ` is (M4)
    /// without a division by `N_k`, so that an emptied component simply becomes the prior. Where the prior's scale is
    /// learned, `base` lacks `W0^-1`, and what comes out is the scatter from which it is.
    fn update(
        &mut self,
        prior: &ResolvedPrior,
        omega: f64,
        state: &[f64],
    ) -> Result<(), Degenerate> {
        let (p, triangle) = (self.model.p(), packed_len(self.model.p()));
        for (k, s) in state.chunks_exact(self.model.stride()).enumerate() {
            let count = s[0];
            if count.is_nan() || count < 0.0 {
                return Err(Degenerate::NegativeCount { component: k + 1 });
            }
            let (first, second) = s[1..self.model.statistics_len()].split_at(p);
            let c = &mut self.components;
            c.alpha[k] = prior.weights.alpha0() + omega * count;
            c.beta[k] = prior.beta0 + omega * count;
            c.nu[k] = omega * count;
            if let Covariances::Fixed(fixed) = &prior.covariances {
                c.nu[k] += fixed.nu0;
            }
            let mean = &mut c.mean[k * p..(k + 1) * p];
            for j in 0..p {
                mean[j] = (prior.beta0 * prior.m0[j] + omega * first[j]) / c.beta[k];
            }
            let w_inverse = &mut c.w_inverse[k * triangle..(k + 1) * triangle];
            let mut at = 0;
            for i in 0..p {
                for j in 0..=i {
                    w_inverse[at] =
                        prior.base[at] + omega * second[at] - c.beta[k] * mean[i] * mean[j];
                    at += 1;
                }
            }
            if self.model.update == Update::AsPrinted && count > 0.0 {
                let beta0 = prior.beta0;
                let extra = beta0 * count / (beta0 + count)
                    - beta0 * omega * count / (beta0 + omega * count);
                for i in 0..p {
                    let shift_i = first[i] / count - prior.m0[i];
                    for j in 0..=i {
                        let shift_j = first[j] / count - prior.m0[j];
                        w_inverse[packed_index(i, j)] += extra * shift_i * shift_j;
                    }
                }
            }
        }
        if let (Covariances::Pooled(pooling), Some(pool)) = (&prior.covariances, &mut self.pool) {
            let statistics = self.model.statistics_len();
            let extras = state.chunks_exact(self.model.stride()).map(|s| &s[statistics..]);
            let c = &mut self.components;
            pool.learn(pooling, extras, &mut c.w_inverse, &mut c.nu).map_err(|_| {
                Degenerate::NotPositiveDefinite { what: "prior of the covariance", component: 1 }
            })?;
        }
        Ok(())
    }

    /// `q(θ)` with the prior's spread around given centres (in the data's units).
    fn place(&mut self, prior: &ResolvedPrior, centres: &[f64]) {
        let (p, triangle) = (self.model.p(), packed_len(self.model.p()));
        let c = &mut self.components;
        c.alpha.fill(prior.weights.alpha0());
        c.beta.fill(prior.beta0);
        let (spread, nu0) = match &prior.covariances {
            Covariances::Pooled(pooling) => pooling.unseen(),
            Covariances::Fixed(fixed) => {
                let mut spread = prior.base.clone();
                for i in 0..p {
                    for j in 0..=i {
                        spread[packed_index(i, j)] -= prior.beta0 * prior.m0[i] * prior.m0[j];
                    }
                }
                (spread, fixed.nu0)
            }
        };
        c.nu.fill(nu0);
        for k in 0..self.model.n_components {
            for j in 0..p {
                let x = centres[k * p + j];
                c.mean[k * p + j] = (x - self.model.centre[j]) / self.model.scale[j];
            }
            c.w_inverse[k * triangle..(k + 1) * triangle].copy_from_slice(&spread);
        }
    }

    /// A whole `q(θ)`, ready for an E-step.
    fn take(&mut self, posterior: &Posterior) -> Result<(), Degenerate> {
        let prior = self.loaded()?;
        let model = self.model;
        let (p, triangle) = (model.p(), packed_len(model.p()));
        let inverse_scale: Vec<f64> = model.scale.iter().map(|s| 1.0 / s).collect();
        let alpha = posterior.dirichlet("pi").map_or(&[][..], |d| d.alpha());
        let c = &mut self.components;
        for k in 0..model.n_components {
            let (Some(block), Some(alpha)) =
                (posterior.normal_wishart("mu_lambda", k), alpha.get(k))
            else {
                return Err(Degenerate::NotFinite);
            };
            c.alpha[k] = *alpha;
            c.beta[k] = block.beta;
            c.nu[k] = block.nu;
            for j in 0..p {
                c.mean[k * p + j] = (block.mean()[j] - model.centre[j]) / model.scale[j];
            }
            let w_inverse = &mut c.w_inverse[k * triangle..(k + 1) * triangle];
            scale_both_sides(block.w_inverse(), &inverse_scale, w_inverse);
        }
        self.prepare(&prior)?;
        Ok(())
    }

    /// What the E-step needs of `q(θ)`, and `KL(q(θ) ‖ p(θ))`.
    fn prepare(&mut self, prior: &ResolvedPrior) -> Result<f64, Degenerate> {
        let (p, triangle) = (self.model.p(), packed_len(self.model.p()));
        let stride = Densities::stride(p);
        let c = &self.components;
        let n_components = self.model.n_components;
        let halves = c.nu.iter().flat_map(|nu| (0..p).map(move |j| 0.5 * (nu - j as f64)));
        let total: f64 = c.alpha.iter().sum();
        self.gammas.evaluate(c.alpha.iter().copied().chain([total]).chain(halves));
        let gammas = &self.gammas;
        let values = |i: usize| (gammas.digamma(i), gammas.ln_gamma(i));
        let psi_total = gammas.digamma(n_components);
        let alphas = c.alpha.iter().enumerate().map(|(k, &a)| (a, values(k)));
        let mut kl = prior.weights.kl_from(alphas, values(n_components));
        let spread = Spread::of(&prior.covariances, self.pool.as_ref())?;
        kl += spread.kl;
        for k in 0..n_components {
            let ScaleOf { nu0, t, ln_det: ln_det_prior, ln_gammas: ln_gammas_prior } =
                spread.of_component(k);
            self.factor.copy_from_slice(&c.w_inverse[k * triangle..(k + 1) * triangle]);
            cholesky(p, &mut self.factor).map_err(|_| Degenerate::NotPositiveDefinite {
                what: "scatter matrix",
                component: k + 1,
            })?;
            invert_lower(p, &self.factor, &mut self.inverse_factor);
            let mean = &c.mean[k * p..(k + 1) * p];
            let ln_det = crate::linalg::ln_det_from_cholesky(p, &self.factor);
            let first = n_components + 1 + k * p;
            let digammas: f64 = (first..first + p).map(|i| gammas.digamma(i)).sum();
            let ln_gammas: f64 = (first..first + p).map(|i| gammas.ln_gamma(i)).sum();
            let numbers = &mut self.densities.numbers[k * stride..(k + 1) * stride];
            let p_f = p as f64;
            let mean_ln_det = digammas + p_f * LN_2 - ln_det;
            numbers[0] = gammas.digamma(k) - psi_total
                + 0.5 * (mean_ln_det - p_f / c.beta[k] - p_f * TAU.ln());
            let root_nu = c.nu[k].sqrt();
            let (mut trace, mut shift) = (0.0, 0.0);
            for i in 0..p {
                let row = packed_index(i, 0);
                let a = &self.inverse_factor[row..=row + i];
                let mut b = 0.0;
                let mut to_prior = 0.0;
                // tr(W0^-1 W) = ‖A L0‖² with W = AᵀA and W0^-1 = L0 L0ᵀ.
                let products = (p >= LONG).then(|| {
                    add_rows(a, spread.factor, &mut self.products[..=i]);
                    &self.products[..=i]
                });
                for j in 0..=i {
                    b += a[j] * mean[j];
                    to_prior += a[j] * (mean[j] - prior.m0[j]);
                    numbers[1 + p + row + j] = root_nu * a[j];
                    let product = products.map_or_else(
                        || (j..=i).map(|l| a[l] * spread.factor[packed_index(l, j)]).sum(),
                        |products| products[j],
                    );
                    trace += product * product;
                }
                numbers[1 + i] = root_nu * b;
                shift += to_prior * to_prior;
            }
            kl += NormalWishartKl {
                p,
                beta: c.beta[k],
                nu: c.nu[k],
                beta0: prior.beta0,
                nu0,
                ln_det_ratio: ln_det_prior - ln_det,
                trace: t * trace,
                shift,
                digammas,
                ln_multigamma_ratio: ln_gammas - ln_gammas_prior,
            }
            .kl();
            if let (Covariances::Pooled(pooling), Some(pool)) = (&prior.covariances, &self.pool) {
                let precision = &mut self.precisions[k * triangle..(k + 1) * triangle];
                gram(p, &self.inverse_factor, precision);
                precision.iter_mut().for_each(|x| *x *= c.nu[k]);
                let others = self.ties.len() / n_components;
                let own = &mut self.ties[k * others..(k + 1) * others];
                pool.tie(pooling, mean_ln_det, c.nu[k] * trace, own);
            }
        }
        Ok(kl)
    }

    /// Lets every component be tied as the prior has it: at a start nothing else is known.
    fn forget_ties(&mut self, prior: &ResolvedPrior) {
        if let Covariances::Pooled(pooling) = &prior.covariances {
            let others = self.model.prior.n_ties(self.model.p()) - 1;
            self.ties.chunks_exact_mut(others.max(1)).for_each(|own| pooling.forget(own));
        }
    }

    /// The E-step at the `q(θ)` that is prepared, into a state; returns `Σ w log Σρ`.
    fn e_step(&mut self, state: &mut [f64]) -> Result<f64, Degenerate> {
        let (rows, chosen) = (&self.model.rows, (!self.use_all).then_some(&self.compacted));
        if self.pool.is_none() {
            self.ln_evidence = rows.e_step(chosen, &self.densities, state, &mut self.scratch)?;
            return Ok(self.ln_evidence);
        }
        let sums = &mut self.sums;
        self.ln_evidence = rows.e_step(chosen, &self.densities, sums, &mut self.scratch)?;
        let (statistics, triangle) = (self.model.statistics_len(), packed_len(self.model.p()));
        for (k, next) in state.chunks_exact_mut(self.model.stride()).enumerate() {
            let (sums, extra) = next.split_at_mut(statistics);
            sums.copy_from_slice(&self.sums[k * statistics..(k + 1) * statistics]);
            let precision = &self.precisions[k * triangle..(k + 1) * triangle];
            extra[..triangle].copy_from_slice(precision);
            let others = extra.len() - triangle;
            extra[triangle..].copy_from_slice(&self.ties[k * others..(k + 1) * others]);
        }
        Ok(self.ln_evidence)
    }

    fn posterior_of(
        &mut self,
        prior: &ResolvedPrior,
        omega: f64,
        state: &[f64],
    ) -> Result<Posterior, Degenerate> {
        self.update(prior, omega, state)?;
        let model = self.model;
        let (p, triangle) = (model.p(), packed_len(model.p()));
        let c = &self.components;
        let mut parameters = c.alpha.clone();
        let mut w_inverse = vec![0.0; triangle];
        for k in 0..model.n_components {
            parameters.push(c.beta[k]);
            parameters.push(c.nu[k]);
            parameters.extend((0..p).map(|j| model.centre[j] + model.scale[j] * c.mean[k * p + j]));
            scale_both_sides(
                &c.w_inverse[k * triangle..(k + 1) * triangle],
                &model.scale,
                &mut w_inverse,
            );
            parameters.extend_from_slice(&w_inverse);
        }
        Ok(Posterior::new(model.layout.clone(), parameters))
    }

    /// Responsibilities of all rows at the `q(θ)` that is prepared.
    fn responsibilities_now(&self) -> Result<Vec<f64>, Degenerate> {
        let far = || Degenerate::Rows("each row's share is known of rows in memory".to_owned());
        let (k, rows) = (self.model.n_components, self.model.rows.held().ok_or_else(far)?);
        let mut all = vec![0.0; rows.len() * k];
        for (n, r) in all.chunks_exact_mut(k).enumerate() {
            for c in 0..k {
                r[c] = self.densities.ln_density(c, |j| rows.get(n, j));
            }
            crate::model::softmax(r);
        }
        Ok(all)
    }

    /// `N_k + 1/ω`: the weight of component k with the prior's, so a change relative to it is a
    /// relative change of the natural parameters. Rows are scaled, so it serves all moments.
    fn scales_of(&self, omega: f64, state: &[f64], scale: &mut [f64]) {
        let (stride, statistics) = (self.model.stride(), self.model.statistics_len());
        for (s, out) in state.chunks_exact(stride).zip(scale.chunks_exact_mut(stride)) {
            let (out, extra) = out.split_at_mut(statistics);
            out.fill(s[0] + 1.0 / omega);
            // A precision relative to its own size, a probability to 1.
            let precision = &s[statistics..];
            let p = if extra.is_empty() { 0 } else { self.model.p() };
            for i in 0..p {
                for j in 0..=i {
                    let size = precision[packed_index(i, i)] * precision[packed_index(j, j)];
                    extra[packed_index(i, j)] = size.abs().sqrt();
                }
            }
            extra.iter_mut().skip(packed_len(p)).for_each(|tie| *tie = 1.0);
        }
    }

    fn contribution_of(&self, unit: usize, responsibilities: &[f64], out: &mut [f64]) {
        let Some(rows) = self.model.rows.held() else { return out.fill(f64::NAN) };
        let p = self.model.p();
        for (r, out) in responsibilities.iter().zip(out.chunks_exact_mut(self.model.stride())) {
            out[self.model.statistics_len()..].fill(0.0);
            out[0] = *r;
            for i in 0..p {
                let x = r * rows.get(unit, i);
                out[1 + i] = x;
                for j in 0..=i {
                    out[1 + p + packed_index(i, j)] = x * rows.get(unit, j);
                }
            }
        }
    }

    fn pullback_of(&mut self, omega: f64, state: &[f64]) -> Result<Box<dyn Pullback>, Degenerate> {
        let (model, p) = (self.model, self.model.p());
        let (statistics, stride) = (model.statistics_len(), model.stride());
        let totals = self.totals(state);
        let prior = self.resolve(&totals)?;
        self.update(&prior, omega, state)?;
        self.prepare(&prior)?;
        let states = || state.chunks_exact(stride);
        let (pool, made) = match (&prior.covariances, &self.pool) {
            (Covariances::Pooled(pooling), Some(pool)) => {
                let extras = states().map(|s| &s[statistics..]);
                let made = Made::InverseOfMultiple(pooling.share(model.n_components));
                (Some(Scaled::new(pooling, pool, extras, &self.ties)), made)
            }
            _ => (None, model.prior.made(&model.scale)),
        };
        let c = &self.components;
        let component = |(k, s): (usize, &[f64])| {
            let triangle = packed_len(p);
            let w_inverse = &c.w_inverse[k * triangle..(k + 1) * triangle];
            let (w, _) = invert_spd(p, w_inverse).map_err(|_| Degenerate::NotFinite)?;
            let printed = model.update == Update::AsPrinted && s[0] > 0.0;
            Ok(Component {
                trigamma: trigamma(c.alpha[k]),
                beta: c.beta[k],
                nu: c.nu[k],
                trigammas: half_trigammas(p, c.nu[k]),
                mean: c.mean[k * p..(k + 1) * p].to_vec(),
                w: full(p, &w),
                printed: printed.then(|| Printed::new(&prior, omega, s)),
            })
        };
        Ok(Box::new(GmmPullback {
            p,
            omega,
            stride,
            beta0: prior.beta0,
            m0: prior.m0.clone(),
            scale: model.scale.clone(),
            densities: self.densities.numbers.clone(),
            components: states().enumerate().map(component).collect::<Result<_, Degenerate>>()?,
            trigamma_total: trigamma(c.alpha.iter().sum()),
            pool,
            own: OwnPrior::new(&model.prior, &totals, p, made)?,
        }))
    }

    fn staggered(
        &mut self,
        omega: f64,
        state: &[f64],
        next: &mut [f64],
    ) -> Result<f64, Degenerate> {
        let prior = self.loaded()?;
        // The entropy of the responsibilities behind `state`, which the last E-step made.
        let entropy = self.ln_evidence - self.densities.expected_ln_density(state);
        self.update(&prior, omega, state)?;
        let kl = self.prepare(&prior)?;
        let expected = self.densities.expected_ln_density(state) + entropy;
        self.e_step(next)?;
        self.bound(omega, expected, kl)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::fit::{FitOptions, Start, fit};
    use crate::model::{GmmPrior, Model, Sweeper};

    /// (M2) at whatever `q(θ)` the components hold.
    fn bound(sweeper: &mut GmmSweeper<'_>, omega: f64) -> f64 {
        let prior = sweeper.loaded().unwrap();
        let kl = sweeper.prepare(&prior).unwrap();
        let mut stats = vec![0.0; sweeper.model.state_len()];
        omega * sweeper.e_step(&mut stats).unwrap() - kl
    }

    #[test]
    fn the_fixed_point_is_a_stationary_point_of_the_bound() {
        let data = Dataset::faithful();
        for (prior, omega) in
            [(GmmPrior::default(), 1.0), (GmmPrior::default(), 0.1), (GmmPrior::paper(), 0.3)]
        {
            let model = Gmm::new(&data, 2, prior, Update::Corrected).unwrap();
            let start = Start::KMeans { restarts: 3, seed: 1 };
            let options = FitOptions::default();
            let found = fit(&model, None, omega, &start, &options, &mut |_| ()).unwrap();
            let mut sweeper = GmmSweeper::new(&model);
            sweeper.load(None).unwrap();
            let prior = sweeper.loaded().unwrap();
            sweeper.update(&prior, omega, &found.state).unwrap();
            let best = bound(&mut sweeper, omega);
            let fields: [fn(&mut Components) -> &mut Vec<f64>; 5] = [
                |c| &mut c.alpha,
                |c| &mut c.beta,
                |c| &mut c.nu,
                |c| &mut c.mean,
                |c| &mut c.w_inverse,
            ];
            for (number, field) in fields.into_iter().enumerate() {
                for i in 0..field(&mut sweeper.components).len() {
                    let centre = field(&mut sweeper.components)[i];
                    // Symmetric steps: the slope is the odd part, the curvature the even one.
                    let step = 1e-3 * centre.abs().max(1e-2);
                    field(&mut sweeper.components)[i] = centre + step;
                    let up = bound(&mut sweeper, omega) - best;
                    field(&mut sweeper.components)[i] = centre - step;
                    let down = bound(&mut sweeper, omega) - best;
                    field(&mut sweeper.components)[i] = centre;
                    assert!(up < 1e-9 && down < 1e-9, "field {number}, entry {i}: {up} {down}");
                    assert!(
                        (up - down).abs() < 0.02 * (up + down).abs() + 1e-8,
                        "field {number}, entry {i}: slope {} against curvature {}",
                        up - down,
                        up + down
                    );
                }
            }
        }
    }
}
