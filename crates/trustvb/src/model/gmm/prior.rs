//! The prior of a Gaussian mixture: what a user may set, and its value for a given sample.

use super::pooling::{Pooling, Tie, ln_gammas};
use super::scale_both_sides;
use crate::linalg::{cholesky, invert_spd, ln_det_from_cholesky, pack, packed_index, packed_len};
use crate::model::Degenerate;
use crate::model::prior::{PriorBase, check_above};
use crate::posterior::SymmetricDirichlet;
use serde::{Deserialize, Serialize};

/// Prior parameters, in the data's units. What is `None` comes from `base`, computed from the
/// sample that is fitted (for a resample, from the resample):
///
/// | | `default` | `paper`, and `standardised` |
/// |---|---|---|
/// | `alpha0` | 1 | 1/K |
/// | `m0` | column means | column means |
/// | `beta0` | 0.01 | 1 |
/// | `nu0` | several ties, (M8): mostly p + 6 (with `W0`: p + 2) | p + 2 |
/// | `W0` | learned from all components, (M4'') | the covariance matrix; that of standardised columns, mapped back |
///
/// With `default` an affine change of the data changes nothing but the units of the answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GmmPrior {
    /// Where unset parameters come from.
    #[serde(default)]
    pub base: PriorBase,
    /// Dirichlet parameter of every weight.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::model::prior::one_number"
    )]
    pub alpha0: Option<f64>,
    /// Prior mean of every `μ_k`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub m0: Option<Vec<f64>>,
    /// Prior count of `μ_k`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta0: Option<f64>,
    /// Degrees of freedom of `Λ_k`. Where the scale is learned, those of the only tie to it: there are no stronger ones then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nu0: Option<f64>,
    /// Wishart scale (a precision), by rows.
    #[serde(default, rename = "W0", skip_serializing_if = "Option::is_none")]
    pub w0: Option<Vec<Vec<f64>>>,
    /// The probability that a component's covariance is not like the others' (`default` without `W0`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loose: Option<f64>,
}

impl GmmPrior {
    /// The paper's prior.
    pub fn paper() -> GmmPrior {
        GmmPrior { base: PriorBase::Paper, ..GmmPrior::default() }
    }

    /// Whether the scale of the covariances is learned.
    pub(super) fn is_pooled(&self) -> bool {
        self.base == PriorBase::Default && self.w0.is_none()
    }

    /// How components may be tied to the scale that is learned, for full covariances: the usual tie first.
    fn ties(&self, p: usize) -> Vec<Tie> {
        let loose = self.loose.unwrap_or(LOOSE);
        let strong = self.strong(p);
        let usual = 1.0 - strong.iter().map(|(_, share)| share).sum::<f64>();
        let nu0 = self.nu0.unwrap_or(p as f64 + TIED);
        let mut ties = vec![Tie::tied(p, nu0, (1.0 - loose) * usual)];
        if loose > 0.0 {
            ties.push(Tie::loose(p, loose));
        }
        let stronger =
            |(more, share): &(f64, f64)| Tie::tied(p, p as f64 + more, (1.0 - loose) * share);
        ties.extend(strong.iter().map(stronger));
        ties
    }

