//! `jackknife`: the VB estimate with the standard deviation that the infinitesimal jackknife gives it.
//!
//! With `v_1` the sampling standard deviation of `ĥ_1`, from the influence of each unit at ω = 1 as in
//! [`analytic`], the interval is `ĥ_1 ± z v_1` on the scale where h is unbounded. It is what
//! `analytic` would give if its intervals stayed centred at the estimate while they widen: then their
//! coverage depends on their length alone, and no ω need be chosen. One fit, no resampling; where the prior
//! takes over at small ω, nothing follows it there.

use super::flag::{Flag, first_fit_converged};
use super::{Answer, CalibrateError, Method, Question, analytic};
use crate::special::normal;

pub(super) fn answer(
    question: &Question<'_>,
    levels: &[f64],
) -> Result<Vec<Answer>, CalibrateError> {
    let model = question.model(Method::Jackknife)?;
    let spread = analytic::spread_at_one(question, model);
    let range = question.part.range();
    let mut answers = Vec::new();
    for &level in levels {
        let sd = match &spread {
            Ok(sd) => *sd,
            Err(why) => {
                let flag = Flag::NoInfluence(why.to_string());
                answers.push(question.no_answer(Method::Jackknife, level, flag));
                continue;
            }
        };
        let omega = question.table.omegas()[0];
        let mut answer = question.finish(Method::Jackknife, level, omega, &question.first);
        let half = sd * normal::quantile(0.5 + 0.5 * level);
        let limit = |by: f64| match by {
            0.0 => question.estimate,
            _ => range.bounded(range.unbounded(question.estimate) + by),
        };
        (answer.lower, answer.upper) = (limit(-half), limit(half));
        answer.limits_se = None;
        answer.extra_fits = 1;
        answer.law = "infinitesimal jackknife".to_owned();
        if !first_fit_converged(question.table) {
            answer.flags.push(Flag::UnconvergedFits { share: 1.0 });
        }
        answers.push(answer);
    }
    Ok(answers)
}
