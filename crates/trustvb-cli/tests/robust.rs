//! Pipes, odd files, odd names and failing runs: nothing panics and nothing is lost.

mod common;

use common::{Scratch, fixture};
use std::fs;
use std::io::{BufRead, BufReader, Read};

const SMALL: [&str; 4] = ["--grid", "10", "-B", "40"];

fn sim() -> String {
    fs::read_to_string(fixture("sim3x3.csv")).expect("the fixture")
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let scratch = Scratch::new();
    // More than a pipe holds, so that the writer must notice.
    let mut long = vec!["calibrate", "--format", "json", "--grid", "60", "-B", "20"];
    long.extend(["sigma", "mu", "pi"]);
    for args in [&["fit"][..], &["fit", "--format", "json"], &long] {
        let mut child = scratch.spawn(args);
        let mut line = String::new();
        let mut reader = BufReader::with_capacity(64, child.stdout.take().expect("a pipe"));
        reader.read_line(&mut line).expect("a first line");
        drop(reader);
        assert!(!line.is_empty());
        let mut stderr = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut stderr).expect("text");
        let status = child.wait().expect("trustvb ends");
        assert_eq!((status.code(), stderr.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let scratch = Scratch::new();
    let mut child = scratch.spawn(&["fit", "--format", "json"]);
    drop(child.stdout.take());
    let run = common::finish(child);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
}

#[test]
fn data_come_from_standard_input_too() {
    let scratch = Scratch::new();
    let text = sim();
    scratch.write("sim.csv", &text);
    let file = scratch.ok(&["fit", "sim.csv", "-k", "3", "--format", "csv"]).stdout;
    let run = scratch.run_with_input(&["fit", "-", "-k", "3", "--format", "csv"], text.as_bytes());
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert_eq!(run.stdout, file);
    let mut args = vec!["calibrate", "-", "pi[1]", "--format", "csv"];
    args.extend(SMALL);
    let run = scratch.run_with_input(&args, text.as_bytes());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(run.stdout.lines().count(), 4);
    let empty = scratch.run_with_input(&["fit", "-"], b"");
    assert_eq!(empty.code, Some(1));
    assert!(empty.stderr.contains("standard input"), "{}", empty.stderr);
}

#[test]
fn csv_from_elsewhere_reads_the_same() {
    let scratch = Scratch::new();
    let text = sim();
    scratch.write("plain.csv", &text);
    let quoted: String = text
        .lines()
        .map(|line| {
            let cells: Vec<String> = line.split(',').map(|cell| format!("\"{cell}\"")).collect();
            cells.join(",") + "\r\n"
        })
        .collect();
    scratch.write("quoted.csv", format!("\u{feff}{quoted}"));
    scratch.write("crlf.csv", text.replace('\n', "\r\n"));
    scratch.write("no_newline.csv", text.trim_end());
    let fit = |file| scratch.ok(&["fit", file, "-k", "3", "--format", "csv"]).stdout;
    let plain = fit("plain.csv");
    for file in ["quoted.csv", "crlf.csv", "no_newline.csv"] {
        assert_eq!(fit(file), plain, "{file}");
    }
}

#[test]
fn rows_with_missing_values_can_be_left_out() {
    let scratch = Scratch::new();
    let text = sim();
    scratch.write("plain.csv", &text);
    scratch.write("gaps.csv", format!("{}\n1,NA,2\n,3,4\n", text.trim_end()));
    let plain = scratch.ok(&["fit", "plain.csv", "--format", "csv"]).stdout;
    let run = scratch.ok(&["fit", "gaps.csv", "--drop-missing", "--format", "csv"]);
    assert_eq!(run.stdout, plain);
    assert_eq!(run.stderr, "trustvb: left out 2 rows with missing or infinite values\n");
    let quiet = scratch.ok(&["fit", "gaps.csv", "--drop-missing", "--format", "csv", "-q"]);
    assert_eq!(quiet.stderr, "");
}

#[test]
fn a_failing_run_leaves_the_output_file_alone() {
    let scratch = Scratch::new();
    scratch.write("answer.txt", "precious");
    scratch.write("bad.csv", "x,y\n1,2\n3,abc\n");
    for (code, args) in [
        (1, &["fit", "bad.csv", "-o", "answer.txt"][..]),
        (2, &["calibrate", "mu[9,1]", "-o", "answer.txt"]),
        (1, &["interval", "missing.tvb", "-o", "answer.txt"]),
    ] {
        assert_eq!(scratch.run(args).code, Some(code));
        assert_eq!(scratch.read("answer.txt"), "precious");
    }
    scratch.ok(&["fit", "-o", "answer.txt", "--format", "csv"]);
    assert!(scratch.read("answer.txt").starts_with("component,quantity"));
    let names: Vec<_> = fs::read_dir(scratch.path(""))
        .expect("a listing")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[cfg(unix)]
#[test]
fn an_output_that_is_no_plain_file_is_written_to_and_not_replaced() {
    use std::os::unix::fs::{FileTypeExt, symlink};

    let scratch = Scratch::new();
    let expected = scratch.ok(&["fit", "--format", "csv"]).stdout;
    let pipe = scratch.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is there");
    assert!(made.success());
    // Open at both ends, so that neither side waits for the other.
    let mut reader = fs::OpenOptions::new().read(true).write(true).open(&pipe).expect("a pipe");
    scratch.ok(&["fit", "--format", "csv", "-o", "pipe"]);
    let kind = fs::symlink_metadata(&pipe).expect("it is still there").file_type();
    assert!(kind.is_fifo(), "the pipe was replaced by a file");
    let mut bytes = vec![0; expected.len()];
    reader.read_exact(&mut bytes).expect("the answer is in the pipe");
    assert_eq!(String::from_utf8_lossy(&bytes), expected);

    scratch.write("folder/real.csv", "old");
    symlink("folder/real.csv", scratch.path("link.csv")).expect("a link can be made");
    scratch.ok(&["fit", "--format", "csv", "-o", "link.csv"]);
    let kind = fs::symlink_metadata(scratch.path("link.csv")).expect("the link").file_type();
    assert!(kind.is_symlink(), "the link was replaced by a file");
    assert_eq!(scratch.read("folder/real.csv"), expected);
}

#[test]
fn hostile_column_names_work_everywhere() {
    let scratch = Scratch::new();
    let body: String = sim().lines().skip(1).fold(String::new(), |all, line| all + line + "\n");
    scratch.write(
        "odd.csv",
        format!("<script>alert(1)</script>,\"a \"\"b\"\", & ,\",größe µ\n{body}"),
    );
    let table = scratch.ok(&["fit", "odd.csv"]).stdout;
    assert!(table.contains("mu[1,größe µ]") || table.contains("größe µ"), "{table}");
    let json = scratch.ok(&["fit", "odd.csv", "--format", "json"]).json();
    assert_eq!(json["coordinates"][0], "<script>alert(1)</script>");
    assert_eq!(json["coordinates"][1], "a \"b\", & ,");
    let mut args = vec!["calibrate", "odd.csv", "--format", "csv", "--plot", "odd.svg"];
    args.extend(["--save", "odd.tvb"]);
    args.extend(SMALL);
    let run = scratch.ok(&args);
    let svg = scratch.read("odd.svg");
    assert!(svg.starts_with("<svg") || svg.starts_with("<?xml"));
    assert!(!svg.contains("<script"), "a column name became an element");
    assert!(svg.contains("größe µ"));
    let again = scratch.ok(&["interval", "odd.tvb", "--format", "csv"]);
    assert_eq!(again.stdout, run.stdout);
    let info = scratch.ok(&["table", "info", "odd.tvb"]).stdout;
    assert!(info.contains("größe µ"), "{info}");
    let two = scratch.ok(&["fit", "odd.csv", "--columns", "1,größe µ", "--format", "json"]).json();
    assert_eq!(two["coordinates"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_mixture_of_regressions_is_calibrated_end_to_end() {
    let scratch = Scratch::new();
    scratch.take("bmlr_small.csv");
    let mut args = vec!["calibrate", "bmlr_small.csv", "--formula", "y ~ 0 + x1 + x2 | group"];
    args.extend(["pi[1]", "sum(beta)", "beta[1,x1] - beta[2,x1]", "1/sqrt(noise[1])"]);
    args.extend(["--save", "groups.tvb", "--format", "json"]);
    args.extend(SMALL);
    let direct = scratch.ok(&args).json();
    let intervals = direct["intervals"].as_array().expect("a list");
    assert_eq!(intervals.len(), 12);
    for answer in intervals {
        let number = |key: &str| answer[key].as_f64().unwrap_or(f64::NAN);
        assert!(number("lower") < number("estimate"), "{answer}");
        assert!(number("estimate") < number("upper"), "{answer}");
    }
    assert!(intervals.iter().any(|answer| answer["functional"] == "sum(beta)"));
    let mut args = vec!["interval", "groups.tvb", "--format", "json"];
    args.extend(["pi[1]", "sum(beta)", "beta[1,x1] - beta[2,x1]", "1/sqrt(noise[1])"]);
    assert!(scratch.ok(&args).json() == direct);
}

#[test]
fn one_component_and_one_column_are_mixtures_too() {
    let scratch = Scratch::new();
    let mut args = vec!["calibrate", "-k", "1", "--format", "json"];
    args.extend(SMALL);
    let one = scratch.ok(&args).json();
    assert_eq!(one["n_components"], 1);
    for answer in one["intervals"].as_array().expect("a list") {
        if answer["functional"].as_str().is_some_and(|name| name.starts_with("mu")) {
            let (lower, upper) = (answer["lower"].as_f64(), answer["upper"].as_f64());
            assert!(lower < upper && lower.is_some(), "{answer}");
        }
    }
    let mut args = vec!["calibrate", "--columns", "waiting", "--format", "json", "mu", "pi"];
    args.extend(SMALL);
    let column = scratch.ok(&args).json();
    assert_eq!(column["intervals"].as_array().map(Vec::len), Some(12));
    scratch.ok(&["fit", "-k", "1"]);
    scratch.ok(&["fit", "--columns", "waiting", "-k", "3"]);
}

#[test]
fn a_picture_is_written_as_svg_and_png() {
    let scratch = Scratch::new();
    for name in ["figure.png", "figure.svg", "FIGURE2.PNG"] {
        let mut args = vec!["calibrate", "pi[1]", "mu[2,waiting]", "--plot", name, "-o", "out.txt"];
        args.extend(SMALL);
        scratch.ok(&args);
    }
    let png = fs::read(scratch.path("figure.png")).expect("a picture");
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert!(png.len() > 10_000);
    assert_eq!(fs::read(scratch.path("FIGURE2.PNG")).expect("a picture"), png);
    let svg = scratch.read("figure.svg");
    assert!(svg.contains("<svg") && svg.trim_end().ends_with("</svg>"));
}

#[test]
fn responsibilities_are_given_on_request() {
    let scratch = Scratch::new();
    scratch.ok(&["fit", "--responsibilities", "r.csv", "--format", "csv"]);
    let text = scratch.read("r.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("unit,component_1,component_2"));
    let mut first = 0.0;
    for (i, line) in lines.enumerate() {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert_eq!(cells[0], (i + 1) as f64);
        assert!((cells[1] + cells[2] - 1.0).abs() < 1e-12);
        first += cells[1];
    }
    // At the fixed point the responsibilities add up to the counts: alpha = 1 + N.
    let fit: serde_json::Value =
        serde_json::from_str(&scratch.ok(&["fit", "--format", "json"]).stdout).unwrap();
    let alpha = fit["blocks"]["pi"]["alpha"][0].as_f64().unwrap();
    assert!((alpha - 1.0 - first).abs() < 1e-6, "{alpha} {first}");
}
