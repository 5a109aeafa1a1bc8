//! `vb`: no calibration. ω̂ = 1, with the coverage that the anchored curve shows there, if any.

use super::flag::{Flag, first_fit_converged};
use super::{Answer, CalibrateError, Method, Own, Question};
use crate::resample::Design;

pub(super) fn answer(
    question: &Question<'_>,
    levels: &[f64],
) -> Result<Vec<Answer>, CalibrateError> {
    let mut answers = question.choose(Method::Vb, levels)?;
    let bootstraps = question.table.bootstraps(Design::Full).count();
    for answer in &mut answers {
        answer.own = Own::of(answer, bootstraps);
    }
    if !first_fit_converged(question.table) {
        for answer in &mut answers {
            answer.flags.push(Flag::UnconvergedFits { share: 1.0 });
        }
    }
    Ok(answers)
}
