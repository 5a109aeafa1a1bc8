//! `anchored`: bootstraps of all units, checked at every ω against h(θ̂_1), the fit at ω = 1.
//!
//! The anchor makes shrinkage at small ω visible, and the whole sample is used. ω̂ is the first
//! crossing of 1−a from ω = 1 downwards on the isotonic (non-decreasing) curve, interpolated in
//! log ω.

use super::coverage::CoverageCurve;
use super::evidence::Choice;
use super::tvb::at_levels;
use super::{CalibrateError, Method};

/// The first crossing, at each level.
pub(super) fn search(
    curve: CoverageCurve<'_>,
    levels: &[f64],
) -> Result<Vec<Choice>, CalibrateError> {
    let omegas = curve.omegas();
    at_levels(curve, levels, Method::Anchored, |curve, level| {
        let (omega, coverage, se) = crossing(curve, omegas, level);
        curve.survey(level);
        (omega, (coverage, se))
    })
}

/// ω̂ with the coverage there and its standard error.
fn crossing(curve: &mut CoverageCurve<'_>, omegas: &[f64], level: f64) -> (f64, f64, f64) {
    let last = curve.len() - 1;
    let Some(first) = curve.first_crossing(level) else {
        curve.survey(level);
        return highest(curve, level);
    };
    // The isotonic fit at the crossing depends on what follows; look as far as it takes.
    let mut margin = (curve.len() / 50).max(2);
    loop {
        let end = (first + margin).min(last);
        let from = if first == 0 { 0 } else { first.saturating_sub(margin) };
        let from = if curve.is_costly() { from } else { 0 };
        let raw: Vec<f64> = (from..=end).map(|i| curve.at(i, level).0).collect();
        let fitted = isotonic(&raw);
        if let Some(at) = fitted.iter().position(|&c| c >= level) {
            let i = from + at;
            let se = curve.at(i, level).1;
            if at == 0 {
                return (omegas[i], fitted[0], se);
            }
            let share = (level - fitted[at - 1]) / (fitted[at] - fitted[at - 1]);
            return (between(omegas[i - 1], omegas[i], share), level, se);
        }
        if end == last || fitted.len() < raw.len() {
            return highest(curve, level);
        }
        margin *= 2;
    }
}

/// The point at a share of the way from `high` down to `low`, in log ω. Rounding does not carry it
/// past either: beyond the end of the grid there is no fit.
fn between(high: f64, low: f64, share: f64) -> f64 {
    (high.ln() + share * (low.ln() - high.ln())).exp().clamp(low, high)
}

/// The largest ω with the highest coverage seen, for a curve that never reaches the level.
fn highest(curve: &mut CoverageCurve<'_>, level: f64) -> (f64, f64, f64) {
    let mut best = (f64::NAN, -1.0, f64::NAN);
    for point in curve.points(level) {
        if point.coverage > best.1 {
            best = (point.omega, point.coverage, point.se);
        }
    }
    best
}

/// The non-decreasing sequence nearest to `y` in least squares (pool adjacent violators), as far as
/// `y` is a number: where no replicate has a fit the curve ends.
fn isotonic(y: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::with_capacity(y.len());
    for &value in y.iter().take_while(|value| !value.is_nan()) {
        pools.push((value, 1));
        while let [.., (a, n), (b, m)] = pools[..] {
            if a <= b {
                break;
            }
            pools.truncate(pools.len() - 2);
            pools.push(((a * n as f64 + b * m as f64) / (n + m) as f64, n + m));
        }
    }
    pools.into_iter().flat_map(|(value, n)| std::iter::repeat_n(value, n)).collect()
}

#[cfg(test)]
mod tests {
    use super::{between, isotonic};
    use crate::table::OmegaGrid;

    #[test]
    fn pools_what_falls() {
        assert_eq!(isotonic(&[1.0, 3.0, 2.0, 4.0]), [1.0, 2.5, 2.5, 4.0]);
        assert_eq!(isotonic(&[3.0, 2.0, 1.0]), [2.0, 2.0, 2.0]);
        assert!(isotonic(&[]).is_empty());
        assert_eq!(isotonic(&[0.5, 0.9, f64::NAN, 0.2]), [0.5, 0.9]);
    }

    #[test]
    fn stays_within_the_grid() {
        for points in 2..200 {
            let omegas = OmegaGrid { points, min: 1e-3 }.omegas();
            for pair in omegas.windows(2) {
                for share in [0.0, 0.5, 1.0] {
                    let omega = between(pair[0], pair[1], share);
                    assert!(pair[1] <= omega && omega <= pair[0], "{pair:?} {share} {omega}");
                }
            }
        }
    }
}
