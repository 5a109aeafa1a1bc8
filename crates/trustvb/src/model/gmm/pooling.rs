//! Covariances that lend each other strength: the scale of the prior is learned from all components, (M4''), and so is how
//! closely each is tied to it, (M8).
//!
//! ```text
//! Λ_k | S, c_k ~ Wishart((t_c S)^-1, ν_c),   P(c_k = c) = ρ_c,   S ~ Wishart(H, g)
//! ```
//!
//! Most components resemble a common scale `S`, some more than others: `c` runs over ties (`t_c = ν_c`) of several
//! strengths. Now and then a component does not (*loose*, `t_c = 1`), and is then hardly drawn to `S`. Which ties there are
//! and their `ρ_c` are settled in [`super::GmmPrior`]. With `q(Λ_k)`, `q(S)` Wishart and `q(c_k)` discrete, every update is
//! conjugate. Given the components' scatters `A_k` and counts `n_k = ωN_k` they are
//!
//! ```text
//! t̄_k = Σ_c q_kc t_c,  ν̄_k = Σ_c q_kc ν_c,   W_k^-1 = t̄_k E[S] + A_k,   ν_k = ν̄_k + n_k
//! E[S] = d (H^-1 + Σ_k t̄_k ν_k W_k)^-1,   d = g + Σ_k ν̄_k
//! q_kc ∝ ρ_c exp{ν_c/2 (p ln(t_c/2) + E ln|S| + E ln|Λ_k|) − t_c/2 tr(E[S] E[Λ_k]) − ln Γ_p(ν_c/2)}
//! ```
//!
//! A sweep updates `q(S)`, then every `q(Λ_k)`, then every `q(c_k)`. What the next `q(S)` needs of a component, `E[Λ_k]` and
//! `q_kc` of all ties but the first, stands beside its statistics in the state of a fit, as `E[τ_k]` does in a mixture
//! of regressions: so a sweep is a function of the state, and an ascent. With one tie there is nothing to choose: that is
//! how the one matrix of tied covariances learns its scale.

use super::prior::share_of_volume;
use crate::linalg::square::full;
use crate::linalg::{
    NotPositiveDefinite, cholesky, gram, invert_lower, invert_spd, ln_det_from_cholesky,
    packed_len, trace_of_product,
};
use crate::posterior::multi_digamma;
use crate::special::gamma::{ln_gamma, trigamma};
use std::f64::consts::LN_2;

/// One way in which a component may relate to the common scale: `ν_c`, `t_c`, `ρ_c`.
#[derive(Clone, Debug)]
pub(super) struct Tie {
    nu: f64,
    t: f64,
    ln_rho: f64,
    ln_t: f64,
    /// `Σ_j ln Γ((ν_c+1−j)/2)`.
    ln_gammas: f64,
}

impl Tie {
    /// A tie with these degrees of freedom and this probability.
    pub(super) fn tied(p: usize, nu: f64, rho: f64) -> Tie {
        Tie::new(p, nu, nu, rho)
    }

    /// No tie to speak of.
    pub(super) fn loose(p: usize, rho: f64) -> Tie {
        Tie::new(p, p as f64 + 2.0, 1.0, rho)
    }

    fn new(p: usize, nu: f64, t: f64, rho: f64) -> Tie {
        Tie { nu, t, ln_t: t.ln(), ln_rho: rho.ln(), ln_gammas: ln_gammas(p, nu) }
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
    /// The first is taken for granted: a state holds the probabilities of the others.
    ties: Vec<Tie>,
    /// Degrees of freedom of `S`.
    g: f64,
    h_inverse: Vec<f64>,
    ln_det_h_inverse: f64,
    /// `Σ_j ln Γ((g+1−j)/2)`.
    ln_gammas: f64,
    /// What a component's covariance is taken for before any is known.
    guess: Vec<f64>,
    /// Whether means over ties go on as straight lines where a probability is below 0.
    is_straight: bool,
}

impl Pooling {
    /// For components whose covariance is guessed to be this, and which have one of these ties each.
    pub(super) fn new(
        p: usize,
        guess: Vec<f64>,
        ties: Vec<Tie>,
    ) -> Result<Pooling, NotPositiveDefinite> {
        let g = p as f64 + 2.0;
        let scale: Vec<f64> = guess.iter().map(|c| c / g).collect();
        let (h_inverse, ln_det) = invert_spd(p, &scale)?;
        Ok(Pooling {
            p,
            ties,
            g,
            h_inverse,
            ln_det_h_inverse: -ln_det,
            ln_gammas: ln_gammas(p, g),
            guess,
            is_straight: false,
        })
    }

