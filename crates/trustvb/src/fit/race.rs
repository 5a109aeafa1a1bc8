//! Many starts, of which only the promising go on, and moves that improve the best of them.
//!
//! Running every start to convergence spends nearly all sweeps on starts that do not win. Here all of them make a few
//! sweeps, then half of them a few more, and so on. Where several arrive at the same best bound, that is the answer.
//! Where they do not, there are many optima: more starts would find more of them, and moves ([`super::moves`]) do so
//! sooner. Of very many units only some are looked at before the last run, which uses all and goes to the full tolerance.
//!
//! Nothing here depends on the order in which threads finish: a run is a function of where it begins.

use super::heats::{Lead, MEETING, REACH, is_in_reach, look_elsewhere, search};
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

/// With so many units for each parameter of a component a gain of the bound leaves no doubt whether it is there.
const PLENTY: f64 = 5000.0;

/// Change of the state below which a run has found its optimum as far as the search wants to know.
const SETTLED: f64 = 1e-4;

/// Bounds nearer than this, times ω, are taken for those of one optimum: they are sums of logarithms, so it is no matter of
/// units. It decides between starts and moves, never when a fit stops.
pub(super) const SAME_BOUND: f64 = 0.01;

/// How hard moves are tried.
pub(super) struct Effort {
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
pub(super) const THOROUGH: Effort =
    Effort { spared: 3, sweeps: [4, 10, 40], finalists: 3, rounds: 12 };

/// In the last run.
const QUICK: Effort = Effort { spared: 1, sweeps: [3, 10, 20], finalists: 1, rounds: 3 };

/// Sweeps given to states that the model itself proposes: to all, and to those that might come to something.
const FLIP_SWEEPS: [usize; 2] = [2, 5];

/// Sweeps of all units before it is decided from where to go on.
const TRANSFER_SWEEPS: usize = 6;

/// A move is compared with where a run that does not move will be in so many more sweeps.
const LOOKAHEAD: f64 = 5.0;

/// Moves of very many units are tried on one in so many of them. With fewer, a component that fits what is odd in them
/// would seem worth its parameters.
const REPEATS: usize = 4;

/// Units that a component must have more than before it is split or given up.
const FEW_TO_SPLIT: f64 = 2.0;

/// Sweeps of the last run after which it is asked whether it gets on, or wastes a component.
pub(super) const CHECKPOINTS: [usize; 3] = [20, 80, 320];

/// What a race has found: a state, components in any order, and how it was reached.
pub(super) struct Raced {
    pub(super) state: Vec<f64>,
    pub(super) outcome: Outcome,
    /// Starts that led there, and all of them.
    pub(super) found_by: usize,
    pub(super) tried: usize,
    /// Another optimum that is nearly as high.
    pub(super) rival: Option<(Vec<f64>, Outcome)>,
}

/// The best that `starts` starts, and one for each other view of the units, lead to.
pub(super) fn race(
    model: &dyn Model,
    weights: Option<&[f64]>,
    omega: f64,
    (starts, seed): (usize, u64),
    (options, tolerance): (&FitOptions, f64),
    progress: &mut dyn FnMut(&Progress),
) -> Result<Raced, Degenerate> {
    let settled = SETTLED.max(tolerance);
    let tried = starts + model.n_views();
    let all = Field {
        model,
        weights,
        omega,
        options,
        starts: tried,
        seed,
        settled,
        in_doubt: true,
        is_asked_for: true,
    };
    // Bounds of fewer units are no part of the fit that is reported. Some of the units may have no fit where all have one:
    // a column can be constant in them.
    let few = few(model);
    let more = MORE_UNITS * few;
    let some = some_units(&all, few, Sample::Search);
    let sketched = some.and_then(|units| among(&all, (units, 1.0), sketch));
    let all = Field { in_doubt: all.total() <= PLENTY * all.parameters(), ..all };
    let mut refined = false;
    let sketched = sketched.and_then(|(start, mut posterior)| {
        if let Some(units) = some_units(&all, more, Sample::Search)
            && let Some(better) = among(&all, (units, 1.0), |f| refine(f, start, &posterior))
        {
            posterior = better;
            refined = true;
        }
        transfer(&all, start, &posterior, !refined, progress).ok()
    });
    // Whether all units, or very many, have said that a component without units has nowhere to go.
    let mut asked = sketched.is_none() || refined;
    let mut lead = match sketched {
        Some((best, track)) => Lead { best, track, rivals: Vec::new() },
        None => {
            let mut lead = search(&all, progress)?;
            look_elsewhere(&all, &mut lead, progress);
            lead
        }
    };
    let found_by = lead.best.met;
    for &sweeps in &CHECKPOINTS[usize::from(refined)..] {
        let Lead { best, track, .. } = &mut lead;
        if best.outcome.sweeps >= sweeps {
            continue;
        }
        track.advance(best, sweeps, settled, progress);
        let is_settled = best.is_settled();
        if !is_settled || !asked && track.has_free_component(best) {
            improve(&all, track, best, &QUICK, progress);
            asked = true;
        }
        if is_settled {
            break;
        }
    }
    lead.track.finish(&mut lead.best, tolerance, progress);
    let rival = lead.rival(omega).map(|rival| (rival.state, rival.outcome));
    let Runner { state, mut outcome, .. } = lead.best;
    if outcome.status == Status::Converged && outcome.change > tolerance {
        // Settled in the search, and no sweeps were left to go further.
        outcome.status = Status::HitLimit;
    }
    Ok(Raced { state, outcome, found_by, tried, rival })
}

/// By how much a move must be better than a run that goes on as it is: by more than that gets on in its next sweeps.
fn ahead(field: &Field<'_>, stay: &Runner) -> f64 {
    let gain = LOOKAHEAD * stay.rise;
    SAME_BOUND * field.omega + if gain.is_finite() { gain.max(0.0) } else { 0.0 }
}

/// The best start among the units of `field`, and what it leads to; `None` where they have no fit.
fn sketch(field: &Field<'_>) -> Option<(usize, Posterior)> {
    let Lead { best, mut track, .. } = search(field, &mut |_| ()).ok()?;
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

/// `work` with some of the units alone, each so many times.
fn among<T>(
    all: &Field<'_>,
    (units, times): (Vec<usize>, f64),
    work: impl FnOnce(&Field<'_>) -> Option<T>,
) -> Option<T> {
    if all.model.is_far() {
        let fetched = all.model.excerpt(&units)?.ok()?;
        let weights = (times != 1.0).then(|| vec![times; units.len()]);
        return work(&Field { model: fetched.as_ref(), weights: weights.as_deref(), ..*all });
    }
    let mut of_some = vec![0.0; all.model.n_units()];
    for unit in units {
        of_some[unit] = times * all.weights.map_or(1.0, |w| w[unit]);
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

/// What some of the units are for: each has a stream that no start has.
#[derive(Clone, Copy)]
enum Sample {
    Search,
    Moves,
}

/// `most` of very many units, in their order; `None` where there are not twice as many.
fn some_units(field: &Field<'_>, most: usize, sample: Sample) -> Option<Vec<usize>> {
    let n_units = field.model.n_units();
    let is_there = |&unit: &usize| field.weights.is_none_or(|w| w[unit] > 0.0);
    let present: Option<Vec<usize>> =
        field.weights.map(|_| (0..n_units).filter(is_there).collect());
    let n = present.as_ref().map_or(n_units, Vec::len);
    if n <= 2 * most {
        return None;
    }
    let mut rng = stream(field.seed, Purpose::Start, u64::MAX - sample as u64);
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
    let mut failure = Degenerate::NotFinite;
    let mut runners = Vec::new();
    for runner in begun {
        runner.map_or_else(|why| failure = why, |runner| runners.push(runner));
    }
    for sweeps in [MEETING, TRANSFER_SWEEPS] {
        for runner in &mut runners {
            track.advance(runner, sweeps, field.settled, progress);
        }
        runners = track.meet(runners);
    }
    // The first of equals.
    let best = runners
        .into_iter()
        .reduce(|a, b| if a.has_failed() || b.bound() > a.bound() { b } else { a });
    let best = best.filter(|best| !best.has_failed()).ok_or(failure)?;
    Ok((best, track))
}

/// Moves that might raise the bound of a `q(θ)`, for each of so many components that might be spared; `None` begins from
/// the centres alone.
fn proposals(posterior: &Posterior, counts: &[f64], spared: usize) -> Vec<Option<Posterior>> {
    let mut proposals = vec![None];
    let has_units = |component: &usize| counts[*component] > FEW_TO_SPLIT;
    let likely = spare(posterior, counts, counts.len());
    // What has no units already can only be put elsewhere; what has some can be given up too.
    let given_up = likely.iter().copied().filter(has_units).take(spared);
    proposals.extend(given_up.map(|component| Some(without(posterior, component))));
    for &component in likely.iter().take(spared) {
        let others = (0..counts.len()).filter(|other| *other != component && has_units(other));
        let split = others.filter_map(|other| split_into(posterior, component, other));
        proposals.extend(split.map(Some));
    }
    proposals
}

/// Tries moves on `best` until none raises the bound.
pub(super) fn improve(
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
        let proposals = proposals(&posterior, &track.counts(best), effort.spared);
        let (from, centres) = (best.start, posterior.centres());
        let stay = Runner::new(from, best.state.clone());
        let how = (&centres[..], effort);
        let enough = field.n_present() / REPEATS;
        let found = match some_units(field, few(field.model).max(enough), Sample::Moves) {
            // Each for several: what a move is worth grows with the number of units.
            Some(units) => {
                let repeats = field.n_present() as f64 / units.len() as f64;
                let found = among(field, (units, repeats), |some| {
                    let mut track = some.track().ok()?;
                    let stay =
                        track.begin(from, |s, state| s.start_from(&posterior, state)).ok()?;
                    let (found, has_moved) = best_among(some, &track, Some(stay), proposals, how)?;
                    if has_moved { track.posterior(&found).ok() } else { None }
                });
                let Some(found) = found else { return };
                best_among(field, track, Some(stay), vec![Some(found)], how)
            }
            None => best_among(field, track, Some(stay), proposals, how),
        };
        let Some((found, has_moved)) = found else { return };
        if !has_moved {
            best.go_on(found, field.starts, progress);
            return;
        }
        best.replace(found, field.starts, progress);
    }
}

/// The best that a few sweeps make of `stay` and of `proposals`, of which `None` begins from `centres` alone; and whether
/// it is of a proposal, which is to be better and not only as good.
fn best_among(
    field: &Field<'_>,
    track: &Track<'_>,
    mut stay: Option<Runner>,
    proposals: Vec<Option<Posterior>>,
    (centres, effort): (&[f64], &Effort),
) -> Option<(Runner, bool)> {
    let start = stay.as_ref().map_or(0, |stay| stay.start);
    let begun = field.each(proposals, |track, proposal| {
        let begun = track.begin(start, |sweeper, state| match &proposal {
            Some(proposal) => sweeper.start_from(proposal, state),
            None => sweeper.start(field.omega, centres, state),
        });
        begun.ok()
    });
    let mut trials: Vec<Runner> = begun.into_iter().flatten().collect();
    let [first, second, third] = effort.sweeps;
    for (sweeps, keep) in [(first, trials.len()), (second, effort.finalists), (third, 1)] {
        trials.sort_by(|a, b| track.merit(b).total_cmp(&track.merit(a)));
        trials.truncate(keep);
        let is_there = stay.is_some();
        trials.extend(stay);
        trials = field.advance_all(trials, sweeps, &mut |_| ());
        stay = if is_there { trials.pop() } else { None };
        let least = stay.as_ref().filter(|stay| !stay.has_failed());
        let least = least.map_or(f64::NEG_INFINITY, |stay| track.merit(stay));
        trials.retain(|trial| !trial.has_failed() && is_in_reach(track, trial, least));
    }
    let Some(stay) = stay.filter(|stay| !stay.has_failed()) else {
        return trials.pop().map(|trial| (trial, true));
    };
    let least = track.merit(&stay) + ahead(field, &stay);
    match trials.pop().filter(|trial| track.merit(trial) > least) {
        Some(trial) => Some((trial, true)),
        None => Some((stay, false)),
    }
}

/// Goes over to the best of the states that the model itself proposes, as long as that raises the bound.
pub(super) fn flip(
    field: &Field<'_>,
    track: &mut Track<'_>,
    best: &mut Runner,
    progress: &mut dyn FnMut(&Progress),
) {
    for _ in 0..field.model.n_components() {
        if !track.has_sweeps(best, FLIP_SWEEPS[1]) {
            return;
        }
        let (from, to_beat) = (best.start, best.bound());
        let attempt = |track: &mut Track<'_>, variant: Vec<f64>| {
            let mut trial = Runner::new(from, variant);
            track.advance(&mut trial, FLIP_SWEEPS[0], field.settled, &mut |_| ());
            if trial.bound() + REACH * trial.rise > to_beat {
                track.advance(&mut trial, FLIP_SWEEPS[1], field.settled, &mut |_| ());
            }
            trial
        };
        let variants = field.model.variants(&best.state);
        if variants.is_empty() {
            return;
        }
        // And what as many sweeps make of it as it is.
        let jobs = variants.iter().chain([&best.state]).cloned().collect();
        let mut tried = field.each(jobs, attempt);
        let Some(stay) = tried.pop().filter(|stay| !stay.has_failed()) else { return };
        let least = stay.bound() + ahead(field, &stay);
        let is_better = |trial: &Runner| trial.bound() > least;
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
        let Some(found) = found else {
            best.go_on(stay, field.starts, progress);
            return;
        };
        best.replace(found, field.starts, progress);
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
