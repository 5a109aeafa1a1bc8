//! Covariances that are tied, diagonal or spherical: fixed points of scikit-learn, laws, draws, and what goes wrong.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{assert_close, dataset, json, numbers};
use trustvb::data::Dataset;
use trustvb::fit::{Fit, FitOptions, Start, Status, Stopping, fit};
use trustvb::functional::{Draws, Functional};
use trustvb::linalg::packed_index;
use trustvb::model::{Covariance, GaussianMixture, GmmPrior, Model, ShapedGmm, Spec};
use trustvb::predict::{gmm_ln_density, gmm_ln_predictive, gmm_ln_rho};
use trustvb::problem::Problem;

const SHAPES: [Covariance; 3] = [Covariance::Tied, Covariance::Diagonal, Covariance::Spherical];

#[test]
fn fixed_points_agree_with_scikit_learn() {
    let golden = json("covariance_fixpoints.json");
    let fits = golden["fits"].as_array().unwrap();
    assert_eq!(fits.len(), 9);
    for expected in fits {
        let shape = Covariance::named(expected["covariance"].as_str().unwrap()).unwrap();
        let columns: Vec<String> =
            numbers(&expected["columns"]).iter().map(|j| (j + 1.0).to_string()).collect();
        let data = dataset(expected["csv"].as_str().unwrap()).select(&columns).unwrap();
        let prior: GmmPrior = serde_json::from_value(expected["prior"].clone()).unwrap();
        let centres = numbers(&expected["initial_centres"]);
        let p = data.n_columns();
        let k = centres.len() / p;
        let times = expected["times"].as_f64().unwrap();
        let model = ShapedGmm::new(&data, k, prior, shape).unwrap();
        for acceleration in [0, 5] {
            let what = format!("{} {shape}, p = {p}, depth {acceleration}", expected["csv"]);
            let options = FitOptions {
                stopping: Stopping::Relative(1e-13),
                max_sweeps: 20_000,
                acceleration,
                trace: false,
            };
            let start = Start::Centres(centres.clone());
            let fit = fit(&model, None, 1.0, &start, &options, &mut |_| ()).unwrap();
            assert!(matches!(fit.outcome.status, Status::Converged | Status::Stalled), "{what}");
            let alpha = fit.posterior.dirichlet("pi").unwrap().alpha();
            assert_close(&what, alpha, &numbers(&expected["weight_concentration_"]), 1e-6);
            for c in 0..k {
                for j in 0..p {
                    let what = format!("{what}, component {c}, column {j}");
                    let (name, at) = match shape {
                        Covariance::Tied => ("mu_lambda".to_owned(), j),
                        _ => (format!("mu_lambda.{}", data.names()[j]), 0),
                    };
                    let block = fit.posterior.normal_wishart(&name, c).unwrap();
                    let beta = &expected["mean_precision_"][c];
                    assert_close(&what, &[block.beta], &numbers(beta), 1e-6);
                    let mean = numbers(&expected["means_"][c]);
                    assert_close(&what, &[block.mean()[at]], &[mean[j]], 1e-6);
                    let (nu, covariance) = match shape {
                        Covariance::Tied => (
                            expected["degrees_of_freedom_"].as_f64().unwrap(),
                            numbers(&expected["covariances_"][j])[..=j].to_vec(),
                        ),
                        Covariance::Diagonal => (
                            expected["degrees_of_freedom_"][c].as_f64().unwrap(),
                            vec![numbers(&expected["covariances_"][c])[j]],
                        ),
                        _ => (
                            expected["degrees_of_freedom_"][c].as_f64().unwrap(),
                            numbers(&expected["covariances_"][c]),
                        ),
                    };
                    assert_close(&what, &[block.nu], &[times * nu], 1e-6);
                    let row = packed_index(at, 0);
                    let own: Vec<f64> =
                        block.w_inverse()[row..=row + at].iter().map(|x| x / block.nu).collect();
                    assert_close(&what, &own, &covariance, 1e-6);
                }
            }
        }
    }
}

fn fitted(shape: Covariance, k: usize) -> (Problem, Fit) {
    let problem = GaussianMixture::new(k).covariance(shape).bind(dataset("iris.csv")).unwrap();
    let fit = problem.fit().run().unwrap();
    (problem, fit)
}

