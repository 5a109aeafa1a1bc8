//! The Normal–Wishart block: the mean and precision matrix of a Gaussian component.

use super::{Marginal, dirichlet::gamma_draw};
use crate::linalg::{
    NotPositiveDefinite, cholesky, invert_lower, invert_spd, packed_index, packed_len,
    quadratic_form, trace_of_product,
};
use crate::special::gamma::{digamma, ln_multigamma};
use rand_distr::{Distribution, StandardNormal};

/// `μ|Λ ~ N(m, (βΛ)^-1)`, `Λ ~ Wishart(W, ν)`, stored as `β, ν, m` and the lower triangle of `W^-1`.
#[derive(Clone, Copy, Debug)]
pub struct NormalWishart<'a> {
    p: usize,
    /// Precision of the mean, in units of `Λ`.
    pub beta: f64,
    /// Degrees of freedom.
    pub nu: f64,
    mean: &'a [f64],
    w_inverse: &'a [f64],
}

/// A draw of a component: its mean and covariance (packed lower triangle).
#[derive(Clone, Debug, PartialEq)]
pub struct NormalWishartDraw {
    /// `μ`.
    pub mean: Vec<f64>,
    /// `Σ = Λ^-1`.
    pub covariance: Vec<f64>,
}

impl<'a> NormalWishart<'a> {
    pub(crate) fn new(p: usize, parameters: &'a [f64]) -> NormalWishart<'a> {
        let (head, rest) = parameters.split_at(2);
        let (mean, w_inverse) = rest.split_at(p);
        NormalWishart { p, beta: head[0], nu: head[1], mean, w_inverse }
    }

    /// `m`.
    pub fn mean(&self) -> &'a [f64] {
        self.mean
    }

    /// The lower triangle of `W^-1`, packed by rows.
    pub fn w_inverse(&self) -> &'a [f64] {
        self.w_inverse
    }

    /// The lower triangle of `W`.
    pub fn w(&self) -> Result<Vec<f64>, NotPositiveDefinite> {
        Ok(invert_spd(self.p, self.w_inverse)?.0)
    }

    /// Degrees of freedom of the t marginal of the mean, `ν − p + 1`.
    pub fn mean_df(&self) -> f64 {
        self.nu - self.p as f64 + 1.0
    }

    /// The law of `cᵀμ`: a scaled t with `ν−p+1` degrees of freedom and
    /// squared scale `cᵀW^-1c / (β(ν−p+1))`.
    pub fn linear_marginal(&self, c: &[f64]) -> Marginal {
        let df = self.mean_df();
        let location = c.iter().zip(self.mean).map(|(c, m)| c * m).sum();
        let form = quadratic_form(self.p, self.w_inverse, c);
        Marginal::StudentT { df, location, scale: (form / (self.beta * df)).sqrt() }
    }

    /// The law of `cᵀΣc`: inverse-gamma with shape `(ν−p+1)/2` and scale `cᵀW^-1c/2`.
    pub fn variance_marginal(&self, c: &[f64]) -> Marginal {
        Marginal::InverseGamma {
            shape: 0.5 * self.mean_df(),
            scale: 0.5 * quadratic_form(self.p, self.w_inverse, c),
        }
    }

    /// `E[Σ] = W^-1/(ν − p − 1)`, packed; `None` when it does not exist.
    pub fn mean_covariance(&self) -> Option<Vec<f64>> {
        let denominator = self.nu - self.p as f64 - 1.0;
        (denominator > 0.0).then(|| self.w_inverse.iter().map(|x| x / denominator).collect())
    }

    /// `KL(self ‖ prior)`.
    pub fn kl(&self, prior: &NormalWishart<'_>) -> Result<f64, NotPositiveDefinite> {
        let (w, ln_det_w_inverse) = invert_spd(self.p, self.w_inverse)?;
        let (_, ln_det_w0_inverse) = invert_spd(self.p, prior.w_inverse)?;
        let shift: Vec<f64> = self.mean.iter().zip(prior.mean).map(|(a, b)| a - b).collect();
        Ok(NormalWishartKl {
            p: self.p,
            beta: self.beta,
            nu: self.nu,
            beta0: prior.beta,
            nu0: prior.nu,
            ln_det_ratio: ln_det_w0_inverse - ln_det_w_inverse,
            trace: trace_of_product(self.p, prior.w_inverse, &w),
            shift: quadratic_form(self.p, &w, &shift),
            digammas: multi_digamma(self.p, self.nu),
            ln_multigamma_ratio: ln_multigamma(self.p, 0.5 * self.nu)
                - ln_multigamma(self.p, 0.5 * prior.nu),
        }
        .kl())
    }

    /// A draw of mean and covariance, by Bartlett's decomposition.
    pub fn draw(&self, rng: &mut impl rand::Rng) -> Result<NormalWishartDraw, NotPositiveDefinite> {
        let p = self.p;
        // W^-1 = L Lᵀ and Λ = L^-T T Tᵀ L^-1 with T lower triangular, so Σ = (L T^-T)(L T^-T)ᵀ.
        let mut l = self.w_inverse.to_vec();
        cholesky(p, &mut l)?;
        let mut t = vec![0.0; packed_len(p)];
        for i in 0..p {
            for j in 0..i {
                t[packed_index(i, j)] = StandardNormal.sample(rng);
            }
            let shape = 0.5 * (self.nu - i as f64);
            t[packed_index(i, i)] = (2.0 * gamma_draw(shape, rng)).sqrt();
        }
        let mut t_inverse = vec![0.0; t.len()];
        invert_lower(p, &t, &mut t_inverse);
        // root[i][j] = Σ_k L[i][k] T^-1[j][k]: a square root of Σ.
        let root: Vec<Vec<f64>> = (0..p)
            .map(|i| {
                (0..p)
                    .map(|j| {
                        (0..=i.min(j))
                            .map(|k| l[packed_index(i, k)] * t_inverse[packed_index(j, k)])
                            .sum()
                    })
                    .collect()
            })
            .collect();
        let mut covariance = vec![0.0; packed_len(p)];
        for i in 0..p {
            for j in 0..=i {
                covariance[packed_index(i, j)] = (0..p).map(|k| root[i][k] * root[j][k]).sum();
            }
        }
        let z: Vec<f64> = (0..p).map(|_| StandardNormal.sample(rng)).collect();
        let spread = self.beta.sqrt();
        let mean = (0..p)
            .map(|i| {
                self.mean[i] + root[i].iter().zip(&z).map(|(r, z)| r * z).sum::<f64>() / spread
            })
            .collect();
        Ok(NormalWishartDraw { mean, covariance })
    }
}

