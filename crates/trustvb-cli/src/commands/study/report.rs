//! The summary of a study as a table for people, JSON and CSV for programs.

use super::{flags, overall};
use crate::args::Format;
use crate::output::{csv_cell, csv_number, deserved, json_text, number, significant, table};
use serde_json::{Map, Value, json};
use trustvb::study::{
    Labels, Ranks, Results, Summary, flag_coverage, overall as all_together, ranks,
};

pub(super) fn text(format: Format, results: &Results, summary: &[Summary]) -> String {
    match format {
        Format::Table => tables(results, summary),
        Format::Json => json(results, summary),
        Format::Csv => csv(summary),
    }
}

fn labels(results: &Results) -> &'static str {
    match results.study.labels {
        Labels::Matched => "components matched to the truth",
        Labels::Weight => "components ordered by weight",
    }
}

/// One table for each cell, quantity and level.
fn tables(results: &Results, summary: &[Summary]) -> String {
    let study = &results.study;
    let (done, of) = results.replications();
    let mut text = format!(
        "{}\n{} of {} replications, {} bootstraps, {} ω from 1 to {}, seed {}, {}\n",
        study.title,
        done,
        of,
        study.bootstraps,
        study.grid,
        study.omega_min,
        study.seed,
        labels(results)
    );
    let relative = format!("score/{}", study.baseline.name());
    let header = [
        "method",
        "coverage",
        "95% limits",
        "mean length",
        "median",
        "sd",
        "score",
        relative.as_str(),
        "ω quartiles",
        "fits",
        "seconds",
        "warned",
    ];
    let same = |a: &&Summary, b: &&Summary| {
        a.cell == b.cell && a.quantity == b.quantity && a.level == b.level
    };
    // Levels are innermost in the summary; here each has its table.
    let mut sorted: Vec<&Summary> = summary.iter().collect();
    sorted.sort_by(|a, b| {
        let place = |s: &Summary| {
            let first = summary.iter().position(|x| x.cell == s.cell && x.quantity == s.quantity);
            let level = study.levels.iter().position(|level| *level == s.level);
            (first, level)
        };
        place(a).cmp(&place(b))
    });
    for group in sorted.chunk_by(same) {
        let first = group[0];
        text.push_str(&format!(
            "\n{}: {} = {}, {:.0}% intervals in {} data sets\n",
            first.cell,
            first.quantity,
            short(first.truth),
            100.0 * first.level,
            first.replications
        ));
        let rows = group.iter().map(|s| row(s, study.baseline == s.method)).collect();
        text.push_str(&table(&header, rows, 1));
        // The estimate is the same for all methods; those that always answer say most about it.
        let most = group.iter().max_by_key(|s| s.intervals).unwrap_or(&first);
        text.push_str(&format!(
            "best interval of one length around the estimate, which needs the truth: length {}, score {}\n",
            deserved(most.oracle_length, most.oracle_length),
            deserved(most.oracle_score, most.oracle_length)
        ));
        group.iter().filter(|s| s.intervals < s.replications).for_each(|s| {
            text.push_str(&without_interval(s));
        });
    }
    text.push_str(&overall::text(study.baseline.name(), &all_together(summary)));
    text
}

/// In how many data sets a method has no interval, and why.
fn without_interval(s: &Summary) -> String {
    let [none, failed, refused, crashed] = s.without;
    let reasons = [
        (none, "the method gave none"),
        (failed, "the data could not be fitted"),
        (refused, "the model refused the data"),
        (crashed, "the program failed, which is a mistake to report"),
    ];
    let reasons: Vec<String> = reasons
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, why)| format!("{n} because {why}"))
        .collect();
    format!(
        "{}: no interval in {} of {} data sets ({})\n",
        s.method.name(),
        s.replications - s.intervals,
        s.replications,
        reasons.join(", ")
    )
}

fn row(s: &Summary, is_baseline: bool) -> Vec<String> {
    let omegas = match s.method.chooses_omega() {
        true => s.omega[1..4].iter().map(|w| significant(*w, 2)).collect::<Vec<_>>().join(" "),
        false => "–".to_owned(),
    };
    let size = s.mean_length;
    vec![
        s.method.name().to_owned(),
        share(s.coverage),
        format!("{}–{}", share(s.coverage_limits.0), share(s.coverage_limits.1)),
        deserved(s.mean_length, size),
        deserved(s.median_length, size),
        deserved(s.sd_length, size),
        format!("{} ± {}", deserved(s.score, size), significant(s.score_se, 2)),
        match is_baseline || s.score_ratio.is_nan() {
            true => "–".to_owned(),
            false => format!("{:.3} ± {:.3}", s.score_ratio, s.score_ratio_se),
        },
        omegas,
        format!("{:.0}", s.fits),
        significant(s.seconds, 2),
        if s.warned.is_nan() { "–".to_owned() } else { format!("{:.0}%", 100.0 * s.warned) },
    ]
}

