//! How the answers and fits of many groups look: as a table for people, JSON and CSV for programs.

use super::Groups;
use crate::args::{FitArgs, Format, OutputArgs};
use crate::commands::fit::Summary;
use crate::output::{csv_cell, deserved, json_text, table};
use crate::say::printable;
use serde_json::{Value, json};
use trustvb::answers::{answer_json, answers_csv, percent};
use trustvb::calibrate::{Answer, Flag, Method};

pub(super) type Answered = Groups<Vec<Vec<Answer>>>;

pub(super) fn intervals_json(groups: &Answered) -> Value {
    let (mut intervals, mut failed) = (Vec::new(), Vec::new());
    for (label, n_rows, found) in &groups.found {
        match found {
            Ok(answers) => intervals.extend(answers.iter().flatten().map(|answer| {
                let mut row = answer_json(answer);
                row["group"] = json!(label);
                row["n_rows"] = json!(n_rows);
                row
            })),
            Err(error) => failed.push(json!({"group": label, "n_rows": n_rows, "error": error})),
        }
    }
    let (by, n_groups) = (&groups.column, groups.found.len());
    let version = env!("CARGO_PKG_VERSION");
    json!({
        "by": by,
        "source": groups.source,
        "n_groups": n_groups,
        "intervals": intervals,
        "failed": failed,
        "version": version,
    })
}

/// The rows of `answers_csv` after the group and its size, and why there are none.
pub(super) fn intervals_csv(groups: &Answered) -> String {
    let header = answers_csv([]);
    let empty = ",".repeat(header.matches(',').count());
    let mut text = format!("{},rows,{},error\n", csv_cell(&groups.column), header.trim_end());
    for (label, n_rows, found) in &groups.found {
        let label = csv_cell(label);
        match found {
            Ok(answers) => {
                for row in answers_csv(answers.iter().flatten()).lines().skip(1) {
                    text.push_str(&format!("{label},{n_rows},{row},\n"));
                }
            }
            Err(error) => {
                text.push_str(&format!("{label},{n_rows},{empty},{}\n", csv_cell(error)));
            }
        }
    }
    text
}

/// For people: a row per group and quantity with the interval to use and VB's own, or a row per method.
pub(super) fn intervals_table(groups: &Answered, every_method: bool) -> String {
    let mut rows = Vec::new();
    for (label, _, found) in &groups.found {
        for answers in found.iter().flatten() {
            match every_method {
                true => rows.extend(answers.iter().map(|answer| method_cells(label, answer))),
                false => rows.extend(answer_cells(label, answers)),
            }
        }
    }
    let mut header: Vec<&str> = vec![&groups.column, "quantity"];
    header.extend(match every_method {
        true => ["method", "estimate", "lower", "upper", "covers", "flags"].as_slice(),
        false => &["estimate", "use this interval", "VB's own", "VB covers", "level", "warnings"],
    });
    leave_out_empty_last(&mut header, &mut rows);
    let mut text = format!("{}: {} groups\n\n", groups.source, groups.found.len());
    text.push_str(&table(&header, rows, 3));
    push_failures(&mut text, groups);
    text
}

/// Leaves out the last column, of warnings, where nothing is warned of.
fn leave_out_empty_last(header: &mut Vec<&str>, rows: &mut [Vec<String>]) {
    if rows.iter().all(|row| row.last().is_none_or(String::is_empty)) {
        header.pop();
        rows.iter_mut().for_each(|row| drop(row.pop()));
    }
}

/// The recommended interval of a quantity at each level, with VB's own beside it.
fn answer_cells(label: &str, answers: &[Answer]) -> Vec<Vec<String>> {
    let of = |method| answers.iter().filter(move |answer| answer.method == method);
    of(Method::RECOMMENDED)
        .map(|answer| {
            let vb = of(Method::Vb).find(|vb| vb.level == answer.level);
            let warnings = answer.flags.iter().filter(|flag| !flag.is_remark()).map(Flag::name);
            vec![
                label.to_owned(),
                answer.label.clone(),
                deserved(answer.estimate, answer.upper - answer.lower),
                interval(answer),
                vb.map_or_else(String::new, interval),
                vb.and_then(|vb| vb.coverage).map_or_else(String::new, percent),
                percent(answer.level),
                warnings.collect::<Vec<_>>().join(", "),
            ]
        })
        .collect()
}

fn interval(answer: &Answer) -> String {
    let shown = |x: f64| deserved(x, answer.upper - answer.lower);
    format!("[{}, {}]", shown(answer.lower), shown(answer.upper))
}

fn method_cells(label: &str, answer: &Answer) -> Vec<String> {
    let shown = |x: f64| deserved(x, answer.upper - answer.lower);
    vec![
        label.to_owned(),
        answer.label.clone(),
        answer.method.name().to_owned(),
        shown(answer.estimate),
        shown(answer.lower),
        shown(answer.upper),
        answer.coverage.map_or_else(String::new, percent),
        answer.flags.iter().map(Flag::name).collect::<Vec<_>>().join(", "),
    ]
}

fn push_failures<T>(text: &mut String, groups: &Groups<T>) {
    for (label, n_rows, found) in &groups.found {
        if let Err(error) = found {
            let rows = if *n_rows == 1 { "row" } else { "rows" };
            text.push_str(&format!("! {label} ({n_rows} {rows}): {error}\n"));
        }
    }
}

pub(super) fn fits_text(output: &OutputArgs, args: &FitArgs, groups: &Groups<Summary>) -> String {
    match output.format {
        Format::Json => {
            let fits = groups.found.iter().map(|(label, n_rows, found)| match found {
                Ok(summary) => {
                    let mut fit = summary.json(args);
                    fit["group"] = json!(label);
                    fit
                }
                Err(error) => json!({"group": label, "n_rows": n_rows, "error": error}),
            });
            let fits: Vec<Value> = fits.collect();
            json_text(&json!({"by": groups.column, "source": groups.source, "fits": fits}))
        }
        Format::Csv => {
            let header = "rows,status,bound,component,quantity,estimate,lower,upper,error";
            let mut text = format!("{},{header}\n", csv_cell(&groups.column));
            for (label, n_rows, found) in &groups.found {
                let label = csv_cell(label);
                match found {
                    Ok(summary) => {
                        let how = summary.status_csv();
                        for row in summary.csv().lines().skip(1) {
                            text.push_str(&format!("{label},{n_rows},{how},{row},\n"));
                        }
                    }
                    Err(error) => {
                        text.push_str(&format!("{label},{n_rows},,,,,,,,{}\n", csv_cell(error)));
                    }
                }
            }
            text
        }
        Format::Table => {
            let mut rows = Vec::new();
            for (label, _, found) in &groups.found {
                rows.extend(found.iter().flat_map(|summary| summary.cells()).map(|mut cells| {
                    cells.insert(0, label.clone());
                    cells
                }));
            }
            let first = groups.found.iter().find_map(|(_, _, found)| found.as_ref().ok());
            let called = first.map_or("component", Summary::called);
            let header = [&groups.column, called, "quantity", "estimate", "2.5%", "97.5%"];
            let mut text = format!("{}: {} groups\n\n", groups.source, groups.found.len());
            text.push_str(&table(&header, rows, 3));
            push_failures(&mut text, groups);
            printable(&text)
        }
    }
}
