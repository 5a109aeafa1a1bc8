//! `vb`: no calibration. ω̂ = 1, with the coverage that a calibrator's curve shows there, if any.

use super::coverage::{CoverageCurve, Target};
use super::flag::{Flag, first_fit_converged};
use super::{Answer, CalibrateError, Method, Question};
use crate::resample::Design;

pub(super) fn answer(
    question: &Question<'_>,
    levels: &[f64],
) -> Result<Vec<Answer>, CalibrateError> {
    let has = |design| question.table.bootstraps(design).next().is_some();
    let mut curve = if has(Design::Full) {
        Some(CoverageCurve::new(question, Design::Full, Target::Anchor))
    } else if has(Design::Split) {
        Some(CoverageCurve::new(question, Design::Split, Target::SameOmega))
    } else {
        None
    };
    Ok(levels
        .iter()
        .map(|&level| {
            let mut answer =
                question.finish(Method::Vb, level, question.table.omegas()[0], &question.first);
            if let Some(curve) = &mut curve {
                let (coverage, se) = curve.at(0, level);
                (answer.coverage, answer.coverage_se) = (Some(coverage), Some(se));
            }
            if !first_fit_converged(question.table) {
                answer.flags.push(Flag::UnconvergedFits { share: 1.0 });
            }
            answer
        })
        .collect())
}
