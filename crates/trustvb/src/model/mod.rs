//! What a model must say about itself; everything iterative is done by [`crate::fit`].

mod bmlr;
mod columns;
mod data;
mod forms;
mod gmm;
mod kernel;
mod linear;
mod mixture;
mod moments;
mod panels;
mod passes;
mod prior;
mod pullback;
mod registry;
mod spec;
mod units;
mod weigh;
mod weighted;
mod wish;

pub use bmlr::{
    Bmlr, BmlrPrior, BmlrSimulation, BmlrSimulationSettings, GroupStatistics, Noise, NoiseSize,
    RegressionMixture, VariableSummary,
};
pub use bmlr::{bmlr_ln_density, bmlr_ln_rho};
pub use columns::{Heap, coded, heaps};
pub(crate) use columns::{counts, numbers};
pub use data::{ModelData, VariableInWords};
pub use gmm::{
    Covariance, GaussianMixture, Gmm, GmmPrior, GmmSimulation, GmmSimulationSettings, ShapedGmm,
    Tails, Update,
};
pub use gmm::{FarRows, Pass, PassKind, RowKeeper, RowUnits, RowsPart, RowsSummary};
pub use gmm::{gmm_ln_density, gmm_ln_predictive, gmm_ln_rho};
pub use mixture::{
    ColumnKind, ColumnMixture, MixedData, Mixture, MixtureColumn, MixturePrior, MixtureSimulation,
    MixtureSimulationSettings, SimulatedColumn,
};
pub use prior::PriorBase;
pub use pullback::Pullback;
pub(crate) use pullback::{STEP, central_difference};
pub(crate) use registry::quantities;
pub use registry::{KINDS, ModelSpec, Simulation, SimulationSettings};
pub use spec::{Kind, Noun, PriorInWords, Spec};
pub(crate) use units::FarUnits;
pub use units::{Undecided, Units};
pub(crate) use weighted::Weighted;
pub use wish::{
    ColumnType, EVERY_COLUMN, PriorWish, Source, TakePieces, WishError, Wished, WishedWeights,
    Wishes,
};

use crate::data::DataError;
use crate::functional::{Entry, Place, Quantity, Reported};
use crate::posterior::{Layout, Posterior};
use crate::remedy::{Advise, Remedy};
use crate::weights::WeightError;
use std::sync::Arc;

/// Why a model cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The data do not allow it.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The weights do not fit the data.
    #[error(transparent)]
    Weights(#[from] WeightError),
    /// The prior does not fit, or is not one.
    #[error("{0}")]
    Prior(String),
    /// The data are not of the kind that the model takes.
    #[error("the data are not of the kind that the model {0} takes")]
    WrongData(&'static str),
}

impl Advise for ModelError {
    fn remedies(&self) -> Vec<Remedy> {
        match self {
            ModelError::Data(error) => error.remedies(),
            ModelError::Prior(_) | ModelError::WrongData(_) | ModelError::Weights(_) => Vec::new(),
        }
    }
}

/// Why a sweep has no answer. It is recorded with the fit, never thrown away.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Degenerate {
    /// A component's scatter, or the prior's, is not positive definite.
    #[error("the {what} of component {component} is not positive definite")]
    NotPositiveDefinite {
        /// Which matrix.
        what: &'static str,
        /// 1-based component.
        component: usize,
    },
    /// The prior cannot be computed from these units.
    #[error("the prior cannot be computed from this sample: {0}")]
    Prior(String),
    /// A parameter left its range (an accelerated step may propose this; a plain sweep does not).
    #[error("component {component} has a negative expected count")]
    NegativeCount {
        /// 1-based component.
        component: usize,
    },
    /// The bound is not a number.
    #[error("the bound is not finite")]
    NotFinite,
    /// Units that are not in memory could not be looked at, or not in the way that was asked.
    #[error("the rows cannot be read: {0}")]
    Rows(String),
}

