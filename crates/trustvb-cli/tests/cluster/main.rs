//! Job arrays on a real Slurm, a disk that fills, and an object store.
//!
//! `cargo xtask cluster` installs Slurm if need be and runs these tests; a plain `cargo test` lists them as
//! ignored. Each starts a Slurm of its own and stops it again.

#![cfg(target_os = "linux")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test that cannot be made says why"
)]

#[path = "../common/mod.rs"]
mod common;
mod full_disk;
mod slurm;
mod store;

use common::{Run, Scratch, assert_same_files, parts};
use serde_json::Value;
use slurm::Slurm;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs `trustvb` in a folder from which jobs of this Slurm are submitted.
fn run(slurm: &Slurm, folder: &Path, args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trustvb"));
    command.args(args).current_dir(folder).env("SLURM_CONF", slurm.configuration());
    common::output(command)
}

fn ok(slurm: &Slurm, folder: &Path, args: &[&str]) -> String {
    let run = run(slurm, folder, args);
    assert_eq!(run.code, Some(0), "trustvb {}: {}", args.join(" "), run.stderr);
    run.stdout
}

/// The numbers of the array and of the job that checks it, from `submitted job 2, and job 3 to check …`.
fn jobs(said: &str) -> (String, String) {
    let line = said.lines().find(|line| line.starts_with("submitted job ")).expect(said);
    let numbers: Vec<&str> =
        line.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty()).collect();
    (numbers[0].to_owned(), numbers[1].to_owned())
}

/// A folder that every kind of quoting has to get right.
const ODD: &str = "it's \"odd\" #1 at 100% $HOME";

#[test]
#[ignore = "needs Slurm: `cargo xtask cluster` installs and runs it"]
fn an_array_makes_the_table_that_one_process_makes() {
    const SIZE: [&str; 4] = ["--grid", "60", "-B", "60"];
    let scratch = Scratch::new();
    scratch.ok(&[&["table", "build", "-o", "one.tvb"], &SIZE[..]].concat());
    let shards: Vec<String> = (1..=5).map(|i| format!("shard{i}.tvb")).collect();
    for (i, shard) in shards.iter().enumerate() {
        let number = format!("{}/5", i + 1);
        scratch.ok(&[&["table", "build", "-o", shard, "--shard", &number], &SIZE[..]].concat());
    }
    let sources: Vec<&str> = shards.iter().map(String::as_str).collect();
    scratch.ok(&[&["table", "merge", "-o", "merged.tvb"], &sources[..]].concat());
    assert_same_files(&scratch.path("one.tvb"), &scratch.path("merged.tvb"));

    let mut slurm = Slurm::start();
    let folder = scratch.path(ODD);
    fs::create_dir(&folder).expect("a folder");
    let submit = ["slurm", "table", "-o", "array.tvb", "--shards", "4", "--submit"];
    let submit = [&submit[..], &SIZE, &["--time", "10", "--memory", "200M"]].concat();
    let said = ok(&slurm, &folder, &submit);
    assert!(said.contains("an array of 4 tasks (1-4 of 4)"), "{said}");
    let (array, finish) = jobs(&said);
    slurm.wait_for_all_jobs();
    let log = fs::read_to_string(folder.join(format!("array.tvb.slurm/finish-{finish}.log")));
    let log = log.expect("a log beside the scripts");
    assert_eq!(slurm.states(&array), ["COMPLETED"; 4], "{log}");
    assert_eq!(slurm.states(&finish), ["COMPLETED"], "{log}");
    assert!(log.contains("in 8 of 8 parts") && !log.contains("missing"), "{log}");
    assert_same_files(&scratch.path("one.tvb"), &folder.join("array.tvb"));
    let same = ok(&slurm, &folder, &["table", "diff", "../one.tvb", "array.tvb"]);
    assert!(same.starts_with("identical: 8 parts"), "{same}");
    let said = ok(&slurm, &folder, &submit);
    assert_eq!(said, "array.tvb is complete: nothing to submit\n");
    assert_eq!(slurm.queue(), Vec::<String>::new());

    // The user's own data, with words that a shell would take apart.
    fs::copy(common::fixture("bmlr_small.csv"), folder.join("my data.csv")).expect("a copy");
    let own = ["my data.csv", "--formula", "y ~ 0 + x1 + x2 | group", "--grid", "9", "-B", "40"];
    let submit = ["slurm", "table", "-o", "own table.tvb", "--submit", "--setup", "export A='b c'"];
    ok(&slurm, &folder, &[&submit[..], &own].concat());
    slurm.wait_for_all_jobs();
    ok(&slurm, &folder, &["table", "info", "own table.tvb", "--complete"]);
    ok(&slurm, &folder, &[&["table", "build", "-o", "own.tvb"], &own[..]].concat());
    assert_same_files(&folder.join("own.tvb"), &folder.join("own table.tvb"));
}

