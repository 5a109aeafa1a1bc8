//! `tempered`, `balanced` and `bootstrap` for fits made elsewhere: the estimate and VB's interval in each fit at ω = 1 are
//! enough. `jackknife` needs one fit and the standard deviation that somebody else has found.

use super::balanced::Balance;
use super::flag::{Flag, from_number, from_unconverged};
use super::order::Sorted;
use super::steady::LinearPart;
use super::temper::{Reach, Stretches};
use super::{CalibrateError, Choice, Method};
use crate::functional::Range;
use crate::special::normal;

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

    /// The full-data fit must lie within the range; what a resample does is evidence.
    fn check(&self, range: Range) -> Result<(), CalibrateError> {
        let bounds = match range {
            Range::Real => "finite",
            Range::Positive => "above 0",
            Range::Unit => "between 0 and 1",
            Range::Correlation => "between -1 and 1",
        };
        let numbers =
            [(self.estimate, "the estimate"), (self.lower, "a limit"), (self.upper, "a limit")];
        match numbers.into_iter().find(|(value, _)| !range.holds(*value)) {
            Some((value, what)) => Err(CalibrateError::Scale { value, what, bounds }),
            None => Ok(()),
        }
    }

    /// VB's own interval, before anything is known about it.
    fn unchanged(&self) -> GivenInterval {
        let mut choice = Choice { omega: 1.0, ..Choice::none(Flag::NoEvidence) };
        choice.flags.clear();
        GivenInterval { lower: self.lower, upper: self.upper, choice }
    }

    /// The interval at `level` stretched about its estimate until its half-length, on the scale where h is unbounded, is that
    /// of a Normal law whose standard deviation, on the scale of h itself, is `sd`.
    ///
    /// ```
    /// use trustvb::calibrate::GivenFit;
    /// use trustvb::functional::Range;
    ///
    /// let fit = GivenFit { estimate: 0.0, lower: -1.0, upper: 1.0 };
    /// let found = fit.widened(Range::Real, 0.95, 2.0)?;
    /// assert!((found.upper - 2.0 * 1.959964).abs() < 1e-6);
    /// assert!((found.choice.omega - found.upper.powi(-2)).abs() < 1e-12);
    /// # Ok::<(), trustvb::calibrate::CalibrateError>(())
    /// ```
    pub fn widened(
        &self,
        range: Range,
        level: f64,
        sd: f64,
    ) -> Result<GivenInterval, CalibrateError> {
        self.check(range)?;
        let mut found = self.unchanged();
        let own = self.reach(range);
        let half = 0.5 * (own.upper - own.lower);
        if half <= 0.0 {
            return Ok(found);
        }
        let reached = sd * range.slope(self.estimate) * normal::quantile(0.5 + 0.5 * level);
        if !(reached.is_finite() && reached > 0.0) {
            let why = format!("it would give {} the standard deviation {sd}", self.estimate);
            let choice = Choice::none(Flag::NoInfluence(why));
            return Ok(GivenInterval { lower: f64::NAN, upper: f64::NAN, choice });
        }
        let stretch = reached / half;
        let (lower, upper) = own.stretched(stretch);
        (found.lower, found.upper) = (range.bounded(lower), range.bounded(upper));
        found.choice.omega = stretch.powi(-2);
        if found.choice.omega > 1.0 {
            found.choice.flags.push(Flag::AboveOmegaOne { omega: found.choice.omega });
        }
        Ok(found)
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
    /// ω̂ (1 for `balanced` and `bootstrap`, which have none) and what speaks for and against it.
    pub choice: Choice,
}

impl GivenFits {
    /// The interval by `tempered`, `balanced` or `bootstrap`. The limits of the fits must be those at `level`.
    pub fn interval(&self, method: Method, level: f64) -> Result<GivenInterval, CalibrateError> {
        self.interval_with(method, level, None)
    }

    /// The interval by `balanced`, with less Monte-Carlo error: what derivatives say about the bootstraps is put right where
    /// chance made it wrong. Where it was done the interval has the remark [`Flag::Steadied`]; where derivatives explain less
    /// than half of the estimates' variance, or there are fewer than 40 bootstraps, it is not.
    ///
    /// ```
    /// use trustvb::calibrate::{GivenFit, GivenFits, LinearPart, Method};
    /// use trustvb::functional::Range;
    ///
    /// // A mean of -1, 1, -1, …, 1, and bootstraps of it that happen to lie too close.
    /// let influence: Vec<f64> = (0..400).map(|n| f64::from(n % 2 * 2 - 1) / 400.0).collect();
    /// let moved: Vec<f64> = (-100..=100).map(|b| f64::from(b) / 2000.0).collect();
    /// let fit = |estimate: f64| GivenFit { estimate, lower: estimate - 0.1, upper: estimate + 0.1 };
    /// let bootstraps = moved.iter().map(|x| fit(*x)).collect();
    /// let fits = GivenFits { range: Range::Real, full: fit(0.0), bootstraps, unconverged: 0.0 };
    /// let plain = fits.interval(Method::Balanced, 0.95)?;
    /// let steady = fits.steady_interval(&LinearPart { influence, moved }, 0.95)?;
    /// assert!(plain.upper < 0.05 && (steady.upper - 1.96 / 20.0).abs() < 0.001);
    /// assert_eq!(steady.choice.flags[0].name(), "steadied");
    /// # Ok::<(), trustvb::calibrate::CalibrateError>(())
    /// ```
    pub fn steady_interval(
        &self,
        linear: &LinearPart,
        level: f64,
    ) -> Result<GivenInterval, CalibrateError> {
        self.interval_with(Method::Balanced, level, Some(linear))
    }