    /// The same for derivatives by differences, which step beyond 0 and 1 and must see there the line that they came on.
    pub(super) fn straight(&mut self) {
        self.is_straight = true;
    }

    /// `W^-1` and `ν` of a component of which only the centre is known.
    pub(super) fn unseen(&self) -> (Vec<f64>, f64) {
        let nu = self.ties[0].nu;
        (self.guess.iter().map(|x| nu * x).collect(), nu)
    }

    /// What of `C` is the inverse of `H^-1`, where `C/K^(2/p)` is the guess of `n_components`.
    pub(super) fn share(&self, n_components: usize) -> f64 {
        share_of_volume(n_components, self.p) / self.g
    }

    /// What a component's ties other than the first are taken for before anything is known.
    pub(super) fn forget(&self, others: &mut [f64]) {
        others.fill(0.0);
        for (out, tie) in others.iter_mut().zip(&self.ties[1..]) {
            *out = tie.ln_rho.exp();
        }
    }
}

/// What a state holds of one component besides its statistics: the triangle of `E[Λ_k]`, then `P(c_k = c)` of all ties but
/// the first.
pub(super) const fn extra_len(p: usize, n_ties: usize) -> usize {
    packed_len(p) + n_ties - 1
}

/// The probability of every tie, from what a state holds. An accelerated step may overshoot probabilities that are nearly 0
/// or 1.
fn probabilities(others: &[f64], all: &mut [f64]) {
    let mut sum = 0.0;
    for (q, x) in all[1..].iter_mut().zip(others) {
        *q = x.max(0.0);
        sum += *q;
    }
    if sum > 1.0 {
        all[1..].iter_mut().for_each(|q| *q /= sum);
        sum = 1.0;
    }
    all[0] = 1.0 - sum;
}

/// `q(S)` and the mean ties of the components, as the divergences need them.
#[derive(Debug)]
pub(super) struct Pool {
    /// `E[S]`, packed.
    pub(super) s: Vec<f64>,
    /// Its Cholesky factor.
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
    /// `E ln|S|`.
    mean_ln_det: f64,
    /// Of every tie of one component.
    probabilities: Vec<f64>,
    total: Vec<f64>,
    inverse_factor: Vec<f64>,
}

impl Pool {
    /// Memory for `n_components` components of `p` columns with so many ties to choose from.
    pub(super) fn new(p: usize, n_components: usize, n_ties: usize) -> Pool {
        let triangle = packed_len(p);
        Pool {
            s: vec![0.0; triangle],
            s_factor: vec![0.0; triangle],
            t: vec![1.0; n_components],
            nu0: vec![1.0; n_components],
            ln_det: vec![0.0; n_components],
            ln_gammas: vec![0.0; n_components],
            kl: 0.0,
            mean_ln_det: 0.0,
            probabilities: vec![0.0; n_ties],
            total: vec![0.0; triangle],
            inverse_factor: vec![0.0; triangle],
        }
    }

    /// `q(S)` and every `q(Λ_k)` from what the state holds of the components: scatters `A_k` become `W_k^-1`, and counts
    /// `n_k` become `ν_k`.
    pub(super) fn learn<'e>(
        &mut self,
        pooling: &Pooling,
        extras: impl Iterator<Item = &'e [f64]>,
        scatters: &mut [f64],
        counts: &mut [f64],
    ) -> Result<(), NotPositiveDefinite> {
        self.update(pooling, extras)?;
        let triangle = self.s.len();
        for (k, w_inverse) in scatters.chunks_exact_mut(triangle).enumerate() {
            counts[k] += self.nu0[k];
            for (w, s) in w_inverse.iter_mut().zip(&self.s) {
                *w += self.t[k] * s;
            }
        }
        Ok(())
    }

