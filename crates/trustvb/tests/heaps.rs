//! Components that collapse on equal values, and orders of levels that data bring with them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rand_distr::{Distribution, LogNormal, Normal};
use trustvb::calibrate::{Calibrator, Flag, Method};
use trustvb::data::{Column, Dataset, Frame, TextColumn};
use trustvb::functional::Functional;
use trustvb::model::{
    ColumnKind, ColumnMixture, ColumnType, Covariance, GaussianMixture, ModelSpec, heaps,
};
use trustvb::problem::Problem;
use trustvb::random::{Purpose, stream};
use trustvb::select::SelectRequest;

/// A skewed column, a share of which is zero, beside a Normal one.
fn skewed(n: usize, zeros: usize, seed: u64) -> Dataset {
    let mut rng = stream(seed, Purpose::Simulate, 0);
    let (skewed, other) = (LogNormal::new(0.0, 1.0).unwrap(), Normal::new(7.3, 2.0).unwrap());
    let x = (0..n).map(|i| if i < zeros { 0.0 } else { skewed.sample(&mut rng) }).collect();
    let y = (0..n).map(|_| other.sample(&mut rng)).collect();
    Dataset::from_columns(vec!["spent".into(), "size".into()], vec![x, y]).unwrap()
}

#[test]
fn a_component_on_a_heap_is_named_with_its_column_and_value() {
    let data = skewed(400, 160, 1);
    for covariance in Covariance::ALL {
        let problem = GaussianMixture::new(3).covariance(covariance).bind(data.clone()).unwrap();
        let fit = problem.fit().run().unwrap();
        let found = heaps(problem.model().as_ref(), &fit.posterior);
        let expected = covariance == Covariance::Full || covariance == Covariance::Diagonal;
        assert!(!expected || found.len() == 1, "{covariance}: {found:?}");
        for heap in found {
            assert_eq!((heap.column.as_str(), heap.value), ("spent", 0.0));
            assert!(heap.share > 0.75 && heap.share <= 1.0, "{heap:?}");
        }
    }
    let problem = GaussianMixture::new(3).bind(data.clone()).unwrap();
    let table = problem.table().bootstraps(20).build().unwrap();
    let pi = Functional::parse("pi[1]", table.layout()).unwrap();
    let calibrator = Calibrator::new(&table, 400).unwrap();
    let answer = calibrator.answer(&pi.parts()[0], &[Method::Vb], &[0.95]).unwrap();
    let flag = answer[0].flags.iter().find(|flag| flag.name() == "heap").unwrap().to_string();
    assert!(flag.contains("have the value 0 in `spent`"), "{flag}");
    // What rounding lets a likelihood be is no evidence of groups.
    let (spec, data) = (ModelSpec::from(GaussianMixture::new(1)), data.into());
    let selection = SelectRequest::new(&spec, &data, &[1, 2, 3]).run().unwrap();
    let words = selection.in_words().join(" ");
    assert!(!selection.chosen().heaps.is_empty() && !words.contains("strong"), "{words}");
    assert!(words.contains("no evidence") && words.contains("(heap)"), "{words}");
}

#[test]
fn data_without_heaps_have_no_such_flag() {
    for (data, k) in [(Dataset::faithful(), 2), (Dataset::faithful(), 4), (skewed(400, 0, 2), 3)] {
        let problem = GaussianMixture::new(k).bind(data).unwrap();
        let fit = problem.fit().run().unwrap();
        let flags = Flag::of_fit(problem.model().as_ref(), &fit.posterior);
        // The skewed column does not fit.
        assert!(flags.iter().all(|flag| flag.name() == "misfit"), "{flags:?}");
    }
}

fn bound(columns: Vec<(&str, Column)>, types: &[(String, ColumnType)]) -> Problem {
    let columns = columns.into_iter().map(|(name, column)| (name.to_owned(), column)).collect();
    ColumnMixture::new(2).bind(&Frame::from_columns(columns).unwrap(), types).unwrap()
}

#[test]
fn heaps_of_a_gaussian_column_beside_categories_are_found_despite_gaps() {
    let mut spent = skewed(300, 120, 3).column(0).to_vec();
    let kind: Vec<String> = spent.iter().map(|x| if *x > 0.3 { "a" } else { "b" }.into()).collect();
    spent[7] = f64::NAN;
    let texts: Vec<String> =
        spent.iter().map(|x| if x.is_nan() { String::new() } else { x.to_string() }).collect();
    let text = |all: &[String]| {
        Column::Text(TextColumn::from_texts(all.iter().map(String::as_str)).unwrap())
    };
    let problem = bound(vec![("spent", text(&texts)), ("kind", text(&kind))], &[]);
    let fit = problem.fit().run().unwrap();
    let found = heaps(problem.model().as_ref(), &fit.posterior);
    assert!(found.iter().any(|h| h.column == "spent" && h.value == 0.0), "{found:?}");
}

#[test]
fn levels_keep_the_order_that_the_data_give_them() {
    let text = |all: &[&str]| TextColumn::from_texts(all.iter().copied()).unwrap();
    let order = |all: &[&str]| all.iter().map(|level| (*level).to_owned()).collect::<Vec<_>>();
    let sizes = ["low", "high", "mid", "low", "high", "mid", "low", "mid"];
    let codes = ["3", "1", "2", "10", "1", "2", "3", "10"];
    let problem = bound(
        vec![
            // Nobody is `none`, so that it is no level.
            ("ordered", Column::Text(text(&sizes).ordered(order(&["none", "low", "mid", "high"])))),
            ("text", Column::Text(text(&sizes))),
            ("codes", Column::Text(text(&codes))),
            // An order of numbers holds too, however they are written.
            ("turned", Column::Text(text(&codes).ordered(order(&["10.0", "3", "2", "1"])))),
        ],
        &[("*".to_owned(), ColumnType::Category)],
    );
    let ModelSpec::Mixture(spec) = problem.spec() else { panic!("it is a mixture") };
    let expected = [
        &["low", "mid", "high"][..],
        &["high", "low", "mid"],
        &["1", "2", "3", "10"],
        &["10", "3", "2", "1"],
    ];
    for (column, levels) in spec.columns.iter().zip(expected) {
        assert_eq!(column.kind, ColumnKind::Category { levels: order(levels) }, "{}", column.name);
    }
}
