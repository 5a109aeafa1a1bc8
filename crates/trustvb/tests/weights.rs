//! Weights of units: frequencies against repeated rows, survey weights against what they are for.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::assert_close;
use common::simulate::Mixture;
use rand::Rng;
use trustvb::calibrate::{Answer, Calibrator, Method};
use trustvb::data::Dataset;
use trustvb::fit::{FitOptions, Linearisation, Stopping};
use trustvb::functional::Functional;
use trustvb::model::{Covariance, MixedData, MixtureColumn, ModelData, ModelSpec};
use trustvb::prelude::*;
use trustvb::random::{Purpose, stream};

fn tight() -> FitOptions {
    FitOptions { stopping: Stopping::Relative(1e-13), max_sweeps: 5000, ..FitOptions::default() }
}

fn weights(kind: WeightKind, values: &[f64]) -> UnitWeights {
    UnitWeights::new(WeightsFrom { kind, column: "w".to_owned() }, values.to_vec()).unwrap()
}

/// Rows of two Gaussians, and the same with row `i` there `counts[i]` times.
fn rows_and_repeated(n: usize, seed: u64) -> (Dataset, Vec<f64>, Dataset) {
    let rows = Mixture::new(seed, n, 2, 2, 3.0);
    let counts: Vec<f64> = (0..n).map(|i| [1.0, 3.0, 0.0, 2.0][i % 4]).collect();
    let repeated = rows.repeated(&counts).dataset();
    (rows.dataset(), counts, repeated)
}

fn answers(problem: &Problem, methods: &[Method]) -> Vec<Answer> {
    let table = problem.table().methods(methods).bootstraps(40).grid(8).seed(3).build().unwrap();
    let calibrator = Calibrator::new(&table, 200).unwrap();
    let all = Functional::defaults(table.layout());
    let parts = all.iter().flat_map(Functional::parts);
    parts.flat_map(|part| calibrator.answer(part, methods, &[0.9]).unwrap()).collect()
}

#[test]
fn frequencies_are_repeated_rows_in_every_method() {
    let (data, counts, repeated) = rows_and_repeated(120, 5);
    for covariance in [Covariance::Full, Covariance::Tied, Covariance::Diagonal] {
        let spec = GaussianMixture::new(2).covariance(covariance);
        let one = spec.clone().bind(data.clone()).unwrap();
        let one = one.weighted(weights(WeightKind::Frequency, &counts)).unwrap();
        let two = spec.bind(repeated.clone()).unwrap();
        assert_eq!(one.n_units(), two.n_units());
        let fits = [&one, &two].map(|p| p.fit().seed(1).options(tight()).run().unwrap());
        let [a, b] = [&fits[0], &fits[1]].map(|fit| fit.posterior.parameters());
        assert_close("fit", a, b, 1e-9);
        assert!((fits[0].outcome.bound - fits[1].outcome.bound).abs() < 1e-7);
        let methods = match covariance {
            Covariance::Full => &Method::ALL[..],
            _ => &[Method::RECOMMENDED, Method::Jackknife],
        };
        // The same draws, because units that a row stands for follow each other as repeated rows do.
        for (a, b) in answers(&one, methods).iter().zip(&answers(&two, methods)) {
            let size = b.upper - b.lower;
            for (x, y) in [(a.lower, b.lower), (a.upper, b.upper), (a.estimate, b.estimate)] {
                assert!((x - y).abs() < 1e-4 * size, "{:?} {covariance:?}: {x} {y}", a.method);
            }
        }
    }
}

