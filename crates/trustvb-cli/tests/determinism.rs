//! Same seed, same bits: for any number of threads, any sharding, resumed after any end.

mod common;

use common::{Run, Scratch, assert_same_files, finish, parts};
use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

/// Settings small enough to run often; every design and every default method.
const SMALL: [&str; 4] = ["--grid", "12", "-B", "50"];

/// Settings large enough to be caught in the middle.
const LARGE: [&str; 4] = ["--grid", "100", "-B", "280"];

fn build(scratch: &Scratch, name: &str, more: &[&str]) -> Run {
    let mut args = vec!["table", "build", "-o", name];
    args.extend(more);
    scratch.ok(&args)
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let scratch = Scratch::new();
    let with = |threads: &str| {
        let run = |question: &[&str]| {
            let mut args = vec!["calibrate", "--format", "json", "--threads", threads];
            args.extend(SMALL);
            args.extend(question);
            scratch.ok(&args).stdout
        };
        // The sequential method makes many fits of its own: one quantity is enough for it.
        run(&["pi[1]", "--method", "tvb-sequential,gpc"])
            + &run(&["mu[1,] - mu[2,]", "sd[1,waiting] / sd[2,waiting]"])
    };
    let one = with("1");
    assert!(one == with("2"), "2 threads differ from 1");
    assert!(one == with("8"), "8 threads differ from 1");
}

#[test]
fn merged_shards_are_the_table_built_in_one_go() {
    let scratch = Scratch::new();
    build(&scratch, "whole.tvb", &SMALL);
    let names: Vec<String> = (1..=5).map(|i| format!("shard{i}.tvb")).collect();
    for (i, name) in names.iter().enumerate() {
        let shard = format!("{}/5", i + 1);
        let mut more = vec!["--shard", &shard];
        more.extend(SMALL);
        build(&scratch, name, &more);
    }
    let mut args = vec!["table", "merge", "-o", "merged.tvb"];
    args.extend(names.iter().rev().map(String::as_str));
    scratch.ok(&args);
    assert_same_files(&scratch.path("whole.tvb"), &scratch.path("merged.tvb"));

    let quantities = ["pi[1]", "mu[1,waiting] - mu[2,waiting]", "cor[1,1,2]"];
    let mut args = vec!["interval", "merged.tvb", "--format", "json"];
    args.extend(quantities);
    let stored = scratch.ok(&args).json();
    let mut args = vec!["calibrate", "--save", "saved.tvb", "--format", "json"];
    args.extend(SMALL);
    args.extend(quantities);
    let direct = scratch.ok(&args).json();
    assert!(stored == direct, "a table on disk answers otherwise than one in memory");
    assert_same_files(&scratch.path("whole.tvb"), &scratch.path("saved.tvb"));
    let mut args = vec!["interval", "saved.tvb", "--format", "json"];
    args.extend(quantities);
    assert!(scratch.ok(&args).json() == direct, "a saved table answers otherwise");
}

