//! The one root-finder behind all quantiles.

/// A tail probability at a trial point, with what is needed to improve the point.
pub(super) struct Trial {
    /// The tail probability.
    pub(super) tail: f64,
    /// The density at the point, on the scale searched.
    pub(super) density: f64,
    /// The derivative of the log density at the point.
    pub(super) slope: f64,
}

/// The point at which a tail equals `target`; a lower tail if `lower`, else an upper one.
///
/// Halley's method on the logarithm of the tail (which is concave whenever the density is log-concave),
/// kept inside a bracket that shrinks with every trial; a step that leaves the bracket or is not finite
/// is replaced by bisection, or by doubling while one end is still open. `bracket` is widened a little,
/// in case rounding has put the root just outside.
pub(super) fn solve(
    target: f64,
    lower: bool,
    start: f64,
    bracket: (f64, f64),
    trial: impl Fn(f64) -> Trial,
) -> f64 {
    let sign = if lower { 1.0 } else { -1.0 };
    let ln_target = target.ln();
    let (mut low, mut high) = (bracket.0 - 1e-6, bracket.1 + 1e-6);
    let mut point = start;
    let mut reach = 1.0;
    for _ in 0..200 {
        let Trial { tail, density, slope } = trial(point);
        let gap = if (tail - target).abs() < 0.1 * target {
            ((tail - target) / target).ln_1p()
        } else {
            tail.ln() - ln_target
        };
        if gap == 0.0 || gap.is_nan() {
            return point;
        }
        if (gap > 0.0) == lower {
            high = point;
        } else {
            low = point;
        }
        let hazard = density / tail;
        let newton = -sign * gap / hazard;
        let bend = 0.5 * newton * (slope - sign * hazard);
        let step = newton / (1.0 + bend.clamp(-0.5, 1.0));
        let mut next = point + step;
        if !(next > low && next < high) {
            if step.is_finite() && step.abs() <= 4.0 * f64::EPSILON * point.abs() {
                return point;
            }
            next = if low == f64::NEG_INFINITY {
                reach *= 2.0;
                high - reach
            } else if high == f64::INFINITY {
                reach *= 2.0;
                low + reach
            } else {
                0.5 * (low + high)
            };
        }
        if next == point || next == low || next == high {
            return next;
        }
        // The error after this step is of the order of its cube.
        let done = (next - point).abs() <= 1e-7 * (1.0 + point.abs()) * (1.0_f64).min(1.0 / hazard)
            || gap.abs() < 1e-15;
        point = next;
        if done {
            return point;
        }
    }
    point
}
