//! Questions at the edge of what makes sense: warned of or refused at once, with the numbers.

mod common;

use common::Scratch;
use std::fs::File;
use std::process::Stdio;

/// Rows of a patent-like file: counts in two groups, and four rows far away from both.
fn patents() -> String {
    let mut text = String::from("y,x\n");
    for i in 0..66 {
        let x = f64::from(i % 33) / 8.0;
        let noise = f64::from((i * 37) % 11) / 20.0;
        let y = if i % 2 == 0 { 1.0 + x + noise } else { 4.0 - 0.5 * x + noise };
        text.push_str(&format!("{y},{x}\n"));
    }
    for (x, y) in [(0.3, 30.0), (1.1, 52.0), (2.9, 41.0), (3.6, 77.0)] {
        text.push_str(&format!("{y},{x}\n"));
    }
    text
}

#[test]
fn three_rows_for_two_components_are_few_rows() {
    let scratch = Scratch::new();
    scratch.write("three.csv", "x\n1\n2\n5\n");
    let run = scratch.ok(&["calibrate", "three.csv", "-k", "2", "-B", "50", "--format", "json"]);
    let answers = run.json();
    for answer in answers["intervals"].as_array().into_iter().flatten() {
        let flags = answer["flags"].to_string();
        assert!(flags.contains("few-rows") || flags.contains("emptied-components"), "{answer}");
    }
    assert!(run.stdout.contains("for its mean and its variance"), "{}", run.stdout);
}

#[test]
fn a_regression_of_four_rows_has_few_rows() {
    let scratch = Scratch::new();
    scratch.write("patents.csv", patents());
    let asked = ["calibrate", "patents.csv", "--formula", "y ~ x", "-k", "3", "-B", "50"];
    let run = scratch.ok(&[&asked[..], &["--method", "recommended,vb"]].concat());
    let said = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("has 4 rows for 2 coefficients"), "{}", run.stdout);
    assert!(said.contains("[few-rows]"), "{}", run.stdout);
    // Groups of many rows are enough, however few they are.
    scratch.take("bmlr_small.csv");
    let groups =
        ["calibrate", "bmlr_small.csv", "--formula", "y ~ 0 + x1 + x2 | group", "-B", "20"];
    let run = scratch.ok(&[&groups[..], &["--method", "recommended,vb"]].concat());
    assert!(!run.stdout.contains("few-rows"), "{}", run.stdout);
}

#[test]
fn more_threads_than_any_machine_has_are_refused() {
    let run = Scratch::new().run(&["calibrate", "--threads", "100000"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("there can be at most 1024"), "{}", run.stderr);
}

#[test]
fn components_for_half_the_rows_are_refused_at_once() {
    let scratch = Scratch::new();
    for args in [
        &["calibrate", "-k", "272"][..],
        &["fit", "-k", "140"],
        &["calibrate", "-k", "200", "--model", "mixture"],
        &["fit", "-k", "137", "--formula", "eruptions ~ waiting"],
    ] {
        let run = scratch.run(args);
        assert_eq!(run.code, Some(1), "{args:?}: {}", run.stderr);
        let k = args[2];
        let said = format!("{k} components for 272 rows, which is fewer than two for each");
        assert!(run.stderr.contains(&said), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains("ask for at most 136 with --components"), "{}", run.stderr);
    }
    // Half as many are tried; two sweeps are enough to see that.
    let run = scratch.run(&["fit", "-k", "136", "--starts", "1", "--max-sweeps", "2"]);
    assert!(run.stderr.contains("in 2 sweeps"), "{}", run.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn a_first_line_that_never_ends_is_refused() {
    let scratch = Scratch::new();
    let zero = || File::open("/dev/zero").expect("it is there");
    let of_file = scratch.run(&["calibrate", "/dev/zero"]);
    let of_input = scratch.command(&["calibrate", "-"]).stdin(Stdio::from(zero())).output();
    let of_input = of_input.expect("it starts");
    assert_eq!((of_file.code, of_input.status.code()), (Some(1), Some(1)));
    for said in [of_file.stderr, String::from_utf8_lossy(&of_input.stderr).into_owned()] {
        assert!(said.contains("a line has more than 64 MB"), "{said}");
    }
}
