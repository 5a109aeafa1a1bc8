//! What flags are worth: how often intervals hold the truth with a flag and without it.

use super::record::{Outcome, Record};
use super::{Results, StudyMethod};
use crate::calibrate::Flag;

/// The intervals of one method at one level that carry a flag, and those that do not, over all cells
/// and quantities.
#[derive(Clone, Debug, PartialEq)]
pub struct FlagCoverage {
    /// The method.
    pub method: StudyMethod,
    /// The level.
    pub level: f64,
    /// The flag's name; `any warning` for those that [`Summary::warned`](super::Summary::warned) counts.
    pub flag: &'static str,
    /// Intervals with the flag.
    pub with: usize,
    /// Intervals without it.
    pub without: usize,
    /// Data sets with the flag for which the method gave no interval.
    pub no_interval: usize,
    /// Share of the intervals with the flag that hold the truth.
    pub coverage_with: f64,
    /// Share of those without it.
    pub coverage_without: f64,
    /// The same, of those without it in the same cells and for the same quantities: each pair counts as
    /// often as it has the flag. Cells that are hard get more flags and lower coverage, and this tells
    /// what the flag adds to knowing the cell.
    pub coverage_alike: f64,
}

/// Whether flags (bits in the order of [`Flag::NAMES`]) warn of anything but few bootstraps, of which
/// the study itself decides how many there are.
pub(super) fn warns(flags: u32) -> bool {
    let few = Flag::FewBootstraps { bootstraps: 0 };
    let remark = |i: usize| Flag::REMARKS.contains(&Flag::NAMES[i]) || Flag::NAMES[i] == few.name();
    (0..Flag::NAMES.len()).any(|i| flags & (1 << i) != 0 && !remark(i))
}

/// Hits among intervals, without and with a flag.
#[derive(Clone, Copy, Default)]
struct Tally {
    intervals: [usize; 2],
    hits: [usize; 2],
    no_interval: usize,
}

impl Tally {
    fn add(&mut self, record: &Record, truth: f64, flagged: bool) {
        match record.covers(truth) {
            None => {
                self.no_interval += usize::from(flagged && record.outcome == Outcome::NoInterval)
            }
            Some(hit) => {
                self.intervals[usize::from(flagged)] += 1;
                self.hits[usize::from(flagged)] += usize::from(hit);
            }
        }
    }

    fn coverage(&self, flagged: bool) -> f64 {
        let at = usize::from(flagged);
        self.hits[at] as f64 / self.intervals[at] as f64
    }
}

/// For each method and level of a study, every flag that occurs, in the order of [`Flag::NAMES`], and
/// then any warning.
pub fn flag_coverage(results: &Results) -> Vec<FlagCoverage> {
    let study = &results.study;
    let mut all = Vec::new();
    for (m, &method) in study.methods.iter().enumerate() {
        for (l, &level) in study.levels.iter().enumerate() {
            let own = |r: &&Record| r.method as usize == m && r.level as usize == l;
            let flags = Flag::NAMES.iter().enumerate();
            let one = flags.map(|(i, name)| (*name, 1_u32 << i));
            for (flag, bit) in one.chain([("any warning", 0)]) {
                let has = |r: &Record| if bit == 0 { warns(r.flags) } else { r.flags & bit != 0 };
                let mut pairs: Vec<Tally> = Vec::new();
                for (cell, records) in results.cells.iter().zip(&results.records) {
                    let first = pairs.len();
                    pairs.resize(first + cell.targets.len(), Tally::default());
                    for r in records.iter().filter(own) {
                        let quantity = r.quantity as usize;
                        pairs[first + quantity].add(r, cell.targets[quantity], has(r));
                    }
                }
                let found = summed(method, level, flag, &pairs);
                if found.with + found.no_interval > 0 {
                    all.push(found);
                }
            }
        }
    }
    all
}

fn summed(method: StudyMethod, level: f64, flag: &'static str, pairs: &[Tally]) -> FlagCoverage {
    let mut total = Tally::default();
    let (mut weighted, mut weights) = (0.0, 0.0);
    for pair in pairs {
        for at in 0..2 {
            total.intervals[at] += pair.intervals[at];
            total.hits[at] += pair.hits[at];
        }
        total.no_interval += pair.no_interval;
        if pair.intervals[0] > 0 && pair.intervals[1] > 0 {
            let weight = pair.intervals[1] as f64;
            weighted += weight * pair.coverage(false);
            weights += weight;
        }
    }
    FlagCoverage {
        method,
        level,
        flag,
        with: total.intervals[1],
        without: total.intervals[0],
        no_interval: total.no_interval,
        coverage_with: total.coverage(true),
        coverage_without: total.coverage(false),
        coverage_alike: weighted / weights,
    }
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{record, results};
    use super::*;
    use crate::calibrate::Method;

    #[test]
    fn coverage_with_and_without_a_flag_is_counted() {
        let name = |flag: &str| Flag::NAMES.iter().position(|n| *n == flag).unwrap();
        let (edge, few) = (1 << name("at-grid-edge"), 1 << name("few-bootstraps"));
        let mut made = results(&["vb", "tvb"], 2, 2);
        // The truth is 0. In the first pair of vb the flag comes with misses, in the second with a hit.
        let with = |pair: (usize, u32), n: u32, (lower, upper): (f64, f64), flags: u32| {
            (pair.0, Record { flags, ..record(n, pair.1, 0, lower, upper) })
        };
        let (hit, miss) = ((-1.0, 1.0), (1.0, 2.0));
        for (cell, r) in [
            with((0, 0), 1, miss, edge),
            with((0, 0), 2, miss, edge | few),
            with((0, 0), 3, hit, few),
            with((0, 0), 4, hit, 0),
            with((1, 1), 1, hit, edge),
            with((1, 1), 2, miss, 0),
            with((1, 0), 1, miss, 0),
            (1, Record { flags: edge, ..record(2, 0, 0, f64::NAN, f64::NAN) }),
            (1, record(1, 0, 1, -1.0, 1.0)),
        ] {
            made.records[cell].push(r);
        }
        let found = flag_coverage(&made);
        let names: Vec<_> = found.iter().map(|f| (f.method, f.flag)).collect();
        let vb = Method::Vb.into();
        assert_eq!(names, [(vb, "at-grid-edge"), (vb, "few-bootstraps"), (vb, "any warning")]);
        let edge = &found[0];
        assert_eq!((edge.with, edge.without, edge.no_interval), (3, 4, 1));
        assert_eq!((edge.coverage_with, edge.coverage_without), (1.0 / 3.0, 0.5));
        // Without it: 2 of 2 in the first pair, which has the flag twice, 0 of 1 in the other.
        assert_eq!(edge.coverage_alike, 2.0 / 3.0);
        let few = &found[1];
        assert_eq!((few.with, few.without, few.coverage_with), (2, 5, 0.5));
        // Few bootstraps are no warning, so that any warning is the other flag.
        assert_eq!(found[2], FlagCoverage { flag: "any warning", ..edge.clone() });
    }
}
