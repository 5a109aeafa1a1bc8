//! How each method did in all cells and for all quantities of a study together.

use super::score::mean_and_sd;
use super::{StudyMethod, Summary};

/// One method at one level, over all cells and quantities in which it gave intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct Overall {
    /// The method.
    pub method: StudyMethod,
    /// The level.
    pub level: f64,
    /// Pairs of cell and quantity with intervals.
    pub pairs: usize,
    /// Mean of their coverages.
    pub coverage: f64,
    /// Mean distance between coverage and level; Monte-Carlo error adds to it.
    pub distance: f64,
    /// Lowest and highest coverage.
    pub range: (f64, f64),
    /// Geometric mean of the scores as shares of the baseline's.
    pub score_ratio: f64,
    /// Geometric mean of the scores as shares of the oracle's.
    pub oracle_ratio: f64,
    /// Mean share of data sets with a warning.
    pub warned: f64,
}

/// Every method and level of a study, in the order of `summary`.
pub fn overall(summary: &[Summary]) -> Vec<Overall> {
    let mut all: Vec<Overall> = Vec::new();
    for first in summary {
        if all.iter().any(|o| o.method == first.method && o.level == first.level) {
            continue;
        }
        let own: Vec<&Summary> = summary
            .iter()
            .filter(|s| s.method == first.method && s.level == first.level && s.intervals > 0)
            .collect();
        let mean = |of: &dyn Fn(&Summary) -> f64| {
            mean_and_sd(&own.iter().map(|s| of(s)).collect::<Vec<_>>()).0
        };
        let coverages = own.iter().map(|s| s.coverage);
        all.push(Overall {
            method: first.method,
            level: first.level,
            pairs: own.len(),
            coverage: mean(&|s| s.coverage),
            distance: mean(&|s| (s.coverage - s.level).abs()),
            range: coverages.fold((f64::NAN, f64::NAN), |(l, h), c| (l.min(c), h.max(c))),
            score_ratio: mean(&|s| s.score_ratio.ln()).exp(),
            oracle_ratio: mean(&|s| (s.score / s.oracle_score).ln()).exp(),
            warned: mean(&|s| s.warned),
        });
    }
    all
}