/// `Σ_{j=1..p} ψ((ν+1−j)/2)`.
pub(crate) fn multi_digamma(p: usize, nu: f64) -> f64 {
    (0..p).map(|j| digamma(0.5 * (nu - j as f64))).sum()
}

/// The scalars from which the divergence of two Normal–Wisharts is made.
pub(crate) struct NormalWishartKl {
    pub(crate) p: usize,
    pub(crate) beta: f64,
    pub(crate) nu: f64,
    pub(crate) beta0: f64,
    pub(crate) nu0: f64,
    /// `log|W0^-1 W|`.
    pub(crate) ln_det_ratio: f64,
    /// `tr(W0^-1 W)`.
    pub(crate) trace: f64,
    /// `(m−m0)ᵀW(m−m0)`.
    pub(crate) shift: f64,
    /// [`multi_digamma`] at `ν`.
    pub(crate) digammas: f64,
    /// `log Γ_p(ν/2) − log Γ_p(ν0/2)`.
    pub(crate) ln_multigamma_ratio: f64,
}

impl NormalWishartKl {
    /// `½[p log(β/β0) + pβ0/β − p + β0ν(m−m0)ᵀW(m−m0)]` for the mean and
    /// `½[ν(tr W0^-1W − p) − ν0 log|W0^-1W| + (ν−ν0)Σψ] + log Γ_p(ν0/2) − log Γ_p(ν/2)` for `Λ`.
    pub(crate) fn kl(&self) -> f64 {
        let p = self.p as f64;
        let mean = p * (self.beta / self.beta0).ln() + p * self.beta0 / self.beta - p
            + self.beta0 * self.nu * self.shift;
        let precision = self.nu * (self.trace - p) - self.nu0 * self.ln_det_ratio
            + (self.nu - self.nu0) * self.digammas;
        0.5 * (mean + precision) - self.ln_multigamma_ratio
    }
}
