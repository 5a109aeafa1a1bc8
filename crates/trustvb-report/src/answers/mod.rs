//! Answers as JSON, CSV and words: one form for the command line, reports and the explorer.

mod numbers;
mod verdict;
mod warnings;
mod words;

pub use crate::figures::whole_percent;
pub use numbers::{deserved, number, significant};
pub(crate) use verdict::range;
pub use verdict::{Own, verdict};
pub use warnings::{Warning, runs, warnings};
pub use words::{Remark, in_words, percent, remarks, sentence};
pub(crate) use words::{plural, quantity_in_words};

use serde_json::{Map, Value, json};
use trustvb::calibrate::{Answer, Method};
use trustvb::table::TvbTable;

/// The methods that are asked when none are named, as far as a table can answer them.
pub fn usual_methods(table: &TvbTable) -> Vec<Method> {
    Method::usual(false).iter().copied().filter(|method| method.is_possible(table)).collect()
}

/// Whose interval to quote where there is room for one: the best evidence first.
const PREFERRED: [Method; 10] = [
    Method::RECOMMENDED,
    Method::Tempered,
    Method::Anchored,
    Method::Analytic,
    Method::Gpc,
    Method::Tvb,
    Method::TvbSequential,
    Method::Jackknife,
    Method::Bootstrap,
    Method::Vb,
];

/// The answer to quote among those for one quantity at one level: the preferred method's, if it has
/// an interval.
pub fn headline<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Option<&'a Answer> {
    let answers: Vec<&Answer> = answers.into_iter().collect();
    let of = |method: &Method| answers.iter().find(|a| a.method == *method).copied();
    let with_interval = |a: &&Answer| a.lower.is_finite() || a.upper.is_finite();
    PREFERRED.iter().filter_map(of).find(with_interval).or_else(|| PREFERRED.iter().find_map(of))
}

/// The ω of an answer as text; a dash for methods whose interval is no posterior's.
pub(crate) fn omega_text(answer: &Answer) -> String {
    answer.shown_omega().map_or_else(|| "–".to_owned(), |omega| significant(omega, 3))
}

/// An answer for programs.
pub fn answer_json(answer: &Answer) -> Value {
    json!({
        "functional": answer.functional,
        "label": answer.label,
        "method": answer.method.name(),
        "level": number(answer.level),
        "recommended": answer.method == Method::RECOMMENDED,
        "omega": answer.shown_omega().map_or(Value::Null, number),
        "estimate": number(answer.estimate),
        "lower": number(answer.lower),
        "upper": number(answer.upper),
        "coverage": answer.coverage.map_or(Value::Null, number),
        "coverage_se": answer.coverage_se.map_or(Value::Null, number),
        "limits_se": answer.limits_se.map(|(l, u)| json!([number(l), number(u)])),
        "law": answer.law,
        "extra_fits": answer.extra_fits,
        "flags": answer.flags.iter().map(|flag| flag.name()).collect::<Vec<_>>(),
        "remarks": answer.flags.iter().map(|flag| flag.sentence()).collect::<Vec<_>>(),
        "curve": {
            "omega": answer.curve.iter().map(|p| number(p.omega)).collect::<Vec<_>>(),
            "coverage": answer.curve.iter().map(|p| number(p.coverage)).collect::<Vec<_>>(),
            "se": answer.curve.iter().map(|p| number(p.se)).collect::<Vec<_>>(),
        },
    })
}

/// Answers for programs, and the table they come from.
pub fn answers_json<'a>(table: &TvbTable, answers: impl IntoIterator<Item = &'a Answer>) -> Value {
    let intervals: Vec<Value> = answers.into_iter().map(answer_json).collect();
    let mut all = Map::new();
    all.insert("intervals".to_owned(), Value::Array(intervals));
    all.extend(about(table));
    Value::Object(all)
}

fn about(table: &TvbTable) -> Map<String, Value> {
    let manifest = table.manifest();
    let about = json!({
        "model": manifest.model.name(),
        "n_units": manifest.n_units,
        "n_components": manifest.layout.n_components,
        "coordinates": manifest.layout.coordinates,
        "grid": manifest.omegas.len(),
        "omega_min": manifest.omega_min,
        "bootstraps": manifest.replicates,
        "fits": n_fits(table),
        "seed": manifest.seed,
        "published": manifest.published_intervals,
        "version": env!("CARGO_PKG_VERSION"),
    });
    match about {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Fits in a table.
pub fn n_fits(table: &TvbTable) -> usize {
    table.paths().map(|(_, path)| path.status.len()).sum()
}

/// Answers as CSV with a header. New columns come last, so that readers by place go on reading.
pub fn answers_csv<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> String {
    let mut text = String::from(
        "functional,method,level,omega,estimate,lower,upper,coverage,coverage_se,flags,recommended\n",
    );
    for a in answers {
        let flags: Vec<&str> = a.flags.iter().map(|flag| flag.name()).collect();
        let cells = [
            csv_cell(&a.functional),
            a.method.name().to_owned(),
            csv_number(a.level),
            a.shown_omega().map_or_else(String::new, csv_number),
            csv_number(a.estimate),
            csv_number(a.lower),
            csv_number(a.upper),
            a.coverage.map_or_else(String::new, csv_number),
            a.coverage_se.map_or_else(String::new, csv_number),
            flags.join(";"),
            (a.method == Method::RECOMMENDED).to_string(),
        ];
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

/// Quotes a CSV cell when it needs it.
pub fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A number for CSV: shortest form that reads back the same, empty when there is none.
pub fn csv_number(x: f64) -> String {
    if x.is_finite() { format!("{x}") } else { String::new() }
}
