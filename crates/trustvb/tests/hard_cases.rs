//! Data and weights at the edge: what has an answer gets a finite one, what has none says so.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::compare::{distance, gmm_in_units};
use common::simulate::{Mixture, Regressions, Weighting};
use trustvb::data::Dataset;
use trustvb::fit::{Fit, FitOptions, Start, Status, Stopping, fit};
use trustvb::model::{Bmlr, BmlrPrior, Degenerate, Gmm, GmmPrior, Model, Noise, Update};

const FAITHFUL_CENTRES: [f64; 4] = [2.0, 54.0, 4.3, 80.0];

fn run(
    model: &dyn Model,
    weights: Option<&[f64]>,
    omega: f64,
    centres: &[f64],
) -> Result<Fit, Degenerate> {
    let start = Start::Centres(centres.to_vec());
    fit(model, weights, omega, &start, &FitOptions::default(), &mut |_| ())
}

fn gmm(data: &Dataset, k: usize, prior: GmmPrior) -> Gmm {
    Gmm::new(data, k, prior, Update::Corrected).unwrap()
}

fn assert_finite(fit: &Fit) {
    assert!(fit.outcome.bound.is_finite());
    assert!(fit.posterior.parameters().iter().all(|x| x.is_finite()), "{:?}", fit.posterior);
    let total: f64 = fit.posterior.weights().iter().sum();
    assert!((total - 1.0).abs() < 1e-12);
}

/// A prior for Old Faithful that does not depend on the sample; its small `α0` keeps an emptied
/// component empty.
fn sparse_prior() -> GmmPrior {
    GmmPrior {
        alpha0: Some(1e-3),
        m0: Some(vec![3.0, 70.0]),
        beta0: Some(0.5),
        nu0: Some(4.0),
        w0: Some(vec![vec![1.0, 0.0], vec![0.0, 0.01]]),
        ..GmmPrior::default()
    }
}

#[test]
fn an_emptied_component_is_the_prior() {
    let data = Dataset::faithful();
    let centres = [FAITHFUL_CENTRES.as_slice(), &[1e4, -1e5]].concat();
    let fit = run(&gmm(&data, 3, sparse_prior()), None, 1.0, &centres).unwrap();
    assert_finite(&fit);
    assert_eq!(fit.outcome.status, Status::Converged);
    assert_eq!(fit.emptied, [2]);
    let block = fit.posterior.normal_wishart("mu_lambda", 2).unwrap();
    assert_eq!(fit.posterior.dirichlet("pi").unwrap().alpha()[2], 1e-3);
    assert_eq!((block.beta, block.nu), (0.5, 4.0));
    for (got, prior) in block.mean().iter().zip([3.0, 70.0]) {
        assert!((got - prior).abs() < 1e-12 * prior);
    }
    for (got, prior) in block.w_inverse().iter().zip([1.0, 0.0, 100.0]) {
        assert!((got - prior).abs() < 1e-10, "{got} {prior}");
    }
}

#[test]
fn a_centre_far_from_all_data_does_no_harm() {
    let centres = [FAITHFUL_CENTRES.as_slice(), &[1e200, -1e200]].concat();
    assert_finite(
        &run(&gmm(&Dataset::faithful(), 3, GmmPrior::default()), None, 1.0, &centres).unwrap(),
    );
    let data = Regressions::new(1, 60, 2, 2, 3.0, true);
    let centres = [data.centres.as_slice(), &[1e60, -1e60, 1e60]].concat();
    for noise in [Noise::Known(1.0), Noise::Estimate] {
        let model = Bmlr::new(&data.grouped(), 3, BmlrPrior::default(), noise).unwrap();
        assert_finite(&run(&model, None, 1.0, &centres).unwrap());
    }
}

