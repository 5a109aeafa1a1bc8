//! Axes as numbers: from data to pixels on a linear or logarithmic scale, with ticks at round values.

use super::text::with_minus;

/// Values beyond this are drawn at it: a span must not overflow.
const LARGEST: f64 = 1e300;

/// What a scale does to a value before it is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Equal steps are equal distances.
    Linear,
    /// Equal ratios are equal distances; values must be positive.
    Log,
}

/// A place on an axis with its label; minor ticks have an empty one.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// The value.
    pub value: f64,
    /// The label.
    pub label: String,
}

/// A map from an interval of values to an interval of pixels.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    kind: Kind,
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// A linear scale over `low..high`; an empty or impossible interval is widened to one that works.
    pub fn linear(low: f64, high: f64) -> Self {
        let (low, high) = repaired(low, high);
        Scale { kind: Kind::Linear, low, high, start: 0.0, end: 1.0 }
    }

    /// A logarithmic scale over `low..high`; limits that are not positive are replaced.
    pub fn log(low: f64, high: f64) -> Self {
        let high = if high.is_finite() && high > 0.0 { high.clamp(1e-290, LARGEST) } else { 1.0 };
        let low =
            if low.is_finite() && low > 0.0 { low.clamp(1e-300, LARGEST) } else { high / 1e3 };
        let (low, high) = if low <= high { (low, high) } else { (high, low) };
        let (low, high) =
            if high / low < 1.0 + 1e-9 { (low / 2.0, high * 2.0) } else { (low, high) };
        Scale { kind: Kind::Log, low, high, start: 0.0, end: 1.0 }
    }

    /// A linear scale over all finite values, with a margin of the given fraction on each side.
    pub fn linear_over<I: IntoIterator<Item = f64>>(values: I, margin: f64) -> Self {
        let (low, high) = extent(values);
        let scale = Scale::linear(low, high);
        let pad = (scale.high - scale.low) * margin;
        Scale::linear(scale.low - pad, scale.high + pad)
    }

    /// A logarithmic scale over all finite positive values, with a margin on each side.
    pub fn log_over<I: IntoIterator<Item = f64>>(values: I, margin: f64) -> Self {
        let (low, high) = extent(values.into_iter().filter(|v| *v > 0.0));
        let scale = Scale::log(low, high);
        let ratio = (scale.high.ln() - scale.low.ln()) * margin;
        Scale::log(scale.low * (-ratio).exp(), scale.high * ratio.exp())
    }

    /// The same scale onto the pixels from `start` to `end`.
    pub fn onto(self, start: f64, end: f64) -> Self {
        Scale { start, end, ..self }
    }

    /// A scale of the same kind over the values of both.
    pub(crate) fn and(self, other: &Scale) -> Self {
        Scale { low: self.low.min(other.low), high: self.high.max(other.high), ..self }
    }

    /// The limits of the values.
    pub fn limits(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Whether a value lies within the limits.
    pub fn contains(&self, value: f64) -> bool {
        value >= self.low && value <= self.high
    }

    /// The pixel of a value, also outside the limits; `None` if it has no place on the axis.
    pub fn position(&self, value: f64) -> Option<f64> {
        if !value.is_finite() || (self.kind == Kind::Log && value <= 0.0) {
            return None;
        }
        let fraction = match self.kind {
            Kind::Linear => (value.clamp(-LARGEST, LARGEST) - self.low) / (self.high - self.low),
            Kind::Log => (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln()),
        };
        Some(self.start + fraction * (self.end - self.start))
    }

    /// The pixel of a value held within the limits, also of an infinite one; `None` for NaN.
    pub fn clamped(&self, value: f64) -> Option<f64> {
        self.position(value.clamp(self.low, self.high))
    }

    /// Ticks at round values inside the limits, about `target` of them with labels.
    pub fn ticks(&self, target: usize) -> Vec<Tick> {
        match self.kind {
            Kind::Linear => linear_ticks(self.low, self.high, target.max(2)),
            Kind::Log => log_ticks(self.low, self.high, target.max(2)),
        }
    }
}

/// Smallest and largest finite value; `(NaN, NaN)` if there is none.
pub(crate) fn extent<I: IntoIterator<Item = f64>>(values: I) -> (f64, f64) {
    values
        .into_iter()
        .filter(|v| v.is_finite())
        .fold((f64::NAN, f64::NAN), |(low, high), v| (low.min(v), high.max(v)))
}

/// An interval longer than this many times the middle length may run off the axis.
const RUNAWAY: f64 = 8.0;
/// It does if the axis would otherwise be this many times as long.
const SQUEEZED: f64 = 4.0;

