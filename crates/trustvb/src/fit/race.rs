//! Many starts, of which only the promising go on, and moves that improve the best of them.
//!
//! Running every start to convergence spends nearly all sweeps on starts that do not win. Here all of them make a few
//! sweeps, then half of them a few more, and so on. Where several arrive at the same best bound, that is the answer.
//! Where they do not, there are many optima: more starts would find more of them, and moves ([`super::moves`]) do so
//! sooner. Of very many units only some are looked at before the last run, which uses all and goes to the full tolerance.
//!
//! Nothing here depends on the order in which threads finish: a run is a function of where it begins.

use super::moves::{spare, split_into, without};
use super::track::{Field, Runner, Track};
use super::{FitOptions, Outcome, Progress, Status};
use crate::model::{Degenerate, Model};
use crate::posterior::Posterior;
use crate::random::{Purpose, index, some_of, stream};

/// Units that the search looks at: at least so many, and so many for each component.
const FEW_UNITS: usize = 2000;
const UNITS_PER_COMPONENT: usize = 400;

/// More where a sweep costs little: units times the length of the state.
const WORK: usize = 800_000;

/// Sweeps after which a round of the race ends, and which share of the starts goes on: one in so many.
const ROUNDS: [(usize, usize); 3] = [(10, 2), (25, 3), (60, 4)];

/// Change of the state below which a run has found its optimum as far as the search wants to know.
const SETTLED: f64 = 1e-4;

/// Bounds nearer than this, times ω, are taken for those of one optimum: they are sums of logarithms, so it is no matter of
/// units. It decides between starts and moves, never when a fit stops.
const SAME_BOUND: f64 = 0.01;

/// So many starts at the same best bound end the search.
const AGREEMENT: usize = 3;

/// How hard moves are tried.
struct Effort {
    /// Components that might be spared.
    spared: usize,
    /// Sweeps given to all proposals, to the best few of them, and to the best one.
    sweeps: [usize; 3],
    /// How many proposals are the best few.
    finalists: usize,
    /// Rounds, each of which begins from the best proposal of the one before.
    rounds: usize,
}

/// In the search.
const THOROUGH: Effort = Effort { spared: 3, sweeps: [4, 10, 40], finalists: 3, rounds: 12 };

/// In the last run.
const QUICK: Effort = Effort { spared: 1, sweeps: [3, 10, 20], finalists: 1, rounds: 3 };

/// Sweeps given to states that the model itself proposes.
const FLIP_SWEEPS: usize = 5;

/// Sweeps of all units before it is decided from where to go on.
const TRANSFER_SWEEPS: usize = 6;

/// Sweeps of the last run after which it is asked whether it gets on, or wastes a component.
const CHECKPOINTS: [usize; 3] = [20, 80, 320];

/// The best that `starts` starts, and one for each other view of the units, lead to: its state, components in any order, and how it was reached.
pub(super) fn race(
    model: &dyn Model,
    weights: Option<&[f64]>,
    omega: f64,
    (starts, seed): (usize, u64),
    (options, tolerance): (&FitOptions, f64),
    progress: &mut dyn FnMut(&Progress),
) -> Result<(Vec<f64>, Outcome), Degenerate> {
    let settled = SETTLED.max(tolerance);
    let starts = starts + model.n_views();
    let all = Field { model, weights, omega, options, starts, settled };
    // Bounds of fewer units are no part of the fit that is reported. Some of the units may have no fit where all have one:
    // a column can be constant in them.
    let sketched = few_units(model, weights, seed).and_then(|few| {
        let (start, posterior) = sketch(&all, few, seed)?;
        transfer(&all, start, &posterior, progress).ok()
    });
    // Whether all units have said that a component without units has nowhere to go.
    let mut asked = sketched.is_none();
    let (mut best, mut track) = match sketched {
        Some(found) => found,
        None => search(&all, seed, progress)?,
    };
    for sweeps in CHECKPOINTS {
        if best.outcome.sweeps >= sweeps {
            continue;
        }
        track.advance(&mut best, sweeps, settled, progress);
        let is_settled = best.is_settled();
        if !is_settled || !asked && track.has_free_component(&best) {
            improve(&all, &mut track, &mut best, &QUICK, progress);
            asked = true;
        }
        if is_settled {
            break;
        }
    }
    track.advance(&mut best, options.max_sweeps, tolerance, progress);
    if best.outcome.status == Status::Converged && best.outcome.change > tolerance {
        // Settled in the search, and no sweeps were left to go further.
        best.outcome.status = Status::HitLimit;
    }
    Ok((best.state, best.outcome))
}

