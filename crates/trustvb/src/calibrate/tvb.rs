//! `tvb`: the paper's grid search (Algorithm 2).
//!
//! Bootstraps of one half X2 are checked against h(θ̂_ω) of the other half X1 at the same ω;
//! ω̂ = argmin |ĉ(ω) − (1−a)| over the grid, ties to the largest ω. As published the whole grid is
//! searched, and the answer can land beyond a second crossing where the prior has taken over;
//! otherwise only down to one grid step past the first crossing.

use super::coverage::{CoverageCurve, Target};
use super::flag::from_curve;
use super::{Answer, CalibrateError, Method, Question};
use crate::resample::Design;

pub(super) fn answer(
    question: &Question<'_>,
    levels: &[f64],
) -> Result<Vec<Answer>, CalibrateError> {
    search(question, levels, Method::Tvb, Design::Split)
}

/// The grid search, for `tvb` and `gpc`.
pub(super) fn search(
    question: &Question<'_>,
    levels: &[f64],
    method: Method,
    design: Design,
) -> Result<Vec<Answer>, CalibrateError> {
    let mut curve = CoverageCurve::new(question, design, Target::SameOmega);
    check_bootstraps(&curve, method, design)?;
    let whole_grid = question.table.manifest().published_intervals;
    let mut answers = Vec::new();
    for &level in levels {
        let end = match curve.first_crossing(level) {
            Some(i) if !whole_grid => (i + 2).min(curve.len()),
            _ => curve.len(),
        };
        // A costly law was evaluated around the crossing only; the minimum is there.
        let from = if question.law.is_exact() { 0 } else { end.saturating_sub(3) };
        let best = (from..end)
            .map(|i| (i, (curve.at(i, level).0 - level).abs()))
            .fold((0, f64::INFINITY), |best, here| if here.1 < best.1 { here } else { best });
        curve.survey(level);
        let mut answer = question.finish_on_grid(method, level, question.table.omegas()[best.0]);
        let (coverage, se) = curve.at(best.0, level);
        (answer.coverage, answer.coverage_se) = (Some(coverage), Some(se));
        from_curve(question, &mut curve, design, &mut answer);
        answers.push(answer);
    }
    Ok(answers)
}

/// A method that rests on bootstraps needs some.
pub(super) fn check_bootstraps(
    curve: &CoverageCurve<'_>,
    method: Method,
    design: Design,
) -> Result<(), CalibrateError> {
    if curve.bootstraps() > 0 {
        return Ok(());
    }
    let needs = match design {
        Design::Full => "bootstraps of all units (design `full`)",
        Design::Split => "a half sample and bootstraps of the other half (design `split`)",
    };
    Err(CalibrateError::Missing {
        method: method.name(),
        needs,
        remedy: "build the table with this method in --method, or leave the method out",
    })
}
