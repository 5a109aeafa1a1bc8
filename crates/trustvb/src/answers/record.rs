//! What an answer has, once: a list of named fields, from which JSON, CSV and other languages' records are made.

use super::number;
use crate::calibrate::{Answer, CurvePoint, Method};
use crate::table::TvbTable;
use serde_json::{Map, Value, json};

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Field<'a> {
    /// A text.
    Text(&'a str),
    /// A number, which may be infinite or not a number; `None` where there is none.
    Number(Option<f64>),
    /// Two numbers that belong to the lower and the upper limit.
    Pair(Option<(f64, f64)>),
    /// A whole number.
    Count(usize),
    /// Yes or no.
    Truth(bool),
    /// A few words, where there is something to say.
    Words(Option<&'static str>),
    /// Names.
    Names(Vec<&'static str>),
    /// Sentences, one for each of the names.
    Sentences(Vec<String>),
    /// A coverage curve.
    Curve(&'a [CurvePoint]),
}

/// The fields of an answer, by the names that they have everywhere.
pub fn fields(answer: &Answer) -> Vec<(&'static str, Field<'_>)> {
    vec![
        ("functional", Field::Text(&answer.functional)),
        ("label", Field::Text(&answer.label)),
        ("method", Field::Text(answer.method.name())),
        ("level", Field::Number(Some(answer.level))),
        ("recommended", Field::Truth(answer.method == Method::RECOMMENDED)),
        ("omega", Field::Number(answer.shown_omega())),
        ("estimate", Field::Number(Some(answer.estimate))),
        ("lower", Field::Number(Some(answer.lower))),
        ("upper", Field::Number(Some(answer.upper))),
        ("coverage", Field::Number(answer.coverage)),
        ("coverage_se", Field::Number(answer.coverage_se)),
        ("verdict", Field::Words(answer.verdict())),
        ("limits_se", Field::Pair(answer.limits_se)),
        ("law", Field::Text(&answer.law)),
        ("extra_fits", Field::Count(answer.extra_fits)),
        ("flags", Field::Names(answer.flags.iter().map(|flag| flag.name()).collect())),
        ("remarks", Field::Sentences(answer.flags.iter().map(|flag| flag.sentence()).collect())),
        ("curve", Field::Curve(&answer.curve)),
    ]
}

impl Field<'_> {
    fn json(&self) -> Value {
        match self {
            Field::Text(text) => json!(text),
            Field::Number(x) => x.map_or(Value::Null, number),
            Field::Pair(pair) => json!(pair.map(|(l, u)| json!([number(l), number(u)]))),
            Field::Count(n) => json!(n),
            Field::Truth(yes) => json!(yes),
            Field::Words(words) => json!(words),
            Field::Names(names) => json!(names),
            Field::Sentences(sentences) => json!(sentences),
            Field::Curve(points) => {
                let column = |of: fn(&CurvePoint) -> f64| -> Vec<Value> {
                    points.iter().map(|point| number(of(point))).collect()
                };
                json!({
                    "omega": column(|p| p.omega),
                    "coverage": column(|p| p.coverage),
                    "se": column(|p| p.se),
                })
            }
        }
    }

    /// A cell of CSV; lists are joined by semicolons.
    fn cell(&self) -> String {
        match self {
            Field::Text(text) => csv_cell(text),
            Field::Number(x) => x.map_or_else(String::new, csv_number),
            Field::Pair(pair) => {
                pair.map_or_else(String::new, |(l, u)| [l, u].map(csv_number).join(";"))
            }
            Field::Count(n) => n.to_string(),
            Field::Truth(yes) => yes.to_string(),
            Field::Words(words) => csv_cell(words.unwrap_or_default()),
            Field::Names(names) => csv_cell(&names.join(";")),
            Field::Sentences(sentences) => csv_cell(&sentences.join(";")),
            Field::Curve(points) => points.len().to_string(),
        }
    }
}

/// An answer for programs.
pub fn answer_json(answer: &Answer) -> Value {
    let fields = fields(answer).into_iter();
    Value::Object(fields.map(|(name, field)| (name.to_owned(), field.json())).collect())
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
        "fits": table.n_fits(),
        "seed": manifest.seed,
        "published": manifest.published_intervals,
        "version": env!("CARGO_PKG_VERSION"),
    });
    let mut about = match about {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    if let Some(weights) = &manifest.weights {
        about.insert("weights".to_owned(), json!(weights));
    }
    about
}

/// The fields that CSV has. New ones come last, so that readers by place go on reading.
const COLUMNS: [&str; 11] = [
    "functional",
    "method",
    "level",
    "omega",
    "estimate",
    "lower",
    "upper",
    "coverage",
    "coverage_se",
    "flags",
    "recommended",
];

/// Answers as CSV with a header.
pub fn answers_csv<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> String {
    let mut text = COLUMNS.join(",") + "\n";
    for answer in answers {
        let fields = fields(answer);
        let cell = |column: &str| {
            let field = fields.iter().find(|(name, _)| *name == column);
            field.map_or_else(String::new, |(_, field)| field.cell())
        };
        text.push_str(&COLUMNS.map(cell).join(","));
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
