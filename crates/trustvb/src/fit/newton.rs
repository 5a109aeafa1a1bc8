//! Newton's steps, for fits that sweeps alone would bring to their end only after many hundreds more.
//!
//! Where components overlap, a sweep `G` goes a thousandth of the way along a ridge of the bound, or less. On a plateau its
//! derivative `J` even has eigenvalues above 1, and what acceleration learns from past sweeps leads back to where they came
//! from. The derivative itself takes one pass over the units. With `f = G(s) − s`, the solution of
//!
//! ```text
//! (I − J + σI) d = f
//! ```
//!
//! is Newton's step if σ = 0, and a short one along `f` if σ is large (Levenberg 1944, Marquardt 1963). σ grows until the bound
//! does not fall, and shrinks with every step that is taken.

use super::driver::{KICK, MAX_KICKS, is_below, relative_change};
use super::{FitOptions, Linearisation, Outcome, Progress, Status, Stopping};
use crate::linalg::Lu;
use crate::model::{Degenerate, Model, Sweeper};

/// Longer states have no such steps: the derivative would cost more than the sweeps that it saves.
pub(super) const MOST: usize = 300;

/// σ at first, by what it grows and shrinks, and below which it is 0.
const FIRST_SHIFT: f64 = 1e-3;
const MORE: f64 = 10.0;
const LESS: f64 = 0.1;
const NO_SHIFT: f64 = 1e-9;

/// So many σ are tried from one state before a plain sweep is taken instead.
const TRIES: usize = 5;

/// The longest step, as a share of the scale.
const LONGEST: f64 = 0.5;

/// Steps, after which sweeps have their turn again: so many, and as many as cost no more than the sweeps that are left. A
/// derivative costs about one for every eight numbers of the state.
const STEPS: usize = 100;
const NUMBERS_PER_SWEEP: usize = 8;

/// Eigenvalues of `J` above this are those of a saddle.
const EXPANDS: f64 = 1.0 + 1e-6;

/// Steps of the power method, and of the same with the inverse of `I − J`, whose eigenvalues near 0 are the other ones that
/// may be on the wrong side.
const POWER_STEPS: usize = 60;
const INVERSE_STEPS: usize = 20;

/// A fit at a state that has been swept.
struct Climb {
    omega: f64,
    state: Vec<f64>,
    next: Vec<f64>,
    scale: Vec<f64>,
    bound: f64,
    change: f64,
    sweeps: usize,
    shift: f64,
}

/// Goes on from `state`, which it replaces, until the change is within the tolerance, steps lead nowhere, or no sweeps are
/// left. `None` where there are no such steps.
pub(super) fn climb(
    (model, weights, omega): (&dyn Model, Option<&[f64]>, f64),
    sweeper: &mut dyn Sweeper,
    state: &mut [f64],
    options: &FitOptions,
    progress: &mut dyn FnMut(&Progress),
) -> Option<Outcome> {
    let Stopping::Relative(tolerance) = options.stopping else { return None };
    if state.len() > MOST || model.is_far() || !model.is_ascent() || options.acceleration == 0 {
        return None;
    }
    let mut climb = Climb {
        omega,
        state: state.to_vec(),
        next: vec![0.0; state.len()],
        scale: vec![0.0; state.len()],
        bound: f64::NEG_INFINITY,
        change: f64::INFINITY,
        sweeps: 0,
        shift: FIRST_SHIFT,
    };
    let here = climb.state.clone();
    climb.look(sweeper, here).ok()?;
    let mut trace = Vec::new();
    let mut kicks = 0;
    for _ in 0..STEPS.min(NUMBERS_PER_SWEEP * options.max_sweeps / state.len()) {
        if climb.sweeps + TRIES >= options.max_sweeps {
            break;
        }
        let derivative = Linearisation::matrix(model, weights, omega, &climb.state)?;
        if climb.change <= tolerance {
            if kicks == MAX_KICKS || !climb.step_off(sweeper, &derivative) {
                break;
            }
            kicks += 1;
        } else if !climb.step(sweeper, &derivative) {
            let plain = climb.next.clone();
            climb.look(sweeper, plain).ok()?;
        }
        if options.trace {
            trace.push(climb.bound);
        }
        let Climb { bound, change, sweeps, .. } = climb;
        progress(&Progress { start: 0, starts: 1, sweeps, bound, change });
    }
    let Climb { bound, change, sweeps, .. } = climb;
    let status = if change <= tolerance { Status::Converged } else { Status::HitLimit };
    state.copy_from_slice(&climb.next);
    Some(Outcome { bound, sweeps, change, status, trace })
}

