//! Gaussian mixtures whose covariances are tied, diagonal or spherical.
//!
//! Their log densities are, but for what all components have in common, linear in a row's features:
//!
//! | covariances | features of a row | besides `N_k` and the sums of these, the state of a component has |
//! |---|---|---|
//! | tied | `x` | its K-th part of `Σ w xxᵀ`, which sweeps leave as it is, and of `E[Λ]`, where its scale is learned |
//! | diagonal | `x`, `x_j²` of each column | `E[λ_kj]` and `P(loose)` of each column, where scales are learned |
//! | spherical | `x`, `Σ_j x_j²` | `E[λ_k]` and `P(loose)`, where scales are learned |

use super::axes::AxesSweeper;
use super::covariance::{Covariance, block_of};
use super::points::{Points, centres};
use super::rows::Rows;
use super::spec::BLOCK;
use super::tied::TiedSweeper;
use super::views::View;
use super::{GmmPrior, scales};
use crate::data::Dataset;
use crate::fit::Care;
use crate::linalg::{packed_index, packed_len};
use crate::model::columns::restoring;
use crate::model::{Model, ModelError, Sweeper, Units};
use crate::posterior::{Layout, Posterior};
use std::sync::Arc;

/// A Gaussian mixture with covariances that are not full, bound to its data.
///
/// Columns are centred and scaled, each by its own standard deviation; with spherical covariances all by the same number.
#[derive(Debug)]
pub struct ShapedGmm {
    pub(super) n_components: usize,
    pub(super) covariance: Covariance,
    /// The features of each row, its columns first.
    pub(super) rows: Rows,
    pub(super) centre: Vec<f64>,
    pub(super) scale: Vec<f64>,
    /// `Σ log scale`: densities of the scaled rows exceed those of the data by this much.
    pub(super) ln_scale: f64,
    pub(super) prior: GmmPrior,
    layout: Arc<Layout>,
}

impl ShapedGmm {
    /// A mixture of `n_components` Gaussians for all columns of `data`. Full covariances are [`super::Gmm`]'s.
    pub fn new(
        data: &Dataset,
        n_components: usize,
        prior: GmmPrior,
        covariance: Covariance,
    ) -> Result<ShapedGmm, ModelError> {
        match covariance {
            Covariance::Full | Covariance::Tied => data.check_for_mixture(n_components)?,
            _ => data.check_for_independent_columns(n_components)?,
        }
        prior.check_for(data.n_columns(), covariance).map_err(ModelError::Prior)?;
        let value = |i: usize, j: usize| data.column(j)[i];
        let (names, units) = (data.names(), scales(data));
        Ok(ShapedGmm::assemble(
            (data.n_rows(), &value),
            names,
            units,
            (n_components, prior, covariance),
        ))
    }

    /// Of so many rows with these values in the data's units, whose columns have these means and standard deviations.
    pub(super) fn assemble(
        (n, value): (usize, &dyn Fn(usize, usize) -> f64),
        names: &[String],
        (centre, mut scale): (Vec<f64>, Vec<f64>),
        (n_components, prior, covariance): (usize, GmmPrior, Covariance),
    ) -> ShapedGmm {
        let p = names.len();
        if covariance == Covariance::Spherical {
            let mean = scale.iter().map(|s| s * s).sum::<f64>() / p as f64;
            scale.fill(mean.sqrt());
        }
        let z = |i: usize, j: usize| (value(i, j) - centre[j]) / scale[j];
        let rows = match covariance {
            Covariance::Full | Covariance::Tied => Rows::new(p, n, z),
            Covariance::Diagonal => {
                Rows::new(2 * p, n, |i, f| if f < p { z(i, f) } else { z(i, f - p).powi(2) })
            }
            Covariance::Spherical => Rows::new(p + 1, n, |i, f| match f < p {
                true => z(i, f),
                false => (0..p).map(|j| z(i, j).powi(2)).sum(),
            }),
        };
        let blocks = covariance.blocks(n_components, names);
        let layout = Arc::new(Layout::new(n_components, names.to_vec(), blocks));
        let ln_scale = scale.iter().map(|s| s.ln()).sum();
        ShapedGmm { n_components, covariance, rows, centre, scale, ln_scale, prior, layout }
    }

