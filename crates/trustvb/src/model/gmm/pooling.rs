//! Covariances that lend each other strength: the scale of the prior is learned from all components, (M4'').
//!
//! ```text
//! Λ_k | S, c_k ~ Wishart((t_c S)^-1, ν_c),   P(c_k = c) = ρ_c,   S ~ Wishart(H, g)
//! ```
//!
//! Most components resemble a common scale `S` (*tied*); now and then one does not (*loose*), and is then
//! hardly drawn to it. With `q(Λ_k)`, `q(S)` Wishart and `q(c_k)` discrete, every update is conjugate. Given the components'
//! scatters `A_k` and counts `n_k = ωN_k` they are
//!
//! ```text
//! t̄_k = Σ_c q_kc t_c,  ν̄_k = Σ_c q_kc ν_c,   W_k^-1 = t̄_k E[S] + A_k,   ν_k = ν̄_k + n_k
//! E[S] = d (H^-1 + Σ_k t̄_k ν_k W_k)^-1,   d = g + Σ_k ν̄_k
//! q_kc ∝ ρ_c exp{ν_c/2 (p ln(t_c/2) + E ln|S| + E ln|Λ_k|) − t_c/2 tr(E[S] E[Λ_k]) − ln Γ_p(ν_c/2)}
//! ```
//!
//! [`Pool::solve`] iterates these to their fixed point, with acceleration. So `q(S)` and `q(c)` are functions of the
//! expected sufficient statistics, the state of a fit stays what it is, and a sweep is still an ascent.

use crate::fit::Anderson;
use crate::linalg::{
    NotPositiveDefinite, cholesky, gram, invert_lower, invert_spd, ln_det_from_cholesky,
    packed_index, packed_len, trace_of_product,
};
use crate::posterior::multi_digamma;
use crate::special::gamma::ln_gamma;
use std::f64::consts::LN_2;

/// One way in which a component may relate to the common scale: `ν_c`, `t_c`, `ρ_c`.
#[derive(Clone, Debug)]
struct Tie {
    nu: f64,
    t: f64,
    ln_rho: f64,
    /// `Σ_j ln Γ((ν_c+1−j)/2)`.
    ln_gammas: f64,
}

impl Tie {
    fn new(p: usize, nu: f64, t: f64, rho: f64) -> Tie {
        Tie { nu, t, ln_rho: rho.ln(), ln_gammas: ln_gammas(p, nu) }
    }
}

/// `Σ_{j=1..p} ln Γ((ν+1−j)/2)`: `ln Γ_p(ν/2)` but for a power of π.
pub(super) fn ln_gammas(p: usize, nu: f64) -> f64 {
    (0..p).map(|j| ln_gamma(0.5 * (nu - j as f64))).sum()
}

/// The prior of all covariances together, for one sample.
#[derive(Clone, Debug)]
pub(super) struct Pooling {
    p: usize,
    ties: Vec<Tie>,
    /// Degrees of freedom of `S`.
    g: f64,
    h_inverse: Vec<f64>,
    ln_det_h_inverse: f64,
    /// What a component's covariance is taken for before any is known.
    guess: Vec<f64>,
}

/// What a component's covariance is multiplied with in the mean of the prior of `S`.
const WIDE: f64 = 1.0;

impl Pooling {
    /// For a sample with this covariance matrix. `nu0` are the degrees of freedom of tied components, `loose` is the
    /// probability of the others.
    pub(super) fn new(
        p: usize,
        n_components: usize,
        covariance: &[f64],
        nu0: f64,
        loose: f64,
    ) -> Result<Pooling, NotPositiveDefinite> {
        // Each of K components takes a K-th of the volume.
        let share = (n_components as f64).powf(-2.0 / p as f64);
        let guess: Vec<f64> = covariance.iter().map(|c| share * c).collect();
        let g = p as f64 + 2.0;
        let scale: Vec<f64> = guess.iter().map(|c| WIDE / g * c).collect();
        let (h_inverse, ln_det) = invert_spd(p, &scale)?;
        let mut ties = vec![Tie::new(p, nu0, nu0, 1.0 - loose)];
        if loose > 0.0 {
            ties.push(Tie::new(p, p as f64 + 2.0, 1.0, loose));
        }
        Ok(Pooling { p, ties, g, h_inverse, ln_det_h_inverse: -ln_det, guess })
    }

    /// `W^-1` and `ν` of a component of which only the centre is known.
    pub(super) fn unseen(&self) -> (Vec<f64>, f64) {
        let nu = self.ties[0].nu;
        (self.guess.iter().map(|x| nu * x).collect(), nu)
    }
}

