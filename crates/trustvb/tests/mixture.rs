//! Mixtures of columns: fixed points of other programs, the bound, weights, and the order of levels and columns.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::json;
use common::simulate::Weighting;
use serde_json::Value;
use trustvb::data::{Frame, ReadOptions, read_csv};
use trustvb::fit::{Driver, Fit, FitOptions, Linearisation, Status, Stopping, match_components};
use trustvb::functional::Functional;
use trustvb::model::{ColumnMixture, ColumnType, MixtureSimulationSettings, SimulatedColumn};
use trustvb::posterior::Posterior;
use trustvb::problem::Problem;
use trustvb::study::{FitSettings, SettingsOf};

fn tight() -> FitOptions {
    FitOptions {
        stopping: Stopping::Relative(1e-13),
        max_sweeps: 50_000,
        trace: true,
        ..FitOptions::default()
    }
}

/// A file with these columns; NaN is an empty cell.
fn frame(names: &[&str], columns: &[Vec<f64>]) -> Frame {
    let mut text = names.join(",");
    for i in 0..columns[0].len() {
        let cell = |c: &Vec<f64>| if c[i].is_nan() { String::new() } else { c[i].to_string() };
        text += "\n";
        text += &columns.iter().map(cell).collect::<Vec<_>>().join(",");
    }
    let options = ReadOptions { as_text: true, keep_missing: true, ..ReadOptions::default() };
    read_csv(text.as_bytes(), "columns.csv", &options).unwrap()
}

fn types(names: &[&str], kinds: &[ColumnType]) -> Vec<(String, ColumnType)> {
    names.iter().map(|name| (*name).to_owned()).zip(kinds.iter().copied()).collect()
}

fn fitted(problem: &Problem, omega: f64) -> Fit {
    let fit = problem.fit().omega(omega).starts(10).options(tight()).run().unwrap();
    let status = &fit.outcome.status;
    assert!(matches!(status, Status::Converged | Status::Stalled), "{status:?}");
    fit
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect()
}

/// Largest difference between numbers, relative to their size.
fn apart(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let pairs = found.iter().zip(expected);
    pairs.map(|(a, b)| (a - b).abs() / b.abs().max(1e-3)).fold(0.0, f64::max)
}

/// The classes of a fixture, heaviest first.
fn by_weight(alpha: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..alpha.len()).collect();
    order.sort_by(|&i, &j| alpha[j].total_cmp(&alpha[i]));
    order
}

const NAMES: [&str; 5] = ["a", "b", "c", "visits", "size"];
const KINDS: [ColumnType; 5] = [
    ColumnType::Category,
    ColumnType::Category,
    ColumnType::Category,
    ColumnType::Count,
    ColumnType::Gaussian,
];

/// Compares whatever of `pi`, `p`, `rate` and `mu` a fixture has.
fn compare(posterior: &Posterior, golden: &Value, tolerance: f64, what: &str) {
    let alpha = numbers(&golden["pi"]);
    for (k, &old) in by_weight(&alpha).iter().enumerate() {
        let own = posterior.dirichlet("pi").unwrap().alpha()[k];
        assert!(apart(&[own], &[alpha[old]]) < tolerance, "{what}: pi {own} {}", alpha[old]);
        for (name, levels) in NAMES.iter().zip(golden["p"].as_array().unwrap()) {
            let block = posterior.dirichlet_of(&format!("p.{name}"), k).unwrap();
            let found = apart(block.alpha(), &numbers(&levels[old]));
            assert!(found < tolerance, "{what}: {name} differs by {found}");
        }
        let rate = posterior.gamma("rate.visits", k).unwrap();
        let expected = [0, 1].map(|i| golden["rate"][i][old].as_f64().unwrap());
        let found = apart(&[rate.a, rate.b], &expected);
        assert!(found < tolerance, "{what}: rate differs by {found}");
        if let Some(mu) = golden.get("mu") {
            let block = posterior.normal_wishart("mu.size", k).unwrap();
            let own = [block.beta, block.nu, block.mean()[0], block.w_inverse()[0]];
            let expected = [0, 1, 2, 3].map(|i| mu[i][old].as_f64().unwrap());
            let found = apart(&own, &expected);
            assert!(found < tolerance, "{what}: mu differs by {found}");
        }
    }
}

