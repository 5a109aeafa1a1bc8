//! `gpc`: general posterior calibration (Syring & Martin 2019), with fractional VB.
//!
//! As `tvb`, but bootstraps of all units are checked against h(θ̂_ω) of all units at the same ω.
//! Bias from shrinkage at small ω is invisible to it, because the checked value shrinks alike.

use super::{Answer, CalibrateError, Method, Question};

pub(super) fn answer(
    question: &Question<'_>,
    levels: &[f64],
) -> Result<Vec<Answer>, CalibrateError> {
    question.choose(Method::Gpc, levels)
}
