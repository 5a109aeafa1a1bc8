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
        let k = self.alpha.len() as f64;
        let psi_total = digamma(total);
        let mut kl = ln_gamma(total) - ln_gamma(k * alpha0) + k * ln_gamma(alpha0);
        for &a in self.alpha {
            kl += (a - alpha0) * (digamma(a) - psi_total) - ln_gamma(a);
        }
        kl
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

/// A draw from `Gamma(shape, 1)`, kept away from 0 so that ratios of draws stay finite.
pub(super) fn gamma_draw(shape: f64, rng: &mut impl rand::Rng) -> f64 {
    match rand_distr::Gamma::new(shape, 1.0) {
        Ok(law) => law.sample(rng).max(f64::MIN_POSITIVE),
        Err(_) => f64::NAN,
    }
}
