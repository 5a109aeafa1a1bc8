//! `analytic`: the anchored curve without resampling, from a handful of fits.
//!
//! The sampling standard deviation `v_ω` of h(θ̂_ω) comes from the influence of each unit (the
//! infinitesimal jackknife), and with `L_ω, U_ω` the credible limits and ĥ_1 the anchor,
//!
//! ```text
//! ĉ(ω) = Φ((ĥ_1 − L_ω)/v_ω) − Φ((ĥ_1 − U_ω)/v_ω)                                   (M6)
//! ```
//!
//! on a scale where h is unbounded: logit for a probability, log for a positive quantity.
//!
//! The anchor is meant to stand for the truth, but at ω = 1 the prior already pulls at it a little. To first
//! order the pull goes like 1/ω, so it is taken off by what a fit at a smaller ω shows: ĥ_1 above is
//! the estimate less its pull. In studies this brings the coverage of quantities that the prior moves nearer
//! to nominal (docs/STUDIES.md), at the price of slightly longer intervals.

use super::flag::Flag;
use super::{Answer, CalibrateError, CurvePoint, Method, Question};
use crate::fit::{Driver, FitOptions, InfluenceError, Linearisation, Status};
use crate::model::{Degenerate, Model};
use crate::posterior::Posterior;
use crate::special::normal;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The curve is evaluated at `ω = RUNG^j` only, and interpolated between neighbours: the rungs are
/// common to all functionals and levels, so that fits and derivatives are made once. Half widths in
/// standard deviations go like `ω^-1/2`; over one rung that bends by less than 2e-5 in coverage.
const RUNG: f64 = 0.95;

/// The rung (ω = 0.51) at which the prior's pull is read off.
const PULLED: usize = 13;

/// Points of the curve an answer may use.
const MAX_POINTS: usize = 20;

/// The curve is followed downwards by no more than this factor at a time, so that a first crossing
/// is not jumped over.
const LONGEST_STEP: f64 = 0.4;

/// Fits of all units and their derivatives, by rung.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<HashMap<usize, Arc<Rung>>>);

/// A fit of all units, linearised when that is asked for.
#[derive(Debug)]
struct Rung {
    fit: FullFit,
    linearisation: OnceLock<Result<Linearisation, InfluenceError>>,
}

impl Rung {
    fn linearisation(&self, model: &dyn Model) -> Result<&Linearisation, InfluenceError> {
        let made = || Linearisation::new(model, None, self.fit.omega, &self.fit.state);
        self.linearisation.get_or_init(made).as_ref().map_err(Clone::clone)
    }
}

/// A fit of all units.
#[derive(Debug)]
struct FullFit {
    omega: f64,
    state: Vec<f64>,
    posterior: Posterior,
    converged: bool,
}

pub(super) fn answer(
    question: &Question<'_>,
    levels: &[f64],
) -> Result<Vec<Answer>, CalibrateError> {
    let model = question.model(Method::Analytic)?;
    let mut answers = Vec::new();
    for &level in levels {
        let mut search = Search::new(question, model, level);
        let mut answer = match search.run() {
            Ok(found) => {
                let mut answer =
                    question.finish(Method::Analytic, level, found.omega, &found.posterior);
                (answer.coverage, answer.coverage_se) = (Some(found.coverage), Some(0.0));
                answer.flags = found.flags;
                answer
            }
            Err(why) => {
                question.no_answer(Method::Analytic, level, Flag::NoInfluence(why.to_string()))
            }
        };
        if search.unconverged > 0 {
            let share = search.unconverged as f64 / search.fits as f64;
            answer.flags.push(Flag::UnconvergedFits { share });
        }
        search.points.sort_by(|a, b| b.omega.total_cmp(&a.omega));
        answer.curve = search.points;
        answer.extra_fits = search.fits;
        answers.push(answer);
    }
    Ok(answers)
}