    /// `q(S)` given what the state holds of the components: `extras` of each, see [`extra_len`].
    fn update<'e>(
        &mut self,
        pooling: &Pooling,
        extras: impl Iterator<Item = &'e [f64]>,
    ) -> Result<(), NotPositiveDefinite> {
        let (p, triangle) = (pooling.p, self.s.len());
        let p_f = p as f64;
        self.kl = 0.0;
        self.total.copy_from_slice(&pooling.h_inverse);
        for (k, extra) in extras.enumerate() {
            let (precision, others) = extra.split_at(triangle);
            let q = &mut self.probabilities[..pooling.ties.len()];
            if pooling.is_straight {
                q[1..].iter_mut().zip(others).for_each(|(q, x)| *q = *x);
                q[0] = 1.0 - q[1..].iter().sum::<f64>();
            } else {
                probabilities(others, q);
            }
            let mean = |of: fn(&Tie) -> f64| -> f64 {
                q.iter().zip(&pooling.ties).map(|(q, tie)| q * of(tie)).sum()
            };
            self.t[k] = mean(|tie| tie.t);
            self.nu0[k] = mean(|tie| tie.nu);
            self.ln_gammas[k] = mean(|tie| tie.ln_gammas);
            self.ln_det[k] = p_f * mean(|tie| tie.nu * tie.ln_t) / self.nu0[k];
            for (total, x) in self.total.iter_mut().zip(precision) {
                *total += self.t[k] * x;
            }
            for (q, tie) in q.iter().zip(&pooling.ties) {
                self.kl += if *q > 0.0 { q * (q.ln() - tie.ln_rho) } else { 0.0 };
            }
        }
        let d = pooling.g + self.nu0.iter().sum::<f64>();
        cholesky(p, &mut self.total)?;
        let ln_det_w = -ln_det_from_cholesky(p, &self.total);
        invert_lower(p, &self.total, &mut self.inverse_factor);
        gram(p, &self.inverse_factor, &mut self.s);
        self.s.iter_mut().for_each(|x| *x *= d);
        self.s_factor.copy_from_slice(&self.s);
        cholesky(p, &mut self.s_factor)?;
        let digammas = multi_digamma(p, d);
        self.mean_ln_det = digammas + p_f * LN_2 + ln_det_w;
        self.ln_det.iter_mut().for_each(|x| *x += self.mean_ln_det);
        // Of Wisharts with scales Ŵ and H and d and g degrees of freedom, where E[S] = dŴ.
        let trace = trace_of_product(p, &pooling.h_inverse, &self.s);
        let ln_det_ratio = pooling.ln_det_h_inverse + ln_det_w;
        self.kl += 0.5 * (trace - d * p_f - pooling.g * ln_det_ratio + (d - pooling.g) * digammas)
            + pooling.ln_gammas
            - ln_gammas(p, d);
        Ok(())
    }

    /// `P(c_k = c)` of all ties but the first, given `E ln|Λ_k|` and `tr(E[S] E[Λ_k])`.
    pub(super) fn tie(&self, pooling: &Pooling, mean_ln_det: f64, trace: f64, others: &mut [f64]) {
        let p = pooling.p as f64;
        let ln_weight = |tie: &Tie| {
            tie.ln_rho - tie.ln_gammas - 0.5 * tie.t * trace
                + 0.5 * tie.nu * (p * (tie.ln_t - LN_2) + self.mean_ln_det + mean_ln_det)
        };
        let first = ln_weight(&pooling.ties[0]);
        others.fill(0.0);
        let mut largest = 0.0_f64;
        for (out, tie) in others.iter_mut().zip(&pooling.ties[1..]) {
            *out = ln_weight(tie) - first;
            largest = largest.max(*out);
        }
        let known = &mut others[..pooling.ties.len() - 1];
        known.iter_mut().for_each(|x| *x = (*x - largest).exp());
        let total = (-largest).exp() + known.iter().sum::<f64>();
        known.iter_mut().for_each(|x| *x /= total);
    }
}

/// The learned scale at one state, as its derivative needs it.
#[derive(Debug)]
pub(super) struct Scaled {
    /// `E[S]`, full.
    pub(super) s: Vec<f64>,
    /// Its degrees of freedom, and `Σ_j ½ψ'((d+1−j)/2)`.
    pub(super) d: f64,
    pub(super) trigammas: f64,
    /// `t̄_k`.
    pub(super) t: Vec<f64>,
    /// `(t_c, ν_c)` of every tie.
    pub(super) ties: Vec<(f64, f64)>,
    /// `E[Λ_k]` of the state, full.
    pub(super) precisions: Vec<Vec<f64>>,
    /// `P(c_k = c)` of the next state, for all ties but the first of each component.
    next: Vec<f64>,
}

