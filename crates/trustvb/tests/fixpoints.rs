//! Fixed points of the published implementation and of the default prior, plain and accelerated.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking")]

mod common;

use common::{assert_close, dataset, grouped, json, numbers};
use trustvb::fit::{Fit, FitOptions, Start, Status, Stopping, fit};
use trustvb::linalg::unpack;
use trustvb::model::{Bmlr, BmlrPrior, Covariance, Gmm, GmmPrior, Model, Noise, ShapedGmm, Update};

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

/// A scale that is learned, with ties of several strengths, and for one matrix that all components have.
#[test]
fn the_default_prior() {
    let golden = json("pooled_fixpoints.json");
    for expected in golden["fits"].as_array().unwrap() {
        let shape = Covariance::named(expected["covariance"].as_str().unwrap()).unwrap();
        let columns: Vec<String> =
            numbers(&expected["columns"]).iter().map(|j| j.to_string()).collect();
        let data = dataset(expected["csv"].as_str().unwrap()).select(&columns).unwrap();
        let prior: GmmPrior = serde_json::from_value(expected["prior"].clone()).unwrap();
        let omega = expected["omega"].as_f64().unwrap();
        let centres = numbers(&expected["initial_centres"]);
        let (p, k) = (data.n_columns(), centres.len() / data.n_columns());
        let model: Box<dyn Model> = match shape {
            Covariance::Full => {
                Box::new(Gmm::new(&data, k, prior.clone(), Update::Corrected).unwrap())
            }
            _ => Box::new(ShapedGmm::new(&data, k, prior.clone(), shape).unwrap()),
        };
        for options in both_ways() {
            let what = format!(
                "{} {shape}, p = {p}, omega {omega}, {}, depth {}",
                expected["csv"], expected["prior"], options.acceleration
            );
            let fit = run(model.as_ref(), omega, centres.clone(), &options);
            println!("{what}: {} sweeps {:?}", fit.outcome.sweeps, fit.outcome.status);
            assert_close(&what, &[fit.outcome.bound], &numbers(&expected["bound"]), 1e-9);
            let alpha = fit.posterior.dirichlet("pi").unwrap().alpha();
            assert_close(&what, alpha, &numbers(&expected["alpha"]), 1e-6);
            for c in 0..k {
                let own = if shape == Covariance::Full { c } else { 0 };
                let block = fit.posterior.normal_wishart("mu_lambda", c).unwrap();
                assert_close(&what, &[block.beta], &numbers(&expected["beta"][c]), 1e-6);
                assert_close(&what, block.mean(), &numbers(&expected["m"][c]), 1e-6);
                assert_close(&what, &[block.nu], &numbers(&expected["nu"][own]), 1e-6);
                let w_inverse = unpack(p, block.w_inverse()).concat();
                assert_close(&what, &w_inverse, &numbers(&expected["W_inverse"][own]), 1e-6);
                if shape == Covariance::Full {
                    // A state ends with the probabilities of a component's ties but the first.
                    let ties = numbers(&expected["ties"][c]);
                    let end = (c + 1) * fit.state.len() / k;
                    let found = &fit.state[end + 1 - ties.len()..end];
                    for (found, tie) in found.iter().zip(&ties[1..]) {
                        assert!((found - tie).abs() < 1e-6, "{what}: {found} {tie}");
                    }
                }
            }
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
