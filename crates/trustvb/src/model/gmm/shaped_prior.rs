//! The prior of covariances that are tied, diagonal or spherical: the same settings, for fewer numbers.
//!
//! Weights and means have the prior of [`GmmPrior`]. Of the covariances the usual prior says
//!
//! | | |
//! |---|---|
//! | tied | (M4'') for the one matrix, with a single tie to its scale (ν0 = p + 60) |
//! | diagonal | (M4'') with p = 1 for each column: the variances of a column share a scale that is learned, each tied to it (ν0 = 7) or loose (3) |
//! | spherical | the same for the one variance of each component |
//!
//! Scales are learned under every shape, so that the bounds of shapes compare. The strong ties of full covariances, (M8),
//! are not needed here: covariances of these shapes have few numbers, which do not differ much by chance.
//!
//! A scale is guessed to be a column's variance (for tied covariances the columns' covariance matrix, for spherical ones
//! their mean variance) over `K^(2/p)`. Shifting or
//! scaling columns changes nothing for diagonal covariances, an affine map nothing for tied ones. Spherical covariances are
//! by their nature in the units of the columns.

use super::GmmPrior;
use super::covariance::Covariance;
use super::pooling::{Pooling, Tie, ln_gammas};
use super::prior::{
    ALPHA0, BETA0, Covariances, LOOSE, TIED, TIED_ALONE, collinear, covariance, share_of_volume,
};
use super::scale_both_sides;
use crate::linalg::{pack, packed_len};
use crate::model::{Degenerate, PriorBase};
use crate::posterior::SymmetricDirichlet;

/// The prior of weights and means, in scaled units.
#[derive(Clone, Debug)]
pub(super) struct Centres {
    pub(super) weights: SymmetricDirichlet,
    pub(super) beta0: f64,
    pub(super) m0: Vec<f64>,
}

/// With one precision matrix.
#[derive(Clone, Debug)]
pub(super) struct TiedPrior {
    pub(super) centres: Centres,
    pub(super) covariance: Covariances,
}

/// With a precision for each group of columns.
#[derive(Clone, Debug)]
pub(super) struct AxesPrior {
    pub(super) centres: Centres,
    pub(super) scales: Scales,
}

/// What is known of the precisions beforehand.
#[derive(Clone, Debug)]
pub(super) enum Scales {
    /// `Gamma(ν0/2, w/2)` with a `w` for each group.
    Fixed {
        nu0: f64,
        w0_inverse: Vec<f64>,
        /// `log Γ(ν0/2)`.
        ln_gamma: f64,
    },
    /// Learned, for each group by itself.
    Pooled(Vec<Pooling>),
}

impl GmmPrior {
    /// Checks the given parameters against the number of columns and the shape of the covariances.
    pub fn check_for(&self, p: usize, shape: Covariance) -> Result<(), String> {
        if shape == Covariance::Full {
            return self.check(p);
        }
        if self.base != PriorBase::Default {
            return Err(format!(
                "the prior's base must be \"default\" with {shape} covariances: the paper's is for full ones"
            ));
        }
        if shape == Covariance::Tied && self.loose.is_some() {
            return Err("the prior's loose is for covariances of which each component has its own: leave it out \
                        with tied ones"
                .to_owned());
        }
        self.check_with(p, if shape == Covariance::Tied { p as f64 - 1.0 } else { 0.0 })?;
        let Some(w0) = &self.w0 else { return Ok(()) };
        let entries = || (0..p).flat_map(|i| (0..p).map(move |j| (i, j)));
        let off = entries().any(|(i, j)| i != j && w0[i][j] != 0.0);
        let unequal = (0..p).any(|i| w0[i][i] != w0[0][0]);
        match shape {
            Covariance::Diagonal if off => {
                Err("the prior's W0 must be diagonal with diagonal covariances".to_owned())
            }
            Covariance::Spherical if off || unequal => Err(
                "the prior's W0 must be a multiple of the unit matrix with spherical covariances"
                    .to_owned(),
            ),
            _ => Ok(()),
        }
    }

