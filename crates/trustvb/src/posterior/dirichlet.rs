//! The Dirichlet block: mixture weights.

use super::Marginal;
use crate::special::gamma::{digamma, ln_gamma};
use rand_distr::Distribution;

/// `π ~ Dir(α)`.
#[derive(Clone, Copy, Debug)]
pub struct Dirichlet<'a> {
    alpha: &'a [f64],
}

impl<'a> Dirichlet<'a> {
    pub(crate) fn new(alpha: &'a [f64]) -> Dirichlet<'a> {
        Dirichlet { alpha }
    }

    /// Its parameters.
    pub fn alpha(&self) -> &'a [f64] {
        self.alpha
    }

    /// `E[π]`.
    pub fn mean(&self) -> Vec<f64> {
        let total: f64 = self.alpha.iter().sum();
        self.alpha.iter().map(|a| a / total).collect()
    }

    /// The law of a sum of weights: `Σ_{k∈members} π_k ~ Beta`. All or none of them is a constant.
    pub fn sum_marginal(&self, members: &[usize]) -> Marginal {
        let mut inside = 0.0;
        let mut outside = 0.0;
        for (k, a) in self.alpha.iter().enumerate() {
            if members.contains(&k) { inside += a } else { outside += a }
        }
        if outside == 0.0 {
            Marginal::Degenerate { value: 1.0 }
        } else if inside == 0.0 {
            Marginal::Degenerate { value: 0.0 }
        } else {
            Marginal::Beta { a: inside, b: outside }
        }
    }

    /// `KL(self ‖ Dir(α0, …, α0))`.
    pub fn kl_to_symmetric(&self, alpha0: f64) -> f64 {
        let total: f64 = self.alpha.iter().sum();
        let values = |x: f64| (digamma(x), ln_gamma(x));
        SymmetricDirichlet::new(self.alpha.len(), alpha0)
            .kl_from(self.alpha.iter().map(|&a| (a, values(a))), values(total))
    }

    /// A draw into `out`, from independent Gamma variables.
    pub fn draw(&self, rng: &mut impl rand::Rng, out: &mut [f64]) {
        let mut total = 0.0;
        for (x, &a) in out.iter_mut().zip(self.alpha) {
            *x = gamma_draw(a, rng);
            total += *x;
        }
        for x in out {
            *x /= total;
        }
    }
}

/// The prior `Dir(α0, …, α0)`, with the part of divergences to it that does not change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SymmetricDirichlet {
    alpha0: f64,
    /// `K log Γ(α0) − log Γ(Kα0)`.
    constant: f64,
}

impl SymmetricDirichlet {
    pub(crate) fn new(k: usize, alpha0: f64) -> SymmetricDirichlet {
        let k = k as f64;
        SymmetricDirichlet { alpha0, constant: k * ln_gamma(alpha0) - ln_gamma(k * alpha0) }
    }

    /// `α0`.
    pub(crate) fn alpha0(&self) -> f64 {
        self.alpha0
    }

    /// `KL(Dir(α) ‖ self)` from `(α_k, (ψ(α_k), log Γ(α_k)))` and the same two of `Σα`.
    pub(crate) fn kl_from(
        &self,
        alpha: impl Iterator<Item = (f64, (f64, f64))>,
        (psi_total, ln_gamma_total): (f64, f64),
    ) -> f64 {
        alpha.fold(self.constant + ln_gamma_total, |kl, (a, (psi, ln_gamma))| {
            kl + (a - self.alpha0) * (psi - psi_total) - ln_gamma
        })
    }
}

/// A draw from `Gamma(shape, 1)`, kept away from 0 so that ratios of draws stay finite.
pub(super) fn gamma_draw(shape: f64, rng: &mut impl rand::Rng) -> f64 {
    match rand_distr::Gamma::new(shape, 1.0) {
        Ok(law) => law.sample(rng).max(f64::MIN_POSITIVE),
        Err(_) => f64::NAN,
    }
}
