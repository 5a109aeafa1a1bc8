//! Each unit's influence against brute force: its weight up and down a little, and two refits.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::simulate::{Mixture, Regressions};
use trustvb::fit::{Driver, FitOptions, Linearisation, Start, Status, Stopping, fit};
use trustvb::linalg::packed_index;
use trustvb::model::{Bmlr, BmlrPrior, Covariance, Gmm, GmmPrior, Model, Noise, ShapedGmm, Update};
use trustvb::posterior::Posterior;

/// Change of a weight: small against 1, large against the error of a fixed point.
const STEP: f64 = 1e-4;
/// Agreement, as a share of the largest influence of a unit.
const TOLERANCE: f64 = 1e-3;
/// Units that are refitted: every so many.
const EVERY: usize = 9;

type Function = fn(&Posterior) -> f64;

fn tight() -> FitOptions {
    FitOptions { stopping: Stopping::Relative(1e-14), max_sweeps: 5000, ..FitOptions::default() }
}

fn weight(posterior: &Posterior) -> f64 {
    posterior.weights()[0]
}

const GMM: [(&str, Function); 3] = [
    ("weight", weight),
    ("mean", |q| q.normal_wishart("mu_lambda", 1).unwrap().mean()[0]),
    ("variance", |q| {
        let block = q.normal_wishart("mu_lambda", 0).unwrap();
        block.mean_covariance().unwrap()[packed_index(1, 1)]
    }),
];

const COLUMNS: [(&str, Function); 3] = [
    ("weight", weight),
    ("mean", |q| q.normal_wishart("mu_lambda.x1", 1).unwrap().mean()[0]),
    ("variance", |q| q.normal_wishart("mu_lambda.x2", 0).unwrap().mean_covariance().unwrap()[0]),
];

const BMLR: [(&str, Function); 3] = [
    ("weight", weight),
    ("coefficient", |q| q.mv_normal("beta", 1).unwrap().mean()[0]),
    // Of the noise when it is estimated, of a coefficient otherwise.
    ("variance", |q| match q.gamma("noise", 0) {
        Some(noise) => noise.b / noise.a,
        None => q.mv_normal("beta", 0).unwrap().covariance()[packed_index(1, 1)],
    }),
];

/// `h` of the fixed point for these weights, found from one nearby.
fn refit(model: &dyn Model, weights: &[f64], omega: f64, state: &[f64]) -> Posterior {
    let mut sweeper = model.sweeper();
    sweeper.load(Some(weights)).unwrap();
    let mut state = state.to_vec();
    let outcome =
        Driver::new(model).run(sweeper.as_mut(), omega, &mut state, &tight(), &mut |_| ());
    assert!(matches!(outcome.status, Status::Converged | Status::Stalled), "{outcome:?}");
    sweeper.posterior(omega, &state).unwrap()
}

fn check(what: &str, model: &dyn Model, centres: &[f64], functions: &[(&str, Function)]) {
    let n = model.n_units();
    let uneven: Vec<f64> = (0..n).map(|i| 0.5 + (i % 4) as f64 / 2.0).collect();
    for omega in [1.0, 0.3] {
        for weights in [None, Some(&uneven)] {
            let weights = weights.map(Vec::as_slice);
            let start = Start::Centres(centres.to_vec());
            let fit = fit(model, weights, omega, &start, &tight(), &mut |_| ()).unwrap();
            let at = Linearisation::new(model, weights, omega, &fit.state).unwrap();
            let base = weights.map_or_else(|| vec![1.0; n], <[f64]>::to_vec);
            let moved: Vec<(usize, Posterior, Posterior)> = (0..n)
                .step_by(EVERY)
                .map(|unit| {
                    let [up, down] = [STEP, -STEP].map(|step| {
                        let mut weights = base.clone();
                        weights[unit] += step;
                        refit(model, &weights, omega, &fit.state)
                    });
                    (unit, up, down)
                })
                .collect();
            for (name, h) in functions {
                let influence = at.influence(model, h).unwrap();
                let largest = influence.psi.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                assert!(largest > 0.0 && influence.sd.is_finite());
                for (unit, up, down) in &moved {
                    let expected = (h(up) - h(down)) / (2.0 * STEP);
                    let got = influence.psi[*unit];
                    assert!(
                        (got - expected).abs() <= TOLERANCE * largest,
                        "{what}, omega {omega}, weighted {}, {name}, unit {unit}: \
                         {got} instead of {expected}, largest {largest}",
                        weights.is_some()
                    );
                }
            }
        }
    }
}

#[test]
fn of_a_gaussian_mixture() {
    let data = Mixture::new(11, 200, 2, 2, 2.5);
    let fixed = GmmPrior {
        alpha0: Some(0.5),
        m0: Some(vec![1.0, 1.0]),
        beta0: Some(0.5),
        nu0: Some(4.0),
        w0: Some(vec![vec![0.5, 0.1], vec![0.1, 0.4]]),
        ..GmmPrior::default()
    };
    for (what, prior) in
        [("default", GmmPrior::default()), ("paper", GmmPrior::paper()), ("explicit", fixed)]
    {
        let model = Gmm::new(&data.dataset(), 2, prior, Update::Corrected).unwrap();
        check(&format!("gmm, {what} prior"), &model, &data.centres, &GMM);
    }
}

#[test]
fn of_covariances_that_are_not_full() {
    let data = Mixture::new(11, 200, 2, 2, 2.5);
    let fixed = GmmPrior { w0: Some(vec![vec![0.5, 0.0], vec![0.0, 0.5]]), ..GmmPrior::default() };
    for (shape, functions) in [
        (Covariance::Tied, &GMM),
        (Covariance::Diagonal, &COLUMNS),
        (Covariance::Spherical, &COLUMNS),
    ] {
        for prior in [GmmPrior::default(), fixed.clone()] {
            let model = ShapedGmm::new(&data.dataset(), 2, prior, shape).unwrap();
            check(shape.name(), &model, &data.centres, functions);
        }
    }
}

#[test]
fn of_a_mixture_of_regressions() {
    let data = Regressions::new(12, 150, 1, 2, 1.5, true);
    for noise in [Noise::Known(1.0), Noise::Estimate] {
        let model = Bmlr::new(&data.grouped(), 2, BmlrPrior::default(), noise).unwrap();
        check(&format!("bmlr, noise {noise:?}"), &model, &data.centres, &BMLR);
    }
}
