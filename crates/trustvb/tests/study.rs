//! Studies in a folder: what is kept, how labels are given, what failures become.

#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use trustvb::location::Location;
use trustvb::study::{Labels, Outcome, Results, Study, StudyError, merge, overall, run, summarise};
use trustvb::table::{Shard, StoreError, Watch};

fn study(text: &str) -> Study {
    Study::parse(text, "test").unwrap()
}

fn run_in(folder: &Location, study: &Study) -> Results {
    run(folder, study, Shard::default(), &Watch::silent()).unwrap();
    Results::read(folder).unwrap()
}

fn at(scratch: &tempfile::TempDir, name: &str) -> Location {
    Location::from(scratch.path().join(name))
}

const OVERLAP: &str = r#"
title = "overlap"
replications = 40
bootstraps = 20
grid = 5
methods = ["vb", "bootstrap"]
quantities = ["mu[2,1] - mu[1,1]", "pi[1]"]

[[design]]
name = "even"
simulate = { model = "gmm", n = 80, weights = [0.5, 0.5], separation = 2.5 }
"#;

#[test]
fn matched_labels_follow_the_truth_and_weights_do_not() {
    let scratch = tempfile::tempdir().unwrap();
    let mut study = study(OVERLAP);
    let estimates = |results: &Results, quantity: u32| -> Vec<f64> {
        let records = results.records[0].iter();
        records.filter(|r| r.quantity == quantity && r.method == 0).map(|r| r.estimate).collect()
    };
    let matched = run_in(&at(&scratch, "matched"), &study);
    study.labels = Labels::Weight;
    let by_weight = run_in(&at(&scratch, "weight"), &study);
    let backwards = |results: &Results| estimates(results, 0).iter().filter(|d| **d < 0.0).count();
    let light = |results: &Results| estimates(results, 1).iter().filter(|w| **w < 0.5).count();
    assert!(backwards(&matched) <= 1, "{}", backwards(&matched));
    assert!((10..=30).contains(&backwards(&by_weight)), "{}", backwards(&by_weight));
    assert!((10..=30).contains(&light(&matched)), "{}", light(&matched));
    assert_eq!(light(&by_weight), 0);
}

#[test]
fn a_folder_belongs_to_one_study() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = at(&scratch, "one");
    let mut study = study(OVERLAP);
    study.replications = 2;
    run_in(&folder, &study);
    study.seed = 2;
    let error = run(&folder, &study, Shard::default(), &Watch::silent()).unwrap_err();
    let StudyError::Store(StoreError::Different { field, theirs, ours, .. }) = &error else {
        panic!("{error}")
    };
    assert_eq!((field.as_str(), theirs.as_str(), ours.as_str()), ("study.seed", "1", "2"));
}

#[test]
fn what_cannot_be_fitted_is_counted() {
    // Three rows for two components in two columns: some data sets are refused or fail.
    let text = OVERLAP
        .replace("n = 80", "n = 3")
        .replace("replications = 40", "replications = 12")
        .replace("[\"vb\", \"bootstrap\"]", "[\"vb\", \"tvb\", \"anchored\", \"analytic\"]");
    let scratch = tempfile::tempdir().unwrap();
    let results = run_in(&at(&scratch, "few"), &study(&text));
    assert_eq!(results.replications(), (12, 12));
    let records = &results.records[0];
    assert_eq!(records.len(), 12 * 2 * 4);
    assert!(records.iter().any(|r| r.outcome != Outcome::Interval));
    assert!(records.iter().all(|r| r.outcome != Outcome::Crashed));
    for summary in summarise(&results) {
        assert_eq!(summary.replications, 12);
        assert_eq!(summary.intervals + summary.without.iter().sum::<usize>(), 12);
    }
}

#[test]
fn merging_insists_on_one_study() {
    let scratch = tempfile::tempdir().unwrap();
    let mut study = study(OVERLAP);
    study.replications = 20;
    let folders: Vec<_> = (1..=2).map(|i| at(&scratch, &format!("shard{i}"))).collect();
    for (i, folder) in folders.iter().enumerate() {
        let shard = Shard { number: i as u32 + 1, of: 2 };
        let progress = run(folder, &study, shard, &Watch::silent()).unwrap();
        assert_eq!((progress.done, progress.of), (10, 20));
    }
    let whole = at(&scratch, "whole");
    assert_eq!(merge(&whole, &folders).unwrap(), 2);
    assert_eq!(merge(&whole, &folders).unwrap(), 0);
    let direct = run_in(&at(&scratch, "direct"), &study);
    let merged = Results::read(&whole).unwrap();
    let shown = |results: &Results| -> Vec<String> {
        let still = |r: &trustvb::study::Record| {
            format!("{:?}", trustvb::study::Record { seconds: 0.0, ..*r })
        };
        results.records[0].iter().map(still).collect()
    };
    assert_eq!(shown(&merged), shown(&direct));
    study.bootstraps = 21;
    let other = at(&scratch, "other");
    run_in(&other, &study);
    let error = merge(&whole, &[other]).unwrap_err().to_string();
    assert!(error.contains("study.bootstraps is 20, here it is 21"), "{error}");
}

#[test]
fn all_cells_together_are_the_means_of_the_cells() {
    let scratch = tempfile::tempdir().unwrap();
    let mut study = study(OVERLAP);
    study.replications = 6;
    let summary = summarise(&run_in(&at(&scratch, "both"), &study));
    let all = overall(&summary);
    assert_eq!(all.len(), 2);
    let own: Vec<_> = summary.iter().filter(|s| s.method == all[0].method).collect();
    assert_eq!((own.len(), all[0].pairs), (2, 2));
    let (a, b) = (own[0], own[1]);
    assert_eq!(all[0].coverage, (a.coverage + b.coverage) / 2.0);
    assert_eq!(all[0].range, (a.coverage.min(b.coverage), a.coverage.max(b.coverage)));
    let distance = ((a.coverage - 0.95).abs() + (b.coverage - 0.95).abs()) / 2.0;
    assert!((all[0].distance - distance).abs() < 1e-12);
    let ratio = ((a.score / a.oracle_score) * (b.score / b.oracle_score)).sqrt();
    assert!((all[0].oracle_ratio / ratio - 1.0).abs() < 1e-12);
}