/// The parts, of both designs, that a table's information says are missing: numbers in its order.
fn missing(info: &Value, parts_per_design: u64) -> Vec<u64> {
    let mut parts = Vec::new();
    for entry in info["missing"].as_array().expect("a list") {
        let offset = if entry["design"] == "full" { 0 } else { parts_per_design };
        for replicate in entry["replicates"].as_array().expect("a list") {
            parts.push(offset + replicate.as_u64().expect("a number") / 20);
        }
    }
    parts.dedup();
    parts
}

#[test]
#[ignore = "needs Slurm: `cargo xtask cluster` installs and runs it"]
fn a_killed_task_is_reported_and_made_again() {
    let scratch = Scratch::new();
    let folder = scratch.path("");
    scratch.ok(&["simulate", "gmm", "--n", "30000", "--separation", "2.5", "-o", "data.csv"]);
    // Six parts in each design, all with the whole grid, so that a task is at work for a while.
    const SIZE: [&str; 7] =
        ["data.csv", "--grid", "60", "-B", "100", "--method", "recommended,vb,tvb,gpc"];
    scratch.ok(&[&["table", "build", "-o", "one.tvb"], &SIZE[..]].concat());

    let mut slurm = Slurm::start();
    let submit = ["slurm", "table", "-o", "array.tvb", "--shards", "3", "--submit"];
    let submit = [&submit[..], &SIZE].concat();
    let (array, finish) = jobs(&ok(&slurm, &folder, &submit));
    let again = run(&slurm, &folder, &submit);
    assert_eq!(again.code, Some(1));
    assert!(again.stderr.contains("still in the queue"), "{}", again.stderr);
    // The second task makes parts 1, 4, 7 and 10, counted from 0: it dies when it has made the first.
    slurm.wait("first part of the second task", |_| {
        let info = scratch.ok(&["table", "info", "array.tvb"]).stdout;
        assert!(!info.contains("damaged"), "{info}");
        scratch.path("array.tvb/parts/full-00001.parquet").exists()
    });
    let process = slurm.process_of_task(2).expect("the second task is at work");
    let killed = Command::new("kill").args(["-KILL", &process.to_string()]).status();
    assert!(killed.expect("kill is there").success());
    slurm.wait_for_all_jobs();
    let mut states = slurm.states(&array);
    states.sort();
    assert_eq!(states, ["COMPLETED", "COMPLETED", "FAILED"]);

    let info = scratch.ok(&["table", "info", "array.tvb", "--format", "json"]).json();
    let gone = missing(&info, 6);
    assert!(!gone.is_empty() && gone.iter().all(|part| part % 3 == 1), "{gone:?}");
    assert_eq!(parts(&scratch.path("array.tvb")) + gone.len(), 12);
    assert_eq!(info["damaged"], serde_json::json!([]));
    assert_eq!(slurm.states(&finish), ["FAILED"]);
    let log = scratch.read(&format!("array.tvb.slurm/finish-{finish}.log"));
    let words = format!("array.tvb is not complete: {} of 12 parts are missing", gone.len());
    assert!(log.contains(&words) && log.contains("To submit what is missing:"), "{log}");

    let said = ok(&slurm, &folder, &submit);
    assert!(said.contains("task 2 of 3 makes the rest"), "{said}");
    let (array, finish) = jobs(&said);
    slurm.wait_for_all_jobs();
    assert_eq!(slurm.states(&array), ["COMPLETED"]);
    assert_eq!(slurm.states(&finish), ["COMPLETED"]);
    assert_same_files(&scratch.path("one.tvb"), &scratch.path("array.tvb"));
}

#[test]
#[ignore = "needs Slurm: `cargo xtask cluster` installs and runs it"]
fn an_array_runs_the_study_that_one_process_runs() {
    const STUDY: [&str; 9] =
        ["section3", "--only", "sep3/n=300", "--replications", "30", "-B", "20", "--grid", "9"];
    let scratch = Scratch::new();
    let folder = scratch.path("");
    scratch.ok(&[&["study"], &STUDY[..], &["-o", "one.study"]].concat());

    let mut slurm = Slurm::start();
    let submit =
        ["slurm", "study", "-o", "array.study", "--shards", "2", "--cpus", "2", "--submit"];
    let submit = [&submit[..], &STUDY].concat();
    let said = ok(&slurm, &folder, &submit);
    assert!(said.contains("an array of 2 tasks (1-2 of 2)"), "{said}");
    let (array, finish) = jobs(&said);
    slurm.wait_for_all_jobs();
    assert_eq!(slurm.states(&array), ["COMPLETED"; 2]);
    assert_eq!(slurm.states(&finish), ["COMPLETED"]);
    let (one, many) =
        (common::files(&scratch.path("one.study")), common::files(&scratch.path("array.study")));
    assert_eq!(one.keys().collect::<Vec<_>>(), many.keys().collect::<Vec<_>>());
    for name in ["manifest.json", "study.toml", "replications.parquet", "coverage.svg"] {
        assert!(one[name] == many[name], "{name} differs");
    }
    let said = ok(&slurm, &folder, &submit);
    assert_eq!(said, "array.study is complete: nothing to submit\n");
}
