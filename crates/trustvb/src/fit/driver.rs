//! The fixed-point driver: sweeps, with or without acceleration, until the state stands still.

use super::anderson::Anderson;
use crate::defaults;
use crate::model::{Degenerate, Model, Sweeper};
use serde::{Deserialize, Serialize};

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopping {
    /// When no entry of the state changes by more than this share of its scale in a sweep.
    Relative(f64),
    /// When the bound changes by less than this, as the paper's code does. At small ω this stops
    /// far from the optimum; it exists to reproduce published numbers.
    AbsoluteBound(f64),
}

/// How to iterate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitOptions {
    /// When to stop.
    pub stopping: Stopping,
    /// Sweeps after which to give up.
    pub max_sweeps: usize,
    /// Past states that Anderson acceleration combines; 0 gives plain sweeps.
    pub acceleration: usize,
    /// Keep the bound of every accepted sweep.
    pub trace: bool,
}

impl Default for FitOptions {
    fn default() -> FitOptions {
        FitOptions {
            stopping: Stopping::Relative(defaults::TOLERANCE),
            max_sweeps: defaults::MAX_SWEEPS,
            acceleration: defaults::ACCELERATION,
            trace: false,
        }
    }
}

/// How a fit ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// The stopping rule was met.
    Converged,
    /// Rounding errors allow no further progress, short of the tolerance.
    Stalled,
    /// The limit of sweeps was reached first.
    HitLimit,
    /// A sweep had no answer.
    Degenerate(Degenerate),
}

impl Status {
    /// One word for tables and JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Status::Converged => "converged",
            Status::Stalled => "stalled",
            Status::HitLimit => "hit-limit",
            Status::Degenerate(_) => "degenerate",
        }
    }
}

/// What a fit reports while it runs.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Which start, from 0.
    pub start: usize,
    /// Of how many.
    pub starts: usize,
    /// Sweeps so far.
    pub sweeps: usize,
    /// The bound.
    pub bound: f64,
    /// Largest relative change in the last sweep.
    pub change: f64,
}

/// The result of an iteration.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The bound at the last state that was swept (at convergence the same as at the final one).
    pub bound: f64,
    /// Sweeps made, rejected accelerated steps included.
    pub sweeps: usize,
    /// Largest relative change in the last sweep.
    pub change: f64,
    /// How it ended.
    pub status: Status,
    /// The bound of every accepted sweep, when asked for.
    pub trace: Vec<f64>,
}

/// Working vectors of the iteration, reused from fit to fit.
#[derive(Debug)]
pub struct Driver {
    next: Vec<f64>,
    /// The plain step that an accelerated one replaced.
    plain: Vec<f64>,
    scale: Vec<f64>,
    /// A converged state that the iteration has stepped off, in case that leads nowhere.
    safe: Vec<f64>,
    anderson: Anderson,
    is_ascent: bool,
}

/// Bounds are sums over many rows; differences below this share of them are rounding.
const BOUND_ROUNDING: f64 = 1e-12;

/// Acceleration waits until plain sweeps have found their basin: change per sweep below this.
const ACCELERATE_BELOW: f64 = 0.05;

/// Sweeps without a smaller change after which a nearly converged fit is called stalled.
const PATIENCE: usize = 60;

/// How far to step off a saddle, as a share of the scale, and how often.
const KICK: f64 = 1e-3;
const MAX_KICKS: usize = 3;

/// What the iteration knows of its past.
struct Course {
    accelerated: bool,
    last_change: f64,
    best_change: f64,
    since_best: usize,
    kicks: usize,
    /// Bound and change of the converged state in `Driver::safe`.
    safe: Option<(f64, f64)>,
}

impl Driver {
    /// Working vectors for `model`.
    pub fn new(model: &dyn Model) -> Driver {
        let n = model.state_len();
        Driver {
            next: vec![0.0; n],
            plain: vec![0.0; n],
            scale: vec![0.0; n],
            safe: vec![0.0; n],
            anderson: Anderson::new(n),
            is_ascent: model.is_ascent(),
        }
    }

