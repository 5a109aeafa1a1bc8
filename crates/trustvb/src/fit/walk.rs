//! One replicate on its way down a grid of ω: a step machine, as [`Driver`] is for one fit.
//!
//! [`Walk`] begins each fit where the ones before it lead, takes the sweeps that are made for it, and when a fit has
//! ended matches its components and begins the next. A backend decides who makes the sweeps, and how many walks are on
//! their way at once; fits of one walk follow each other, fits of different walks know nothing of each other.

use super::{
    Driver, FitOptions, Matching, Outcome, PathFits, PathOptions, Reference, ReplicateStart,
    Shortcut, Status, Sweep, match_components, permute_state,
};
use crate::model::{Degenerate, Model, Sweeper};
use crate::posterior::Posterior;
use crate::random::{Purpose, stream};

/// What a walk is about: a replicate, and what it has in common with others.
pub struct Trip<'a> {
    /// The model with its data.
    pub model: &'a dyn Model,
    /// The grid, from large to small.
    pub omegas: &'a [f64],
    /// The replicate's weights at a grid point; asked for once, at 0, unless they change.
    pub weights: Box<dyn Fn(usize) -> Vec<f64> + Send + Sync + 'a>,
    /// Whether every grid point has weights of its own, so that nothing is warm-started.
    pub weights_change: bool,
    /// Which stream random starts come from.
    pub number: u64,
    /// The fit at the first ω, if it was made before: it is not made again, and the rest is bit for bit the same.
    pub first: Option<&'a PathFits>,
    /// The full-data path.
    pub reference: &'a Reference,
    /// How to get from its first state to the replicate's.
    pub shortcut: Option<&'a Shortcut>,
    /// How to fit.
    pub options: &'a PathOptions,
}

/// A replicate on its way.
pub struct Walk<'a> {
    trip: Trip<'a>,
    follower: Follower<'a>,
    fits: PathFits,
    /// The grid point at hand; as many as there are when all is done.
    at: usize,
    /// The weights at hand, and whether they could be loaded.
    weights: Vec<f64>,
    loaded: Result<(), Degenerate>,
    /// Centres from which every fit begins, where none is warm-started.
    cold: Option<Vec<f64>>,
    attempt: Attempt,
}

/// How the fit at hand began.
enum Attempt {
    /// From one place; what comes out counts.
    Only,
    /// From the polynomial through earlier states, which may be no feasible point.
    Predicted,
    /// From one of several random places; the best so far with its state.
    Restarts { start: usize, best: Option<(Outcome, Vec<f64>)> },
}

/// The working memory of a walk that has come to its end, for another of the same model. Nothing of one walk is left for
/// the next: weights are loaded and fits begun anew.
pub(crate) struct Spare<'a>(Follower<'a>);

impl<'a> Walk<'a> {
    /// A walk at its beginning.
    pub fn new(trip: Trip<'a>) -> Walk<'a> {
        Walk::with(trip, None)
    }

    /// As [`Walk::new`], in the working memory of another.
    pub(crate) fn with(trip: Trip<'a>, spare: Option<Spare<'a>>) -> Walk<'a> {
        let fits = PathFits::with_capacity(trip.omegas.len(), trip.model.layout().len());
        let mut walk = Walk::at(0, trip, fits, spare);
        walk.seek();
        walk
    }

    /// The walk of the full data, which is known and needs no step.
    pub fn known(trip: Trip<'a>) -> Walk<'a> {
        let fits = trip.reference.fits.clone();
        Walk::at(trip.omegas.len(), trip, fits, None)
    }

    fn at(at: usize, trip: Trip<'a>, fits: PathFits, spare: Option<Spare<'a>>) -> Walk<'a> {
        Walk {
            follower: spare.map_or_else(|| Follower::new(trip.model), |spare| spare.0),
            fits,
            at,
            weights: Vec::new(),
            loaded: Ok(()),
            cold: None,
            attempt: Attempt::Only,
            trip,
        }
    }

