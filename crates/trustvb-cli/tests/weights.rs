//! Weights of rows on the command line: counts against repeated rows, what is refused by its line, tables that keep them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::Scratch;
use serde_json::Value;

/// Answers to two questions and a number, counted, and the same with rows repeated.
fn counted(scratch: &Scratch) {
    let (mut counts, mut rows) = (String::from("a,b,x,n\n"), String::from("a,b,x\n"));
    for i in 0..40 {
        let (a, b) = (["yes", "no"][(i * 7) % 3 % 2], ["u", "v", "w"][(i * 5) % 7 % 3]);
        let row = format!("{a},{b},{}", (i * 37) % 100);
        let n = i % 4;
        counts.push_str(&format!("{row},{n}\n"));
        (0..n).for_each(|_| rows.push_str(&format!("{row}\n")));
    }
    scratch.write("counts.csv", counts);
    scratch.write("rows.csv", rows);
}

const FEW: [&str; 6] = ["--model", "mixture", "-B", "40", "--format", "json"];

fn intervals(scratch: &Scratch, args: &[&str]) -> (Value, Vec<f64>) {
    let all = [&["calibrate"], args, &FEW, &["-q"]].concat();
    let json = scratch.ok(&all).json();
    let of = |row: &Value| ["estimate", "lower", "upper"].map(|name| row[name].as_f64().unwrap());
    let numbers = json["intervals"].as_array().unwrap().iter().flat_map(of).collect();
    (json, numbers)
}

#[test]
fn counted_rows_are_repeated_rows() {
    let scratch = Scratch::new();
    counted(&scratch);
    let (json, one) = intervals(&scratch, &["counts.csv", "--frequency", "n"]);
    let (plain, two) = intervals(&scratch, &["rows.csv"]);
    assert_eq!(json["n_units"], plain["n_units"]);
    assert_eq!(json["weights"]["kind"], "frequency");
    assert_eq!(plain.get("weights"), None);
    assert_eq!(one.len(), two.len());
    for (a, b) in one.iter().zip(&two) {
        assert!((a - b).abs() < 1e-4 * (1.0 + b.abs()), "{a} {b}");
    }
}

#[test]
fn what_is_no_weight_is_refused_by_its_line() {
    let scratch = Scratch::new();
    counted(&scratch);
    for (weight, option, words) in [
        ("-2", "--weights", "line 42 has the weight -2"),
        ("inf", "--weights", "line 42 has the weight inf"),
        ("", "--frequency", "line 42 has the frequency NaN"),
        ("1.5", "--frequency", "line 42 has the frequency 1.5"),
        ("1.5", "--frequency", "say that they are survey weights, with --weights n"),
    ] {
        scratch.write("bad.csv", scratch.read("counts.csv") + &format!("yes,u,3,{weight}\n"));
        let run = scratch.run(&["fit", "bad.csv", "--model", "mixture", option, "n"]);
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(run.stderr.contains(words) && run.stderr.contains("`n`"), "{}", run.stderr);
    }
    scratch.write("zero.csv", "a,w\nyes,0\nno,0\nyes,0\nno,0\n");
    let run = scratch.run(&["fit", "zero.csv", "--model", "mixture", "--weights", "w"]);
    assert!(run.stderr.contains("all weights are 0"), "{}", run.stderr);
    let both = ["fit", "counts.csv", "--weights", "n", "--frequency", "n"];
    assert_eq!(scratch.run(&both).code, Some(2));
    let stream = ["fit", "counts.csv", "--formula", "x ~ n", "--stream", "--weights", "n"];
    let run = scratch.run(&stream);
    assert!(run.code == Some(2) && run.stderr.contains("leave --stream out"), "{}", run.stderr);
    let run = scratch.run(&["fit", "counts.csv", "--model", "mixture", "--weights", "m"]);
    assert!(run.stderr.contains("no column `m`"), "{}", run.stderr);
}

#[test]
fn survey_weights_go_into_tables_and_answers() {
    let scratch = Scratch::new();
    counted(&scratch);
    let build = ["table", "build", "counts.csv", "--model", "mixture", "--weights", "n"];
    let build = [&build[..], &["-B", "20", "-o", "t.tvb", "--method", "recommended,vb"]].concat();
    let run = scratch.ok(&build);
    // Every fourth row has weight 0.
    let said = "30 rows say as much about a mean as 26 of equal weight (Kish); 10 rows of weight 0";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let info = scratch.ok(&["table", "info", "t.tvb"]).stdout;
    assert!(info.contains("30 units weighted by n, columns a, b, x"), "{info}");
    assert!(scratch.ok(&["table", "check", "t.tvb"]).stdout.contains("sound"));
    // A method that fits anew has the weights too.
    let asked = ["interval", "t.tvb", "pi[1]", "--method", "vb,jackknife", "--format", "json"];
    assert_eq!(scratch.ok(&asked).json()["intervals"].as_array().unwrap().len(), 2);
    // Other weights are other data.
    let text = scratch.read("counts.csv").replace(",3\n", ",9\n");
    scratch.write("counts.csv", text);
    assert_eq!(scratch.run(&build).code, Some(1));
}

#[test]
fn a_profile_is_drawn_and_refused_where_there_is_none() {
    let scratch = Scratch::new();
    counted(&scratch);
    let args = ["calibrate", "rows.csv", "--model", "mixture", "-B", "20", "-q"];
    scratch.ok(&[&args[..], &["pi[1]", "--profile", "p.svg"]].concat());
    let svg = scratch.read("p.svg");
    for words in ["class 1 (", "a = yes", "b = u", "mean, in standard deviations"] {
        assert!(svg.contains(words), "{words} is not in the picture");
    }
    let run = scratch.run(&[&args[..], &["--profile", "p.pdf"]].concat());
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    let formula = ["calibrate", "rows.csv", "--formula", "x ~ 1", "-B", "20", "-q"];
    let run = scratch.run(&[&formula[..], &["--profile", "p.svg"]].concat());
    assert!(run.stderr.contains("use --plot"), "{}", run.stderr);
}