/// With one column all shapes but the tied one are the same model; with one component the tied one is too.
#[test]
fn with_one_column_shapes_agree() {
    let data = Dataset::faithful().select(&["waiting".to_owned()]).unwrap();
    let fit = |shape: Covariance, k: usize| {
        let mixture = GaussianMixture::new(k).covariance(shape);
        mixture.bind(data.clone()).unwrap().fit().run().unwrap()
    };
    let full = fit(Covariance::Full, 2);
    for shape in [Covariance::Diagonal, Covariance::Spherical] {
        let other = fit(shape, 2);
        assert!((other.outcome.bound - full.outcome.bound).abs() < 1e-6, "{shape}");
        let (a, b) = (other.posterior.parameters(), full.posterior.parameters());
        assert_close(shape.name(), a, b, 1e-6);
    }
}

#[test]
fn starts_end_at_the_same_bound_and_all_rows_are_shared_out() {
    for shape in SHAPES {
        let (problem, first) = fitted(shape, 3);
        let again = problem.fit().seed(7).run().unwrap();
        let apart = (again.outcome.bound - first.outcome.bound).abs();
        assert!(apart < 1e-6, "{shape}: {apart}");
        let counts: f64 = first.posterior.dirichlet("pi").unwrap().alpha().iter().sum();
        assert!((counts - 153.0).abs() < 1e-9, "{shape}: {counts}");
        assert_eq!(first.outcome.status, Status::Converged, "{shape}");
    }
}

#[test]
fn every_quantity_has_a_value_under_every_shape() {
    for shape in SHAPES {
        let (_, fit) = fitted(shape, 2);
        let layout = fit.posterior.layout();
        let value = |text: &str| {
            let functional = Functional::parse(text, layout).unwrap();
            functional.parts()[0].plug_in(fit.posterior.parameters())
        };
        for text in ["pi[1]", "mu[1,petal_width]", "mu[2,3]", "sd[1,2]", "sigma[2,4,4]"] {
            assert!(value(text).is_finite(), "{shape} {text}");
        }
        assert!((value("sigma[2,3,3]") - value("sd[2,3]").powi(2)).abs() < 1e-12);
        assert_eq!(value("cor[1,2,2]"), 1.0);
        match shape {
            Covariance::Tied => {
                assert_ne!(value("cor[1,1,2]"), 0.0);
                assert_eq!(value("sigma[1,3,1]"), value("sigma[2,3,1]"));
            }
            _ => {
                assert_eq!(value("cor[1,1,2]"), 0.0);
                assert_eq!(value("sigma[2,1,3]"), 0.0);
            }
        }
        if shape == Covariance::Spherical {
            assert_eq!(value("sd[1,1]"), value("sd[1,4]"));
        }
        // What is one number has no difference, and what is exact says so.
        let exact = |text: &str| {
            let functional = Functional::parse(text, layout).unwrap();
            functional.parts()[0].exact().map(|law| law.describe())
        };
        assert_eq!(exact("mu[2,3]").unwrap(), "scaled t", "{shape}");
        assert_eq!(exact("sigma[2,3,3]").unwrap(), "inverse gamma", "{shape}");
        let same = match shape {
            Covariance::Tied => "sd[1,3] - sd[2,3]",
            Covariance::Spherical => "sd[2,1] - sd[2,4]",
            _ => "cor[1,3,2]",
        };
        assert_eq!(exact(same).unwrap(), "constant", "{shape}");
    }
}