    /// The weights of the units for the sweep at hand.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The sweep that it waits for; none when it has come to its end.
    #[inline]
    pub fn wants(&mut self) -> Option<Sweep<'_>> {
        match self.at < self.trip.omegas.len() {
            true => self.follower.driver.wants(),
            false => None,
        }
    }

    /// Takes the bound of the sweep that [`Walk::wants`] asked for.
    #[inline]
    pub fn take(&mut self, result: Result<f64, Degenerate>) {
        self.follower.driver.take(result);
        if self.follower.driver.has_ended() {
            self.settle();
        }
    }

    /// Makes one sweep by itself; `false` when it has come to its end.
    #[inline]
    pub fn step(&mut self) -> bool {
        if self.at >= self.trip.omegas.len() {
            return false;
        }
        let result = self.follower.sweep();
        self.take(result);
        true
    }

    /// The fits so far; one for each ω when it has come to its end.
    pub fn into_fits(self) -> PathFits {
        self.fits
    }

    /// The same, and its working memory.
    pub(crate) fn finish(self) -> (PathFits, Spare<'a>) {
        (self.fits, Spare(self.follower))
    }

    /// Begins the next fit that can be begun.
    fn seek(&mut self) {
        while self.at < self.trip.omegas.len() && !self.begin() {
            self.at += 1;
        }
    }

    fn omega(&self) -> f64 {
        self.trip.omegas[self.at]
    }

    fn has_new_weights(&self) -> bool {
        self.at == 0 || self.trip.weights_change
    }

    /// Begins the fit at the grid point at hand; `false` when it has failed already, which is noted.
    fn begin(&mut self) -> bool {
        let (i, omega, options) = (self.at, self.omega(), self.trip.options);
        self.attempt = Attempt::Only;
        if self.has_new_weights() {
            self.weights = (self.trip.weights)(i);
            self.loaded = self.follower.sweeper.load(Some(&self.weights));
            self.follower.forget();
            if options.start == ReplicateStart::ColdEveryOmega {
                let mut rng = stream(options.seed, Purpose::Start, self.trip.number);
                self.cold = Some(self.trip.model.random_centres(Some(&self.weights), &mut rng));
            }
        }
        if let Err(why) = &self.loaded {
            let outcome = Outcome::failed(why.clone());
            self.note(&outcome, None);
            return false;
        }
        if let Some(first) = self.trip.first.filter(|_| i == 0) {
            self.fits = first.grown(self.trip.omegas.len(), self.trip.model.layout().len());
            if let Some(state) = &first.end {
                self.follower.remember(state);
            }
            return false;
        }
        if let Some(centres) = &self.cold {
            return match self.follower.begin_from_centres(omega, centres, &options.fit) {
                Ok(()) => true,
                Err(why) => {
                    self.note(&Outcome::failed(why), None);
                    false
                }
            };
        }
        if self.has_new_weights() && matches!(options.start, ReplicateStart::Restarts(_)) {
            self.attempt = Attempt::Restarts { start: 0, best: None };
            if self.begin_restart() {
                return true;
            }
            let outcome = self.best_restart();
            self.arrive(outcome);
            return false;
        }
        if self.has_new_weights() || !self.follower.has_history() {
            self.follower.begin_from(omega, &self.trip.reference.states[i], &options.fit);
            if i == 0 {
                self.follower.driver.shorten(self.trip.shortcut);
            }
        } else {
            self.follower.begin_from_history(omega, &options.fit);
            self.attempt = Attempt::Predicted;
        }
        true
    }

    /// Begins from the next of several random places from which a fit can begin; `false` when there is none left.
    fn begin_restart(&mut self) -> bool {
        let (omega, options) = (self.omega(), self.trip.options);
        let ReplicateStart::Restarts(starts) = options.start else { return false };
        loop {
            let Attempt::Restarts { start, .. } = self.attempt else { return false };
            if start >= starts.max(1) {
                return false;
            }
            // Streams beyond those of the full-data starts and of cold starts.
            let first = (self.trip.number + 1) << 32;
            let mut rng = stream(options.seed, Purpose::Start, first + start as u64);
            let centres = self.trip.model.random_centres(Some(&self.weights), &mut rng);
            match self.follower.begin_from_centres(omega, &centres, &options.fit) {
                Ok(()) => return true,
                Err(why) => self.count_restart(Outcome::failed(why)),
            }
        }
    }

    /// Keeps what one of several starts has led to, if it is the best, and goes to the next.
    fn count_restart(&mut self, outcome: Outcome) {
        if let Attempt::Restarts { start, best } = &mut self.attempt {
            let better = |found: &Outcome| found.bound.is_nan() || outcome.bound > found.bound;
            if best.as_ref().is_none_or(|(found, _)| better(found)) {
                *best = Some((outcome, self.follower.state().to_vec()));
            }
            *start += 1;
        }
    }

    /// Goes back to the best of several starts.
    fn best_restart(&mut self) -> Outcome {
        match std::mem::replace(&mut self.attempt, Attempt::Only) {
            Attempt::Restarts { best: Some((outcome, state)), .. } => {
                self.follower.driver.state_mut().copy_from_slice(&state);
                outcome
            }
            _ => Outcome::failed(Degenerate::NotFinite),
        }
    }

    /// A fit has ended: tries again where that is due, or notes it and goes on.
    fn settle(&mut self) {
        let mut outcome = self.follower.driver.outcome();
        match &self.attempt {
            Attempt::Predicted if self.follower.may_retry(&outcome) => {
                self.attempt = Attempt::Only;
                return self.follower.retry(self.omega(), &self.trip.options.fit);
            }
            Attempt::Restarts { .. } => {
                self.count_restart(outcome);
                if self.begin_restart() {
                    return;
                }
                outcome = self.best_restart();
            }
            Attempt::Only | Attempt::Predicted => (),
        }
        self.arrive(outcome);
        self.at += 1;
        self.seek();
    }

    /// Numbers the components of a fit that has ended and notes it.
    fn arrive(&mut self, outcome: Outcome) {
        let Some(mut posterior) = self.follower.posterior(self.omega(), &outcome) else {
            return self.note(&outcome, None);
        };
        match self.trip.options.matching {
            Matching::Weight => posterior = posterior.permuted(&posterior.order_by_weight()),
            Matching::Assignment
                if self.has_new_weights()
                    || self.cold.is_some()
                    || !self.follower.has_history() =>
            {
                let order = match_components(&self.trip.reference.posteriors[self.at], &posterior);
                posterior = posterior.permuted(&order);
                let state = permute_state(self.trip.model, &order, self.follower.state());
                self.follower.driver.state_mut().copy_from_slice(&state);
            }
            Matching::Assignment => {}
        }
        self.note(&outcome, Some(posterior.parameters()));
        self.follower.remember_current();
        if self.trip.omegas.len() == 1 {
            self.fits.end = Some(self.follower.state().to_vec());
        }
    }

    fn note(&mut self, outcome: &Outcome, parameters: Option<&[f64]>) {
        self.fits.push(outcome, parameters, self.trip.model.layout().len());
    }
}

