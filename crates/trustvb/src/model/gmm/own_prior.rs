//! How a prior that is computed from the data moves with their totals, transposed.

use super::GmmPrior;
use super::prior::covariance;
use crate::linalg::square::{add_cotangent, dot, sandwich, times};
use crate::linalg::{invert_spd, packed_len, square};
use crate::model::{Degenerate, PriorBase};

/// What of the prior depends on the totals `Σw`, `Σwx`, `Σwxxᵀ`: its centre `m0`, and a matrix that is made of the
/// covariance matrix `C` of the sample.
#[derive(Debug)]
pub(super) struct OwnPrior {
    p: usize,
    total: f64,
    mean: Vec<f64>,
    /// Whether `m0` is the mean.
    centre_moves: bool,
    matrix: Option<Moving>,
}

/// The inverse of `X_ij = f_i f_j C_ij`.
#[derive(Debug)]
struct Moving {
    covariance: Vec<f64>,
    factors: Vec<f64>,
    /// Whether `f_i = 1/C_ii`, and moves too.
    standardised: bool,
    /// `X^-1`.
    inverse: Vec<f64>,
}

/// How the prior's matrix is made of the covariance matrix.
pub(super) enum Made {
    /// Not at all.
    Given,
    /// It is the inverse of a multiple.
    InverseOfMultiple(f64),
    /// It is the inverse of `D C D` with this diagonal.
    InverseOfScaled(Vec<f64>),
    /// It is the inverse of `D C D` with `D = 1/diag C`.
    InverseOfStandardised,
}

impl GmmPrior {
    /// How the Wishart scale's inverse is made, where it is not learned. Columns were divided by `scale`.
    pub(super) fn made(&self, scale: &[f64]) -> Made {
        match self.base {
            _ if self.w0.is_some() => Made::Given,
            PriorBase::Paper => Made::InverseOfScaled(scale.iter().map(|s| s * s).collect()),
            PriorBase::Standardised => Made::InverseOfStandardised,
            // Learned.
            PriorBase::Default => Made::Given,
        }
    }
}

impl OwnPrior {
    pub(super) fn new(
        prior: &GmmPrior,
        totals: &[f64],
        p: usize,
        made: Made,
    ) -> Result<OwnPrior, Degenerate> {
        let mean: Vec<f64> = totals[1..=p].iter().map(|x| x / totals[0]).collect();
        let matrix = match made {
            Made::Given => None,
            made => {
                let packed = covariance(p, totals, &mean)?;
                let covariance = square::full(p, &packed);
                let standardised = matches!(made, Made::InverseOfStandardised);
                let factors = match &made {
                    Made::InverseOfScaled(factors) => factors.clone(),
                    Made::InverseOfMultiple(c) => vec![c.sqrt(); p],
                    _ => (0..p).map(|i| 1.0 / covariance[i * p + i]).collect(),
                };
                let mut x = vec![0.0; packed_len(p)];
                super::scale_both_sides(&packed, &factors, &mut x);
                let (inverse, _) = invert_spd(p, &x).map_err(|_| super::prior::collinear())?;
                let inverse = square::full(p, &inverse);
                Some(Moving { covariance, factors, standardised, inverse })
            }
        };
        Ok(OwnPrior { p, total: totals[0], mean, centre_moves: prior.m0.is_none(), matrix })
    }

    /// Adds to the cotangents of each component's statistics (at every `stride`) what those of `m0` and of the matrix make.
    pub(super) fn pull(&self, centre: &[f64], matrix: &[f64], stride: usize, state: &mut [f64]) {
        let p = self.p;
        let mut totals = vec![0.0; 1 + p + packed_len(p)];
        let mut mean = if self.centre_moves { centre.to_vec() } else { vec![0.0; p] };
        if let Some(moving) = &self.matrix {
            let slope = moving.pull(p, matrix);
            let denominator = if self.total > 1.0 { self.total - 1.0 } else { self.total };
            let along = times(p, &slope, &self.mean);
            add_cotangent(p, 1.0 / denominator, &slope, &mut totals[1 + p..]);
            square::add_scaled(-2.0 * self.total / denominator, &along, &mut mean);
            let of_mean = dot(&along, &self.mean);
            totals[0] -= (of_mean + dot(&slope, &moving.covariance)) / denominator;
        }
        square::add_scaled(1.0 / self.total, &mean, &mut totals[1..=p]);
        totals[0] -= dot(&mean, &self.mean) / self.total;
        for own in state.chunks_exact_mut(stride) {
            square::add_scaled(1.0, &totals, own);
        }
    }
}

impl Moving {
    /// The cotangent of the covariance matrix.
    fn pull(&self, p: usize, matrix: &[f64]) -> Vec<f64> {
        let (c, f) = (&self.covariance, &self.factors);
        let mut x = sandwich(p, &self.inverse, matrix);
        x.iter_mut().for_each(|x| *x = -*x);
        let of_factors: Vec<f64> =
            (0..p).map(|i| (0..p).map(|j| x[i * p + j] * c[i * p + j] * f[j]).sum()).collect();
        for i in 0..p {
            for j in 0..p {
                x[i * p + j] *= f[i] * f[j];
            }
        }
        if self.standardised {
            for i in 0..p {
                x[i * p + i] -= 2.0 * f[i] * f[i] * of_factors[i];
            }
        }
        x
    }
}