/// Draws agree with the exact laws, and what is shared is the same number in every draw.
#[test]
fn draws_share_what_is_shared() {
    for shape in SHAPES {
        let (_, fit) = fitted(shape, 2);
        let layout = fit.posterior.layout();
        let parameters = fit.posterior.parameters();
        let draws = Draws::sample(layout, parameters, 5, 4000);
        for text in ["mu[1,2]", "mu[2,4]", "sigma[1,2,2]", "sigma[2,3,3]"] {
            let functional = Functional::parse(text, layout).unwrap();
            let part = &functional.parts()[0];
            let law = part.exact().unwrap();
            let mut places: Vec<f64> =
                draws.values(part).iter().map(|x| law.cdf(parameters, *x)).collect();
            places.sort_by(f64::total_cmp);
            // Kolmogorov's distance; 1.95/√n is exceeded once in a thousand times.
            let n = places.len() as f64;
            let distance = places
                .iter()
                .enumerate()
                .map(|(i, u)| (u - i as f64 / n).abs().max((u - (i + 1) as f64 / n).abs()))
                .fold(0.0, f64::max);
            assert!(distance < 1.95 / n.sqrt(), "{shape} {text}: {distance}");
        }
        // All values of a draw, component by component or column by column.
        let sigma = |block: &str, k: usize, at: usize| -> Vec<f64> {
            let (len, values) = draws.block(layout, block).unwrap();
            values.map(|draw| draw[k * len + at]).collect()
        };
        match shape {
            Covariance::Tied => {
                for at in 4..14 {
                    assert_eq!(sigma("mu_lambda", 0, at), sigma("mu_lambda", 1, at));
                }
                assert_ne!(sigma("mu_lambda", 0, 0), sigma("mu_lambda", 1, 0));
            }
            Covariance::Spherical => {
                let name = |column: &str| format!("mu_lambda.{column}");
                let first = sigma(&name("sepal_length"), 1, 1);
                assert_eq!(first, sigma(&name("petal_width"), 1, 1));
                assert_ne!(first, sigma(&name("petal_width"), 0, 1));
            }
            _ => {
                let first = sigma("mu_lambda.sepal_length", 1, 1);
                assert_ne!(first, sigma("mu_lambda.petal_width", 1, 1));
            }
        }
    }
}

/// New rows are treated as those of the fit, and densities integrate to one.
#[test]
fn predictions_agree_with_the_fit() {
    for shape in SHAPES {
        let (problem, fit) = fitted(shape, 3);
        let data = dataset("iris.csv");
        let columns: Vec<&[f64]> = (0..4).map(|j| data.column(j)).collect();
        let mut sweeper = problem.model().sweeper();
        sweeper.load(None).unwrap();
        let expected = sweeper.responsibilities_under(&fit.posterior).unwrap();
        let rho = gmm_ln_rho(&fit.posterior, &columns).unwrap();
        for (rho, expected) in rho.chunks_exact(3).zip(expected.chunks_exact(3)) {
            let largest = rho.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = rho.iter().map(|x| (x - largest).exp()).sum();
            for (x, r) in rho.iter().zip(expected) {
                assert!(((x - largest).exp() / total - r).abs() < 1e-9, "{shape}");
            }
        }
        // On the plane of two columns, by a grid.
        let plane = data.select(&["1".to_owned(), "3".to_owned()]).unwrap();
        let mixture = GaussianMixture::new(2).covariance(shape);
        let fit = mixture.bind(plane).unwrap().fit().run().unwrap();
        let step = 0.05;
        let cells: Vec<(f64, f64)> = (-100..400)
            .flat_map(|i| (-200..400).map(move |j| (f64::from(i) * step, f64::from(j) * step)))
            .collect();
        let (x, y): (Vec<f64>, Vec<f64>) = cells.into_iter().unzip();
        for (what, ln) in [
            ("predictive", gmm_ln_predictive(&fit.posterior, &[&x, &y]).unwrap()),
            ("density", gmm_ln_density(&fit.posterior, &[&x, &y]).unwrap()),
        ] {
            let total: f64 = ln.iter().map(|x| x.exp()).sum::<f64>() * step * step;
            assert!((total - 1.0).abs() < 1e-4, "{shape} {what}: {total}");
        }
    }
}

#[test]
fn settings_read_back_and_full_ones_are_as_before() {
    let text = serde_json::to_string(&GaussianMixture::new(2)).unwrap();
    assert!(!text.contains("covariance"), "{text}");
    for shape in Covariance::ALL {
        let spec = GaussianMixture::new(2).covariance(shape);
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<GaussianMixture>(&text).unwrap(), spec);
        let variables = vec!["a".to_owned(), "b".to_owned()];
        let said = spec.options(false);
        assert_eq!(said.is_empty(), shape == Covariance::Full);
        assert!(spec.in_words(&variables).contains("covariance"));
    }
}

