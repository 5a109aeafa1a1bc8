//! How answers look: as a table for people, JSON and CSV for programs.

use crate::args::{Format, OutputArgs};
use crate::failure::Failure;
use crate::one_answer::{Shown, levels, render, warning_lines};
use crate::say::{on_one_line, printable};
use crate::terminal::{width, wrap};
use comfy_table::{CellAlignment, Table, presets};
use serde_json::Value;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use trustvb::answers::{answers_csv, answers_json, in_words, warnings};
pub(crate) use trustvb::answers::{csv_cell, csv_number, deserved, number, percent, significant};
use trustvb::calibrate::{Answer, Method};
use trustvb::data::replace_file;
use trustvb::resample::Design;
use trustvb::table::TvbTable;
use trustvb_report::picture::Quantity;

/// Writes to the file of `-o`, whole or not at all, or to standard output.
///
/// Only a plain file is replaced: a pipe or a device such as `/dev/null` is written to, and a link
/// goes on pointing to its file.
pub(crate) fn write(args: &OutputArgs, text: &str) -> Result<(), Failure> {
    match &args.output {
        Some(path) => write_text(path, text),
        None => print(text.as_bytes()),
    }
}

/// Writes to standard output.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
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

/// Answers in the format asked for; for people, a row per quantity unless every method is wanted.
pub(crate) fn answers(
    output: &OutputArgs,
    quantities: &[Quantity<'_>],
    table: &TvbTable,
    heading: &Heading,
    every_method: bool,
) -> String {
    let lists: Vec<&[Answer]> = quantities.iter().map(|q| q.answers.as_slice()).collect();
    let all = || lists.iter().flat_map(|answers| answers.iter());
    let bootstraps = table.bootstraps(Design::Full).count();
    let recommended = all().any(|a| a.method == Method::RECOMMENDED);
    match output.format {
        Format::Table if recommended && !every_method => printable(&render(&Shown {
            heading: &heading.short,
            quantities: lists,
            bootstraps,
            width: width(output),
        })),
        Format::Table => {
            printable(&answers_table(&lists, &heading.long, bootstraps, width(output)))
        }
        Format::Json => json_text(&answers_json(table, all())),
        Format::Csv => answers_csv(all()),
    }
}

/// What was asked of which data: for a row per quantity, and for a row per method.
pub(crate) struct Heading {
    pub(crate) short: String,
    pub(crate) long: String,
}

/// A row per method, with ω, estimated coverage and flags.
fn answers_table(
    quantities: &[&[Answer]],
    heading: &str,
    bootstraps: usize,
    width: usize,
) -> String {
    let levels = levels(quantities);
    let mut rows = Vec::new();
    for list in quantities {
        for (i, a) in list.iter().enumerate() {
            let length = a.upper - a.lower;
            let coverage = match (a.coverage, a.coverage_se) {
                (Some(c), Some(se)) if se > 0.0 => format!("{c:.3} ± {se:.3}"),
                (Some(c), _) => format!("{c:.3}"),
                (None, _) => "–".to_owned(),
            };
            let flags: Vec<&str> = a.flags.iter().map(|flag| flag.name()).collect();
            let first = if i == 0 { a.label.clone() } else { String::new() };
            let mut row = vec![first, a.method.name().to_owned()];
            if levels.len() > 1 {
                row.push(format!("{}", a.level));
            }
            row.extend([
                deserved(a.estimate, length),
                format!("[{}, {}]", deserved(a.lower, length), deserved(a.upper, length)),
                a.shown_omega().map_or_else(|| "–".to_owned(), |omega| significant(omega, 3)),
                coverage,
                flags.join(" "),
            ]);
            rows.push(row);
        }
    }
    let mut header = vec!["quantity", "method"];
    if levels.len() > 1 {
        header.push("level");
    }
    header.extend(["estimate", "interval", "ω", "est. coverage", "flags"]);
    let mut text = format!("{heading}\n\n");
    text.push_str(&table(&header, rows, usize::MAX));
    let said = warning_lines(&warnings(quantities, None), quantities, &levels, true, width);
    if !said.is_empty() {
        text.push('\n');
    }
    text.push_str(&said);
    text.push('\n');
    for sentence in in_words(quantities, bootstraps) {
        text.push_str(&(wrap(&sentence, width, "  ") + "\n"));
    }
    text
}
