//! `--stream` of regressions: the same answers without the rows in memory.

mod common;

use common::{Scratch, assert_same_files, difference};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;

const FORMULA: [&str; 2] = ["--formula", "y ~ x1 + x2 | group"];

const SMALL: [&str; 4] = ["--grid", "12", "-B", "50"];

/// Rows in 40 scattered groups of two regressions; the first column is far from zero.
fn rows(n: usize) -> String {
    let mut text = String::from("x1,group,y,x2\n");
    for i in 0..n {
        let t = i as f64;
        let (x1, x2) = ((t * 0.7).sin(), (t * 1.3).cos() + (t * 0.11).sin());
        let group = i * 7 % 40;
        let (a, b) = if group % 3 == 0 { (1.5, -1.0) } else { (-0.5, 0.7) };
        let y = 3.0 + a * x1 + b * x2 + 0.4 * (t * 2.39).sin() + 0.3 * (t * 7.7).cos();
        writeln!(text, "{:.6},g{group},{y:.6},{x2:.6}", 5e4 + x1).expect("text grows");
    }
    text
}

fn calibrate(scratch: &Scratch, file: &str, more: &[&str]) -> String {
    let mut args = vec!["calibrate", file, "--format", "json", "--tolerance", "1e-11"];
    args.extend(FORMULA);
    args.extend(SMALL);
    args.extend(more);
    scratch.ok(&args).stdout
}

#[test]
fn intervals_are_those_of_the_rows() {
    let scratch = Scratch::new();
    scratch.write("rows.csv", rows(2000));
    let json = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    for more in [&[][..], &["--prior", "paper", "--noise", "known=4"]] {
        let held = json(&calibrate(&scratch, "rows.csv", more));
        let streamed = json(&calibrate(&scratch, "rows.csv", &[more, &["--stream"]].concat()));
        let found = difference(&held, &streamed);
        assert!(found < 1e-8, "{more:?}: intervals differ by {found:e}");
    }
}

#[test]
fn pipes_are_read_once() {
    let scratch = Scratch::new();
    scratch.write("rows.csv", rows(700));
    let fit = |file: &'static str| {
        [&["fit", file, "--stream", "--format", "csv"][..], &FORMULA[..]].concat()
    };
    let expected = scratch.ok(&fit("rows.csv")).stdout;
    let mut pipes = vec!["-"];
    pipes.extend(cfg!(unix).then_some("/dev/stdin"));
    for pipe in pipes {
        let run = scratch.run_with_input(&fit(pipe), rows(700).as_bytes());
        assert_eq!((run.code, &run.stdout), (Some(0), &expected), "{pipe}: {}", run.stderr);
    }
}

#[test]
fn both_formats_and_any_threads_give_the_same_bits() {
    let scratch = Scratch::new();
    let simulated = ["--groups", "60", "--rows", "30", "--coefficients", "1,-1;0,2", "-o"];
    for file in ["rows.csv", "rows.parquet"] {
        scratch.ok(&[&["simulate", "bmlr"][..], &simulated[..], &[file]].concat());
    }
    let ask = |file: &str, threads: &str| {
        let mut args = vec!["calibrate", file, "--stream", "--format", "csv", "--threads", threads];
        args.extend(["--formula", "y ~ 0 + x1 + x2 | group"]);
        args.extend(SMALL);
        scratch.ok(&args).stdout
    };
    let one = ask("rows.csv", "1");
    assert_eq!(one, ask("rows.csv", "2"));
    assert_eq!(one, ask("rows.parquet", "2"));
}

#[test]
fn a_bad_value_far_down_is_found_in_its_line() {
    let scratch = Scratch::new();
    let text = rows(80_000);
    // Line 70,002 is in the second piece.
    let mut lines: Vec<&str> = text.lines().collect();
    lines[70_001] = "50000.1,g3,many,0.5";
    scratch.write("word.csv", lines.join("\n"));
    lines[70_001] = "50000.1,g3,,0.5";
    lines[70_002] = "NA,g3,1,0.5";
    scratch.write("gap.csv", lines.join("\n"));
    for (file, expected) in [
        ("word.csv", "word.csv, line 70002, column `y`: `many` is not a number"),
        ("gap.csv", "line 70003"),
    ] {
        let mut args = vec!["fit", file, "-q"];
        args.extend(FORMULA);
        let held = scratch.run(&args);
        args.push("--stream");
        let streamed = scratch.run(&args);
        assert_eq!((streamed.code, &streamed.stderr), (Some(1), &held.stderr));
        assert!(streamed.stderr.contains(expected), "{}", streamed.stderr);
    }
    let mut args = vec!["fit", "gap.csv", "--drop-missing", "--starts", "1", "--stream"];
    args.extend(FORMULA);
    let run = scratch.ok(&args);
    assert!(run.stderr.contains("left out 2 rows"), "{}", run.stderr);
    let mut args = vec!["fit", "word.csv", "--stream", "--formula", "log(x1 - 50000) ~ x2 | group"];
    let streamed = scratch.run(&args);
    args.retain(|word| *word != "--stream");
    assert!(streamed.stderr.contains("word.csv, line "), "{}", streamed.stderr);
    assert_eq!(streamed.stderr, scratch.run(&args).stderr);
}