/// The sampling standard deviation of `ĥ_1` on the scale where h is unbounded; 0 for a constant.
pub(super) fn spread_at_one(
    question: &Question<'_>,
    model: &dyn Model,
) -> Result<f64, InfluenceError> {
    let search = Search::new(question, model, 0.5);
    let at = search.rung(0)?;
    let (lower, upper, _) = question.law.interval(at.fit.posterior.parameters(), 0.5);
    if lower == upper { Ok(0.0) } else { search.spread(&at) }
}

struct Search<'a> {
    question: &'a Question<'a>,
    model: &'a dyn Model,
    level: f64,
    anchor: f64,
    points: Vec<CurvePoint>,
    /// Fits behind this answer, whether made for it or for an earlier one.
    fits: usize,
    /// Those among them that did not converge.
    unconverged: usize,
}

struct Found {
    omega: f64,
    coverage: f64,
    posterior: Posterior,
    flags: Vec<Flag>,
}

/// A point of the curve: its rung, and the half width in standard deviations minus the wanted one.
type Point = (usize, f64);

impl<'a> Search<'a> {
    fn new(question: &'a Question<'a>, model: &'a dyn Model, level: f64) -> Search<'a> {
        let anchor = question.part.range().unbounded(question.estimate);
        Search { question, model, level, anchor, points: Vec::new(), fits: 0, unconverged: 0 }
    }

    fn least(&self) -> f64 {
        self.question.table.manifest().omega_min
    }

    fn omega(&self, rung: usize) -> f64 {
        RUNG.powi(rung as i32).max(self.least())
    }

    /// Walks down from ω = 1 until the curve crosses, then closes in on the crossing.
    fn run(&mut self) -> Result<Found, InfluenceError> {
        let last = (self.least().ln() / RUNG.ln()).ceil() as usize;
        let wanted = normal::quantile(0.5 + 0.5 * self.level);
        let width =
            |coverage: f64| normal::quantile(0.5 + 0.5 * coverage.clamp(1e-12, 1.0 - 1e-12));
        self.anchor -= self.pull()?;
        let (mut coverage, posterior) = self.evaluate(0)?;
        if coverage >= self.level {
            let flags = vec![Flag::AtOmegaOne];
            return Ok(Found { omega: 1.0, coverage, posterior, flags });
        }
        let mut high: Point = (0, width(coverage) - wanted);
        let mut best = (0, coverage, posterior);
        let mut low: Option<Point> = None;
        let longest = (LONGEST_STEP.ln() / RUNG.ln()) as usize;
        while low.is_none() && high.0 < last && self.points.len() < MAX_POINTS {
            // Half widths grow like ω^-1/2 while the spread of the estimate stays. Steps get longer,
            // so that a curve just below the level is followed to the end with the points there are.
            let ratio = (width(coverage.max(0.01)) / wanted).powi(2);
            let step = (ratio.ln() / RUNG.ln()).ceil() as usize;
            let rung = last.min(high.0 + step.max(self.points.len()).clamp(1, longest));
            let (here, posterior) = self.evaluate(rung)?;
            coverage = here;
            let point = (rung, width(coverage) - wanted);
            if coverage >= self.level {
                low = Some(point);
            } else {
                high = point;
            }
            if coverage > best.1 {
                best = (rung, coverage, posterior);
            }
        }
        let Some(mut low) = low else {
            let (rung, coverage, posterior) = best;
            let mut flags = vec![Flag::NeverReachesLevel { highest: coverage }];
            if rung == last {
                flags.push(Flag::AtGridEdge);
            }
            return Ok(Found { omega: self.omega(rung), coverage, posterior, flags });
        };
        while low.0 > high.0 + 1 {
            let share = high.1 / (high.1 - low.1);
            let guess = high.0 as f64 + share * (low.0 - high.0) as f64;
            let rung = (guess.round() as usize).clamp(high.0 + 1, low.0 - 1);
            let point = (rung, width(self.evaluate(rung)?.0) - wanted);
            if point.1 >= 0.0 { low = point } else { high = point }
        }
        let (above, below) = (self.omega(high.0).ln(), self.omega(low.0).ln());
        let share = high.1 / (high.1 - low.1);
        let omega = (above + share * (below - above)).exp();
        let fit = fit_all(self.question, self.model, omega)?;
        self.count(&fit);
        let posterior = fit.posterior;
        Ok(Found { omega, coverage: self.level, posterior, flags: Vec::new() })
    }

    fn count(&mut self, fit: &FullFit) {
        self.fits += 1;
        self.unconverged += usize::from(!fit.converged);
    }

    /// What the prior adds to the estimate at ω = 1, on the scale of the anchor. It goes like 1/ω, so a fit at a
    /// smaller ω tells; nothing when there is none.
    fn pull(&mut self) -> Result<f64, InfluenceError> {
        let at = self.rung(PULLED)?;
        if at.fit.omega >= 1.0 {
            return Ok(0.0);
        }
        self.count(&at.fit);
        let (range, part) = (self.question.part.range(), self.question.part);
        let there = range.unbounded(part.plug_in(at.fit.posterior.parameters()));
        let pull = (there - self.anchor) / (1.0 / at.fit.omega - 1.0);
        Ok(if pull.is_finite() { pull } else { 0.0 })
    }

    /// (M6) at a rung, and the posterior there.
    fn evaluate(&mut self, rung: usize) -> Result<(f64, Posterior), InfluenceError> {
        let at = self.rung(rung)?;
        self.count(&at.fit);
        let (omega, posterior) = (at.fit.omega, &at.fit.posterior);
        let (lower, upper, _) = self.question.law.interval(posterior.parameters(), self.level);
        let coverage = if lower == upper {
            // A constant has no spread to compare with, and no scale on which it is unbounded.
            f64::from(u8::from(lower == self.question.estimate))
        } else {
            let (sd, range) = (self.spread(&at)?, self.question.part.range());
            let (lower, upper) = (range.unbounded(lower), range.unbounded(upper));
            normal::cdf((self.anchor - lower) / sd) - normal::cdf((self.anchor - upper) / sd)
        };
        if coverage.is_nan() {
            return Err(Degenerate::NotFinite.into());
        }
        self.points.push(CurvePoint { omega, coverage, se: 0.0 });
        Ok((coverage, posterior.clone()))
    }

    /// The sampling standard deviation `v_ω` at a rung.
    fn spread(&self, at: &Rung) -> Result<f64, InfluenceError> {
        let part = self.question.part;
        let h =
            |posterior: &Posterior| part.range().unbounded(part.plug_in(posterior.parameters()));
        let sd = at.linearisation(self.model)?.sd(self.model, &h)?;
        if sd.is_finite() { Ok(sd) } else { Err(Degenerate::NotFinite.into()) }
    }

    fn rung(&self, rung: usize) -> Result<Arc<Rung>, InfluenceError> {
        if self.question.is_cancelled() {
            // Whatever is returned now, no answer will be given.
            return Err(Degenerate::NotFinite.into());
        }
        let cache = &self.question.linearised.0;
        let lock = || cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = lock().get(&rung) {
            return Ok(found.clone());
        }
        let fit = fit_all(self.question, self.model, self.omega(rung))?;
        let made = Arc::new(Rung { fit, linearisation: OnceLock::new() });
        lock().insert(rung, made.clone());
        Ok(made)
    }
}

/// A fit of all units at ω, from the table's interpolated one: the same whatever was asked before.
fn fit_all(
    question: &Question<'_>,
    model: &dyn Model,
    omega: f64,
) -> Result<FullFit, InfluenceError> {
    let mut sweeper = model.sweeper();
    sweeper.load(None)?;
    let mut state = vec![0.0; model.state_len()];
    let start = question.table.full_data_posterior(omega);
    sweeper.start_from(start.as_ref().unwrap_or(&question.first), &mut state)?;
    let outcome = Driver::new(model).run(
        sweeper.as_mut(),
        omega,
        &mut state,
        &FitOptions::default(),
        &mut |_| (),
    );
    if let Status::Degenerate(why) = outcome.status {
        return Err(why.into());
    }
    let posterior = sweeper.posterior(omega, &state)?;
    Ok(FullFit { omega, state, posterior, converged: outcome.status != Status::HitLimit })
}
