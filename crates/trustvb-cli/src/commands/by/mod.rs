//! `--by COLUMN`: the same work for the rows of each value of a column, on all cores, in one table.
//!
//! A group is read, fitted and asked as a file of its rows would be, with the same seed, so that its rows here are those
//! that the command gives for that file.

mod parquet;
mod settings;
mod show;

use super::fit;
use crate::args::{CalibrateArgs, FitArgs, Format};
use crate::failure::Failure;
use crate::input::{self, Given, Wish};
use crate::output::{check, json_text, write};
use crate::progress;
use crate::say::{printable, say};
use show::{fits_text, intervals_csv, intervals_json, intervals_table};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;
use trustvb::backend::Cpu;
use trustvb::calibrate::{Answer, Calibrator, Memory, Method};
use trustvb::data::Slice;
use trustvb::functional::Functional;
use trustvb::table::Watch;

/// What came of each group.
struct Groups<T> {
    column: String,
    source: String,
    /// Label, rows, and what was found or why not.
    found: Vec<(String, usize, Result<T, String>)>,
}

/// The groups of a file.
struct Wanted<'a> {
    column: &'a str,
    source: String,
    slices: Vec<Slice>,
    quiet: bool,
}

impl<'a> Wanted<'a> {
    fn read(path: Option<&Path>, column: &'a str, quiet: bool) -> Result<Wanted<'a>, Failure> {
        let (slices, source, without) = input::slices(path, column, quiet)?;
        if without > 0 && !quiet {
            say(format_args!("left out {without} rows without a {column}"));
        }
        match slices.is_empty() {
            true => Err(Failure::Run(format!("{source}: no row has a value in {column}"))),
            false => Ok(Wanted { column, source, slices, quiet }),
        }
    }

    /// Does the work for some groups, each on one thread, and gives what came of each to `sink` when it is done.
    fn each<T: Send>(
        &self,
        groups: &[usize],
        work: impl Fn(&Slice) -> Result<T, Failure> + Sync,
        sink: impl Fn(usize, Result<T, String>) -> Result<(), Failure> + Sync,
    ) -> Result<(), Failure> {
        let bar = progress::bar("groups", self.quiet);
        bar.set_length(groups.len() as u64);
        let (began, next, stop) = (Instant::now(), AtomicUsize::new(0), AtomicBool::new(false));
        let turns = || -> Result<(), Failure> {
            // Fits and calibrators use the pool they run in: here, this one thread.
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(Failure::run)?;
            while let Some(&group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
                if stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let found = match pool.install(|| work(&self.slices[group])) {
                    Err(Failure::Interrupted) => return Err(Failure::Interrupted),
                    other => other.map_err(|failure| failure.to_string()),
                };
                sink(group, found)?;
                bar.inc(1);
            }
            Ok(())
        };
        let turns = || turns().inspect_err(|_: &Failure| stop.store(true, Ordering::Relaxed));
        let threads = rayon::current_num_threads().min(groups.len());
        let ended = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(turns)).collect();
            let ended = threads.into_iter().map(|thread| match thread.join() {
                Ok(ended) => ended,
                Err(_) => Err(Failure::Run("a thread failed, which is a mistake to report".into())),
            });
            ended.collect::<Vec<Result<(), Failure>>>()
        });
        bar.finish_and_clear();
        ended.into_iter().collect::<Result<(), Failure>>()?;
        if progress::is_visible(self.quiet) {
            let (n, seconds) = (groups.len(), began.elapsed().as_secs_f64());
            say(format_args!("{n} groups in {seconds:.1} s, {:.0} a second", n as f64 / seconds));
        }
        Ok(())
    }

    /// Does the work for all of them and keeps what came of it in memory.
    fn all<T: Send>(
        self,
        work: impl Fn(&Slice) -> Result<T, Failure> + Sync,
    ) -> Result<Groups<T>, Failure> {
        let found = Mutex::new(Vec::new());
        let groups: Vec<usize> = (0..self.slices.len()).collect();
        self.each(&groups, work, |group, result| {
            if let Ok(mut found) = found.lock() {
                found.push((group, result));
            }
            Ok(())
        })?;
        let mut found = found.into_inner().unwrap_or_default();
        found.sort_unstable_by_key(|(group, _)| *group);
        let errors: Vec<&String> = found.iter().filter_map(|(_, r)| r.as_ref().err()).collect();
        if let (true, Some(first)) = (errors.len() == found.len(), errors.first()) {
            return Err(self.none_succeeded(first));
        }
        self.tell_failures(errors.len());
        let named = self.slices.into_iter().zip(found);
        let found = named.map(|(slice, (_, result))| (slice.label, slice.n_rows, result)).collect();
        Ok(Groups { column: self.column.to_owned(), source: self.source, found })
    }

    /// What is wrong with all of them alike is wrong with the command.
    fn none_succeeded(&self, first: &str) -> Failure {
        let n = self.slices.len();
        Failure::Run(format!("none of {n} groups could be fitted; the first: {first}"))
    }

    fn tell_failures(&self, failed: usize) {
        if failed > 0 && !self.quiet {
            say(format_args!("{failed} of {} groups could not be fitted", self.slices.len()));
        }
    }
}