    /// The ties beyond the usual one. One column has none: there all shapes but the tied one are the same model.
    fn strong(&self, p: usize) -> &'static [(f64, f64)] {
        if self.nu0.is_none() && p > 1 { &STRONG } else { &[] }
    }

    /// How many ties there are.
    pub(super) fn n_ties(&self, p: usize) -> usize {
        1 + usize::from(self.loose != Some(0.0)) + self.strong(p).len()
    }

    /// The strongest tie but one, where there are strong ones.
    pub(super) fn strong_tie(&self, p: usize) -> Option<usize> {
        (!self.strong(p).is_empty()).then(|| self.n_ties(p) - 2)
    }

    /// Checks the given parameters against the number of columns, for full covariances.
    pub fn check(&self, p: usize) -> Result<(), String> {
        self.check_with(p, p as f64 - 1.0)
    }

    /// As [`GmmPrior::check`], where degrees of freedom must be above `least`.
    pub(super) fn check_with(&self, p: usize, least: f64) -> Result<(), String> {
        check_above("alpha0", self.alpha0, 0.0)?;
        check_above("beta0", self.beta0, 0.0)?;
        check_above("nu0", self.nu0, least)?;
        if let Some(loose) = self.loose.filter(|x| !(0.0..1.0).contains(x)) {
            return Err(format!("the prior's loose is {loose} but must be at least 0 and below 1"));
        }
        if self.loose.is_some() && (self.w0.is_some() || self.base != PriorBase::Default) {
            return Err(
                "the prior's loose is for scales that are learned: leave it out, or W0 and base"
                    .to_owned(),
            );
        }
        if let Some(m0) = &self.m0 {
            if m0.len() != p {
                return Err(format!(
                    "the prior's m0 has {} numbers but the data have {p} columns",
                    m0.len()
                ));
            }
            if m0.iter().any(|x| !x.is_finite()) {
                return Err("the prior's m0 must be finite".to_owned());
            }
        }
        if let Some(w0) = &self.w0 {
            let packed = (w0.len() == p).then(|| pack(w0)).flatten().ok_or_else(|| {
                format!("the prior's W0 must be a symmetric matrix of {p} rows and {p} columns")
            })?;
            invert_spd(p, &packed)
                .map_err(|_| "the prior's W0 must be positive definite".to_owned())?;
        }
        Ok(())
    }

    /// The prior for a sample with these moments, in scaled units (`x = centre + scale·z`).
    ///
    /// `moments` are `Σw`, `Σ w z` and the triangle of `Σ w z zᵀ`.
    pub(super) fn resolve(
        &self,
        n_components: usize,
        moments: &[f64],
        centre: &[f64],
        scale: &[f64],
    ) -> Result<ResolvedPrior, Degenerate> {
        let p = centre.len();
        let total = moments[0];
        if total.is_nan() || total <= 0.0 {
            return Err(Degenerate::Prior("no unit has positive weight".to_owned()));
        }
        let mean: Vec<f64> = moments[1..=p].iter().map(|s| s / total).collect();
        let m0 = match &self.m0 {
            Some(m0) => (0..p).map(|j| (m0[j] - centre[j]) / scale[j]).collect(),
            None => mean.clone(),
        };
        let covariances = match self.w0.as_ref().and_then(|w0| pack(w0)) {
            Some(given) => {
                // Λ_z = D Λ_x D.
                let mut w0 = vec![0.0; packed_len(p)];
                scale_both_sides(&given, scale, &mut w0);
                self.fixed(p, &w0)?
            }
            None => {
                let covariance = covariance(p, moments, &mean)?;
                let mapped = |factor: Vec<f64>| {
                    let mut w0 = vec![0.0; packed_len(p)];
                    scale_both_sides(&covariance, &factor, &mut w0);
                    self.fixed(p, &w0)
                };
                match self.base {
                    PriorBase::Default => {
                        let share = share_of_volume(n_components, p);
                        let guess = covariance.iter().map(|c| share * c).collect();
                        Pooling::new(p, guess, self.ties(p))
                            .map(Covariances::Pooled)
                            .map_err(|_| collinear())?
                    }
                    // Cov(x) = D Cov(z) D as a precision of x is D² Cov(z) D² as one of z.
                    PriorBase::Paper => mapped(scale.iter().map(|s| s * s).collect())?,
                    PriorBase::Standardised => {
                        mapped((0..p).map(|j| 1.0 / covariance[packed_index(j, j)]).collect())?
                    }
                }
            }
        };
        let weak = self.base == PriorBase::Default;
        let alpha0 = self.alpha0.unwrap_or(if weak { ALPHA0 } else { 1.0 / n_components as f64 });
        let beta0 = self.beta0.unwrap_or(if weak { BETA0 } else { 1.0 });
        let weights = SymmetricDirichlet::new(n_components, alpha0);
        let mut base = match &covariances {
            Covariances::Fixed(fixed) => fixed.w0_inverse.clone(),
            Covariances::Pooled(_) => vec![0.0; packed_len(p)],
        };
        for i in 0..p {
            for j in 0..=i {
                base[packed_index(i, j)] += beta0 * m0[i] * m0[j];
            }
        }
        Ok(ResolvedPrior { weights, beta0, m0, base, covariances })
    }

    /// The prior with this Wishart scale, whatever the data.
    pub(super) fn fixed(&self, p: usize, w0: &[f64]) -> Result<Covariances, Degenerate> {
        let (w0_inverse, _) = invert_spd(p, w0).map_err(|_| collinear())?;
        let mut w0_inverse_factor = w0_inverse.clone();
        cholesky(p, &mut w0_inverse_factor)
            .map_err(|_| Degenerate::Prior("its columns are nearly collinear".to_owned()))?;
        let nu0 = self.nu0.unwrap_or(p as f64 + 2.0);
        Ok(Covariances::Fixed(FixedScale {
            nu0,
            ln_det_w0_inverse: ln_det_from_cholesky(p, &w0_inverse_factor),
            w0_inverse,
            w0_inverse_factor,
            ln_gammas: ln_gammas(p, nu0),
        }))
    }
}