#[test]
fn fixed_points_are_those_of_other_programs() {
    let golden = json("mixture_fixpoints.json");
    let columns: Vec<Vec<f64>> =
        golden["columns"].as_array().unwrap().iter().map(numbers).collect();
    let bind = |n: usize| {
        let frame = frame(&NAMES[..n], &columns[..n]);
        ColumnMixture::new(2).bind(&frame, &types(&NAMES[..n], &KINDS[..n])).unwrap()
    };
    let found = fitted(&bind(4), 1.0);
    compare(&found.posterior, &golden["bayespy"], 1e-6, "BayesPy");
    for plain in golden["plain"].as_array().unwrap() {
        let omega = plain["omega"].as_f64().unwrap();
        compare(&fitted(&bind(5), omega).posterior, plain, 1e-8, &format!("ω = {omega}"));
    }
}

#[test]
fn many_rows_drown_the_prior() {
    let golden = &json("mixture_fixpoints.json")["stepmix"];
    let columns: Vec<Vec<f64>> = golden["items"].as_array().unwrap().iter().map(numbers).collect();
    let names = ["a", "b", "c", "d"];
    let problem = ColumnMixture::new(2).bind(&frame(&names, &columns), &[]).unwrap();
    // A hundred million times each row: EM's maximum of the likelihood.
    let weights = vec![1e8; columns[0].len()];
    let fit = problem.fit().weights(&weights).starts(20).options(tight()).run().unwrap();
    let mean = fit.posterior.weights();
    for (found, expected) in mean.iter().zip(numbers(&golden["pi"])) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    for k in 0..2 {
        for (j, name) in names.iter().enumerate() {
            let p = fit.posterior.dirichlet_of(&format!("p.{name}"), k).unwrap().mean()[1];
            let expected = golden["p"][k][j].as_f64().unwrap();
            assert!((p - expected).abs() < 1e-6, "{name} of class {k}: {p} {expected}");
        }
    }
}

/// All kinds of columns, with gaps.
fn simulated(n: usize, seed: u64) -> Problem {
    let settings = MixtureSimulationSettings {
        n: vec![n],
        components: Some(3),
        items: Some(6),
        agree: Some(0.9),
        columns: vec![
            SimulatedColumn::Count { rate: vec![1.0, 4.0, 9.0] },
            SimulatedColumn::Gaussian { mu: vec![0.0, 4.0, -4.0], sd: vec![1.0, 0.5, 2.0] },
            SimulatedColumn::Category {
                p: vec![vec![0.8, 0.1, 0.1], vec![0.1, 0.8, 0.1], vec![0.1, 0.1, 0.8]],
            },
        ],
        missing: Some(0.1),
        ..MixtureSimulationSettings::default()
    };
    let simulation = settings.check().unwrap();
    let spec = simulation.fitted(&FitSettings::default()).unwrap();
    Problem::new(spec, simulation.draw(seed, 1).unwrap()).unwrap()
}

#[test]
fn the_bound_never_falls() {
    for seed in 1..=20 {
        let problem = simulated(60 + 10 * seed as usize, seed);
        let n = problem.model().n_units();
        let weights = Weighting::Bootstrap.draw(seed, n).unwrap();
        for omega in [1.0, 0.3, 0.03, 0.003] {
            for acceleration in [0, 5] {
                let options = FitOptions { acceleration, max_sweeps: 300, ..tight() };
                let fit = problem.fit().weights(&weights).omega(omega).seed(seed).starts(1);
                let trace = fit.options(options).run().unwrap().outcome.trace;
                for pair in trace.windows(2) {
                    let rounding = 1e-11 * pair[0].abs().max(n as f64);
                    assert!(pair[1] >= pair[0] - rounding, "ω {omega}: {} {}", pair[0], pair[1]);
                }
            }
        }
    }
}

/// The columns of a problem, row by row as `rows` lists them, as a problem of the same columns.
fn rearranged(problem: &Problem, rows: &[usize]) -> Problem {
    let data = problem.data();
    let columns: Vec<Vec<f64>> =
        data.columns().iter().map(|c| rows.iter().map(|&i| c[i]).collect()).collect();
    let names = data.variables();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut kinds = vec![ColumnType::Category; 6];
    kinds.extend([ColumnType::Count, ColumnType::Gaussian, ColumnType::Category]);
    ColumnMixture::new(3).bind(&frame(&names, &columns), &types(&names, &kinds)).unwrap()
}