/// The limits of an axis for intervals around estimates, without those that would squeeze all others.
pub(crate) fn without_runaways(intervals: &[(f64, f64, f64)]) -> (f64, f64) {
    let ends = |(estimate, lower, upper): &(f64, f64, f64)| [*estimate, *lower, *upper];
    let whole = extent(intervals.iter().flat_map(ends));
    let length = |(_, lower, upper): &(f64, f64, f64)| upper - lower;
    let mut lengths: Vec<f64> = intervals.iter().map(length).filter(|l| l.is_finite()).collect();
    if lengths.len() < 3 {
        return whole;
    }
    lengths.sort_by(f64::total_cmp);
    let most = RUNAWAY * lengths[(lengths.len() - 1) / 2];
    let (estimates, kept) = (
        intervals.iter().map(|(estimate, ..)| *estimate),
        intervals.iter().filter(|interval| length(interval) <= most).flat_map(ends),
    );
    let (low, high) = extent(kept.chain(estimates));
    if (high - low) * SQUEEZED < whole.1 - whole.0 { (low, high) } else { whole }
}

fn repaired(low: f64, high: f64) -> (f64, f64) {
    if !low.is_finite() || !high.is_finite() {
        return (0.0, 1.0);
    }
    let (low, high) = (low.min(high), low.max(high));
    let (low, high) = (low.clamp(-LARGEST, LARGEST), high.clamp(-LARGEST, LARGEST));
    let size = low.abs().max(high.abs());
    // Below this width neighbouring ticks could not be told apart as doubles.
    let least = (size * 1e-11).max(1e-300);
    if high - low > least {
        (low, high)
    } else {
        let pad = if size > 0.0 { size * 0.05 } else { 0.5 };
        ((low - pad).max(-LARGEST), (high + pad).min(LARGEST))
    }
}

fn linear_ticks(low: f64, high: f64, target: usize) -> Vec<Tick> {
    let step = nice_step((high - low) / target as f64);
    let slack = (high - low) * 1e-9;
    let first = ((low - slack) / step).ceil();
    let last = ((high + slack) / step).floor();
    let size = low.abs().max(high.abs());
    (0..=(last - first).clamp(0.0, 200.0) as usize)
        .map(|i| {
            let value = (first + i as f64) * step;
            Tick { value, label: linear_label(value, step, size) }
        })
        .filter(|tick| tick.value >= low - slack && tick.value <= high + slack)
        .collect()
}

/// The one of 1, 2, 5 times a power of ten that is nearest to `raw` as a ratio.
fn nice_step(raw: f64) -> f64 {
    let power = 10f64.powf(raw.log10().floor());
    let fraction = raw / power;
    let borders = [(2f64.sqrt(), 1.0), (10f64.sqrt(), 2.0), (50f64.sqrt(), 5.0)];
    let factor = borders.into_iter().find(|(border, _)| fraction <= *border);
    power * factor.map_or(10.0, |(_, factor)| factor)
}

fn linear_label(value: f64, step: f64, size: f64) -> String {
    let decimals = (-(step.log10() + 1e-9).floor()).max(0.0);
    // Many digits are needed either way where the values are nearly equal: then plain is shorter.
    let nearly_equal = size / step >= 1e5 && size < 1e10;
    let scientific = (size >= 1e6 && !nearly_equal) || (size < 1e-3 && size > 0.0);
    if scientific || decimals > 9.0 {
        if value.abs() < step * 1e-6 {
            return "0".to_string();
        }
        let digits = (value.abs().log10().floor() - (step.log10() + 1e-9).floor()).clamp(0.0, 12.0);
        return with_minus(&format!("{value:.*e}", digits as usize));
    }
    with_minus(&format!("{value:.*}", decimals as usize))
}

fn log_ticks(low: f64, high: f64, target: usize) -> Vec<Tick> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let decades = high.log10() - low.log10();
    // Less than a decade and a half has too few powers of ten; then 1, 2, 5 are labelled, and
    // over less than a third of a decade the axis is as good as linear.
    if decades < 0.35 {
        return linear_ticks(low, high, target);
    }
    let labelled: &[u32] = if decades < 1.6 { &[1, 2, 5] } else { &[1] };
    let every = ((decades / target as f64).ceil() as i32).max(1);
    let slack = 1.0 + 1e-9;
    let mut ticks = Vec::new();
    for power in first..=last {
        for factor in 1..10u32 {
            let value = f64::from(factor) * 10f64.powi(power);
            if value < low / slack || value > high * slack {
                continue;
            }
            let label = labelled.contains(&factor) && power.rem_euclid(every) == 0;
            if !label && (every > 1 || decades > 7.0) {
                continue;
            }
            let label = if label { log_label(factor, power) } else { String::new() };
            ticks.push(Tick { value, label });
        }
    }
    ticks
}