#[test]
fn the_scale_of_survey_weights_changes_nothing() {
    let (data, _, _) = rows_and_repeated(120, 6);
    let values: Vec<f64> = (0..120).map(|i| 0.2 + (i % 7) as f64).collect();
    let of = |times: f64| {
        let scaled: Vec<f64> = values.iter().map(|w| times * w).collect();
        let problem = GaussianMixture::new(2).bind(data.clone()).unwrap();
        answers(
            &problem.weighted(weights(WeightKind::Survey, &scaled)).unwrap(),
            &[Method::RECOMMENDED, Method::Vb, Method::Tvb, Method::Jackknife],
        )
    };
    for (a, b) in of(1.0).iter().zip(&of(7.0)) {
        for (x, y) in [(a.lower, b.lower), (a.upper, b.upper), (a.estimate, b.estimate)] {
            assert!((x - y).abs() < 1e-5 * (b.upper - b.lower), "{:?}: {x} {y}", a.method);
        }
    }
    // Equal weights are none.
    let problem = GaussianMixture::new(2).bind(data.clone()).unwrap();
    let plain = problem.fit().seed(1).run().unwrap();
    let equal = problem.weighted(weights(WeightKind::Survey, &[5.0; 120])).unwrap();
    let equal = equal.fit().seed(1).run().unwrap();
    assert_close("equal", plain.posterior.parameters(), equal.posterior.parameters(), 1e-9);
}

#[test]
fn the_influence_of_a_weighted_unit_is_that_of_its_count() {
    let (data, counts, repeated) = rows_and_repeated(80, 7);
    let spec = GaussianMixture::new(2);
    let survey: Vec<f64> = counts.iter().map(|c| 0.5 + c).collect();
    let weight = |q: &trustvb::posterior::Posterior| q.weights()[0];
    let problem = spec.clone().bind(data.clone()).unwrap();
    let problem = problem.weighted(weights(WeightKind::Survey, &survey)).unwrap();
    let model = problem.model().as_ref();
    let fit = problem.fit().seed(1).options(tight()).run().unwrap();
    let at = Linearisation::new(model, None, 1.0, &fit.state).unwrap();
    let found = at.influence(model, &weight).unwrap();
    for unit in [0, 5, 11] {
        // How often a unit was drawn, up and down a little.
        let [up, down] = [1e-4, -1e-4].map(|step| {
            let mut drawn = vec![1.0; 80];
            drawn[unit] += step;
            let centres = fit.posterior.centres();
            let fit = problem.fit().weights(&drawn).centres(centres).options(tight());
            weight(&fit.run().unwrap().posterior)
        });
        let slope = (up - down) / 2e-4;
        assert!((slope - found.psi[unit]).abs() < 1e-6, "{slope} {}", found.psi[unit]);
    }
    // Of a row that stands for several units: as repeated rows have it.
    let one = spec.clone().bind(data).unwrap();
    let one = one.weighted(weights(WeightKind::Frequency, &counts)).unwrap();
    let two = spec.bind(repeated).unwrap();
    let sd = [&one, &two].map(|problem| {
        let fit = problem.fit().seed(1).options(tight()).run().unwrap();
        let model = problem.model().as_ref();
        let at = Linearisation::new(model, None, 1.0, &fit.state).unwrap();
        at.influence(model, &weight).unwrap().sd
    });
    assert!((sd[0] / sd[1] - 1.0).abs() < 1e-5, "{sd:?}");
}

#[cfg(feature = "parquet")]
#[test]
fn a_kept_table_has_its_weights() {
    use trustvb::location::Location;
    use trustvb::table::{open, save};

    let folder = tempfile::tempdir().unwrap();
    let (data, counts, _) = rows_and_repeated(60, 8);
    let survey: Vec<f64> = counts.iter().map(|c| 0.3 + c).collect();
    for (kind, values) in [(WeightKind::Survey, &survey), (WeightKind::Frequency, &counts)] {
        let problem = GaussianMixture::new(2).bind(data.clone()).unwrap();
        let plain_hash = problem.data_hash().to_owned();
        let problem = problem.weighted(weights(kind, values)).unwrap();
        assert_ne!(problem.data_hash(), plain_hash);
        let table = problem.table().methods(&[Method::RECOMMENDED]).bootstraps(5).build().unwrap();
        let place = Location::from_argument(&folder.path().join(kind.name())).unwrap();
        save(&table, &place).unwrap();
        let kept = open(&place).unwrap();
        assert_eq!(kept.manifest(), table.manifest());
        assert_eq!(kept.weights().unwrap(), problem.weights().unwrap());
        let again = kept.problem().unwrap().unwrap();
        assert_eq!(again.data_hash(), problem.data_hash());
        assert_eq!(again.n_units(), kept.manifest().n_units);
        let option = [kind.option(), "w"].map(str::to_owned);
        assert!(kept.manifest().words(false).words.windows(2).any(|pair| pair == option));
    }
}

