//! Runs that are made piece by piece, several at a time, for [`super::race`].

use super::{Driver, FitOptions, Outcome, Progress, Status, Stopping};
use crate::model::{Degenerate, Model, Sweeper};
use crate::posterior::Posterior;
use rayon::prelude::*;

/// What all runs share.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) model: &'a dyn Model,
    pub(super) weights: Option<&'a [f64]>,
    pub(super) omega: f64,
    pub(super) options: &'a FitOptions,
    pub(super) starts: usize,
    /// Change below which a run has found its optimum, as far as a search is concerned.
    pub(super) settled: f64,
}

/// By how much the bound must be higher without a component before it is given up, times ω: at least so much, and so
/// much of what its parameters can cost at most, ½ log n each.
const DECISIVE: f64 = 100.0;
const DECISIVE_SHARE: f64 = 0.4;

impl<'a> Field<'a> {
    /// Working memory for one run after the other.
    pub(super) fn track(&self) -> Result<Track<'a>, Degenerate> {
        let mut sweeper = self.model.sweeper();
        sweeper.load(self.weights)?;
        Ok(Track { field: *self, sweeper, driver: Driver::new(self.model) })
    }

    /// `work` for each job, on all threads; what comes out is in the order of the jobs. Jobs that find no working memory
    /// (the weights cannot be loaded) are left out.
    pub(super) fn each<T: Send, R: Send>(
        &self,
        jobs: Vec<T>,
        work: impl Fn(&mut Track<'a>, T) -> R + Sync,
    ) -> Vec<R> {
        // A few jobs together: loading weights costs about as much as a sweep.
        let together = jobs.len().div_ceil(2 * rayon::current_num_threads()).max(1);
        // Units that are far away make one pass after the other, each of them on all threads.
        let together = if self.model.is_far() { jobs.len().max(1) } else { together };
        let mut jobs: Vec<Option<T>> = jobs.into_iter().map(Some).collect();
        let done: Vec<Vec<R>> = jobs
            .par_chunks_mut(together)
            .map(|jobs| match self.track() {
                Ok(mut track) => {
                    jobs.iter_mut().filter_map(Option::take).map(|j| work(&mut track, j)).collect()
                }
                Err(_) => Vec::new(),
            })
            .collect();
        done.into_iter().flatten().collect()
    }

    /// Lets all runners go on to `sweeps` sweeps, or until they settle.
    pub(super) fn advance_all(
        &self,
        runners: Vec<Runner>,
        sweeps: usize,
        progress: &mut dyn FnMut(&Progress),
    ) -> Vec<Runner> {
        let done = self.each(runners, |track, mut runner| {
            let mut reports = Vec::new();
            track.advance(&mut runner, sweeps, self.settled, &mut |report| reports.push(*report));
            (runner, reports)
        });
        done.into_iter()
            .map(|(runner, reports)| {
                reports.iter().for_each(&mut *progress);
                runner
            })
            .collect()
    }
}

/// A run on its way.
#[derive(Clone, Debug)]
pub(super) struct Runner {
    pub(super) start: usize,
    pub(super) state: Vec<f64>,
    pub(super) outcome: Outcome,
    /// By how much the bound rose in the last sweeps; infinite before that is known.
    pub(super) gain: f64,
}

/// How many sweeps are the last.
const LAST_SWEEPS: usize = 5;

impl Runner {
    /// One that has made no sweep.
    pub(super) fn new(start: usize, state: Vec<f64>) -> Runner {
        Runner { start, state, outcome: Outcome::beginning(), gain: f64::INFINITY }
    }

    pub(super) fn bound(&self) -> f64 {
        self.outcome.bound
    }

    /// Whether not a single sweep had an answer.
    pub(super) fn has_failed(&self) -> bool {
        self.outcome.bound.is_nan()
    }

    /// Whether the last piece ended before its limit of sweeps.
    pub(super) fn is_settled(&self) -> bool {
        self.outcome.status != Status::HitLimit
    }

    /// Goes on from a better state.
    pub(super) fn replace(
        &mut self,
        better: Runner,
        starts: usize,
        progress: &mut dyn FnMut(&Progress),
    ) {
        let sweeps = self.outcome.sweeps + better.outcome.sweeps;
        *self = better;
        self.outcome.sweeps = sweeps;
        let (bound, change) = (self.outcome.bound, self.outcome.change);
        progress(&Progress { start: self.start, starts, sweeps, bound, change });
    }
}

