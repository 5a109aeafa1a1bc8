//! `--stream` of Gaussian mixtures: rows in a scratch file, the answers of memory.

mod common;

use common::{Scratch, difference};
use serde_json::Value;

/// Two overlapping clusters in a file of each format.
fn simulated(n: &str) -> Scratch {
    let scratch = Scratch::new();
    for file in ["rows.csv", "rows.parquet"] {
        let words = ["simulate", "gmm", "--n", n, "--weights", "0.65,0.35", "--separation", "2"];
        scratch.ok(&[&words[..], &["--seed", "3", "-o", file]].concat());
    }
    scratch
}

#[test]
fn fits_have_the_bits_of_memory() {
    let scratch = simulated("200000");
    let fit = |file: &str, more: &[&str]| {
        let words = ["fit", file, "-k", "2", "--format", "json"];
        let mut json = scratch.ok(&[&words[..], more].concat()).json();
        json["source"] = Value::Null;
        json
    };
    let held = fit("rows.csv", &[]);
    for (file, more) in [
        ("rows.csv", &["--stream"][..]),
        ("rows.parquet", &["--stream", "--threads", "1"]),
        ("rows.csv", &["--stream", "--threads", "3"]),
    ] {
        assert_eq!(fit(file, more), held, "{file} {more:?}");
    }
    scratch.write("centres.csv", "x1,x2\n0,0\n2,2\n");
    let from = ["--centres", "centres.csv"];
    let streamed = fit("rows.csv", &[&from[..], &["--stream"]].concat());
    assert_eq!(streamed, fit("rows.csv", &from));
}

#[test]
fn intervals_by_one_fit_are_those_of_memory() {
    let scratch = simulated("60000");
    let ask = |more: &[&str]| {
        let words = ["calibrate", "rows.parquet", "--format", "json", "--tolerance", "1e-10"];
        scratch.ok(&[&words[..], more].concat()).json()
    };
    let methods = ["--method", "jackknife,analytic,vb"];
    let quantities = ["pi[1]", "mu", "sd[1,1]", "cor[2,1,2]", "mu[1,1] / mu[2,1]"];
    let asked = [&quantities[..], &methods[..]].concat();
    let found = difference(&ask(&asked), &ask(&[&asked[..], &["--stream"]].concat()));
    assert!(found < 1e-7, "intervals differ by {found:e}");
    // What needs no resamples is what is asked when nothing is.
    let usual = ask(&["--stream"]);
    let methods: Vec<&str> = usual["intervals"]
        .as_array()
        .expect("intervals")
        .iter()
        .filter_map(|interval| interval["method"].as_str())
        .collect();
    assert!(methods.contains(&"jackknife") && methods.contains(&"vb"), "{methods:?}");
    let shown = scratch.ok(&["calibrate", "rows.csv", "--stream", "-q"]).stdout;
    assert!(shown.contains("jackknife"), "{shown}");
}

#[test]
fn little_bootstraps_have_the_bits_of_memory() {
    let scratch = simulated("60000");
    let ask = |file: &str, more: &[&str]| {
        let words = ["calibrate", file, "--format", "json", "--subsets", "4", "-B", "40"];
        let quantities = ["pi[1]", "mu[1,]", "sd[2,1]"];
        let mut json = scratch.ok(&[&words[..], &quantities[..], more].concat()).json();
        json["source"] = Value::Null;
        json
    };
    for more in [&[][..], &["--method", "tempered,bootstrap,anchored", "--grid", "5"]] {
        let held = ask("rows.csv", more);
        assert!(held["intervals"].as_array().is_some_and(|all| all.len() >= 8));
        let streamed = [more, &["--stream"]].concat();
        assert_eq!(ask("rows.csv", &streamed), held);
        assert_eq!(ask("rows.parquet", &[&streamed[..], &["--threads", "1"]].concat()), held);
    }
}

#[test]
fn pipes_are_read_once() {
    let scratch = simulated("50000");
    let fit = |file: &'static str| ["fit", file, "--stream", "--format", "csv"];
    let expected = scratch.ok(&fit("rows.csv")).stdout;
    let run = scratch.run_with_input(&fit("-"), scratch.read("rows.csv").as_bytes());
    assert_eq!((run.code, &run.stdout), (Some(0), &expected), "{}", run.stderr);
    let built_in = scratch.ok(&["fit", "--stream", "--format", "csv"]).stdout;
    assert_eq!(built_in, scratch.ok(&["fit", "--format", "csv"]).stdout);
}

