//! `bootstrap`: percentiles of the VB estimate over bootstraps of all units, the rival anyone would
//! try first.
//!
//! The limits are the `a/2` and `1−a/2` quantiles of h(θ̂_1) over the bootstraps, with θ̂_1 the posterior
//! mean at ω = 1; little bootstraps are moved from their subset's estimate to that of all units, on the scale where h is
//! unbounded. Only point estimates of VB are used, not its posterior, and no ω is chosen.

use super::boundary::{Fill, Given};
use super::flag::Flag;
use super::order::Sorted;
use super::tvb::missing;
use super::{Answer, CalibrateError, Method, Question};
use crate::backend::Job;
use crate::functional::Range;
use crate::resample::Design;
use std::borrow::Cow;
use std::collections::HashMap;

pub(super) fn answer(
    question: &Question<'_>,
    levels: &[f64],
) -> Result<Vec<Answer>, CalibrateError> {
    let table = question.table;
    if table.bootstraps(Design::Full).next().is_none() {
        return Err(missing(Method::Bootstrap, Design::Full));
    }
    let law = Sorted::new(question.estimates().iter().copied());
    let mut answers = Vec::new();
    for &level in levels {
        if law.is_empty() {
            answers.push(question.no_answer(Method::Bootstrap, level, Flag::NoEvidence));
            continue;
        }
        let mut answer =
            question.finish(Method::Bootstrap, level, table.omegas()[0], &question.first);
        (answer.lower, answer.upper) = law.interval(level);
        answer.limits_se = Some(law.standard_errors(level));
        question.made_of_estimates(&mut answer, "bootstrap percentiles");
        answers.push(answer);
    }
    Ok(answers)
}

/// The VB estimate in every bootstrap of all units, as far as it has a fit.
pub(super) fn values(question: &Question<'_>) -> Vec<f64> {
    values_with(question, None)
}

/// The same where resamples are given what they do not show.
pub(super) fn values_given(question: &Question<'_>, given: &[Given]) -> Vec<f64> {
    let table = question.table;
    let rows = table.bootstraps(Design::Full).filter_map(|(_, path)| table.row(path, 0));
    let rows: Vec<Cow<'_, [f64]>> = rows.collect();
    values_with(question, Some(&Fill::new(question, given, &rows)))
}

fn values_with(question: &Question<'_>, fill: Option<&Fill<'_>>) -> Vec<f64> {
    let table = question.table;
    let checked: HashMap<Job, f64> = match fill.filter(|_| table.manifest().subsets.is_some()) {
        None => question.checked_values(Design::Full, 0),
        Some(fill) => {
            let value = |job: Job| {
                let own = table.parameters(table.path(job)?, 0)?;
                Some((job, question.part.plug_in(&fill.as_in(&question.first, own))))
            };
            table.checked_jobs(Design::Full).into_iter().filter_map(value).collect()
        }
    };
    let value = |(b, (job, row)): (usize, (Job, Cow<'_, [f64]>))| {
        let value = match fill {
            None => question.part.plug_in(&row),
            Some(fill) => question.part.plug_in(&fill.filled(b, &row)),
        };
        // A little bootstrap tells of deviations from its subset.
        match table.manifest().subsets {
            None => Some(value),
            Some(_) => {
                let own = *checked.get(&table.checked_against(job))?;
                Some(moved(question.part.range(), value, own, question.estimate))
            }
        }
    };
    let fits = table.bootstraps(Design::Full);
    let rows = fits.filter_map(|(job, path)| Some((*job, table.row(path, 0)?)));
    rows.enumerate().filter_map(value).collect()
}

/// As far from `to` as `value` is from `from`, on the scale where h is unbounded: no move leaves the range.
fn moved(range: Range, value: f64, from: f64, to: f64) -> f64 {
    if value == from {
        // Also at a bound, where distances are not defined.
        return to;
    }
    let [value, from, to] = [value, from, to].map(|x| range.unbounded(x));
    range.bounded(value - from + to)
}

#[cfg(test)]
mod tests {
    use super::{Range, moved};

    #[test]
    fn moves_stay_in_the_range() {
        assert_eq!(moved(Range::Real, 3.0, 2.0, 10.0), 11.0);
        let shares = [(0.02, 0.03, 0.01), (0.98, 0.9, 0.99), (1e-6, 0.5, 0.5)];
        for (value, from, to) in shares {
            let found = moved(Range::Unit, value, from, to);
            assert!(0.0 < found && found < 1.0, "{found}");
            let odds = |x: f64| x / (1.0 - x);
            let expected = odds(value) / odds(from) * odds(to);
            assert!((odds(found) / expected - 1.0).abs() < 1e-9);
        }
        assert!((moved(Range::Positive, 6.0, 3.0, 5.0) - 10.0).abs() < 1e-12);
        assert_eq!(moved(Range::Unit, 1.0, 1.0, 1.0), 1.0);
    }
}
