//! `tempered`: VB's law at ω = 1 stretched about its own estimate until bootstraps say that it covers, (M7).
//!
//! The other calibrators take their interval from the fit *at* ω̂, which the prior has moved. Here nothing is fitted
//! but ω = 1: ω̂ is where the share of bootstraps whose stretched interval holds the full-data estimate is
//! the level. It may be above 1, where VB is too wide.

use super::flag::{Flag, first_fit_converged, from_resamples};
use super::temper::{Reach, Stretches};
use super::tvb::missing;
use super::{Answer, CalibrateError, Method, Question};
use crate::resample::Design;
use rayon::prelude::*;

pub(super) fn answer(
    question: &Question<'_>,
    levels: &[f64],
) -> Result<Vec<Answer>, CalibrateError> {
    if question.table.bootstraps(Design::Full).next().is_none() {
        return Err(missing(Method::Tempered, Design::Full));
    }
    Ok(levels.iter().map(|&level| at_level(question, level)).collect())
}

fn at_level(question: &Question<'_>, level: f64) -> Answer {
    let stretches = stretches(question, level);
    if stretches.is_empty() {
        return question.no_answer(Method::Tempered, level, Flag::NoEvidence);
    }
    let mut answer =
        question.finish(Method::Tempered, level, question.table.omegas()[0], &question.first);
    if stretches.all_zero() {
        // A constant is its own interval; anything else is left as VB has it, with a warning.
        (answer.coverage, answer.coverage_se) = (Some(1.0), Some(0.0));
        if answer.lower < answer.upper {
            answer.flags.push(Flag::IdenticalEstimates);
        }
    } else {
        let stretch = stretches.at(level);
        let reach = question.reach(&question.first, (answer.lower, answer.upper));
        question.stretch(&mut answer, &reach, stretch, stretches.standard_error(level));
        let (coverage, se) = stretches.coverage(stretch);
        (answer.coverage, answer.coverage_se) = (Some(coverage), Some(se));
        answer.curve = stretches.curve();
    }
    from_resamples(question, Design::Full, 0, &mut answer.flags);
    if !first_fit_converged(question.table) {
        answer.flags.push(Flag::UnconvergedFits { share: 1.0 });
    }
    answer
}

/// The stretch that every bootstrap of all units needs to hold the estimate it is checked against.
fn stretches(question: &Question<'_>, level: f64) -> Stretches {
    let table = question.table;
    let checked = question.checked_values(Design::Full, 0);
    let paths: Vec<_> = table.bootstraps(Design::Full).collect();
    let needed: Vec<f64> = paths
        .into_par_iter()
        .with_min_len(16)
        .map(|(job, path)| {
            let (Some(parameters), Some(&value)) =
                (table.row(path, 0), checked.get(&table.checked_against(*job)))
            else {
                return f64::NAN;
            };
            if question.is_cancelled() {
                return f64::NAN;
            }
            let range = question.part.range();
            let (lower, upper) = question.law.quick_interval(&parameters, level);
            let reach = Reach {
                estimate: range.unbounded(question.part.plug_in(&parameters)),
                lower: range.unbounded(lower),
                upper: range.unbounded(upper),
            };
            reach.stretch_to(range.unbounded(value))
        })
        .collect();
    Stretches::new(needed)
}
