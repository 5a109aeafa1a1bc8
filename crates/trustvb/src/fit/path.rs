//! Fits along a whole grid of ω, from ω = 1 downwards: how they are made and kept, and the path of the full data.

use super::walk::Follower;
use super::{
    FitOptions, Outcome, Search, Shortcut, Start, Status, fit, match_components, permute_state,
};
use crate::model::{Degenerate, Model};
use crate::posterior::Posterior;
use crate::random::{Purpose, stream};
use serde::{Deserialize, Serialize};

/// How components of a replicate are given their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Matching {
    /// By resemblance to the full-data fit at the first ω, then by continuity along the path.
    #[default]
    Assignment,
    /// By decreasing weight at every ω, the paper's rule.
    Weight,
}

/// How a replicate's path begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplicateStart {
    /// From the full-data fit; then each ω from the ones before it.
    #[default]
    Warm,
    /// From this many k-means starts of the replicate's own; then each ω from the ones before it.
    Restarts(usize),
    /// Every ω from one k-means of the replicate, as the paper's code does.
    ColdEveryOmega,
}

/// Everything about fits along a path but the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathOptions {
    /// How each fit iterates.
    pub fit: FitOptions,
    /// How components are numbered.
    pub matching: Matching,
    /// How replicates begin.
    pub start: ReplicateStart,
    /// Seed of random starts.
    pub seed: u64,
}

/// How a stored fit ended; see [`Status`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum StatusCode {
    Converged = 0,
    Stalled = 1,
    HitLimit = 2,
    Degenerate = 3,
}

impl StatusCode {
    /// From its number in a file.
    pub fn from_number(number: i32) -> Option<StatusCode> {
        [StatusCode::Converged, StatusCode::Stalled, StatusCode::HitLimit, StatusCode::Degenerate]
            .into_iter()
            .find(|code| *code as i32 == number)
    }
}

impl From<&Status> for StatusCode {
    fn from(status: &Status) -> StatusCode {
        match status {
            Status::Converged => StatusCode::Converged,
            Status::Stalled => StatusCode::Stalled,
            Status::HitLimit => StatusCode::HitLimit,
            Status::Degenerate(_) => StatusCode::Degenerate,
        }
    }
}

/// The fits of one replicate: for each ω of the grid a row of posterior parameters (NaN when the
/// fit is degenerate), its bound, sweeps and status.
///
/// Two are equal if these are: `end` is how to go on, `search` how it came about.
#[derive(Clone, Debug)]
pub struct PathFits {
    /// Flat posterior parameters, ω after ω.
    pub parameters: Vec<f64>,
    /// The bound.
    pub bound: Vec<f64>,
    /// Sweeps made.
    pub sweeps: Vec<u32>,
    /// How each fit ended.
    pub status: Vec<StatusCode>,
    /// The state at the only ω of a path of one fit, from which longer paths can go on. It is kept in memory alone.
    pub end: Option<Vec<f64>>,
    /// How the first fit of the full data was searched for. It is kept in memory alone.
    pub search: Option<Search>,
}

impl PartialEq for PathFits {
    fn eq(&self, other: &PathFits) -> bool {
        (&self.parameters, &self.bound, &self.sweeps, &self.status)
            == (&other.parameters, &other.bound, &other.sweeps, &other.status)
    }
}

impl PathFits {
    pub(super) fn with_capacity(n_omegas: usize, row: usize) -> PathFits {
        PathFits {
            parameters: Vec::with_capacity(n_omegas * row),
            bound: Vec::with_capacity(n_omegas),
            sweeps: Vec::with_capacity(n_omegas),
            status: Vec::with_capacity(n_omegas),
            end: None,
            search: None,
        }
    }

    /// Its first fits, of so many numbers each.
    pub(crate) fn up_to(&self, n_omegas: usize, row: usize) -> PathFits {
        if n_omegas >= self.status.len() {
            return self.clone();
        }
        PathFits {
            parameters: self.parameters[..n_omegas * row].to_vec(),
            bound: self.bound[..n_omegas].to_vec(),
            sweeps: self.sweeps[..n_omegas].to_vec(),
            status: self.status[..n_omegas].to_vec(),
            end: None,
            search: self.search.clone(),
        }
    }

    /// A path of one fit with the room of a longer one.
    pub(super) fn grown(&self, n_omegas: usize, row: usize) -> PathFits {
        let mut longer = PathFits::with_capacity(n_omegas, row);
        longer.parameters.extend_from_slice(&self.parameters);
        longer.bound.extend_from_slice(&self.bound);
        longer.sweeps.extend_from_slice(&self.sweeps);
        longer.status.extend_from_slice(&self.status);
        longer.search.clone_from(&self.search);
        longer
    }

    pub(super) fn push(&mut self, outcome: &Outcome, parameters: Option<&[f64]>, row: usize) {
        match parameters {
            Some(parameters) => self.parameters.extend_from_slice(parameters),
            None => self.parameters.extend(std::iter::repeat_n(f64::NAN, row)),
        }
        self.bound.push(outcome.bound);
        self.sweeps.push(outcome.sweeps as u32);
        self.status.push(StatusCode::from(&outcome.status));
    }
}

