//! `tvb`: the paper's grid search (Algorithm 2), and `gpc`.
//!
//! Bootstraps of one half X2 are checked against h(θ̂_ω) of the other half X1 at the same ω;
//! ω̂ = argmin |ĉ(ω) − (1−a)| over the grid, ties to the largest ω. As published the whole grid is
//! searched, and the answer can land beyond a second crossing where the prior has taken over;
//! otherwise only down to one grid step past the first crossing.
//!
//! `gpc`, general posterior calibration (Syring & Martin 2019) with fractional VB, makes the same search, but checks
//! bootstraps of all units against h(θ̂_ω) of all units. Bias from shrinkage at small ω is invisible to it, because the
//! checked value shrinks alike.

use super::coverage::CoverageCurve;
use super::evidence::Choice;
use super::flag::{Flag, from_curve};
use super::{CalibrateError, Method};
use crate::remedy::Remedy;
use crate::resample::Design;

/// The grid search, for `tvb` and `gpc`.
pub(super) fn search(
    curve: CoverageCurve<'_>,
    levels: &[f64],
    method: Method,
) -> Result<Vec<Choice>, CalibrateError> {
    let whole_grid = curve.evidence().searches_whole_grid();
    at_levels(curve, levels, method, |curve, level| {
        let last = curve.len() - 1;
        let best = match curve.first_crossing(level) {
            _ if whole_grid => nearest(curve, 0..=last, level),
            // A costly law is evaluated around the crossing only; the minimum is there.
            Some(i) => {
                let from = if curve.is_costly() { i.saturating_sub(1) } else { 0 };
                nearest(curve, from..=(i + 1).min(last), level)
            }
            // One that never crosses was looked at in strides: between those next to the nearest.
            None => {
                let seen = curve.evaluated();
                let at = nearest(curve, seen, level);
                let stride = if curve.is_costly() { curve.stride() } else { 0 };
                nearest(curve, at.saturating_sub(stride)..=(at + stride).min(last), level)
            }
        };
        curve.survey(level);
        (curve.omegas()[best], curve.at(best, level))
    })
}

/// A search for ω̂ at each level, on a curve of its own: `find` gives ω̂ with the coverage there and its standard error.
pub(super) fn at_levels(
    curve: CoverageCurve<'_>,
    levels: &[f64],
    method: Method,
    find: impl Fn(&mut CoverageCurve<'_>, f64) -> (f64, (f64, f64)),
) -> Result<Vec<Choice>, CalibrateError> {
    check_bootstraps(&curve, method)?;
    let choose = |&level: &f64| {
        let mut curve = curve.anew();
        if curve.is_empty(level) {
            return Choice::none(Flag::NoEvidence);
        }
        let (omega, found) = find(&mut curve, level);
        from_curve(&mut curve, level, omega, found)
    };
    Ok(levels.iter().map(choose).collect())
}

/// The grid point among `points` (from large ω to small) with coverage nearest to the level, the
/// first of equals.
fn nearest(
    curve: &mut CoverageCurve<'_>,
    points: impl IntoIterator<Item = usize>,
    level: f64,
) -> usize {
    points
        .into_iter()
        .map(|i| (i, (curve.at(i, level).0 - level).abs()))
        .fold((0, f64::INFINITY), |best, here| if here.1 < best.1 { here } else { best })
        .0
}

/// A method that rests on bootstraps needs some, and what they are checked against.
pub(super) fn check_bootstraps(
    curve: &CoverageCurve<'_>,
    method: Method,
) -> Result<(), CalibrateError> {
    let (evidence, design) = (curve.evidence(), curve.design());
    if evidence.bootstraps(design).0 == 0 || !evidence.has_checked_fit(design) {
        return Err(missing(method, design));
    }
    if method.needs_grid() && evidence.omegas_of(design).len() < evidence.omegas().len() {
        let needs = match design {
            Design::Split => "fits of bootstraps of half the units below ω = 1",
            Design::Full | Design::Subset => "fits of bootstraps of all units below ω = 1",
        };
        return Err(CalibrateError::Missing {
            method: method.name(),
            needs,
            remedy: Remedy::ServeMethod,
        });
    }
    Ok(())
}

/// Says that the table lacks the bootstraps a method needs.
pub(super) fn missing(method: Method, design: Design) -> CalibrateError {
    let needs = match design {
        Design::Full => "bootstraps of all units (design `full`)",
        Design::Subset => "fits of the subsets (design `subset`)",
        Design::Split => "a half sample and bootstraps of the other half (design `split`)",
    };
    CalibrateError::Missing { method: method.name(), needs, remedy: Remedy::ServeMethod }
}
