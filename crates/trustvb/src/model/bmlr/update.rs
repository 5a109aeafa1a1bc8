//! One sweep of a mixture of regressions: (M5) in the order β, τ, λ, π, then the E-step.

use super::groups::{Groups, ROWS, XY, YY, features};
use super::pullback::{BmlrPullback, Own};
use super::{Bmlr, Noise};
use crate::linalg::square::full;
use crate::linalg::{
    cholesky, gram, invert_lower, ln_det_from_cholesky, packed_index, packed_len, quadratic_form,
    solve_cholesky, trace_of_product,
};
use crate::model::kernel::Scratch;
use crate::model::linear::{self, Members};
use crate::model::{Degenerate, Pullback, Sweeper};
use crate::posterior::{Gamma, MvNormal, Posterior, SymmetricDirichlet};
use crate::special::gamma::{Batch, ln_gamma};
use std::f64::consts::TAU;

/// Numbers per component in the state: `N_k`, the weighted features, `E[τ_k]`, `E[λ_k]`.
pub(super) const fn stride(p: usize) -> usize {
    1 + features(p) + 2
}

/// `q(θ)` of one component, in the model's units.
#[derive(Clone, Debug)]
struct Component {
    alpha: f64,
    /// `m_k`, then the triangle of `S_k`.
    beta: Vec<f64>,
    ln_det_s: f64,
    tau: Gamma,
    /// `None` when the noise is known.
    noise: Option<Gamma>,
}

/// Working memory of the fits of a mixture of regressions.
pub(super) struct BmlrSweeper<'a> {
    model: &'a Bmlr,
    members: Members,
    /// `Σ w_n J_n`.
    weighted_rows: f64,
    components: Vec<Component>,
    densities: Vec<f64>,
    stats: Vec<f64>,
    factor: Vec<f64>,
    inverse_factor: Vec<f64>,
    weights_prior: SymmetricDirichlet,
    ln_gamma_tau0: f64,
    ln_gamma_noise0: f64,
    /// Of `α_1 … α_K`, `Σα`, then the shapes of `τ_k` and `λ_k` of each component.
    gammas: Batch,
    scratch: Scratch,
}

