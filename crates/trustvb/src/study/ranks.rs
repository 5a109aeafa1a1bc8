//! Where the truth falls among a method's limits at several levels: one histogram for each cell, quantity and method.

use super::{Results, StudyMethod};
use std::collections::BTreeMap;

/// No bin is narrower than this share of the data sets: a bin that expects next to none says nothing.
const NARROWEST: f64 = 0.05;

/// Differences of levels are differences of decimals that no double holds.
const SLACK: f64 = 1e-9;

/// Ranks of the truth among the limits of one method's intervals.
///
/// An interval of level `1−a` promises that the truth lies below its lower limit in a share `a/2` of the data sets, and
/// above its upper limit in as many. So limits at several levels cut the line into bins whose shares are known, and the
/// truth has a rank among them. This is what simulation-based calibration looks at (Talts et al. 2018), with two
/// differences: the truth is that of the design and not drawn from a prior, and ranks are among limits, not among draws,
/// so that a method without draws has them too.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranks {
    /// The cell.
    pub cell: String,
    /// Number of its design.
    pub design: usize,
    /// Rows, or rows per group.
    pub size: usize,
    /// The quantity.
    pub quantity: String,
    /// The method.
    pub method: StudyMethod,
    /// Edges of the bins as probabilities, from 0 to 1: `a/2` and `1−a/2` for every level that is used.
    pub edges: Vec<f64>,
    /// Data sets in each bin; those without an interval at one of the levels are left out.
    pub counts: Vec<usize>,
}

impl Ranks {
    /// Data sets that are counted.
    pub fn total(&self) -> usize {
        self.counts.iter().sum()
    }

    /// For each bin, how often the truth fell into it over how often it should: 1 everywhere if limits keep what they
    /// promise. NaN without data sets.
    pub fn ratios(&self) -> Vec<f64> {
        let total = self.total() as f64;
        let bins = self.edges.windows(2).zip(&self.counts);
        bins.map(|(edge, count)| *count as f64 / (total * (edge[1] - edge[0]))).collect()
    }
}

/// Ranks for every cell, quantity and method of a study, in this order; none with fewer than two levels that leave bins
/// wide enough to say something.
pub fn ranks(results: &Results) -> Vec<Ranks> {
    let study = &results.study;
    let used = used(&study.levels);
    if used.len() < 2 {
        return Vec::new();
    }
    let mut edges = vec![0.0, 1.0];
    edges.extend(
        used.iter().flat_map(|&l| [-1.0, 1.0].map(|side| 0.5 + side * 0.5 * study.levels[l])),
    );
    edges.sort_by(f64::total_cmp);
    let mut all = Vec::new();
    for (cell, records) in results.cells.iter().zip(&results.records) {
        // For each quantity, method and replication: levels with an interval, and limits that the truth is beyond.
        let mut passed: BTreeMap<(u32, u32, u32), (usize, usize)> = BTreeMap::new();
        for r in records.iter().filter(|r| used.contains(&(r.level as usize))) {
            let truth = cell.targets[r.quantity as usize];
            let at = passed.entry((r.quantity, r.method, r.replication)).or_default();
            if r.covers(truth).is_some() {
                at.0 += 1;
                at.1 += usize::from(r.lower <= truth) + usize::from(r.upper < truth);
            }
        }
        for (quantity, name) in cell.quantities.iter().enumerate() {
            for (m, &method) in study.methods.iter().enumerate() {
                let (q, m) = (quantity as u32, m as u32);
                let mut counts = vec![0; edges.len() - 1];
                for (_, &(there, rank)) in passed.range((q, m, 0)..=(q, m, u32::MAX)) {
                    counts[rank] += usize::from(there == used.len());
                }
                all.push(Ranks {
                    cell: cell.name.clone(),
                    design: cell.design,
                    size: cell.size,
                    quantity: name.clone(),
                    method,
                    edges: edges.clone(),
                    counts,
                });
            }
        }
    }
    all
}

