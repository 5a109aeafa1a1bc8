//! Starts that race in heats, and what leads at the end: beside the best run those that end nearly as high.
//!
//! All starts make a few sweeps, then half of them a few more, and so on; where sweeps are quick all run until they settle,
//! because those that end highest are often behind on the way. Where several end at the same best bound, that is the end of it. Simpler models of the same units are searched too: where one
//! of them has a higher bound, its groups are gone over to.

use super::race::{CHECKPOINTS, SAME_BOUND, THOROUGH, flip, improve};
use super::track::{Field, Runner, Track};
use super::{Progress, Status};
use crate::model::Degenerate;
use crate::random::{Purpose, stream};

/// Sweeps after which a round of the race ends, and which share of the starts goes on: one in so many.
const ROUNDS: [(usize, usize); 3] = [(10, 2), (25, 3), (60, 4)];

/// So many starts at the same best bound end the search.
const AGREEMENT: usize = 3;

/// Starts that race with one another. More of them race in further heats.
const HEAT: usize = 10;

/// Units times the length of the state up to which sweeps are so quick that all starts run until they settle, or for so
/// many sweeps: starts that end highest are often not ahead on the way.
const QUICK_SWEEP: usize = 1_000_000;
const PATIENT: [(usize, usize); 2] = [(60, 1), (1000, 1)];

/// Optima that are improved by moves, where starts do not agree: of the model that is asked for where sweeps are quick and
/// where they are not, and of a simpler one.
const MOVED_QUICK: usize = 16;
const MOVED: usize = 5;
const MOVED_SIMPLER: usize = 3;

/// An optimum is nearly as high as another, and the units hardly decide between them, if its bound is lower by no more than
/// this, times ω.
const NEARLY: f64 = 5.0;

/// A run is given up when so many more sweeps like its last ones would not bring it to the best.
pub(super) const REACH: f64 = 20.0;

/// Sweeps after which starts are asked whether they have met.
pub(super) const MEETING: usize = 3;

/// A run that leads, and others that end nearly as high.
pub(super) struct Lead<'a> {
    pub(super) best: Runner,
    pub(super) track: Track<'a>,
    pub(super) rivals: Vec<Runner>,
}

impl Lead<'_> {
    /// Puts another run in the lead, or beside it.
    fn meets(&mut self, other: Runner, same: f64) {
        let ahead = self.track.merit(&other) - self.track.merit(&self.best);
        if ahead > same {
            let beaten = std::mem::replace(&mut self.best, other);
            if self.has_met(&beaten) {
                self.best.met += beaten.met;
            } else {
                self.rivals.push(beaten);
            }
        } else if ahead >= -same && self.has_met(&other) {
            self.best.met += other.met;
        } else {
            self.rivals.push(other);
        }
    }

    fn has_met(&self, other: &Runner) -> bool {
        self.track.meet(vec![self.best.clone(), other.clone()]).len() == 1
    }

    /// The highest of the others, at most so many, each of another optimum.
    fn leading(&mut self, most: usize) -> Vec<Runner> {
        self.rivals.sort_by(|a, b| self.track.merit(b).total_cmp(&self.track.merit(a)));
        let mut leading: Vec<Runner> = Vec::new();
        for rival in &self.rivals {
            let is_new =
                |other: &Runner| self.track.meet(vec![other.clone(), rival.clone()]).len() == 2;
            if leading.len() < most && is_new(&self.best) && leading.iter().all(is_new) {
                leading.push(rival.clone());
            }
        }
        leading
    }

    /// The highest of those that end elsewhere, if it is nearly as high as the leader.
    pub(super) fn rival(&mut self, omega: f64) -> Option<Runner> {
        let least = self.track.merit(&self.best) - NEARLY * omega;
        let mut rivals = std::mem::take(&mut self.rivals);
        rivals.retain(|r| !r.has_failed() && r.is_settled() && self.track.merit(r) > least);
        rivals.sort_by(|a, b| self.track.merit(b).total_cmp(&self.track.merit(a)));
        rivals.into_iter().find(|rival| !self.has_met(rival))
    }
}

/// The best run that the units of `field` lead to, not yet at the full tolerance.
///
/// Starts run in heats, so that what few starts find is found by more of them too.
pub(super) fn search<'a>(
    field: &Field<'a>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Lead<'a>, Degenerate> {
    let plain = field.starts - field.model.n_views();
    let mut from = plain.min(HEAT) + field.model.n_views();
    let mut lead = heat(field, (0..from).collect(), progress);
    while from < field.starts {
        let to = field.starts.min(from + HEAT);
        match (&mut lead, heat(field, (from..to).collect(), progress)) {
            (Ok(lead), Ok(more)) => {
                more.rivals.into_iter().chain([more.best]).for_each(|runner| {
                    lead.meets(runner, SAME_BOUND * field.omega);
                });
            }
            (Err(_), more) => lead = more,
            (Ok(_), Err(_)) => {}
        }
        from = to;
    }
    lead
}

