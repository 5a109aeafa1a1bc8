//! Derivatives of sweeps as models say them, against differences of whole sweeps, for every model and prior.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::simulate::{Mixture, Regressions};
use trustvb::data::{ReadOptions, read_csv};
use trustvb::fit::{FitOptions, Linearisation, Start, Stopping, fit};
use trustvb::linalg::packed_index;
use trustvb::model::{
    Bmlr, BmlrPrior, ColumnMixture, ColumnType, Covariance, Gmm, GmmPrior, Model, Noise, PriorBase,
    ShapedGmm, Update,
};
use trustvb::posterior::Posterior;

/// Agreement, as a share of the largest influence of a unit.
const TOLERANCE: f64 = 1e-6;

/// What counts as no influence: a component without data has next to none on anything.
const NOTHING: f64 = 1e-12;

type Function = Box<dyn Fn(&Posterior) -> f64>;

/// Weights, centres, variances and their like: one parameter after the other, and something that uses them all.
fn functions(posterior: &Posterior) -> Vec<(String, Function)> {
    let names = posterior.layout().parameter_names();
    let mut functions: Vec<(String, Function)> = Vec::new();
    for (i, name) in names.iter().enumerate().filter(|(i, _)| i % 3 == 0) {
        functions.push((name.clone(), Box::new(move |q| q.parameters()[i])));
    }
    functions.push(("weight".to_owned(), Box::new(|q| q.weights()[0])));
    functions.push((
        "all".to_owned(),
        Box::new(|q| q.parameters().iter().map(|x| x / (1.0 + x.abs())).sum()),
    ));
    functions
}

/// The states of units that have lost nothing, some weight, or all of it.
fn uneven(n: usize) -> Vec<f64> {
    (0..n).map(|i| [0.5, 1.0, 0.0, 2.0][i % 4]).collect()
}

fn check(what: &str, model: &dyn Model, start: &Start) {
    let uneven = uneven(model.n_units());
    for (omega, weights) in [(1.0, None), (0.3, None), (0.6, Some(&uneven[..]))] {
        let options = FitOptions {
            stopping: Stopping::Relative(1e-13),
            max_sweeps: 5000,
            ..FitOptions::default()
        };
        let found = fit(model, weights, omega, start, &options, &mut |_| ()).unwrap();
        let state = &found.state;
        let oracle = Linearisation::by_differences(model, weights, omega, state).unwrap();
        let ways = [("a matrix", usize::MAX), ("applied", 0)].map(|(how, limit)| {
            let made = Linearisation::with_limit(model, weights, omega, state, limit);
            (how, made.unwrap())
        });
        for (name, h) in functions(&found.posterior) {
            let expected = oracle.influence(model, &h).unwrap();
            let largest = expected.psi.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            for (how, made) in &ways {
                let got = made.influence(model, &h).unwrap();
                let apart = got.psi.iter().zip(&expected.psi).map(|(a, b)| (a - b).abs());
                let apart = apart.fold(0.0_f64, f64::max);
                let here = format!("{what}, omega {omega}, {name}, {how}");
                assert!(apart <= TOLERANCE * largest + NOTHING, "{here}: {apart} of {largest}");
                let sd = (got.sd - expected.sd).abs();
                assert!(
                    sd <= TOLERANCE * (expected.sd + largest),
                    "{here}: {} {}",
                    got.sd,
                    expected.sd
                );
            }
        }
    }
}