#[test]
fn a_table_without_data_answers_what_needs_none() {
    let scratch = Scratch::new();
    build(&scratch, "with.tvb", &SMALL);
    let mut more = vec!["--without-data"];
    more.extend(SMALL);
    build(&scratch, "without.tvb", &more);
    assert!(!scratch.path("without.tvb/data.parquet").exists());
    let run = scratch.run(&["interval", "without.tvb", "pi[1]", "--method", "analytic"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("analytic needs") && run.stderr.contains("data"), "{}", run.stderr);
    let without = scratch.ok(&["interval", "without.tvb", "pi[1]", "--format", "csv"]).stdout;
    let with = scratch
        .ok(&["interval", "with.tvb", "pi[1]", "--format", "csv", "--method", "recommended,vb,tvb"])
        .stdout;
    assert_eq!(without, with);
}

/// Waits until the table has more than `before` parts, or the builder has ended.
fn wait_for_growth(scratch: &Scratch, name: &str, before: usize, builder: &mut Child) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        if builder.try_wait().expect("a child can be asked").is_some() {
            return false;
        }
        if parts(&scratch.path(name)) > before {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    panic!("{name} did not grow in a minute");
}

fn start(scratch: &Scratch, name: &str) -> Child {
    let mut args = vec!["table", "build", "-o", name];
    args.extend(LARGE);
    args.extend(["--threads", "1"]);
    scratch.spawn(&args)
}

#[test]
fn a_killed_build_resumes_to_the_same_bits() {
    let scratch = Scratch::new();
    build(&scratch, "whole.tvb", &LARGE);
    let all = parts(&scratch.path("whole.tvb"));
    let mut kills = 0;
    for wait in [0, 3, 17] {
        let before = parts(&scratch.path("killed.tvb"));
        let mut builder = start(&scratch, "killed.tvb");
        if wait_for_growth(&scratch, "killed.tvb", before, &mut builder) {
            std::thread::sleep(Duration::from_millis(wait));
            builder.kill().expect("a child can be killed");
            kills += usize::from(builder.wait().expect("a child ends").code().is_none());
        }
    }
    let left = parts(&scratch.path("killed.tvb"));
    assert!(kills == 3 && left < all, "{kills} kills, {left} of {all} parts: too fast to test");
    // What a build that was killed while writing leaves behind.
    scratch.write("killed.tvb/parts/.full-00003.parquet.123.tmp", "half a part");
    scratch.write("killed.tvb/.manifest.json.123.tmp", "{");
    let incomplete = scratch.ok(&["table", "info", "killed.tvb"]).stdout;
    assert!(incomplete.contains("missing: "), "{incomplete}");
    build(&scratch, "killed.tvb", &LARGE);
    assert_same_files(&scratch.path("whole.tvb"), &scratch.path("killed.tvb"));
    let complete = scratch.ok(&["table", "info", "killed.tvb"]).stdout;
    assert!(!complete.contains("missing: ") && !complete.contains("damaged: "), "{complete}");
    scratch.ok(&["table", "merge", "-o", "copy.tvb", "killed.tvb"]);
    assert_same_files(&scratch.path("whole.tvb"), &scratch.path("copy.tvb"));
}

#[test]
fn a_damaged_part_is_made_anew() {
    let scratch = Scratch::new();
    build(&scratch, "whole.tvb", &SMALL);
    build(&scratch, "hurt.tvb", &SMALL);
    let part = scratch.path("hurt.tvb/parts/split-00001.parquet");
    let bytes = fs::read(&part).expect("a part can be read");
    fs::write(&part, &bytes[..bytes.len() - 9]).expect("a part can be written");
    let info = scratch.ok(&["table", "info", "hurt.tvb"]).stdout;
    assert!(info.contains("damaged: hurt.tvb/parts/split-00001.parquet"), "{info}");
    build(&scratch, "hurt.tvb", &SMALL);
    assert_same_files(&scratch.path("whole.tvb"), &scratch.path("hurt.tvb"));
}

#[test]
fn two_builders_of_one_table_do_not_hurt_each_other() {
    let scratch = Scratch::new();
    let mut first = start(&scratch, "shared.tvb");
    wait_for_growth(&scratch, "shared.tvb", 0, &mut first);
    let second = start(&scratch, "shared.tvb");
    for run in [finish(first), finish(second)] {
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        // One line: both say that it is done, and nothing else.
        assert!(run.stderr.starts_with("trustvb: shared.tvb is complete;"), "{}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
    build(&scratch, "whole.tvb", &LARGE);
    assert_same_files(&scratch.path("whole.tvb"), &scratch.path("shared.tvb"));
}

#[cfg(unix)]
#[test]
fn an_interrupted_build_says_how_to_go_on() {
    let scratch = Scratch::new();
    let mut builder = start(&scratch, "stopped.tvb");
    assert!(wait_for_growth(&scratch, "stopped.tvb", 0, &mut builder));
    let killed = std::process::Command::new("kill")
        .args(["-INT", &builder.id().to_string()])
        .status()
        .expect("kill is there");
    assert!(killed.success());
    let run = finish(builder);
    assert_eq!(run.code, Some(130));
    insta::assert_snapshot!(run.stderr, @"trustvb: interrupted; what is done is in stopped.tvb, and the same command goes on from there");
    let entries = fs::read_dir(scratch.path("stopped.tvb/parts")).expect("parts are there");
    let left: Vec<String> = entries
        .map(|entry| entry.expect("listable").file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    let done = parts(&scratch.path("stopped.tvb"));
    build(&scratch, "stopped.tvb", &LARGE);
    assert!(parts(&scratch.path("stopped.tvb")) > done);
    build(&scratch, "whole.tvb", &LARGE);
    assert_same_files(&scratch.path("whole.tvb"), &scratch.path("stopped.tvb"));
}
