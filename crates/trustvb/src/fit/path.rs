//! Fits of one replicate along a whole grid of ω, from ω = 1 downwards.

use super::{Driver, FitOptions, Outcome, Start, Status, fit, match_components, permute_state};
use crate::model::{Degenerate, Model, Sweeper};
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
/// Two are equal if these are: `end` is how to go on, not what was found.
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
}

impl PartialEq for PathFits {
    fn eq(&self, other: &PathFits) -> bool {
        (&self.parameters, &self.bound, &self.sweeps, &self.status)
            == (&other.parameters, &other.bound, &other.sweeps, &other.status)
    }
}

impl PathFits {
    fn with_capacity(n_omegas: usize, row: usize) -> PathFits {
        PathFits {
            parameters: Vec::with_capacity(n_omegas * row),
            bound: Vec::with_capacity(n_omegas),
            sweeps: Vec::with_capacity(n_omegas),
            status: Vec::with_capacity(n_omegas),
            end: None,
        }
    }

    /// A path of one fit with the room of a longer one.
    fn grown(&self, n_omegas: usize, row: usize) -> PathFits {
        let mut longer = PathFits::with_capacity(n_omegas, row);
        longer.parameters.extend_from_slice(&self.parameters);
        longer.bound.extend_from_slice(&self.bound);
        longer.sweeps.extend_from_slice(&self.sweeps);
        longer.status.extend_from_slice(&self.status);
        longer
    }

    fn push(&mut self, outcome: &Outcome, parameters: Option<&[f64]>, row: usize) {
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
        let begun =
            Reference { states: vec![first.state], posteriors: vec![first.posterior], fits };
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
        if omegas.len() == 1 {
            reference.fits.end = Some(reference.states[0].clone());
            return Ok(reference);
        }
        let mut walker = Walker::new(model);
        walker.sweeper.load(None)?;
        let cold = match (options.start, start) {
            (ReplicateStart::ColdEveryOmega, Start::Centres(centres)) => Some(centres.clone()),
            (ReplicateStart::ColdEveryOmega, Start::KMeans { seed, .. }) => {
                Some(model.random_centres(None, &mut stream(*seed, Purpose::Start, 0)))
            }
            _ => None,
        };
        walker.remember(&reference.states[0]);
        for &omega in &omegas[1..] {
            let outcome = match &cold {
                Some(centres) => walker.run_from_centres(omega, centres, &options.fit),
                None => walker.run_from_history(omega, &options.fit),
            };
            let posterior = walker.posterior(omega, &outcome);
            let (state, posterior) = match posterior {
                Some(posterior) if options.matching == Matching::Weight => {
                    let order = posterior.order_by_weight();
                    (permute_state(model, &order, &walker.state), posterior.permuted(&order))
                }
                Some(posterior) if cold.is_some() => {
                    let before = &reference.posteriors[reference.posteriors.len() - 1];
                    let order = match_components(before, &posterior);
                    (permute_state(model, &order, &walker.state), posterior.permuted(&order))
                }
                Some(posterior) => (walker.state.clone(), posterior),
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
        self.fits.parameters.clear();
        for posterior in &mut self.posteriors {
            *posterior = posterior.permuted(order);
            self.fits.parameters.extend_from_slice(posterior.parameters());
        }
        self
    }
}

/// A replicate whose path is wanted.
pub struct Replicate<'a> {
    /// Its weights at each grid point; they are asked for once, at 0, unless `weights_change`.
    pub weights: &'a dyn Fn(usize) -> Vec<f64>,
    /// Whether weights differ along the grid.
    pub weights_change: bool,
    /// The number of its streams of random starts.
    pub number: u64,
    /// Its fit at the first ω, if that was made before.
    pub first: Option<&'a PathFits>,
}

/// Fits a replicate along the grid. `weights(i)` are its weights at grid point `i`; they are asked
/// for once, at 0, unless `weights_change`.
pub fn fit_path(
    model: &dyn Model,
    omegas: &[f64],
    weights: &dyn Fn(usize) -> Vec<f64>,
    weights_change: bool,
    number: u64,
    reference: &Reference,
    options: &PathOptions,
) -> PathFits {
    let replicate = Replicate { weights, weights_change, number, first: None };
    fit_replicate(model, omegas, &replicate, reference, options)
}

/// As [`fit_path`]; a first fit that is known is not made again, and the rest is bit for bit the same.
pub fn fit_replicate(
    model: &dyn Model,
    omegas: &[f64],
    replicate: &Replicate<'_>,
    reference: &Reference,
    options: &PathOptions,
) -> PathFits {
    let &Replicate { weights, weights_change, number, first } = replicate;
    let row = model.layout().len();
    let mut fits = PathFits::with_capacity(omegas.len(), row);
    let mut walker = Walker::new(model);
    let mut loaded = Ok(());
    let mut cold: Option<Vec<f64>> = None;
    for (i, &omega) in omegas.iter().enumerate() {
        let begins = i == 0 || weights_change;
        if begins {
            let w = weights(i);
            loaded = walker.sweeper.load(Some(&w));
            walker.forget();
            if options.start == ReplicateStart::ColdEveryOmega {
                let mut rng = stream(options.seed, Purpose::Start, number);
                cold = Some(model.random_centres(Some(&w), &mut rng));
            }
        }
        if let Err(why) = &loaded {
            fits.push(&failed(why.clone()), None, row);
            continue;
        }
        if let Some(first) = first.filter(|_| i == 0) {
            fits = first.grown(omegas.len(), row);
            if let Some(state) = &first.end {
                walker.remember(state);
            }
            continue;
        }
        let outcome = match (&cold, options.start) {
            (Some(centres), _) => walker.run_from_centres(omega, centres, &options.fit),
            (None, ReplicateStart::Restarts(starts)) if begins => {
                // Streams beyond those of the full-data starts and of cold starts.
                let first = (number + 1) << 32;
                walker.run_best_of(omega, starts, options, |start| {
                    let mut rng = stream(options.seed, Purpose::Start, first + start as u64);
                    model.random_centres(Some(&weights(i)), &mut rng)
                })
            }
            _ if begins || !walker.has_history() => {
                walker.run_from(omega, &reference.states[i], &options.fit)
            }
            _ => walker.run_from_history(omega, &options.fit),
        };
        let Some(mut posterior) = walker.posterior(omega, &outcome) else {
            fits.push(&outcome, None, row);
            continue;
        };
        match options.matching {
            Matching::Weight => posterior = posterior.permuted(&posterior.order_by_weight()),
            Matching::Assignment if begins || cold.is_some() || !walker.has_history() => {
                let order = match_components(&reference.posteriors[i], &posterior);
                posterior = posterior.permuted(&order);
                walker.state = permute_state(model, &order, &walker.state);
            }
            Matching::Assignment => {}
        }
        fits.push(&outcome, Some(posterior.parameters()), row);
        walker.remember_current();
        if omegas.len() == 1 {
            fits.end = Some(walker.state.clone());
        }
    }
    fits
}

fn failed(why: Degenerate) -> Outcome {
    Outcome {
        bound: f64::NAN,
        sweeps: 0,
        change: f64::INFINITY,
        status: Status::Degenerate(why),
        trace: Vec::new(),
    }
}

/// A sweeper that walks down the grid and predicts where the next optimum will be.
struct Walker<'a> {
    sweeper: Box<dyn Sweeper + 'a>,
    driver: Driver,
    state: Vec<f64>,
    /// The states at the grid points before, latest first.
    history: [Vec<f64>; 3],
    known: usize,
}