fn log_label(factor: u32, power: i32) -> String {
    let value = f64::from(factor) * 10f64.powi(power);
    match power {
        -4..=-1 => format!("{value:.*}", power.unsigned_abs() as usize),
        0..=5 => format!("{value:.0}"),
        _ => with_minus(&format!("{factor}e{power}")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().filter(|t| !t.label.is_empty()).map(|t| t.label.as_str()).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(
            labels(&Scale::linear(0.0, 1.0).ticks(5)),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(labels(&Scale::linear(-3.0, 11.0).ticks(4)), ["0", "5", "10"]);
        assert_eq!(
            labels(&Scale::linear(-0.2, 0.2).ticks(4)),
            ["−0.2", "−0.1", "0.0", "0.1", "0.2"]
        );
        assert_eq!(labels(&Scale::log(0.001, 1.0).ticks(4)), ["0.001", "0.01", "0.1", "1"]);
        assert_eq!(labels(&Scale::log(0.15, 1.2).ticks(4)), ["0.2", "0.5", "1"]);
        assert_eq!(labels(&Scale::linear(0.0, 4e7).ticks(4)), ["0", "1e7", "2e7", "3e7", "4e7"]);
    }

    #[test]
    fn one_runaway_does_not_squeeze_the_others() {
        let usual = [(0.0, -1.0, 1.0), (0.5, -0.6, 1.4), (0.1, -1.0, 1.2)];
        assert_eq!(without_runaways(&usual), (-1.0, 1.4));
        let mut with = usual.to_vec();
        with.push((0.2, -1e9, 40.0));
        assert_eq!(without_runaways(&with), (-1.0, 1.4));
        // Only a little longer, or one of two: then the axis holds all.
        assert_eq!(without_runaways(&[usual[0], usual[1], (0.0, -3.0, 3.0)]), (-3.0, 3.0));
        assert_eq!(without_runaways(&[usual[0], (0.0, -99.0, 99.0)]), (-99.0, 99.0));
        assert!(without_runaways(&[]).0.is_nan());
    }

    #[test]
    fn impossible_limits_still_give_an_axis() {
        for (low, high) in [
            (f64::NAN, 1.0),
            (f64::NEG_INFINITY, f64::INFINITY),
            (3.0, 3.0),
            (0.0, 0.0),
            (-f64::MAX, f64::MAX),
            (1e16, 1e16 + 2.0),
            (5.0, 1.0),
        ] {
            for scale in [Scale::linear(low, high), Scale::log(low, high)] {
                let (a, b) = scale.limits();
                assert!(a.is_finite() && b.is_finite() && a < b, "{low} {high}: {a} {b}");
                assert!(scale.onto(0.0, 100.0).ticks(5).len() < 250);
                assert!(scale.position(f64::NAN).is_none());
            }
        }
        assert!(Scale::log(0.1, 1.0).position(0.0).is_none());
    }

    proptest! {
        #[test]
        fn linear_ticks_rise_inside_the_limits(low in -1e9..1e9f64, span in 1e-3..1e9f64, target in 2..12usize) {
            let scale = Scale::linear(low, low + span).onto(0.0, 300.0);
            let ticks = scale.ticks(target);
            prop_assert!(!ticks.is_empty() && ticks.len() <= target * 3 / 2 + 2, "{ticks:?}");
            for pair in ticks.windows(2) {
                prop_assert!(pair[0].value < pair[1].value);
                prop_assert_ne!(&pair[0].label, &pair[1].label);
            }
            for tick in &ticks {
                let x = scale.position(tick.value).unwrap();
                prop_assert!((-0.01..=300.01).contains(&x));
            }
        }

        #[test]
        fn log_ticks_rise_inside_the_limits(low in -250.0..250.0f64, decades in 0.01..40.0f64, target in 2..12usize) {
            let scale = Scale::log(10f64.powf(low), 10f64.powf(low + decades)).onto(0.0, 300.0);
            let ticks = scale.ticks(target);
            prop_assert!(labels(&ticks).len() <= 2 * target + 3, "{ticks:?}");
            for pair in ticks.windows(2) {
                prop_assert!(pair[0].value < pair[1].value);
            }
        }
    }
}
