//! Coverage with and without each flag, over all cells of a study.

use super::report::share;
use crate::args::Format;
use crate::output::{csv_cell, csv_number, number, table};
use serde_json::{Value, json};
use trustvb::study::{FlagCoverage, Results, StudyMethod, flag_coverage};

/// Those of some methods, or of all when none is named. JSON has them in the summary already.
pub(super) fn text(format: Format, results: &Results, methods: &[StudyMethod]) -> String {
    let mut found = flag_coverage(results);
    found.retain(|f| methods.is_empty() || methods.contains(&f.method));
    match format {
        Format::Table => tables(&found),
        Format::Csv => csv(&found),
        Format::Json => String::new(),
    }
}

fn tables(found: &[FlagCoverage]) -> String {
    let header = ["flag", "with it", "coverage", "without", "coverage", "alike", "no interval"];
    let mut text = String::from(
        "\nFlags over all cells and quantities: intervals with the flag and without it, and how often they \
         hold the truth (alike: those without it in the same cells and for the same quantities)\n",
    );
    if found.is_empty() {
        text.push_str("no interval has a flag\n");
    }
    for group in found.chunk_by(|a, b| a.method == b.method && a.level == b.level) {
        let first = &group[0];
        text.push_str(&format!(
            "\n{}, {:.0}% intervals\n",
            first.method.name(),
            100.0 * first.level
        ));
        let rows = group.iter().map(|f| {
            vec![
                f.flag.to_owned(),
                f.with.to_string(),
                share(f.coverage_with),
                f.without.to_string(),
                share(f.coverage_without),
                share(f.coverage_alike),
                f.no_interval.to_string(),
            ]
        });
        text.push_str(&table(&header, rows.collect(), 1));
    }
    text
}

fn csv(found: &[FlagCoverage]) -> String {
    let mut text = String::from(
        "method,level,flag,with,without,no_interval,coverage_with,coverage_without,coverage_alike\n",
    );
    for f in found {
        let mut cells = vec![f.method.name().to_owned(), csv_number(f.level), csv_cell(f.flag)];
        cells.extend([f.with, f.without, f.no_interval].map(|n| n.to_string()));
        cells.extend([f.coverage_with, f.coverage_without, f.coverage_alike].map(csv_number));
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

pub(super) fn json(f: &FlagCoverage) -> Value {
    json!({
        "method": f.method.name(),
        "level": number(f.level),
        "flag": f.flag,
        "with": f.with,
        "without": f.without,
        "no_interval": f.no_interval,
        "coverage_with": number(f.coverage_with),
        "coverage_without": number(f.coverage_without),
        "coverage_alike": number(f.coverage_alike),
    })
}
