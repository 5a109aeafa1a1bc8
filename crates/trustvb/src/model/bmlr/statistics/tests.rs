use super::super::groups::{Groups, ROWS, YY, features};
use super::GroupStatistics;
use crate::data::{Dataset, Formula, Frame, Pieces, read_csv, write_csv, write_parquet};
use crate::model::PriorBase;
#[cfg(feature = "parquet")]
use crate::model::{ModelData, ModelSpec, RegressionMixture};
use std::path::{Path, PathBuf};

const WITH_INTERCEPT: &str = "y ~ a + b + I(a * b) | g";
const WITHOUT: &str = "y ~ 0 + a + b | g";

/// Rows in an order that scatters groups; group 0 has one row.
fn rows(n_rows: usize, offset: f64) -> Dataset {
    let wave = |i: usize, f: f64| ((i as f64 * f).sin() * 1024.0).round() / 256.0;
    let a: Vec<f64> = (0..n_rows).map(|i| offset + wave(i, 0.37)).collect();
    let b: Vec<f64> = (0..n_rows).map(|i| wave(i, 1.1) - 3.0 + wave(i * i % 101, 0.5)).collect();
    let y: Vec<f64> =
        (0..n_rows).map(|i| offset + 0.5 * wave(i, 0.37) - 2.0 * b[i] + wave(i * 7, 0.9)).collect();
    let g: Vec<f64> =
        (0..n_rows).map(|i| if i == 13 { 0.0 } else { 1.0 + (i * 17 % 11) as f64 }).collect();
    let names = ["g", "y", "a", "b"].map(str::to_owned).to_vec();
    Dataset::from_columns(names, vec![g, y, a, b]).unwrap()
}

/// The same data in the formats there are, CSV first.
fn files(data: &Dataset, folder: &Path) -> Vec<PathBuf> {
    let (csv, parquet) = (folder.join("rows.csv"), folder.join("rows.parquet"));
    write_csv(data, std::fs::File::create(&csv).unwrap()).unwrap();
    if cfg!(feature = "parquet") {
        write_parquet(data, &parquet).unwrap();
        return vec![csv, parquet];
    }
    vec![csv]
}

fn streamed(path: &Path, formula: &Formula, rows: usize) -> GroupStatistics {
    let pieces = Pieces::open(path, &formula.read_options(), rows).unwrap();
    GroupStatistics::from_pieces(formula, pieces).unwrap()
}

fn assert_close(one: &Groups, two: &Groups, n_groups: usize, tolerance: f64) {
    assert_eq!(one.p(), two.p());
    for group in 0..n_groups {
        assert_eq!(one.feature(group, ROWS), two.feature(group, ROWS), "rows of group {group}");
        for f in YY..features(one.p()) {
            let (a, b) = (one.feature(group, f), two.feature(group, f));
            let error = (a - b).abs() / one.sizes[f];
            assert!(error <= tolerance, "group {group}, feature {f}: {a} and {b}");
        }
    }
}

#[test]
fn statistics_of_pieces_are_those_of_all_rows() {
    let folder = tempfile::tempdir().unwrap();
    let data = rows(1000, 0.0);
    let frame = Frame::from(data.clone());
    for text in [WITH_INTERCEPT, WITHOUT] {
        let formula = Formula::parse(text).unwrap();
        let grouped = formula.apply(&frame).unwrap();
        for base in [PriorBase::Default, PriorBase::Paper] {
            let whole = Groups::new(&grouped, base);
            for path in files(&data, folder.path()) {
                for rows in [1, 7, 64, 1000, Pieces::ROWS] {
                    let found = streamed(&path, &formula, rows);
                    assert_eq!(found.n_rows(), 1000);
                    assert_eq!(found.group_sizes(), grouped.group_sizes());
                    let label = |g| (found.group_label(g), grouped.group_label(g));
                    assert!((0..found.n_groups()).all(|g| label(g).0 == label(g).1));
                    let made = Groups::from_statistics(&found, base);
                    assert_close(&whole, &made, grouped.n_groups(), 1e-12);
                }
            }
        }
    }
}