impl Climb {
    /// Goes to `state`, if it can be swept and the bound is not lower there.
    fn look(&mut self, sweeper: &mut dyn Sweeper, state: Vec<f64>) -> Result<(), Degenerate> {
        self.sweeps += 1;
        let mut next = vec![0.0; state.len()];
        let bound = sweeper.sweep(self.omega, &state, &mut next)?;
        if bound.is_nan() || is_below(bound, self.bound) {
            return Err(Degenerate::NotFinite);
        }
        sweeper.scale(self.omega, &state, &mut self.scale);
        self.change = relative_change(&state, &next, &self.scale);
        (self.bound, self.state, self.next) = (bound, state, next);
        Ok(())
    }

    /// Leaves a saddle along a direction in which the bound rises; `false` where there is none.
    fn step_off(&mut self, sweeper: &mut dyn Sweeper, derivative: &[f64]) -> bool {
        let Some(along) = expanding(derivative, &self.scale) else { return false };
        let there: Vec<f64> = self.state.iter().zip(&along).map(|(s, d)| s + KICK * d).collect();
        self.shift = FIRST_SHIFT;
        self.look(sweeper, there).is_ok()
    }

    /// One step with the largest of a few shares of Newton's that does not lower the bound; `false` if all do.
    fn step(&mut self, sweeper: &mut dyn Sweeper, derivative: &[f64]) -> bool {
        let n = self.state.len();
        for _ in 0..TRIES {
            let mut shifted = derivative.to_vec();
            (0..n).for_each(|i| shifted[i * n + i] += self.shift);
            let mut step: Vec<f64> =
                self.next.iter().zip(&self.state).map(|(next, state)| next - state).collect();
            if let Some(lu) = Lu::new(n, shifted) {
                lu.solve(&mut step);
                let longest = step.iter().zip(&self.scale).map(|(d, s)| (d / s).abs());
                let longest = longest.fold(0.0, f64::max);
                let share = if longest > LONGEST { LONGEST / longest } else { 1.0 };
                let there: Vec<f64> =
                    self.state.iter().zip(&step).map(|(s, d)| s + share * d).collect();
                if longest.is_finite() && self.look(sweeper, there).is_ok() {
                    self.shift *= LESS;
                    if self.shift < NO_SHIFT {
                        self.shift = 0.0;
                    }
                    return true;
                }
            }
            self.shift = (self.shift * MORE).max(NO_SHIFT * MORE);
        }
        false
    }
}

/// A direction along which a sweep leads away from its fixed point, if there is one, given `I − J` there: as long as the scale
/// in its longest entry.
fn expanding(matrix: &[f64], scale: &[f64]) -> Option<Vec<f64>> {
    let n = scale.len();
    // In units of the scale: the same eigenvalues.
    let scaled: Vec<f64> =
        (0..n * n).map(|at| matrix[at] * scale[at % n] / scale[at / n]).collect();
    let times = |v: &[f64]| -> Vec<f64> {
        scaled.chunks_exact(n).map(|row| row.iter().zip(v).map(|(a, x)| a * x).sum()).collect()
    };
    let any: Vec<f64> = (0..n).map(|i| 1.0 + (i as f64).sin()).collect();
    let farthest = iterated(any.clone(), POWER_STEPS, |v| {
        let image = times(v);
        v.iter().zip(image).map(|(v, image)| v - image).collect()
    });
    let lu = Lu::new(n, scaled.clone());
    let nearest = lu.map(|lu| {
        iterated(any, INVERSE_STEPS, |v| {
            let mut solved = v.to_vec();
            lu.solve(&mut solved);
            solved
        })
    });
    [Some(farthest), nearest].into_iter().flatten().find_map(|v| {
        let image = times(&v);
        let squares: f64 = v.iter().map(|x| x * x).sum();
        let eigenvalue = 1.0 - v.iter().zip(&image).map(|(v, x)| v * x).sum::<f64>() / squares;
        let off = v.iter().zip(&image).map(|(v, x)| (v - x - eigenvalue * v).powi(2)).sum::<f64>();
        // A vector on its way to another eigenvalue says nothing.
        let is_one = off.sqrt() < 0.5 * (eigenvalue - 1.0) * squares.sqrt();
        let longest = v.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        (eigenvalue > EXPANDS && is_one)
            .then(|| v.iter().zip(scale).map(|(v, s)| v / longest * s).collect())
    })
}

