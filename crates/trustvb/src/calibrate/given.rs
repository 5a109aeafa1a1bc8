//! `tempered` and `balanced` for fits made elsewhere: the estimate and VB's interval in each fit at ω = 1 are enough.

use super::balanced::Balance;
use super::flag::{Flag, from_number, from_unconverged};
use super::temper::{Reach, Stretches};
use super::{CalibrateError, Choice, Method};
use crate::functional::Range;

/// The estimate of h in one fit at ω = 1 and the limits of its interval; NaN when there is no fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GivenFit {
    /// The estimate.
    pub estimate: f64,
    /// The lower limit at the level asked for.
    pub lower: f64,
    /// The upper limit.
    pub upper: f64,
}

impl GivenFit {
    /// On the unbounded scale. A limit beyond a bound is at infinity: the interval holds all on that side.
    fn reach(&self, range: Range) -> Reach {
        let limit = |x: f64, beyond: f64| {
            let g = range.unbounded(x);
            if g.is_nan() && !x.is_nan() { beyond } else { g }
        };
        Reach {
            estimate: range.unbounded(self.estimate),
            lower: limit(self.lower, f64::NEG_INFINITY),
            upper: limit(self.upper, f64::INFINITY),
        }
    }
}

/// Fits of all units and of bootstraps of them, at ω = 1.
///
/// ```
/// use trustvb::calibrate::{GivenFit, GivenFits, Method};
/// use trustvb::functional::Range;
///
/// // Estimates spread evenly over -2 to 2, and VB says ± 1.
/// let fit = |estimate: f64| GivenFit { estimate, lower: estimate - 1.0, upper: estimate + 1.0 };
/// let bootstraps = (-200..=200).map(|b| fit(f64::from(b) / 100.0)).collect();
/// let fits = GivenFits { range: Range::Real, full: fit(0.0), bootstraps, unconverged: 0.0 };
/// let found = fits.interval(Method::Tempered, 0.5)?;
/// assert!((found.upper - 1.0).abs() < 0.01 && (found.choice.omega - 1.0).abs() < 0.02);
/// # Ok::<(), trustvb::calibrate::CalibrateError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GivenFits {
    /// Where h lies.
    pub range: Range,
    /// The fit of all units.
    pub full: GivenFit,
    /// The fits of the bootstraps.
    pub bootstraps: Vec<GivenFit>,
    /// Share of bootstraps whose fit failed or did not converge.
    pub unconverged: f64,
}

/// An interval from fits made elsewhere, and why.
#[derive(Clone, Debug)]
pub struct GivenInterval {
    /// The lower limit; NaN without evidence.
    pub lower: f64,
    /// The upper limit.
    pub upper: f64,
    /// ω̂ (1 for `balanced`, which has none) and what speaks for and against it.
    pub choice: Choice,
}

impl GivenFits {
    /// The interval by `tempered` or `balanced`. The limits of the fits must be those at `level`.
    pub fn interval(&self, method: Method, level: f64) -> Result<GivenInterval, CalibrateError> {
        if !matches!(method, Method::Tempered | Method::Balanced) {
            return Err(CalibrateError::NeedsModel(method.name()));
        }
        self.check()?;
        let own = (self.full.lower, self.full.upper);
        let choice = Choice { omega: 1.0, ..Choice::none(Flag::NoEvidence) };
        let mut found = GivenInterval { lower: own.0, upper: own.1, choice };
        found.choice.flags.clear();
        let (empty, identical) = match method {
            Method::Balanced => self.balance(level, &mut found),
            _ => self.temper(level, &mut found),
        };
        if empty {
            let choice = Choice::none(Flag::NoEvidence);
            return Ok(GivenInterval { lower: f64::NAN, upper: f64::NAN, choice });
        }
        if identical && own.0 < own.1 {
            found.choice.flags.push(Flag::IdenticalEstimates);
        }
        from_unconverged(self.unconverged, &mut found.choice.flags);
        from_number(self.bootstraps.len(), &mut found.choice.flags);
        Ok(found)
    }

    /// The full-data fit must lie within the range; what a resample does is evidence.
    fn check(&self) -> Result<(), CalibrateError> {
        let bounds = match self.range {
            Range::Real => "finite",
            Range::Positive => "above 0",
            Range::Unit => "between 0 and 1",
            Range::Correlation => "between -1 and 1",
        };
        let GivenFit { estimate, lower, upper } = self.full;
        let numbers = [(estimate, "the estimate"), (lower, "a limit"), (upper, "a limit")];
        match numbers.into_iter().find(|(value, _)| !self.range.holds(*value)) {
            Some((value, what)) => Err(CalibrateError::Scale { value, what, bounds }),
            None => Ok(()),
        }
    }

