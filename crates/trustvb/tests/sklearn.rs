//! Fixed points of scikit-learn's `BayesianGaussianMixture` at ω = 1, from the same prior and start.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{assert_close, dataset, json, numbers};
use trustvb::fit::{FitOptions, Start, Status, Stopping, fit};
use trustvb::linalg::unpack;
use trustvb::model::{Gmm, GmmPrior, Update};

#[test]
fn fixed_points_agree_with_scikit_learn() {
    let golden = json("sklearn_fixpoints.json");
    for expected in golden["fits"].as_array().unwrap() {
        let data = dataset(expected["csv"].as_str().unwrap());
        let prior: GmmPrior = serde_json::from_value(expected["prior"].clone()).unwrap();
        let centres = numbers(&expected["initial_centres"]);
        let p = data.n_columns();
        let k = centres.len() / p;
        let model = Gmm::new(&data, k, prior, Update::Corrected).unwrap();
        for acceleration in [0, 5] {
            let what = format!("{}, depth {acceleration}", expected["dataset"]);
            let options = FitOptions {
                stopping: Stopping::Relative(1e-13),
                max_sweeps: 20_000,
                acceleration,
                trace: false,
            };
            let start = Start::Centres(centres.clone());
            let fit = fit(&model, None, 1.0, &start, &options, &mut |_| ()).unwrap();
            assert!(
                matches!(fit.outcome.status, Status::Converged | Status::Stalled),
                "{what}: {:?}",
                fit.outcome.status
            );
            let alpha = fit.posterior.dirichlet("pi").unwrap().alpha();
            assert_close(&what, alpha, &numbers(&expected["weight_concentration_"]), 1e-6);
            for c in 0..k {
                let what = format!("{what}, component {c}");
                let block = fit.posterior.normal_wishart("mu_lambda", c).unwrap();
                assert_close(&what, &[block.beta], &numbers(&expected["mean_precision_"][c]), 1e-6);
                assert_close(&what, block.mean(), &numbers(&expected["means_"][c]), 1e-6);
                let nu = numbers(&expected["degrees_of_freedom_"][c]);
                assert_close(&what, &[block.nu], &nu, 1e-6);
                let covariance: Vec<f64> =
                    unpack(p, block.w_inverse()).concat().iter().map(|x| x / block.nu).collect();
                assert_close(&what, &covariance, &numbers(&expected["covariances_"][c]), 1e-6);
            }
        }
    }
}