/// The best run that the units of `field` lead to, not yet at the full tolerance.
fn search<'a>(
    field: &Field<'a>,
    seed: u64,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(Runner, Track<'a>), Degenerate> {
    let mut track = field.track()?;
    let begun = field.each((0..field.starts).collect(), |track, number| {
        let mut rng = stream(seed, Purpose::Start, number as u64);
        let view = (number + 1).saturating_sub(field.starts - field.model.n_views());
        let centres = field.model.rough_centres(field.weights, view, &mut rng);
        track.begin(number, |sweeper, state| sweeper.start(field.omega, &centres, state))
    });
    let mut failure = Degenerate::NotFinite;
    let mut runners = Vec::with_capacity(field.starts);
    for runner in begun {
        match runner {
            Ok(runner) => runners.push(runner),
            Err(why) => failure = why,
        }
    }
    let same = SAME_BOUND * field.omega;
    let mut agree = false;
    for (sweeps, share) in ROUNDS {
        runners = field.advance_all(runners, sweeps, progress);
        for runner in &runners {
            if let (Status::Degenerate(why), true) = (&runner.outcome.status, runner.has_failed()) {
                failure = why.clone();
            }
        }
        runners.retain(|runner| !runner.has_failed());
        runners.sort_by(|a, b| track.merit(b).total_cmp(&track.merit(a)));
        agree = runners.len() >= AGREEMENT
            && runners[..AGREEMENT].iter().all(|runner| {
                runner.is_settled() && track.merit(runner) > track.merit(&runners[0]) - same
            });
        if agree {
            break;
        }
        runners.truncate(field.starts.div_ceil(share));
    }
    let mut best = runners.into_iter().next().ok_or(failure)?;
    if !agree {
        improve(field, &mut track, &mut best, &THOROUGH, progress);
    }
    flip(field, &track, &mut best, progress);
    Ok((best, track))
}

/// The best start among some units, and what it leads to; `None` where they have no fit.
fn sketch(all: &Field<'_>, few: Vec<usize>, seed: u64) -> Option<(usize, Posterior)> {
    let search = |field: &Field<'_>| {
        let (best, mut track) = search(field, seed, &mut |_| ()).ok()?;
        Some((best.start, track.posterior(&best).ok()?))
    };
    if all.model.is_far() {
        let fetched = all.model.excerpt(&few)?.ok()?;
        return search(&Field { model: fetched.as_ref(), weights: None, ..*all });
    }
    let mut of_few = vec![0.0; all.model.n_units()];
    for unit in few {
        of_few[unit] = all.weights.map_or(1.0, |w| w[unit]);
    }
    search(&Field { weights: Some(&of_few), ..*all })
}

/// How many units the search looks at, where there are very many.
fn few(model: &dyn Model) -> usize {
    FEW_UNITS.max(UNITS_PER_COMPONENT * model.n_components()).max(WORK / model.state_len().max(1))
}

/// Whether the search looks at some of the units only.
pub(super) fn has_very_many_units(model: &dyn Model) -> bool {
    model.n_units() > 2 * few(model)
}

/// Some of very many units, in their order; `None` where all are few enough.
fn few_units(model: &dyn Model, weights: Option<&[f64]>, seed: u64) -> Option<Vec<usize>> {
    let most = few(model);
    let is_there = |&unit: &usize| weights.is_none_or(|w| w[unit] > 0.0);
    let present: Option<Vec<usize>> =
        weights.map(|_| (0..model.n_units()).filter(is_there).collect());
    let n = present.as_ref().map_or(model.n_units(), Vec::len);
    if n <= 2 * most {
        return None;
    }
    // A stream that no start has.
    let mut rng = stream(seed, Purpose::Start, u64::MAX);
    let mut few = some_of(n, most, |n| index(&mut rng, n));
    if let Some(present) = present {
        few.iter_mut().for_each(|unit| *unit = present[*unit]);
    }
    few.sort_unstable();
    Some(few)
}

