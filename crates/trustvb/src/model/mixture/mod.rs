//! Mixtures whose columns are independent within a component, each of its own kind: latent classes and profiles.
//!
//! Unit `n` of component `k` has in column `j`, where it is observed,
//!
//! ```text
//! Gaussian   x ~ N(μ_kj, 1/λ_kj)     (μ, λ)_kj ~ Normal–Wishart of dimension 1
//! category   x ~ Categorical(p_kj)   p_kj ~ Dir(1/L, …, 1/L)
//! count      x ~ Poisson(θ_kj)       θ_kj ~ Gamma(½, ½ / column mean)
//! ```
//!
//! A missing cell drops out of its unit's likelihood: right when it is missing at random. All three laws are
//! exponential families, so `log ρ_nk` is linear in a unit's *features* (z and z² of a Gaussian, an indicator for each
//! level, a count, and whether a cell is there where some are not), and the expected sums of these over a component's
//! units are its sufficient statistics. With `N` the observed share `Σ w r` of a column, (M1) is maximised by
//!
//! ```text
//! Gaussian   (M4) with p = 1      category   α_l = 1/L + ω Σ w r [x = l]      count   a = ½ + ω Σ w r x,  b = b0 + ωN
//! ```

mod data;
mod features;
mod infer;
mod points;
mod predict;
mod prior;
mod simulate;
mod spec;
mod update;

pub use data::{ColumnKind, MixedData, MixtureColumn};
pub use prior::MixturePrior;
pub use simulate::{MixtureSimulation, MixtureSimulationSettings, SimulatedColumn};
pub use spec::ColumnMixture;
pub(super) use spec::KIND;

use super::{Model, ModelError, Sweeper, Units};
use crate::data::check_components;
use crate::fit::{Care, centres_by_k_means};
use crate::posterior::Layout;
use features::Features;
use points::Points;
use std::sync::Arc;
use update::MixtureSweeper;

/// A mixture of columns bound to its data, held as the features of its units.
#[derive(Debug)]
pub struct Mixture {
    n_components: usize,
    features: Features,
    prior: MixturePrior,
    layout: Arc<Layout>,
}

impl Mixture {
    /// A mixture of `n_components` classes for these columns.
    pub fn new(
        data: &MixedData,
        columns: &[MixtureColumn],
        n_components: usize,
        prior: MixturePrior,
    ) -> Result<Mixture, ModelError> {
        prior.check().map_err(ModelError::Prior)?;
        data.check(columns)?;
        check_components(data.source(), "row", data.n_rows(), n_components)?;
        let (blocks, coordinates) = spec::blocks(n_components, columns);
        let layout = Arc::new(Layout::new(n_components, coordinates, blocks));
        Ok(Mixture { n_components, features: Features::new(data, columns), prior, layout })
    }

    fn stride(&self) -> usize {
        1 + self.features.length()
    }
}

/// Starts beside those that are asked for, because classes have many optima: at least so many, at most so many, and
/// between them as many as make this number with units times the length of the state, which is what a sweep costs.
const MORE_STARTS: [usize; 2] = [30, 200];
const STARTS_WORK: usize = 12_000_000;

impl Mixture {
    fn centres(
        &self,
        weights: Option<&[f64]>,
        care: Care,
        rng: &mut rand_chacha::ChaCha8Rng,
    ) -> Vec<f64> {
        let points = Points::draw(&self.features, weights, self.n_components, rng);
        let mut centres = centres_by_k_means(&points, self.n_components, None, care, rng);
        for centre in centres.chunks_exact_mut(self.features.centre_len()) {
            self.features.centre_to_data(centre);
        }
        centres
    }
}

impl Model for Mixture {
    fn name(&self) -> &'static str {
        KIND.name
    }
    fn n_units(&self) -> usize {
        self.features.len()
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
        self.features.centre_len()
    }
    fn is_ascent(&self) -> bool {
        true
    }
    fn sweeper(&self) -> Box<dyn Sweeper + '_> {
        Box::new(MixtureSweeper::new(self))
    }

    fn random_centres(
        &self,
        weights: Option<&[f64]>,
        rng: &mut rand_chacha::ChaCha8Rng,
    ) -> Vec<f64> {
        self.centres(weights, Care::QUICK, rng)
    }

    fn n_views(&self) -> usize {
        let sweep = self.features.len() * self.state_len();
        (STARTS_WORK / sweep.max(1)).clamp(MORE_STARTS[0], MORE_STARTS[1])
    }

    /// Columns are independent within a class, so that a few units tell of all of them.
    fn handful(&self) -> usize {
        3
    }

    /// Every other one of them is what random units attract, with no more care: k-means leads many starts to one optimum.
    fn rough_centres(
        &self,
        weights: Option<&[f64]>,
        view: usize,
        rng: &mut rand_chacha::ChaCha8Rng,
    ) -> Vec<f64> {
        self.centres(weights, if view.is_multiple_of(2) { Care::QUICK } else { Care::SEEDS }, rng)
    }

    fn numbers(&self, column: usize) -> Option<Vec<f64>> {
        self.features.numbers(column)
    }

    fn counts(&self, column: usize) -> Option<Vec<f64>> {
        self.features.counts(column)
    }

    fn units(&self) -> Option<Units<'_>> {
        let features = &self.features;
        Some(Units::of_first_degree(features.len(), features.length(), &features.blocks))
    }
}
