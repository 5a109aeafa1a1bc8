//! `trustvb study`: coverage studies, resumable, with their summary and figures.

mod figures;
mod flags;
mod levels;
mod overall;
mod report;

use super::table::{ranges, shard};
use crate::args::{
    Format, HalfName, LabelsName, StudyArgs, StudyCommand, StudyMergeArgs, WantedStudyArgs,
};
use crate::failure::Failure;
use crate::input::place;
use crate::progress;
use crate::say::say;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use trustvb::location::Location;
use trustvb::study::{
    Changes, Half, Labels, PRESETS, Results, Study, StudyError, StudyInfo, StudyMethod, info,
    merge, preset, run as run_study, study_in, summarise,
};
use trustvb::table::{Shard, Watch};

pub(crate) fn run(args: &StudyArgs) -> Result<(), Failure> {
    if let Some(StudyCommand::Merge(args)) = &args.command {
        return run_merge(args);
    }
    let Some(name) = &args.wanted.study else { return print(&list()?) };
    let study = changed(read(name)?, &args.wanted)?;
    let flagged = args.flags.as_deref().map(methods).transpose()?;
    if args.show {
        return print(&study.to_toml());
    }
    let place = place(&folder(name, args.wanted.output.as_deref()))?;
    let share = args.shard.as_deref().map_or(Ok(Shard::default()), shard)?;
    if !args.so_far {
        go_on(&place, &study, share, args.quiet)?;
    }
    if args.complete {
        let found = info(&place)?;
        if !found.is_complete() {
            return Err(Failure::Run(incomplete(&place, &found)));
        }
    }
    if share.of > 1 {
        // Whoever makes another share makes its parts anew.
        if let Some(damaged) = info(&place)?.damaged.first() {
            if !args.quiet {
                say(format_args!("shard {}/{} is done; {damaged}", share.number, share.of));
            }
            return Ok(());
        }
    }
    let results = Results::read(&place)?;
    if !results.checked && !args.quiet {
        say(format_args!(
            "{} is of an older format, whose parts carry no checksum: they were not checked",
            place
        ));
    }
    let (done, of) = results.replications();
    if done == of && results.checked {
        finish(&place, &results)?;
    } else if !args.quiet && !args.so_far {
        say(format_args!(
            "{done} of {of} replications are in {}; the same command without --shard, or \
             `trustvb study merge`, completes them",
            place
        ));
    }
    // A run without --half stays one study; what is shown of it is what was asked for.
    let shown = match half(args.wanted.half) {
        Some(half) => results.half(half),
        None => results,
    };
    let mut text = match (&flagged, args.format) {
        (Some(_), Format::Csv) => String::new(),
        _ => report::text(args.format, &shown, &summarise(&shown)),
    };
    if let Some(methods) = &flagged {
        text.push_str(&flags::text(args.format, &shown, methods));
    }
    print(&text)
}

fn half(name: Option<HalfName>) -> Option<Half> {
    name.map(|name| match name {
        HalfName::Choose => Half::Choose,
        HalfName::Judge => Half::Judge,
    })
}

/// Runs what is missing.
fn go_on(place: &Location, study: &Study, share: Shard, quiet: bool) -> Result<(), Failure> {
    progress::keeps(format!(
        "what is done is in {}, and the same command goes on from there",
        place
    ));
    let bar = progress::bar("replications", quiet);
    let watch = Watch {
        cancel: progress::interruption(),
        begin: &|n| {
            bar.set_length(n);
            bar.reset_eta();
        },
        done: &|| bar.inc(1),
    };
    let ran = run_study(place, study, share, &watch);
    bar.finish_and_clear();
    let progress = ran.map_err(|error| match error {
        StudyError::Store(error) if error.may_pass() => Failure::Run(format!(
            "{error}; what is done stays in {}, and the same command goes on from there",
            place
        )),
        other => other.into(),
    })?;
    match progress {
        progress if progress.cancelled => {
            progress::keeps(format!(
                "{} of {} replications are in {}, and the same command goes on from there",
                progress.done, progress.of, place
            ));
            Err(Failure::Interrupted)
        }
        _ => Ok(()),
    }
}

/// What of a study is missing, in one sentence.
fn incomplete(place: &Location, info: &StudyInfo) -> String {
    let missing: Vec<String> =
        info.missing.iter().map(|(cell, list)| format!("{cell} {}", ranges(list))).collect();
    let damaged = match info.damaged.as_slice() {
        [] => String::new(),
        list => format!("; of these, damaged: {}", list.join("; ")),
    };
    format!(
        "{} is not complete: {} of {} parts are missing (replications of {}){damaged}",
        place,
        info.missing_parts.len(),
        info.n_parts,
        missing.join("; "),
    )
}