/// The full-data path, from which every replicate starts and to which it is matched.
#[derive(Clone, Debug)]
pub struct Reference {
    /// State at each ω.
    pub states: Vec<Vec<f64>>,
    /// Posterior at each ω.
    pub posteriors: Vec<Posterior>,
    /// Its fits, as they are stored.
    pub fits: PathFits,
    /// How replicates get from its first state to theirs.
    pub shortcut: Option<Shortcut>,
}

impl Reference {
    /// Fits all units at the first ω from `start`, components by decreasing weight, then follows
    /// the optimum down the grid.
    pub fn new(
        model: &dyn Model,
        omegas: &[f64],
        start: &Start,
        options: &PathOptions,
    ) -> Result<Reference, Degenerate> {
        let first = fit(model, None, omegas[0], start, &options.fit, &mut |_| ())?;
        let row = model.layout().len();
        let mut fits = PathFits::with_capacity(omegas.len(), row);
        fits.push(&first.outcome, Some(first.posterior.parameters()), row);
        fits.search = Some(first.search);
        let (states, posteriors) = (vec![first.state], vec![first.posterior]);
        let begun = Reference { states, posteriors, fits, shortcut: None };
        begun.followed(model, omegas, start, options)
    }

    /// The same from its first fit, which was made before; `None` if that says too little to go on from.
    pub fn extending(
        first: &PathFits,
        model: &dyn Model,
        omegas: &[f64],
        start: &Start,
        options: &PathOptions,
    ) -> Option<Result<Reference, Degenerate>> {
        let state = first.end.clone().filter(|_| first.status.len() == 1)?;
        let begun = Reference {
            states: vec![state],
            posteriors: vec![Posterior::new(model.layout().clone(), first.parameters.clone())],
            fits: first.grown(omegas.len(), model.layout().len()),
            shortcut: None,
        };
        Some(begun.followed(model, omegas, start, options))
    }

    /// Follows the optimum down the grid from the first fit.
    fn followed(
        self,
        model: &dyn Model,
        omegas: &[f64],
        start: &Start,
        options: &PathOptions,
    ) -> Result<Reference, Degenerate> {
        let mut reference = self;
        let row = model.layout().len();
        if options.fit.acceleration > 0 && options.start == ReplicateStart::Warm {
            reference.shortcut = Shortcut::at(model, omegas[0], &reference.states[0]);
        }
        if omegas.len() == 1 {
            reference.fits.end = Some(reference.states[0].clone());
            return Ok(reference);
        }
        let mut follower = Follower::new(model);
        follower.sweeper.load(None)?;
        let cold = match (options.start, start) {
            (ReplicateStart::ColdEveryOmega, Start::Centres(centres)) => Some(centres.clone()),
            (ReplicateStart::ColdEveryOmega, Start::KMeans { seed, .. }) => {
                Some(model.random_centres(None, &mut stream(*seed, Purpose::Start, 0)))
            }
            _ => None,
        };
        follower.remember(&reference.states[0]);
        for &omega in &omegas[1..] {
            let outcome = match &cold {
                Some(centres) => follower.run_from_centres(omega, centres, &options.fit),
                None => follower.run_from_history(omega, &options.fit),
            };
            let posterior = follower.posterior(omega, &outcome);
            let (state, posterior) = match posterior {
                Some(posterior) if options.matching == Matching::Weight => {
                    let order = posterior.order_by_weight();
                    (permute_state(model, &order, follower.state()), posterior.permuted(&order))
                }
                Some(posterior) if cold.is_some() => {
                    let before = &reference.posteriors[reference.posteriors.len() - 1];
                    let order = match_components(before, &posterior);
                    (permute_state(model, &order, follower.state()), posterior.permuted(&order))
                }
                Some(posterior) => (follower.state().to_vec(), posterior),
                None => {
                    // A degenerate full-data fit leaves the previous one as start for replicates.
                    reference.fits.push(&outcome, None, row);
                    let last = reference.states.len() - 1;
                    reference.states.push(reference.states[last].clone());
                    reference.posteriors.push(reference.posteriors[last].clone());
                    continue;
                }
            };
            reference.fits.push(&outcome, Some(posterior.parameters()), row);
            reference.states.push(state);
            reference.posteriors.push(posterior);
        }
        Ok(reference)
    }
}

impl Reference {
    /// The same path with new component `k` = old component `order[k]`.
    pub fn permuted(mut self, model: &dyn Model, order: &[usize]) -> Reference {
        for state in &mut self.states {
            *state = permute_state(model, order, state);
        }
        self.shortcut = self.shortcut.map(|shortcut| shortcut.permuted(order));
        self.fits.parameters.clear();
        for posterior in &mut self.posteriors {
            *posterior = posterior.permuted(order);
            self.fits.parameters.extend_from_slice(posterior.parameters());
        }
        self
    }
}