/// Numbers of the levels whose limits make bins, from the shortest intervals to the longest.
fn used(levels: &[f64]) -> Vec<usize> {
    let mut sorted: Vec<usize> = (0..levels.len()).collect();
    sorted.sort_by(|&a, &b| levels[a].total_cmp(&levels[b]));
    let wide = |share: f64| share >= NARROWEST - SLACK;
    let mut used: Vec<usize> = Vec::new();
    for l in sorted {
        let inside = used.last().map_or(levels[l], |&last| 0.5 * (levels[l] - levels[last]));
        if wide(inside) && wide(0.5 * (1.0 - levels[l])) {
            used.push(l);
        }
    }
    used
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{record, results};
    use super::super::{Record, summarise};
    use super::*;
    use crate::random::{Purpose, stream};
    use crate::special::normal;
    use rand_distr::{Distribution, StandardNormal};

    fn close(a: &[f64], b: &[f64]) {
        assert_eq!(a.len(), b.len(), "{a:?} {b:?}");
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12), "{a:?} is not {b:?}");
    }

    /// Intervals of one data set at each level, from quantiles of its law.
    fn add(made: &mut Results, replication: u32, quantile: impl Fn(f64) -> f64) {
        for (l, level) in made.study.levels.clone().into_iter().enumerate() {
            let (lower, upper) = (quantile(0.5 - 0.5 * level), quantile(0.5 + 0.5 * level));
            made.records[0]
                .push(Record { level: l as u32, ..record(replication, 0, 0, lower, upper) });
        }
    }

    #[test]
    fn levels_whose_bins_would_be_narrow_are_left_out() {
        assert_eq!(used(&[0.95, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99]), [1, 2, 3, 4, 5]);
        assert_eq!(used(&[0.9, 0.5, 0.52, 0.1]), [3, 1, 0]);
        assert_eq!(used(&[0.95]), Vec::<usize>::new());
        assert!(ranks(&results(&["vb"], 1, 1)).is_empty(), "one level makes no histogram");
    }

    #[test]
    fn the_truth_is_counted_where_it_falls() {
        let mut made = results(&["vb"], 1, 1);
        made.study.levels = vec![0.8, 0.5];
        // The truth is 0. Quantiles of a uniform law on (low, low + 1): 0 is its quantile −low.
        for (n, low) in [(1, 0.5), (2, -0.2), (3, -0.5), (4, -0.8), (5, -0.95), (6, -0.2)] {
            add(&mut made, n, |p| low + p);
        }
        // A data set without an interval at one level has no rank.
        add(&mut made, 7, |p| if p > 0.85 { f64::NAN } else { p });
        let found = ranks(&made);
        assert_eq!(found.len(), 1);
        close(&found[0].edges, &[0.0, 0.1, 0.25, 0.75, 0.9, 1.0]);
        assert_eq!(found[0].counts, [1, 2, 1, 1, 1]);
        assert_eq!(found[0].total(), 6);
        // Shares of 1/6 and 2/6 over the widths of the bins.
        close(&found[0].ratios(), &[1.0 / 0.6, 2.0 / 0.9, 1.0 / 3.0, 1.0 / 0.9, 1.0 / 0.6]);
    }

    #[test]
    fn middle_bins_are_the_coverage_that_the_summary_has() {
        let mut made = results(&["vb"], 1, 1);
        made.study.levels = vec![0.9, 0.5, 0.7];
        let mut rng = stream(5, Purpose::Draw, 1);
        for n in 1..=200 {
            let shift: f64 = StandardNormal.sample(&mut rng);
            add(&mut made, n, |p| 0.8 * normal::quantile(p) + shift);
        }
        let counts = &ranks(&made)[0].counts;
        assert_eq!(counts.len(), 7);
        for s in summarise(&made) {
            let out = match s.level {
                0.9 => 1,
                0.7 => 2,
                _ => 3,
            };
            let inside: usize = counts[out..7 - out].iter().sum();
            assert!((inside as f64 / 200.0 - s.coverage).abs() < 1e-12, "{}: {counts:?}", s.level);
        }
    }

    #[test]
    fn exact_limits_have_flat_ranks_and_short_ones_a_valley() {
        let mut made = results(&["vb"], 1, 1);
        made.study.levels = (1..10).map(|i| f64::from(i) / 10.0).collect();
        let of = |made: &mut Results, sd: f64| {
            made.records[0].clear();
            let mut rng = stream(6, Purpose::Draw, 1);
            for n in 1..=4000 {
                let estimate: f64 = StandardNormal.sample(&mut rng);
                add(made, n, |p| estimate + sd * normal::quantile(p));
            }
            ranks(made)[0].ratios()
        };
        let exact = of(&mut made, 1.0);
        assert_eq!(exact.len(), 19);
        // Each bin expects 200 of 4000, with a standard error of 7%; four of them, for 19 bins.
        assert!(exact.iter().all(|ratio| (ratio - 1.0).abs() < 0.28), "{exact:?}");
        // With half the standard deviation, 5% tails are Φ(−1.645/2) = 20.6% each.
        let short = of(&mut made, 0.5);
        assert!((short[0] - 4.11).abs() < 0.5 && (short[18] - 4.11).abs() < 0.5, "{short:?}");
        assert!(short[9] < 0.7, "{short:?}");
    }
}