/// A model bound to its data and prior: shared by all threads, never changed.
///
/// The cut is made at one *sweep*. For the models of this library the expected sufficient
/// statistics (with a few expectations for blocks that are updated in turn) determine `q(θ)`, so a
/// sweep is a map from a short vector to itself. A model supplies that map, the bound at its
/// argument, and each unit's share of its value. Acceleration, stopping, restarts, warm starts,
/// matching and influence are then the same code for every model. A finer cut (E-step, M-step,
/// bound) would force every model to keep N×K responsibilities between calls; a coarser one (a
/// whole fit) would repeat the driver in each.
pub trait Model: Send + Sync {
    /// Short name: `gmm`, `bmlr`.
    fn name(&self) -> &'static str;
    /// Number of exchangeable units (rows, or groups).
    fn n_units(&self) -> usize;
    /// Number of components.
    fn n_components(&self) -> usize;
    /// The blocks of its posterior.
    fn layout(&self) -> &Arc<Layout>;
    /// Length of the state vector.
    fn state_len(&self) -> usize;
    /// Length of one component's centre (columns, or coefficients).
    fn centre_len(&self) -> usize;
    /// Whether a sweep is an exact coordinate ascent, so that the bound never falls. The printed
    /// update of the paper is not.
    fn is_ascent(&self) -> bool;
    /// Working memory for fits on one thread.
    fn sweeper(&self) -> Box<dyn Sweeper + '_>;
    /// Starting centres for the weighted units, in the data's units, from the `k`-means of the model.
    fn random_centres(
        &self,
        weights: Option<&[f64]>,
        rng: &mut rand_chacha::ChaCha8Rng,
    ) -> Vec<f64>;
    /// In how many other ways the model can look at its units for starting centres. Each has a start of its own beside those
    /// that are asked for.
    fn n_views(&self) -> usize {
        0
    }
    /// As [`Model::random_centres`], with less care: for one of several starts. `view` is 0, or one of the
    /// [other ways](Model::n_views) from 1 on.
    fn rough_centres(
        &self,
        weights: Option<&[f64]>,
        _view: usize,
        rng: &mut rand_chacha::ChaCha8Rng,
    ) -> Vec<f64> {
        self.random_centres(weights, rng)
    }
    /// Fewer units than this say next to nothing of a component: a search does not give up one of K for such a one, unless
    /// the bound leaves no doubt.
    fn handful(&self) -> usize {
        2 + self.centre_len()
    }
    /// States with the same expected sufficient statistics as `state` that sweeps may not reach from it, though their bound
    /// be higher: where the model has discrete choices of its own. None by default.
    fn variants(&self, _state: &[f64]) -> Vec<Vec<f64>> {
        Vec::new()
    }
    /// Changes what a state that was just made from centres holds beside statistics, so that starts differ in that too: where
    /// the model has discrete choices of its own. Nothing by default.
    fn vary_start(&self, _number: usize, _state: &mut [f64]) {}
    /// Simpler models of the same units, whose bounds compare with this one's: where one of them is higher, the units speak
    /// for its groups, and a fit begins from them. None by default.
    fn simpler(&self) -> Vec<Box<dyn Model>> {
        Vec::new()
    }
    /// A `q(θ)` of this model whose components are about what those of a [simpler](Model::simpler) one are.
    fn resembling(&self, _other: &Posterior) -> Option<Posterior> {
        None
    }
    /// For each component, by what factor its spread in a fit of weighted units differs at most from that of the units,
    /// weighted by their responsibilities too: what is far above 1 is the prior's doing. Nothing where the model cannot say.
    fn made_by_prior(&self, _posterior: &Posterior, _weights: Option<&[f64]>) -> Vec<f64> {
        Vec::new()
    }
    /// The values of a coordinate that is a column of numbers, Gaussian in every component, in the data's units: unit by
    /// unit, NaN where a cell is missing. Nothing for others, and where units are not in memory.
    fn numbers(&self, _coordinate: usize) -> Option<Vec<f64>> {
        None
    }
    /// The values of a coordinate that is a column of counts, Poisson in every component, as [`Model::numbers`] has those
    /// of Gaussian ones.
    fn counts(&self, _coordinate: usize) -> Option<Vec<f64>> {
        None
    }
    /// How many exchangeable units each of its own stands for, where a user has given them weights: a resample draws from
    /// so many, and `None` as weights means these. Leave the default: no model knows of it but the one around it.
    fn repeats(&self) -> Option<&[f64]> {
        None
    }
    /// What each of these counts in a fit, where a user has said so: 1 on average. As [`Model::repeats`], only the model
    /// around it knows.
    fn each(&self) -> Option<&[f64]> {
        None
    }
    /// The units' features, in which log densities are linear, for derivatives of a sweep. A model without them has its
    /// sweeps differentiated by differences, which takes many.
    fn units(&self) -> Option<Units<'_>> {
        None
    }
    /// Whether its units are not in memory: a sweep is then a pass over a file, or over other machines, weights are all
    /// one, and nothing is computed of single units but of an [`excerpt`](Model::excerpt).
    fn is_far(&self) -> bool {
        false
    }
    /// The model of some of its units, in memory, where its own are not; nothing where they are.
    fn excerpt(&self, _units: &[usize]) -> Option<Result<Box<dyn Model>, Degenerate>> {
        None
    }
}