/// A population of two classes and four items, of which class 1 answers yes with .85 and class 2 with .25, and a sample
/// to which a unit belongs with a chance that depends on what it answers to the first two: weights are one over it.
fn informative(n: usize, rng: &mut impl Rng) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut happens = |chance: f64| (rng.next_u64() >> 11) as f64 / ((1u64 << 53) as f64) < chance;
    let (mut columns, mut chances) = (vec![Vec::new(); 4], Vec::new());
    while chances.len() < n {
        let yes = if happens(0.5) { 0.85 } else { 0.25 };
        let answers: Vec<f64> = (0..4).map(|_| f64::from(u8::from(happens(yes)))).collect();
        let chance = if answers[0] + answers[1] >= 1.5 { 1.0 } else { 0.25 };
        if happens(chance) {
            columns.iter_mut().zip(&answers).for_each(|(column, x)| column.push(*x));
            chances.push(chance);
        }
    }
    (columns, chances.iter().map(|chance| 1.0 / chance).collect())
}

#[test]
fn weighted_intervals_cover_the_population_where_others_do_not() {
    let mut rng = stream(11, Purpose::Simulate, 0);
    let (data_sets, mut with, mut without) = (40, 0, 0);
    for _ in 0..data_sets {
        let (columns, chances) = informative(500, &mut rng);
        let covered = |weighted: bool| {
            let problem = classes(columns.clone());
            let problem = match weighted {
                true => problem.weighted(weights(WeightKind::Survey, &chances)).unwrap(),
                false => problem,
            };
            let methods = [Method::RECOMMENDED];
            let table = problem.table().methods(&methods).bootstraps(60).seed(1).build().unwrap();
            // The share of the class that says yes: which of the two it is, is told by the third item.
            let posterior = table.full_data_posterior(1.0).unwrap();
            let yes = |k: usize| posterior.dirichlet_of("p.x3", k).unwrap().mean()[1];
            let k = if yes(0) > yes(1) { 1 } else { 2 };
            let answer = table.ask(&format!("pi[{k}]")).unwrap().level(0.95).recommended().unwrap();
            answer.lower <= 0.5 && 0.5 <= answer.upper
        };
        with += usize::from(covered(true));
        without += usize::from(covered(false));
    }
    // 38 would be 95%; fewer than 34 of 40 has a chance of 1 in 1000 then.
    assert!(with >= 34, "{with} of {data_sets}");
    assert!(without <= 4, "{without} of {data_sets}");
}

/// Two classes of yes-or-no items.
fn classes(columns: Vec<Vec<f64>>) -> Problem {
    let names: Vec<String> = (1..=columns.len()).map(|j| format!("x{j}")).collect();
    let spec: ModelSpec = serde_json::from_value(serde_json::json!({
        "name": "mixture",
        "n_components": 2,
        "prior": {},
        "columns": names.iter().map(|name| item(name)).collect::<Vec<_>>(),
    }))
    .unwrap();
    let data: ModelData = MixedData::new("sample", names, columns).into();
    Problem::new(spec, data).unwrap()
}