    fn interval_with(
        &self,
        method: Method,
        level: f64,
        linear: Option<&LinearPart>,
    ) -> Result<GivenInterval, CalibrateError> {
        if !matches!(method, Method::Tempered | Method::Balanced | Method::Bootstrap) {
            return Err(CalibrateError::NeedsModel(method.name()));
        }
        self.full.check(self.range)?;
        let own = (self.full.lower, self.full.upper);
        let mut found = self.full.unchanged();
        let (empty, identical) = match method {
            Method::Balanced => self.balance(level, linear, &mut found),
            Method::Bootstrap => self.percentiles(level, &mut found),
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

    /// Whether there is no evidence, and whether all estimates are the same.
    fn balance(
        &self,
        level: f64,
        linear: Option<&LinearPart>,
        found: &mut GivenInterval,
    ) -> (bool, bool) {
        let range = self.range;
        let mut estimates: Vec<f64> =
            self.bootstraps.iter().map(|fit| range.unbounded(fit.estimate)).collect();
        if let Some(steadied) = linear.and_then(|linear| linear.steadied(&estimates)) {
            estimates = steadied.estimates;
            found.choice.flags.push(Flag::Steadied { explained: steadied.explained });
        }
        let balance = Balance::new(range.unbounded(self.full.estimate), estimates);
        if !balance.is_empty() && !balance.all_equal() {
            let (lower, upper) = balance.limits(level);
            (found.lower, found.upper) = (range.bounded(lower), range.bounded(upper));
        }
        (balance.is_empty(), balance.all_equal())
    }

    /// Percentiles have no need of a scale.
    fn percentiles(&self, level: f64, found: &mut GivenInterval) -> (bool, bool) {
        let law = Sorted::new(self.bootstraps.iter().map(|fit| fit.estimate));
        let identical = law.iter().all(|x| x == self.full.estimate);
        if !identical {
            (found.lower, found.upper) = law.interval(level);
        }
        (law.is_empty(), identical)
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
    fn percentiles_are_those_of_the_estimates() {
        let estimates: Vec<f64> = (0..=200).map(|b| f64::from(b) / 100.0).collect();
        let found = fits(Range::Real, &estimates, 0.1).interval(Method::Bootstrap, 0.9).unwrap();
        // The 10.1th and the 191.9th of 201, (B + 1)·p.
        assert!((found.lower - 0.091).abs() < 1e-12 && (found.upper - 1.909).abs() < 1e-12);
        let none = fits(Range::Real, &[f64::NAN], 0.1).interval(Method::Bootstrap, 0.9).unwrap();
        assert!(none.lower.is_nan() && none.choice.flags == [Flag::NoEvidence]);
        let same = fits(Range::Real, &[0.0; 200], 0.1).interval(Method::Bootstrap, 0.9).unwrap();
        assert_eq!((same.lower, same.choice.flags), (-0.1, vec![Flag::IdenticalEstimates]));
    }

    #[test]
    fn a_standard_deviation_is_taken_to_the_unbounded_scale() {
        for range in [Range::Real, Range::Positive, Range::Unit, Range::Correlation] {
            let full = fits(range, &[], 0.1).full;
            // An sd so small that every scale is straight.
            let found = full.widened(range, 0.95, 1e-6).unwrap();
            assert!(((found.upper - found.lower) / (2e-6 * 1.959_964) - 1.0).abs() < 1e-5);
            assert_eq!(
                found.choice.flags.iter().map(Flag::name).collect::<Vec<_>>(),
                ["above-omega-1"]
            );
        }
        let constant = GivenFit { estimate: 1.0, lower: 1.0, upper: 1.0 };
        assert_eq!(constant.widened(Range::Real, 0.9, 3.0).unwrap().upper, 1.0);
        let lost = fits(Range::Real, &[], 0.1).full.widened(Range::Real, 0.9, f64::NAN).unwrap();
        assert!(lost.upper.is_nan() && lost.choice.flags[0].name() == "no-influence");
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