#[test]
fn many_copies_of_few_rows() {
    // Five distinct rows twenty times: a component may sit on a single point.
    let few = Mixture::new(3, 5, 2, 3, 4.0);
    let data = few.repeated(&[20.0; 5]);
    let fit = run(&gmm(&data.dataset(), 3, GmmPrior::default()), None, 1.0, &few.centres).unwrap();
    assert_finite(&fit);
    assert!(!matches!(fit.outcome.status, Status::Degenerate(_)), "{:?}", fit.outcome.status);
    let few = Regressions::new(3, 6, 1, 2, 4.0, true);
    let data = few.repeated(&[20.0; 6]);
    for noise in [Noise::Known(1.0), Noise::Estimate] {
        let model = Bmlr::new(&data.grouped(), 2, BmlrPrior::default(), noise).unwrap();
        let fit = run(&model, None, 1.0, &few.centres).unwrap();
        assert_finite(&fit);
        assert!(!matches!(fit.outcome.status, Status::Degenerate(_)), "{:?}", fit.outcome.status);
    }
}

#[test]
fn tiny_and_huge_columns() {
    let data = Dataset::faithful();
    let fit = run(&gmm(&data, 2, GmmPrior::default()), None, 1.0, &FAITHFUL_CENTRES).unwrap();
    let scale = [1e-9, 1e9];
    let columns = (0..2).map(|j| data.column(j).iter().map(|x| x * scale[j]).collect()).collect();
    let scaled = Dataset::from_columns(data.names().to_vec(), columns).unwrap();
    let centres: Vec<f64> =
        FAITHFUL_CENTRES.iter().enumerate().map(|(i, x)| x * scale[i % 2]).collect();
    let other = run(&gmm(&scaled, 2, GmmPrior::default()), None, 1.0, &centres).unwrap();
    let apart = distance(&gmm_in_units(&fit.posterior, &[0.0; 2], &scale), &other.posterior);
    assert!(apart < 1e-8, "{apart}");
}