#[test]
fn weights_are_repetitions() {
    for seed in 1..=10 {
        let problem = simulated(150, seed);
        let n = problem.model().n_units();
        let weights = Weighting::Bootstrap.draw(seed, n).unwrap();
        let rows: Vec<usize> =
            (0..n).flat_map(|i| std::iter::repeat_n(i, weights[i] as usize)).collect();
        let repeated = rearranged(&problem, &rows);
        let centres = fitted(&problem, 1.0).posterior.centres();
        for omega in [1.0, 0.4] {
            let one = problem.fit().weights(&weights).omega(omega).centres(centres.clone());
            let two = repeated.fit().omega(omega).centres(centres.clone());
            let one = one.options(tight()).run().unwrap();
            let two = two.options(tight()).run().unwrap();
            let found = apart(one.posterior.parameters(), two.posterior.parameters());
            assert!(found < 1e-7, "seed {seed}, ω {omega}: {found}");
            let (a, b) = (one.outcome.bound, two.outcome.bound);
            assert!((a - b).abs() < 1e-9 * a.abs(), "{a} {b}");
        }
    }
}

#[test]
fn neither_names_of_levels_nor_units_matter() {
    let problem = simulated(200, 4);
    let base = fitted(&problem, 1.0);
    let columns = problem.data().columns();
    let names = problem.data().variables();
    // Columns in another order; 0 and 1 exchanged; another unit.
    let order = [8, 7, 6, 5, 4, 3, 2, 1, 0];
    let changed = |j: usize| -> Vec<f64> {
        match j {
            7 => columns[j].iter().map(|x| 32.0 + 1.8 * x).collect(),
            0..=5 => columns[j].iter().map(|x| 1.0 - x).collect(),
            _ => columns[j].clone(),
        }
    };
    let moved: Vec<Vec<f64>> = order.iter().map(|&j| changed(j)).collect();
    let moved_names: Vec<&str> = order.iter().map(|&j| names[j].as_str()).collect();
    let kinds: Vec<ColumnType> = order
        .iter()
        .map(|j| match j {
            6 => ColumnType::Count,
            7 => ColumnType::Gaussian,
            _ => ColumnType::Category,
        })
        .collect();
    let other = ColumnMixture::new(3)
        .bind(&frame(&moved_names, &moved), &types(&moved_names, &kinds))
        .unwrap();
    let other = fitted(&other, 1.0);
    for (text, same) in [
        ("pi[1]", "pi[1]"),
        ("p[1,x2,1]", "p[1,x2,0]"),
        ("p[2,x9,2]", "p[2,x9,2]"),
        ("rate[3,x7]", "rate[3,x7]"),
        ("32 + 1.8*mu[2,x8]", "mu[2,x8]"),
        ("1.8*sd[3,x8]", "sd[3,x8]"),
    ] {
        let value = |text: &str, fit: &Fit| {
            let functional = Functional::parse(text, fit.posterior.layout()).unwrap();
            functional.parts()[0].plug_in(fit.posterior.parameters())
        };
        let (a, b) = (value(text, &base), value(same, &other));
        assert!((a - b).abs() < 1e-8 * a.abs().max(1.0), "{text}: {a} {b}");
    }
}

#[test]
fn influence_is_that_of_refits() {
    let problem = simulated(120, 2);
    let model = problem.model().as_ref();
    let base = fitted(&problem, 1.0);
    let weight = |q: &Posterior| q.weights()[0];
    let rate = |q: &Posterior| q.gamma("rate.x7", 1).unwrap().mean();
    let n = model.n_units();
    let linear = Linearisation::new(model, None, 1.0, &base.state).unwrap();
    for (what, h) in [("weight", &weight as &dyn Fn(&Posterior) -> f64), ("rate", &rate)] {
        let influence = linear.influence(model, h).unwrap().psi;
        let largest = influence.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        for unit in (0..n).step_by(17) {
            let at = |step: f64| {
                let mut weights = vec![1.0; n];
                weights[unit] += step;
                let mut sweeper = model.sweeper();
                sweeper.load(Some(&weights)).unwrap();
                let mut state = base.state.clone();
                Driver::new(model).run(sweeper.as_mut(), 1.0, &mut state, &tight(), &mut |_| ());
                h(&sweeper.posterior(1.0, &state).unwrap())
            };
            let slope = (at(1e-4) - at(-1e-4)) / 2e-4;
            let difference = (slope - influence[unit]).abs();
            assert!(difference < 1e-3 * largest, "{what} of {unit}: {slope} {}", influence[unit]);
        }
    }
}

#[test]
fn components_are_matched_by_all_columns() {
    let problem = simulated(200, 3);
    let fit = fitted(&problem, 1.0).posterior;
    for order in [[0, 1, 2], [2, 0, 1], [1, 0, 2]] {
        let moved = fit.permuted(&order);
        let back = moved.permuted(&match_components(&fit, &moved));
        assert_eq!(back.parameters(), fit.parameters());
    }
}