#[test]
fn priors_that_do_not_go_with_a_shape_are_refused() {
    let given = |w0: [[f64; 2]; 2]| GmmPrior {
        w0: Some(w0.iter().map(|row| row.to_vec()).collect()),
        ..GmmPrior::default()
    };
    let loose = GmmPrior { loose: Some(0.2), ..GmmPrior::default() };
    let few = GmmPrior { nu0: Some(0.5), ..GmmPrior::default() };
    for (shape, prior, fragment) in [
        (Covariance::Tied, GmmPrior::paper(), "base must be \"default\" with tied"),
        (Covariance::Tied, loose, "leave it out with tied"),
        (Covariance::Tied, few.clone(), "nu0 is 0.5 but must be greater than 1"),
        (Covariance::Diagonal, given([[1.0, 0.1], [0.1, 1.0]]), "W0 must be diagonal"),
        (Covariance::Spherical, given([[1.0, 0.0], [0.0, 2.0]]), "multiple of the unit matrix"),
    ] {
        let error = ShapedGmm::new(&Dataset::faithful(), 2, prior, shape).unwrap_err();
        let message = error.to_string();
        assert!(message.contains(fragment), "{fragment:?} is not in {message:?}");
    }
    // One variance needs no more than one degree of freedom.
    assert!(ShapedGmm::new(&Dataset::faithful(), 2, few, Covariance::Diagonal).is_ok());
}

/// Columns that follow from others, and more of them than rows, are no obstacle where columns are independent.
#[test]
fn many_columns_need_no_full_covariance() {
    let value = |i: usize, j: usize| {
        let noise = ((i * 31 + j * 17) % 23) as f64 / 23.0;
        noise + if i.is_multiple_of(3) { 2.0 } else { 0.0 }
    };
    let mut columns: Vec<Vec<f64>> =
        (0..40).map(|j| (0..30).map(|i| value(i, j)).collect()).collect();
    columns.push(columns[0].clone());
    let names = (0..41).map(|j| format!("c{j}")).collect();
    let data = Dataset::from_columns(names, columns).unwrap();
    for shape in SHAPES {
        let model = ShapedGmm::new(&data, 2, GmmPrior::default(), shape);
        if shape == Covariance::Tied {
            assert!(model.unwrap_err().to_string().contains("30 rows for 41 columns"));
            continue;
        }
        let model = model.unwrap();
        let start = Start::KMeans { restarts: 4, seed: 1 };
        let found = fit(&model, None, 1.0, &start, &FitOptions::default(), &mut |_| ()).unwrap();
        let weights = found.posterior.weights();
        assert!((weights[0] - 21.0 / 32.0).abs() < 1e-6, "{shape}: {weights:?}");
    }
}

/// What the prior has made of a spread is told of the rows that it is about.
#[test]
fn the_usual_prior_leaves_spreads_alone() {
    for shape in SHAPES {
        let (problem, fit) = fitted(shape, 3);
        let made = problem.model().made_by_prior(&fit.posterior, None);
        assert_eq!(made.len(), 3);
        assert!(made.iter().all(|times| *times < 1.2), "{shape}: {made:?}");
    }
}

/// Emptied components, few rows, extreme scales: an answer, or a status.
#[test]
fn hard_cases_end_well() {
    for shape in SHAPES {
        for (k, scale) in [(1, 1.0), (5, 1e-6), (8, 1e6)] {
            let columns = (0..3)
                .map(|j| (0..20).map(|i| scale * f64::from((i * (7 + j)) % 11)).collect())
                .collect();
            let names = (0..3).map(|j| format!("c{j}")).collect();
            let data = Dataset::from_columns(names, columns).unwrap();
            let model = ShapedGmm::new(&data, k, GmmPrior::default(), shape).unwrap();
            for omega in [1.0, 0.01] {
                let start = Start::KMeans { restarts: 4, seed: 1 };
                let found =
                    fit(&model, None, omega, &start, &FitOptions::default(), &mut |_| ()).unwrap();
                let finite = found.posterior.parameters().iter().all(|x| x.is_finite());
                assert!(finite, "{shape}, k = {k}, omega {omega}");
                assert_eq!(found.state.len(), model.state_len());
            }
        }
    }
}
