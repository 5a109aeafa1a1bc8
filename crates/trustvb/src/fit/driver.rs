//! The fixed-point driver: sweeps, with or without acceleration, until the state stands still.
//!
//! It is a step machine. It never makes a sweep: it says which one it waits for ([`Driver::wants`]) and takes what came
//! out ([`Driver::take`]). Whoever holds many drivers can therefore make their sweeps together, on any device;
//! [`Driver::run`] makes them one by one.

use super::Shortcut;
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

impl Outcome {
    /// Before the first sweep.
    pub(super) fn beginning() -> Outcome {
        Outcome {
            bound: f64::NAN,
            sweeps: 0,
            change: f64::INFINITY,
            status: Status::HitLimit,
            trace: Vec::new(),
        }
    }

    /// Of a fit that could not begin.
    pub(super) fn failed(why: Degenerate) -> Outcome {
        Outcome { status: Status::Degenerate(why), ..Outcome::beginning() }
    }
}

/// A sweep that a fit waits for: from `state` at `omega`, into `next`, with the scale of changes.
#[derive(Debug)]
pub struct Sweep<'a> {
    /// The fraction.
    pub omega: f64,
    /// Where it begins.
    pub state: &'a [f64],
    /// Where it leads: to be filled in.
    pub next: &'a mut [f64],
    /// What changes of the state are measured by: to be filled in, if the sweep has an answer.
    pub scale: &'a mut [f64],
    /// Whether the bound is to be one E-step behind, as the paper's code has it. Such a sweep looks at the one before it
    /// and must be made by the same sweeper ([`super::Walk::step`]).
    pub staggered: bool,
}

impl Sweep<'_> {
    /// Lets a sweeper make it. Returns the bound, for [`Driver::take`].
    #[inline]
    pub fn make(self, sweeper: &mut dyn Sweeper) -> Result<f64, Degenerate> {
        let bound = match self.staggered {
            false => sweeper.sweep(self.omega, self.state, self.next)?,
            true => sweeper.staggered_sweep(self.omega, self.state, self.next)?,
        };
        sweeper.scale(self.omega, self.state, self.scale);
        Ok(bound)
    }
}

/// One fit on its way, and its working vectors, which are reused from fit to fit.
#[derive(Debug)]
pub struct Driver {
    /// Where the next sweep begins; after the last, the answer.
    state: Vec<f64>,
    next: Vec<f64>,
    /// The plain step that an accelerated one replaced.
    plain: Vec<f64>,
    scale: Vec<f64>,
    /// A converged state that the iteration has stepped off, in case that leads nowhere.
    safe: Vec<f64>,
    anderson: Anderson,
    /// Turns steps of the map into longer ones, before they are accelerated.
    shortcut: Option<Shortcut>,
    /// Working memory of that.
    step: Vec<f64>,
    is_ascent: bool,
    omega: f64,
    options: FitOptions,
    outcome: Outcome,
    course: Course,
    has_ended: bool,
}

/// Bounds are sums over many rows; differences below this share of them are rounding.
const BOUND_ROUNDING: f64 = 1e-12;

/// Acceleration waits until plain sweeps have found their basin: change per sweep below this.
const ACCELERATE_BELOW: f64 = 0.05;

/// Sweeps in a row whose change does not fall after which the fit is taken to drift, and steps are stretched: each time
/// twice as much as the last, until they are this share of the scale.
const DRIFT: usize = 5;
const LONGEST_STEP: f64 = 0.5;

/// Sweeps without a smaller change after which a nearly converged fit is called stalled.
const PATIENCE: usize = 60;

/// How far to step off a saddle, as a share of the scale, and how often.
pub(super) const KICK: f64 = 1e-3;
pub(super) const MAX_KICKS: usize = 3;

/// What the iteration knows of its past.
#[derive(Debug)]
struct Course {
    /// Whether the state is another than the last sweep led to, and whether by Anderson's combination.
    accelerated: bool,
    combined: bool,
    /// Sweeps in a row whose change did not fall, and how far the last of their steps was stretched.
    drifting: usize,
    stretch: f64,
    last_change: f64,
    best_change: f64,
    since_best: usize,
    kicks: usize,
    /// Bound and change of the converged state in `Driver::safe`.
    safe: Option<(f64, f64)>,
}