/// `trustvb calibrate DATA --by COLUMN`.
pub(crate) fn calibrate(
    args: &CalibrateArgs,
    path: Option<&Path>,
    quantities: &[String],
    column: &str,
) -> Result<(), Failure> {
    check(&args.output)?;
    let every_method = args.question.every_method() || args.grid.tvb;
    let usual = match args.question.all_methods || args.grid.tvb {
        true => Method::usual(args.grid.published),
        false => &[Method::RECOMMENDED, Method::Vb],
    };
    let methods = input::methods(&args.question.ask.method, usual)?;
    let methods = input::with_tvb(methods, args.grid.tvb);
    let levels = input::levels(&args.question.ask);
    let wanted = Wanted::read(path, column, args.output.quiet)?;
    let work = |slice: &Slice| -> Result<Vec<Vec<Answer>>, Failure> {
        let Given { problem, .. } = input::bind_slice(slice, &args.model, args.grid.published)?;
        let functionals = input::functionals(quantities, problem.model().layout())?;
        let wanted = Wish { named: methods.clone(), tvb: true };
        let (blueprint, _) =
            input::blueprint(&args.grid, &args.iteration, &problem, &wanted, false)?;
        let watch = Watch { cancel: progress::interruption(), ..Watch::silent() };
        let table = blueprint.build(&Cpu, &watch)?;
        let calibrator = Calibrator::new(&table, args.question.ask.draws)?;
        let ask = |part| {
            let cancel = progress::interruption();
            calibrator.answer_with(part, &methods, &levels, &Memory::default(), cancel)
        };
        let parts = functionals.iter().flat_map(Functional::parts);
        Ok(parts.map(ask).collect::<Result<Vec<Vec<Answer>>, _>>()?)
    };
    if let Some(file) = args.output.output.as_deref().filter(|path| is_parquet(path)) {
        let settings = settings::of_calibrate(args, quantities, &methods, &levels)?;
        let rows = |label: &str, n_rows, found: Result<Vec<Vec<Answer>>, String>| {
            parquet::answer_rows(column, label, n_rows, found)
        };
        return parquet::write(&wanted, file, settings, work, rows);
    }
    progress::keeps("nothing is kept; with -o NAME.parquet what is done would be");
    let groups = wanted.all(work)?;
    let text = match args.output.format {
        Format::Json => json_text(&intervals_json(&groups)),
        Format::Csv => intervals_csv(&groups),
        Format::Table => printable(&intervals_table(&groups, every_method)),
    };
    write(&args.output, &text)
}

/// `trustvb fit DATA --by COLUMN`.
pub(crate) fn fit(args: &FitArgs, column: &str) -> Result<(), Failure> {
    check(&args.output)?;
    let wanted = Wanted::read(args.data.as_deref(), column, args.output.quiet)?;
    let work = |slice: &Slice| -> Result<fit::Summary, Failure> {
        let given = input::bind_slice(slice, &args.model, false)?;
        fit::one(args, given, &mut |_| ())
    };
    if let Some(file) = args.output.output.as_deref().filter(|path| is_parquet(path)) {
        let rows = |label: &str, n_rows, found: Result<fit::Summary, String>| {
            parquet::fit_rows(column, label, n_rows, found)
        };
        return parquet::write(&wanted, file, settings::of_fit(args)?, work, rows);
    }
    let groups = wanted.all(work)?;
    write(&args.output, &fits_text(&args.output, args, &groups))
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}
