//! The Gamma block: precisions.

use super::{Marginal, dirichlet::gamma_draw};
use crate::special::gamma::{digamma, ln_gamma};

/// `τ ~ Gamma(a, b)` with shape `a` and rate `b`.
#[derive(Clone, Copy, Debug)]
pub struct Gamma {
    /// Shape.
    pub a: f64,
    /// Rate.
    pub b: f64,
}

impl Gamma {
    pub(crate) fn new(a: f64, b: f64) -> Gamma {
        Gamma { a, b }
    }

    /// `E[τ] = a/b`.
    pub fn mean(&self) -> f64 {
        self.a / self.b
    }

    /// `E[log τ] = ψ(a) − log b`.
    pub fn mean_ln(&self) -> f64 {
        digamma(self.a) - self.b.ln()
    }

    /// Its law.
    pub fn marginal(&self) -> Marginal {
        Marginal::Gamma { shape: self.a, rate: self.b }
    }

    /// `KL(self ‖ prior)`.
    pub fn kl(&self, prior: &Gamma) -> f64 {
        self.kl_from(prior, (digamma(self.a), ln_gamma(self.a)), ln_gamma(prior.a))
    }

    /// [`Gamma::kl`] from `ψ(a)`, `log Γ(a)`, and `log Γ` of the prior's shape.
    pub(crate) fn kl_from(
        &self,
        prior: &Gamma,
        (psi, ln_gamma): (f64, f64),
        ln_gamma_prior: f64,
    ) -> f64 {
        (self.a - prior.a) * psi - ln_gamma
            + ln_gamma_prior
            + prior.a * (self.b.ln() - prior.b.ln())
            + self.a * (prior.b - self.b) / self.b
    }

    /// A draw.
    pub fn draw(&self, rng: &mut impl rand::Rng) -> f64 {
        gamma_draw(self.a, rng) / self.b
    }
}