    pub(super) fn p(&self) -> usize {
        self.centre.len()
    }

    /// Features of a row.
    pub(super) fn length(&self) -> usize {
        self.rows.p()
    }

    /// Variances of a component.
    pub(super) fn n_groups(&self) -> usize {
        self.length() - self.p()
    }

    /// Which of them a column has.
    pub(super) fn group_of(&self, column: usize) -> usize {
        if self.covariance == Covariance::Diagonal { column } else { 0 }
    }

    /// How many columns have the same.
    pub(super) fn group_size(&self) -> usize {
        if self.covariance == Covariance::Diagonal { 1 } else { self.p() }
    }

    /// Numbers per component in the state that the E-step makes.
    pub(super) fn statistics_len(&self) -> usize {
        1 + self.length()
    }

    /// Numbers per component in the state.
    pub(super) fn stride(&self) -> usize {
        let more = match self.covariance {
            Covariance::Full | Covariance::Tied => {
                let matrices = if self.prior.is_pooled() { 2 } else { 1 };
                matrices * packed_len(self.p())
            }
            _ if self.prior.is_pooled() => 2 * self.n_groups(),
            _ => 0,
        };
        self.statistics_len() + more
    }

    /// The names of the blocks of single columns.
    pub(super) fn column_blocks(&self) -> Vec<String> {
        self.layout.coordinates.iter().map(|name| block_of(name)).collect()
    }

    /// `E[Σ_k,jj]`, in the data's units.
    fn mean_variance(&self, posterior: &Posterior, k: usize, j: usize) -> Option<f64> {
        let (block, j) = match self.covariance {
            Covariance::Full | Covariance::Tied => (posterior.normal_wishart(BLOCK, k)?, j),
            _ => (posterior.normal_wishart(&block_of(&self.layout.coordinates[j]), k)?, 0),
        };
        Some(block.mean_covariance()?[packed_index(j, j)])
    }

    fn random(
        &self,
        weights: Option<&[f64]>,
        how: (Care, View),
        rng: &mut rand_chacha::ChaCha8Rng,
    ) -> Vec<f64> {
        let points = Points { rows: &self.rows, p: self.p() };
        centres(&points, self.n_components, (&self.centre, &self.scale), weights, how, rng)
    }
}

