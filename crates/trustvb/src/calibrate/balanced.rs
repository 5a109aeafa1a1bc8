//! `balanced`: half-way between the bootstrap's percentiles and limits symmetric about the estimate.
//!
//! On the scale where h is unbounded, with `ĝ` the VB estimate and `g_b` that of bootstrap b, the limits are the means of
//!
//! ```text
//! Q(a/2), Q(1−a/2) of g_b     and     ĝ ∓ Q(1−a) of |g_b − ĝ|
//! ```
//!
//! Percentiles follow the shape of the estimate's distribution but double its bias; symmetric limits allow for the
//! bias but not for the shape. Each misses where the other holds, and their mean scores better than either
//! (docs/STUDIES.md). Only point estimates of VB are used: no draws, no ω.

use super::bootstrap::values;
use super::flag::{Flag, first_fit_converged, from_resamples};
use super::order::Sorted;
use super::tvb::missing;
use super::{Answer, CalibrateError, Method, Question};
use crate::resample::Design;

pub(super) fn answer(
    question: &Question<'_>,
    levels: &[f64],
) -> Result<Vec<Answer>, CalibrateError> {
    let table = question.table;
    if table.bootstraps(Design::Full).next().is_none() {
        return Err(missing(Method::Balanced, Design::Full));
    }
    let range = question.part.range();
    let centre = range.unbounded(question.estimate);
    let unbounded: Vec<f64> = values(question).into_iter().map(|x| range.unbounded(x)).collect();
    let distances = Sorted::new(unbounded.iter().map(|g| distance(*g, centre)));
    let sorted = Sorted::new(unbounded);
    let mut answers = Vec::new();
    for &level in levels {
        if sorted.is_empty() {
            answers.push(question.no_answer(Method::Balanced, level, Flag::NoEvidence));
            continue;
        }
        let mut answer =
            question.finish(Method::Balanced, level, table.omegas()[0], &question.first);
        if distances.largest() == 0.0 {
            // A constant is its own interval; anything else is left as VB has it, with a warning.
            if answer.lower < answer.upper {
                answer.flags.push(Flag::IdenticalEstimates);
            }
        } else {
            let tail = 0.5 * (1.0 - level);
            let reach = distances.quantile(level);
            let middle = |percentile: f64, symmetric: f64| 0.5 * (percentile + symmetric);
            let lower = middle(sorted.quantile(tail), centre - reach);
            let upper = middle(sorted.quantile(1.0 - tail), centre + reach);
            (answer.lower, answer.upper) = (range.bounded(lower), range.bounded(upper));
            let se = |p: f64| 0.5 * sorted.standard_error(p).hypot(distances.standard_error(level));
            answer.limits_se = Some((
                range.bounded(lower + se(tail)) - answer.lower,
                answer.upper - range.bounded(upper - se(1.0 - tail)),
            ));
        }
        answer.law = "bootstrap estimates".to_owned();
        from_resamples(question, Design::Full, 0, &mut answer.flags);
        if !first_fit_converged(table) {
            answer.flags.push(Flag::UnconvergedFits { share: 1.0 });
        }
        answers.push(answer);
    }
    Ok(answers)
}

/// Equal infinities, as of a probability of 1, are no distance apart.
fn distance(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { (a - b).abs() }
}
