//! One sweep of a mixture of columns: the conjugate updates from the sums of features, then the E-step.

use super::Mixture;
use super::features::FeatureKind;
use super::prior::ColumnPrior;
use crate::model::kernel::Scratch;
use crate::model::linear::{self, Members};
use crate::model::pullback::Differences;
use crate::model::{Degenerate, Pullback, Sweeper};
use crate::posterior::{Gamma, NormalWishartKl, Posterior, SymmetricDirichlet};
use crate::special::gamma::{Batch, ln_gamma};
use std::f64::consts::{LN_2, TAU};

/// Working memory of the fits of a mixture of columns.
pub(super) struct MixtureSweeper<'a> {
    model: &'a Mixture,
    members: Members,
    /// `Σ w` of what densities have in common for all components.
    constant: f64,
    /// The prior of each column for the units that are loaded.
    prior: Vec<ColumnPrior>,
    weights_prior: SymmetricDirichlet,
    /// `α_k`.
    alpha: Vec<f64>,
    /// `q(θ)` of the columns, component after component: `β, ν, m, W^-1` of a Gaussian, the `α_l` of a category, `a, b` of
    /// a count.
    theta: Vec<f64>,
    /// Numbers of `theta` per component.
    width: usize,
    densities: Vec<f64>,
    gammas: Batch,
    scratch: Scratch,
}

/// Numbers of `theta` that a column has.
fn width(kind: FeatureKind) -> usize {
    match kind {
        FeatureKind::Gaussian { .. } => 4,
        FeatureKind::Category { levels } => levels,
        FeatureKind::Count => 2,
    }
}