#[test]
fn rows_may_be_their_own_groups() {
    let data = rows(200, 0.0);
    let formula = Formula::parse("y ~ a + b").unwrap();
    let grouped = formula.apply(&Frame::from(data.clone())).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for path in files(&data, folder.path()) {
        let found = streamed(&path, &formula, 33);
        assert_eq!((found.n_groups(), found.group_label(199).as_ref()), (200, "200"));
        let made = Groups::from_statistics(&found, PriorBase::Default);
        assert_close(&Groups::new(&grouped, PriorBase::Default), &made, 200, 1e-12);
    }
}

#[test]
fn columns_far_from_zero_keep_their_digits() {
    let formula = Formula::parse("y ~ a + b | g").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let near = formula.apply(&Frame::from(rows(2000, 0.0))).unwrap();
    let near = Groups::new(&near, PriorBase::Default);
    // Sums of raw squares would be off by 1e-4. The centre itself is a double near the offset, so
    // 1e-10 of a standard deviation is what can be asked for.
    for path in files(&rows(2000, 1e6), folder.path()) {
        for rows in [100, 1000] {
            let made =
                Groups::from_statistics(&streamed(&path, &formula, rows), PriorBase::Default);
            assert_close(&near, &made, 12, 1e-9);
        }
    }
}

#[test]
fn a_column_of_ones_that_does_not_stay_one_is_no_intercept() {
    let mut text = String::from("g,y,u,a\n");
    for i in 0..60 {
        let u = if i < 30 { 1.0 } else { 1.5 };
        text.push_str(&format!("{},{},{u},{}\n", i % 4, (i as f64).sin(), i % 7));
    }
    let formula = Formula::parse("y ~ 0 + u + a | g").unwrap();
    let options = formula.read_options();
    let frame = read_csv(text.as_bytes(), "ones.csv", &options).unwrap();
    let whole = Groups::new(&formula.apply(&frame).unwrap(), PriorBase::Default);
    let pieces = Pieces::from_csv(text.as_bytes(), "ones.csv", &options, 10).unwrap();
    let found = GroupStatistics::from_pieces(&formula, pieces).unwrap();
    assert_close(&whole, &Groups::from_statistics(&found, PriorBase::Default), 4, 1e-12);
}

#[test]
fn threads_change_no_bit() {
    let folder = tempfile::tempdir().unwrap();
    let formula = Formula::parse(WITH_INTERCEPT).unwrap();
    let with = |threads: usize, path: &Path| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| streamed(path, &formula, 300))
    };
    let files = files(&rows(5000, 10.0), folder.path());
    let one = with(1, &files[0]);
    // Both formats end pieces at the same rows.
    for path in &files {
        for threads in [2, 5] {
            let other = with(threads, path);
            assert_eq!((&one.sums, &one.centre), (&other.sums, &other.centre));
        }
    }
}

#[test]
fn the_same_checks_with_the_same_messages() {
    let table = |columns: [&dyn Fn(usize) -> f64; 3]| {
        let mut text = String::from("g,y,a,b,c\n");
        for i in 0..80 {
            let [a, b, c] = columns.map(|f| f(i));
            text.push_str(&format!("{},{},{a},{b},{c}\n", i / 7, (i as f64 * 0.3).cos()));
        }
        text
    };
    let (one, two) = (|i: usize| (i as f64).sin() + 1e3, |i: usize| (i as f64 * 0.7).cos());
    let sum = |i: usize| one(i) - 2.0 * two(i) + 4.0;
    type Columns<'a> = [&'a dyn Fn(usize) -> f64; 3];
    let cases: [(Columns<'_>, &str, usize, usize); 8] = [
        ([&one, &two, &sum], "y ~ a + b + c | g", 2, 1),
        ([&one, &two, &sum], "y ~ 0 + a + b + c | g", 2, 1),
        ([&one, &|_| 3.0, &|_| 0.0], "y ~ a + b + c | g", 2, 1),
        ([&one, &|_| 3.0, &|_| 0.0], "y ~ 0 + a + b + c | g", 2, 1),
        ([&one, &|_| 3.0, &|_| 4.0], "y ~ 0 + a + b + c | g", 2, 1),
        ([&one, &two, &sum], "y ~ a | g", 13, 1),
        ([&one, &two, &sum], "y ~ a", 90, 1),
        ([&one, &two, &sum], "y ~ a | g", 2, 7),
    ];
    let mut refused = 0;
    for (columns, text, n_components, min_rows) in cases {
        let (formula, file) = (Formula::parse(text).unwrap(), table(columns));
        let options = formula.read_options();
        let frame = read_csv(file.as_bytes(), "rows.csv", &options).unwrap();
        let grouped = formula.apply(&frame).unwrap();
        let expected = grouped.check_for_mixture(n_components, min_rows).map_err(|e| e.to_string());
        let pieces = Pieces::from_csv(file.as_bytes(), "rows.csv", &options, 9).unwrap();
        let found = GroupStatistics::from_pieces(&formula, pieces).unwrap();
        let said = found.check_for_mixture(n_components, min_rows).map_err(|e| e.to_string());
        assert_eq!(said, expected, "{text}");
        refused += usize::from(said.is_err());
    }
    assert_eq!(refused, 7, "the second case is sound");
}

