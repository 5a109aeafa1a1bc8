//! What a study shows: for each cell, quantity, method and level, how intervals did.

use super::flags::warns;
use super::record::Outcome;
use super::score::{interval_score, mean_and_sd, oracle, ratio_of_means, wilson};
use super::{Record, Results, StudyMethod};
use crate::calibrate::Flag;
use crate::calibrate::Method;
use crate::functional::SampledLaw;
use serde::Serialize;

/// How the intervals of one method did for one quantity of one cell at one level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The cell.
    pub cell: String,
    /// Number of its design.
    #[serde(skip)]
    pub design: usize,
    /// Rows, or rows per group.
    pub size: usize,
    /// The quantity.
    pub quantity: String,
    /// The method.
    pub method: StudyMethod,
    /// The level.
    pub level: f64,
    /// The value that intervals should cover.
    pub truth: f64,
    /// Replications done.
    pub replications: usize,
    /// Those with an interval; all that follows is about them.
    pub intervals: usize,
    /// Those without: no interval from the method, fit failed, data refused, program failed.
    pub without: [usize; 4],
    /// Share of intervals that hold the truth.
    pub coverage: f64,
    /// Wilson's 95% limits of that share.
    pub coverage_limits: (f64, f64),
    /// Mean length.
    pub mean_length: f64,
    /// Median length.
    pub median_length: f64,
    /// Standard deviation of the lengths.
    pub sd_length: f64,
    /// Mean interval score.
    pub score: f64,
    /// Its Monte-Carlo standard error.
    pub score_se: f64,
    /// Mean score over the baseline's, in the data sets where both have an interval.
    pub score_ratio: f64,
    /// Its standard error, from the pairs.
    pub score_ratio_se: f64,
    /// ω̂: 5%, quartiles, 95%.
    pub omega: [f64; 5],
    /// Lengths: 5%, quartiles, 95%.
    pub length: [f64; 5],
    /// Mean of the estimates minus the truth.
    pub bias: f64,
    /// Standard deviation of the estimates.
    pub sd_estimate: f64,
    /// Length of the best interval of one length around the estimate, which needs the truth.
    pub oracle_length: f64,
    /// Its mean score.
    pub oracle_score: f64,
    /// Mean of the coverage that the method itself estimates.
    pub claimed: f64,
    /// Mean number of fits.
    pub fits: f64,
    /// Mean wall seconds on one thread.
    pub seconds: f64,
    /// Share of replications with a flag that warns, other than of few bootstraps.
    pub warned: f64,
    /// Share of replications with each flag that occurred.
    pub flags: Vec<(&'static str, f64)>,
}

/// Everything that a study shows, in the order of cells, quantities, methods and levels.
pub fn summarise(results: &Results) -> Vec<Summary> {
    let study = &results.study;
    let (methods, levels) = (study.methods.len(), study.levels.len());
    let baseline = study.methods.iter().position(|method| *method == study.baseline);
    let mut summaries = Vec::new();
    for (cell, records) in results.cells.iter().zip(&results.records) {
        let mut sorted: Vec<Vec<&Record>> = vec![Vec::new(); cell.targets.len() * methods * levels];
        let place = |quantity: usize, method: usize, level: usize| {
            (quantity * methods + method) * levels + level
        };
        for r in records {
            sorted[place(r.quantity as usize, r.method as usize, r.level as usize)].push(r);
        }
        for (quantity, &truth) in cell.targets.iter().enumerate() {
            for (m, &method) in study.methods.iter().enumerate() {
                for (l, &level) in study.levels.iter().enumerate() {
                    let own = &sorted[place(quantity, m, l)];
                    let mut summary = summary(own, level, truth);
                    summary.cell.clone_from(&cell.name);
                    (summary.design, summary.size) = (cell.design, cell.size);
                    summary.quantity.clone_from(&cell.quantities[quantity]);
                    summary.method = method;
                    if let Some(b) = baseline {
                        let base = &sorted[place(quantity, b, l)];
                        (summary.score_ratio, summary.score_ratio_se) =
                            compare(own, base, level, truth);
                    }
                    summaries.push(summary);
                }
            }
        }
    }
    summaries
}

