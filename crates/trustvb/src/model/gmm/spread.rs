//! The prior of the covariances as the divergence of a sweep needs it, whether it is fixed or learned.

use super::pooling::Pool;
use super::prior::Covariances;
use crate::model::Degenerate;

/// The prior of the covariances as the divergence needs it: `W0^-1 = t_k · matrix` for component k.
pub(super) struct Spread<'a> {
    pub(super) matrix: &'a [f64],
    /// Its Cholesky factor.
    pub(super) factor: &'a [f64],
    /// What the learned scale itself costs.
    pub(super) kl: f64,
    scales: Scales<'a>,
}

enum Scales<'a> {
    Fixed(ScaleOf),
    Pooled(&'a Pool),
}

/// The scale of one component.
#[derive(Clone, Copy)]
pub(super) struct ScaleOf {
    pub(super) nu0: f64,
    pub(super) t: f64,
    /// `ln|W0^-1|`, or its mean.
    pub(super) ln_det: f64,
    /// `Σ_j ln Γ((ν0+1−j)/2)`, or its mean.
    pub(super) ln_gammas: f64,
}

impl<'a> Spread<'a> {
    pub(super) fn of(
        prior: &'a Covariances,
        pool: Option<&'a Pool>,
    ) -> Result<Spread<'a>, Degenerate> {
        match (prior, pool) {
            (Covariances::Fixed(fixed), _) => Ok(Spread {
                matrix: &fixed.w0_inverse,
                factor: &fixed.w0_inverse_factor,
                kl: 0.0,
                scales: Scales::Fixed(ScaleOf {
                    nu0: fixed.nu0,
                    t: 1.0,
                    ln_det: fixed.ln_det_w0_inverse,
                    ln_gammas: fixed.ln_gammas,
                }),
            }),
            (Covariances::Pooled(_), Some(pool)) => {
                let (matrix, factor) = (&pool.s[..], &pool.s_factor[..]);
                Ok(Spread { matrix, factor, kl: pool.kl, scales: Scales::Pooled(pool) })
            }
            (Covariances::Pooled(_), None) => {
                Err(Degenerate::Prior("no weights are loaded".to_owned()))
            }
        }
    }

    pub(super) fn of_component(&self, k: usize) -> ScaleOf {
        match self.scales {
            Scales::Fixed(scale) => scale,
            Scales::Pooled(pool) => ScaleOf {
                nu0: pool.nu0[k],
                t: pool.t[k],
                ln_det: pool.ln_det[k],
                ln_gammas: pool.ln_gammas[k],
            },
        }
    }
}
