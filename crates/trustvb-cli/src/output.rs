//! How answers look: as a table for people, JSON and CSV for programs.

use crate::args::{Format, OutputArgs};
use crate::failure::Failure;
use comfy_table::{CellAlignment, Table, presets};
use serde_json::{Map, Value, json};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use trustvb::calibrate::{Answer, Method};
use trustvb::data::replace_file;

/// Writes to the file of `-o`, whole or not at all, or to standard output.
///
/// Only a plain file is replaced: a pipe or a device such as `/dev/null` is written to, and a link
/// goes on pointing to its file.
pub(crate) fn write(args: &OutputArgs, text: &str) -> Result<(), Failure> {
    match &args.output {
        Some(path) => write_text(path, text),
        None => {
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes())?;
            Ok(out.flush()?)
        }
    }
}

/// Writes a file, whole or not at all.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    write_file(path, text).map_err(|e| match e.kind() {
        io::ErrorKind::BrokenPipe => Failure::Output(e),
        _ => Failure::Run(format!(
            "{}: {e}; check the folder, its permissions and the disk",
            path.display()
        )),
    })
}

fn write_file(path: &Path, text: &str) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return fs::OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes());
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    replace_file(&target, |mut file| file.write_all(text.as_bytes()).map(|()| file))
}

/// Refuses the file of `-o` before any work is done if it cannot be written.
pub(crate) fn check(args: &OutputArgs) -> Result<(), Failure> {
    args.output.as_deref().map_or(Ok(()), |path| check_path("-o", path))
}

/// Refuses a file that is a folder or whose folder is not there.
pub(crate) fn check_path(option: &str, path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let shown = path.display();
    if path.is_dir() {
        Err(Failure::Run(format!("{option} {shown}: this is a folder; give the name of a file")))
    } else if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        let folder = folder.display();
        Err(Failure::Run(format!("{option} {shown}: there is no folder {folder}; make it first")))
    } else {
        Ok(())
    }
}

/// JSON with a newline at the end.
pub(crate) fn json_text(value: &Value) -> String {
    format!("{value:#}\n")
}

/// A number for JSON; what is not finite has no JSON and becomes null.
pub(crate) fn number(x: f64) -> Value {
    serde_json::Number::from_f64(x).map_or(Value::Null, Value::Number)
}

/// `x` with the decimals that an uncertainty of this size deserves: three digits of the size.
pub(crate) fn deserved(x: f64, size: f64) -> String {
    if !x.is_finite() {
        return "–".to_owned();
    }
    if !(size > 0.0 && size.is_finite()) {
        return significant(x, 6);
    }
    let decimals = 2 - size.log10().floor() as i32;
    match decimals {
        ..=0 if x.abs() < 1e15 => format!("{x:.0}"),
        1..=12 => format!("{x:.*}", decimals as usize),
        _ => format!("{x:.6e}"),
    }
}

/// `x` to so many significant digits.
pub(crate) fn significant(x: f64, digits: i32) -> String {
    if x == 0.0 || !x.is_finite() {
        return if x == 0.0 { "0".to_owned() } else { "–".to_owned() };
    }
    let decimals = digits - 1 - x.abs().log10().floor() as i32;
    match decimals {
        ..=0 if x.abs() < 1e15 => format!("{x:.0}"),
        1..=12 => format!("{x:.*}", decimals as usize),
        _ => format!("{x:.*e}", (digits - 1).max(0) as usize),
    }
}

/// A plain table with a header, numbers to the right from column `right_from` on.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>, right_from: usize) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header.iter().copied());
    for row in rows {
        table.add_row(row);
    }
    for (i, column) in table.column_iter_mut().enumerate() {
        if i >= right_from {
            column.set_cell_alignment(CellAlignment::Right);
        }
        column.set_padding((0, 2));
    }
    let mut text = String::new();
    for line in table.to_string().lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Quotes a CSV cell when it needs it.
pub(crate) fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// A number for CSV: shortest form that reads back the same, empty when there is none.
pub(crate) fn csv_number(x: f64) -> String {
    if x.is_finite() { format!("{x}") } else { String::new() }
}

/// Answers in the format asked for; `about` is what JSON says besides.
pub(crate) fn answers(
    format: Format,
    answers: &[Answer],
    about: Map<String, Value>,
    heading: &str,
) -> String {
    match format {
        Format::Table => answers_table(answers, heading),
        Format::Json => {
            let intervals: Vec<Value> = answers.iter().map(answer_json).collect();
            let mut all = Map::new();
            all.insert("intervals".to_owned(), Value::Array(intervals));
            all.extend(about);
            json_text(&Value::Object(all))
        }
        Format::Csv => answers_csv(answers),
    }
}