/// Working memory for runs, one after the other.
pub(super) struct Track<'a> {
    field: Field<'a>,
    sweeper: Box<dyn Sweeper + 'a>,
    driver: Driver,
}

impl Track<'_> {
    /// A run from the state that `place` makes.
    pub(super) fn begin(
        &mut self,
        start: usize,
        place: impl FnOnce(&mut dyn Sweeper, &mut [f64]) -> Result<(), Degenerate>,
    ) -> Result<Runner, Degenerate> {
        let mut state = vec![0.0; self.field.model.state_len()];
        place(self.sweeper.as_mut(), &mut state)?;
        Ok(Runner::new(start, state))
    }

    /// Goes on to `sweeps` sweeps in all, or until the change is below `tolerance`.
    pub(super) fn advance(
        &mut self,
        runner: &mut Runner,
        sweeps: usize,
        tolerance: f64,
        progress: &mut dyn FnMut(&Progress),
    ) {
        let before = runner.outcome.sweeps;
        let sweeps = sweeps.min(self.field.options.max_sweeps);
        if sweeps <= before || matches!(runner.outcome.status, Status::Degenerate(_)) {
            return;
        }
        let options = FitOptions {
            stopping: Stopping::Relative(tolerance),
            max_sweeps: sweeps - before,
            ..self.field.options.clone()
        };
        let (start, starts) = (runner.start, self.field.starts);
        let mut last = [f64::NEG_INFINITY; LAST_SWEEPS + 1];
        let mut report = |p: &Progress| {
            last.rotate_left(1);
            last[LAST_SWEEPS] = p.bound;
            progress(&Progress { start, starts, sweeps: before + p.sweeps, ..*p });
        };
        let sweeper = self.sweeper.as_mut();
        let omega = self.field.omega;
        let outcome = self.driver.run(sweeper, omega, &mut runner.state, &options, &mut report);
        let mut trace = std::mem::take(&mut runner.outcome.trace);
        trace.extend_from_slice(&outcome.trace);
        runner.outcome = Outcome { sweeps: before + outcome.sweeps, trace, ..outcome };
        if last[LAST_SWEEPS].is_finite() {
            runner.gain = last[LAST_SWEEPS] - last[0];
        }
    }

    /// Whether a run may make so many more sweeps.
    pub(super) fn has_sweeps(&self, runner: &Runner, more: usize) -> bool {
        runner.outcome.sweeps + more <= self.field.options.max_sweeps
    }

    /// `q(θ)` of a run.
    pub(super) fn posterior(&mut self, runner: &Runner) -> Result<Posterior, Degenerate> {
        self.sweeper.posterior(self.field.omega, &runner.state)
    }

    /// The components' expected counts.
    pub(super) fn counts(&self, runner: &Runner) -> Vec<f64> {
        let model = self.field.model;
        let stride = model.state_len() / model.n_components();
        runner.state.iter().step_by(stride).copied().collect()
    }

    /// Whether a component describes no more than a handful of units.
    pub(super) fn has_free_component(&self, runner: &Runner) -> bool {
        self.n_free(runner) > 0
    }

    /// How many components describe no more than a handful of units.
    fn n_free(&self, runner: &Runner) -> usize {
        let few = (2 + self.field.model.centre_len()) as f64;
        self.counts(runner).iter().filter(|&&count| count < few).count()
    }

    /// What runs are compared by: the bound, less what a component that was given up must be worth.
    ///
    /// A user who asks for K components means K. Where components overlap, the bound is a little higher with one of them
    /// empty, and intervals from such a fit miss (the cells `touching` and `five-near` of the study `broad`). So it is given
    /// up only where the bound leaves no doubt, as it does when it is superfluous among many units.
    pub(super) fn merit(&self, runner: &Runner) -> f64 {
        let n_free = self.n_free(runner);
        if n_free == 0 {
            return runner.bound();
        }
        let model = self.field.model;
        let parameters = (model.layout().len() / model.n_components()) as f64;
        let units: f64 = self.counts(runner).iter().sum();
        let cost = 0.5 * parameters * units.max(1.0).ln();
        let worth = DECISIVE.max(DECISIVE_SHARE * cost);
        runner.bound() - worth * self.field.omega * n_free as f64
    }
}
