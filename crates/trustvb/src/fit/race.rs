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

/// What was found among few units is looked at among so many times as many, if all are more than twice that.
const MORE_UNITS: usize = 5;

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

/// A start is given up when going on as in its last sweeps, so many times over, would not bring it to the best.
const REACH: f64 = 4.0;

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
    let few = few(model);
    let mut refined = false;
    let sketched = some_units(model, weights, few, seed).and_then(|units| {
        let (start, mut posterior) = among(&all, units, |field| sketch(field, seed))?;
        if let Some(units) = some_units(model, weights, MORE_UNITS * few, seed)
            && let Some(better) = among(&all, units, |field| refine(field, start, &posterior))
        {
            posterior = better;
            refined = true;
        }
        transfer(&all, start, &posterior, !refined, progress).ok()
    });
    // Whether all units, or very many, have said that a component without units has nowhere to go.
    let mut asked = sketched.is_none() || refined;
    let (mut best, mut track) = match sketched {
        Some(found) => found,
        None => search(&all, seed, progress)?,
    };
    for &sweeps in &CHECKPOINTS[usize::from(refined)..] {
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
        let best = runners.first().map_or(f64::NEG_INFINITY, |runner| track.merit(runner));
        runners.retain(|runner| track.merit(runner) + REACH * runner.gain >= best);
        runners.truncate(field.starts.div_ceil(share));
    }
    let mut best = runners.into_iter().next().ok_or(failure)?;
    if !agree {
        improve(field, &mut track, &mut best, &THOROUGH, progress);
    }
    flip(field, &track, &mut best, progress);
    Ok((best, track))
}

/// The best start among the units of `field`, and what it leads to; `None` where they have no fit.
fn sketch(field: &Field<'_>, seed: u64) -> Option<(usize, Posterior)> {
    let (best, mut track) = search(field, seed, &mut |_| ()).ok()?;
    Some((best.start, track.posterior(&best).ok()?))
}

/// What a search among few units has found, bettered among the more units of `field`; `None` where they have no fit.
fn refine(field: &Field<'_>, start: usize, posterior: &Posterior) -> Option<Posterior> {
    let (mut best, mut track) = transfer(field, start, posterior, true, &mut |_| ()).ok()?;
    for sweeps in &CHECKPOINTS[..2] {
        track.advance(&mut best, *sweeps, field.settled, &mut |_| ());
        let is_settled = best.is_settled();
        if !is_settled || track.has_free_component(&best) {
            improve(field, &mut track, &mut best, &QUICK, &mut |_| ());
        }
        if is_settled {
            break;
        }
    }
    track.posterior(&best).ok()
}

/// `work` with some of the units alone.
fn among<T>(
    all: &Field<'_>,
    units: Vec<usize>,
    work: impl FnOnce(&Field<'_>) -> Option<T>,
) -> Option<T> {
    if all.model.is_far() {
        let fetched = all.model.excerpt(&units)?.ok()?;
        return work(&Field { model: fetched.as_ref(), weights: None, ..*all });
    }
    let mut of_some = vec![0.0; all.model.n_units()];
    for unit in units {
        of_some[unit] = all.weights.map_or(1.0, |w| w[unit]);
    }
    work(&Field { weights: Some(&of_some), ..*all })
}

/// How many units the search looks at, where there are very many.
fn few(model: &dyn Model) -> usize {
    FEW_UNITS.max(UNITS_PER_COMPONENT * model.n_components()).max(WORK / model.state_len().max(1))
}

/// Whether the search looks at some of the units only.
pub(super) fn has_very_many_units(model: &dyn Model) -> bool {
    model.n_units() > 2 * few(model)
}

/// `most` of very many units, in their order; `None` where there are not twice as many.
fn some_units(
    model: &dyn Model,
    weights: Option<&[f64]>,
    most: usize,
    seed: u64,
) -> Option<Vec<usize>> {
    let is_there = |&unit: &usize| weights.is_none_or(|w| w[unit] > 0.0);
    let present: Option<Vec<usize>> =
        weights.map(|_| (0..model.n_units()).filter(is_there).collect());
    let n = present.as_ref().map_or(model.n_units(), Vec::len);
    if n <= 2 * most {
        return None;
    }
    // A stream that no start has.
    let mut rng = stream(seed, Purpose::Start, u64::MAX);
    let mut some = some_of(n, most, |n| index(&mut rng, n));
    if let Some(present) = present {
        some.iter_mut().for_each(|unit| *unit = present[*unit]);
    }
    some.sort_unstable();
    Some(some)
}

/// A run on the units of `field`, from what fewer of them have led to. Its centres alone may lead higher than the whole
/// `q(θ)`: both are tried if that is wanted.
fn transfer<'a>(
    field: &Field<'a>,
    start: usize,
    posterior: &Posterior,
    with_centres: bool,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(Runner, Track<'a>), Degenerate> {
    let mut track = field.track()?;
    let centres = posterior.centres();
    let mut begun = vec![track.begin(start, |sweeper, state| sweeper.start_from(posterior, state))];
    if with_centres {
        begun
            .push(track.begin(start, |sweeper, state| sweeper.start(field.omega, &centres, state)));
    }
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
        let from = best.start;
        let attempt = |track: &mut Track<'_>, variant: Vec<f64>| {
            let mut trial = Runner::new(from, variant);
            track.advance(&mut trial, FLIP_SWEEPS, field.settled, &mut |_| ());
            trial
        };
        let variants = field.model.variants(&best.state);
        let tried = field.each(variants.clone(), attempt);
        let is_better = |trial: &Runner| trial.bound() > best.bound() + same;
        let better: Vec<bool> = tried.iter().map(is_better).collect();
        let mut trials: Vec<Runner> = tried.into_iter().filter(is_better).collect();
        if trials.len() > 1 {
            // All that raise the bound by themselves, together: often that raises it more.
            let raising = variants.iter().zip(&better).filter(|(_, better)| **better);
            let together = combined(&best.state, raising.map(|(variant, _)| &variant[..]));
            trials.extend(field.each(vec![together], attempt));
        }
        // The first of equals.
        let found = trials.into_iter().reduce(|a, b| if b.bound() > a.bound() { b } else { a });
        let Some(trial) = found else { return };
        best.replace(trial, field.starts, progress);
    }
}

/// `state` with whatever any of its variants changes.
fn combined<'a>(state: &[f64], variants: impl Iterator<Item = &'a [f64]>) -> Vec<f64> {
    let mut all = state.to_vec();
    for variant in variants {
        for ((all, new), old) in all.iter_mut().zip(variant).zip(state) {
            if new != old {
                *all = *new;
            }
        }
    }
    all
}
