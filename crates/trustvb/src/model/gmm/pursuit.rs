//! Directions in which rows look least like one Gaussian, found by climbing from random ones.
//!
//! Whitening hides the direction that separates clusters: its variance becomes 1 like all others. What is left of it is in
//! higher moments: two clusters of like size have light tails across the gap, two of unlike sizes are skewed (Peña &
//! Prieto 2001). Along the great circle through two directions third and fourth moments are trigonometric polynomials of
//! the angle, so that each step searches the whole circle at the cost of one pass.

use super::rows::{Line, Rows};
use crate::linalg::square::{add_scaled, dot};
use crate::random::{index as some_index, uniform};
use crate::simd::LANES;
use rand_chacha::ChaCha8Rng;

/// What makes a direction interesting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Index {
    /// Light tails: a small fourth moment.
    Flatness,
    /// A large third moment, either way.
    Skewness,
}

/// Directions looked at before one is climbed from.
const TRIES: usize = 10;

/// Steps of a climb at most; it ends earlier when a step turns by less than this.
const STEPS: usize = 30;
const LITTLE: f64 = 1e-3;

/// Which share of the step before is added to the next one.
const MOMENTUM: f64 = 0.3;

/// Angles that are looked at on a great circle, half way round, and steps of golden section about the best of them.
const ANGLES: usize = 24;
const SECTIONS: usize = 20;

/// Weighted moments `E[u^(m−b) v^b]` of two projections, of third (m = 3) and fourth degree.
struct Mixed {
    third: [f64; 4],
    fourth: [f64; 5],
}

impl Mixed {
    fn new(u: &[f64], v: &[f64], weights: &[f64]) -> Mixed {
        let mut mixed = Mixed { third: [0.0; 4], fourth: [0.0; 5] };
        let mut total = 0.0;
        for ((u, v), w) in u.iter().zip(v).zip(weights) {
            total += w;
            let (uu, uv, vv) = (u * u, u * v, v * v);
            let third = [uu * u, uu * v, u * vv, vv * v];
            let fourth = [uu * uu, uu * uv, uu * vv, uv * vv, vv * vv];
            mixed.third.iter_mut().zip(third).for_each(|(sum, x)| *sum += w * x);
            mixed.fourth.iter_mut().zip(fourth).for_each(|(sum, x)| *sum += w * x);
        }
        mixed.third.iter_mut().for_each(|sum| *sum /= total);
        mixed.fourth.iter_mut().for_each(|sum| *sum /= total);
        mixed
    }

    /// How interesting the direction at this angle from the first to the second is.
    fn worth(&self, index: Index, angle: f64) -> f64 {
        let (s, c) = angle.sin_cos();
        let t = &self.third;
        let f = &self.fourth;
        match index {
            Index::Flatness => {
                let (cc, ss, cs) = (c * c, s * s, c * s);
                -(cc * cc * f[0]
                    + 4.0 * cc * cs * f[1]
                    + 6.0 * cc * ss * f[2]
                    + 4.0 * cs * ss * f[3]
                    + ss * ss * f[4])
            }
            Index::Skewness => {
                let third = c * c * c * t[0]
                    + 3.0 * c * c * s * t[1]
                    + 3.0 * c * s * s * t[2]
                    + s * s * s * t[3];
                third.abs()
            }
        }
    }

    /// The best angle on the whole circle.
    fn best(&self, index: Index) -> f64 {
        let step = std::f64::consts::PI / ANGLES as f64;
        let at = |i: usize| self.worth(index, i as f64 * step);
        let coarse = (0..ANGLES).fold(0, |best, i| if at(i) > at(best) { i } else { best });
        // Golden section about it.
        let ratio = 0.5 * (5.0_f64.sqrt() - 1.0);
        let (mut low, mut high) = ((coarse as f64 - 1.0) * step, (coarse as f64 + 1.0) * step);
        for _ in 0..SECTIONS {
            let (a, b) = (high - ratio * (high - low), low + ratio * (high - low));
            if self.worth(index, a) > self.worth(index, b) { high = b } else { low = a }
        }
        0.5 * (low + high)
    }
}

