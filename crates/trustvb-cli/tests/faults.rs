//! What goes wrong with files is found, and never answers: flipped bits, parts of other tables, edited manifests,
//! racing builders, kills, older formats. `cargo test -p trustvb-cli --test faults -- --nocapture` prints the counts.
//!
//! A disk that fills and a store that dies need more than a scratch folder; they are among the cluster tests.

#![allow(clippy::print_stdout, reason = "the counts are what is shown")]

mod common;

use common::{Run, Scratch, assert_same_files, files, finish, fixture, parts};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use trustvb::location::Location;
use trustvb::table;

/// A small generator with a fixed seed: the same faults in every run.
struct Faults(u64);

impl Faults {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

/// The settings of every table here; data of 60 rows.
fn build(scratch: &Scratch, name: &str, more: &[&str]) -> Run {
    if !scratch.path("data.csv").exists() {
        scratch.ok(&["simulate", "gmm", "--n", "60", "--separation", "3", "-o", "data.csv"]);
        scratch.ok(&["simulate", "gmm", "--n", "60", "--seed", "2", "-o", "other.csv"]);
    }
    let data = if more.contains(&"other") { "other.csv" } else { "data.csv" };
    let more: Vec<&str> = more.iter().copied().filter(|word| *word != "other").collect();
    let mut args = vec!["table", "build", data, "-o", name];
    if !more.contains(&"--grid") {
        args.extend(["--grid", "12", "-B", "40"]);
    }
    args.extend(more);
    scratch.ok(&args)
}

const QUESTION: [&str; 4] = ["pi[1]", "mu[1,1]", "--format", "csv"];

fn ask(scratch: &Scratch, name: &str) -> Run {
    let mut args = vec!["interval", name];
    args.extend(QUESTION);
    scratch.run(&args)
}

const STUDY: &str = r#"
title = "small"
replications = 30
bootstraps = 10
grid = 4
methods = ["vb", "bootstrap"]
quantities = ["mu[2,1] - mu[1,1]", "pi[1]"]

[[design]]
name = "even"
simulate = { model = "gmm", n = 60, weights = [0.5, 0.5], separation = 3.0 }
"#;

/// Flips one bit of one file; every byte of all files is as likely as any other.
fn flip(folder: &Path, faults: &mut Faults, keep: impl Fn(&str) -> bool) -> (String, Vec<u8>) {
    let all: Vec<(String, Vec<u8>)> = files(folder).into_iter().filter(|(n, _)| keep(n)).collect();
    let mut at = faults.below(all.iter().map(|(_, bytes)| bytes.len()).sum());
    for (name, bytes) in all {
        if at < bytes.len() {
            let mut hurt = bytes.clone();
            hurt[at] ^= 1 << faults.below(8);
            fs::write(folder.join(&name), hurt).expect("a file can be written");
            return (name, bytes);
        }
        at -= bytes.len();
    }
    panic!("no file to hurt in {}", folder.display())
}

#[test]
fn a_flipped_bit_in_a_table_is_refused_or_without_effect() {
    let scratch = Scratch::new();
    build(&scratch, "a.tvb", &[]);
    let sound = ask(&scratch, "a.tvb");
    assert_eq!(sound.code, Some(0), "{}", sound.stderr);
    let (mut faults, mut refused, mut without_effect) = (Faults(1), 0, 0);
    let folder = scratch.path("a.tvb");
    for number in 0..300 {
        let (name, bytes) = flip(&folder, &mut faults, |_| true);
        let run = ask(&scratch, "a.tvb");
        match run.code {
            Some(0) => {
                assert_eq!(run.stdout, sound.stdout, "flip {number} in {name} changed the answer");
                without_effect += 1;
            }
            Some(1) => {
                assert!(
                    run.stderr.contains(&name) || run.stderr.contains("a.tvb"),
                    "{}",
                    run.stderr
                );
                refused += 1;
            }
            code => panic!("flip {number} in {name}: exit {code:?}: {}", run.stderr),
        }
        if number % 10 == 0 {
            let check = scratch.run(&["table", "check", "a.tvb"]);
            assert_eq!(check.code, run.code, "{}{}", check.stdout, check.stderr);
        }
        fs::write(folder.join(&name), bytes).expect("a file can be mended");
    }
    println!("300 flipped bits in a table: {refused} refused, {without_effect} without effect");
    assert!(refused > 200, "{refused} of 300: the flips did not hit what is read");
    assert_eq!(ask(&scratch, "a.tvb"), sound);
}

#[test]
fn a_flipped_bit_in_a_study_is_refused_or_without_effect() {
    let scratch = Scratch::new();
    scratch.write("small.toml", STUDY);
    scratch.ok(&["study", "small.toml", "-o", "s.study", "-q"]);
    let look =
        |scratch: &Scratch| scratch.run(&["study", "s.study", "--so-far", "--format", "json"]);
    let sound = look(&scratch);
    assert_eq!(sound.code, Some(0), "{}", sound.stderr);
    let (mut faults, mut refused, mut without_effect) = (Faults(2), 0, 0);
    let folder = scratch.path("s.study");
    for number in 0..120 {
        let (name, bytes) =
            flip(&folder, &mut faults, |name| name == "manifest.json" || name.starts_with("parts"));
        let run = look(&scratch);
        match run.code {
            Some(0) => {
                assert_eq!(run.stdout, sound.stdout, "flip {number} in {name} changed the summary");
                without_effect += 1;
            }
            Some(1) => refused += 1,
            code => panic!("flip {number} in {name}: exit {code:?}: {}", run.stderr),
        }
        fs::write(folder.join(&name), bytes).expect("a file can be mended");
    }
    println!("120 flipped bits in a study: {refused} refused, {without_effect} without effect");
    assert!(refused > 60, "{refused} of 120: the flips did not hit what is read");
}

#[test]
fn parts_of_other_tables_are_refused_and_made_anew() {
    let scratch = Scratch::new();
    build(&scratch, "a.tvb", &[]);
    build(&scratch, "whole.tvb", &[]);
    build(&scratch, "seed.tvb", &["--seed", "2"]);
    build(&scratch, "data.tvb", &["other"]);
    let mut swaps = 0;
    for (from, to) in [
        ("seed.tvb/parts/full-00001.parquet", "full-00001"),
        ("data.tvb/parts/split-00000.parquet", "split-00000"),
        ("a.tvb/parts/split-00000.parquet", "full-00000"),
        ("a.tvb/parts/full-00000.parquet", "full-00001"),
        ("seed.tvb/parts/full-00000.parquet", "full-00000"),
    ] {
        let to = format!("a.tvb/parts/{to}.parquet");
        fs::copy(scratch.path(from), scratch.path(&to)).expect("a part can be copied");
        let run = ask(&scratch, "a.tvb");
        assert_eq!(run.code, Some(1), "{from} as {to}: {}", run.stdout);
        assert!(run.stderr.contains(&to), "{}", run.stderr);
        let check = scratch.run(&["table", "check", "a.tvb"]);
        assert_eq!(check.code, Some(1));
        assert!(check.stdout.contains(&format!("wrong: {to}")), "{}", check.stdout);
        let info = scratch.run(&["table", "info", "a.tvb", "--complete"]);
        assert_eq!(info.code, Some(1));
        let merge = scratch.run(&["table", "merge", "-o", "copy.tvb", "a.tvb"]);
        assert_eq!(merge.code, Some(1), "{}", merge.stderr);
        fs::remove_dir_all(scratch.path("copy.tvb")).expect("a folder can be removed");
        build(&scratch, "a.tvb", &[]);
        assert_same_files(&scratch.path("whole.tvb"), &scratch.path("a.tvb"));
        swaps += 1;
    }
    scratch.write("a.tvb/parts/full-00007.parquet", "not ours");
    let check = scratch.run(&["table", "check", "a.tvb"]);
    assert_eq!(check.code, Some(1));
    assert!(
        check.stdout.contains("a.tvb/parts/full-00007.parquet does not belong"),
        "{}",
        check.stdout
    );
    println!("{swaps} swapped parts: all refused, all made anew");
}

/// A value with something of it changed.
fn edited(value: &Value, faults: &mut Faults) -> Value {
    match value {
        Value::Object(fields) if !fields.is_empty() && faults.below(8) > 0 => {
            let mut fields = fields.clone();
            let keys: Vec<String> = fields.keys().cloned().collect();
            let key = &keys[faults.below(keys.len())];
            match faults.below(10) {
                0 => drop(fields.remove(key)),
                1 => drop(fields.insert(format!("{key}x"), json!(1))),
                _ => drop(fields.insert(key.clone(), edited(&fields[key], faults))),
            }
            Value::Object(fields)
        }
        Value::Array(list) if !list.is_empty() && faults.below(4) > 0 => {
            let mut list = list.clone();
            let at = faults.below(list.len());
            match faults.below(4) {
                0 => drop(list.remove(at)),
                1 => list.push(list[at].clone()),
                _ => list[at] = edited(&list[at], faults),
            }
            Value::Array(list)
        }
        _ => {
            let odd = [
                json!(0),
                json!(1),
                json!(2),
                json!(3),
                json!(-1),
                json!(99999),
                json!(4_294_967_295u64),
                json!(u64::MAX),
                json!(0.5),
                json!(1e300),
                json!(null),
                json!(true),
                json!(""),
                json!("default"),
                json!("paper"),
                json!([]),
                json!({}),
                json!([1e9, 1e9]),
            ];
            odd[faults.below(odd.len())].clone()
        }
    }
}

#[test]
fn edited_manifests_are_refused_or_without_effect() {
    let scratch = Scratch::new();
    build(&scratch, "a.tvb", &[]);
    fs::create_dir_all(scratch.path("old.tvb/parts")).expect("a folder");
    for (name, bytes) in files(&fixture("format1_table")) {
        scratch.write(&format!("old.tvb/{name}"), bytes);
    }
    let mut faults = Faults(3);
    for (name, sealed) in [("a.tvb", true), ("old.tvb", false)] {
        let place = Location::from(scratch.path(name));
        let sound = table::open(&place).expect("a table");
        let file = scratch.path(name).join("manifest.json");
        let text = fs::read_to_string(&file).expect("a manifest");
        let manifest: Value = serde_json::from_str(&text).expect("JSON");
        let (mut refused, mut without_effect, mut read) = (0, 0, 0);
        for number in 0..500 {
            let changed = edited(&manifest, &mut faults);
            fs::write(&file, changed.to_string()).expect("a manifest can be written");
            match table::open(&place) {
                Err(_) => refused += 1,
                Ok(found) if found.manifest() == sound.manifest() => without_effect += 1,
                Ok(_) => {
                    assert!(!sealed, "edit {number} of {name} was believed: {changed}");
                    read += 1;
                    // Nobody can tell that it was changed, but no question may end in a panic.
                    let run = ask(&scratch, name);
                    assert!(matches!(run.code, Some(0..=2)), "edit {number}: {}", run.stderr);
                }
            }
            // A look that reads everything neither panics nor aborts.
            let _ = table::check(&place);
        }
        fs::write(&file, text).expect("a manifest can be mended");
        println!(
            "500 edits of the manifest of {name}: {refused} refused, {without_effect} without effect, {read} read"
        );
    }
}

#[test]
fn of_two_builders_with_different_settings_one_is_told() {
    let scratch = Scratch::new();
    build(&scratch, "first.tvb", &[]);
    scratch.write("small.toml", STUDY);
    let told = |runs: [Run; 2], name: &str| {
        let codes: Vec<_> = runs.iter().map(|run| run.code).collect();
        let won = runs.iter().position(|run| run.code == Some(0));
        let lost = runs.iter().find(|run| run.code == Some(1));
        let (Some(won), Some(lost)) = (won, lost) else { panic!("{name}: {codes:?}: {runs:?}") };
        assert!(lost.stderr.contains("made with other settings"), "{}", lost.stderr);
        assert!(lost.stderr.contains("seed"), "{}", lost.stderr);
        won
    };
    let mut wins = [0, 0];
    for round in 0..12 {
        let name = format!("race{round}.tvb");
        let args = |seed| {
            vec![
                "table", "build", "data.csv", "-o", &name, "--grid", "12", "-B", "40", "--seed",
                seed,
            ]
        };
        let both = [scratch.spawn(&args("1")), scratch.spawn(&args("2"))];
        wins[told(both.map(finish), &name)] += 1;
        scratch.ok(&["table", "check", &name, "--complete"]);
    }
    for round in 0..8 {
        let name = format!("race{round}.study");
        let args = |seed| vec!["study", "small.toml", "-o", &name, "-q", "--seed", seed];
        let both = [scratch.spawn(&args("1")), scratch.spawn(&args("2"))];
        wins[told(both.map(finish), &name)] += 1;
        scratch.ok(&["study", &name, "--so-far", "--complete"]);
    }
    println!(
        "20 races, 12 for a table and 8 for a study: one winner each ({wins:?}), the other told why"
    );
}

#[test]
fn a_merge_that_cannot_be_leaves_nothing() {
    let scratch = Scratch::new();
    build(&scratch, "one.tvb", &[]);
    build(&scratch, "two.tvb", &["--seed", "2"]);
    let run = scratch.run(&["table", "merge", "-o", "new.tvb", "one.tvb", "two.tvb"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("one.tvb and two.tvb are different tables"), "{}", run.stderr);
    assert!(!scratch.path("new.tvb").exists());
}

#[test]
fn older_formats_are_read_and_say_that_they_are_unchecked() {
    let scratch = Scratch::new();
    for name in ["format1_table", "format1_study"] {
        for (file, bytes) in files(&fixture(name)) {
            scratch.write(&format!("{name}/{file}"), bytes);
        }
    }
    let args = ["interval", "format1_table", "pi[1]", "--method", "vb,tvb", "--format", "csv"];
    let run = scratch.ok(&args);
    assert!(run.stderr.contains("format1_table was written in format 1"), "{}", run.stderr);
    assert!(run.stderr.contains("not checked"), "{}", run.stderr);
    assert!(run.stdout.contains("pi[1],vb,0.95,1,0.7342562919919974"), "{}", run.stdout);
    let check = scratch.ok(&["table", "check", "format1_table"]).stdout;
    assert!(check.contains("2 of 2 parts are sound") && check.contains("not checked"), "{check}");
    let info = scratch.ok(&["table", "info", "format1_table"]).stdout;
    assert!(info.contains("not checked"), "{info}");
    let run = scratch.run(&["table", "merge", "-o", "new.tvb", "format1_table"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("nothing is added to it"), "{}", run.stderr);
    let run = scratch.ok(&["study", "format1_study", "--so-far"]);
    assert!(run.stderr.contains("older format"), "{}", run.stderr);
    assert!(run.stdout.contains("bootstrap"), "{}", run.stdout);
    let run = scratch.run(&["study", "format1_study"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("written in format 1"), "{}", run.stderr);
}

#[test]
fn killed_runs_go_on_to_the_same_bytes() {
    let scratch = Scratch::new();
    build(&scratch, "whole.tvb", &["--grid", "60", "-B", "200"]);
    let all = parts(&scratch.path("whole.tvb"));
    let mut args = vec!["table", "build", "data.csv", "-o", "killed.tvb", "--threads", "1"];
    args.extend(["--grid", "60", "-B", "200"]);
    let (mut faults, mut kills) = (Faults(4), 0);
    for _ in 0..20 {
        let mut child = scratch.spawn(&args);
        std::thread::sleep(std::time::Duration::from_millis(faults.below(60) as u64));
        child.kill().expect("a child can be killed");
        kills += usize::from(finish(child).code.is_none());
        // Whatever is there is sound, from the first moment on.
        if scratch.path("killed.tvb/manifest.json").exists() {
            scratch.ok(&["table", "check", "killed.tvb"]);
        }
    }
    let left = parts(&scratch.path("killed.tvb"));
    scratch.ok(&args);
    assert_same_files(&scratch.path("whole.tvb"), &scratch.path("killed.tvb"));
    println!(
        "{kills} kills at any moment left {left} of {all} parts, all sound; then the same bytes"
    );
}