impl Scaled {
    /// From what the last update left, and the state and the next one's ties behind it.
    pub(super) fn new<'e>(
        pooling: &Pooling,
        pool: &Pool,
        extras: impl Iterator<Item = &'e [f64]>,
        next: &[f64],
    ) -> Scaled {
        let p = pooling.p;
        let d = pooling.g + pool.nu0.iter().sum::<f64>();
        Scaled {
            s: full(p, &pool.s),
            d,
            trigammas: half_trigammas(p, d),
            t: pool.t.clone(),
            ties: pooling.ties.iter().map(|tie| (tie.t, tie.nu)).collect(),
            precisions: extras.map(|extra| full(p, extra)).collect(),
            next: next.to_vec(),
        }
    }

    /// From cotangents of `P(c_k = c)` in the next state to those of `tr(E[S] E[Λ_k])` and `E ln|Λ_k|`.
    pub(super) fn of_ties(&self, k: usize, cotangents: &[f64]) -> (f64, f64) {
        let others = self.ties.len() - 1;
        let q = &self.next[k * others..(k + 1) * others];
        // Through the softmax: only differences from the mean count, the first tie's cotangent being 0.
        let mean: f64 = q.iter().zip(cotangents).map(|(q, x)| q * x).sum();
        let first = -mean * (1.0 - q.iter().sum::<f64>());
        let (mut of_t, mut of_nu) = (first * self.ties[0].0, first * self.ties[0].1);
        for ((q, x), (t, nu)) in q.iter().zip(cotangents).zip(&self.ties[1..]) {
            let own = q * (x - mean);
            of_t += own * t;
            of_nu += own * nu;
        }
        (-0.5 * of_t, 0.5 * of_nu)
    }

    /// From cotangents of `t̄_k` and `ν̄_k` to those of `P(c_k = c)` in the state.
    pub(super) fn to_ties(&self, of_t: f64, of_nu: f64, out: &mut [f64]) {
        let (t0, nu0) = self.ties[0];
        for (out, (t, nu)) in out.iter_mut().zip(&self.ties[1..]) {
            *out += of_t * (t - t0) + of_nu * (nu - nu0);
        }
    }
}