impl<'a> BmlrSweeper<'a> {
    pub(super) fn new(model: &'a Bmlr) -> BmlrSweeper<'a> {
        let (k, p) = (model.n_components, model.p());
        let component = Component {
            alpha: 0.0,
            beta: vec![0.0; p + packed_len(p)],
            ln_det_s: 0.0,
            tau: Gamma::new(1.0, 1.0),
            noise: None,
        };
        BmlrSweeper {
            model,
            members: Members::default(),
            weighted_rows: 0.0,
            components: vec![component; k],
            densities: vec![0.0; k * (1 + features(p))],
            stats: vec![0.0; k * (1 + features(p))],
            factor: vec![0.0; packed_len(p)],
            inverse_factor: vec![0.0; packed_len(p)],
            weights_prior: SymmetricDirichlet::new(k, model.prior.alpha0.unwrap_or(1.0 / k as f64)),
            ln_gamma_tau0: ln_gamma(tau_prior(model).a),
            ln_gamma_noise0: ln_gamma(noise_prior(model).a),
            gammas: Batch::default(),
            scratch: Scratch::default(),
        }
    }

    fn alpha0(&self) -> f64 {
        self.weights_prior.alpha0()
    }

    /// A known precision in the model's units.
    fn known_noise(&self) -> Option<f64> {
        match self.model.noise {
            Noise::Known(x) => Some(x * self.model.groups.units().scale_y.powi(2)),
            Noise::Estimate => None,
        }
    }

    /// `q(θ)` from the state, in the order β, τ, λ, π: each maximises the bound given the others.
    fn update(&mut self, omega: f64, state: &[f64]) -> Result<(), Degenerate> {
        let p = self.model.p();
        let (tau0, noise0, alpha0) =
            (tau_prior(self.model), noise_prior(self.model), self.alpha0());
        let known = self.known_noise();
        for (k, s) in state.chunks_exact(stride(p)).enumerate() {
            let count = s[0];
            let (features, expectations) = s[1..].split_at(features(p));
            let (mean_tau, mean_noise) = (expectations[0], expectations[1]);
            if !(count >= 0.0 && mean_tau > 0.0 && mean_noise > 0.0) {
                return Err(Degenerate::NegativeCount { component: k + 1 });
            }
            let (xy, xx) = features[XY..].split_at(p);
            let component = &mut self.components[k];
            component.alpha = alpha0 + omega * count;
            let precision = omega * mean_noise;
            for i in 0..p {
                for j in 0..=i {
                    let at = packed_index(i, j);
                    self.factor[at] = precision * xx[at] + if i == j { mean_tau } else { 0.0 };
                }
            }
            cholesky(p, &mut self.factor).map_err(|_| Degenerate::NotPositiveDefinite {
                what: "coefficient precision",
                component: k + 1,
            })?;
            invert_lower(p, &self.factor, &mut self.inverse_factor);
            let (m, covariance) = component.beta.split_at_mut(p);
            gram(p, &self.inverse_factor, covariance);
            component.ln_det_s = -ln_det_from_cholesky(p, &self.factor);
            for (m, xy) in m.iter_mut().zip(xy) {
                *m = precision * xy;
            }
            solve_cholesky(p, &self.factor, m);
            let second = MvNormal::new(p, &component.beta).second_moment();
            component.tau = Gamma::new(tau0.a + 0.5 * p as f64, tau0.b + 0.5 * second);
            component.noise = match known {
                Some(_) => None,
                None => {
                    let residual = expected_residual(p, &component.beta, features).max(0.0);
                    Some(Gamma::new(
                        noise0.a + 0.5 * omega * features[ROWS],
                        noise0.b + 0.5 * omega * residual,
                    ))
                }
            };
        }
        Ok(())
    }

    /// A whole `q(θ)`, ready for an E-step.
    fn take(&mut self, posterior: &Posterior) -> Result<(), Degenerate> {
        let units = self.model.groups.units();
        let alpha = posterior.dirichlet("pi").map_or(&[][..], |d| d.alpha());
        for (k, c) in self.components.iter_mut().enumerate() {
            let (Some(beta), Some(tau), Some(alpha)) =
                (posterior.mv_normal("beta", k), posterior.gamma("tau", k), alpha.get(k))
            else {
                return Err(Degenerate::NotFinite);
            };
            c.alpha = *alpha;
            c.beta = units.to_model(beta.mean());
            c.beta.extend(units.covariance_to_model(beta.covariance()));
            c.tau = tau;
            c.noise = posterior
                .gamma("noise", k)
                .map(|noise| Gamma::new(noise.a, noise.b / units.scale_y.powi(2)));
        }
        self.prepare();
        Ok(())
    }

    /// Responsibilities of all groups at the `q(θ)` that is prepared.
    fn responsibilities_now(&self) -> Vec<f64> {
        let groups = &self.model.groups;
        let get = |group: usize, f: usize| groups.feature(group, f);
        linear::responsibilities(groups.len(), features(groups.p()), &self.densities, get)
    }

    /// What the E-step needs of `q(θ)`, and `KL(q(θ) ‖ p(θ))`.
    fn prepare(&mut self) -> f64 {
        let p = self.model.p();
        let length = 1 + features(p);
        let (tau0, noise0, known) =
            (tau_prior(self.model), noise_prior(self.model), self.known_noise());
        let n_components = self.components.len();
        let total: f64 = self.components.iter().map(|c| c.alpha).sum();
        let shapes = |c: &Component| [c.tau.a, c.noise.map_or(1.0, |noise| noise.a)];
        self.gammas.evaluate(
            self.components
                .iter()
                .map(|c| c.alpha)
                .chain([total])
                .chain(self.components.iter().flat_map(shapes)),
        );
        let gammas = &self.gammas;
        let values = |i: usize| (gammas.digamma(i), gammas.ln_gamma(i));
        let alphas = self.components.iter().enumerate().map(|(k, c)| (c.alpha, values(k)));
        let mut kl = self.weights_prior.kl_from(alphas, values(n_components));
        let psi_total = gammas.digamma(n_components);
        let numbers = self.densities.chunks_exact_mut(length);
        for (k, (c, numbers)) in self.components.iter().zip(numbers).enumerate() {
            let beta = MvNormal::new(p, &c.beta);
            let of_tau = values(n_components + 1 + 2 * k);
            let mean_ln_tau = of_tau.0 - c.tau.b.ln();
            kl += beta.kl_to_ridge(c.tau.mean(), mean_ln_tau, c.ln_det_s)
                + c.tau.kl_from(&tau0, of_tau, self.ln_gamma_tau0);
            let (mean_noise, mean_ln_noise) = match (&c.noise, known) {
                (Some(noise), _) => {
                    let of_noise = values(n_components + 2 + 2 * k);
                    kl += noise.kl_from(&noise0, of_noise, self.ln_gamma_noise0);
                    (noise.mean(), of_noise.0 - noise.b.ln())
                }
                (None, known) => {
                    let known = known.unwrap_or(1.0);
                    (known, known.ln())
                }
            };
            numbers[0] = gammas.digamma(k) - psi_total;
            numbers[1 + ROWS] = 0.5 * (mean_ln_noise - TAU.ln());
            numbers[1 + YY] = -0.5 * mean_noise;
            let (m, covariance) = c.beta.split_at(p);
            for i in 0..p {
                numbers[1 + XY + i] = mean_noise * m[i];
                for j in 0..=i {
                    let at = packed_index(i, j);
                    let twice = if i == j { 1.0 } else { 2.0 };
                    numbers[1 + XY + p + at] =
                        -0.5 * mean_noise * twice * (m[i] * m[j] + covariance[at]);
                }
            }
        }
        kl
    }

    /// The E-step, and the expectations that the next update needs.
    fn e_step(&mut self, next: &mut [f64]) -> f64 {
        let p = self.model.p();
        let bound = linear::e_step(
            features(p),
            self.members.blocks(&self.model.groups.blocks),
            self.members.weights(),
            &self.densities,
            &mut self.stats,
            &mut self.scratch,
        );
        for (k, s) in next.chunks_exact_mut(stride(p)).enumerate() {
            let length = 1 + features(p);
            s[..length].copy_from_slice(&self.stats[k * length..(k + 1) * length]);
            s[length..].copy_from_slice(&self.expectations(k));
        }
        bound
    }

    /// `E[τ_k]` and `E[λ_k]`.
    fn expectations(&self, k: usize) -> [f64; 2] {
        let c = &self.components[k];
        let known = || self.known_noise().unwrap_or(1.0);
        [c.tau.mean(), c.noise.as_ref().map_or_else(known, Gamma::mean)]
    }

    /// `q(θ)` in the data's units, in the layout's order.
    fn to_posterior(&self) -> Posterior {
        let p = self.model.p();
        let units = self.model.groups.units();
        let mut parameters: Vec<f64> = self.components.iter().map(|c| c.alpha).collect();
        for c in &self.components {
            let (m, covariance) = c.beta.split_at(p);
            parameters.extend(units.to_data(m));
            parameters.extend(units.covariance_to_data(covariance));
        }
        for c in &self.components {
            parameters.extend([c.tau.a, c.tau.b]);
        }
        for noise in self.components.iter().filter_map(|c| c.noise) {
            parameters.extend([noise.a, noise.b * units.scale_y.powi(2)]);
        }
        Posterior::new(self.model.layout.clone(), parameters)
    }
}

fn tau_prior(model: &Bmlr) -> Gamma {
    Gamma::new(model.prior.a0.unwrap_or(0.1), model.prior.b0.unwrap_or(0.1))
}

fn noise_prior(model: &Bmlr) -> Gamma {
    Gamma::new(model.prior.c0.unwrap_or(0.1), model.prior.d0.unwrap_or(0.1))
}

/// `y'y − 2m'X'y + tr(X'X(mm' + S))` from (summed) features.
fn expected_residual(p: usize, beta: &[f64], features: &[f64]) -> f64 {
    let (m, covariance) = beta.split_at(p);
    let (xy, xx) = features[XY..].split_at(p);
    let linear: f64 = m.iter().zip(xy).map(|(m, xy)| m * xy).sum();
    features[YY] - 2.0 * linear + quadratic_form(p, xx, m) + trace_of_product(p, xx, covariance)
}

/// Noise precision that centres suggest: rows over the residuals around each group's best centre.
fn noise_around(groups: &Groups, members: &Members, centres: &[Vec<f64>]) -> f64 {
    let (mut rows, mut residual) = (0.0, 0.0);
    for (n, weight) in members.units() {
        let best = centres.iter().map(|c| groups.residual(n, c)).fold(f64::INFINITY, f64::min);
        rows += weight * groups.feature(n, ROWS);
        residual += weight * best;
    }
    if residual > 0.0 { (rows / residual).min(1e6) } else { 1.0 }
}

impl Sweeper for BmlrSweeper<'_> {
    fn load(&mut self, weights: Option<&[f64]>) -> Result<(), Degenerate> {
        let groups = &self.model.groups;
        let get = |group: usize, f: usize| groups.feature(group, f);
        self.members.load(groups.len(), features(groups.p()), weights, get);
        self.weighted_rows = 0.0;
        let mut total = 0.0;
        for (n, weight) in self.members.units() {
            self.weighted_rows += weight * groups.feature(n, ROWS);
            total += weight;
        }
        if total > 0.0 {
            Ok(())
        } else {
            Err(Degenerate::Prior("no unit has positive weight".to_owned()))
        }
    }