/// What a linear map makes of a vector when it is applied again and again.
fn iterated(mut v: Vec<f64>, steps: usize, map: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    for _ in 0..steps {
        v = map(&v);
        let longest = v.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        v.iter_mut().for_each(|x| *x /= longest);
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::fit::Driver;
    use crate::model::{Gmm, GmmPrior, Update};
    use crate::special::normal;

    /// Four components for rows that spread as one Normal does: hardly anything says where they belong.
    fn ridge() -> Gmm {
        let rows = (0..400).map(|i| normal::quantile((f64::from(i) + 0.5) / 400.0)).collect();
        let data = Dataset::from_columns(vec!["x".to_owned()], vec![rows]).unwrap();
        Gmm::new(&data, 4, GmmPrior::default(), Update::Corrected).unwrap()
    }

    #[test]
    fn a_ridge_that_takes_sweeps_very_long_is_climbed() {
        let model = ridge();
        let mut sweeper = model.sweeper();
        sweeper.load(None).unwrap();
        let mut state = vec![0.0; model.state_len()];
        sweeper.start(1.0, &[-1.5, -0.4, 0.5, 1.4], &mut state).unwrap();
        let options = FitOptions { max_sweeps: 150, trace: true, ..FitOptions::default() };
        let mut driver = Driver::new(&model);
        let swept = driver.run(sweeper.as_mut(), 1.0, &mut state, &options, &mut |_| ());
        let what = (&model as &dyn Model, None, 1.0);
        let climbed = climb(what, sweeper.as_mut(), &mut state, &options, &mut |_| ()).unwrap();
        assert_eq!((&swept.status, &climbed.status), (&Status::HitLimit, &Status::Converged));
        let bounds: Vec<f64> = swept.trace.iter().chain(&climbed.trace).copied().collect();
        assert!(bounds.windows(2).all(|pair| !is_below(pair[1], pair[0])));
        // A fixed point, and no saddle: sweeps from nearby lead back.
        for sign in [-1.0, 1.0] {
            let mut near: Vec<f64> = state.iter().map(|s| s * (1.0 + sign * 1e-4)).collect();
            let options = FitOptions { max_sweeps: 2000, ..options.clone() };
            driver.run(sweeper.as_mut(), 1.0, &mut near, &options, &mut |_| ());
            for (near, there) in near.iter().zip(&state) {
                assert!((near - there).abs() < 1e-3 * (1.0 + there.abs()), "{near} {there}");
            }
        }
    }

    #[test]
    fn expanding_directions_are_found_far_from_1_and_near() {
        // I − J with eigenvalues 1 − μ in a basis that is not orthogonal: columns of V.
        let v = [[1.0, 0.2, 0.0], [0.3, 1.0, 0.1], [0.0, -0.2, 1.0]];
        let scale = [1.0, 10.0, 0.1];
        for (eigenvalues, along) in [
            ([1.3, 0.999, 0.2], Some(0)),
            ([0.9, 1.0001, 0.2], Some(1)),
            ([0.9, 0.9999, 0.2], None),
        ] {
            let lu = Lu::new(3, v.concat()).unwrap();
            let mut matrix = vec![0.0; 9];
            for j in 0..3 {
                // Column j of V (I − μ) V⁻¹.
                let mut unit = vec![0.0; 3];
                unit[j] = 1.0;
                lu.solve(&mut unit);
                for i in 0..3 {
                    matrix[i * 3 + j] =
                        (0..3).map(|k| v[i][k] * (1.0 - eigenvalues[k]) * unit[k]).sum();
                }
            }
            let found = expanding(&matrix, &scale);
            assert_eq!(found.is_some(), along.is_some(), "{eigenvalues:?}");
            if let (Some(found), Some(k)) = (found, along) {
                let ratio = found[0] / v[0][k];
                for i in 0..3 {
                    assert!((found[i] - ratio * v[i][k]).abs() < 1e-2 * scale[i], "{found:?}");
                }
            }
        }
    }
}
