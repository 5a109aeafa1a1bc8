//! Many starts, of which only the promising go on, and moves that improve the best of them.
//!
//! Running every start to convergence spends nearly all sweeps on starts that do not win. Here all of them make a few
//! sweeps, then half of them a few more, and so on. Where several arrive at the same best bound, that is the answer.
//! Where they do not, there are many optima and more starts find more of them; moves ([`super::moves`]) do so sooner.
//! Of very many units only some are looked at before the last run, which uses all and goes to the full tolerance.

use super::moves::{spare, split_into, without};
use super::{Driver, FitOptions, Outcome, Progress, Status, Stopping};
use crate::model::{Degenerate, Model, Sweeper};
use crate::posterior::Posterior;
use crate::random::{Purpose, index, stream};

/// Units that the search looks at: at least so many, and so many for each component.
const FEW_UNITS: usize = 2000;
const UNITS_PER_COMPONENT: usize = 400;

/// Sweeps after which a round of the race ends, and which share of the starts goes on: one in so many.
const ROUNDS: [(usize, usize); 3] = [(10, 2), (25, 3), (60, 4)];

/// Change of the state below which a run has found its optimum as far as the search wants to know.
const SETTLED: f64 = 1e-4;

/// Bounds nearer than this are taken for those of one optimum.
const SAME_BOUND: f64 = 0.01;

/// So many starts at the same best bound end the search.
const AGREEMENT: usize = 3;

/// Components that moves try to spare.
const SPARED: usize = 3;

/// Sweeps given to all proposals of a round of moves, to the best few of them, and to the best one.
const TRIAL_SWEEPS: [usize; 3] = [4, 10, 40];

/// How many proposals go on after the first sweeps.
const FINALISTS: usize = 3;

/// Rounds of moves.
const MOVES: usize = 12;

/// A run on its way.
#[derive(Clone, Debug)]
struct Runner {
    start: usize,
    state: Vec<f64>,
    outcome: Outcome,
}

impl Runner {
    fn bound(&self) -> f64 {
        self.outcome.bound
    }

    fn is_settled(&self) -> bool {
        self.outcome.status != Status::HitLimit
    }
}

/// Everything a run needs but its state.
struct Track<'a> {
    model: &'a dyn Model,
    sweeper: Box<dyn Sweeper + 'a>,
    driver: Driver,
    omega: f64,
    options: FitOptions,
    starts: usize,
}

impl<'a> Track<'a> {
    fn new(
        model: &'a dyn Model,
        weights: Option<&[f64]>,
        omega: f64,
        options: &FitOptions,
        starts: usize,
    ) -> Result<Track<'a>, Degenerate> {
        let mut sweeper = model.sweeper();
        sweeper.load(weights)?;
        let options = options.clone();
        Ok(Track { model, sweeper, driver: Driver::new(model), omega, options, starts })
    }

    /// A run that has made no sweep, from what `place` makes of the state.
    fn begin(
        &mut self,
        start: usize,
        place: impl FnOnce(&mut dyn Sweeper, &mut [f64]) -> Result<(), Degenerate>,
    ) -> Result<Runner, Degenerate> {
        let mut state = vec![0.0; self.model.state_len()];
        place(self.sweeper.as_mut(), &mut state)?;
        let outcome = Outcome {
            bound: f64::NAN,
            sweeps: 0,
            change: f64::INFINITY,
            status: Status::HitLimit,
            trace: Vec::new(),
        };
        Ok(Runner { start, state, outcome })
    }

    /// Goes on to `sweeps` sweeps in all, or until the change is below `tolerance`.
    fn advance(
        &mut self,
        runner: &mut Runner,
        sweeps: usize,
        tolerance: f64,
        progress: &mut dyn FnMut(&Progress),
    ) {
        let before = runner.outcome.sweeps;
        if sweeps <= before {
            return;
        }
        let options = FitOptions {
            stopping: Stopping::Relative(tolerance),
            max_sweeps: sweeps - before,
            ..self.options.clone()
        };
        let (start, starts) = (runner.start, self.starts);
        let mut report =
            |p: &Progress| progress(&Progress { start, starts, sweeps: before + p.sweeps, ..*p });
        let outcome = self.driver.run(
            self.sweeper.as_mut(),
            self.omega,
            &mut runner.state,
            &options,
            &mut report,
        );
        let mut trace = std::mem::take(&mut runner.outcome.trace);
        trace.extend_from_slice(&outcome.trace);
        runner.outcome = Outcome { sweeps: before + outcome.sweeps, trace, ..outcome };
    }

    fn posterior(&mut self, runner: &Runner) -> Result<Posterior, Degenerate> {
        self.sweeper.posterior(self.omega, &runner.state)
    }
}

