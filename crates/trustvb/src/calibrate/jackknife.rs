//! `jackknife`: the twin of `tempered` that needs one fit: VB's law stretched by the infinitesimal jackknife.
//!
//! With `v_1` the sampling standard deviation of `ĝ_1`, from the influence of each unit at ω = 1 as in
//! [`analytic`], VB's interval is stretched about its estimate, on the scale where h is unbounded, until its half-length
//! is `z v_1`: `ω̂ = (half-length / z v_1)²` in (M7). One fit, no resampling. In studies it covers as the interval
//! `ĝ ± z v_1` does, which it replaced; being first-order it is too short where data are few or components overlap.

use super::flag::{Flag, first_fit_converged};
use super::{Answer, CalibrateError, Method, Question, analytic};
use crate::special::normal;

pub(super) fn answer(
    question: &Question<'_>,
    levels: &[f64],
) -> Result<Vec<Answer>, CalibrateError> {
    let model = question.model(Method::Jackknife)?;
    let spread = analytic::spread_at_one(question, model);
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
        if answer.lower < answer.upper {
            let reach = question.reach(&question.first, (answer.lower, answer.upper));
            let half = 0.5 * (reach.upper - reach.lower);
            let stretch = sd * normal::quantile(0.5 + 0.5 * level) / half;
            question.stretch(&mut answer, &reach, stretch, 0.0);
        }
        answer.extra_fits = 1;
        if !first_fit_converged(question.table) {
            answer.flags.push(Flag::UnconvergedFits { share: 1.0 });
        }
        answers.push(answer);
    }
    Ok(answers)
}