/// The best run of some starts.
fn heat<'a>(
    field: &Field<'a>,
    numbers: Vec<usize>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Lead<'a>, Degenerate> {
    let patient = field.n_present() * field.model.state_len() <= QUICK_SWEEP;
    // What looks settled may be a saddle, which only a run to the end leaves.
    let settled = if patient { field.tolerance() } else { field.settled };
    let field = &Field { settled, ..*field };
    let track = field.track()?;
    let n_starts = numbers.len();
    // Views have the last starts of the first heat.
    let n_views = field.model.n_views();
    let plain = (field.starts - n_views).min(HEAT);
    let begun = field.each(numbers, |track, number| {
        let mut rng = stream(field.seed, Purpose::Start, number as u64);
        let view = (number + 1).saturating_sub(plain);
        let view = if view > n_views { 0 } else { view };
        let centres = field.model.rough_centres(field.weights, view, &mut rng);
        track.begin(number, |sweeper, state| {
            sweeper.start(field.omega, &centres, state)?;
            field.model.vary_start(number, state);
            Ok(())
        })
    });
    let mut failure = Degenerate::NotFinite;
    let mut runners = Vec::with_capacity(n_starts);
    for runner in begun {
        match runner {
            Ok(runner) => runners.push(runner),
            Err(why) => failure = why,
        }
    }
    let same = SAME_BOUND * field.omega;
    runners = field.advance_all(track.meet(runners), MEETING, progress);
    runners = track.meet(runners);
    let (mut agree, mut given_up) = (false, Vec::new());
    let rounds: &[(usize, usize)] = if patient { &PATIENT } else { &ROUNDS };
    for &(sweeps, share) in rounds {
        runners = field.advance_all(runners, sweeps, progress);
        for runner in &runners {
            if let (Status::Degenerate(why), true) = (&runner.outcome.status, runner.has_failed()) {
                failure = why.clone();
            }
        }
        runners.retain(|runner| !runner.has_failed());
        runners.sort_by(|a, b| track.merit(b).total_cmp(&track.merit(a)));
        let best = runners.first().map_or(f64::NEG_INFINITY, |runner| track.merit(runner));
        let at_the_best = runners.iter().take_while(|runner| track.merit(runner) > best - same);
        let settled = at_the_best.take_while(|runner| runner.is_settled());
        agree = settled.map(|runner| runner.met).sum::<usize>() >= AGREEMENT;
        if agree {
            break;
        }
        if patient {
            continue;
        }
        let (go_on, behind): (Vec<Runner>, Vec<Runner>) =
            runners.into_iter().partition(|runner| is_in_reach(&track, runner, best));
        runners = go_on;
        given_up.extend(behind);
        given_up.extend(runners.drain(n_starts.div_ceil(share).min(runners.len())..));
    }
    let mut runners = runners.into_iter();
    let best = runners.next().ok_or(failure)?;
    let mut lead = Lead { best, track, rivals: Vec::new() };
    runners.chain(given_up).for_each(|runner| lead.meets(runner, same));
    // Starts that agree may all have missed what a move finds.
    if !agree || patient && field.is_asked_for {
        let moved = match (field.is_asked_for, patient) {
            _ if agree => 1,
            (true, true) => MOVED_QUICK,
            (true, false) => MOVED,
            (false, _) => MOVED_SIMPLER,
        };
        let others = lead.leading(moved - 1);
        for mut runner in std::iter::once(lead.best.clone()).chain(others) {
            improve(field, &mut lead.track, &mut runner, &THOROUGH, progress);
            flip(field, &mut lead.track, &mut runner, progress);
            // No further start: those that led to it are counted where they arrived.
            runner.met = 0;
            lead.meets(runner, same);
        }
        lead.best.met = lead.best.met.max(1);
    }
    flip(field, &mut lead.track, &mut lead.best, progress);
    Ok(lead)
}

/// Goes over to the groups of a simpler model where its bound is higher: then the units speak for these, though a richer
/// model can describe chance a little better.
pub(super) fn look_elsewhere(
    field: &Field<'_>,
    lead: &mut Lead<'_>,
    progress: &mut dyn FnMut(&Progress),
) {
    let others = field.model.simpler();
    let Lead { best, track, .. } = lead;
    if others.is_empty() || !track.has_sweeps(best, CHECKPOINTS[1]) {
        return;
    }
    track.advance(best, CHECKPOINTS[1], field.settled, progress);
    let mut highest = track.merit(best);
    let mut found = None;
    for simpler in &others {
        let starts = field.starts - field.model.n_views() + simpler.n_views();
        let own = Field { model: simpler.as_ref(), starts, is_asked_for: false, ..*field };
        let Ok(Lead { best: mut runner, mut track, .. }) = search(&own, &mut |_| ()) else {
            continue;
        };
        track.advance(&mut runner, CHECKPOINTS[1], field.settled, &mut |_| ());
        if track.merit(&runner) > highest {
            highest = track.merit(&runner);
            found = track.posterior(&runner).ok().map(|found| (found, runner.met));
        }
    }
    let Some((posterior, met)) =
        found.and_then(|(found, met)| Some((field.model.resembling(&found)?, met)))
    else {
        return;
    };
    let begun = track.begin(best.start, |sweeper, state| sweeper.start_from(&posterior, state));
    let Ok(mut runner) = begun else { return };
    track.advance(&mut runner, CHECKPOINTS[1], field.settled, progress);
    if runner.has_failed() || track.has_free_component(&runner) && !track.has_free_component(best) {
        return;
    }
    let before = best.clone();
    best.replace(runner, field.starts, progress);
    if lead.has_met(&before) {
        lead.best.met = before.met;
    } else {
        lead.best.met = met;
        lead.rivals.push(before);
    }
}

/// Whether a run might still come to be as good as `best`.
pub(super) fn is_in_reach(track: &Track<'_>, runner: &Runner, best: f64) -> bool {
    track.merit(runner) + REACH * runner.rise >= best
}