impl Course {
    const BEGINNING: Course = Course {
        accelerated: false,
        combined: false,
        drifting: 0,
        stretch: 1.0,
        last_change: f64::INFINITY,
        best_change: f64::INFINITY,
        since_best: 0,
        kicks: 0,
        safe: None,
    };
}

impl Driver {
    /// Working vectors for `model`.
    pub fn new(model: &dyn Model) -> Driver {
        let n = model.state_len();
        Driver {
            state: vec![0.0; n],
            next: vec![0.0; n],
            plain: vec![0.0; n],
            scale: vec![0.0; n],
            safe: vec![0.0; n],
            anderson: Anderson::new(n),
            shortcut: None,
            step: vec![0.0; n],
            is_ascent: model.is_ascent(),
            omega: 1.0,
            options: FitOptions::default(),
            outcome: Outcome::beginning(),
            course: Course::BEGINNING,
            has_ended: true,
        }
    }

    /// Iterates `state` to a fixed point of `sweeper` at `omega`.
    pub fn run(
        &mut self,
        sweeper: &mut dyn Sweeper,
        omega: f64,
        state: &mut [f64],
        options: &FitOptions,
        progress: &mut dyn FnMut(&Progress),
    ) -> Outcome {
        self.state.copy_from_slice(state);
        self.begin(omega, options);
        while let Some(sweep) = self.wants() {
            let result = sweep.make(sweeper);
            if let Some(report) = self.take(result) {
                progress(&report);
            }
        }
        state.copy_from_slice(&self.state);
        self.outcome()
    }

    /// Begins a fit from [`Driver::state`]. It makes one sweep at least.
    pub fn begin(&mut self, omega: f64, options: &FitOptions) {
        self.omega = omega;
        self.options.clone_from(options);
        self.anderson.reset(options.acceleration);
        self.shortcut = None;
        self.outcome = Outcome::beginning();
        self.course = Course::BEGINNING;
        self.has_ended = false;
    }

    /// Lets the fit that has begun take a shortcut, made at a fixed point near its own. Its steps are checked as
    /// accelerated ones are.
    pub(super) fn shorten(&mut self, shortcut: Option<&Shortcut>) {
        self.shortcut = shortcut.cloned();
    }

    /// The state: where a fit is, and where the next will begin.
    pub fn state(&self) -> &[f64] {
        &self.state
    }

    /// The state, to place it between fits.
    pub fn state_mut(&mut self) -> &mut [f64] {
        &mut self.state
    }

    /// How the last fit went.
    pub fn outcome(&mut self) -> Outcome {
        let trace = std::mem::take(&mut self.outcome.trace);
        Outcome { trace, ..self.outcome.clone() }
    }

