//! Results of a study made by hand, for tests of what is counted.

use super::record::Outcome;
use super::{CellInfo, Record, Results, Study};

/// An interval of quantity, method and replication at the first level, around the estimate 0; none where
/// a limit is NaN.
pub(super) fn record(
    replication: u32,
    quantity: u32,
    method: u32,
    lower: f64,
    upper: f64,
) -> Record {
    let there = lower.is_finite() && upper.is_finite();
    Record {
        replication,
        quantity,
        method,
        level: 0,
        outcome: if there { Outcome::Interval } else { Outcome::NoInterval },
        flags: 0,
        omega: 1.0,
        estimate: 0.0,
        lower,
        upper,
        coverage: f64::NAN,
        coverage_se: f64::NAN,
        fits: 1.0,
        seconds: 0.0,
    }
}

/// A study without records: these methods, level 90%, and in each cell so many quantities `h1`, `h2`, …
/// whose truth is 0.
pub(super) fn results(methods: &[&str], cells: usize, quantities: usize) -> Results {
    let sizes: Vec<String> = (1..=cells).map(|c| (100 * c).to_string()).collect();
    let study = format!(
        "title = \"made up\"\nreplications = 4\nbootstraps = 9\nlevels = [0.9]\nmethods = {methods:?}\n\
         quantities = [\"pi[1]\"]\n[[design]]\nname = \"d\"\nsimulate = {{ model = \"gmm\", n = [{}] }}\n",
        sizes.join(", ")
    );
    let study = Study::parse(&study, "made up").expect("a study made by hand is one");
    let cell = |(size, name): (usize, String)| CellInfo {
        name,
        design: 0,
        size,
        seed: 1,
        quantities: (1..=quantities).map(|q| format!("h{q}")).collect(),
        targets: vec![0.0; quantities],
    };
    let named = (1..=cells).map(|c| 100 * c).zip(study.cell_names());
    let infos: Vec<CellInfo> = named.map(cell).collect();
    Results { study, records: vec![Vec::new(); cells], cells: infos, checked: true }
}
