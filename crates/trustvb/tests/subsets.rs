//! The bag of little bootstraps against bootstraps of all units.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::simulate::Mixture;
use common::tables::{Case, ask_one};
use trustvb::backend::Job;
use trustvb::calibrate::{Answer, Flag, Method};
use trustvb::data::Dataset;
use trustvb::functional::Functional;
use trustvb::resample::Design;
use trustvb::table::TvbTable;

const BOOTSTRAPS: u32 = 160;

fn data(n: usize) -> Dataset {
    let mixture = Mixture::new(3, n, 2, 2, 2.0);
    Dataset::from_columns(vec!["a".into(), "b".into()], mixture.columns).unwrap()
}

/// The standard deviation of h(θ̂_1) about the value that each bootstrap is compared with.
fn spread(table: &TvbTable, text: &str) -> f64 {
    let functional = Functional::parse(text, table.layout()).unwrap();
    let value = |job: Job| {
        let path = table.path(job).unwrap();
        functional.parts()[0].plug_in(table.parameters(path, 0).unwrap())
    };
    let squares: f64 = table
        .bootstraps(Design::Full)
        .map(|(job, _)| (value(*job) - value(table.checked_against(*job))).powi(2))
        .sum();
    (squares / f64::from(BOOTSTRAPS)).sqrt()
}

fn names(answer: &Answer) -> Vec<&'static str> {
    answer.flags.iter().map(Flag::name).collect()
}

/// A spread from 160 bootstraps has a relative standard error of 5.6%, the ratio of two 8%, and subsets add some.
#[test]
fn spreads_and_intervals_are_those_of_all_units() {
    let case = Case::gmm(data(100_000), 2).grid(8, 0.1).bootstraps(BOOTSTRAPS, 0);
    let (full, little) = (case.build(), case.subsets(8).build());
    for text in ["pi[1]", "mu[1,a]", "mu[1,a] - mu[2,a]", "sd[2,b]"] {
        let ratio = spread(&little, text) / spread(&full, text);
        assert!((ratio - 1.0).abs() < 0.25, "{text}: {ratio}");
        for method in [Method::Anchored, Method::Bootstrap, Method::Balanced, Method::Tempered] {
            let (a, b) = (ask_one(&full, text, method), ask_one(&little, text, method));
            let ratio = (b.upper - b.lower) / (a.upper - a.lower);
            // The outermost percentiles of 160 vary more than a spread does.
            let most = if method == Method::Bootstrap { 0.3 } else { 0.25 };
            assert!((ratio - 1.0).abs() < most, "{text} {}: {ratio}", method.name());
            assert_eq!(a.estimate, b.estimate);
            assert_eq!(names(&a), names(&b), "{text} {}", method.name());
        }
    }
}

#[test]
fn a_subset_costs_what_it_weighs() {
    let case = Case::gmm(data(4000), 2).grid(3, 0.5).bootstraps(6, 0).subsets(2);
    let table = case.build();
    let subsets = table.manifest().subsets.unwrap();
    assert_eq!((subsets.count, subsets.size), (2, 332));
    assert_eq!(table.checked_jobs(Design::Full).len(), 2);
    for b in 1..=6 {
        let job = table.checked_against(Job { design: Design::Full, replicate: b });
        assert_eq!(job, Job { design: Design::Subset, replicate: (b - 1) % 2 + 1 });
    }
    // What is not asked for leaves no trace in the manifest, so older tables are still the same.
    let json = |case: &Case| serde_json::to_string(&case.settings).unwrap();
    assert!(json(&case).contains("subsets"));
    let without = Case::gmm(data(4000), 2).bootstraps(6, 0);
    assert!(!json(&without).contains("subsets"));
}
