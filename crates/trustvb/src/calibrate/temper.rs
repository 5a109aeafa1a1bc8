//! Tempering about the estimate, (M7): how far a law must be stretched about its own centre to hold a value.
//!
//! With `g` the scale on which h is unbounded, `ĝ` the estimate and `Q` a quantile of VB's law there, the
//! tempered law has the quantiles `ĝ + (Q − ĝ)/√ω`. It keeps the estimate and the shape of VB's law and only
//! its width changes, so that fits at ω = 1 say everything: a resample's interval holds the checked value
//! iff it is stretched by at least the resample's own [`Reach::stretch_to`].

use super::CurvePoint;
use super::order::Sorted;
use crate::functional::Range;
use serde::{Deserialize, Serialize};

/// The estimate of h in one fit and the limits of VB's interval, on the scale where h is unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reach {
    /// The estimate.
    pub estimate: f64,
    /// The lower limit at the level asked for.
    pub lower: f64,
    /// The upper limit.
    pub upper: f64,
}

impl Reach {
    /// How far the law reaches below and above its estimate. Half the length on both sides where the estimate is not
    /// between the limits: at small levels a skewed law's central interval need not hold it.
    fn sides(&self) -> (f64, f64) {
        let (below, above) = (self.estimate - self.lower, self.upper - self.estimate);
        if below > 0.0 && above > 0.0 {
            (below, above)
        } else {
            let half = 0.5 * (self.upper - self.lower);
            (half, half)
        }
    }

    /// The factor by which the law must be stretched about its estimate for its interval to end at `value`: `1/√ω`.
    /// NaN when anything behind it is.
    pub fn stretch_to(&self, value: f64) -> f64 {
        let (below, above) = self.sides();
        // Equal infinities, as of a probability of 1, are no distance apart.
        if value == self.estimate {
            return 0.0;
        }
        let distance = value - self.estimate;
        if distance > 0.0 { distance / above } else { -distance / below }
    }

    /// The limits after stretching.
    pub fn stretched(&self, by: f64) -> (f64, f64) {
        let (below, above) = self.sides();
        (self.estimate - by * below, self.estimate + by * above)
    }
}

/// Where `x` goes when its law is stretched about an estimate, which is on the unbounded scale:
/// `g^-1(ĝ + by·(g(x) − ĝ))`.
pub fn stretched(range: Range, estimate: f64, by: f64, x: f64) -> f64 {
    range.bounded(estimate + by * (range.unbounded(x) - estimate))
}

/// Points of a curve of coverage by ω, over the stretches from a quarter to eight.
const CURVE_POINTS: usize = 31;

/// What resamples say about the stretch that has the coverage asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretches(Sorted);

impl Stretches {
    /// From the stretch each resample needs; NaN for those without a fit.
    pub fn new(stretches: impl IntoIterator<Item = f64>) -> Stretches {
        Stretches(Sorted::new(stretches))
    }

    /// Usable resamples.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no resample is usable.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether every resample has the estimate of the full data.
    pub fn all_zero(&self) -> bool {
        self.0.largest() == 0.0
    }

    /// The share of resamples whose interval holds its checked value once stretched, with its standard error.
    pub fn coverage(&self, by: f64) -> (f64, f64) {
        let share = self.0.share_up_to(by);
        (share, (share * (1.0 - share) / self.len() as f64).sqrt())
    }

    /// The stretch at which that share is `level`.
    pub fn at(&self, level: f64) -> f64 {
        self.0.quantile(level)
    }

    /// Its Monte-Carlo standard error.
    pub fn standard_error(&self, level: f64) -> f64 {
        self.0.standard_error(level)
    }

    /// Coverage by ω = 1/stretch², from large to small ω.
    pub fn curve(&self) -> Vec<CurvePoint> {
        (0..CURVE_POINTS)
            .map(|i| {
                let stretch = 0.25 * 32_f64.powf(i as f64 / (CURVE_POINTS - 1) as f64);
                let (coverage, se) = self.coverage(stretch);
                CurvePoint { omega: stretch.powi(-2), coverage, se }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_about_the_estimate() {
        let reach = Reach { estimate: 1.0, lower: 0.0, upper: 3.0 };
        assert_eq!(reach.stretch_to(2.0), 0.5);
        assert_eq!(reach.stretch_to(0.5), 0.5);
        assert_eq!(reach.stretch_to(-1.0), 2.0);
        assert_eq!(reach.stretched(2.0), (-1.0, 5.0));
        assert_eq!(reach.stretched(1.0), (0.0, 3.0));
        // The interval stretched to a value ends there.
        for value in [-3.0, 0.2, 1.7, 9.0] {
            let (lower, upper) = reach.stretched(reach.stretch_to(value));
            assert!((if value < 1.0 { lower } else { upper } - value).abs() < 1e-12);
        }
    }

    #[test]
    fn an_estimate_outside_its_interval_has_half_the_length_on_both_sides() {
        let reach = Reach { estimate: 0.0, lower: 1.0, upper: 3.0 };
        assert_eq!((reach.stretch_to(2.0), reach.stretched(1.0)), (2.0, (-1.0, 1.0)));
    }

    #[test]
    fn stretching_keeps_the_estimate_and_can_be_undone() {
        for range in [Range::Real, Range::Positive, Range::Unit, Range::Correlation] {
            let estimate = range.unbounded(0.4);
            assert!((stretched(range, estimate, 3.0, 0.4) - 0.4).abs() < 1e-15);
            let x = stretched(range, estimate, 3.0, 0.7);
            assert!(x > 0.7 && (stretched(range, estimate, 1.0 / 3.0, x) - 0.7).abs() < 1e-14);
        }
    }

    #[test]
    fn constants_hold_themselves_and_nothing_else() {
        let constant = Reach { estimate: 1.0, lower: 1.0, upper: 1.0 };
        assert_eq!(constant.stretch_to(1.0), 0.0);
        assert_eq!(constant.stretch_to(2.0), f64::INFINITY);
    }

    #[test]
    fn the_quantile_has_the_coverage() {
        let stretches = Stretches::new((1..=99).map(f64::from).chain([f64::NAN]));
        assert_eq!((stretches.len(), stretches.at(0.9)), (99, 90.0));
        let (coverage, se) = stretches.coverage(90.0);
        assert!((coverage - 90.0 / 99.0).abs() < 1e-12 && (se - 0.0289).abs() < 1e-4);
        assert!(Stretches::new([]).at(0.5).is_nan() && !stretches.all_zero());
        assert!(Stretches::new([0.0, 0.0]).all_zero());
    }
}
