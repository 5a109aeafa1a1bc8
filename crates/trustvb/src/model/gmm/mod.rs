//! Gaussian mixtures: `x_n | z_n = k ~ N(μ_k, Λ_k^-1)` with a Dirichlet and Normal–Wishart prior.

mod apart;
mod axes;
mod covariance;
mod far;
mod kernel;
mod own_prior;
mod points;
mod pooling;
mod predict;
mod prior;
mod pullback;
mod pursuit;
mod rows;
mod shaped;
mod shaped_prior;
mod simulate;
mod spec;
mod spread;
mod steps;
mod tails;
mod tied;
mod tied_pullback;
mod update;
mod views;

pub use covariance::Covariance;
pub use far::{FarRows, Pass, PassKind, RowKeeper, RowUnits, RowsPart, RowsSummary};
pub use predict::{gmm_ln_density, gmm_ln_predictive, gmm_ln_rho};
pub use prior::GmmPrior;
pub use shaped::ShapedGmm;
pub use simulate::{GmmSimulation, GmmSimulationSettings};
pub use spec::GaussianMixture;
pub(super) use spec::KIND;
pub use tails::Tails;
pub use update::Update;

use super::columns::restoring;
use super::{Degenerate, Model, ModelError, Sweeper, Units};
use crate::data::Dataset;
use crate::fit::{Care, looked_at};
use crate::linalg::{packed_index, packed_len};
use crate::posterior::{Layout, Posterior};
use points::{Points, centres};
use rows::{Rows, RowsAt};
use std::sync::Arc;
use update::GmmSweeper;
use views::View;

/// A Gaussian mixture bound to its data.
///
/// Rows are held once, centred and scaled by column, in blocks of eight for the vector unit, or are somewhere else
/// ([`FarRows`]). All arithmetic is in those units; posteriors are given in the data's own.
#[derive(Debug)]
pub struct Gmm {
    n_components: usize,
    rows: RowsAt,
    centre: Vec<f64>,
    scale: Vec<f64>,
    /// `Σ log scale`: densities of the scaled rows exceed those of the data by this much.
    ln_scale: f64,
    prior: GmmPrior,
    update: Update,
    layout: Arc<Layout>,
}

impl Gmm {
    /// A mixture of `n_components` Gaussians for all columns of `data`.
    pub fn new(
        data: &Dataset,
        n_components: usize,
        prior: GmmPrior,
        update: Update,
    ) -> Result<Gmm, ModelError> {
        data.check_for_mixture(n_components)?;
        let p = data.n_columns();
        prior.check(p).map_err(ModelError::Prior)?;
        let (centre, scale) = scales(data);
        let rows = Rows::new(p, data.n_rows(), |i, j| (data.column(j)[i] - centre[j]) / scale[j]);
        let settings = (n_components, prior, update);
        Ok(Gmm::assemble(RowsAt::Memory(rows), data.names(), (centre, scale), settings))
    }

    /// The same for rows that are not in memory.
    pub fn far(
        data: &FarRows,
        n_components: usize,
        prior: GmmPrior,
        update: Update,
    ) -> Result<Gmm, ModelError> {
        data.check_for_mixture(n_components)?;
        let RowsSummary { names, mean, sd, .. } = data.summary();
        prior.check(names.len()).map_err(ModelError::Prior)?;
        let (rows, units) = (RowsAt::Far(data.clone()), (mean.clone(), sd.clone()));
        Ok(Gmm::assemble(rows, names, units, (n_components, prior, update)))
    }

    fn assemble(
        rows: RowsAt,
        names: &[String],
        (centre, scale): (Vec<f64>, Vec<f64>),
        (n_components, prior, update): (usize, GmmPrior, Update),
    ) -> Gmm {
        let blocks = Covariance::Full.blocks(n_components, names);
        let layout = Arc::new(Layout::new(n_components, names.to_vec(), blocks));
        let ln_scale = scale.iter().map(|s| s.ln()).sum();
        Gmm { n_components, rows, centre, scale, ln_scale, prior, update, layout }
    }

    fn p(&self) -> usize {
        self.centre.len()
    }

    /// Centres in the data's units, by k-means.
    fn centres(
        &self,
        weights: Option<&[f64]>,
        how: (Care, View),
        rng: &mut rand_chacha::ChaCha8Rng,
    ) -> Vec<f64> {
        let (k, units) = (self.n_components, (&self.centre[..], &self.scale[..]));
        let far = match &self.rows {
            RowsAt::Memory(rows) => {
                let points = Points { rows, p: self.p() };
                return centres(&points, k, units, weights, how, rng);
            }
            RowsAt::Far(far) => far,
        };
        match self.fetched(far, &looked_at(far.summary().n_rows, how.0, rng)) {
            Ok(rows) => centres(&Points { rows: &rows, p: self.p() }, k, units, None, how, rng),
            // The first sweep will say why.
            Err(_) => vec![f64::NAN; k * self.p()],
        }
    }

