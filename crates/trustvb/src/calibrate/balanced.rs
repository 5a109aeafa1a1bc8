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
//! (docs/STUDIES.md). Only point estimates of VB are used: no draws, no ω. Where few units show a cell, [`boundary`] has
//! the limits.

use super::bootstrap::values_given;
use super::boundary::Boundary;
use super::flag::Flag;
use super::order::Sorted;
use super::tvb::missing;
use super::{Answer, CalibrateError, Method, Question, boundary};
use crate::resample::Design;
use std::borrow::Cow;

/// What resamples' estimates say about the limits, on the scale where h is unbounded.
///
/// ```
/// use trustvb::calibrate::Balance;
///
/// // Resamples lie above the estimate: percentiles follow them, symmetric limits do not.
/// let balance = Balance::new(0.0, (0..=199).map(|b| f64::from(b) / 100.0 - 0.5));
/// let (lower, upper) = balance.limits(0.9);
/// assert!((lower - 0.5 * (-0.4095 - 1.299)).abs() < 1e-9);
/// assert!((upper - 0.5 * (1.3995 + 1.299)).abs() < 1e-9);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    estimate: f64,
    sorted: Sorted,
    distances: Sorted,
}

impl Balance {
    /// From the estimate of all units and those of the resamples, NaN for those without a fit.
    pub fn new(estimate: f64, resamples: impl IntoIterator<Item = f64>) -> Balance {
        let sorted = Sorted::new(resamples);
        let distances = Sorted::new(sorted.iter().map(|g| distance(g, estimate)));
        Balance { estimate, sorted, distances }
    }

    /// Whether no resample is usable.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// Whether every resample has the estimate of all units.
    pub fn all_equal(&self) -> bool {
        self.distances.largest() == 0.0
    }

    /// The limits.
    pub fn limits(&self, level: f64) -> (f64, f64) {
        let (tail, reach) = (0.5 * (1.0 - level), self.distances.quantile(level));
        let middle = |percentile: f64, symmetric: f64| 0.5 * (percentile + symmetric);
        (
            middle(self.sorted.quantile(tail), self.estimate - reach),
            middle(self.sorted.quantile(1.0 - tail), self.estimate + reach),
        )
    }

    /// Their Monte-Carlo standard errors.
    pub fn standard_errors(&self, level: f64) -> (f64, f64) {
        let tail = 0.5 * (1.0 - level);
        let reach = self.distances.standard_error(level);
        let se = |p: f64| 0.5 * self.sorted.standard_error(p).hypot(reach);
        (se(tail), se(1.0 - tail))
    }
}

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
    let estimates = question.estimates();
    let balance = Balance::new(centre, estimates.iter().map(|x| range.unbounded(*x)));
    let rule = question.boundary();
    // What resamples do not show of cells that few units have.
    let given = match rule {
        Some(Boundary::Some(given)) => Cow::Owned(values_given(question, given)),
        _ => Cow::Borrowed(estimates),
    };
    let mut answers = Vec::new();
    for &level in levels {
        if balance.is_empty() {
            answers.push(question.no_answer(Method::Balanced, level, Flag::NoEvidence));
            continue;
        }
        let mut answer =
            question.finish(Method::Balanced, level, table.omegas()[0], &question.first);
        if let Some(rule) = rule {
            (answer.lower, answer.upper) = boundary::limits(question, rule, &given, level);
            answer.limits_se = None;
        } else if balance.all_equal() {
            // A constant is its own interval; anything else is left as VB has it, with a warning.
            if answer.lower < answer.upper {
                answer.flags.push(Flag::IdenticalEstimates);
            }
        } else {
            let (lower, upper) = balance.limits(level);
            let (below, above) = balance.standard_errors(level);
            (answer.lower, answer.upper) = (range.bounded(lower), range.bounded(upper));
            answer.limits_se = Some((
                range.bounded(lower + below) - answer.lower,
                answer.upper - range.bounded(upper - above),
            ));
        }
        let law = match rule {
            None => "bootstrap estimates",
            Some(Boundary::One(_)) => "counts",
            Some(Boundary::Some(_)) => "bootstrap estimates and counts",
        };
        question.made_of_estimates(&mut answer, law);
        answers.push(answer);
    }
    Ok(answers)
}

/// Equal infinities, as of a probability of 1, are no distance apart.
fn distance(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { (a - b).abs() }
}