    /// Iterates `state` to a fixed point of `sweeper` at `omega`.
    ///
    /// Every accelerated step is checked when its own sweep is made: if it left the feasible set or
    /// the bound fell (for an update that is no ascent: the change grew), the iteration goes back
    /// to the plain step it replaced and forgets its history. A fixed point along which the map
    /// expands may be a saddle: the iteration steps off it, and comes back unless the bound rises.
    pub fn run(
        &mut self,
        sweeper: &mut dyn Sweeper,
        omega: f64,
        state: &mut [f64],
        options: &FitOptions,
        progress: &mut dyn FnMut(&Progress),
    ) -> Outcome {
        self.anderson.reset(options.acceleration);
        let mut outcome = Outcome {
            bound: f64::NAN,
            sweeps: 0,
            change: f64::INFINITY,
            status: Status::HitLimit,
            trace: Vec::new(),
        };
        let mut course = Course {
            accelerated: false,
            last_change: f64::INFINITY,
            best_change: f64::INFINITY,
            since_best: 0,
            kicks: 0,
            safe: None,
        };
        while outcome.sweeps < options.max_sweeps {
            outcome.sweeps += 1;
            let result = match options.stopping {
                Stopping::Relative(_) => sweeper.sweep(omega, state, &mut self.next),
                Stopping::AbsoluteBound(_) => sweeper.staggered_sweep(omega, state, &mut self.next),
            };
            let mut change = f64::INFINITY;
            if result.is_ok() {
                sweeper.scale(omega, state, &mut self.scale);
                change = relative_change(state, &self.next, &self.scale);
            }
            if course.accelerated && self.is_worse(&result, change, &outcome) {
                state.copy_from_slice(&self.plain);
                self.anderson.reset(options.acceleration);
                course.accelerated = false;
                continue;
            }
            let bound = match result {
                Ok(bound) => bound,
                Err(why) => {
                    outcome.status = Status::Degenerate(why);
                    break;
                }
            };
            let done = match options.stopping {
                Stopping::Relative(tolerance) => change <= tolerance,
                Stopping::AbsoluteBound(tolerance) => (bound - outcome.bound).abs() < tolerance,
            };
            (outcome.bound, outcome.change) = (bound, change);
            if options.trace && course.safe.is_none_or(|(safe, _)| bound >= safe) {
                outcome.trace.push(bound);
            }
            progress(&Progress { start: 0, starts: 1, sweeps: outcome.sweeps, bound, change });
            if done {
                outcome.status = Status::Converged;
                if matches!(options.stopping, Stopping::AbsoluteBound(_)) {
                    // The paper's code keeps the parameters whose bound it has looked at.
                    break;
                }
                state.copy_from_slice(&self.next);
                if !self.step_off(state, &outcome, &mut course) {
                    break;
                }
                outcome.status = Status::HitLimit;
                self.anderson.reset(options.acceleration);
                continue;
            }
            if change < 0.9 * course.best_change {
                (course.best_change, course.since_best) = (change, 0);
            } else {
                course.since_best += 1;
                if course.since_best >= PATIENCE && course.best_change < 1e-7 {
                    outcome.status = Status::Stalled;
                    break;
                }
            }
            self.plain.copy_from_slice(&self.next);
            course.accelerated = options.acceleration > 0
                && change < ACCELERATE_BELOW
                && change < course.last_change
                && self.anderson.propose(state, &mut self.next, &self.scale);
            course.last_change = change;
            state.copy_from_slice(&self.next);
        }
        if outcome.status == Status::HitLimit && course.accelerated {
            // The last proposal has not been checked by a sweep.
            state.copy_from_slice(&self.plain);
        }
        if let Some((bound, change)) = course.safe
            && !(outcome.status == Status::Converged && is_above(outcome.bound, bound))
        {
            state.copy_from_slice(&self.safe);
            (outcome.bound, outcome.change) = (bound, change);
            outcome.status = Status::Converged;
        }
        outcome
    }

    fn is_worse(&self, result: &Result<f64, Degenerate>, change: f64, outcome: &Outcome) -> bool {
        match result {
            Err(_) => true,
            Ok(bound) if self.is_ascent => {
                *bound < outcome.bound - BOUND_ROUNDING * outcome.bound.abs().max(1.0)
            }
            Ok(_) => change > 2.0 * outcome.change,
        }
    }

    /// At a converged state: moves it off along an expanding direction, if the history shows one
    /// and the last such step was worth it.
    fn step_off(&mut self, state: &mut [f64], outcome: &Outcome, course: &mut Course) -> bool {
        let worthwhile = course.safe.is_none_or(|(bound, _)| is_above(outcome.bound, bound));
        if course.kicks >= MAX_KICKS
            || !worthwhile
            || !self.anderson.expanding_direction(&self.scale, &mut self.plain)
        {
            return false;
        }
        course.kicks += 1;
        course.safe = Some((outcome.bound, outcome.change));
        self.safe.copy_from_slice(state);
        for (s, d) in state.iter_mut().zip(&self.plain) {
            *s += KICK * d;
        }
        course.accelerated = false;
        (course.last_change, course.best_change, course.since_best) = (0.0, f64::INFINITY, 0);
        true
    }
}

/// Whether a bound is higher by more than rounding.
fn is_above(bound: f64, other: f64) -> bool {
    bound > other + BOUND_ROUNDING * other.abs().max(1.0)
}

/// Largest `|next − state| / scale`; infinite when anything is not a number.
fn relative_change(state: &[f64], next: &[f64], scale: &[f64]) -> f64 {
    let mut largest = 0.0_f64;
    for ((x, y), s) in state.iter().zip(next).zip(scale) {
        let change = (y - x).abs() / s;
        if change.is_nan() {
            return f64::INFINITY;
        }
        largest = largest.max(change);
    }
    largest
}