fn item(name: &str) -> MixtureColumn {
    let levels = vec!["no".to_owned(), "yes".to_owned()];
    let kind = trustvb::model::ColumnKind::Category { levels };
    MixtureColumn { name: name.to_owned(), kind }
}

#[test]
fn weights_of_groups_are_those_of_units() {
    let frame = Frame::from_columns(vec![
        ("y".to_owned(), trustvb::data::Column::Numeric(vec![1.0, 2.0, 5.0, 4.0, 2.5, 2.0])),
        ("x".to_owned(), trustvb::data::Column::Numeric(vec![0.0, 1.0, 0.5, 1.5, 2.0, 3.0])),
        ("g".to_owned(), trustvb::data::Column::Numeric(vec![1.0, 1.0, 2.0, 2.0, 3.0, 3.0])),
    ])
    .unwrap();
    let problem = RegressionMixture::new(1, "y ~ x | g").bind(&frame).unwrap();
    let of_groups = problem.data().of_units(&[2.0, 2.0, 1.0, 1.0, 3.0, 3.0]).unwrap();
    assert_eq!(of_groups, [2.0, 1.0, 3.0]);
    assert!(problem.data().of_units(&[2.0, 1.0, 1.0, 1.0, 3.0, 3.0]).is_err());
    let problem = problem.weighted(weights(WeightKind::Frequency, &of_groups)).unwrap();
    assert_eq!(problem.n_units(), 6);
    let twice = problem.clone().weighted(weights(WeightKind::Frequency, &[1.0, 1.0]));
    assert!(twice.unwrap_err().to_string().contains("2 weights for 3 rows"));
}

#[test]
fn a_level_that_only_rows_of_weight_0_have_is_none() {
    let items = |i: usize| -> String {
        let third = i.is_multiple_of(3);
        let yes = |j: usize| if third == (i * 5 + j * 3).is_multiple_of(7) { "no" } else { "yes" };
        format!("{},{},{},{}", yes(0), yes(1), yes(2), ["red", "blue"][i % 2])
    };
    let rows: Vec<String> = (0..60).map(items).collect();
    let read = |rows: &[String]| {
        let text = format!("a,b,c,colour\n{}\n", rows.join("\n"));
        let options = ReadOptions { as_text: true, keep_missing: true, ..ReadOptions::default() };
        let frame = trustvb::data::read_csv(text.as_bytes(), "rows", &options).unwrap();
        trustvb::model::ColumnMixture::new(2).bind(&frame, &[]).unwrap()
    };
    let fit = |problem: &Problem| problem.fit().seed(1).options(tight()).run().unwrap();
    // A level between the others, and one after them; their rows are first and last.
    let absent = ["no,no,perhaps,cyan".to_owned(), "yes,no,yes,zinc".to_owned()];
    let with = [&absent[..1], &rows[..], &absent[1..]].concat();
    for kind in [WeightKind::Survey, WeightKind::Frequency] {
        let without = read(&rows).weighted(weights(kind, &[2.0; 60])).unwrap();
        let mut values = vec![2.0; 62];
        (values[0], values[61]) = (0.0, 0.0);
        let problem = read(&with).weighted(weights(kind, &values)).unwrap();
        let (a, b) = (fit(&problem), fit(&without));
        assert_eq!(problem.model().layout(), without.model().layout());
        assert!((a.outcome.bound - b.outcome.bound).abs() < 1e-8, "{kind:?}");
        assert_close("fit", a.posterior.parameters(), b.posterior.parameters(), 1e-9);
        // A table that was kept finds its own settings again, and a level that some row has stays.
        let kept = problem.clone().weighted(weights(kind, &values)).unwrap();
        assert_eq!(kept.spec(), problem.spec());
        values[61] = 2.0;
        let more = read(&with).weighted(weights(kind, &values)).unwrap();
        let block = more.model().layout().block("p.colour").unwrap().clone();
        assert_eq!(block.levels, ["blue", "red", "zinc"]);
    }
}