impl Model for ShapedGmm {
    fn name(&self) -> &'static str {
        super::KIND.name
    }
    fn n_units(&self) -> usize {
        self.rows.len()
    }
    fn n_components(&self) -> usize {
        self.n_components
    }
    fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }
    fn state_len(&self) -> usize {
        self.n_components * self.stride()
    }
    fn centre_len(&self) -> usize {
        self.p()
    }
    fn is_ascent(&self) -> bool {
        true
    }
    fn sweeper(&self) -> Box<dyn Sweeper + '_> {
        match self.covariance {
            Covariance::Full | Covariance::Tied => Box::new(TiedSweeper::new(self)),
            Covariance::Diagonal | Covariance::Spherical => Box::new(AxesSweeper::new(self)),
        }
    }

    fn random_centres(
        &self,
        weights: Option<&[f64]>,
        rng: &mut rand_chacha::ChaCha8Rng,
    ) -> Vec<f64> {
        self.random(weights, (Care::FULL, View::Scaled), rng)
    }

    /// As many as a covariance of a component's own needs; where columns are independent each has one number.
    fn handful(&self) -> usize {
        match self.covariance {
            Covariance::Full | Covariance::Tied => 2 + self.p(),
            Covariance::Diagonal | Covariance::Spherical => 3,
        }
    }

    /// Components along the axes are found along the axes.
    fn n_views(&self) -> usize {
        match self.covariance {
            Covariance::Full | Covariance::Tied => View::n_others(self.p()),
            Covariance::Diagonal | Covariance::Spherical => 0,
        }
    }

    fn rough_centres(
        &self,
        weights: Option<&[f64]>,
        view: usize,
        rng: &mut rand_chacha::ChaCha8Rng,
    ) -> Vec<f64> {
        self.random(weights, (Care::ROUGH, View::numbered(self.p(), view)), rng)
    }

    /// Each component tied to the common scales where it is mostly loose, and the other way round.
    fn variants(&self, state: &[f64]) -> Vec<Vec<f64>> {
        let (stride, statistics) = (self.stride(), self.statistics_len());
        if self.covariance == Covariance::Tied || !self.prior.is_pooled() {
            return Vec::new();
        }
        let flip = |c: usize| {
            let mut variant = state.to_vec();
            let own = &mut variant[c * stride + statistics..(c + 1) * stride];
            let loose: f64 = own.iter().skip(1).step_by(2).sum();
            let other = if 2.0 * loose < self.n_groups() as f64 { 1.0 } else { 0.0 };
            own.iter_mut().skip(1).step_by(2).for_each(|x| *x = other);
            variant
        };
        (0..self.n_components).map(flip).collect()
    }

    /// The largest ratio, either way, of a standard deviation in `E[Σ_k]` to that of the weighted rows that it describes:
    /// those of all components where they have one covariance, those of all columns where they have one variance.
    fn made_by_prior(&self, posterior: &Posterior, weights: Option<&[f64]>) -> Vec<f64> {
        let (p, k) = (self.p(), self.n_components);
        let mut sweeper = self.sweeper();
        let Ok(responsibilities) =
            sweeper.load(weights).and_then(|()| sweeper.responsibilities_under(posterior))
        else {
            return Vec::new();
        };
        // Scatter and degrees of freedom of each component in each column, in the data's units.
        let mut scatter = vec![(0.0, 0.0); k * p];
        for (c, own) in scatter.chunks_exact_mut(p).enumerate() {
            for (j, out) in own.iter_mut().enumerate() {
                let (mut n, mut first, mut second) = (0.0, 0.0, 0.0);
                for (row, r) in responsibilities.chunks_exact(k).enumerate() {
                    let (x, share) =
                        (self.rows.get(row, j), weights.map_or(r[c], |w| w[row] * r[c]));
                    n += share;
                    first += share * x;
                    second += share * x * x;
                }
                if n >= 2.0 {
                    *out = ((second - first * first / n) * self.scale[j].powi(2), n - 1.0);
                }
            }
        }
        let of = |c: usize, j: usize| -> (f64, f64) {
            let add = |a: (f64, f64), b: &(f64, f64)| (a.0 + b.0, a.1 + b.1);
            match self.covariance {
                Covariance::Full | Covariance::Diagonal => scatter[c * p + j],
                Covariance::Tied => scatter.iter().skip(j).step_by(p).fold((0.0, 0.0), add),
                Covariance::Spherical => scatter[c * p..(c + 1) * p].iter().fold((0.0, 0.0), add),
            }
        };
        let factor = |c: usize| {
            let mut largest = 1.0_f64;
            for j in 0..p {
                let (scatter, df) = of(c, j);
                if df <= 0.0 {
                    return None;
                }
                let ratio = (self.mean_variance(posterior, c, j)? / (scatter / df)).sqrt();
                largest = largest.max(ratio).max(1.0 / ratio);
            }
            Some(largest)
        };
        (0..k).map(|c| factor(c).unwrap_or(1.0)).collect()
    }

    fn numbers(&self, column: usize) -> Option<Vec<f64>> {
        let restored = restoring(self.centre[column], self.scale[column]);
        Some((0..self.rows.len()).map(|i| restored(self.rows.get(i, column))).collect())
    }

    fn units(&self) -> Option<Units<'_>> {
        let units = Units::of_first_degree(self.rows.len(), self.length(), &self.rows.blocks);
        Some(match self.covariance {
            Covariance::Full | Covariance::Tied => units.with_squares(),
            Covariance::Diagonal | Covariance::Spherical => units,
        })
    }
}