fn answer_json(answer: &Answer) -> Value {
    json!({
        "functional": answer.functional,
        "label": answer.label,
        "method": answer.method.name(),
        "level": number(answer.level),
        "omega": number(answer.omega),
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

fn answers_csv(answers: &[Answer]) -> String {
    let mut text = String::from(
        "functional,method,level,omega,estimate,lower,upper,coverage,coverage_se,flags\n",
    );
    for a in answers {
        let flags: Vec<&str> = a.flags.iter().map(|flag| flag.name()).collect();
        let cells = [
            csv_cell(&a.functional),
            a.method.name().to_owned(),
            csv_number(a.level),
            csv_number(a.omega),
            csv_number(a.estimate),
            csv_number(a.lower),
            csv_number(a.upper),
            a.coverage.map_or_else(String::new, csv_number),
            a.coverage_se.map_or_else(String::new, csv_number),
            flags.join(";"),
        ];
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

fn answers_table(answers: &[Answer], heading: &str) -> String {
    let mut rows = Vec::new();
    let mut last = String::new();
    let several_levels = answers.iter().any(|a| a.level != answers[0].level);
    for a in answers {
        let width = a.upper - a.lower;
        let first = if a.label == last { String::new() } else { a.label.clone() };
        last.clone_from(&a.label);
        let coverage = match (a.coverage, a.coverage_se) {
            (Some(c), Some(se)) if se > 0.0 => format!("{c:.3} ± {se:.3}"),
            (Some(c), _) => format!("{c:.3}"),
            (None, _) => "–".to_owned(),
        };
        let flags: Vec<&str> = a.flags.iter().map(|flag| flag.name()).collect();
        let mut row = vec![first, a.method.name().to_owned()];
        if several_levels {
            row.push(format!("{}", a.level));
        }
        row.extend([
            deserved(a.estimate, width),
            format!("[{}, {}]", deserved(a.lower, width), deserved(a.upper, width)),
            significant(a.omega, 3),
            coverage,
            flags.join(" "),
        ]);
        rows.push(row);
    }
    let mut header = vec!["quantity", "method"];
    if several_levels {
        header.push("level");
    }
    header.extend(["estimate", "interval", "ω", "est. coverage", "flags"]);
    let mut text = format!("{heading}\n\n");
    text.push_str(&table(&header, rows, usize::MAX));
    text.push_str(&remarks(answers));
    text.push_str(&in_words(answers));
    text
}

/// The flags as sentences, each once, with the quantities it is about.
fn remarks(answers: &[Answer]) -> String {
    let mut sentences: Vec<(String, Vec<String>)> = Vec::new();
    for a in answers {
        for flag in a.flags.iter().filter(|flag| !flag.is_remark()) {
            let sentence = format!("{}: {}", flag.name(), flag.sentence());
            let about = format!("{} {}", a.label, a.method.name());
            match sentences.iter_mut().find(|(s, _)| *s == sentence) {
                Some((_, list)) if list.contains(&about) => {}
                Some((_, list)) => list.push(about),
                None => sentences.push((sentence, vec![about])),
            }
        }
    }
    let mut text = String::new();
    if !sentences.is_empty() {
        text.push('\n');
    }
    for (sentence, about) in sentences {
        text.push_str(&format!("{sentence} ({})\n", about.join(", ")));
    }
    text
}

/// Two lines that say what the table shows.
fn in_words(answers: &[Answer]) -> String {
    let vb: Vec<&Answer> =
        answers.iter().filter(|a| a.method == Method::Vb && a.coverage.is_some()).collect();
    let mut text = String::from("\n");
    if let Some(worst) = vb.iter().min_by(|a, b| {
        let gap = |x: &Answer| x.coverage.unwrap_or(1.0) - x.level;
        gap(a).total_cmp(&gap(b))
    }) {
        let short =
            |a: &&&Answer| a.coverage.unwrap_or(1.0) + 2.0 * a.coverage_se.unwrap_or(0.0) < a.level;
        let count = vb.iter().filter(short).count();
        if count == 0 {
            text.push_str("None of VB's own intervals is clearly too short here.\n");
        } else {
            text.push_str(&format!(
                "VB's own intervals are too short for {count} of {} rows: the {:.0}% interval of {} \
                 is estimated to cover {:.0}%.\n",
                vb.len(),
                100.0 * worst.level,
                worst.label,
                100.0 * worst.coverage.unwrap_or(f64::NAN)
            ));
        }
    }
    let warned = answers
        .iter()
        .filter(|a| a.method != Method::Vb && a.flags.iter().any(|flag| !flag.is_remark()))
        .count();
    let calibrated = answers.iter().filter(|a| a.method != Method::Vb).count();
    if calibrated > 0 {
        text.push_str(&if warned == 0 {
            "No warning speaks against the calibrated intervals.\n".to_owned()
        } else {
            format!(
                "{warned} of {calibrated} calibrated intervals carry a warning; read it before using \
                 them.\n"
            )
        });
    }
    text
}