/// `q(S)` and `q(c)` for given scatters, with the memory to find them.
#[derive(Debug)]
pub(super) struct Pool {
    /// `E[S]`, then for each component the probability that it is loose, if that is possible.
    state: Vec<f64>,
    next: Vec<f64>,
    plain: Vec<f64>,
    scale: Vec<f64>,
    anderson: Anderson,
    /// Cholesky factor of `E[S]`.
    pub(super) s_factor: Vec<f64>,
    /// `t̄_k`.
    pub(super) t: Vec<f64>,
    /// `ν̄_k`.
    pub(super) nu0: Vec<f64>,
    /// What stands in the divergence of `q(Λ_k)` for `ln|W0^-1|`: `E ln|S| + p Σ_c q_kc ν_c ln t_c / ν̄_k`.
    pub(super) ln_det: Vec<f64>,
    /// What stands there for `Σ_j ln Γ((ν0+1−j)/2)`: its mean over ties.
    pub(super) ln_gammas: Vec<f64>,
    /// `KL(q(S) ‖ p(S)) + Σ_k KL(q(c_k) ‖ ρ)`.
    pub(super) kl: f64,
    factor: Vec<f64>,
    inverse_factor: Vec<f64>,
    precision: Vec<f64>,
    total: Vec<f64>,
}

/// Largest relative change at which the fixed point is found.
const TOLERANCE: f64 = 1e-13;

/// Rounding may keep the change just above the tolerance; after so many steps it is as good as it gets.
const MAX_STEPS: usize = 300;

/// Differences that acceleration keeps.
const DEPTH: usize = 4;

impl Pool {
    /// Memory for `n_components` components with a prior of this form.
    pub(super) fn new(pooling: &Pooling, n_components: usize) -> Pool {
        let triangle = packed_len(pooling.p);
        let len = triangle + n_components * (pooling.ties.len() - 1);
        let ones = vec![1.0; n_components];
        Pool {
            state: vec![0.0; len],
            next: vec![0.0; len],
            plain: vec![0.0; len],
            scale: vec![1.0; len],
            anderson: Anderson::new(len),
            s_factor: vec![0.0; triangle],
            t: ones.clone(),
            nu0: ones.clone(),
            ln_det: ones.clone(),
            ln_gammas: ones,
            kl: 0.0,
            factor: vec![0.0; triangle],
            inverse_factor: vec![0.0; triangle],
            precision: vec![0.0; triangle],
            total: vec![0.0; triangle],
        }
    }

    /// `E[S]`, packed.
    pub(super) fn s(&self) -> &[f64] {
        &self.state[..self.s_factor.len()]
    }

    /// Finds the fixed point for `scatters` (packed, component after component) and `counts`. It depends on nothing
    /// else, so that a sweep is a function of its state.
    pub(super) fn solve(
        &mut self,
        pooling: &Pooling,
        scatters: &[f64],
        counts: &[f64],
    ) -> Result<(), NotPositiveDefinite> {
        let triangle = self.s_factor.len();
        // Components that are alike have their common covariance for S: it is near the answer.
        let total: f64 = counts.iter().sum();
        for at in 0..triangle {
            let sum: f64 = scatters.iter().skip(at).step_by(triangle).sum();
            self.state[at] = (sum + pooling.guess[at]) / (total + 1.0);
        }
        if let Some(loose) = pooling.ties.get(1) {
            self.state[triangle..].fill(loose.ln_rho.exp());
        }
        self.anderson.reset(DEPTH);
        for _ in 0..MAX_STEPS {
            let change = self.step(pooling, scatters, counts)?;
            self.plain.copy_from_slice(&self.next);
            if change < TOLERANCE {
                break;
            }
            self.measure(pooling.p);
            let proposed = self.anderson.propose(&self.state, &mut self.next, &self.scale);
            std::mem::swap(&mut self.state, &mut self.next);
            if proposed && !self.is_possible(pooling.p) {
                self.state.copy_from_slice(&self.plain);
                self.anderson.reset(DEPTH);
            }
        }
        self.state.copy_from_slice(&self.plain);
        self.finish(pooling)
    }

    /// Sizes against which changes are relative.
    fn measure(&mut self, p: usize) {
        for i in 0..p {
            for j in 0..=i {
                let size = self.state[packed_index(i, i)] * self.state[packed_index(j, j)];
                self.scale[packed_index(i, j)] = size.sqrt();
            }
        }
    }

    /// Whether the state is a covariance matrix and probabilities.
    fn is_possible(&mut self, p: usize) -> bool {
        let triangle = self.s_factor.len();
        self.factor.copy_from_slice(&self.state[..triangle]);
        self.state[triangle..].iter().all(|q| (0.0..=1.0).contains(q))
            && cholesky(p, &mut self.factor).is_ok()
    }

    /// `t̄_k` and `ν̄_k` of the state, and `d`.
    fn mix(&mut self, pooling: &Pooling) -> f64 {
        let triangle = self.s_factor.len();
        let tied = &pooling.ties[0];
        for k in 0..self.t.len() {
            (self.t[k], self.nu0[k]) = match pooling.ties.get(1) {
                None => (tied.t, tied.nu),
                Some(loose) => {
                    let q = self.state[triangle + k];
                    ((1.0 - q) * tied.t + q * loose.t, (1.0 - q) * tied.nu + q * loose.nu)
                }
            };
        }
        pooling.g + self.nu0.iter().sum::<f64>()
    }