fn run_merge(args: &StudyMergeArgs) -> Result<(), Failure> {
    let target = place(&args.output)?;
    let sources = args.sources.iter().map(|path| place(path)).collect::<Result<Vec<_>, _>>()?;
    let added = merge(&target, &sources)?;
    let results = Results::read(&target)?;
    let (done, of) = results.replications();
    if !args.quiet {
        say(format_args!("added {added} parts to {target}, which has {done} of {of} replications"));
    }
    if done == of {
        finish(&target, &results)?;
    }
    print(&report::text(args.format, &results, &summarise(&results)))
}

/// Writes everything that a complete study has.
fn finish(place: &Location, results: &Results) -> Result<(), Failure> {
    results.write(place)?;
    let summary = summarise(results);
    let keep = |file: &str, content: Vec<u8>| {
        place.write(file, content).map_err(|e| Failure::Run(format!("{place}: {file}: {e}")))
    };
    keep("summary.csv", report::csv(&summary).into_bytes())?;
    keep("summary.json", report::json(results, &summary).into_bytes())?;
    figures::draw(&keep, results, &summary)?;
    levels::draw(&keep, results, &summary)
}

/// A built-in study, a file, or the study in a folder or an object store.
pub(crate) fn read(name: &str) -> Result<Study, Failure> {
    let path = Path::new(name);
    let location = place(path)?;
    if path.is_dir() || location.folder().is_none() {
        return Ok(study_in(&location)?);
    }
    if path.is_file() {
        let text =
            std::fs::read_to_string(path).map_err(|e| Failure::Run(format!("{name}: {e}")))?;
        return Ok(Study::parse(&text, name)?);
    }
    preset(name).map_err(|e| match e {
        StudyError::NoSuchStudy { .. } => Failure::Usage(e.to_string()),
        other => other.into(),
    })
}

/// The study with what the command line changes.
pub(crate) fn changed(study: Study, args: &WantedStudyArgs) -> Result<Study, Failure> {
    let changes = Changes {
        only: args.only.clone(),
        half: half(args.half),
        scale: args.scale,
        replications: args.replications,
        bootstraps: args.bootstraps,
        grid: args.grid,
        seed: args.seed,
        levels: args.level.clone(),
        methods: methods(&args.method)?,
        quantities: args.quantity.clone(),
        labels: args.labels.map(|name| match name {
            LabelsName::Matched => Labels::Matched,
            LabelsName::Weight => Labels::Weight,
        }),
    };
    study.changed(&changes).map_err(|e| Failure::usage(&e))
}

fn methods(names: &[String]) -> Result<Vec<StudyMethod>, Failure> {
    let method = |name: &String| {
        StudyMethod::from_name(name.trim()).ok_or_else(|| {
            let known: Vec<&str> = StudyMethod::all().iter().map(|m| m.name()).collect();
            Failure::Usage(format!(
                "--method {name}: there is no such method; choose from {}",
                known.join(", ")
            ))
        })
    };
    names.iter().map(method).collect()
}

/// The folder asked for: that of `-o`, the one named, or `NAME.study`.
pub(crate) fn folder(name: &str, output: Option<&Path>) -> PathBuf {
    let path = Path::new(name);
    match output {
        Some(folder) => folder.to_path_buf(),
        None if path.is_dir() || name.contains("://") => path.to_path_buf(),
        None => {
            let stem = path.file_stem().filter(|_| path.is_file()).unwrap_or(path.as_os_str());
            let mut folder = stem.to_os_string();
            folder.push(".study");
            PathBuf::from(folder)
        }
    }
}

/// The built-in studies, one line each.
fn list() -> Result<String, Failure> {
    let mut rows = Vec::new();
    for (name, _) in PRESETS {
        let study = preset(name)?;
        let cells: usize = study.designs.iter().map(|d| d.simulate.sizes().len()).sum();
        rows.push(vec![
            name.to_owned(),
            cells.to_string(),
            study.replications.to_string(),
            study.bootstraps.to_string(),
            study.title,
        ]);
    }
    let header = ["study", "cells", "data sets each", "bootstraps", "about"];
    Ok(crate::output::table(&header, rows, usize::MAX))
}

fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
