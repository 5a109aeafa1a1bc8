//! How each method did in all cells and for all quantities of a study together.

use super::score::mean_and_sd;
use super::{StudyMethod, Summary};
use crate::calibrate::Method;

/// Methods that the others are set against, pair by pair, where a study has them.
const RIVALS: [Method; 2] = [Method::Tvb, Method::Anchored];

/// One method at one level, over all cells and quantities in which it gave intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct Overall {
    /// The method.
    pub method: StudyMethod,
    /// The level.
    pub level: f64,
    /// Pairs of cell and quantity with intervals.
    pub pairs: usize,
    /// Mean share of data sets with an interval, over all pairs. Scores are about these only, so that a
    /// method which leaves out the hard ones is to be seen.
    pub answered: f64,
    /// Mean of their coverages.
    pub coverage: f64,
    /// Mean distance between coverage and level; Monte-Carlo error adds to it.
    pub distance: f64,
    /// Lowest and highest coverage.
    pub range: (f64, f64),
    /// Cell and quantity of the lowest coverage, the first of equals.
    pub lowest: Option<(String, String)>,
    /// Geometric mean of the scores as shares of the baseline's.
    pub score_ratio: f64,
    /// Geometric mean of the scores as shares of the oracle's, the best interval of one length.
    pub oracle_ratio: f64,
    /// Geometric mean of the scores as shares of the lowest that any method has in the pair.
    pub best_ratio: f64,
    /// Share of pairs in which its score is below that of `tvb` and of `anchored`, where both are there.
    pub below: Vec<(StudyMethod, f64)>,
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
        let asked: Vec<&Summary> = summary
            .iter()
            .filter(|s| s.method == first.method && s.level == first.level && s.replications > 0)
            .collect();
        let own: Vec<&Summary> = asked.iter().copied().filter(|s| s.intervals > 0).collect();
        let mean = |of: &dyn Fn(&Summary) -> f64| {
            mean_and_sd(&own.iter().map(|s| of(s)).collect::<Vec<_>>()).0
        };
        let answers: Vec<f64> =
            asked.iter().map(|s| s.intervals as f64 / s.replications as f64).collect();
        let coverages = own.iter().map(|s| s.coverage);
        let lowest = own.iter().min_by(|a, b| a.coverage.total_cmp(&b.coverage));
        all.push(Overall {
            method: first.method,
            level: first.level,
            pairs: own.len(),
            answered: mean_and_sd(&answers).0,
            coverage: mean(&|s| s.coverage),
            distance: mean(&|s| (s.coverage - s.level).abs()),
            range: coverages.fold((f64::NAN, f64::NAN), |(l, h), c| (l.min(c), h.max(c))),
            lowest: lowest.map(|s| (s.cell.clone(), s.quantity.clone())),
            score_ratio: mean(&|s| s.score_ratio.ln()).exp(),
            oracle_ratio: mean(&|s| (s.score / s.oracle_score).ln()).exp(),
            best_ratio: mean(&|s| (s.score / best(summary, s)).ln()).exp(),
            below: below(summary, &own),
            warned: mean(&|s| s.warned),
        });
    }
    all
}

/// The summaries of all methods for the same cell, quantity and level.
fn rivals<'a>(summary: &'a [Summary], of: &'a Summary) -> impl Iterator<Item = &'a Summary> {
    summary.iter().filter(|s| {
        s.cell == of.cell && s.quantity == of.quantity && s.level == of.level && s.intervals > 0
    })
}

/// The lowest score of any method in the pair.
fn best(summary: &[Summary], of: &Summary) -> f64 {
    rivals(summary, of).map(|s| s.score).fold(f64::NAN, f64::min)
}

/// Against each rival that is there, other than itself, the share of pairs with a lower score.
fn below(summary: &[Summary], own: &[&Summary]) -> Vec<(StudyMethod, f64)> {
    let share = |rival: Method| {
        let mut lower = Vec::new();
        for s in own.iter().filter(|s| s.method != rival) {
            let other = rivals(summary, s).find(|other| other.method == rival);
            lower.extend(other.map(|other| f64::from(u8::from(s.score < other.score))));
        }
        (!lower.is_empty()).then(|| (rival.into(), mean_and_sd(&lower).0))
    };
    RIVALS.into_iter().filter_map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{record, results};
    use super::super::summarise;
    use super::*;

    /// Two cells, one quantity, level 90% (a miss by x costs 20x), truth 0, two data sets each.
    #[test]
    fn methods_are_set_against_each_other_pair_by_pair() {
        let mut made = results(&["vb", "tvb", "anchored"], 2, 1);
        let mut add = |cell: usize, method: u32, intervals: [(f64, f64); 2]| {
            for (n, (lower, upper)) in intervals.into_iter().enumerate() {
                let mut r = record(n as u32 + 1, 0, method, lower, upper);
                // Errors of -1 and 1, so that the oracle's length is nearly 2.
                r.estimate = 2.0 * n as f64 - 1.0;
                made.records[cell].push(r);
            }
        };
        add(0, 0, [(-1.0, 1.0), (0.1, 1.1)]); // scores 2 and 1 + 2: 2.5
        add(0, 1, [(-2.0, 2.0), (-3.0, 3.0)]); // 4 and 6: 5
        add(0, 2, [(-1.0, 0.0), (-1.0, 2.0)]); // 1 and 3: 2
        add(1, 0, [(-4.0, 4.0), (-4.0, 4.0)]); // 8
        add(1, 1, [(-0.5, 0.5), (-0.5, 0.5)]); // 1
        add(1, 2, [(-2.0, 2.0), (f64::NAN, f64::NAN)]); // 4, and none
        for records in &mut made.records {
            records.sort_by_key(|r| (r.replication, r.method));
        }
        let summary = summarise(&made);
        let all = overall(&summary);
        let close = |x: f64, y: f64| assert!((x - y).abs() < 1e-12, "{x} is not {y}");
        let names: Vec<&str> = all.iter().map(|o| o.method.name()).collect();
        assert_eq!(names, ["vb", "tvb", "anchored"]);
        let [vb, tvb, anchored] = [&all[0], &all[1], &all[2]];
        assert_eq!((vb.pairs, vb.range), (2, (0.5, 1.0)));
        assert_eq!(vb.lowest, Some(("d/n=100".to_owned(), "h1".to_owned())));
        close(vb.coverage, 0.75);
        close(vb.distance, 0.25);
        // Equals: the first is named.
        assert_eq!(tvb.lowest, Some(("d/n=100".to_owned(), "h1".to_owned())));
        close(vb.best_ratio, (2.5_f64 / 2.0 * 8.0 / 1.0).sqrt());
        close(tvb.best_ratio, (5.0_f64 / 2.0).sqrt());
        close(anchored.best_ratio, 2.0);
        assert_eq!(vb.below, [(Method::Tvb.into(), 0.5), (Method::Anchored.into(), 0.0)]);
        assert_eq!(tvb.below, [(Method::Anchored.into(), 0.5)]);
        assert_eq!(anchored.below, [(Method::Tvb.into(), 0.5)]);
        assert_eq!((vb.answered, anchored.answered), (1.0, 0.75));
        close(vb.score_ratio, (2.5_f64 / 5.0 * 8.0).sqrt());
        let oracle = summary[0].oracle_score;
        close(vb.oracle_ratio, (2.5 * 8.0_f64).sqrt() / oracle);
    }
}
