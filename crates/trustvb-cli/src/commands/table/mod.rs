//! `trustvb table build | info | check | merge | plan | diff`: tables that are kept.

mod check;
mod diff;
mod plan;

use crate::args::{
    BuildArgs, Format, InfoArgs, MergeArgs, TableArgs, TableCommand, TableContentArgs,
};
use crate::failure::Failure;
use crate::output::{check as check_output, json_text, significant, table, write};
use crate::say::say;
use crate::{input, progress};
use serde_json::json;
use trustvb::backend::Cpu;
use trustvb::table::{Blueprint, BuildError, Shard, TableError, TableInfo, Watch, info, merge};

pub(crate) fn run(args: &TableArgs) -> Result<(), Failure> {
    match &args.command {
        TableCommand::Build(args) => run_build(args),
        TableCommand::Info(args) => run_info(args),
        TableCommand::Check(args) => check::run(args),
        TableCommand::Merge(args) => run_merge(args),
        TableCommand::Plan(args) => plan::run(args),
        TableCommand::Diff(args) => diff::run(args),
    }
}

/// Reads and checks everything that a table needs.
pub(crate) fn wanted(args: &TableContentArgs, quiet: bool) -> Result<Blueprint, Failure> {
    if input::streams_rows(&args.model.settings)? {
        return Err(Failure::usage(&TableError::Far));
    }
    let given = input::problem(args.data.as_deref(), &args.model, args.grid.published, quiet)?;
    let named = input::methods(&args.method, &[])?;
    let wish = input::Wish { named, tvb: args.grid.tvb };
    let built_in = args.data.is_none();
    let (blueprint, usual) =
        input::blueprint(&args.grid, &args.iteration, &given.problem, &wish, built_in)?;
    if !quiet {
        input::say_left_out(&usual);
    }
    Ok(blueprint)
}

fn run_build(args: &BuildArgs) -> Result<(), Failure> {
    let shard = args.shard.as_deref().map_or(Ok(Shard::default()), shard)?;
    let blueprint = wanted(&args.wanted.content, args.quiet)?;
    let place = input::place(&args.wanted.output)?;
    progress::keeps(format!("what is done is in {place}, and the same command goes on from there"));
    let paths = progress::Paths::new(args.quiet);
    let watch = Watch {
        cancel: progress::interruption(),
        begin: &|n| paths.begin(n),
        done: &|| paths.done(),
    };
    let built = blueprint.build_in(&place, !args.wanted.without_data, shard, &Cpu, &watch);
    paths.bar.finish_and_clear();
    match built {
        Err(TableError::Build(BuildError::Cancelled)) => Err(Failure::Interrupted),
        Err(TableError::Store(error)) if error.may_pass() => Err(Failure::Run(format!(
            "{error}; what is done stays in {place}, and the same command goes on from there"
        ))),
        other => {
            other?;
            if !args.quiet {
                say(next(&args.wanted.output.display().to_string(), shard));
            }
            Ok(())
        }
    }
}

/// What to do with a table, or a share of one, that has been built.
fn next(name: &str, shard: Shard) -> String {
    match shard {
        Shard { of: 1, .. } => format!(
            "{name} is complete; `trustvb interval {name}` gives intervals, `trustvb explore {name}` shows them in \
             the browser"
        ),
        Shard { number, of } => format!(
            "share {number} of {of} is in {name}; `trustvb table merge` puts shares of several folders together, \
             `trustvb table info {name}` says what is missing"
        ),
    }
}

/// The share of `3/16`.
pub(crate) fn shard(text: &str) -> Result<Shard, Failure> {
    let wrong =
        || Failure::Usage(format!("--shard {text}: write it as 3/16, the third share of sixteen"));
    let (number, of) = text.split_once('/').ok_or_else(wrong)?;
    let (number, of) =
        (number.parse::<u32>().map_err(|_| wrong())?, of.parse::<u32>().map_err(|_| wrong())?);
    if number < 1 || number > of {
        return Err(Failure::Usage(format!(
            "--shard {text}: there is no share {number} of {of}; count from 1/{of} to {of}/{of}",
            of = of.max(1)
        )));
    }
    Ok(Shard { number, of })
}

fn run_merge(args: &MergeArgs) -> Result<(), Failure> {
    let target = input::place(&args.output)?;
    let sources =
        args.sources.iter().map(|path| input::place(path)).collect::<Result<Vec<_>, _>>()?;
    let added = merge(&target, &sources)?;
    if !args.quiet {
        say(format_args!("added {added} parts to {target}"));
    }
    Ok(())
}

