//! `vb`: no calibration. ω̂ = 1, with the coverage that the anchored curve shows there, if any.

use super::coverage::{CoverageCurve, Target};
use super::flag::{Flag, first_fit_converged};
use super::{Answer, CalibrateError, Method, Question};
use crate::resample::Design;

pub(super) fn answer(
    question: &Question<'_>,
    levels: &[f64],
) -> Result<Vec<Answer>, CalibrateError> {
    // Splits tell of half samples only, and of their difference at that.
    let mut curve = question
        .table
        .bootstraps(Design::Full)
        .next()
        .map(|_| CoverageCurve::new(question, Design::Full, Target::Anchor));
    Ok(levels
        .iter()
        .map(|&level| {
            let mut answer =
                question.finish(Method::Vb, level, question.table.omegas()[0], &question.first);
            if let Some(curve) = &mut curve {
                let (coverage, se) = curve.at(0, level);
                if !coverage.is_nan() {
                    (answer.coverage, answer.coverage_se) = (Some(coverage), Some(se));
                }
            }
            if !first_fit_converged(question.table) {
                answer.flags.push(Flag::UnconvergedFits { share: 1.0 });
            }
            answer
        })
        .collect())
}
