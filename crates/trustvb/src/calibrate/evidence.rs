//! What a calibrator needs to know about coverage, and what it makes of it.
//!
//! The rules that choose ω look at nothing but numbers `u` between 0 and 1: where a checked value lies
//! in the posterior law of h in the fit of a resample. So they serve the tables of this library and
//! the fits of any other variational procedure alike.

use super::coverage::CoverageCurve;
use super::flag::Flag;
use super::{CalibrateError, CurvePoint, Method, anchored, tvb};
use crate::model::Noun;
use crate::resample::Design;

/// Which value the replicates' intervals are checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// The plug-in value of the design's replicate 0 at the same ω.
    SameOmega,
    /// The plug-in value of the design's replicate 0 at ω = 1.
    Anchor,
}

/// Evidence about the coverage of one functional along a grid of ω.
///
/// It is cut at `u`, the place of a checked value in a law, because that is all the rules use, at any
/// level. It is asked point by point, because a law that needs draws is not cheap to evaluate.
pub trait Evidence: Sync {
    /// The grid, from large to small.
    fn omegas(&self) -> &[f64];
    /// The points of it at which bootstraps of a design are there, which may be the first alone.
    fn omegas_of(&self, _design: Design) -> &[f64] {
        self.omegas()
    }
    /// `u` of every bootstrap that has one at grid point `i`.
    fn places(&self, design: Design, target: Target, i: usize) -> Vec<f64>;
    /// Bootstraps of a design that are there, and that there should be.
    fn bootstraps(&self, design: Design) -> (usize, usize);
    /// Whether the fits that bootstraps are checked against are there.
    fn has_checked_fit(&self, design: Design) -> bool;
    /// Share of bootstraps whose fit at grid point `i` failed or did not converge.
    fn unconverged(&self, design: Design, i: usize) -> f64;
    /// Share of bootstraps whose components are not those of the full data at grid point `i`.
    fn mismatched(&self, _design: Design, _i: usize) -> f64 {
        0.0
    }
    /// What components are called.
    fn called(&self) -> Noun {
        Noun::COMPONENT
    }
    /// Whether a grid point is costly to look at, so that only some are.
    fn is_costly(&self) -> bool {
        false
    }
    /// Whether the whole grid is searched, beyond the first crossing, as in the paper's code.
    fn searches_whole_grid(&self) -> bool {
        false
    }
}

/// ω̂ and why.
#[derive(Clone, Debug)]
pub struct Choice {
    /// ω̂; NaN when there is no evidence.
    pub omega: f64,
    /// Estimated coverage there.
    pub coverage: Option<f64>,
    /// Its Monte-Carlo standard error.
    pub coverage_se: Option<f64>,
    /// What the curve says against it.
    pub flags: Vec<Flag>,
    /// The curve as far as it was looked at.
    pub curve: Vec<CurvePoint>,
}

impl Choice {
    /// No choice is possible.
    pub(super) fn none(why: Flag) -> Choice {
        Choice {
            omega: f64::NAN,
            coverage: None,
            coverage_se: None,
            flags: vec![why],
            curve: Vec::new(),
        }
    }
}

/// ω̂ by `method` at each level, from evidence alone.
///
/// `analytic` and `tvb-sequential` make fits of their own and cannot be answered so.
pub fn choose(
    evidence: &dyn Evidence,
    method: Method,
    levels: &[f64],
) -> Result<Vec<Choice>, CalibrateError> {
    let curve = |design, target| CoverageCurve::new(evidence, design, target);
    match method {
        Method::Vb => {
            let there = evidence.bootstraps(Design::Full).0 > 0;
            let mut curve = there.then(|| curve(Design::Full, Target::Anchor));
            Ok(levels.iter().map(|&level| at_omega_one(evidence, curve.as_mut(), level)).collect())
        }
        Method::Tvb => tvb::search(curve(Design::Split, Target::SameOmega), levels, method),
        Method::Gpc => tvb::search(curve(Design::Full, Target::SameOmega), levels, method),
        Method::Anchored => anchored::search(curve(Design::Full, Target::Anchor), levels),
        Method::Balanced
        | Method::Tempered
        | Method::TvbSequential
        | Method::Analytic
        | Method::Jackknife
        | Method::Bootstrap => Err(CalibrateError::NeedsModel(method.name())),
    }
}

/// The first ω, with the coverage that bootstraps of all units show there. Splits tell of half samples
/// only, and of their difference at that.
fn at_omega_one(
    evidence: &dyn Evidence,
    curve: Option<&mut CoverageCurve<'_>>,
    level: f64,
) -> Choice {
    let found = curve.map(|curve| curve.at(0, level)).filter(|(coverage, _)| !coverage.is_nan());
    Choice {
        omega: evidence.omegas()[0],
        coverage: found.map(|(coverage, _)| coverage),
        coverage_se: found.map(|(_, se)| se),
        flags: Vec::new(),
        curve: Vec::new(),
    }
}

/// `u` of the bootstraps of one design, gathered elsewhere: by grid point, then by bootstrap; NaN
/// where a fit failed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    /// Checked against the design's replicate 0 at the same ω.
    pub same_omega: Vec<Vec<f64>>,
    /// Checked against the design's replicate 0 at ω = 1.
    pub anchor: Vec<Vec<f64>>,
    /// Share of bootstraps whose fit failed or did not converge, by grid point.
    pub unconverged: Vec<f64>,
}

/// Evidence from a procedure that is not of this library.
///
/// ```
/// use trustvb::calibrate::{GivenEvidence, Method, Places, choose};
///
/// // Half of the values are in the tails at ω = 1, none at ω = 0.5.
/// let u = vec![vec![0.5, 0.01, 0.4, 0.999], vec![0.5, 0.3, 0.4, 0.6]];
/// let places = Places { same_omega: u.clone(), anchor: u, unconverged: vec![0.0; 2] };
/// let evidence = GivenEvidence { omegas: vec![1.0, 0.5], full: Some(places), split: None };
/// let choice = &choose(&evidence, Method::Gpc, &[0.9])?[0];
/// assert_eq!((choice.omega, choice.coverage), (0.5, Some(1.0)));
/// # Ok::<(), trustvb::calibrate::CalibrateError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GivenEvidence {
    /// The grid, from large to small.
    pub omegas: Vec<f64>,
    /// Bootstraps of all units.
    pub full: Option<Places>,
    /// Bootstraps of a half sample.
    pub split: Option<Places>,
}

impl GivenEvidence {
    fn of(&self, design: Design) -> Option<&Places> {
        match design {
            Design::Full => self.full.as_ref(),
            Design::Split => self.split.as_ref(),
            Design::Subset => None,
        }
    }
}

impl Evidence for GivenEvidence {
    fn omegas(&self) -> &[f64] {
        &self.omegas
    }

    fn places(&self, design: Design, target: Target, i: usize) -> Vec<f64> {
        let Some(places) = self.of(design) else { return Vec::new() };
        let all = match target {
            Target::SameOmega => &places.same_omega,
            Target::Anchor => &places.anchor,
        };
        all.get(i).map_or_else(Vec::new, |u| u.iter().copied().filter(|u| !u.is_nan()).collect())
    }

    fn bootstraps(&self, design: Design) -> (usize, usize) {
        let n = self.of(design).and_then(|places| places.same_omega.first()).map_or(0, Vec::len);
        (n, n)
    }

    fn has_checked_fit(&self, design: Design) -> bool {
        self.of(design).is_some()
    }

    fn unconverged(&self, design: Design, i: usize) -> f64 {
        self.of(design).and_then(|places| places.unconverged.get(i)).copied().unwrap_or(0.0)
    }
}