    /// Whether there is no evidence, and whether all estimates are the same.
    fn balance(&self, level: f64, found: &mut GivenInterval) -> (bool, bool) {
        let range = self.range;
        let estimates = self.bootstraps.iter().map(|fit| range.unbounded(fit.estimate));
        let balance = Balance::new(range.unbounded(self.full.estimate), estimates);
        if !balance.is_empty() && !balance.all_equal() {
            let (lower, upper) = balance.limits(level);
            (found.lower, found.upper) = (range.bounded(lower), range.bounded(upper));
        }
        (balance.is_empty(), balance.all_equal())
    }

    fn temper(&self, level: f64, found: &mut GivenInterval) -> (bool, bool) {
        let (range, own) = (self.range, self.full.reach(self.range));
        let needed = self.bootstraps.iter().map(|fit| fit.reach(range).stretch_to(own.estimate));
        let stretches = Stretches::new(needed);
        if !stretches.is_empty() && !stretches.all_zero() {
            let stretch = stretches.at(level);
            let (lower, upper) = own.stretched(stretch);
            (found.lower, found.upper) = (range.bounded(lower), range.bounded(upper));
            let (coverage, se) = stretches.coverage(stretch);
            let choice = &mut found.choice;
            choice.omega = stretch.powi(-2);
            (choice.coverage, choice.coverage_se) = (Some(coverage), Some(se));
            choice.curve = stretches.curve();
            if choice.omega > 1.0 {
                choice.flags.push(Flag::AboveOmegaOne { omega: choice.omega });
            }
        }
        (stretches.is_empty(), stretches.all_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(range: Range, estimates: &[f64], half: f64) -> GivenFits {
        let fit = |x: f64| GivenFit {
            estimate: range.bounded(x),
            lower: range.bounded(x - half),
            upper: range.bounded(x + half),
        };
        let bootstraps = estimates.iter().map(|x| fit(*x)).collect();
        GivenFits { range, full: fit(0.0), bootstraps, unconverged: 0.0 }
    }

    #[test]
    fn scales_change_nothing_but_the_scale() {
        let estimates: Vec<f64> = (0..299).map(|b| f64::from(b * b) / 6e4 - 0.4).collect();
        for method in [Method::Tempered, Method::Balanced] {
            let real = fits(Range::Real, &estimates, 0.1).interval(method, 0.9).unwrap();
            for range in [Range::Positive, Range::Unit, Range::Correlation] {
                let found = fits(range, &estimates, 0.1).interval(method, 0.9).unwrap();
                assert!((range.unbounded(found.lower) - real.lower).abs() < 1e-12);
                assert!((range.unbounded(found.upper) - real.upper).abs() < 1e-12);
                assert!((found.choice.omega / real.choice.omega - 1.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn what_resamples_cannot_tell_is_said() {
        let none = fits(Range::Real, &[f64::NAN], 0.1).interval(Method::Tempered, 0.9).unwrap();
        assert!(none.lower.is_nan() && none.choice.flags == [Flag::NoEvidence]);
        let same = fits(Range::Real, &[0.0; 200], 0.1).interval(Method::Balanced, 0.9).unwrap();
        assert_eq!((same.lower, same.choice.flags), (-0.1, vec![Flag::IdenticalEstimates]));
        let wide = fits(Range::Real, &[-0.1, 0.1], 1.0).interval(Method::Tempered, 0.5).unwrap();
        let names: Vec<_> = wide.choice.flags.iter().map(Flag::name).collect();
        assert_eq!(names, ["above-omega-1", "few-bootstraps"]);
        assert!(fits(Range::Real, &[0.0], 0.1).interval(Method::Gpc, 0.9).is_err());
    }

    #[test]
    fn a_resample_whose_interval_reaches_the_bound_holds_all_on_that_side() {
        let mut given = fits(Range::Positive, &[0.3; 200], 0.1);
        for fit in &mut given.bootstraps {
            fit.lower = -1.0;
        }
        assert!(given.interval(Method::Tempered, 0.9).unwrap().lower == given.full.lower);
        given.full.lower = -1.0;
        let why = given.interval(Method::Tempered, 0.9).unwrap_err().to_string();
        assert!(why.starts_with("-1 is not above 0"), "{why}");
    }
}