    fn centres(
        &self,
        n_components: usize,
        totals: &[f64],
        centre: &[f64],
        scale: &[f64],
    ) -> Result<(Centres, Vec<f64>), Degenerate> {
        let (p, total) = (centre.len(), totals[0]);
        if total.is_nan() || total <= 0.0 {
            return Err(Degenerate::Prior("no unit has positive weight".to_owned()));
        }
        let mean: Vec<f64> = totals[1..=p].iter().map(|s| s / total).collect();
        let m0 = match &self.m0 {
            Some(m0) => (0..p).map(|j| (m0[j] - centre[j]) / scale[j]).collect(),
            None => mean.clone(),
        };
        let weights = SymmetricDirichlet::new(n_components, self.alpha0.unwrap_or(ALPHA0));
        Ok((Centres { weights, beta0: self.beta0.unwrap_or(BETA0), m0 }, mean))
    }

    /// The prior of a sample with these moments: `Σw`, `Σ w z` and the triangle of `Σ w z zᵀ`, in scaled units.
    pub(super) fn resolve_tied(
        &self,
        n_components: usize,
        moments: &[f64],
        (centre, scale): (&[f64], &[f64]),
    ) -> Result<TiedPrior, Degenerate> {
        let p = centre.len();
        let (centres, mean) = self.centres(n_components, moments, centre, scale)?;
        let covariance = match self.w0.as_ref().and_then(|w0| pack(w0)) {
            Some(given) => {
                let mut w0 = vec![0.0; packed_len(p)];
                scale_both_sides(&given, scale, &mut w0);
                self.fixed(p, &w0)?
            }
            None => {
                let share = share_of_volume(n_components, p);
                let guess = covariance(p, moments, &mean)?.iter().map(|c| share * c).collect();
                let nu0 = self.nu0.unwrap_or(p as f64 + TIED_ALONE);
                let pooling = Pooling::new(p, guess, vec![Tie::tied(p, nu0, 1.0)])
                    .map_err(|_| collinear())?;
                Covariances::Pooled(pooling)
            }
        };
        Ok(TiedPrior { centres, covariance })
    }

    /// The prior of a sample with these totals: `Σw`, `Σ w z`, and `Σ w z²` over the columns of each group, of which there
    /// are `columns`; in scaled units.
    pub(super) fn resolve_axes(
        &self,
        n_components: usize,
        totals: &[f64],
        columns: usize,
        (centre, scale): (&[f64], &[f64]),
    ) -> Result<AxesPrior, Degenerate> {
        let (p, total) = (centre.len(), totals[0]);
        let (centres, mean) = self.centres(n_components, totals, centre, scale)?;
        if let Some(w0) = &self.w0 {
            let nu0 = self.nu0.unwrap_or(3.0);
            // Groups begin at every `columns`-th column; λ_z = s² λ_x.
            let first = (0..p).step_by(columns);
            let w0_inverse = first.map(|j| 1.0 / (w0[j][j] * scale[j] * scale[j])).collect();
            let scales = Scales::Fixed { nu0, w0_inverse, ln_gamma: ln_gammas(1, nu0) };
            return Ok(AxesPrior { centres, scales });
        }
        let denominator = if total > 1.0 { total - 1.0 } else { total };
        let share = share_of_volume(n_components, p);
        let nu0 = self.nu0.unwrap_or(1.0 + TIED);
        let loose = self.loose.unwrap_or(LOOSE);
        let mut ties = vec![Tie::tied(1, nu0, 1.0 - loose)];
        if loose > 0.0 {
            ties.push(Tie::loose(1, loose));
        }
        let means = mean.chunks_exact(columns);
        let poolings = totals[1 + p..].iter().zip(means).map(|(square, mean)| {
            let about_mean = square - total * mean.iter().map(|m| m * m).sum::<f64>();
            // What is left of a constant column after the subtraction is rounding.
            if about_mean.is_nan() || about_mean <= 1e-12 * square {
                return Err(Degenerate::Prior("a column is constant".to_owned()));
            }
            let variance = about_mean / (denominator * columns as f64);
            Pooling::new(1, vec![share * variance], ties.clone()).map_err(|_| collinear())
        });
        let scales = Scales::Pooled(poolings.collect::<Result<_, _>>()?);
        Ok(AxesPrior { centres, scales })
    }
}