#[test]
fn what_needs_rows_in_memory_is_refused() {
    let scratch = simulated("3000");
    let run = |words: &[&str]| scratch.run(words);
    for (words, code, expected) in [
        (&["calibrate", "rows.csv", "--stream", "--method", "recommended"][..], 2, "jackknife"),
        (&["calibrate", "rows.csv", "--stream", "--method", "tvb"], 2, "--subsets 10"),
        (
            &["calibrate", "rows.csv", "--stream", "--method", "tvb", "--subsets", "3"],
            2,
            "half samples",
        ),
        (&["calibrate", "rows.csv", "--stream", "--method", "tvb-sequential"], 1, "jackknife"),
        (&["table", "build", "rows.csv", "--stream", "-o", "a.tvb"], 2, "jackknife"),
        (
            &["calibrate", "rows.csv", "--stream", "--method", "vb", "--save", "a.tvb"],
            2,
            "jackknife need no table",
        ),
        (&["fit", "rows.csv", "--stream", "--covariance", "tied"], 2, "--covariance full"),
        (&["fit", "rows.csv", "--stream", "--weights", "x1"], 2, "leave --stream out"),
        (&["fit", "rows.csv", "--stream", "--responsibilities", "r.csv"], 2, "for every row"),
    ] {
        let found = run(words);
        assert_eq!(found.code, Some(code), "{words:?}: {}", found.stderr);
        assert!(found.stderr.contains(expected), "{words:?}: {}", found.stderr);
        assert!(!scratch.path("a.tvb").exists());
    }
}

#[test]
fn what_is_wrong_with_a_file_is_said_as_in_memory() {
    let scratch = simulated("70000");
    let text = scratch.read("rows.csv");
    let mut lines: Vec<&str> = text.lines().collect();
    let good = lines[69_000];
    lines[69_000] = "1.5,many";
    scratch.write("word.csv", lines.join("\n"));
    lines[69_000] = "1.5,";
    scratch.write("gap.csv", lines.join("\n"));
    lines[69_000] = good;
    let constant: Vec<String> = lines.iter().map(|line| format!("{line},7")).collect();
    scratch.write("constant.csv", constant.join("\n").replacen(",7", ",x3", 1));
    for (file, expected) in [
        ("word.csv", "word.csv, line 69001, column `x2`: `many` is not a number"),
        ("gap.csv", "line 69001"),
        ("constant.csv", "same value in all 70000 rows (`x3`)"),
        ("absent.csv", "there is no such file"),
    ] {
        let held = scratch.run(&["fit", file, "-q"]);
        let streamed = scratch.run(&["fit", file, "-q", "--stream"]);
        assert_eq!((streamed.code, &streamed.stderr), (Some(1), &held.stderr));
        assert!(streamed.stderr.contains(expected), "{}", streamed.stderr);
    }
    let dropped = ["fit", "gap.csv", "--drop-missing", "--format", "json"];
    let (held, streamed) =
        (scratch.ok(&dropped), scratch.ok(&[&dropped[..], &["--stream"]].concat()));
    assert_eq!(held.stdout, streamed.stdout);
    assert!(streamed.stderr.contains("left out 1 rows"), "{}", streamed.stderr);
}

#[test]
#[cfg(target_os = "linux")]
fn a_scratch_folder_without_room_is_named() {
    let scratch = simulated("3000");
    for folder in ["/proc", "/no/such/folder"] {
        let mut command = scratch.command(&["fit", "rows.csv", "--stream"]);
        let run = common::output({
            command.env("TMPDIR", folder);
            command
        });
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        for words in [folder, "scratch file", "8 bytes for each row and column", "TMPDIR"] {
            assert!(run.stderr.contains(words), "{words}: {}", run.stderr);
        }
    }
    // Nothing is left behind.
    std::fs::create_dir(scratch.path("tmp")).expect("a folder can be made");
    let mut command = scratch.command(&["fit", "rows.csv", "--stream"]);
    command.env("TMPDIR", scratch.path("tmp"));
    assert_eq!(common::output(command).code, Some(0));
    assert_eq!(common::files(&scratch.path("tmp")).len(), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_the_rows() {
    let peak = |n: &str, more: &[&str]| {
        let scratch = simulated(n);
        let words = ["fit", "rows.parquet", "-q", "--starts", "2", "--threads", "2"];
        scratch.peak_memory(&[&words[..], more].concat())
    };
    let (small, large) = (peak("400000", &["--stream"]), peak("2000000", &["--stream"]));
    let held = peak("2000000", &[]);
    // The numbers of the larger file are 32 MB, and memory holds them twice.
    assert!(large < small + 15.0, "{small:.1} MB for 400,000 rows, {large:.1} MB for 2,000,000");
    assert!(held > large + 20.0, "{held:.1} MB held, {large:.1} MB streamed");
}