fn priors() -> [(&'static str, GmmPrior); 5] {
    let given = GmmPrior {
        m0: Some(vec![1.0, 1.0]),
        w0: Some(vec![vec![0.5, 0.1], vec![0.1, 0.4]]),
        ..GmmPrior::default()
    };
    [
        ("default", GmmPrior::default()),
        ("tied only", GmmPrior { loose: Some(0.0), ..GmmPrior::default() }),
        ("paper", GmmPrior::paper()),
        ("standardised", GmmPrior { base: PriorBase::Standardised, ..GmmPrior::default() }),
        ("given", given),
    ]
}

#[test]
fn of_full_covariances() {
    let data = Mixture::new(21, 150, 2, 3, 2.5);
    let start = Start::Centres(data.centres.clone());
    for (what, prior) in priors() {
        for update in [Update::Corrected, Update::AsPrinted] {
            let model = Gmm::new(&data.dataset(), 3, prior.clone(), update).unwrap();
            check(&format!("gmm, prior {what}, {update:?}"), &model, &start);
        }
    }
    // More columns than a tile of the kernels has.
    let data = Mixture::new(22, 400, 7, 2, 1.2);
    let start = Start::Centres(data.centres.clone());
    let model = Gmm::new(&data.dataset(), 2, GmmPrior::default(), Update::Corrected).unwrap();
    check("gmm, 7 columns", &model, &start);
}

#[test]
fn of_other_covariances() {
    let data = Mixture::new(23, 150, 2, 3, 2.0);
    let start = Start::Centres(data.centres.clone());
    for shape in [Covariance::Tied, Covariance::Diagonal, Covariance::Spherical] {
        let given = GmmPrior {
            m0: Some(vec![1.0, 1.0]),
            w0: Some(vec![vec![0.5, 0.0], vec![0.0, 0.5]]),
            ..GmmPrior::default()
        };
        let strong = GmmPrior { nu0: Some(30.0), ..GmmPrior::default() };
        let priors = [("default", GmmPrior::default()), ("strong", strong), ("given", given)];
        for (what, prior) in priors {
            let model = ShapedGmm::new(&data.dataset(), 3, prior, shape).unwrap();
            check(&format!("{}, prior {what}", shape.name()), &model, &start);
        }
    }
}

#[test]
fn of_regressions() {
    let data = Regressions::new(24, 120, 2, 2, 1.5, true);
    let start = Start::Centres(data.centres.clone());
    for noise in [Noise::Known(1.0), Noise::Estimate] {
        let model = Bmlr::new(&data.grouped(), 2, BmlrPrior::default(), noise).unwrap();
        check(&format!("bmlr, noise {noise:?}"), &model, &start);
    }
}

#[test]
fn of_columns_of_any_kind() {
    let mut text = String::from("kind,visits,size");
    for i in 0..160_u32 {
        let class = i % 2;
        let size = if i % 11 == 0 {
            String::new()
        } else {
            format!("{}", f64::from(class) * 2.0 + f64::from(i * 37 % 23) / 7.0)
        };
        let visits = class * 3 + i * 13 % 5;
        text += &format!("\n{},{visits},{size}", ["a", "b", "c"][(i * 7 % 5 + class) as usize % 3]);
    }
    let options = ReadOptions { as_text: true, keep_missing: true, ..ReadOptions::default() };
    let frame = read_csv(text.as_bytes(), "columns.csv", &options).unwrap();
    let types = [
        ("kind".to_owned(), ColumnType::Category),
        ("visits".to_owned(), ColumnType::Count),
        ("size".to_owned(), ColumnType::Gaussian),
    ];
    let problem = ColumnMixture::new(2).bind(&frame, &types).unwrap();
    check("mixture", problem.model().as_ref(), &Start::KMeans { restarts: 3, seed: 1 });
}

/// Several pieces of work, and the same bits for any number of threads, whether there is a matrix or not.
#[test]
fn threads_change_no_bit() {
    let data = Mixture::new(25, 20_000, 3, 2, 1.5);
    let model = Gmm::new(&data.dataset(), 2, GmmPrior::default(), Update::Corrected).unwrap();
    let start = Start::Centres(data.centres.clone());
    let found = fit(&model, None, 1.0, &start, &FitOptions::default(), &mut |_| ()).unwrap();
    let h = |q: &Posterior| {
        let block = q.normal_wishart("mu_lambda", 0).unwrap();
        block.mean_covariance().unwrap()[packed_index(2, 1)]
    };
    for limit in [0, usize::MAX] {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let made = Linearisation::with_limit(&model, None, 1.0, &found.state, limit);
                made.unwrap().influence(&model, &h).unwrap()
            })
        };
        let (one, three) = (with(1), with(3));
        assert_eq!(one.psi, three.psi);
        assert_eq!(one.sd.to_bits(), three.sd.to_bits());
    }
}