    /// All components start with the same spread, so that only the distance to the centres counts.
    fn start(&mut self, _omega: f64, centres: &[f64], state: &mut [f64]) -> Result<(), Degenerate> {
        let p = self.model.p();
        let centres: Vec<Vec<f64>> =
            centres.chunks_exact(p).map(|c| self.model.groups.units().to_model(c)).collect();
        let (tau0, alpha0) = (tau_prior(self.model), self.alpha0());
        let noise = match self.known_noise() {
            Some(_) => None,
            None => {
                let mean = noise_around(&self.model.groups, &self.members, &centres);
                Some(Gamma::new(1.0, 1.0 / mean))
            }
        };
        for (component, centre) in self.components.iter_mut().zip(&centres) {
            component.alpha = alpha0;
            component.beta.fill(0.0);
            component.beta[..p].copy_from_slice(centre);
            component.ln_det_s = 0.0;
            component.tau = Gamma::new(tau0.a + 0.5 * p as f64, tau0.b);
            component.noise = noise;
        }
        self.prepare();
        self.e_step(state);
        Ok(())
    }

    fn start_from(&mut self, posterior: &Posterior, state: &mut [f64]) -> Result<(), Degenerate> {
        self.take(posterior)?;
        self.e_step(state);
        Ok(())
    }