    /// Some of the rows that are not in memory.
    fn fetched(&self, far: &FarRows, numbers: &[usize]) -> Result<Rows, Degenerate> {
        let (values, p) = (far.rows(numbers)?, self.p());
        Ok(Rows::new(p, numbers.len(), |i, j| values[i * p + j]))
    }

    /// `N`, `Σ x` and `Σ x²` at a posterior, column after column of each component.
    fn spreads(
        &self,
        posterior: &Posterior,
        weights: Option<&[f64]>,
    ) -> Result<Vec<[f64; 3]>, Degenerate> {
        let (p, k) = (self.p(), self.n_components);
        let mut sweeper = GmmSweeper::new(self);
        sweeper.load(weights)?;
        let mut sums = vec![[0.0; 3]; k * p];
        let Some(rows) = self.rows.held() else {
            let stats = sweeper.statistics_under(posterior)?;
            for (sums, own) in
                sums.chunks_exact_mut(p).zip(stats.chunks_exact(self.statistics_len()))
            {
                for (j, sums) in sums.iter_mut().enumerate() {
                    *sums = [own[0], own[1 + j], own[1 + p + packed_index(j, j)]];
                }
            }
            return Ok(sums);
        };
        let responsibilities = sweeper.responsibilities_under(posterior)?;
        for (c, sums) in sums.chunks_exact_mut(p).enumerate() {
            for (j, sums) in sums.iter_mut().enumerate() {
                for (row, r) in responsibilities.chunks_exact(k).enumerate() {
                    let (x, share) = (rows.get(row, j), weights.map_or(r[c], |w| w[row] * r[c]));
                    sums[0] += share;
                    sums[1] += share * x;
                    sums[2] += share * x * x;
                }
            }
        }
        Ok(sums)
    }

    /// Statistics per component: `N_k`, `Σ w r x`, the triangle of `Σ w r xxᵀ`.
    fn statistics_len(&self) -> usize {
        1 + self.p() + packed_len(self.p())
    }

    /// Numbers per component in the state: the statistics, and where the prior's scale is learned what that needs.
    fn stride(&self) -> usize {
        let n_ties = self.prior.n_ties(self.p());
        let extra = if self.prior.is_pooled() { pooling::extra_len(self.p(), n_ties) } else { 0 };
        self.statistics_len() + extra
    }

    /// Where a state holds the probabilities of a component's ties, all but the first.
    fn at_ties(&self, component: usize) -> std::ops::Range<usize> {
        let end = (component + 1) * self.stride();
        end + 1 - self.prior.n_ties(self.p())..end
    }

    /// Gives a component this tie, the first for 0.
    fn tie(&self, state: &mut [f64], component: usize, tie: usize) {
        for (at, q) in state[self.at_ties(component)].iter_mut().enumerate() {
            *q = if at + 1 == tie { 1.0 } else { 0.0 };
        }
    }
}