/// Working memory of one fit; see [`Model`].
///
/// A state holds, component after component, the expected count `N_k`, the other expected
/// sufficient statistics, and whatever else the next update needs. [`Sweeper::load`] comes first; it fixes the weights.
pub trait Sweeper {
    /// Takes the units' weights (`None`: all one) and resolves a prior that depends on the data.
    fn load(&mut self, weights: Option<&[f64]>) -> Result<(), Degenerate>;
    /// The state after one E-step from `q(θ)` with the prior's spread around given centres.
    fn start(&mut self, omega: f64, centres: &[f64], state: &mut [f64]) -> Result<(), Degenerate>;
    /// The state after one E-step from a whole `q(θ)` of this model.
    fn start_from(&mut self, posterior: &Posterior, state: &mut [f64]) -> Result<(), Degenerate>;
    /// One sweep: `q(θ)` from `state`, then the E-step into `next`. Returns the bound at that
    /// `q(θ)` and its best `q(Z)`, (M2).
    fn sweep(&mut self, omega: f64, state: &[f64], next: &mut [f64]) -> Result<f64, Degenerate>;
    /// As [`Sweeper::sweep`], for plain sweeps that begin after a start, but returns the bound at the
    /// new `q(θ)` with the `q(Z)` it was made from: one E-step behind. The paper's code watches this.
    fn staggered_sweep(
        &mut self,
        omega: f64,
        state: &[f64],
        next: &mut [f64],
    ) -> Result<f64, Degenerate> {
        self.sweep(omega, state, next)
    }
    /// As [`Sweeper::sweep`], but a prior that depends on the data is computed from the state's own
    /// totals. At a fixed point both agree; their derivatives do not, and influence needs this one.
    fn sweep_with_own_prior(
        &mut self,
        omega: f64,
        state: &[f64],
        next: &mut [f64],
    ) -> Result<f64, Degenerate> {
        self.sweep(omega, state, next)
    }
    /// The size, entry by entry, against which a change of the state is called relative.
    fn scale(&self, omega: f64, state: &[f64], scale: &mut [f64]);
    /// `q(θ)` determined by `state`, in the data's units.
    fn posterior(&mut self, omega: f64, state: &[f64]) -> Result<Posterior, Degenerate>;
    /// As [`Sweeper::posterior`], with the prior of [`Sweeper::sweep_with_own_prior`].
    fn posterior_with_own_prior(
        &mut self,
        omega: f64,
        state: &[f64],
    ) -> Result<Posterior, Degenerate> {
        self.posterior(omega, state)
    }
    /// Each unit's responsibilities at `q(θ)` of `state`, unit by unit, for all units whatever
    /// their weight.
    fn responsibilities(&mut self, omega: f64, state: &[f64]) -> Result<Vec<f64>, Degenerate>;
    /// As [`Sweeper::responsibilities`], at a given `q(θ)`.
    fn responsibilities_under(&mut self, posterior: &Posterior) -> Result<Vec<f64>, Degenerate>;
    /// What `unit` adds to the next state per unit of weight, given its responsibilities.
    fn contribution(&self, unit: usize, responsibilities: &[f64], out: &mut [f64]);
    /// The derivative of a sweep with its own prior, but for the pass over the [`Model::units`]; nothing where the model
    /// has no such units.
    fn pullback(
        &mut self,
        _omega: f64,
        _state: &[f64],
    ) -> Result<Option<Box<dyn Pullback>>, Degenerate> {
        Ok(None)
    }
}

/// The weights that every mixture has.
const WEIGHT: Quantity = Quantity {
    name: "pi",
    words: "weight",
    entry: Entry::Weight,
    place: Place::Block("pi"),
    reported: Reported::All,
};

/// Replaces log densities by probabilities that sum to one.
fn softmax(l: &mut [f64]) {
    let largest = l.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut total = 0.0;
    for x in l.iter_mut() {
        *x = (*x - largest).exp();
        total += *x;
    }
    for x in l {
        *x /= total;
    }
}