    /// `E ln|S|` when `q(S)` has the state's mean and `d` degrees of freedom.
    fn ln_det_s(&mut self, p: usize, d: f64) -> Result<f64, NotPositiveDefinite> {
        let triangle = self.s_factor.len();
        self.s_factor.copy_from_slice(&self.state[..triangle]);
        cholesky(p, &mut self.s_factor)?;
        let ln_det = ln_det_from_cholesky(p, &self.s_factor);
        Ok(multi_digamma(p, d) + p as f64 * (LN_2 - d.ln()) + ln_det)
    }

    /// One round of updates from `state` into `next`; returns the largest relative change.
    fn step(
        &mut self,
        pooling: &Pooling,
        scatters: &[f64],
        counts: &[f64],
    ) -> Result<f64, NotPositiveDefinite> {
        let (p, triangle) = (pooling.p, self.s_factor.len());
        let d = self.mix(pooling);
        let ln_det_s = match pooling.ties.len() {
            1 => 0.0,
            _ => self.ln_det_s(p, d)?,
        };
        let mut change = 0.0_f64;
        self.total.copy_from_slice(&pooling.h_inverse);
        for (k, scatter) in scatters.chunks_exact(triangle).enumerate() {
            for at in 0..triangle {
                self.factor[at] = self.t[k] * self.state[at] + scatter[at];
            }
            cholesky(p, &mut self.factor)?;
            invert_lower(p, &self.factor, &mut self.inverse_factor);
            gram(p, &self.inverse_factor, &mut self.precision);
            let nu = self.nu0[k] + counts[k];
            for (total, x) in self.total.iter_mut().zip(&mut self.precision) {
                *x *= nu;
                *total += self.t[k] * *x;
            }
            if let [tied, loose] = pooling.ties.as_slice() {
                let ln_det =
                    multi_digamma(p, nu) + p as f64 * LN_2 - ln_det_from_cholesky(p, &self.factor);
                let trace = trace_of_product(p, &self.state[..triangle], &self.precision);
                let ln_weight = |tie: &Tie| {
                    tie.ln_rho - tie.ln_gammas - 0.5 * tie.t * trace
                        + 0.5 * tie.nu * (p as f64 * (tie.t.ln() - LN_2) + ln_det_s + ln_det)
                };
                let q = 1.0 / (1.0 + (ln_weight(tied) - ln_weight(loose)).exp());
                change = change.max((q - self.state[triangle + k]).abs());
                self.next[triangle + k] = q;
            }
        }
        cholesky(p, &mut self.total)?;
        invert_lower(p, &self.total, &mut self.inverse_factor);
        gram(p, &self.inverse_factor, &mut self.precision);
        for (next, x) in self.next.iter_mut().zip(&self.precision) {
            *next = d * x;
        }
        for i in 0..p {
            for j in 0..=i {
                let at = packed_index(i, j);
                let size = (self.next[packed_index(i, i)] * self.next[packed_index(j, j)]).sqrt();
                change = change.max((self.next[at] - self.state[at]).abs() / size);
            }
        }
        Ok(change)
    }

    /// What the divergences need of the fixed point.
    fn finish(&mut self, pooling: &Pooling) -> Result<(), NotPositiveDefinite> {
        let (p, triangle) = (pooling.p, self.s_factor.len());
        let p_f = p as f64;
        let d = self.mix(pooling);
        let ln_det_s = self.ln_det_s(p, d)?;
        // KL of Wisharts with E[S] = d Ŵ: ½[d tr(H^-1Ŵ) − dp − g ln|H^-1Ŵ| + (d−g)Σψ] + ln Γ_p(g/2) − ln Γ_p(d/2).
        let ln_det_ratio =
            pooling.ln_det_h_inverse + ln_det_from_cholesky(p, &self.s_factor) - p_f * d.ln();
        let trace = trace_of_product(p, &pooling.h_inverse, self.s());
        self.kl = 0.5
            * (trace - d * p_f - pooling.g * ln_det_ratio + (d - pooling.g) * multi_digamma(p, d))
            + ln_gammas(p, pooling.g)
            - ln_gammas(p, d);
        let tied = &pooling.ties[0];
        for k in 0..self.t.len() {
            let (mut ln_t, mut gammas) = (tied.nu * tied.t.ln(), tied.ln_gammas);
            if let Some(loose) = pooling.ties.get(1) {
                let q = self.state[triangle + k];
                ln_t = (1.0 - q) * ln_t + q * loose.nu * loose.t.ln();
                gammas = (1.0 - q) * gammas + q * loose.ln_gammas;
                for (q, tie) in [(1.0 - q, tied), (q, loose)] {
                    if q > 0.0 {
                        self.kl += q * (q.ln() - tie.ln_rho);
                    }
                }
            }
            self.ln_det[k] = ln_det_s + p_f * ln_t / self.nu0[k];
            self.ln_gammas[k] = gammas;
        }
        Ok(())
    }
}
