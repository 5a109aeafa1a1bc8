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

use super::flag::Flag;
use super::{Answer, CalibrateError, CurvePoint, Method, Question};
use crate::fit::{Driver, FitOptions, InfluenceError, Linearisation, Status};
use crate::functional::Range;
use crate::model::{Degenerate, Model};
use crate::posterior::Posterior;
use crate::special::normal;

/// Fits an answer may use.
const MAX_FITS: usize = 20;

/// The curve is followed downwards by no more than this factor at a time, so that a first crossing
/// is not jumped over.
const LONGEST_STEP: f64 = 0.4;

/// The shortest first step; each later one is longer by this factor at least, so that a curve that
/// stays just below the level is followed to the end of the grid with the fits there are.
const SHORTEST_STEP: f64 = 0.95;

/// Close enough to the level.
const CLOSE: f64 = 1e-4;

pub(super) fn answer(
    question: &Question<'_>,
    levels: &[f64],
) -> Result<Vec<Answer>, CalibrateError> {
    let model = question.model(Method::Analytic)?;
    let mut answers = Vec::new();
    for &level in levels {
        let mut search = Search::new(question, model, level);
        let found = search.run();
        let mut answer = match found {
            Ok((omega, coverage, posterior, flags)) => {
                let mut answer = question.finish(Method::Analytic, level, omega, &posterior);
                (answer.coverage, answer.coverage_se) = (Some(coverage), Some(0.0));
                answer.flags = flags;
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

/// `h` on the scale where it is unbounded.
fn unbounded(range: Range, x: f64) -> f64 {
    match range {
        Range::Real => x,
        Range::Positive => x.ln(),
        Range::Unit => (x / (1.0 - x)).ln(),
    }
}

struct Search<'a> {
    question: &'a Question<'a>,
    model: &'a dyn Model,
    level: f64,
    anchor: f64,
    /// The state of the last fit, from which the next starts.
    state: Option<Vec<f64>>,
    points: Vec<CurvePoint>,
    fits: usize,
    /// Those among them that did not converge.
    unconverged: usize,
}

type Found = (f64, f64, Posterior, Vec<Flag>);

impl<'a> Search<'a> {
    fn new(question: &'a Question<'a>, model: &'a dyn Model, level: f64) -> Search<'a> {
        let anchor = unbounded(question.part.range(), question.estimate);
        let points = Vec::new();
        Search { question, model, level, anchor, state: None, points, fits: 0, unconverged: 0 }
    }

    /// Walks down from ω = 1 until the curve crosses, then closes in on the crossing.
    fn run(&mut self) -> Result<Found, InfluenceError> {
        let least = self.question.table.manifest().omega_min;
        let wanted = normal::quantile(0.5 + 0.5 * self.level);
        let width =
            |coverage: f64| normal::quantile(0.5 + 0.5 * coverage.clamp(1e-12, 1.0 - 1e-12));
        let (mut coverage, mut posterior) = self.evaluate(1.0)?;
        if coverage >= self.level {
            return Ok((1.0, coverage, posterior, vec![Flag::AtOmegaOne]));
        }
        // (log ω, half width in standard deviations minus the wanted one)
        let mut high = (0.0, width(coverage) - wanted);
        let mut best = (1.0, coverage, posterior.clone());
        let mut low = None;
        while self.fits < MAX_FITS {
            // Half widths grow like ω^-1/2 while the spread of the estimate stays.
            let shortest = SHORTEST_STEP.powi(self.fits as i32).max(LONGEST_STEP);
            let ratio = (width(best_of(coverage)) / wanted).powi(2).clamp(LONGEST_STEP, shortest);
            let omega = (high.0 + ratio.ln()).exp().max(least);
            (coverage, posterior) = self.evaluate(omega)?;
            let here = (omega.ln(), width(coverage) - wanted);
            if coverage > best.1 {
                best = (omega, coverage, posterior.clone());
            }
            if coverage >= self.level {
                low = Some(here);
                break;
            }
            high = here;
            if omega <= least {
                break;
            }
        }
        let Some(mut low) = low else {
            let mut flags = vec![Flag::NeverReachesLevel { highest: best.1 }];
            if best.0 <= least {
                flags.push(Flag::AtGridEdge);
            }
            return Ok((best.0, best.1, best.2, flags));
        };
        let (mut omega, mut found) = (low.0.exp(), coverage);
        while self.fits < MAX_FITS && (found - self.level).abs() > CLOSE && high.0 - low.0 > 1e-3 {
            // Linear in (log ω, half width), kept off the ends.
            let share = (high.1 / (high.1 - low.1)).clamp(0.1, 0.9);
            let ln_omega = high.0 + share * (low.0 - high.0);
            let (here, there) = self.evaluate(ln_omega.exp())?;
            (omega, found, posterior) = (ln_omega.exp(), here, there);
            let point = (ln_omega, width(here) - wanted);
            if here >= self.level { low = point } else { high = point }
        }
        Ok((omega, found, posterior, Vec::new()))
    }

    /// Fits all units at ω and evaluates (M6) there.
    fn evaluate(&mut self, omega: f64) -> Result<(f64, Posterior), InfluenceError> {
        let (state, posterior) = self.fit(omega)?;
        let (lower, upper, _) = self.question.law.interval(posterior.parameters(), self.level);
        if lower == upper {
            // A constant has no spread to compare with, and no scale on which it is unbounded.
            let coverage = f64::from(u8::from(lower == self.question.estimate));
            self.points.push(CurvePoint { omega, coverage, se: 0.0 });
            self.state = Some(state);
            return Ok((coverage, posterior));
        }
        let range = self.question.part.range();
        let part = self.question.part;
        let h = |posterior: &Posterior| unbounded(range, part.plug_in(posterior.parameters()));
        let mut linearisation = Linearisation::new(self.model, None, omega, &state)?;
        let sd = linearisation.influence(&h)?.sd;
        let (lower, upper) = (unbounded(range, lower), unbounded(range, upper));
        let coverage =
            normal::cdf((self.anchor - lower) / sd) - normal::cdf((self.anchor - upper) / sd);
        if coverage.is_nan() {
            return Err(Degenerate::NotFinite.into());
        }
        self.points.push(CurvePoint { omega, coverage, se: 0.0 });
        self.state = Some(state);
        Ok((coverage, posterior))
    }

    fn fit(&mut self, omega: f64) -> Result<(Vec<f64>, Posterior), InfluenceError> {
        if self.question.is_cancelled() {
            // Whatever is returned now, no answer will be given.
            return Err(Degenerate::NotFinite.into());
        }
        let mut sweeper = self.model.sweeper();
        sweeper.load(None)?;
        let mut state = vec![0.0; self.model.state_len()];
        match &self.state {
            Some(last) => state.copy_from_slice(last),
            None => sweeper.start_from(&self.question.first, &mut state)?,
        }
        let options = FitOptions::default();
        let outcome =
            Driver::new(self.model).run(sweeper.as_mut(), omega, &mut state, &options, &mut |_| ());
        self.fits += 1;
        self.unconverged += usize::from(outcome.status == Status::HitLimit);
        if let Status::Degenerate(why) = outcome.status {
            return Err(why.into());
        }
        let posterior = sweeper.posterior(omega, &state)?;
        Ok((state, posterior))
    }
}

/// A coverage of 0 gives no ratio to step by.
fn best_of(coverage: f64) -> f64 {
    coverage.max(0.01)
}