/// `Σ_{j=1..p} ½ψ'((ν+1−j)/2)`, the slope of `E[log|Λ|]` in `ν`.
pub(super) fn half_trigammas(p: usize, nu: f64) -> f64 {
    (0..p).map(|j| 0.5 * trigamma(0.5 * (nu - j as f64))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::gamma::ln_multigamma;

    /// Of two components of two columns `E[Λ_k]` and the probability that it is loose, or those of all ties but the first.
    const TWO_TIES: [&[f64]; 2] = [&[2.0, 0.3, 1.0, 0.2], &[0.7, -0.2, 1.5, 0.9]];
    const SIX_TIES: [&[f64]; 2] =
        [&[2.0, 0.3, 1.0, 0.2, 0.1, 0.15, 0.05, 0.1], &[0.7, -0.2, 1.5, 0.6, 0.0, 0.02, 0.08, 0.3]];

    /// `ν_c`, `t_c` and `ρ_c`.
    const TIES: [(f64, f64, f64); 6] = [
        (8.0, 8.0, 0.3),
        (4.0, 1.0, 0.5),
        (22.0, 22.0, 0.05),
        (62.0, 62.0, 0.05),
        (202.0, 202.0, 0.05),
        (602.0, 602.0, 0.05),
    ];

    fn pooling() -> Pooling {
        let ties = vec![Tie::tied(2, 8.0, 0.5), Tie::loose(2, 0.5)];
        Pooling::new(2, vec![0.65, 0.2, 1.0], ties).unwrap()
    }

    fn with_six_ties() -> Pooling {
        let ties = TIES.iter().map(|&(nu, t, rho)| match t < nu {
            true => Tie::loose(2, rho),
            false => Tie::tied(2, nu, rho),
        });
        Pooling::new(2, vec![0.65, 0.2, 1.0], ties.collect()).unwrap()
    }

    fn cases() -> [(Pooling, [&'static [f64]; 2]); 2] {
        [(pooling(), TWO_TIES), (with_six_ties(), SIX_TIES)]
    }

    fn updated(pooling: &Pooling, extras: [&[f64]; 2]) -> (Pool, Vec<f64>, f64) {
        let mut pool = Pool::new(2, 2, pooling.ties.len());
        pool.update(pooling, extras.into_iter()).unwrap();
        let d = pooling.g + pool.nu0.iter().sum::<f64>();
        let w = pool.s.iter().map(|x| x / d).collect();
        (pool, w, d)
    }

    /// The probability of every tie, in plain words.
    fn of_every_tie(extra: &[f64]) -> Vec<f64> {
        let mut all = vec![1.0 - extra[3..].iter().sum::<f64>()];
        all.extend_from_slice(&extra[3..]);
        all
    }

    /// What the bound owes to `q(S) = Wishart(w, d)`, written from its definition: the mean of `ln p(Λ|S, c)` as far as
    /// `S` is in it, less `E ln q(S) − E ln p(S)`.
    fn worth(pooling: &Pooling, extras: [&[f64]; 2], w: &[f64], d: f64) -> f64 {
        let p = 2.0;
        let (_, ln_det_w) = invert_spd(2, w).unwrap();
        let mean_ln_det = multi_digamma(2, d) + p * LN_2 + ln_det_w;
        let s: Vec<f64> = w.iter().map(|x| d * x).collect();
        let mut sum = 0.0;
        for extra in extras {
            for (q, tie) in of_every_tie(extra).iter().zip(&pooling.ties) {
                let trace = trace_of_product(2, &s, &extra[..3]);
                sum += q * 0.5 * (tie.nu * mean_ln_det - tie.t * trace);
            }
        }
        let ln_wishart = |nu: f64, ln_det_scale: f64, trace: f64| {
            0.5 * (nu - p - 1.0) * mean_ln_det
                - 0.5 * trace
                - 0.5 * nu * (p * LN_2 + ln_det_scale)
                - ln_multigamma(2, 0.5 * nu)
        };
        let to_prior = trace_of_product(2, &pooling.h_inverse, &s);
        sum + ln_wishart(pooling.g, -pooling.ln_det_h_inverse, to_prior)
            - ln_wishart(d, ln_det_w, d * p)
    }

    #[test]
    fn the_learned_scale_is_the_best_one() {
        for (pooling, extras) in cases() {
            let (_, w, d) = updated(&pooling, extras);
            let best = worth(&pooling, extras, &w, d);
            for i in 0..4 {
                let moved = |by: f64| {
                    let (mut w, mut d) = (w.clone(), d);
                    if i < 3 {
                        w[i] += by * w[0]
                    } else {
                        d *= 1.0 + by
                    }
                    worth(&pooling, extras, &w, d) - best
                };
                let (up, down) = (moved(1e-4), moved(-1e-4));
                assert!(up < 0.0 && down < 0.0, "{i}: {up} {down}");
                assert!((up - down).abs() < 0.01 * (up + down).abs(), "{i}: {up} {down}");
            }
        }
    }

    #[test]
    fn the_divergence_is_what_the_definition_says() {
        for (pooling, extras) in cases() {
            let (pool, w, d) = updated(&pooling, extras);
            let mut expected = worth(&pooling, extras, &w, d);
            for (k, extra) in extras.into_iter().enumerate() {
                let all = of_every_tie(extra);
                let ties = || all.iter().zip(&pooling.ties);
                // The same means by way of t̄, ν̄ and what stands for ln|W0^-1|.
                let ln_t: f64 = ties().map(|(q, tie)| q * tie.nu * tie.t.ln()).sum();
                expected -= 0.5 * (pool.nu0[k] * pool.ln_det[k] - 2.0 * ln_t);
                expected += 0.5 * pool.t[k] * trace_of_product(2, &pool.s, &extra[..3]);
                let chosen = ties().filter(|(q, _)| **q > 0.0);
                expected -= chosen.map(|(q, tie)| q * (q / tie.ln_rho.exp()).ln()).sum::<f64>();
                let gammas: f64 = ties().map(|(q, tie)| q * ln_gammas(2, tie.nu)).sum();
                assert!((pool.ln_gammas[k] - gammas).abs() < 1e-10 * gammas.abs());
            }
            assert!((pool.kl + expected).abs() < 1e-9, "{} {expected}", pool.kl);
        }
    }

    #[test]
    fn ties_have_the_probabilities_of_the_definition() {
        let pooling = with_six_ties();
        let (pool, w, d) = updated(&pooling, SIX_TIES);
        let (_, ln_det_w) = invert_spd(2, &w).unwrap();
        let mean_ln_det_s = multi_digamma(2, d) + 2.0 * LN_2 + ln_det_w;
        for (ln_det, trace) in [(0.3, 2.1), (-1.0, 2.0), (2.0, 9.0), (-30.0, 1e-4), (9.0, 4000.0)] {
            let mut found = [f64::NAN; 5];
            pool.tie(&pooling, ln_det, trace, &mut found);
            let mut all = [0.0; 6];
            probabilities(&found, &mut all);
            assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-14, "{all:?}");
            assert!(all.iter().all(|q| (0.0..=1.0).contains(q)), "{all:?}");
            let ln_weight = TIES.map(|(nu, t, rho)| {
                let of_wishart = 0.5 * nu * (2.0 * (t / 2.0).ln() + mean_ln_det_s + ln_det);
                rho.ln() + of_wishart - 0.5 * t * trace - ln_multigamma(2, 0.5 * nu)
            });
            let largest = ln_weight.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = ln_weight.iter().map(|x| (x - largest).exp()).sum();
            for (q, x) in all.iter().zip(ln_weight) {
                let expected = (x - largest).exp() / total;
                assert!((q - expected).abs() < 1e-11, "{ln_det} {trace}: {all:?} {expected}");
            }
        }
    }

    #[test]
    fn probabilities_that_overshoot_are_put_right() {
        let mut all = [0.0; 4];
        probabilities(&[0.9, -0.01, 0.2], &mut all);
        assert_eq!(all, [0.0, 0.9 / 1.1, 0.0, 0.2 / 1.1]);
        probabilities(&[0.2, -0.01, 0.3], &mut all);
        assert_eq!(all, [0.5, 0.2, 0.0, 0.3]);
    }

    #[test]
    fn a_component_like_the_others_is_tied_and_another_loose() {
        for (pooling, extras) in cases() {
            let (pool, _, _) = updated(&pooling, extras);
            let (inverse, ln_det_s) = invert_spd(2, &pool.s).unwrap();
            let of = |scale: f64| {
                let precision: Vec<f64> = inverse.iter().map(|x| scale * x).collect();
                let ln_det = 2.0 * scale.ln() - ln_det_s;
                let mut others = vec![0.0; pooling.ties.len() - 1];
                pool.tie(&pooling, ln_det, trace_of_product(2, &pool.s, &precision), &mut others);
                others
            };
            assert!(of(1.0)[0] < 0.2, "{:?}", of(1.0));
            assert!(of(30.0)[0] > 0.99 && of(0.02)[0] > 0.9, "{:?} {:?}", of(30.0), of(0.02));
            if pooling.ties.len() > 2 {
                // In two columns evidence for the strongest tie is of few nats, against it of many.
                let (like, less) = (of(1.0), of(1.5));
                assert!(like[4] > like[0] && less[4] < 1e-6, "{like:?} {less:?}");
            }
        }
    }

    /// How ties move with what they depend on, and means with ties: against differences.
    #[test]
    fn derivatives_of_ties_are_those_of_differences() {
        let pooling = with_six_ties();
        let (pool, _, _) = updated(&pooling, SIX_TIES);
        let (ln_det, trace, step) = (-0.4, 2.2, 1e-6);
        let tied = |ln_det: f64, trace: f64| {
            let mut others = [0.0; 5];
            pool.tie(&pooling, ln_det, trace, &mut others);
            others
        };
        let scaled = Scaled::new(&pooling, &pool, SIX_TIES.into_iter(), &tied(ln_det, trace));
        let cotangents = [0.3, -1.0, 0.5, 2.0, -0.7];
        let along = |up: [f64; 5], down: [f64; 5]| -> f64 {
            let slopes = up.iter().zip(down).map(|(up, down)| (up - down) / (2.0 * step));
            slopes.zip(cotangents).map(|(slope, x)| slope * x).sum()
        };
        let of_trace = along(tied(ln_det, trace + step), tied(ln_det, trace - step));
        let of_ln_det = along(tied(ln_det + step, trace), tied(ln_det - step, trace));
        let (by_trace, by_ln_det) = scaled.of_ties(0, &cotangents);
        assert!((by_trace - of_trace).abs() < 1e-6 * of_trace.abs(), "{by_trace} {of_trace}");
        assert!((by_ln_det - of_ln_det).abs() < 1e-6 * of_ln_det.abs(), "{by_ln_det} {of_ln_det}");

        let (of_t, of_nu) = (0.7, -1.3);
        let mut found = [0.0; 5];
        scaled.to_ties(of_t, of_nu, &mut found);
        for (i, found) in found.iter().enumerate() {
            let moved = |by: f64| {
                let mut first = SIX_TIES[0].to_vec();
                first[3 + i] += by;
                let (pool, _, _) = updated(&pooling, [&first, SIX_TIES[1]]);
                of_t * pool.t[0] + of_nu * pool.nu0[0]
            };
            // Means are linear in probabilities.
            let expected = (moved(1e-3) - moved(0.0)) / 1e-3;
            assert!(
                (found - expected).abs() < 1e-8 * (1.0 + expected.abs()),
                "{i}: {found} {expected}"
            );
        }
    }
}