#[test]
fn twenty_components_in_fifty_columns() {
    let data = Mixture::new(5, 3000, 50, 20, 1.0);
    let model = gmm(&data.dataset(), 20, GmmPrior::default());
    let options = FitOptions { max_sweeps: 60, ..FitOptions::default() };
    let start = Start::Centres(data.centres.clone());
    let fit = fit(&model, None, 1.0, &start, &options, &mut |_| ()).unwrap();
    assert_finite(&fit);
    let Stopping::Relative(tolerance) = options.stopping else { unreachable!() };
    match fit.outcome.status {
        Status::Converged => assert!(fit.outcome.change <= tolerance),
        Status::HitLimit => assert_eq!(fit.outcome.sweeps, 60),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_resample_without_variation_is_degenerate() {
    let data = Dataset::faithful();
    let n = data.n_rows();
    let model = gmm(&data, 2, GmmPrior::default());
    // Every row alone, several times: rounding must not pass for variation.
    for unit in 0..n {
        let mut weights = vec![0.0; n];
        weights[unit] = 7.0;
        let result = run(&model, Some(&weights), 1.0, &FAITHFUL_CENTRES);
        assert!(matches!(result, Err(Degenerate::Prior(_))), "unit {unit}: {result:?}");
    }
    // Two different rows lie on a line.
    let mut weights = vec![0.0; n];
    (weights[0], weights[1]) = (3.0, 4.0);
    let result = run(&model, Some(&weights), 1.0, &FAITHFUL_CENTRES);
    assert!(matches!(result, Err(Degenerate::Prior(_))), "{result:?}");
    // Nothing at all.
    let result = run(&model, Some(&vec![0.0; n]), 1.0, &FAITHFUL_CENTRES);
    assert!(matches!(result, Err(Degenerate::Prior(_))), "{result:?}");
    // A prior that needs no data makes sense of all but the last.
    let fixed = gmm(&data, 2, sparse_prior());
    assert_finite(&run(&fixed, Some(&weights), 1.0, &FAITHFUL_CENTRES).unwrap());
    assert!(run(&fixed, Some(&vec![0.0; n]), 1.0, &FAITHFUL_CENTRES).is_err());
}

#[test]
fn a_column_that_is_constant_in_the_resample_is_degenerate() {
    let data = Dataset::faithful();
    let model = gmm(&data, 2, GmmPrior::default());
    for &value in data.column(1) {
        for weight in [1.0, 0.3, 1.7] {
            let weights: Vec<f64> =
                data.column(1).iter().map(|x| if *x == value { weight } else { 0.0 }).collect();
            let result = run(&model, Some(&weights), 1.0, &FAITHFUL_CENTRES);
            // Rounding may hide it from the prior; then the first sweeps find out.
            let found = match &result {
                Ok(fit) => matches!(fit.outcome.status, Status::Degenerate(_)),
                Err(_) => true,
            };
            assert!(found, "waiting = {value}, weight {weight}: {result:?}");
        }
    }
}

#[test]
fn one_group_and_no_group_of_regressions() {
    let data = Regressions::new(4, 40, 2, 2, 3.0, true);
    for noise in [Noise::Known(1.0), Noise::Estimate] {
        let model = Bmlr::new(&data.grouped(), 2, BmlrPrior::default(), noise).unwrap();
        let mut weights = vec![0.0; 40];
        assert!(run(&model, Some(&weights), 1.0, &data.centres).is_err());
        weights[7] = 5.0;
        assert_finite(&run(&model, Some(&weights), 1.0, &data.centres).unwrap());
    }
}

#[test]
fn next_to_no_data_leaves_the_prior() {
    for omega in [1e-6, 1e-12] {
        let model = gmm(&Dataset::faithful(), 2, sparse_prior());
        let fit = run(&model, None, omega, &FAITHFUL_CENTRES).unwrap();
        assert_finite(&fit);
        let block = fit.posterior.normal_wishart("mu_lambda", 0).unwrap();
        assert!((block.nu - 4.0).abs() <= 272.0 * omega + 1e-12);
        assert!((block.mean()[1] - 70.0).abs() <= 1e4 * omega + 1e-9);
        assert!((block.w_inverse()[2] - 100.0).abs() <= 1e6 * omega + 1e-9);
        let data = Regressions::new(4, 40, 2, 2, 3.0, true);
        for noise in [Noise::Known(1.0), Noise::Estimate] {
            let model = Bmlr::new(&data.grouped(), 2, BmlrPrior::default(), noise).unwrap();
            assert_finite(&run(&model, None, omega, &data.centres).unwrap());
        }
    }
}

/// The limit of sweeps falls on an accelerated step that has not been checked.
#[test]
fn a_fit_that_hits_its_limit_is_still_a_fit() {
    let data = Regressions::new(5387797341953895357, 86, 1, 3, 0.36359529625270515, true);
    let weights = Weighting::Fractional.draw(5387797341953895357, 86).unwrap();
    let model = Bmlr::new(&data.grouped(), 3, BmlrPrior::default(), Noise::Known(1.0)).unwrap();
    let start = Start::Centres(data.centres.clone());
    for max_sweeps in 1..400 {
        let options = FitOptions { max_sweeps, ..FitOptions::default() };
        let omega = 0.0010239899582130745;
        assert_finite(&fit(&model, Some(&weights), omega, &start, &options, &mut |_| ()).unwrap());
    }
}

/// At a converged fit the history of the acceleration is rounding, which may look like a saddle.
#[test]
fn a_step_off_a_saddle_does_no_harm() {
    let options = FitOptions {
        stopping: Stopping::Relative(1e-13),
        max_sweeps: 300,
        trace: true,
        ..FitOptions::default()
    };
    // Here the step made a count negative, and a converged fit was lost.
    let data = Regressions::new(2836444948132489213, 41, 1, 4, 3.7809086653349535, true);
    let weights = Weighting::Fractional.draw(2836444948132489213, 41).unwrap();
    let model = Bmlr::new(&data.grouped(), 4, BmlrPrior::default(), Noise::Known(1.0)).unwrap();
    let start = Start::Centres(data.centres.clone());
    let omega = 0.022272137898671295;
    let result = fit(&model, Some(&weights), omega, &start, &options, &mut |_| ());
    assert!(result.is_ok(), "{result:?}");
    // Here it lowered the bound of a fit that was at its maximum.
    let data = Regressions::new(15950658428706825024, 43, 3, 2, 4.9450684515121575, true);
    let model = Bmlr::new(&data.grouped(), 2, BmlrPrior::default(), Noise::Estimate).unwrap();
    let start = Start::Centres(data.centres.clone());
    let fit = fit(&model, None, 0.003035684316997993, &start, &options, &mut |_| ()).unwrap();
    for pair in fit.outcome.trace.windows(2) {
        assert!(pair[1] >= pair[0] - 1e-10, "{} to {}", pair[0], pair[1]);
    }
}