fn score(record: &Record, level: f64, truth: f64) -> f64 {
    interval_score(record.lower, record.upper, level, truth)
}

/// The ratio of mean scores over data sets where both have an interval.
fn compare(own: &[&Record], base: &[&Record], level: f64, truth: f64) -> (f64, f64) {
    let there = |r: &Record| r.outcome == Outcome::Interval;
    let pairs: Vec<(f64, f64)> = own
        .iter()
        .zip(base)
        .filter(|(a, b)| a.replication == b.replication && there(a) && there(b))
        .map(|(a, b)| (score(b, level, truth), score(a, level, truth)))
        .collect();
    ratio_of_means(&pairs)
}

/// What a boxplot shows: 5%, quartiles, 95%.
fn five(values: Vec<f64>) -> [f64; 5] {
    let law = SampledLaw::new(values);
    [0.05, 0.25, 0.5, 0.75, 0.95].map(|p| law.quantile(p))
}

fn summary(records: &[&Record], level: f64, truth: f64) -> Summary {
    let there: Vec<&Record> =
        records.iter().copied().filter(|r| r.outcome == Outcome::Interval).collect();
    let values = |of: &dyn Fn(&Record) -> f64| there.iter().map(|r| of(r)).collect::<Vec<f64>>();
    let hits = there.iter().filter(|r| r.covers(truth) == Some(true)).count();
    let lengths = values(&|r| r.upper - r.lower);
    let (mean_length, sd_length) = mean_and_sd(&lengths);
    let length = five(lengths);
    let (mean_score, sd_score) = mean_and_sd(&values(&|r| score(r, level, truth)));
    let estimates = values(&|r| r.estimate);
    let (mean_estimate, sd_estimate) = mean_and_sd(&estimates);
    let (oracle_length, oracle_score) = oracle(&estimates, level, truth);
    let claimed: Vec<f64> = values(&|r| r.coverage).into_iter().filter(|c| !c.is_nan()).collect();
    let share = |count: usize| count as f64 / records.len() as f64;
    let bit = |r: &Record, i: usize| r.flags & (1 << i) != 0;
    let flags: Vec<(&'static str, f64)> = Flag::NAMES
        .iter()
        .enumerate()
        .map(|(i, name)| (*name, records.iter().filter(|r| bit(r, i)).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| (name, share(count)))
        .collect();
    let without = |outcome: Outcome| records.iter().filter(|r| r.outcome == outcome).count();
    Summary {
        cell: String::new(),
        design: 0,
        size: 0,
        quantity: String::new(),
        method: Method::Vb.into(),
        level,
        truth,
        replications: records.len(),
        intervals: there.len(),
        without: [Outcome::NoInterval, Outcome::FitFailed, Outcome::Refused, Outcome::Crashed]
            .map(without),
        coverage: hits as f64 / there.len() as f64,
        coverage_limits: wilson(hits, there.len(), 0.95),
        mean_length,
        median_length: length[2],
        sd_length,
        score: mean_score,
        score_se: sd_score / (there.len() as f64).sqrt(),
        score_ratio: f64::NAN,
        score_ratio_se: f64::NAN,
        omega: five(values(&|r| r.omega)),
        length,
        bias: mean_estimate - truth,
        sd_estimate,
        oracle_length,
        oracle_score,
        claimed: mean_and_sd(&claimed).0,
        fits: mean_and_sd(&values(&|r| r.fits)).0,
        seconds: mean_and_sd(&values(&|r| r.seconds)).0,
        warned: share(records.iter().filter(|r| warns(r.flags)).count()),
        flags,
    }
}
