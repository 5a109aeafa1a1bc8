//! Fixed points of the published implementation, both updates, plain and accelerated.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking")]

mod common;

use common::{assert_close, dataset, grouped, json, numbers};
use trustvb::fit::{Fit, FitOptions, Start, Status, Stopping, fit};
use trustvb::linalg::unpack;
use trustvb::model::{Bmlr, BmlrPrior, Gmm, GmmPrior, Model, Noise, Update};

/// Both ways of iterating, far enough that the plain one is within 1e-6 too.
fn both_ways() -> [FitOptions; 2] {
    let plain = FitOptions {
        stopping: Stopping::Relative(1e-13),
        max_sweeps: 20_000,
        acceleration: 0,
        trace: true,
    };
    [plain.clone(), FitOptions { acceleration: 5, ..plain }]
}

fn run(model: &dyn Model, omega: f64, centres: Vec<f64>, options: &FitOptions) -> Fit {
    let fit = fit(model, None, omega, &Start::Centres(centres), options, &mut |_| ()).unwrap();
    assert!(
        matches!(fit.outcome.status, Status::Converged | Status::Stalled),
        "{:?}",
        fit.outcome.status
    );
    fit
}

#[test]
fn gaussian_mixtures() {
    let golden = json("gmm_fixpoints.json");
    for (case, expected) in golden["fits"].as_array().unwrap().iter().enumerate() {
        let about = golden["datasets"]
            .as_array()
            .unwrap()
            .iter()
            .find(|d| d["name"] == expected["dataset"])
            .unwrap();
        let data = dataset(about["csv"].as_str().unwrap());
        let (k, p) = (about["K"].as_u64().unwrap() as usize, data.n_columns());
        let update = match expected["update"].as_str().unwrap() {
            "as_printed" => Update::AsPrinted,
            _ => Update::Corrected,
        };
        let omega = expected["omega"].as_f64().unwrap();
        let model = Gmm::new(&data, k, GmmPrior::paper(), update).unwrap();
        for options in both_ways() {
            let what =
                format!("case {case}: {update:?} omega {omega} depth {}", options.acceleration);
            let fit = run(&model, omega, numbers(&about["initial_centres"]), &options);
            println!("{what}: {} sweeps {:?}", fit.outcome.sweeps, fit.outcome.status);
            let alpha = fit.posterior.dirichlet("pi").unwrap().alpha();
            assert_close(&what, alpha, &numbers(&expected["alpha"]), 1e-6);
            for c in 0..k {
                let block = fit.posterior.normal_wishart("mu_lambda", c).unwrap();
                assert_close(&what, block.mean(), &numbers(&expected["m"][c]), 1e-6);
                let w: Vec<f64> = unpack(p, &block.w().unwrap()).concat();
                assert_close(&what, &w, &numbers(&expected["W"][c]), 1e-6);
                assert_close(&what, &[block.nu], &numbers(&expected["nu"][c]), 1e-6);
                assert_close(&what, &[block.beta], &numbers(&expected["beta"][c]), 1e-6);
            }
            assert_close(&what, &[fit.outcome.bound], &numbers(&expected["bound"]), 1e-6);
        }
    }
}

#[test]
fn mixtures_of_regressions() {
    let golden = json("bmlr_fixpoints.json");
    let about = &golden["datasets"][0];
    let data = grouped("bmlr_small.csv", "y ~ 0 + x1 + x2 | group");
    let model = Bmlr::new(&data, 2, BmlrPrior::paper(), Noise::Known(1.0)).unwrap();
    for expected in golden["fits"].as_array().unwrap() {
        let omega = expected["omega"].as_f64().unwrap();
        for options in both_ways() {
            let what = format!("omega {omega} depth {}", options.acceleration);
            let fit = run(&model, omega, numbers(&about["initial_centres"]), &options);
            println!("{what}: {} sweeps {:?}", fit.outcome.sweeps, fit.outcome.status);
            let alpha = fit.posterior.dirichlet("pi").unwrap().alpha();
            assert_close(&what, alpha, &numbers(&expected["alpha"]), 1e-6);
            for c in 0..2 {
                let beta = fit.posterior.mv_normal("beta", c).unwrap();
                assert_close(&what, beta.mean(), &numbers(&expected["m"][c]), 1e-6);
                let s: Vec<f64> = unpack(2, beta.covariance()).concat();
                assert_close(&what, &s, &numbers(&expected["S"][c]), 1e-6);
                let tau = fit.posterior.gamma("tau", c).unwrap();
                assert_close(&what, &[tau.a], &numbers(&expected["a"][c]), 1e-6);
                assert_close(&what, &[tau.b], &numbers(&expected["b"][c]), 1e-6);
            }
            assert_close(&what, &[fit.outcome.bound], &numbers(&expected["bound"]), 1e-6);
        }
    }
}