    fn sweep(&mut self, omega: f64, state: &[f64], next: &mut [f64]) -> Result<f64, Degenerate> {
        self.update(omega, state)?;
        let kl = self.prepare();
        let ln_evidence = self.e_step(next);
        // Densities were of the scaled response: log p(y) = log p(u) − J log scale_y.
        let jacobian = self.weighted_rows * self.model.groups.units().scale_y.ln();
        let bound = omega * (ln_evidence - jacobian) - kl;
        if bound.is_finite() { Ok(bound) } else { Err(Degenerate::NotFinite) }
    }

    fn scale(&self, omega: f64, state: &[f64], scale: &mut [f64]) {
        let p = self.model.p();
        let states = state.chunks_exact(stride(p));
        for (s, out) in states.zip(scale.chunks_exact_mut(stride(p))) {
            let weight = s[0] + 1.0 / omega;
            out[0] = weight;
            for (o, size) in out[1..].iter_mut().zip(&self.model.groups.sizes) {
                *o = weight * size;
            }
            let expectations = 1 + features(p);
            out[expectations] = s[expectations];
            out[expectations + 1] = s[expectations + 1];
        }
    }

    fn posterior(&mut self, omega: f64, state: &[f64]) -> Result<Posterior, Degenerate> {
        self.update(omega, state)?;
        Ok(self.to_posterior())
    }

    fn responsibilities(&mut self, omega: f64, state: &[f64]) -> Result<Vec<f64>, Degenerate> {
        self.update(omega, state)?;
        self.prepare();
        Ok(self.responsibilities_now())
    }

    fn responsibilities_under(&mut self, posterior: &Posterior) -> Result<Vec<f64>, Degenerate> {
        self.take(posterior)?;
        Ok(self.responsibilities_now())
    }

    fn contribution(&self, unit: usize, responsibilities: &[f64], out: &mut [f64]) {
        let p = self.model.p();
        for (r, out) in responsibilities.iter().zip(out.chunks_exact_mut(stride(p))) {
            out.fill(0.0);
            out[0] = *r;
            for f in 0..features(p) {
                out[1 + f] = r * self.model.groups.feature(unit, f);
            }
        }
    }