/// A run on all units, from what a search among some of them has found. Its centres alone may lead higher than the whole
/// `q(θ)`: both are tried.
fn transfer<'a>(
    field: &Field<'a>,
    start: usize,
    posterior: &Posterior,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(Runner, Track<'a>), Degenerate> {
    let mut track = field.track()?;
    let centres = posterior.centres();
    let begun = [
        track.begin(start, |sweeper, state| sweeper.start_from(posterior, state)),
        track.begin(start, |sweeper, state| sweeper.start(field.omega, &centres, state)),
    ];
    let mut best: Option<Runner> = None;
    let mut failure = Degenerate::NotFinite;
    for runner in begun {
        match runner {
            Ok(mut runner) => {
                track.advance(&mut runner, TRANSFER_SWEEPS, field.settled, progress);
                if best.as_ref().is_none_or(|b| b.has_failed() || runner.bound() > b.bound()) {
                    best = Some(runner);
                }
            }
            Err(why) => failure = why,
        }
    }
    let best = best.filter(|best| !best.has_failed()).ok_or(failure)?;
    Ok((best, track))
}

/// Tries moves on `best` until none raises the bound.
fn improve(
    field: &Field<'_>,
    track: &mut Track<'_>,
    best: &mut Runner,
    effort: &Effort,
    progress: &mut dyn FnMut(&Progress),
) {
    for _ in 0..effort.rounds {
        if !track.has_sweeps(best, effort.sweeps[2]) {
            return;
        }
        let Ok(posterior) = track.posterior(best) else { return };
        let counts = track.counts(best);
        // `None` begins from the centres alone.
        let mut proposals = vec![None];
        for component in spare(&posterior, &counts, effort.spared) {
            proposals.push(Some(without(&posterior, component)));
            let others = (0..counts.len()).filter(|&c| c != component && counts[c] > 2.0);
            proposals.extend(
                others.filter_map(|other| split_into(&posterior, component, other)).map(Some),
            );
        }
        let centres = posterior.centres();
        let trial = best_among(field, track, proposals, &centres, (best.start, effort));
        let least = track.merit(best) + SAME_BOUND * field.omega;
        let Some(trial) = trial.filter(|trial| track.merit(trial) > least) else { return };
        best.replace(trial, field.starts, progress);
    }
}

/// The best that a few sweeps make of whole `q(θ)`; a start is as many as there are.
pub(super) fn best_of(
    field: &Field<'_>,
    track: &Track<'_>,
    proposals: Vec<Option<Posterior>>,
    start: usize,
) -> Option<Runner> {
    best_among(field, track, proposals, &[], (start, &THOROUGH))
}

/// The best that a few sweeps make of `proposals`, of which `None` begins from the centres alone.
fn best_among(
    field: &Field<'_>,
    track: &Track<'_>,
    proposals: Vec<Option<Posterior>>,
    centres: &[f64],
    (start, effort): (usize, &Effort),
) -> Option<Runner> {
    let tried = field.each(proposals, |track, proposal| {
        let begun = track.begin(start, |sweeper, state| match &proposal {
            Some(proposal) => sweeper.start_from(proposal, state),
            None => sweeper.start(field.omega, centres, state),
        });
        begun.ok().map(|mut trial| {
            track.advance(&mut trial, effort.sweeps[0], field.settled, &mut |_| ());
            trial
        })
    });
    let mut trials: Vec<Runner> = tried.into_iter().flatten().collect();
    for (sweeps, keep) in [(effort.sweeps[1], effort.finalists), (effort.sweeps[2], 1)] {
        trials.retain(|trial| !trial.has_failed());
        trials.sort_by(|a, b| track.merit(b).total_cmp(&track.merit(a)));
        trials.truncate(keep);
        trials = field.advance_all(trials, sweeps, &mut |_| ());
    }
    trials.pop()
}

/// Goes over to the best of the states that the model itself proposes, as long as that raises the bound.
fn flip(
    field: &Field<'_>,
    track: &Track<'_>,
    best: &mut Runner,
    progress: &mut dyn FnMut(&Progress),
) {
    let same = SAME_BOUND * field.omega;
    for _ in 0..field.model.n_components() {
        if !track.has_sweeps(best, FLIP_SWEEPS) {
            return;
        }
        let tried = field.each(field.model.variants(&best.state), |track, variant| {
            let mut trial = Runner::new(best.start, variant);
            track.advance(&mut trial, FLIP_SWEEPS, field.settled, &mut |_| ());
            trial
        });
        let better = tried.into_iter().filter(|trial| trial.bound() > best.bound() + same);
        // The first of equals.
        let found = better.reduce(|a, b| if b.bound() > a.bound() { b } else { a });
        let Some(trial) = found else { return };
        best.replace(trial, field.starts, progress);
    }
}