    /// Whether the fit has ended: it wants no more sweeps.
    #[inline]
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The sweep that the fit waits for; none when it has ended.
    #[inline]
    pub fn wants(&mut self) -> Option<Sweep<'_>> {
        (!self.has_ended).then(|| Sweep {
            omega: self.omega,
            state: &self.state,
            next: &mut self.next,
            scale: &mut self.scale,
            staggered: matches!(self.options.stopping, Stopping::AbsoluteBound(_)),
        })
    }

    /// Takes the bound of the sweep that [`Driver::wants`] asked for. Returns where the fit is, unless the sweep does not
    /// count.
    ///
    /// Every accelerated step is checked when its own sweep is made: if it left the feasible set or
    /// the bound fell (for an update that is no ascent: the change grew), the iteration goes back
    /// to the plain step it replaced and forgets its history. A fixed point along which the map
    /// expands may be a saddle: the iteration steps off it, and comes back unless the bound rises.
    pub fn take(&mut self, result: Result<f64, Degenerate>) -> Option<Progress> {
        self.outcome.sweeps += 1;
        let mut change = f64::INFINITY;
        if result.is_ok() {
            change = relative_change(&self.state, &self.next, &self.scale);
        }
        let report = if self.course.accelerated && self.is_worse(&result, change) {
            self.state.copy_from_slice(&self.plain);
            self.anderson.reset(self.options.acceleration);
            if !self.course.combined {
                self.shortcut = None;
            }
            (self.course.accelerated, self.course.combined) = (false, false);
            (self.course.drifting, self.course.stretch) = (0, 1.0);
            None
        } else {
            match result {
                Ok(bound) => Some(self.accept(bound, change)),
                Err(why) => {
                    self.outcome.status = Status::Degenerate(why);
                    self.end();
                    None
                }
            }
        };
        if !self.has_ended && self.outcome.sweeps >= self.options.max_sweeps {
            self.end();
        }
        report
    }

    /// A sweep that counts: ends the fit, or chooses where the next begins.
    fn accept(&mut self, bound: f64, change: f64) -> Progress {
        let has_arrived = match self.options.stopping {
            Stopping::Relative(tolerance) => change <= tolerance,
            Stopping::AbsoluteBound(tolerance) => (bound - self.outcome.bound).abs() < tolerance,
        };
        (self.outcome.bound, self.outcome.change) = (bound, change);
        if self.options.trace && self.course.safe.is_none_or(|(safe, _)| bound >= safe) {
            self.outcome.trace.push(bound);
        }
        match has_arrived {
            true => self.arrive(),
            false => self.go_on(change),
        }
        Progress { start: 0, starts: 1, sweeps: self.outcome.sweeps, bound, change }
    }

    /// At a fixed point: ends, unless it may be a saddle.
    fn arrive(&mut self) {
        self.outcome.status = Status::Converged;
        if matches!(self.options.stopping, Stopping::AbsoluteBound(_)) {
            // The paper's code keeps the parameters whose bound it has looked at.
            return self.end();
        }
        self.state.copy_from_slice(&self.next);
        if !self.step_off() {
            return self.end();
        }
        self.outcome.status = Status::HitLimit;
        self.anderson.reset(self.options.acceleration);
    }

    /// Chooses where the next sweep begins, unless rounding allows no more progress.
    fn go_on(&mut self, change: f64) {
        let course = &mut self.course;
        if change < 0.9 * course.best_change {
            (course.best_change, course.since_best) = (change, 0);
        } else {
            course.since_best += 1;
            if course.since_best >= PATIENCE && course.best_change < 1e-7 {
                self.outcome.status = Status::Stalled;
                return self.end();
            }
        }
        self.plain.copy_from_slice(&self.next);
        if let Some(shortcut) = &self.shortcut {
            shortcut.lengthen(&self.state, &mut self.next, &mut self.step);
        }
        course.combined = self.options.acceleration > 0
            && change < ACCELERATE_BELOW
            && change < course.last_change
            && self.anderson.propose(&self.state, &mut self.next, &self.scale);
        let has_stretched = self.stretch(change);
        let course = &mut self.course;
        course.accelerated = course.combined || has_stretched || self.shortcut.is_some();
        course.last_change = change;
        self.state.copy_from_slice(&self.next);
    }

    /// Goes further than a sweep does where sweeps drift: where their change, though small, does not fall, as on the
    /// plateau of a component that is one too many. Anderson's combination would lead back to where they came from.
    fn stretch(&mut self, change: f64) -> bool {
        let course = &mut self.course;
        let drifts = self.options.acceleration > 0
            && change < ACCELERATE_BELOW
            && change >= course.last_change
            && self.shortcut.is_none();
        if !drifts {
            // A stretched step may be followed by a smaller change without an end of the drift.
            course.drifting = if course.stretch > 1.0 && !course.combined { DRIFT } else { 0 };
            course.stretch = 1.0;
            return false;
        }
        course.drifting += 1;
        if course.drifting < DRIFT {
            return false;
        }
        course.stretch = (2.0 * course.stretch).min(LONGEST_STEP / change);
        for (next, state) in self.next.iter_mut().zip(&self.state) {
            *next = *state + course.stretch * (*next - *state);
        }
        true
    }

    /// Ends the fit with its best state.
    fn end(&mut self) {
        self.has_ended = true;
        let outcome = &mut self.outcome;
        if outcome.status == Status::HitLimit && self.course.accelerated {
            // The last proposal has not been checked by a sweep.
            self.state.copy_from_slice(&self.plain);
        }
        if let Some((bound, change)) = self.course.safe
            && !(outcome.status == Status::Converged && is_above(outcome.bound, bound))
        {
            self.state.copy_from_slice(&self.safe);
            (outcome.bound, outcome.change) = (bound, change);
            outcome.status = Status::Converged;
        }
    }

    fn is_worse(&self, result: &Result<f64, Degenerate>, change: f64) -> bool {
        let before = &self.outcome;
        match result {
            Err(_) => true,
            Ok(bound) if self.is_ascent => is_below(*bound, before.bound),
            Ok(_) => change > 2.0 * before.change,
        }
    }

    /// At a converged state: moves it off along an expanding direction, if the history shows one
    /// and the last such step was worth it.
    fn step_off(&mut self) -> bool {
        let (course, outcome) = (&mut self.course, &self.outcome);
        let worthwhile = course.safe.is_none_or(|(bound, _)| is_above(outcome.bound, bound));
        if course.kicks >= MAX_KICKS
            || !worthwhile
            || !self.anderson.expanding_direction(&self.scale, &mut self.plain)
        {
            return false;
        }
        course.kicks += 1;
        course.safe = Some((outcome.bound, outcome.change));
        self.safe.copy_from_slice(&self.state);
        for (s, d) in self.state.iter_mut().zip(&self.plain) {
            *s += KICK * d;
        }
        // It would lead straight back.
        self.shortcut = None;
        (course.accelerated, course.combined) = (false, false);
        (course.last_change, course.best_change, course.since_best) = (0.0, f64::INFINITY, 0);
        true
    }
}

