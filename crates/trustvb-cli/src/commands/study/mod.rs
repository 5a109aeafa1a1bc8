//! `trustvb study`: coverage studies, resumable, with their summary and figures.

mod figures;
mod report;

use super::table::shard;
use crate::args::{LabelsName, StudyArgs, StudyCommand, StudyMergeArgs};
use crate::failure::Failure;
use crate::output::write_text;
use crate::progress;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use trustvb::study::{
    Changes, Labels, PRESETS, Results, Study, StudyError, StudyMethod, merge, preset,
    run as run_study, study_in, summarise,
};
use trustvb::table::{Shard, Watch};

pub(crate) fn run(args: &StudyArgs) -> Result<(), Failure> {
    if let Some(StudyCommand::Merge(args)) = &args.command {
        return run_merge(args);
    }
    let Some(name) = &args.study else { return print(&list()?) };
    let study = changed(read(name)?, args)?;
    if args.show {
        return print(&study.to_toml());
    }
    let folder = folder(name, args);
    let share = args.shard.as_deref().map_or(Ok(Shard::default()), shard)?;
    if !args.so_far {
        go_on(&folder, &study, share, args.quiet)?;
    }
    let results = Results::read(&folder)?;
    let (done, of) = results.replications();
    if done == of {
        finish(&folder, &results)?;
    } else if !args.quiet && !args.so_far {
        eprintln!(
            "trustvb: {done} of {of} replications are in {}; the same command without --shard, or \
             `trustvb study merge`, completes them",
            folder.display()
        );
    }
    print(&report::text(args.format, &results, &summarise(&results)))
}

/// Runs what is missing.
fn go_on(folder: &Path, study: &Study, share: Shard, quiet: bool) -> Result<(), Failure> {
    let bar = progress::bar("replications", quiet);
    let watch = Watch {
        cancel: progress::interruption(),
        begin: &|n| {
            bar.set_length(n);
            bar.reset_eta();
        },
        done: &|| bar.inc(1),
    };
    let ran = run_study(folder, study, share, &watch);
    bar.finish_and_clear();
    match ran? {
        progress if progress.cancelled => Err(Failure::Run(format!(
            "interrupted with {} of {} replications done; they are in {}, and the same command goes \
             on from there",
            progress.done,
            progress.of,
            folder.display()
        ))),
        _ => Ok(()),
    }
}

fn run_merge(args: &StudyMergeArgs) -> Result<(), Failure> {
    let added = merge(&args.output, &args.sources)?;
    let results = Results::read(&args.output)?;
    let (done, of) = results.replications();
    if !args.quiet {
        eprintln!(
            "trustvb: added {added} parts to {}, which has {done} of {of} replications",
            args.output.display()
        );
    }
    if done == of {
        finish(&args.output, &results)?;
    }
    print(&report::text(args.format, &results, &summarise(&results)))
}

/// Writes everything that a complete study has.
fn finish(folder: &Path, results: &Results) -> Result<(), Failure> {
    results.write(folder)?;
    let summary = summarise(results);
    write_text(&folder.join("summary.csv"), &report::csv(&summary))?;
    write_text(&folder.join("summary.json"), &report::json(results, &summary))?;
    figures::draw(folder, results, &summary)
}

/// A built-in study, a file, or the study in a folder.
pub(crate) fn read(name: &str) -> Result<Study, Failure> {
    let path = Path::new(name);
    if path.is_dir() {
        return Ok(study_in(path)?);
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
fn changed(study: Study, args: &StudyArgs) -> Result<Study, Failure> {
    let changes = Changes {
        only: args.only.clone(),
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
    study.changed(&changes).map_err(|e| Failure::Usage(e.to_string()))
}

fn methods(names: &[String]) -> Result<Vec<StudyMethod>, Failure> {
    let method = |name: &String| {
        StudyMethod::from_name(name.trim()).ok_or_else(|| {
            let known: Vec<&str> = StudyMethod::ALL.iter().map(|m| m.name()).collect();
            Failure::Usage(format!(
                "--method {name}: there is no such method; choose from {}",
                known.join(", ")
            ))
        })
    };
    names.iter().map(method).collect()
}

/// The folder asked for: that of `-o`, the one named, or `NAME.study`.
fn folder(name: &str, args: &StudyArgs) -> PathBuf {
    let path = Path::new(name);
    match &args.output {
        Some(folder) => folder.clone(),
        None if path.is_dir() => path.to_path_buf(),
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