#[test]
#[cfg(feature = "parquet")]
fn statistics_survive_storage() {
    let folder = tempfile::tempdir().unwrap();
    let formula = Formula::parse(WITH_INTERCEPT).unwrap();
    let found = streamed(&files(&rows(300, 1e5), folder.path())[0], &formula, 50);
    let data = ModelData::Statistics(found.clone());
    assert_eq!(data.variables(), ["y", "(Intercept)", "a", "b", "I(a*b)", "(group)"]);
    let path = folder.path().join("data.parquet");
    let dataset = Dataset::from_columns(data.column_names(), data.columns()).unwrap();
    write_parquet(&dataset, &path).unwrap();
    let read = crate::data::read_path(&path, &Default::default()).unwrap().into_dataset().unwrap();
    let spec = ModelSpec::from(RegressionMixture::new(2, WITH_INTERCEPT));
    let Ok(ModelData::Statistics(back)) = ModelData::from_dataset(&spec, read) else {
        panic!("not statistics");
    };
    assert_eq!(
        (&back.sums, &back.centre, &back.ranges),
        (&found.sums, &found.centre, &found.ranges)
    );
    assert_eq!((back.design_names(), back.response_name()), (found.design_names(), "y"));
    assert_eq!(back.summary(4), found.summary(4));
    assert!(spec.build(&ModelData::Statistics(back)).is_ok());
    let again = GroupStatistics::read_stored(&path, &formula).unwrap().unwrap();
    assert_eq!(again.sums, found.sums);
    let other = Formula::parse(WITHOUT).unwrap();
    let message = GroupStatistics::read_stored(&path, &other).unwrap_err().to_string();
    assert!(message.contains("holds sums of `y`"), "{message}");
    let rows = folder.path().join("rows.csv");
    assert!(GroupStatistics::read_stored(&rows, &formula).unwrap().is_none());
    let wrong = Dataset::from_columns(vec!["(group)".to_owned()], vec![vec![1.0]]).unwrap();
    assert!(ModelData::from_dataset(&spec, wrong).is_err());
}

#[test]
fn a_summary_is_that_of_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let data = rows(500, 1e4);
    let formula = Formula::parse("y ~ a + b | g").unwrap();
    let found = streamed(&files(&data, folder.path())[0], &formula, 60);
    for (j, column) in [(1, 2), (2, 3), (3, 1)] {
        let values = data.column(column);
        let mean = values.iter().sum::<f64>() / 500.0;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 499.0;
        let summary = found.summary(j);
        assert!((summary.mean - mean).abs() < 1e-11 * mean.abs());
        assert!((summary.sd - variance.sqrt()).abs() < 1e-11 * variance.sqrt());
        assert_eq!(summary.least, values.iter().copied().fold(f64::INFINITY, f64::min));
        assert_eq!(summary.largest, values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    }
}

#[test]
fn squares_that_overflow_are_refused() {
    let text = "g,y,a\n1,1e200,2\n2,3,4\n1,5,6\n";
    let formula = Formula::parse("y ~ 0 + a | g").unwrap();
    let pieces = Pieces::from_csv(text.as_bytes(), "big.csv", &formula.read_options(), 2).unwrap();
    let message = GroupStatistics::from_pieces(&formula, pieces).unwrap_err().to_string();
    assert!(message.contains("the squares of `y`") && message.contains("1e200"), "{message}");
}