impl<'a> MixtureSweeper<'a> {
    pub(super) fn new(model: &'a Mixture) -> MixtureSweeper<'a> {
        let k = model.n_components;
        let width = model.features.columns().iter().map(|c| width(c.kind)).sum();
        MixtureSweeper {
            model,
            members: Members::default(),
            constant: 0.0,
            prior: Vec::new(),
            weights_prior: SymmetricDirichlet::new(k, model.prior.alpha0()),
            alpha: vec![0.0; k],
            theta: vec![0.0; k * width],
            width,
            densities: vec![0.0; k * model.stride()],
            gammas: Batch::default(),
            scratch: Scratch::default(),
        }
    }

    /// `N` and the sums of features over all components: what a prior that depends on data is computed from.
    fn totals(&self, state: &[f64]) -> Vec<f64> {
        let stride = self.model.stride();
        let mut totals = vec![0.0; stride];
        for component in state.chunks_exact(stride) {
            totals.iter_mut().zip(component).for_each(|(total, x)| *total += x);
        }
        totals
    }

    fn resolve(&self, totals: &[f64]) -> Result<Vec<ColumnPrior>, Degenerate> {
        self.model.prior.resolve(&self.model.features, self.model.n_components, totals)
    }

    /// `q(θ)` from the state, each block the maximiser of (M1).
    fn update(
        &mut self,
        omega: f64,
        state: &[f64],
        prior: &[ColumnPrior],
    ) -> Result<(), Degenerate> {
        let alpha0 = self.weights_prior.alpha0();
        let components = self.theta.chunks_exact_mut(self.width).zip(&mut self.alpha);
        for (k, (s, (theta, alpha))) in
            state.chunks_exact(self.model.stride()).zip(components).enumerate()
        {
            let negative = || Degenerate::NegativeCount { component: k + 1 };
            if s[0].is_nan() || s[0] < 0.0 {
                return Err(negative());
            }
            *alpha = alpha0 + omega * s[0];
            let mut at = 0;
            for (column, prior) in self.model.features.columns().iter().zip(prior) {
                let sums = &s[1 + column.first..];
                let own = &mut theta[at..at + width(column.kind)];
                at += own.len();
                let n = omega * column.observed(s);
                match *prior {
                    ColumnPrior::Gaussian { mean, beta, nu, w_inverse } => {
                        own[0] = beta + n;
                        own[1] = nu + n;
                        own[2] = (beta * mean + omega * sums[0]) / own[0];
                        own[3] = w_inverse + omega * sums[1] + beta * mean * mean
                            - own[0] * own[2] * own[2];
                        if !(n >= 0.0 && own[3] > 0.0) {
                            return Err(Degenerate::NotPositiveDefinite {
                                what: "scatter",
                                component: k + 1,
                            });
                        }
                    }
                    ColumnPrior::Category { alpha } => {
                        for (own, count) in own.iter_mut().zip(sums) {
                            *own = alpha + omega * count;
                            if own.is_nan() || *own <= 0.0 {
                                return Err(negative());
                            }
                        }
                    }
                    ColumnPrior::Count { a, b } => {
                        (own[0], own[1]) = (a + omega * sums[0], b + n);
                        if !(own[0] > 0.0 && own[1] > 0.0) {
                            return Err(negative());
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The arguments of the gamma functions that `q(θ)` needs, in the order in which [`Self::prepare`] takes them.
    fn evaluate_gammas(&mut self) {
        let total: f64 = self.alpha.iter().sum();
        let columns = self.model.features.columns();
        let of_component = |theta: &[f64]| {
            let mut at = 0;
            let mut arguments = Vec::with_capacity(theta.len() + columns.len());
            for column in columns {
                let own = &theta[at..at + width(column.kind)];
                at += own.len();
                match column.kind {
                    FeatureKind::Gaussian { .. } => arguments.push(0.5 * own[1]),
                    FeatureKind::Category { .. } => {
                        arguments.extend_from_slice(own);
                        arguments.push(own.iter().sum());
                    }
                    FeatureKind::Count => arguments.push(own[0]),
                }
            }
            arguments
        };
        let of_columns = self.theta.chunks_exact(self.width).flat_map(of_component);
        self.gammas.evaluate(self.alpha.iter().copied().chain([total]).chain(of_columns));
    }

    /// What the E-step needs of `q(θ)`, and `KL(q(θ) ‖ p(θ))`.
    fn prepare(&mut self, prior: &[ColumnPrior]) -> f64 {
        self.evaluate_gammas();
        let k = self.alpha.len();
        let values = |i: usize| (self.gammas.digamma(i), self.gammas.ln_gamma(i));
        let alphas = self.alpha.iter().enumerate().map(|(i, a)| (*a, values(i)));
        let mut kl = self.weights_prior.kl_from(alphas, values(k));
        let psi_total = self.gammas.digamma(k);
        let mut next = k + 1;
        let components = self.theta.chunks_exact(self.width).enumerate();
        for ((k, theta), numbers) in
            components.zip(self.densities.chunks_exact_mut(self.model.stride()))
        {
            numbers.fill(0.0);
            numbers[0] = self.gammas.digamma(k) - psi_total;
            let mut at = 0;
            for (column, prior) in self.model.features.columns().iter().zip(prior) {
                let own = &theta[at..at + width(column.kind)];
                at += own.len();
                // A density's constant counts where a cell is there.
                let there = column.there.map_or(0, |there| 1 + there);
                let first = 1 + column.first;
                match *prior {
                    ColumnPrior::Gaussian { mean, beta, nu, w_inverse } => {
                        let (psi, ln_gamma_nu) = values(next);
                        next += 1;
                        let [b, v, m, w] = [own[0], own[1], own[2], own[3]];
                        let precision = v / w;
                        numbers[there] +=
                            0.5 * (psi + LN_2 - w.ln() - 1.0 / b - TAU.ln() - precision * m * m);
                        numbers[first] = precision * m;
                        numbers[first + 1] = -0.5 * precision;
                        kl += NormalWishartKl {
                            p: 1,
                            beta: b,
                            nu: v,
                            beta0: beta,
                            nu0: nu,
                            ln_det_ratio: w_inverse.ln() - w.ln(),
                            trace: w_inverse / w,
                            shift: (m - mean) * (m - mean) / w,
                            digammas: psi,
                            ln_multigamma_ratio: ln_gamma_nu - ln_gamma(0.5 * nu),
                        }
                        .kl();
                    }
                    ColumnPrior::Category { alpha } => {
                        let of_levels = next;
                        next += own.len() + 1;
                        let total = values(next - 1);
                        for l in 0..own.len() {
                            numbers[first + l] = self.gammas.digamma(of_levels + l) - total.0;
                        }
                        let levels =
                            own.iter().enumerate().map(|(l, a)| (*a, values(of_levels + l)));
                        kl += SymmetricDirichlet::new(own.len(), alpha).kl_from(levels, total);
                    }
                    ColumnPrior::Count { a, b } => {
                        let (psi, ln_gamma_a) = values(next);
                        next += 1;
                        let rate = Gamma::new(own[0], own[1]);
                        numbers[there] -= rate.mean();
                        numbers[first] = psi - rate.b.ln();
                        kl += rate.kl_from(&Gamma::new(a, b), (psi, ln_gamma_a), ln_gamma(a));
                    }
                }
            }
        }
        kl
    }

    fn e_step(&mut self, next: &mut [f64]) -> f64 {
        let features = &self.model.features;
        linear::e_step(
            features.length(),
            self.members.blocks(&features.blocks),
            self.members.weights(),
            &self.densities,
            next,
            &mut self.scratch,
        )
    }

    fn swept(
        &mut self,
        omega: f64,
        state: &[f64],
        next: &mut [f64],
        prior: &[ColumnPrior],
    ) -> Result<f64, Degenerate> {
        self.update(omega, state, prior)?;
        let kl = self.prepare(prior);
        let bound = omega * (self.e_step(next) + self.constant) - kl;
        if bound.is_finite() { Ok(bound) } else { Err(Degenerate::NotFinite) }
    }

    /// `q(θ)` in the data's units, in the layout's order.
    fn to_posterior(&self) -> Posterior {
        let mut parameters = self.alpha.clone();
        let mut at = 0;
        for column in self.model.features.columns() {
            let size = width(column.kind);
            for theta in self.theta.chunks_exact(self.width) {
                let own = &theta[at..at + size];
                match column.kind {
                    FeatureKind::Gaussian { centre, scale } => parameters.extend([
                        own[0],
                        own[1],
                        centre + scale * own[2],
                        scale * scale * own[3],
                    ]),
                    FeatureKind::Category { .. } | FeatureKind::Count => {
                        parameters.extend_from_slice(own);
                    }
                }
            }
            at += size;
        }
        Posterior::new(self.model.layout.clone(), parameters)
    }

    /// A whole `q(θ)`, ready for an E-step.
    fn take(&mut self, posterior: &Posterior) -> Result<(), Degenerate> {
        let parameters = posterior.parameters();
        if parameters.len() != self.alpha.len() + self.theta.len() {
            return Err(Degenerate::NotFinite);
        }
        let (alpha, mut rest) = parameters.split_at(self.alpha.len());
        self.alpha.copy_from_slice(alpha);
        let mut at = 0;
        for column in self.model.features.columns() {
            let size = width(column.kind);
            for theta in self.theta.chunks_exact_mut(self.width) {
                let (own, more) = rest.split_at(size);
                rest = more;
                let to = &mut theta[at..at + size];
                to.copy_from_slice(own);
                if let FeatureKind::Gaussian { centre, scale } = column.kind {
                    to[2] = (own[2] - centre) / scale;
                    to[3] = own[3] / (scale * scale);
                }
            }
            at += size;
        }
        let prior = self.prior.clone();
        self.prepare(&prior);
        Ok(())
    }

    fn responsibilities_now(&self) -> Vec<f64> {
        let features = &self.model.features;
        let get = |unit: usize, f: usize| features.get(unit, f);
        linear::responsibilities(features.len(), features.length(), &self.densities, get)
    }
}

/// Units' worth of data that a start's centres are taken for.
const START: f64 = 20.0;

impl Sweeper for MixtureSweeper<'_> {
    fn load(&mut self, weights: Option<&[f64]>) -> Result<(), Degenerate> {
        let features = &self.model.features;
        let get = |unit: usize, f: usize| features.get(unit, f);
        self.members.load(features.len(), features.length(), weights, get);
        let mut totals = vec![0.0; self.model.stride()];
        self.constant = 0.0;
        for (unit, weight) in self.members.units() {
            totals[0] += weight;
            for (f, total) in totals[1..].iter_mut().enumerate() {
                *total += weight * features.get(unit, f);
            }
            self.constant += weight * features.constants[unit];
        }
        if totals[0].is_nan() || totals[0] <= 0.0 {
            return Err(Degenerate::Prior("no unit has positive weight".to_owned()));
        }
        self.prior = self.resolve(&totals)?;
        Ok(())
    }

    /// All components start with the same spread, so that only the distance to the centres counts.
    fn start(&mut self, _omega: f64, centres: &[f64], state: &mut [f64]) -> Result<(), Degenerate> {
        let features = &self.model.features;
        self.alpha.fill(self.weights_prior.alpha0());
        let prior = self.prior.clone();
        let components = self.theta.chunks_exact_mut(self.width);
        for (theta, centre) in components.zip(centres.chunks_exact(features.centre_len())) {
            let mut at = 0;
            for (column, prior) in features.columns().iter().zip(&prior) {
                let own = &mut theta[at..at + width(column.kind)];
                at += own.len();
                let given = &centre[column.centre_at..];
                match (column.kind, *prior) {
                    (
                        FeatureKind::Gaussian { centre, scale },
                        ColumnPrior::Gaussian { w_inverse, .. },
                    ) => {
                        (own[0], own[1]) = (START, START);
                        own[2] = (given[0] - centre) / scale;
                        own[3] = START * w_inverse;
                    }
                    (_, ColumnPrior::Category { alpha }) => {
                        for (own, p) in own.iter_mut().zip(given) {
                            *own = alpha + START * p.max(0.0);
                        }
                    }
                    (_, ColumnPrior::Count { a, b }) => {
                        (own[0], own[1]) = (a + START * given[0].max(0.0), b + START);
                    }
                    (_, ColumnPrior::Gaussian { .. }) => return Err(Degenerate::NotFinite),
                }
            }
        }
        self.prepare(&prior);
        self.e_step(state);
        Ok(())
    }

    fn start_from(&mut self, posterior: &Posterior, state: &mut [f64]) -> Result<(), Degenerate> {
        self.take(posterior)?;
        self.e_step(state);
        Ok(())
    }

    fn sweep(&mut self, omega: f64, state: &[f64], next: &mut [f64]) -> Result<f64, Degenerate> {
        let prior = std::mem::take(&mut self.prior);
        let bound = self.swept(omega, state, next, &prior);
        self.prior = prior;
        bound
    }

    fn sweep_with_own_prior(
        &mut self,
        omega: f64,
        state: &[f64],
        next: &mut [f64],
    ) -> Result<f64, Degenerate> {
        let prior = self.resolve(&self.totals(state))?;
        self.swept(omega, state, next, &prior)
    }

    fn scale(&self, omega: f64, state: &[f64], scale: &mut [f64]) {
        let stride = self.model.stride();
        for (s, out) in state.chunks_exact(stride).zip(scale.chunks_exact_mut(stride)) {
            let weight = s[0] + 1.0 / omega;
            out[0] = weight;
            for (o, size) in out[1..].iter_mut().zip(&self.model.features.sizes) {
                *o = weight * size;
            }
        }
    }

    fn posterior(&mut self, omega: f64, state: &[f64]) -> Result<Posterior, Degenerate> {
        let prior = self.prior.clone();
        self.update(omega, state, &prior)?;
        Ok(self.to_posterior())
    }

    fn posterior_with_own_prior(
        &mut self,
        omega: f64,
        state: &[f64],
    ) -> Result<Posterior, Degenerate> {
        let prior = self.resolve(&self.totals(state))?;
        self.update(omega, state, &prior)?;
        Ok(self.to_posterior())
    }

    fn responsibilities(&mut self, omega: f64, state: &[f64]) -> Result<Vec<f64>, Degenerate> {
        let prior = self.prior.clone();
        self.update(omega, state, &prior)?;
        self.prepare(&prior);
        Ok(self.responsibilities_now())
    }

    fn responsibilities_under(&mut self, posterior: &Posterior) -> Result<Vec<f64>, Degenerate> {
        self.take(posterior)?;
        Ok(self.responsibilities_now())
    }

    fn contribution(&self, unit: usize, responsibilities: &[f64], out: &mut [f64]) {
        let features = &self.model.features;
        for (r, out) in responsibilities.iter().zip(out.chunks_exact_mut(self.model.stride())) {
            out[0] = *r;
            for (f, x) in out[1..].iter_mut().enumerate() {
                *x = r * features.get(unit, f);
            }
        }
    }

    /// By differences: an update costs little, and a sum changes little of it.
    fn pullback(
        &mut self,
        omega: f64,
        state: &[f64],
    ) -> Result<Option<Box<dyn Pullback>>, Degenerate> {
        let mut scale = vec![0.0; state.len()];
        self.scale(omega, state, &mut scale);
        let sizes = (self.model.n_components, self.model.stride());
        let made = Differences::new(sizes, state, &scale, |point, out| {
            let prior = self.resolve(&self.totals(point))?;
            self.update(omega, point, &prior)?;
            self.prepare(&prior);
            out.extend_from_slice(&self.densities);
            out.extend_from_slice(self.to_posterior().parameters());
            Ok(())
        })?;
        Ok(Some(Box::new(made)))
    }
}