/// At most so many directions of whitened rows, at right angles to each other, each climbed to from the best of some random
/// ones.
pub(super) fn directions(
    white: &Rows,
    index: Index,
    most: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<Line> {
    let weights: Vec<f64> = white.weights.iter().flatten().copied().take(white.len()).collect();
    let mut found: Vec<Vec<f64>> = Vec::new();
    for _ in 0..most.min(white.p()) {
        let Some(from) = begun((white, &weights), index, &found, rng) else { break };
        found.push(climbed((white, &weights), index, &found, from));
    }
    found.into_iter().map(|slopes| Line { shift: 0.0, slopes }).collect()
}

/// The best of some random directions at right angles to those that were found.
fn begun(
    (white, weights): (&Rows, &[f64]),
    index: Index,
    found: &[Vec<f64>],
    rng: &mut ChaCha8Rng,
) -> Option<Vec<f64>> {
    let mut best: Option<(f64, Vec<f64>)> = None;
    for _ in 0..TRIES {
        // From one row to another: often from one cluster to another, where they are apart.
        let mut row = || white.row(some_index(rng, white.len()));
        let mut direction: Vec<f64> = row().zip(row()).map(|(a, b)| a - b).collect();
        if !normalise(&mut direction, found) {
            direction.iter_mut().for_each(|x| *x = uniform(rng) - 0.5);
            if !normalise(&mut direction, found) {
                continue;
            }
        }
        let along = project(white, &direction);
        let worth = Mixed::new(&along, &along, weights).worth(index, 0.0);
        if best.as_ref().is_none_or(|(most, _)| worth > *most) {
            best = Some((worth, direction));
        }
    }
    best.map(|(_, direction)| direction)
}

/// Where a climb from `direction` ends, at right angles to those that were found.
fn climbed(
    (white, weights): (&Rows, &[f64]),
    index: Index,
    found: &[Vec<f64>],
    mut direction: Vec<f64>,
) -> Vec<f64> {
    let mut along = project(white, &direction);
    let mut last = vec![0.0; white.p()];
    for _ in 0..STEPS {
        // Where the index rises fastest, with a share of the step before.
        let pull = |x: &f64| match index {
            Index::Flatness => -x * x * x,
            Index::Skewness => x * x,
        };
        let pulls: Vec<f64> = along.iter().zip(weights).map(|(x, w)| w * pull(x)).collect();
        let mut slope = gather(white, &pulls);
        add_scaled(-dot(&slope, &direction), &direction, &mut slope);
        add_scaled(-dot(&last, &direction), &direction, &mut last);
        let momentum = dot(&last, &last).sqrt();
        if momentum > 0.0 {
            let size = dot(&slope, &slope).sqrt();
            add_scaled(MOMENTUM * size / momentum, &last, &mut slope);
        }
        let others: Vec<Vec<f64>> = found.iter().chain([&direction]).cloned().collect();
        if !normalise(&mut slope, &others) {
            break;
        }
        let across = project(white, &slope);
        let (s, c) = Mixed::new(&along, &across, weights).best(index).sin_cos();
        for (x, y) in direction.iter_mut().zip(&slope).chain(along.iter_mut().zip(&across)) {
            *x = c * *x + s * y;
        }
        last = slope.iter().map(|x| s * x).collect();
        if s.abs() < LITTLE {
            break;
        }
    }
    normalise(&mut direction, found);
    direction
}

/// Made a unit vector at right angles to some others; false where nothing is left of it.
fn normalise(direction: &mut [f64], others: &[Vec<f64>]) -> bool {
    let before = dot(direction, direction).sqrt();
    for other in others {
        let share = dot(direction, other);
        direction.iter_mut().zip(other).for_each(|(x, o)| *x -= share * o);
    }
    let size = dot(direction, direction).sqrt();
    if !(size > 1e-8 * before && size.is_finite()) {
        return false;
    }
    direction.iter_mut().for_each(|x| *x /= size);
    true
}

/// Every row's coordinate along a direction.
fn project(rows: &Rows, direction: &[f64]) -> Vec<f64> {
    let mut out = Vec::with_capacity(rows.len() + LANES);
    for block in rows.blocks.chunks_exact(direction.len()) {
        let mut sum = [0.0; LANES];
        for (x, d) in block.iter().zip(direction) {
            sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += d * x);
        }
        out.extend_from_slice(&sum);
    }
    out.truncate(rows.len());
    out
}

/// The rows added up, each so many times.
fn gather(rows: &Rows, times: &[f64]) -> Vec<f64> {
    let p = rows.p();
    let mut out = vec![0.0; p];
    for (block, times) in rows.blocks.chunks_exact(p).zip(times.chunks(LANES)) {
        for (out, x) in out.iter_mut().zip(block) {
            *out += x.iter().zip(times).map(|(x, t)| x * t).sum::<f64>();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};
    use rand_distr::{Distribution, StandardNormal};

    /// White noise in six columns, of which the fourth has two clusters of these shares, made white too.
    fn clusters(share: f64) -> Rows {
        let mut rng = stream(5, Purpose::Simulate, 0);
        let (n, p, apart) = (400, 6, 4.0);
        let spread = (1.0 + apart * apart * share * (1.0 - share)).sqrt();
        let values: Vec<f64> = (0..n * p)
            .map(|at| {
                let noise: f64 = StandardNormal.sample(&mut rng);
                let second = ((at / p) as f64) < share * n as f64;
                match at % p {
                    3 => {
                        (noise + if second { apart * (1.0 - share) } else { -apart * share })
                            / spread
                    }
                    _ => noise,
                }
            })
            .collect();
        Rows::new(p, n, |i, j| values[i * p + j])
    }

    #[test]
    fn the_direction_of_clusters_is_found() {
        for (index, share) in [(Index::Flatness, 0.45), (Index::Skewness, 0.12)] {
            let rows = clusters(share);
            let found = directions(&rows, index, 2, &mut stream(1, Purpose::Start, 0));
            assert!(found[0].slopes[3].abs() > 0.95, "{index:?} {:?}", found[0].slopes);
            assert!(dot(&found[0].slopes, &found[1].slopes).abs() < 1e-8);
        }
    }

    #[test]
    fn moments_on_a_circle_are_those_of_the_projection() {
        let rows = clusters(0.3);
        let unit = |at: usize| (0..6).map(|j| f64::from(u8::from(j == at))).collect::<Vec<_>>();
        let (u, v) = (project(&rows, &unit(1)), project(&rows, &unit(3)));
        let weights: Vec<f64> = (0..u.len()).map(|i| 1.0 + (i % 3) as f64).collect();
        for index in [Index::Flatness, Index::Skewness] {
            let circle = Mixed::new(&u, &v, &weights);
            for angle in [0.3_f64, 1.9] {
                let (s, c) = angle.sin_cos();
                let along: Vec<f64> = u.iter().zip(&v).map(|(u, v)| c * u + s * v).collect();
                let direct = Mixed::new(&along, &along, &weights).worth(index, 0.0);
                assert!((circle.worth(index, angle) - direct).abs() < 1e-12);
            }
        }
    }
}