/// What of the data's variance is a component's: each of K components takes a K-th of the volume.
pub(super) fn share_of_volume(n_components: usize, p: usize) -> f64 {
    (n_components as f64).powf(-2.0 / p as f64)
}

/// Dirichlet parameter of every weight.
pub(super) const ALPHA0: f64 = 1.0;

/// Prior count of a component's mean: it may be anywhere.
pub(super) const BETA0: f64 = 0.01;

/// Degrees of freedom beyond p with which components are tied to the common scale.
pub(super) const TIED: f64 = 6.0;

/// Those with which the one matrix of tied covariances is, which has no others to be unlike. Its bound is within a few nats
/// of what the best tie has for it, in 2 to 40 columns.
pub(super) const TIED_ALONE: f64 = 60.0;

/// Degrees of freedom beyond p of stronger ties, and the share of each among tied components, (M8). A strong tie needs
/// evidence of several nats. Few columns cannot give that; many columns do where covariances are equal.
const STRONG: [(f64, f64); 4] = [(20.0, 0.1), (60.0, 0.1), (200.0, 0.1), (600.0, 0.1)];

/// The probability that a component is not.
pub(super) const LOOSE: f64 = 0.5;

pub(super) fn collinear() -> Degenerate {
    Degenerate::Prior("its columns are collinear".to_owned())
}

/// The covariance matrix of a sample with these moments.
pub(super) fn covariance(p: usize, moments: &[f64], mean: &[f64]) -> Result<Vec<f64>, Degenerate> {
    let total = moments[0];
    let denominator = if total > 1.0 { total - 1.0 } else { total };
    let mut covariance = vec![0.0; packed_len(p)];
    for i in 0..p {
        for j in 0..=i {
            let at = packed_index(i, j);
            let about_mean = moments[1 + p + at] - total * mean[i] * mean[j];
            covariance[at] = about_mean / denominator;
        }
    }
    // What is left of a constant column after the subtraction is rounding.
    let constant = |j: usize| {
        let at = packed_index(j, j);
        covariance[at] * denominator <= 1e-12 * moments[1 + p + at]
    };
    if (0..p).any(constant) {
        return Err(Degenerate::Prior("a column is constant".to_owned()));
    }
    Ok(covariance)
}

/// A prior's numbers in scaled units, with what every sweep needs of them.
#[derive(Clone, Debug)]
pub(super) struct ResolvedPrior {
    pub(super) weights: SymmetricDirichlet,
    pub(super) beta0: f64,
    pub(super) m0: Vec<f64>,
    /// `W0^-1 + β0 m0 m0ᵀ`, without `W0^-1` where that is learned.
    pub(super) base: Vec<f64>,
    pub(super) covariances: Covariances,
}

/// What is known of the components' covariances beforehand.
#[derive(Clone, Debug)]
pub(super) enum Covariances {
    /// The same Wishart for each component.
    Fixed(FixedScale),
    /// A Wishart whose scale is learned from all of them.
    Pooled(Pooling),
}

/// A Wishart prior.
#[derive(Clone, Debug)]
pub(super) struct FixedScale {
    pub(super) nu0: f64,
    pub(super) w0_inverse: Vec<f64>,
    /// Cholesky factor of `W0^-1`.
    pub(super) w0_inverse_factor: Vec<f64>,
    pub(super) ln_det_w0_inverse: f64,
    /// `Σ_j log Γ((ν0+1−j)/2)`.
    pub(super) ln_gammas: f64,
}