/// A sweeper and a driver that go down the grid and predict where the next optimum will be.
pub(super) struct Follower<'a> {
    pub(super) sweeper: Box<dyn Sweeper + 'a>,
    driver: Driver,
    /// The states at the grid points before, latest first.
    history: [Vec<f64>; 3],
    known: usize,
}

impl<'a> Follower<'a> {
    pub(super) fn new(model: &'a dyn Model) -> Follower<'a> {
        let empty = vec![0.0; model.state_len()];
        Follower {
            sweeper: model.sweeper(),
            driver: Driver::new(model),
            history: [empty.clone(), empty.clone(), empty],
            known: 0,
        }
    }

    pub(super) fn state(&self) -> &[f64] {
        self.driver.state()
    }

    fn forget(&mut self) {
        self.known = 0;
    }

    fn has_history(&self) -> bool {
        self.known > 0
    }

    /// Takes a state as the latest.
    pub(super) fn remember(&mut self, state: &[f64]) {
        self.driver.state_mut().copy_from_slice(state);
        self.remember_current();
    }

    fn remember_current(&mut self) {
        self.history.rotate_right(1);
        self.history[0].copy_from_slice(self.driver.state());
        self.known = (self.known + 1).min(3);
    }

    fn begin_from(&mut self, omega: f64, state: &[f64], options: &FitOptions) {
        self.driver.state_mut().copy_from_slice(state);
        self.driver.begin(omega, options);
    }

    fn begin_from_centres(
        &mut self,
        omega: f64,
        centres: &[f64],
        options: &FitOptions,
    ) -> Result<(), Degenerate> {
        self.sweeper.start(omega, centres, self.driver.state_mut())?;
        self.driver.begin(omega, options);
        Ok(())
    }

    /// Begins from the polynomial through the last states (the grid is even in log ω).
    fn begin_from_history(&mut self, omega: f64, options: &FitOptions) {
        let [a, b, c] = &self.history;
        for (i, x) in self.driver.state_mut().iter_mut().enumerate() {
            *x = match self.known {
                0 | 1 => a[i],
                2 => 2.0 * a[i] - b[i],
                _ => 3.0 * (a[i] - b[i]) + c[i],
            };
        }
        self.driver.begin(omega, options);
    }

    /// Whether the polynomial gave no feasible point, and the last state itself may be one.
    fn may_retry(&self, outcome: &Outcome) -> bool {
        self.known > 1 && outcome.bound.is_nan()
    }

    /// Begins again from the last state.
    fn retry(&mut self, omega: f64, options: &FitOptions) {
        self.driver.state_mut().copy_from_slice(&self.history[0]);
        self.driver.begin(omega, options);
    }

    /// Makes the sweep that the fit waits for.
    #[inline]
    fn sweep(&mut self) -> Result<f64, Degenerate> {
        match self.driver.wants() {
            Some(sweep) => sweep.make(self.sweeper.as_mut()),
            None => Err(Degenerate::NotFinite),
        }
    }

    fn run(&mut self) -> Outcome {
        while !self.driver.has_ended() {
            let result = self.sweep();
            self.driver.take(result);
        }
        self.driver.outcome()
    }

    pub(super) fn run_from_centres(
        &mut self,
        omega: f64,
        centres: &[f64],
        options: &FitOptions,
    ) -> Outcome {
        match self.begin_from_centres(omega, centres, options) {
            Ok(()) => self.run(),
            Err(why) => Outcome::failed(why),
        }
    }

    pub(super) fn run_from_history(&mut self, omega: f64, options: &FitOptions) -> Outcome {
        self.begin_from_history(omega, options);
        let outcome = self.run();
        if self.may_retry(&outcome) {
            self.retry(omega, options);
            return self.run();
        }
        outcome
    }

    pub(super) fn posterior(&mut self, omega: f64, outcome: &Outcome) -> Option<Posterior> {
        if matches!(outcome.status, Status::Degenerate(_)) {
            return None;
        }
        self.sweeper.posterior(omega, self.driver.state()).ok()
    }
}