    fn pullback(
        &mut self,
        omega: f64,
        state: &[f64],
    ) -> Result<Option<Box<dyn Pullback>>, Degenerate> {
        self.update(omega, state)?;
        self.prepare();
        let p = self.model.p();
        let own = |(c, s): (&Component, &[f64])| {
            let (features, expectations) = s[1..].split_at(features(p));
            let (xy, xx) = features[XY..].split_at(p);
            let (m, covariance) = c.beta.split_at(p);
            Own {
                alpha: c.alpha,
                xy: xy.to_vec(),
                xx: full(p, xx),
                precision: omega * expectations[1],
                m: m.to_vec(),
                s: full(p, covariance),
                tau: c.tau,
                noise: c.noise,
            }
        };
        Ok(Some(Box::new(BmlrPullback {
            p,
            omega,
            units: self.model.groups.units().clone(),
            densities: self.densities.clone(),
            components: self
                .components
                .iter()
                .zip(state.chunks_exact(stride(p)))
                .map(own)
                .collect(),
            known: self.known_noise(),
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Grouped;
    use crate::fit::{FitOptions, Start, fit};
    use crate::model::{BmlrPrior, Model};
    use crate::random::{Purpose, stream, uniform};

    fn data() -> Grouped {
        let mut rng = stream(3, Purpose::Simulate, 0);
        let mut noise = || (0..12).map(|_| uniform(&mut rng)).sum::<f64>() - 6.0;
        let (mut y, mut x1, mut x2, mut labels) = (vec![], vec![], vec![], vec![]);
        for group in 0..24 {
            let slope = if group % 3 == 0 { 2.0 } else { -1.0 };
            for _ in 0..(3 + group % 4) {
                let (a, b) = (noise(), noise());
                y.push(slope * a + 0.5 * b + 0.7 * noise());
                x1.push(a);
                x2.push(b);
                labels.push(group.to_string());
            }
        }
        let names = vec!["x1".to_owned(), "x2".to_owned()];
        Grouped::from_columns("y".to_owned(), y, names, vec![x1, x2], Some(&labels)).unwrap()
    }

    /// (M2) at whatever `q(θ)` the components hold.
    fn bound(sweeper: &mut BmlrSweeper<'_>, omega: f64) -> f64 {
        let p = sweeper.model.p();
        for c in &mut sweeper.components {
            let mut factor = c.beta[p..].to_vec();
            cholesky(p, &mut factor).unwrap();
            c.ln_det_s = ln_det_from_cholesky(p, &factor);
        }
        let kl = sweeper.prepare();
        let mut state = vec![0.0; sweeper.model.state_len()];
        omega * sweeper.e_step(&mut state) - kl
    }

    #[test]
    fn the_fixed_point_is_a_stationary_point_of_the_bound() {
        let data = data();
        for (noise, omega) in
            [(Noise::Estimate, 1.0), (Noise::Estimate, 0.2), (Noise::Known(2.0), 0.5)]
        {
            let model = Bmlr::new(&data, 2, BmlrPrior::default(), noise).unwrap();
            let start = Start::KMeans { restarts: 3, seed: 1 };
            let options = FitOptions::default();
            let found = fit(&model, None, omega, &start, &options, &mut |_| ()).unwrap();
            let mut sweeper = BmlrSweeper::new(&model);
            sweeper.load(None).unwrap();
            sweeper.update(omega, &found.state).unwrap();
            let best = bound(&mut sweeper, omega);
            let known = sweeper.components[0].noise.is_none();
            let n_beta = sweeper.components[0].beta.len();
            // α, then m and S, then a and b of τ, then c and d of λ.
            let count = n_beta + if known { 3 } else { 5 };
            for k in 0..2 {
                for i in 0..count {
                    let mut at = |shift: f64| {
                        let saved = sweeper.components[k].clone();
                        let c = &mut sweeper.components[k];
                        let x = match i {
                            0 => &mut c.alpha,
                            i if i <= n_beta => &mut c.beta[i - 1],
                            i if i == n_beta + 1 => &mut c.tau.a,
                            i if i == n_beta + 2 => &mut c.tau.b,
                            i => {
                                let noise = c.noise.as_mut().unwrap();
                                if i == n_beta + 3 { &mut noise.a } else { &mut noise.b }
                            }
                        };
                        *x += shift * x.abs().max(1e-2);
                        let value = bound(&mut sweeper, omega) - best;
                        sweeper.components[k] = saved;
                        value
                    };
                    let (up, down) = (at(1e-3), at(-1e-3));
                    assert!(up < 1e-9 && down < 1e-9, "entry {i}: {up} {down}");
                    assert!(
                        (up - down).abs() < 0.02 * (up + down).abs() + 1e-8,
                        "{noise:?} omega {omega} entry {i}: slope {} against curvature {}",
                        up - down,
                        up + down
                    );
                }
            }
        }
    }
}