impl Model for Gmm {
    fn name(&self) -> &'static str {
        "gmm"
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
        self.update == Update::Corrected
    }
    fn sweeper(&self) -> Box<dyn Sweeper + '_> {
        Box::new(GmmSweeper::new(self))
    }

    fn random_centres(
        &self,
        weights: Option<&[f64]>,
        rng: &mut rand_chacha::ChaCha8Rng,
    ) -> Vec<f64> {
        self.centres(weights, (Care::FULL, View::Scaled), rng)
    }

    fn n_views(&self) -> usize {
        View::n_others(self.p())
    }

    fn rough_centres(
        &self,
        weights: Option<&[f64]>,
        view: usize,
        rng: &mut rand_chacha::ChaCha8Rng,
    ) -> Vec<f64> {
        self.centres(weights, (Care::ROUGH, View::numbered(self.p(), view)), rng)
    }

    /// Each component loose where it is tied and tied where it is loose, and all of them tied in each way.
    fn variants(&self, state: &[f64]) -> Vec<Vec<f64>> {
        let n_ties = if self.prior.is_pooled() { self.prior.n_ties(self.p()) } else { 0 };
        if n_ties < 2 {
            return Vec::new();
        }
        let is_loose = |c: usize| state[self.at_ties(c)][0] > 0.5;
        let may_be_loose = self.prior.loose != Some(0.0);
        let flips = (0..self.n_components).filter(|_| may_be_loose).map(|c| {
            let mut variant = state.to_vec();
            self.tie(&mut variant, c, usize::from(!is_loose(c)));
            variant
        });
        let alike = (0..n_ties).filter(|_| n_ties > 2).map(|tie| {
            let mut variant = state.to_vec();
            (0..self.n_components).for_each(|c| self.tie(&mut variant, c, tie));
            variant
        });
        flips.chain(alike).collect()
    }

    /// Every other start begins from a strong tie: from a weaker one sweeps rarely come to it.
    fn vary_start(&self, number: usize, state: &mut [f64]) {
        if self.prior.is_pooled()
            && let Some(strong) = self.prior.strong_tie(self.p())
            && number.is_multiple_of(2)
        {
            (0..self.n_components).for_each(|c| self.tie(state, c, strong));
        }
    }

    /// The other shapes of covariance, where the prior is the one whose bounds compare with theirs.
    fn simpler(&self) -> Vec<Box<dyn Model>> {
        let is_usual = self.prior == GmmPrior::default() && self.is_ascent();
        let Some(rows) = self.rows.held().filter(|_| is_usual && self.p() > 1) else {
            return Vec::new();
        };
        let value = |i: usize, j: usize| self.centre[j] + self.scale[j] * rows.get(i, j);
        let others = Covariance::ALL.into_iter().filter(|shape| *shape != Covariance::Full);
        let of_shape = |shape: Covariance| {
            let settings = (self.n_components, self.prior.clone(), shape);
            let units = (self.centre.clone(), self.scale.clone());
            let names = &self.layout.coordinates;
            let model = ShapedGmm::assemble((rows.len(), &value), names, units, settings);
            Box::new(model) as Box<dyn Model>
        };
        others.map(of_shape).collect()
    }

    fn resembling(&self, other: &Posterior) -> Option<Posterior> {
        let p = self.p();
        let weights = other.dirichlet("pi")?.alpha().to_vec();
        let mut parameters = weights.clone();
        for (k, weight) in weights.iter().enumerate() {
            let (mean, covariance) = other.gaussian(k)?;
            let nu = weight + p as f64 + 2.0;
            parameters.extend([*weight, nu]);
            parameters.extend(mean);
            parameters.extend(covariance.iter().map(|c| nu * c));
        }
        (parameters.len() == self.layout.len())
            .then(|| Posterior::new(self.layout.clone(), parameters))
    }

    /// The largest ratio, either way, of a column's standard deviation in `E[Σ_k]` to that of the weighted rows. A
    /// component with fewer than two rows is left to the flag that says so.
    fn made_by_prior(&self, posterior: &Posterior, weights: Option<&[f64]>) -> Vec<f64> {
        let (p, k) = (self.p(), self.n_components);
        let Ok(spreads) = self.spreads(posterior, weights) else { return Vec::new() };
        let factor = |c: usize| {
            let block = posterior.normal_wishart("mu_lambda", c)?;
            let fitted = block.mean_covariance()?;
            let mut largest = 1.0_f64;
            for j in 0..p {
                let [n, first, second] = spreads[c * p + j];
                if n < 2.0 {
                    return None;
                }
                let variance = (second - first * first / n) / (n - 1.0) * self.scale[j].powi(2);
                let ratio = (fitted[packed_index(j, j)] / variance).sqrt();
                largest = largest.max(ratio).max(1.0 / ratio);
            }
            Some(largest)
        };
        (0..k).map(|c| factor(c).unwrap_or(1.0)).collect()
    }

    fn numbers(&self, column: usize) -> Option<Vec<f64>> {
        let rows = self.rows.held()?;
        let restored = restoring(self.centre[column], self.scale[column]);
        Some((0..rows.len()).map(|i| restored(rows.get(i, column))).collect())
    }

    fn units(&self) -> Option<Units<'_>> {
        Some(match &self.rows {
            RowsAt::Memory(rows) => Units::of_second_degree(rows.len(), self.p(), &rows.blocks),
            RowsAt::Far(far) => Units::of_far(self.p(), far),
        })
    }

    fn is_far(&self) -> bool {
        self.rows.held().is_none()
    }

    fn excerpt(&self, units: &[usize]) -> Option<Result<Box<dyn Model>, Degenerate>> {
        let RowsAt::Far(far) = &self.rows else { return None };
        Some(self.fetched(far, units).map(|rows| {
            let settings = (self.n_components, self.prior.clone(), self.update);
            let units = (self.centre.clone(), self.scale.clone());
            let names = &self.layout.coordinates;
            Box::new(Gmm::assemble(RowsAt::Memory(rows), names, units, settings)) as Box<dyn Model>
        }))
    }
}

/// Mean and standard deviation of each column.
fn scales(data: &Dataset) -> (Vec<f64>, Vec<f64>) {
    let (p, n) = (data.n_columns(), data.n_rows() as f64);
    let (mut centre, mut scale) = (Vec::with_capacity(p), Vec::with_capacity(p));
    for j in 0..p {
        let column = data.column(j);
        let mean = column.iter().sum::<f64>() / n;
        let variance = column.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        centre.push(mean);
        scale.push(variance.sqrt());
    }
    (centre, scale)
}

/// `D A D` for a packed symmetric `A` and diagonal `D`.
fn scale_both_sides(a: &[f64], d: &[f64], out: &mut [f64]) {
    for i in 0..d.len() {
        for j in 0..=i {
            let at = packed_index(i, j);
            out[at] = a[at] * d[i] * d[j];
        }
    }
}