/// The best that `starts` starts lead to: its state, components in any order, and how it was reached.
pub(super) fn race(
    model: &dyn Model,
    weights: Option<&[f64]>,
    omega: f64,
    (starts, seed): (usize, u64),
    options: &FitOptions,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(Vec<f64>, Outcome), Degenerate> {
    let Stopping::Relative(tolerance) = options.stopping else {
        return Err(Degenerate::NotFinite);
    };
    let few = few_units(model, weights, seed);
    let looked_at = few.as_deref().or(weights);
    let mut track = Track::new(model, looked_at, omega, options, starts)?;
    // Bounds of fewer units are no part of the fit that is reported.
    let mut silent = |_: &Progress| ();
    let watch: &mut dyn FnMut(&Progress) = if few.is_some() { &mut silent } else { progress };
    let mut runners = Vec::with_capacity(starts);
    let mut failure = Degenerate::NotFinite;
    for number in 0..starts {
        let mut rng = stream(seed, Purpose::Start, number as u64);
        let centres = model.rough_centres(looked_at, &mut rng);
        match track.begin(number, |sweeper, state| sweeper.start(omega, &centres, state)) {
            Ok(runner) => runners.push(runner),
            Err(why) => failure = why,
        }
    }
    let settled = SETTLED.max(tolerance);
    let mut agree = false;
    for (sweeps, share) in ROUNDS {
        for runner in &mut runners {
            track.advance(runner, sweeps, settled, watch);
            if let (Status::Degenerate(why), true) = (&runner.outcome.status, runner.bound().is_nan())
            {
                failure = why.clone();
            }
        }
        runners.retain(|runner| !runner.bound().is_nan());
        runners.sort_by(|a, b| b.bound().total_cmp(&a.bound()));
        agree = runners.len() >= AGREEMENT
            && runners[..AGREEMENT].iter().all(|runner| {
                runner.is_settled() && runner.bound() > runners[0].bound() - SAME_BOUND
            });
        if agree {
            break;
        }
        runners.truncate(starts.div_ceil(share));
    }
    let mut best = runners.into_iter().next().ok_or(failure)?;
    if !agree {
        improve(&mut track, &mut best, settled, watch);
    }
    if few.is_some() {
        let posterior = track.posterior(&best)?;
        track = Track::new(model, weights, omega, options, starts)?;
        best = track.begin(best.start, |sweeper, state| sweeper.start_from(&posterior, state))?;
    }
    track.advance(&mut best, options.max_sweeps, tolerance, progress);
    Ok((best.state, best.outcome))
}

/// Weights that leave only some of very many units; `None` where all are few enough.
fn few_units(model: &dyn Model, weights: Option<&[f64]>, seed: u64) -> Option<Vec<f64>> {
    let most = FEW_UNITS.max(UNITS_PER_COMPONENT * model.n_components());
    let n = model.n_units();
    let mut present: Vec<usize> =
        (0..n).filter(|&i| weights.is_none_or(|w| w[i] > 0.0)).collect();
    if present.len() <= 2 * most {
        return None;
    }
    let mut rng = stream(seed, Purpose::Start, u64::MAX);
    let mut few = vec![0.0; n];
    for i in 0..most {
        let j = i + index(&mut rng, present.len() - i);
        present.swap(i, j);
        few[present[i]] = weights.map_or(1.0, |w| w[present[i]]);
    }
    Some(few)
}

/// Tries moves on `best` until none raises the bound.
fn improve(
    track: &mut Track<'_>,
    best: &mut Runner,
    settled: f64,
    progress: &mut dyn FnMut(&Progress),
) {
    let k = track.model.n_components();
    let stride = track.model.state_len() / k;
    let mut silent = |_: &Progress| ();
    for _ in 0..MOVES {
        let Ok(posterior) = track.posterior(best) else { return };
        let counts: Vec<f64> = best.state.iter().step_by(stride).copied().collect();
        let mut trials: Vec<Runner> = Vec::new();
        for component in spare(&posterior, &counts, SPARED) {
            let proposals = std::iter::once(Some(without(&posterior, component))).chain(
                (0..k)
                    .filter(|&other| other != component && counts[other] > 2.0)
                    .map(|other| split_into(&posterior, component, other)),
            );
            for proposal in proposals.flatten() {
                let begun = track
                    .begin(best.start, |sweeper, state| sweeper.start_from(&proposal, state));
                if let Ok(mut trial) = begun {
                    track.advance(&mut trial, TRIAL_SWEEPS[0], settled, &mut silent);
                    if !trial.bound().is_nan() {
                        trials.push(trial);
                    }
                }
            }
        }
        for (sweeps, keep) in [(TRIAL_SWEEPS[1], FINALISTS), (TRIAL_SWEEPS[2], 1)] {
            trials.sort_by(|a, b| b.bound().total_cmp(&a.bound()));
            trials.truncate(keep);
            for trial in &mut trials {
                track.advance(trial, sweeps, settled, &mut silent);
            }
        }
        let Some(trial) = trials.pop() else { return };
        if trial.bound() <= best.bound() + SAME_BOUND {
            return;
        }
        let before = best.outcome.sweeps;
        *best = trial;
        best.outcome.sweeps += before;
        best.outcome.trace.clear();
        progress(&Progress {
            start: best.start,
            starts: track.starts,
            sweeps: best.outcome.sweeps,
            bound: best.bound(),
            change: best.outcome.change,
        });
    }
}
