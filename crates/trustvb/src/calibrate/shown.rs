//! What the bootstraps of a table show of its components, whatever is asked: whether they overlap, and stay what they are.

use crate::backend::Job;
use crate::fit::match_components;
use crate::posterior::Posterior;
use crate::resample::Design;
use crate::special::gamma::trigamma;
use crate::table::TvbTable;
use std::collections::BTreeMap;

/// How many times as much bootstraps of all units move a weight as VB's posterior says, on the logit scale; the
/// largest of all weights. Little bootstraps move it from where their subset has it. `None` without bootstraps or with one
/// component.
pub(super) fn overlap(table: &TvbTable) -> Option<f64> {
    let full = table.zeroth(Design::Full, 0)?;
    let layout = table.layout();
    let weights = |parameters: &[f64]| {
        let posterior = Posterior::new(layout.clone(), parameters.to_vec());
        posterior.mixing().map(|d| d.alpha().to_vec())
    };
    let alpha = weights(full)?;
    if alpha.len() < 2 {
        return None;
    }
    let logits = |alpha: &[f64]| -> Vec<f64> {
        let total: f64 = alpha.iter().sum();
        alpha.iter().map(|a| (a / (total - a)).ln()).collect()
    };
    let of_subset = |job: Job| {
        let own = table.parameters(table.path(job)?, 0)?;
        Some((job, logits(&weights(own)?)))
    };
    let subsets: BTreeMap<Job, Vec<f64>> = match table.manifest().subsets {
        Some(_) => table.checked_jobs(Design::Full).into_iter().filter_map(of_subset).collect(),
        None => BTreeMap::new(),
    };
    let mut sums = vec![(0.0, 0.0); alpha.len()];
    let mut n = 0.0;
    let mut count = |job: Job, alpha: &[f64]| {
        let from = subsets.get(&table.checked_against(job));
        if from.is_none() && table.manifest().subsets.is_some() {
            return;
        }
        n += 1.0;
        for (k, (sum, logit)) in sums.iter_mut().zip(logits(alpha)).enumerate() {
            let moved = logit - from.map_or(0.0, |from| from[k]);
            sum.0 += moved;
            sum.1 += moved * moved;
        }
    };
    #[cfg(feature = "parquet")]
    for (job, alpha) in table.thin().into_iter().flat_map(|thin| thin.first_weights()) {
        count(job, alpha);
    }
    for (job, path) in table.bootstraps(Design::Full) {
        let Some(alpha) = table.parameters(path, 0).and_then(weights) else { continue };
        count(*job, &alpha);
    }
    if n < 2.0 {
        return None;
    }
    let total: f64 = alpha.iter().sum();
    let times = sums.iter().zip(&alpha).map(|(&(first, second), a)| {
        let variance = (second - first * first / n) / (n - 1.0);
        (variance / (trigamma(*a) + trigamma(total - a))).sqrt()
    });
    times.reduce(f64::max)
}

/// Share of replicates in which another numbering of the components would fit the full data better.
pub(super) fn mismatched(table: &TvbTable, design: Design, i: usize) -> f64 {
    let Some(full) = table.zeroth(Design::Full, i) else { return 0.0 };
    let full = Posterior::new(table.layout().clone(), full.to_vec());
    let (mut bad, mut all) = (0u32, 0u32);
    for (_, path) in table.bootstraps(design) {
        let Some(parameters) = table.parameters(path, i) else { continue };
        let replicate = Posterior::new(table.layout().clone(), parameters.to_vec());
        let order = match_components(&full, &replicate);
        all += 1;
        bad += u32::from(order.iter().enumerate().any(|(k, &j)| k != j));
    }
    f64::from(bad) / f64::from(all.max(1))
}
