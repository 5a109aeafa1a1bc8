//! Runs that are made piece by piece, several at a time, for [`super::race`].

use super::driver::relative_change;
use super::newton::climb;
use super::{Driver, FitOptions, Outcome, Progress, Status, Stopping};
use crate::model::{Degenerate, Model, Sweeper};
use crate::posterior::Posterior;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// What all runs share.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) model: &'a dyn Model,
    pub(super) weights: Option<&'a [f64]>,
    pub(super) omega: f64,
    pub(super) options: &'a FitOptions,
    pub(super) starts: usize,
    pub(super) seed: u64,
    /// Change below which a run has found its optimum, as far as a search is concerned.
    pub(super) settled: f64,
    /// Whether a component is kept unless the bound is decisive ([`Track::merit`]).
    pub(super) in_doubt: bool,
    /// Whether this is the model whose fit is wanted, and not a simpler one that may know its groups.
    pub(super) is_asked_for: bool,
}

/// By how much the bound must be higher without a component before it is given up, times ω: at least so much, and so
/// much of what its parameters can cost at most, ½ log n each.
const DECISIVE: f64 = 100.0;
const DECISIVE_SHARE: f64 = 0.4;

/// Runs whose states differ by less than this share of their scale have met: they will end in the same optimum.
const SAME_PLACE: f64 = 0.01;

