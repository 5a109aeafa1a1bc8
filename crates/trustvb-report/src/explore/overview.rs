//! The first screen: the verdict, and a row for each quantity.

use super::api::{App, Fault, check_level, command, read};
use super::limits;
use super::session::{Known, Refusal};
use crate::overview::{Overview, Row, about, overview_methods};
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;
use trustvb::calibrate::Method;

/// A question about the rows of the first screen.
#[derive(Debug, Deserialize)]
struct OverviewQuestion {
    table: usize,
    functionals: Vec<String>,
    level: f64,
    /// Methods for the command that is shown beside the rows; none for no command.
    #[serde(default)]
    methods: Vec<Method>,
}

/// The verdict and the rows. A quantity that cannot be read is told beside the others.
pub(super) async fn overview(State(app): State<App>, body: Bytes) -> Result<Json<Value>, Fault> {
    let mut question: OverviewQuestion = read(&body)?;
    Method::in_order(&mut question.methods);
    check_level(question.level)?;
    let n = question.functionals.len();
    if n > limits::LIST {
        let why = format!("the list has {n} quantities; it must have at most {}", limits::LIST);
        return Err(Fault::new(StatusCode::UNPROCESSABLE_ENTITY, why));
    }
    app.evaluate(move |session, cancel| {
        let OverviewQuestion { table: at, functionals, level, methods: compared } = question;
        let open = session.table(at)?;
        let mut problems = Vec::new();
        let mut known = Vec::new();
        for text in functionals {
            match session.read(at, &text) {
                Ok(found) => known.push(found),
                Err(refusal @ Refusal::NoTable(_)) => return Err(refusal.into()),
                Err(refusal) => {
                    let mut body = Fault::from(refusal).into_body();
                    body["functional"] = json!(text);
                    problems.push(body);
                }
            }
        }
        drop_repeated(&mut known);
        let methods = overview_methods(&open.table);
        let quantities = session.ask_all(at, &known, &methods, level, cancel)?;
        let overview = Overview::new(&open.table, &quantities, level);
        let asked: Vec<&str> = known
            .iter()
            .flat_map(|known| known.functional.parts().iter().map(|_| known.functional.text()))
            .collect();
        let rows: Vec<Value> = overview
            .rows
            .iter()
            .map(|row| {
                let place = quantities.iter().position(|q| std::ptr::eq(q.part, row.part));
                let functional = place.and_then(|i| asked.get(i)).copied();
                row_json(&overview, row, functional.unwrap_or_else(|| row.part.label()))
            })
            .collect();
        let command = match compared.is_empty() || known.is_empty() {
            true => String::new(),
            false => command(session, at, "interval", &known, level, &compared, &[])?,
        };
        let warnings: Vec<Value> = overview
            .warnings()
            .into_iter()
            .map(|warning| {
                json!({
                    "name": warning.name,
                    "sentence": warning.sentence,
                    "about": warning.about,
                })
            })
            .collect();
        Ok(Json(json!({
            "verdict": if rows.is_empty() { "Ask for a quantity.".to_owned() } else { overview.verdict() },
            "about": about(&open.table),
            "warned": overview.warned(),
            "warnings": warnings,
            "rows": rows,
            "problems": problems,
            "command": command,
        })))
    })
    .await
}

/// Drops quantities that are among the elements of an earlier one: `mu[1,]` shows `mu[1,1]` already.
fn drop_repeated(known: &mut Vec<Arc<Known>>) {
    let mut seen = HashSet::new();
    known.retain(|known| {
        let labels = known.functional.parts().iter().map(|part| part.label().to_owned());
        labels.filter(|label| seen.insert(label.clone())).count() > 0
    });
}

fn row_json(overview: &Overview<'_>, row: &Row<'_>, functional: &str) -> Value {
    json!({
        "functional": functional.trim(),
        "label": row.part.label(),
        "plain": row.plain,
        "method": row.quoted.method.name(),
        "estimate": row.estimate(),
        "interval": row.interval(),
        "own": row.vb_interval(),
        "longer": row.longer().map(|ratio| format!("×{ratio:.2}")),
        "covers": row.covers(),
        "verdict": row.verdict(),
        "numbers": [row.quoted.estimate, row.quoted.lower, row.quoted.upper],
        "warnings": row.warnings().map(|flag| flag.name()).collect::<Vec<_>>(),
        "pair": row.pair(),
        "bar": overview.coverage_bar(row),
    })
}
