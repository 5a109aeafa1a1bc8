//! Answers and fits of many groups as a Parquet file, kept as groups are finished and resumed.

use super::Wanted;
use crate::commands::fit::Summary;
use crate::failure::Failure;
use crate::progress;
use crate::say::say;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use trustvb::calibrate::{Answer, Flag, Method};
use trustvb::data::{Cells, Sheet, Slice};
use trustvb::groups::{ERROR, Run, Unfinished, is_finished};

/// Rows of finished groups by block, until the block is whole.
type Waiting = Mutex<BTreeMap<usize, BTreeMap<usize, Sheet>>>;

/// Does what is missing of the work and writes the file.
pub(super) fn write<T: Send>(
    wanted: &Wanted<'_>,
    file: &Path,
    settings: Value,
    work: impl Fn(&Slice) -> Result<T, Failure> + Sync,
    rows: impl Fn(&str, usize, Result<T, String>) -> Sheet + Sync,
) -> Result<(), Failure> {
    let run = Run {
        by: wanted.column.to_owned(),
        source: wanted.source.clone(),
        data_hash: Slice::hash(&wanted.slices),
        n_groups: wanted.slices.len(),
        settings,
    };
    let shown = file.display();
    if is_finished(file, &run) {
        if !wanted.quiet {
            say(format_args!(
                "{shown} has all {} groups already; nothing is left to do",
                run.n_groups
            ));
        }
        return Ok(());
    }
    let unfinished = Unfinished::claim(file, &run).map_err(|error| {
        let folder = trustvb::groups::folder_of(file);
        Failure::Run(format!("{error}, or remove {} to begin again", folder.display()))
    })?;
    let folder = unfinished.folder().display().to_string();
    progress::keeps(format!(
        "what is done is in {folder}, and the same command goes on from there"
    ));
    let missing: Vec<usize> = (0..unfinished.n_blocks())
        .filter(|block| unfinished.read(*block).is_err())
        .flat_map(|block| unfinished.groups_of(block))
        .collect();
    let there = run.n_groups - missing.len();
    if there > 0 && !wanted.quiet {
        say(format_args!(
            "{there} of {} groups are in {folder}; going on from there",
            run.n_groups
        ));
    }
    let waiting = Waiting::default();
    wanted.each(&missing, work, |group, found| {
        let slice = &wanted.slices[group];
        let own = rows(&slice.label, slice.n_rows, found);
        match add(&waiting, &unfinished, group, own) {
            Some((block, rows)) => Ok(unfinished.keep(block, &rows)?),
            None => Ok(()),
        }
    })?;
    match unfinished.finish()? {
        Ok(done) => {
            wanted.tell_failures(done.n_failed);
            Ok(())
        }
        Err(first) => Err(wanted.none_succeeded(&first)),
    }
}

/// Takes the rows of a group, and gives back those of its block, in order, when they are all there.
fn add(
    waiting: &Waiting,
    unfinished: &Unfinished,
    group: usize,
    rows: Sheet,
) -> Option<(usize, Sheet)> {
    let block = unfinished.block_of(group);
    let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
    let own = waiting.entry(block).or_default();
    own.insert(group, rows);
    if own.len() < unfinished.groups_of(block).len() {
        return None;
    }
    let mut all = Sheet::default();
    for rows in waiting.remove(&block)?.into_values() {
        all.append(rows);
    }
    Some((block, all))
}

/// The columns of a sheet, one after the other.
struct Columns(Vec<(String, Cells)>);

impl Columns {
    /// Begins with the group, its size and why there is nothing else, if that is so.
    fn begin(column: &str, label: &str, n_rows: usize, rows: usize) -> Columns {
        let mut columns = Columns(Vec::new());
        columns.text(column, vec![label.to_owned(); rows]);
        columns.integers("rows", vec![i32::try_from(n_rows).unwrap_or(i32::MAX); rows]);
        columns
    }

    fn text(&mut self, name: &str, cells: Vec<String>) {
        self.0.push((name.to_owned(), Cells::Text(cells)));
    }

