//! `--by COLUMN`: the same work for the rows of each value of a column, on all cores, in one table.
//!
//! A group is read, fitted and asked as a file of its rows would be, with the same seed, so that its rows here are those
//! that the command gives for that file.

use super::fit::{self, Summary};
use crate::args::{CalibrateArgs, FitArgs, Format, OutputArgs};
use crate::failure::Failure;
use crate::input::{self, Given};
use crate::output::{check, csv_cell, deserved, json_text, table, write};
use crate::progress;
use crate::say::{printable, say};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use trustvb::answers::{answer_json, answers_csv, percent};
use trustvb::backend::Cpu;
use trustvb::calibrate::{Answer, Calibrator, Flag, Memory, Method};
use trustvb::data::{ColumnValues, Slice, write_columns_parquet};
use trustvb::functional::Functional;
use trustvb::table::Watch;

/// What came of each group.
struct Groups<T> {
    column: String,
    source: String,
    /// Label, rows, and what was found or why not.
    found: Vec<(String, usize, Result<T, String>)>,
}

/// Does the work for each group, each on one thread.
fn each<T: Send>(
    path: Option<&Path>,
    column: &str,
    quiet: bool,
    work: impl Fn(&Slice) -> Result<T, Failure> + Sync,
) -> Result<Groups<T>, Failure> {
    let (slices, source, without) = input::slices(path, column, quiet)?;
    if without > 0 && !quiet {
        say(format_args!("left out {without} rows without a {column}"));
    }
    let bar = progress::bar("groups", quiet);
    bar.set_length(slices.len() as u64);
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let turns = || {
        // Fits and calibrators use the pool they run in: here, this one thread.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(Failure::run)?;
        while let Some(slice) = slices.get(next.fetch_add(1, Ordering::Relaxed)) {
            let place = slice.label.clone();
            let result = match pool.install(|| work(slice)) {
                Err(Failure::Interrupted) => return Err(Failure::Interrupted),
                other => other.map_err(|failure| failure.to_string()),
            };
            if let Ok(mut found) = found.lock() {
                found.push((place, slice.n_rows, result));
            }
            bar.inc(1);
        }
        Ok(())
    };
    let threads = rayon::current_num_threads().min(slices.len());
    let ended = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(turns)).collect();
        let ended = threads.into_iter().map(|thread| match thread.join() {
            Ok(ended) => ended,
            Err(_) => Err(Failure::Run("a thread failed, which is a mistake to report".to_owned())),
        });
        ended.collect::<Vec<Result<(), Failure>>>()
    });
    bar.finish_and_clear();
    ended.into_iter().collect::<Result<(), Failure>>()?;
    let mut found = found.into_inner().unwrap_or_default();
    let places: HashMap<&str, usize> =
        slices.iter().enumerate().map(|(i, slice)| (slice.label.as_str(), i)).collect();
    found.sort_by_key(|(label, ..)| places.get(label.as_str()).copied());
    // What is wrong with all of them alike is wrong with the command.
    let errors: Vec<&String> = found.iter().filter_map(|(_, _, r)| r.as_ref().err()).collect();
    if let (true, Some(first)) = (errors.len() == found.len(), errors.first()) {
        let n = found.len();
        return Err(Failure::Run(match n {
            0 => format!("{source}: no row has a value in {column}"),
            _ => format!("none of {n} groups could be fitted; the first: {first}"),
        }));
    }
    if !errors.is_empty() && !quiet {
        say(format_args!("{} of {} groups could not be fitted", errors.len(), found.len()));
    }
    Ok(Groups { column: column.to_owned(), source, found })
}