/// Whether a bound is higher by more than rounding.
fn is_above(bound: f64, other: f64) -> bool {
    bound > other + BOUND_ROUNDING * other.abs().max(1.0)
}

/// Whether a bound is lower by more than rounding.
pub(super) fn is_below(bound: f64, other: f64) -> bool {
    bound < other - BOUND_ROUNDING * other.abs().max(1.0)
}

/// Largest `|next − state| / scale`; infinite when anything is not a number.
pub(super) fn relative_change(state: &[f64], next: &[f64], scale: &[f64]) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::model::{Gmm, GmmPrior, Update};

    /// Sweeps of `x ← x + x(1 − x)/100` in one number from 0.001, which climb `x²/2 − x³/3` to its maximum at 1.
    fn climb(acceleration: usize) -> (f64, Outcome) {
        let data = Dataset::faithful();
        let model = Gmm::new(&data, 2, GmmPrior::default(), Update::Corrected).unwrap();
        let mut driver = Driver::new(&model);
        driver.state_mut().fill(1.0);
        driver.state_mut()[0] = 0.001;
        let options = FitOptions { acceleration, trace: true, ..FitOptions::default() };
        driver.begin(1.0, &options);
        while let Some(sweep) = driver.wants() {
            let x = sweep.state[0];
            sweep.next.copy_from_slice(sweep.state);
            sweep.next[0] = x + 0.01 * x * (1.0 - x);
            sweep.scale.fill(1.0);
            driver.take(Ok(x * x / 2.0 - x * x * x / 3.0));
        }
        (driver.state()[0], driver.outcome())
    }

    #[test]
    fn a_drift_is_left_soon_and_the_bound_never_falls() {
        let (plain, slow) = climb(0);
        let (there, outcome) = climb(5);
        assert_eq!((&slow.status, &outcome.status), (&Status::HitLimit, &Status::Converged));
        assert!((plain - 1.0).abs() < 1e-3 && (there - 1.0).abs() < 1e-7, "{plain} {there}");
        assert!(outcome.sweeps < 100, "{} sweeps", outcome.sweeps);
        assert!(outcome.trace.windows(2).all(|pair| pair[1] >= pair[0] - 1e-12));
    }
}