impl<'a> Field<'a> {
    /// Working memory for one run after the other.
    pub(super) fn track(&self) -> Result<Track<'a>, Degenerate> {
        let mut sweeper = self.model.sweeper();
        sweeper.load(self.weights)?;
        Ok(Track { field: *self, sweeper, driver: Driver::new(self.model) })
    }

    /// `work` for each job, on all threads; what comes out is in the order of the jobs. Nothing, where there is no working
    /// memory (the weights cannot be loaded).
    pub(super) fn each<T: Send, R: Send>(
        &self,
        jobs: Vec<T>,
        work: impl Fn(&mut Track<'a>, T) -> R + Sync,
    ) -> Vec<R> {
        // Working memory is made once for a thread: loading weights costs about as much as a sweep. Units that are far away
        // make one pass after the other, each of them on all threads.
        let threads = if self.model.is_far() { 1 } else { rayon::current_num_threads() };
        let threads = threads.min(jobs.len());
        let queue = Mutex::new(jobs.into_iter().enumerate());
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let mut done: Vec<(usize, R)> = (0..threads)
            .into_par_iter()
            .flat_map_iter(|_| {
                let mut done = Vec::new();
                if let Ok(mut track) = self.track() {
                    while let Some((at, job)) = next() {
                        done.push((at, work(&mut track, job)));
                    }
                }
                done
            })
            .collect();
        done.sort_by_key(|&(at, _)| at);
        done.into_iter().map(|(_, result)| result).collect()
    }

    /// Change below which a fit has ended.
    pub(super) fn tolerance(&self) -> f64 {
        match self.options.stopping {
            Stopping::Relative(tolerance) => tolerance,
            Stopping::AbsoluteBound(_) => self.settled,
        }
    }

    /// How many units there are, by their weights.
    pub(super) fn total(&self) -> f64 {
        self.weights.map_or(self.model.n_units() as f64, |weights| weights.iter().sum())
    }

    /// How many units have a weight at all.
    pub(super) fn n_present(&self) -> usize {
        let n_units = self.model.n_units();
        self.weights.map_or(n_units, |weights| weights.iter().filter(|w| **w > 0.0).count())
    }

    /// How many parameters a component has.
    pub(super) fn parameters(&self) -> f64 {
        (self.model.layout().len() / self.model.n_components()) as f64
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
    /// How many starts have led here, this one included.
    pub(super) met: usize,
    pub(super) state: Vec<f64>,
    pub(super) outcome: Outcome,
    /// By how much the bound rose in each of the last sweeps; infinite before that is known.
    pub(super) rise: f64,
}

/// Sweeps in which a run that has settled usually converges: so many, and so many for each number of its state, because
/// derivatives of longer ones cost more.
const SLOW: usize = 60;
const SLOW_SHARE: usize = 2;

/// How many sweeps are the last.
const LAST_SWEEPS: usize = 5;

impl Runner {
    /// One that has made no sweep.
    pub(super) fn new(start: usize, state: Vec<f64>) -> Runner {
        Runner { start, met: 1, state, outcome: Outcome::beginning(), rise: f64::INFINITY }
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

    /// Makes a few more sweeps that have been made elsewhere: of the same starts.
    pub(super) fn go_on(
        &mut self,
        later: Runner,
        starts: usize,
        progress: &mut dyn FnMut(&Progress),
    ) {
        self.replace(Runner { met: self.met, ..later }, starts, progress);
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
        let mut last = [f64::NAN; LAST_SWEEPS + 1];
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
        let known = last.iter().filter(|bound| bound.is_finite()).count();
        if runner.is_settled() {
            runner.rise = 0.0;
        } else if known > 1 {
            let first = last[LAST_SWEEPS + 1 - known];
            runner.rise = (last[LAST_SWEEPS] - first) / (known - 1) as f64;
        }
    }

    /// Goes on until the change is within `tolerance`: by sweeps and, where these take long, by Newton's steps.
    pub(super) fn finish(
        &mut self,
        runner: &mut Runner,
        tolerance: f64,
        progress: &mut dyn FnMut(&Progress),
    ) {
        let Field { model, weights, omega, options, starts, .. } = self.field;
        let patience = SLOW.max(SLOW_SHARE * runner.state.len());
        self.advance(runner, runner.outcome.sweeps + patience, tolerance, progress);
        let before = runner.outcome.sweeps;
        if runner.is_settled() || before >= options.max_sweeps {
            return;
        }
        let left = FitOptions {
            stopping: Stopping::Relative(tolerance),
            max_sweeps: options.max_sweeps - before,
            ..options.clone()
        };
        let start = runner.start;
        let mut report =
            |p: &Progress| progress(&Progress { start, starts, sweeps: before + p.sweeps, ..*p });
        let sweeper = self.sweeper.as_mut();
        let climbed =
            climb((model, weights, omega), sweeper, &mut runner.state, &left, &mut report);
        if let Some(outcome) = climbed {
            let mut trace = std::mem::take(&mut runner.outcome.trace);
            trace.extend_from_slice(&outcome.trace);
            runner.outcome = Outcome { sweeps: before + outcome.sweeps, trace, ..outcome };
        }
        if !runner.is_settled() {
            self.advance(runner, options.max_sweeps, tolerance, progress);
        }
    }

    /// Lets those of `runners` that have met go on as one, the first of them.
    pub(super) fn meet(&self, runners: Vec<Runner>) -> Vec<Runner> {
        let mut apart: Vec<(Runner, Vec<f64>)> = Vec::with_capacity(runners.len());
        let mut scale = vec![1.0; self.field.model.state_len()];
        for runner in runners {
            let sorted = self.sorted(&runner);
            self.sweeper.scale(self.field.omega, &sorted, &mut scale);
            let is_same = |(_, other): &&mut (Runner, Vec<f64>)| {
                relative_change(&sorted, other, &scale) < SAME_PLACE
            };
            match apart.iter_mut().find(is_same) {
                Some((first, _)) => first.met += runner.met,
                None => apart.push((runner, sorted)),
            }
        }
        apart.into_iter().map(|(runner, _)| runner).collect()
    }

    /// A run's state, components with more units first. Starts that agree number them as it happens.
    fn sorted(&self, runner: &Runner) -> Vec<f64> {
        let model = self.field.model;
        let stride = model.state_len() / model.n_components();
        let mut parts: Vec<&[f64]> = runner.state.chunks_exact(stride).collect();
        parts.sort_by(|a, b| b[0].total_cmp(&a[0]));
        parts.concat()
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
        let few = self.field.model.handful() as f64;
        self.counts(runner).iter().filter(|&&count| count < few).count()
    }

    /// What runs are compared by: the bound, less what a component that was given up must be worth.
    ///
    /// A user who asks for K components means K. Where components overlap, the bound is a little higher with one of them
    /// empty, and intervals from such a fit miss (the cells `touching` and `five-near` of the study `broad`). So it is given
    /// up only where the bound leaves no doubt, as it does when it is superfluous among many units.
    pub(super) fn merit(&self, runner: &Runner) -> f64 {
        let n_free = self.n_free(runner);
        if n_free == 0 || !self.field.in_doubt {
            return runner.bound();
        }
        let units: f64 = self.counts(runner).iter().sum();
        let cost = 0.5 * self.field.parameters() * units.max(1.0).ln();
        let worth = DECISIVE.max(DECISIVE_SHARE * cost);
        runner.bound() - worth * self.field.omega * n_free as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::model::{Gmm, GmmPrior, Update};

    fn with_field(weights: Option<&[f64]>, test: impl FnOnce(&Field<'_>)) {
        let data = Dataset::faithful();
        let model = Gmm::new(&data, 2, GmmPrior::default(), Update::Corrected).unwrap();
        test(&Field {
            model: &model,
            weights,
            omega: 1.0,
            options: &FitOptions::default(),
            starts: 3,
            seed: 0,
            settled: 1e-4,
            in_doubt: true,
            is_asked_for: true,
        });
    }

    #[test]
    fn runs_that_have_met_go_on_as_one_whatever_their_numbering() {
        with_field(None, |field| {
            assert_eq!((field.total(), field.n_present()), (272.0, 272));
            // The third splits the long eruptions in two.
            let centres = [[2.0, 55.0, 4.3, 80.0], [4.3, 80.0, 2.0, 55.0], [4.3, 75.0, 4.3, 85.0]];
            let begun = field.each(centres.to_vec(), |track, centres| {
                track.begin(0, |sweeper, state| sweeper.start(1.0, &centres, state)).unwrap()
            });
            let track = field.track().unwrap();
            let met = |runners: &[Runner]| runners.iter().map(|r| r.met).collect::<Vec<_>>();
            let runners = track.meet(begun);
            assert_eq!(met(&runners), [2, 1]);
            // They need a few sweeps to come together.
            let runners = field.advance_all(runners, 50, &mut |_| ());
            assert!(runners.iter().all(|runner| runner.is_settled() && runner.rise == 0.0));
            assert_eq!(met(&track.meet(runners)), [3]);
        });
    }

    #[test]
    fn jobs_come_out_in_their_order() {
        with_field(None, |field| {
            let squares: Vec<i32> = (0..99).map(|job| job * job).collect();
            assert_eq!(field.each((0..99).collect(), |_, job: i32| job * job), squares);
        });
        // Nothing can be loaded.
        with_field(Some(&[0.0; 272]), |field| {
            assert!(field.each(vec![1, 2], |_, job| job).is_empty());
            assert_eq!(field.n_present(), 0);
        });
    }
}