impl<'a> Walker<'a> {
    fn new(model: &'a dyn Model) -> Walker<'a> {
        let empty = vec![0.0; model.state_len()];
        Walker {
            sweeper: model.sweeper(),
            driver: Driver::new(model),
            state: empty.clone(),
            history: [empty.clone(), empty.clone(), empty],
            known: 0,
        }
    }

    fn forget(&mut self) {
        self.known = 0;
    }

    fn has_history(&self) -> bool {
        self.known > 0
    }

    fn remember(&mut self, state: &[f64]) {
        self.history.rotate_right(1);
        self.history[0].copy_from_slice(state);
        self.known = (self.known + 1).min(3);
    }

    fn remember_current(&mut self) {
        let state = std::mem::take(&mut self.state);
        self.remember(&state);
        self.state = state;
    }

    fn run(&mut self, omega: f64, options: &FitOptions) -> Outcome {
        self.driver.run(self.sweeper.as_mut(), omega, &mut self.state, options, &mut |_| ())
    }

    fn run_from(&mut self, omega: f64, state: &[f64], options: &FitOptions) -> Outcome {
        self.state.copy_from_slice(state);
        self.run(omega, options)
    }

    fn run_from_centres(&mut self, omega: f64, centres: &[f64], options: &FitOptions) -> Outcome {
        match self.sweeper.start(omega, centres, &mut self.state) {
            Ok(()) => self.run(omega, options),
            Err(why) => failed(why),
        }
    }

    /// From several sets of centres; the best bound wins.
    fn run_best_of(
        &mut self,
        omega: f64,
        starts: usize,
        options: &PathOptions,
        centres: impl Fn(usize) -> Vec<f64>,
    ) -> Outcome {
        let mut best: Option<(Outcome, Vec<f64>)> = None;
        for start in 0..starts.max(1) {
            let outcome = self.run_from_centres(omega, &centres(start), &options.fit);
            let better = |found: &Outcome| outcome.bound > found.bound;
            if best.as_ref().is_none_or(|(found, _)| found.bound.is_nan() || better(found)) {
                best = Some((outcome, self.state.clone()));
            }
        }
        match best {
            Some((outcome, state)) => {
                self.state = state;
                outcome
            }
            None => failed(Degenerate::NotFinite),
        }
    }

    /// From the polynomial through the last states (the grid is even in log ω); if that is not a
    /// feasible point, from the last state itself.
    fn run_from_history(&mut self, omega: f64, options: &FitOptions) -> Outcome {
        let [a, b, c] = &self.history;
        for i in 0..self.state.len() {
            self.state[i] = match self.known {
                0 | 1 => a[i],
                2 => 2.0 * a[i] - b[i],
                _ => 3.0 * (a[i] - b[i]) + c[i],
            };
        }
        let outcome = self.run(omega, options);
        if self.known > 1 && outcome.bound.is_nan() {
            let last = self.history[0].clone();
            return self.run_from(omega, &last, options);
        }
        outcome
    }

    fn posterior(&mut self, omega: f64, outcome: &Outcome) -> Option<Posterior> {
        if matches!(outcome.status, Status::Degenerate(_)) {
            return None;
        }
        self.sweeper.posterior(omega, &self.state).ok()
    }
}
