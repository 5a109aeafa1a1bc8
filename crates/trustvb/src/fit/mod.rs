//! Everything iterative: starts, the fixed-point driver, acceleration, matching, influence.
//!
//! A model gives one sweep, a map on a short state ([`crate::model::Sweeper`]); what is done with it
//! is here, once for all models:
//!
//! - [`fit()`] fits weighted units at one ω, from several starts that race; [`Driver`] is its iteration.
//! - [`Reference`] follows the full data down a grid of ω, and [`Walk`] a replicate.
//! - [`Driver`] and [`Walk`] are step machines: they ask for sweeps, so that many of them can advance together.
//! - [`match_components`] says which component of one fit is which of another.
//! - [`Linearisation`] differentiates a fixed point in the units' weights.
//!
//! A fit that does not converge or has no answer is told by its [`Status`], and stored with it.

mod anderson;
mod differenced;
mod driver;
mod heats;
mod influence;
mod krylov;
mod matching;
mod moves;
mod newton;
mod path;
mod race;
mod shortcut;
mod slopes;
mod start;
mod track;
mod walk;

pub use driver::{Driver, FitOptions, Outcome, Progress, Status, Stopping, Sweep};
pub use influence::{Influence, InfluenceError, Linearisation};
pub use matching::{assignment, match_components};
pub use path::{Matching, PathFits, PathOptions, Reference, ReplicateStart, StatusCode};
pub use shortcut::Shortcut;
pub(crate) use start::{Care, Clusterable, centres_by_k_means, chosen_units, k_means, looked_at};
pub(crate) use walk::Spare;
pub use walk::{Trip, Walk};

use crate::model::{Degenerate, Model};
use crate::posterior::Posterior;
use crate::random::{Purpose, stream};
use serde::{Deserialize, Serialize};

/// Whether a component with this expected count counts as emptied: it has less than one unit's worth of data, and
/// its numbers are the prior's.
pub(crate) fn is_emptied(count: f64) -> bool {
    count < 1.0
}

/// Where a fit begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Centres from k-means++ with this many restarts; the best bound wins. Starts that fall behind are given up early, and
    /// the best is improved where they disagree, unless the update is no ascent or fits stop as the paper's do.
    KMeans {
        /// Number of starts.
        restarts: usize,
        /// Seed of their random choices.
        seed: u64,
    },
    /// Given centres, component after component, in the data's units: the only start.
    Centres(Vec<f64>),
}

/// A finished fit, components by decreasing weight.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The fraction it was fitted at.
    pub omega: f64,
    /// `q(θ)` in the data's units.
    pub posterior: Posterior,
    /// The state behind it, components in the same order.
    pub state: Vec<f64>,
    /// How the iteration went.
    pub outcome: Outcome,
    /// Components (0-based) with next to no data: their posterior is the prior.
    pub emptied: Vec<usize>,
    /// Starts that were asked for.
    pub starts: usize,
    /// How the search for it went.
    pub search: Search,
}

/// How a fit was searched for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    /// Starts that led to the fit; 1 if it was found by improving on the best of them.
    pub found_by: usize,
    /// Starts that were tried, those in other views of the units included.
    pub tried: usize,
    /// Another optimum whose bound is about as high, and whose components are others: the units do not decide between the two.
    pub rival: Option<Rival>,
}

/// Another optimum.
#[derive(Clone, Debug, PartialEq)]
pub struct Rival {
    /// Its bound.
    pub bound: f64,
    /// `q(θ)` there, its components numbered as those of the fit are.
    pub posterior: Posterior,
    /// The share of units that are in another component.
    pub moved: f64,
}

/// Optima in which fewer of the units are in other components have the same ones.
const OTHERS: f64 = 0.02;

impl Rival {
    /// What another state says, if its components are not those of `posterior`.
    fn new(
        model: &dyn Model,
        weights: Option<&[f64]>,
        posterior: &Posterior,
        (state, bound): (&[f64], f64),
        omega: f64,
    ) -> Option<Rival> {
        let mut sweeper = model.sweeper();
        sweeper.load(weights).ok()?;
        let there = sweeper.posterior(omega, state).ok()?;
        let there = there.permuted(&match_components(posterior, &there));
        let here = sweeper.responsibilities_under(posterior).ok()?;
        let other = sweeper.responsibilities_under(&there).ok()?;
        let k = model.n_components();
        let likeliest = |r: &[f64]| (1..k).fold(0, |best, c| if r[c] > r[best] { c } else { best });
        let (mut moved, mut all) = (0.0, 0.0);
        for (unit, (a, b)) in here.chunks_exact(k).zip(other.chunks_exact(k)).enumerate() {
            let weight = weights.map_or(1.0, |w| w[unit]);
            all += weight;
            moved += if likeliest(a) == likeliest(b) { 0.0 } else { weight };
        }
        let rival = Rival { bound, posterior: there, moved: moved / all };
        (rival.moved > OTHERS).then_some(rival)
    }
}