#[test]
fn a_table_of_statistics_resumes_shards_and_answers() {
    let scratch = Scratch::new();
    scratch.write("rows.csv", rows(1500));
    let build = |name: &str, more: &[&str]| {
        let mut args = vec!["table", "build", "rows.csv", "-o", name];
        args.extend(FORMULA);
        args.extend(SMALL);
        args.extend(more);
        scratch.run(&args)
    };
    for (name, more) in [
        ("whole.tvb", &["--stream"][..]),
        ("one.tvb", &["--stream", "--shard", "1/2", "--threads", "1"]),
        ("two.tvb", &["--stream", "--shard", "2/2"]),
        ("held.tvb", &[]),
    ] {
        assert_eq!(build(name, more).code, Some(0));
    }
    scratch.ok(&["table", "merge", "-o", "merged.tvb", "one.tvb", "two.tvb"]);
    assert_same_files(&scratch.path("whole.tvb"), &scratch.path("merged.tvb"));
    fs::remove_file(scratch.path("merged.tvb/parts/full-00001.parquet")).expect("a part is there");
    assert_eq!(build("merged.tvb", &["--stream"]).code, Some(0));
    assert_same_files(&scratch.path("whole.tvb"), &scratch.path("merged.tvb"));

    // The sums that a table keeps are enough to build more of it.
    let again = |formula: &str| {
        let args = ["table", "build", "whole.tvb/data.parquet", "-o", "again.tvb", "--stream"];
        scratch.run(&[&args[..], &["--formula", formula], &SMALL[..]].concat())
    };
    let other = again("y ~ x1 | group");
    assert_eq!(other.code, Some(1));
    assert!(
        other.stderr.contains("not what the formula `y ~ x1 | group` gives"),
        "{}",
        other.stderr
    );
    assert_eq!(again(FORMULA[1]).code, Some(0));
    assert_same_files(&scratch.path("whole.tvb"), &scratch.path("again.tvb"));

    // A row per group, and no table of rows takes its place.
    let manifest: Value =
        serde_json::from_str(&scratch.read("whole.tvb/manifest.json")).expect("JSON");
    assert_eq!((&manifest["schema"], &manifest["statistics"]), (&4.into(), &true.into()));
    let held: Value = serde_json::from_str(&scratch.read("held.tvb/manifest.json")).expect("JSON");
    assert_eq!((&held["schema"], &held["statistics"]), (&4.into(), &Value::Null));
    assert_eq!(manifest["columns"], held["columns"]);
    let mixed = build("held.tvb", &["--stream"]);
    assert_eq!(mixed.code, Some(1));
    assert!(mixed.stderr.contains("made with other settings"), "{}", mixed.stderr);

    let ask = |table: &str| {
        let methods = ["--method", "vb,tvb,analytic,tvb-sequential", "--format", "json"];
        scratch.ok(&[&["interval", table, "beta[1,x2]"][..], &methods[..]].concat()).json()
    };
    let found = difference(&ask("whole.tvb"), &ask("held.tvb"));
    assert!(found < 1e-8, "intervals differ by {found:e}");
    let info = scratch.ok(&["table", "info", "whole.tvb"]).stdout;
    assert!(info.contains("columns y, (Intercept), x1, x2, (group)"), "{info}");
    assert!(info.contains("the data are included"), "{info}");
    scratch.ok(&["report", "whole.tvb", "beta[1,x2]", "-o", "report.html", "-q"]);
    let report = scratch.read("report.html");
    assert!(report.contains("1500 rows") || report.contains("1,500 rows"));
    assert!(report.contains("whole.tvb/data.parquet") && report.contains("--stream"));

    let stored = scratch.path("whole.tvb/data.parquet");
    fs::copy(scratch.path("held.tvb/data.parquet"), stored).expect("a file can be copied");
    let run = scratch.run(&["interval", "whole.tvb", "pi[1]"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("not those the table was built from"), "{}", run.stderr);
}

#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_the_rows() {
    let scratch = Scratch::new();
    let peak = |n: usize, stream: bool| {
        scratch.write("rows.csv", rows(n));
        let mut args = vec!["fit", "rows.csv", "-q", "--starts", "1", "--threads", "2"];
        args.extend(FORMULA);
        args.extend(stream.then_some("--stream"));
        scratch.peak_memory(&args)
    };
    let (small, large, held) = (peak(150_000, true), peak(900_000, true), peak(900_000, false));
    // The rows of the larger file are 36 MB.
    assert!(large < small + 10.0, "{small:.1} MB for 150,000 rows, {large:.1} MB for 900,000");
    assert!(held > large + 20.0, "{held:.1} MB held, {large:.1} MB streamed");
}
