//! `trustvb table plan`: what a table would cost, from a short trial.

use super::wanted;
use crate::args::{Format, PlanArgs};
use crate::failure::Failure;
use crate::output::{check, json_text, significant, write};
use crate::progress;
use serde_json::json;
use std::time::{Duration, Instant};
use trustvb::table::Estimate;

/// How long the trial may take, about.
const TRIAL: Duration = Duration::from_secs(2);

pub(crate) fn run(args: &PlanArgs) -> Result<(), Failure> {
    check(&args.output)?;
    let began = Instant::now();
    let wanted = wanted(&args.content, args.output.quiet)?;
    let reading = began.elapsed().as_secs_f64();
    let bar = progress::spinner("trying a few fits", args.output.quiet);
    let found = wanted.estimate(TRIAL);
    bar.finish_and_clear();
    let mut cost = found?;
    // Every process reads the data for itself.
    cost.reference_seconds += reading;
    let cpus = args.cpus.unwrap_or_else(rayon::current_num_threads);
    let shards = cost.shards(cpus, 60.0 * args.minutes);
    let memory = cost.memory + (cpus - 1) as f64 * cost.memory_per_thread;
    let text = match args.output.format {
        Format::Table => words(&cost, cpus, shards, memory),
        Format::Json => json_text(&json!({
            "fits": cost.fits,
            "paths": cost.paths,
            "parts": cost.parts,
            "cpus": cpus,
            "reference_seconds": cost.reference_seconds,
            "path_seconds": cost.path_seconds,
            "seconds": cost.seconds(1, cpus),
            "memory_bytes": memory,
            "disk_bytes": cost.disk,
            "shards": shards,
            "shard_seconds": cost.seconds(shards, cpus),
        })),
        Format::Csv => format!(
            "fits,paths,parts,cpus,seconds,memory_bytes,disk_bytes,shards,shard_seconds\n{},{},{},{cpus},{},{},{},{shards},{}\n",
            cost.fits,
            cost.paths,
            cost.parts,
            cost.seconds(1, cpus),
            memory,
            cost.disk,
            cost.seconds(shards, cpus),
        ),
    };
    write(&args.output, &text)
}

fn words(cost: &Estimate, cpus: usize, shards: usize, memory: f64) -> String {
    let cores = if cpus == 1 { "one core".to_owned() } else { format!("{cpus} cores") };
    let advice = if shards == 1 {
        "one process is enough".to_owned()
    } else {
        format!(
            "{shards} shards of {cores} each take about {}: `trustvb slurm table … --shards {shards} --cpus {cpus}`, \
             or --shard 1/{shards} to {shards}/{shards} of `trustvb table build`",
            time(cost.seconds(shards, cpus))
        )
    };
    format!(
        "{} fits in {} paths, kept in {} parts\n\
         time: about {} on {cores}, of which {} before the first part (from a short trial on this machine)\n\
         memory: about {}; on disk: at most {}\n\
         {advice}\n",
        cost.fits,
        cost.paths,
        cost.parts,
        time(cost.seconds(1, cpus)),
        time(cost.reference_seconds),
        bytes(memory),
        bytes(cost.disk),
    )
}

/// `40 ms`, `12 s`, `3.5 min`, `2.1 h`, `5.0 days`.
fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1.0 => (1e3 * s, "ms"),
        s if s < 120.0 => (s, "s"),
        s if s < 7200.0 => (s / 60.0, "min"),
        s if s < 172_800.0 => (s / 3600.0, "h"),
        s => (s / 86_400.0, "days"),
    };
    format!("{} {unit}", significant(value, 2))
}

/// `31 MB`.
fn bytes(n: f64) -> String {
    let (value, unit) = match n {
        n if n < 1e6 => (n / 1e3, "kB"),
        n if n < 1e9 => (n / 1e6, "MB"),
        n if n < 1e12 => (n / 1e9, "GB"),
        n => (n / 1e12, "TB"),
    };
    format!("{} {unit}", significant(value, 2))
}