/// `trustvb calibrate DATA --by COLUMN`.
pub(crate) fn calibrate(
    args: &CalibrateArgs,
    path: Option<&Path>,
    quantities: &[String],
    column: &str,
) -> Result<(), Failure> {
    check(&args.output)?;
    let usual = match args.question.all_methods {
        true => input::usual_methods(&args.grid),
        false => &[Method::RECOMMENDED, Method::Vb],
    };
    let methods = input::methods(&args.question.ask.method, usual)?;
    let levels = input::levels(&args.question.ask);
    progress::keeps("nothing is kept");
    let groups = each(path, column, args.output.quiet, |slice| {
        let Given { problem, .. } = input::bind_slice(slice, &args.model, args.grid.published)?;
        let functionals = input::functionals(quantities, problem.model().layout())?;
        let blueprint = input::blueprint(&args.grid, &args.iteration, &problem, &methods, false)?;
        let watch = Watch { cancel: progress::interruption(), ..Watch::silent() };
        let table = blueprint.build(&Cpu, &watch)?;
        let calibrator = Calibrator::new(&table, args.question.ask.draws)?;
        let ask = |part| {
            let cancel = progress::interruption();
            calibrator.answer_with(part, &methods, &levels, &Memory::default(), cancel)
        };
        let parts = functionals.iter().flat_map(Functional::parts);
        Ok(parts.map(ask).collect::<Result<Vec<Vec<Answer>>, _>>()?)
    })?;
    if let Some(path) = args.output.output.as_deref().filter(|path| is_parquet(path)) {
        return write_parquet(&groups, path);
    }
    let text = match args.output.format {
        Format::Json => json_text(&intervals_json(&groups)),
        Format::Csv => intervals_csv(&groups),
        Format::Table => printable(&intervals_table(&groups, args.question.every_method())),
    };
    write(&args.output, &text)
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

type Answered = Groups<Vec<Vec<Answer>>>;

fn intervals_json(groups: &Answered) -> Value {
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
fn intervals_csv(groups: &Answered) -> String {
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
fn intervals_table(groups: &Answered, every_method: bool) -> String {
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
    let mut text = format!("{}: {} groups\n\n", groups.source, groups.found.len());
    text.push_str(&table(&header, rows, 3));
    push_failures(&mut text, groups);
    text
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

/// The rows of CSV with numbers as numbers and a column of 0 and 1 for each flag.
fn write_parquet(groups: &Answered, path: &Path) -> Result<(), Failure> {
    let mut rows: Vec<(&str, usize, Option<&Answer>, &str)> = Vec::new();
    for (label, n_rows, found) in &groups.found {
        match found {
            Ok(answers) => {
                rows.extend(
                    answers.iter().flatten().map(|a| (label.as_str(), *n_rows, Some(a), "")),
                );
            }
            Err(error) => rows.push((label, *n_rows, None, error)),
        }
    }
    let text = |of: &dyn Fn(&Answer) -> String| -> Vec<String> {
        rows.iter().map(|row| row.2.map_or_else(String::new, of)).collect()
    };
    let number = |of: &dyn Fn(&Answer) -> Option<f64>| -> Vec<f64> {
        rows.iter().map(|row| row.2.and_then(of).unwrap_or(f64::NAN)).collect()
    };
    let labels: Vec<String> = rows.iter().map(|row| row.0.to_owned()).collect();
    let sizes: Vec<i32> = rows.iter().map(|row| row.1 as i32).collect();
    let errors: Vec<String> = rows.iter().map(|row| row.3.to_owned()).collect();
    let (functional, method) =
        (text(&|a| a.functional.clone()), text(&|a| a.method.name().to_owned()));
    let numbers: [(&str, Vec<f64>); 8] = [
        ("level", number(&|a| Some(a.level))),
        ("omega", number(&|a| a.shown_omega())),
        ("estimate", number(&|a| Some(a.estimate))),
        ("lower", number(&|a| Some(a.lower))),
        ("upper", number(&|a| Some(a.upper))),
        ("coverage", number(&|a| a.coverage)),
        ("coverage_se", number(&|a| a.coverage_se)),
        ("recommended", number(&|a| Some(f64::from(u8::from(a.method == Method::RECOMMENDED))))),
    ];
    let flags: Vec<(&str, Vec<i32>)> = Flag::NAMES
        .iter()
        .map(|&name| {
            let raised = |a: &Answer| a.flags.iter().any(|flag| flag.name() == name);
            (name, rows.iter().map(|row| i32::from(row.2.is_some_and(raised))).collect())
        })
        .collect();
    let mut columns = vec![
        (groups.column.as_str(), ColumnValues::Text(&labels)),
        ("rows", ColumnValues::Integers(&sizes)),
        ("functional", ColumnValues::Text(&functional)),
        ("method", ColumnValues::Text(&method)),
    ];
    columns.extend(numbers.iter().map(|(name, x)| (*name, ColumnValues::Doubles(x))));
    columns.push(("error", ColumnValues::Text(&errors)));
    columns.extend(flags.iter().map(|(name, x)| (*name, ColumnValues::Integers(x))));
    Ok(write_columns_parquet(&columns, path)?)
}

/// `trustvb fit DATA --by COLUMN`.
pub(crate) fn fit(args: &FitArgs, column: &str) -> Result<(), Failure> {
    check(&args.output)?;
    let groups = each(args.data.as_deref(), column, args.output.quiet, |slice| {
        let given = input::bind_slice(slice, &args.model, false)?;
        fit::one(args, given, &mut |_| ())
    })?;
    write(&args.output, &fits_text(&args.output, args, &groups))
}

fn fits_text(output: &OutputArgs, args: &FitArgs, groups: &Groups<Summary>) -> String {
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