/// Fits `model` to weighted units at one ω.
///
/// Fails only when no start gives a single valid sweep; anything else is told by the status.
pub fn fit(
    model: &dyn Model,
    weights: Option<&[f64]>,
    omega: f64,
    start: &Start,
    options: &FitOptions,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Fit, Degenerate> {
    let weights = weights.or_else(|| model.repeats());
    if model.is_far() && !race::has_very_many_units(model) {
        // Few enough to be fetched, once.
        let all: Vec<usize> = (0..model.n_units()).collect();
        if let Some(fetched) = model.excerpt(&all) {
            return fit(fetched?.as_ref(), weights, omega, start, options, progress);
        }
    }
    match (start, options.stopping) {
        // Bounds on the way tell which start is the best only if they rise with every sweep.
        (Start::KMeans { restarts, seed }, Stopping::Relative(tolerance))
            if *restarts > 1 && model.is_ascent() =>
        {
            let (starts, options) = ((*restarts, *seed), (options, tolerance));
            let race::Raced { state, outcome, found_by, tried, rival } =
                race::race(model, weights, omega, starts, options, progress)?;
            let search = Search { found_by, tried, rival: None };
            let mut fit = finished(model, weights, omega, (state, outcome), (*restarts, search))?;
            fit.search.rival = rival.and_then(|(state, outcome)| {
                let there = (&state[..], outcome.bound);
                Rival::new(model, weights, &fit.posterior, there, omega)
            });
            Ok(fit)
        }
        _ => {
            let (state, outcome, starts) =
                each_to_the_end(model, weights, omega, start, options, progress)?;
            let search = Search { found_by: 1, tried: starts, rival: None };
            finished(model, weights, omega, (state, outcome), (starts, search))
        }
    }
}

/// Whether the search for a fit looks at all units, each time it looks.
pub(crate) fn is_searched_whole(model: &dyn Model) -> bool {
    !model.is_far() && !race::has_very_many_units(model)
}

/// A fit that has ended in a state, with its components in order.
fn finished(
    model: &dyn Model,
    weights: Option<&[f64]>,
    omega: f64,
    (state, outcome): (Vec<f64>, Outcome),
    (starts, search): (usize, Search),
) -> Result<Fit, Degenerate> {
    let mut sweeper = model.sweeper();
    sweeper.load(weights)?;
    let posterior = sweeper.posterior(omega, &state)?;
    let order = posterior.order_by_weight();
    let state = permute_state(model, &order, &state);
    let posterior = sweeper.posterior(omega, &state)?;
    let stride = state.len() / model.n_components();
    let emptied = (0..model.n_components()).filter(|k| is_emptied(state[k * stride])).collect();
    Ok(Fit { omega, posterior, state, outcome, emptied, starts, search })
}

/// The best of starts that each run until they stop: its state, its outcome and the number of starts.
fn each_to_the_end(
    model: &dyn Model,
    weights: Option<&[f64]>,
    omega: f64,
    start: &Start,
    options: &FitOptions,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(Vec<f64>, Outcome, usize), Degenerate> {
    let mut sweeper = model.sweeper();
    sweeper.load(weights)?;
    let mut driver = Driver::new(model);
    let starts = match start {
        Start::KMeans { restarts, .. } => (*restarts).max(1),
        Start::Centres(_) => 1,
    };
    let mut best: Option<(Vec<f64>, Outcome)> = None;
    let mut failure = Degenerate::NotFinite;
    for number in 0..starts {
        let centres = match start {
            Start::KMeans { seed, .. } => {
                model.random_centres(weights, &mut stream(*seed, Purpose::Start, number as u64))
            }
            Start::Centres(centres) => centres.clone(),
        };
        let mut state = vec![0.0; model.state_len()];
        if let Err(why) = sweeper.start(omega, &centres, &mut state) {
            failure = why;
            continue;
        }
        let mut report = |p: &Progress| progress(&Progress { start: number, starts, ..*p });
        let outcome = driver.run(sweeper.as_mut(), omega, &mut state, options, &mut report);
        if let (Status::Degenerate(why), true) = (&outcome.status, outcome.bound.is_nan()) {
            failure = why.clone();
            continue;
        }
        if best.as_ref().is_none_or(|(_, b)| outcome.bound > b.bound) {
            best = Some((state, outcome));
        }
    }
    let (state, outcome) = best.ok_or(failure)?;
    Ok((state, outcome, starts))
}

/// The state with new component `k` = old component `order[k]`.
pub fn permute_state(model: &dyn Model, order: &[usize], state: &[f64]) -> Vec<f64> {
    let stride = model.state_len() / model.n_components();
    order.iter().flat_map(|&k| state[k * stride..(k + 1) * stride].iter().copied()).collect()
}
