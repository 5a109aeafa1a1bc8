//! How answers look: as a table for people, JSON and CSV for programs.

use crate::args::{Format, OutputArgs};
use crate::failure::Failure;
use crate::say::{on_one_line, printable};
use comfy_table::{CellAlignment, Table, presets};
use serde_json::Value;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use trustvb::calibrate::Answer;
use trustvb::data::replace_file;
use trustvb::table::TvbTable;
use trustvb_report::answers::{Remark, answers_csv, answers_json, in_words, remarks};
pub(crate) use trustvb_report::answers::{csv_cell, csv_number, deserved, number, significant};

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

/// A plain table with a header, numbers to the right from column `right_from` on.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>, right_from: usize) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header.iter().copied());
    for row in rows {
        table.add_row(row.iter().map(|cell| on_one_line(cell)));
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

/// Answers in the format asked for.
pub(crate) fn answers(
    format: Format,
    answers: &[Answer],
    table: &TvbTable,
    heading: &str,
) -> String {
    match format {
        Format::Table => printable(&answers_table(answers, heading)),
        Format::Json => json_text(&answers_json(table, answers)),
        Format::Csv => answers_csv(answers),
    }
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
            a.shown_omega().map_or_else(|| "–".to_owned(), |omega| significant(omega, 3)),
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
    let warnings = remarks(answers);
    if !warnings.is_empty() {
        text.push('\n');
    }
    for Remark { sentence, about } in warnings {
        text.push_str(&format!("{sentence} ({})\n", about.join(", ")));
    }
    text.push('\n');
    for sentence in in_words(answers) {
        text.push_str(&sentence);
        text.push('\n');
    }
    text
}