/// Six digits, without the zeros at the end.
fn short(x: f64) -> String {
    let text = significant(x, 6);
    if text.contains('.') && !text.contains('e') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

/// A share or a ratio with three decimals.
pub(super) fn share(x: f64) -> String {
    if x.is_finite() { format!("{x:.3}") } else { "–".to_owned() }
}

pub(super) fn json(results: &Results, summary: &[Summary]) -> String {
    let (done, of) = results.replications();
    let study = &results.study;
    let all: Vec<Value> = summary.iter().map(one_json).collect();
    json_text(&json!({
        "title": study.title,
        "seed": study.seed,
        "replications": study.replications,
        "replications_done": done,
        "replications_expected": of,
        "bootstraps": study.bootstraps,
        "grid": study.grid,
        "omega_min": study.omega_min,
        "labels": study.labels,
        "baseline": study.baseline.name(),
        "summary": all,
        "overall": all_together(summary).iter().map(overall::json).collect::<Vec<_>>(),
        "flag_coverage": flag_coverage(results).iter().map(flags::json).collect::<Vec<_>>(),
        "ranks": ranks(results).iter().map(ranks_json).collect::<Vec<_>>(),
        "version": env!("CARGO_PKG_VERSION"),
    }))
}

/// Half of 1 − 0.9 as people write it.
fn decimal(share: f64) -> f64 {
    (share * 1e12).round() / 1e12
}

fn ranks_json(r: &Ranks) -> Value {
    json!({
        "cell": r.cell,
        "quantity": r.quantity,
        "method": r.method.name(),
        "edges": r.edges.iter().map(|x| number(decimal(*x))).collect::<Vec<_>>(),
        "counts": r.counts,
    })
}

fn one_json(s: &Summary) -> Value {
    let flags: Map<String, Value> =
        s.flags.iter().map(|(name, share)| ((*name).to_owned(), number(*share))).collect();
    let list = |values: &[f64]| values.iter().map(|x| number(*x)).collect::<Vec<_>>();
    json!({
        "cell": s.cell,
        "size": s.size,
        "quantity": s.quantity,
        "method": s.method.name(),
        "level": number(s.level),
        "truth": number(s.truth),
        "replications": s.replications,
        "intervals": s.intervals,
        "no_interval": s.without[0],
        "fit_failed": s.without[1],
        "refused": s.without[2],
        "crashed": s.without[3],
        "coverage": number(s.coverage),
        "coverage_lower": number(s.coverage_limits.0),
        "coverage_upper": number(s.coverage_limits.1),
        "mean_length": number(s.mean_length),
        "median_length": number(s.median_length),
        "sd_length": number(s.sd_length),
        "length_quantiles": list(&s.length),
        "score": number(s.score),
        "score_se": number(s.score_se),
        "score_ratio": number(s.score_ratio),
        "score_ratio_se": number(s.score_ratio_se),
        "bias": number(s.bias),
        "sd_estimate": number(s.sd_estimate),
        "oracle_length": number(s.oracle_length),
        "oracle_score": number(s.oracle_score),
        "omega_quantiles": list(&s.omega),
        "claimed_coverage": number(s.claimed),
        "fits": number(s.fits),
        "warned": number(s.warned),
        "flags": flags,
        "seconds": number(s.seconds),
    })
}

pub(super) fn csv(summary: &[Summary]) -> String {
    let mut text = String::from(
        "cell,size,quantity,method,level,truth,replications,intervals,no_interval,fit_failed,refused,\
         crashed,coverage,coverage_lower,coverage_upper,mean_length,median_length,sd_length,score,\
         score_se,score_ratio,score_ratio_se,bias,sd_estimate,oracle_length,oracle_score,omega_p5,omega_q1,\
         omega_median,omega_q3,omega_p95,claimed_coverage,fits,warned,flags,seconds\n",
    );
    for s in summary {
        let mut cells = vec![
            csv_cell(&s.cell),
            s.size.to_string(),
            csv_cell(&s.quantity),
            s.method.name().to_owned(),
            csv_number(s.level),
            csv_number(s.truth),
            s.replications.to_string(),
            s.intervals.to_string(),
        ];
        cells.extend(s.without.iter().map(ToString::to_string));
        let numbers = [
            s.coverage,
            s.coverage_limits.0,
            s.coverage_limits.1,
            s.mean_length,
            s.median_length,
            s.sd_length,
            s.score,
            s.score_se,
            s.score_ratio,
            s.score_ratio_se,
            s.bias,
            s.sd_estimate,
            s.oracle_length,
            s.oracle_score,
        ];
        cells.extend(numbers.iter().chain(&s.omega).map(|x| csv_number(*x)));
        cells.extend([s.claimed, s.fits, s.warned].map(csv_number));
        let flags: Vec<String> =
            s.flags.iter().map(|(name, share)| format!("{name}={share:.4}")).collect();
        cells.push(flags.join(";"));
        cells.push(csv_number(s.seconds));
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}