    fn numbers(&mut self, name: &str, cells: Vec<f64>) {
        self.0.push((name.to_owned(), Cells::Numbers(cells)));
    }

    fn integers(&mut self, name: &str, cells: Vec<i32>) {
        self.0.push((name.to_owned(), Cells::Integers(cells)));
    }

    fn end(self) -> Sheet {
        Sheet { columns: self.0 }
    }
}

/// What was found, or one row that says why not.
fn listed<T>(found: Result<Vec<T>, String>) -> (Vec<Option<T>>, String) {
    match found {
        Ok(rows) => (rows.into_iter().map(Some).collect(), String::new()),
        Err(error) => (vec![None], error),
    }
}

/// A number of an answer, if it has it.
type Number = fn(&Answer) -> Option<f64>;

/// The rows of CSV with numbers as numbers and a column of 0 and 1 for each flag.
pub(super) fn answer_rows(
    column: &str,
    label: &str,
    n_rows: usize,
    found: Result<Vec<Vec<Answer>>, String>,
) -> Sheet {
    let (rows, error) = listed(found.map(|answers| answers.into_iter().flatten().collect()));
    let text = |of: fn(&Answer) -> &str| -> Vec<String> {
        rows.iter().map(|row| row.as_ref().map_or("", of).to_owned()).collect()
    };
    let number = |of: Number| -> Vec<f64> {
        rows.iter().map(|row| row.as_ref().and_then(of).unwrap_or(f64::NAN)).collect()
    };
    let mut columns = Columns::begin(column, label, n_rows, rows.len());
    columns.text("functional", text(|a| &a.functional));
    columns.text("method", text(|a| a.method.name()));
    let numbers: [(&str, Number); 8] = [
        ("level", |a| Some(a.level)),
        ("omega", Answer::shown_omega),
        ("estimate", |a| Some(a.estimate)),
        ("lower", |a| Some(a.lower)),
        ("upper", |a| Some(a.upper)),
        ("coverage", |a| a.coverage),
        ("coverage_se", |a| a.coverage_se),
        ("recommended", |a| Some(f64::from(u8::from(a.method == Method::RECOMMENDED)))),
    ];
    for (name, of) in numbers {
        columns.numbers(name, number(of));
    }
    columns.text(ERROR, vec![error; rows.len()]);
    for name in Flag::NAMES {
        let raised = |a: &Answer| a.flags.iter().any(|flag| flag.name() == name);
        let cells = rows.iter().map(|row| i32::from(row.as_ref().is_some_and(raised)));
        columns.integers(name, cells.collect());
    }
    columns.end()
}

/// The rows of CSV with numbers as numbers.
pub(super) fn fit_rows(
    column: &str,
    label: &str,
    n_rows: usize,
    found: Result<Summary, String>,
) -> Sheet {
    let (status, bound) = match &found {
        Ok(summary) => (summary.status(), summary.bound()),
        Err(_) => ("", f64::NAN),
    };
    let (rows, error) = listed(found.map(Summary::into_rows));
    let number = |of: fn(&crate::commands::fit::Row) -> f64| -> Vec<f64> {
        rows.iter().map(|row| row.as_ref().map_or(f64::NAN, of)).collect()
    };
    let mut columns = Columns::begin(column, label, n_rows, rows.len());
    columns.text("status", vec![status.to_owned(); rows.len()]);
    columns.numbers("bound", vec![bound; rows.len()]);
    let component = rows.iter().map(|row| row.as_ref().map_or(0, |row| row.component as i32 + 1));
    columns.integers("component", component.collect());
    let names = rows.iter().map(|row| row.as_ref().map_or_else(String::new, |r| r.name.clone()));
    columns.text("quantity", names.collect());
    columns.numbers("estimate", number(|row| row.estimate));
    columns.numbers("lower", number(|row| row.lower));
    columns.numbers("upper", number(|row| row.upper));
    columns.text(ERROR, vec![error; rows.len()]);
    columns.end()
}