fn run_info(args: &InfoArgs) -> Result<(), Failure> {
    check_output(&args.output)?;
    let found = info(&input::place(&args.table)?)?;
    let text = match args.output.format {
        Format::Table => info_text(&args.table.display().to_string(), &found),
        Format::Json => json_text(&json!({
            "manifest": found.manifest,
            "checked": found.checked,
            "has_data": found.has_data,
            "paths": found.paths.0,
            "paths_expected": found.paths.1,
            "parts": found.n_parts - found.missing_parts.len(),
            "parts_expected": found.n_parts,
            "missing": found.missing.iter().map(|(design, list)| json!({
                "design": design.name(), "replicates": list,
            })).collect::<Vec<_>>(),
            "damaged": found.damaged,
            "sweeps": found.sweeps,
            "fits": found.manifest.omegas.iter().zip(&found.fits).map(|(omega, counts)| json!({
                "omega": omega,
                "converged": counts[0],
                "unconverged": counts[1],
                "failed": counts[2],
            })).collect::<Vec<_>>(),
        })),
        Format::Csv => {
            let mut text = String::from("omega,converged,unconverged,failed\n");
            for (omega, [ok, unconverged, failed]) in found.manifest.omegas.iter().zip(&found.fits)
            {
                text.push_str(&format!("{omega},{ok},{unconverged},{failed}\n"));
            }
            text
        }
    };
    write(&args.output, &text)?;
    match args.complete && !found.is_complete() {
        true => Err(Failure::Run(incomplete(&args.table.display().to_string(), &found))),
        false => Ok(()),
    }
}

/// What of a table is missing, in one sentence.
fn incomplete(name: &str, info: &TableInfo) -> String {
    let missing: Vec<String> = info
        .missing
        .iter()
        .map(|(design, list)| format!("{} replicates {}", design.name(), ranges(list)))
        .collect();
    let damaged = match info.damaged.as_slice() {
        [] => String::new(),
        list => format!("; of these, damaged: {}", list.join("; ")),
    };
    format!(
        "{name} is not complete: {} of {} parts are missing ({}){damaged}",
        info.missing_parts.len(),
        info.n_parts,
        missing.join(", "),
    )
}

/// What to know of a table of an older format.
pub(crate) fn unchecked(name: &str, schema: u32) -> String {
    format!(
        "{name} was written in format {schema}, whose parts carry no checksum: they were not checked"
    )
}

/// `1–20, 41–60`.
pub(crate) fn ranges(numbers: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &n in numbers {
        match parts.last_mut() {
            Some((_, end)) if *end + 1 == n => *end = n,
            _ => parts.push((n, n)),
        }
    }
    let text: Vec<String> = parts
        .iter()
        .map(|(a, b)| if a == b { format!("{a}") } else { format!("{a}–{b}") })
        .collect();
    text.join(", ")
}

fn info_text(name: &str, info: &TableInfo) -> String {
    let manifest = &info.manifest;
    let fits: usize = info.fits.iter().flatten().sum();
    let mut text = format!(
        "{name}: {} with {} components, {} units{}, columns {}\n\
         {} ω from 1 to {}, {} full and {} split bootstraps, seed {}, written by trustvb {}\n\
         {} of {} paths in {} of {} parts: {fits} fits, {} sweeps per fit; {}\n",
        manifest.model.name(),
        manifest.layout.n_components,
        manifest.n_units,
        manifest.weights.as_ref().map_or_else(String::new, |w| format!(" {}", w.in_words())),
        manifest.columns.join(", "),
        manifest.omegas.len(),
        manifest.omegas.last().copied().unwrap_or(1.0),
        manifest.replicates.full,
        manifest.replicates.split,
        manifest.seed,
        manifest.library,
        info.paths.0,
        info.paths.1,
        info.n_parts - info.missing_parts.len(),
        info.n_parts,
        significant(info.sweeps as f64 / fits.max(1) as f64, 3),
        if info.has_data { "the data are included" } else { "without the data" },
    );
    for design in &manifest.at_one {
        text.push_str(&format!(
            "{} bootstraps are fitted at ω = 1 alone, which is all that its methods read\n",
            design.name()
        ));
    }
    if let Some(subsets) = manifest.subsets {
        text.push_str(&format!(
            "bootstraps of all units are drawn from {} subsets of {} units\n",
            subsets.count, subsets.size
        ));
    }
    if !info.checked {
        text.push_str(&unchecked("it", manifest.schema));
        text.push('\n');
    }
    for (design, replicates) in &info.missing {
        text.push_str(&format!(
            "missing: {} replicates {}; run `trustvb table build` again to complete them\n",
            design.name(),
            ranges(replicates)
        ));
    }
    for damage in &info.damaged {
        text.push_str(&format!("damaged: {damage}\n"));
    }
    let rows: Vec<Vec<String>> = manifest
        .omegas
        .iter()
        .zip(&info.fits)
        .filter(|(_, counts)| counts[1] + counts[2] > 0)
        .map(|(omega, [ok, unconverged, failed])| {
            vec![
                significant(*omega, 4),
                ok.to_string(),
                unconverged.to_string(),
                failed.to_string(),
            ]
        })
        .collect();
    if fits == 0 {
        text.push_str("no fits yet\n");
    } else if rows.is_empty() {
        text.push_str("all fits converged\n");
    } else {
        text.push_str("\nfits that did not converge, by ω:\n");
        text.push_str(&table(&["ω", "converged", "unconverged", "failed"], rows, 0));
    }
    text
}
