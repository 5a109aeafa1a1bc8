//! The way to a fixed point near one that is known: one sweep says where to, the derivative says how far.
//!
//! A replicate's fixed point lies near that of all units. If `f` is the change that a sweep of the replicate makes at a state,
//! `(I − J)^-1 f` is Newton's step, up to the difference between its derivative and that of all units, `J`. It takes plain
//! sweeps many times over to go that far where components overlap. The matrix is made once for all replicates; the
//! driver checks every step that is made with it.

use super::Linearisation;
use crate::model::Model;
use std::sync::Arc;

/// Longer states have none: the matrix would cost more than the sweeps that it saves.
const MOST: usize = 128;

/// So many units for each number of the state: a step takes the square of its length, a sweep its length times the units.
const UNITS_EACH: usize = 4;

/// `(I − J)^-1` at a fixed point, column after column.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortcut(Arc<[f64]>);

impl Shortcut {
    /// At the fixed point `state` of all units; `None` where it would not pay, or where there is no derivative.
    pub(super) fn at(model: &dyn Model, omega: f64, state: &[f64]) -> Option<Shortcut> {
        let n = state.len();
        if n > MOST || UNITS_EACH * n > model.n_units() || model.is_far() || !model.is_ascent() {
            return None;
        }
        model.units()?;
        let rows = Linearisation::new(model, None, omega, state).ok()?.inverse()?;
        let columns: Vec<f64> = (0..n * n).map(|at| rows[at % n * n + at / n]).collect();
        columns.iter().all(|x| x.is_finite()).then(|| Shortcut(columns.into()))
    }

    /// Lengthens the step from `state` to `next`.
    pub(super) fn lengthen(&self, state: &[f64], next: &mut [f64], change: &mut [f64]) {
        for ((change, next), state) in change.iter_mut().zip(&mut *next).zip(state) {
            *change = *next - *state;
            *next = *state;
        }
        for (column, change) in self.0.chunks_exact(state.len()).zip(change) {
            for (next, m) in next.iter_mut().zip(column) {
                *next += m * *change;
            }
        }
    }

    /// For states whose new component `k` is the old component `order[k]`.
    pub(super) fn permuted(&self, order: &[usize]) -> Shortcut {
        let n = self.0.len().isqrt();
        let stride = n / order.len();
        let old = |entry: usize| order[entry / stride] * stride + entry % stride;
        Shortcut((0..n * n).map(|at| self.0[old(at / n) * n + old(at % n)]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::fit::{Driver, FitOptions, Outcome, Start, Status, fit, permute_state};
    use crate::model::{Gmm, GmmPrior, Update};
    use crate::random::{Purpose, index, stream};

    /// Each unit of Old Faithful drawn with replacement.
    fn bootstrap(n: usize, number: u64) -> Vec<f64> {
        let mut rng = stream(7, Purpose::FullBootstrap, number);
        let mut weights = vec![0.0; n];
        (0..n).for_each(|_| weights[index(&mut rng, n)] += 1.0);
        weights
    }

    fn run(
        model: &Gmm,
        weights: &[f64],
        from: &[f64],
        by: Option<&Shortcut>,
    ) -> (Vec<f64>, Outcome) {
        let mut sweeper = model.sweeper();
        sweeper.load(Some(weights)).unwrap();
        let mut driver = Driver::new(model);
        driver.state_mut().copy_from_slice(from);
        driver.begin(1.0, &FitOptions::default());
        driver.shorten(by);
        while let Some(sweep) = driver.wants() {
            let result = sweep.make(sweeper.as_mut());
            driver.take(result);
        }
        (driver.state().to_vec(), driver.outcome())
    }

    fn faithful(prior: GmmPrior) -> (Gmm, Vec<f64>, Shortcut) {
        let data = Dataset::faithful();
        let model = Gmm::new(&data, 2, prior, Update::Corrected).unwrap();
        let start = Start::KMeans { restarts: 2, seed: 1 };
        let all = fit(&model, None, 1.0, &start, &FitOptions::default(), &mut |_| ()).unwrap();
        let shortcut = Shortcut::at(&model, 1.0, &all.state).unwrap();
        (model, all.state, shortcut)
    }

    /// With ties of several strengths, less often: where a replicate has other ties than all units, its derivative is another.
    #[test]
    fn a_shortcut_leads_where_sweeps_lead_and_sooner() {
        let one_strength = GmmPrior { nu0: Some(8.0), ..GmmPrior::default() };
        for (prior, tenths) in [(GmmPrior::default(), 10), (one_strength, 9)] {
            let (model, from, shortcut) = faithful(prior);
            let (mut sooner, mut plain, mut often) = (0, 0, 0);
            for number in 0..20 {
                let weights = bootstrap(model.n_units(), number);
                let (there, outcome) = run(&model, &weights, &from, None);
                let (here, shortened) = run(&model, &weights, &from, Some(&shortcut));
                assert_eq!(shortened.status, Status::Converged);
                assert!((outcome.bound - shortened.bound).abs() < 1e-6);
                for (a, b) in there.iter().zip(&here) {
                    assert!((a - b).abs() <= 1e-7 * (1.0 + a.abs()), "{a} {b}");
                }
                sooner += shortened.sweeps;
                plain += outcome.sweeps;
                often += usize::from(shortened.sweeps < outcome.sweeps);
            }
            assert!(10 * sooner < tenths * plain, "{sooner} sweeps, {plain} without");
            assert!(often >= 15, "{often} of 20");
        }
    }

    #[test]
    fn a_first_step_is_newtons() {
        // Of the sample itself, from a state nearby: one step leaves the square of the error.
        let (model, fixed, shortcut) = faithful(GmmPrior::default());
        let mut sweeper = model.sweeper();
        sweeper.load(None).unwrap();
        for size in [1e-3, 1e-4] {
            let from: Vec<f64> = fixed.iter().map(|s| s * (1.0 + size)).collect();
            let mut next = vec![0.0; from.len()];
            sweeper.sweep(1.0, &from, &mut next).unwrap();
            shortcut.lengthen(&from, &mut next, &mut vec![0.0; from.len()]);
            for (a, b) in next.iter().zip(&fixed) {
                assert!((a - b).abs() <= 300.0 * size * size * (1.0 + b.abs()), "{size} {a} {b}");
            }
        }
    }

    #[test]
    fn other_numbers_of_components_give_the_same_steps() {
        let (model, fixed, shortcut) = faithful(GmmPrior::default());
        let order = [1, 0];
        let weights = bootstrap(model.n_units(), 3);
        let (there, _) = run(&model, &weights, &fixed, Some(&shortcut));
        let from = permute_state(&model, &order, &fixed);
        let (here, _) = run(&model, &weights, &from, Some(&shortcut.permuted(&order)));
        for (a, b) in permute_state(&model, &order, &there).iter().zip(&here) {
            assert!((a - b).abs() <= 1e-8 * (1.0 + a.abs()), "{a} {b}");
        }
    }
}
