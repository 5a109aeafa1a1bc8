//! The default table of `calibrate` and `interval`: a row per quantity, within the terminal's width, each warning once.

mod common;

use common::{Run, Scratch};
use serde_json::Value;
use std::fs;

/// Tight enough that the last digits shown do not depend on where a fit stops.
const SMALL: [&str; 6] = ["--grid", "25", "-B", "200", "--tolerance", "1e-12"];

const REGRESSION: [&str; 4] =
    ["calibrate", "bmlr_small.csv", "--formula", "y ~ 0 + x1 + x2 | group"];

/// The README's data: two Gaussians that overlap.
fn overlap(scratch: &Scratch) {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/data/overlap.csv");
    fs::copy(file, scratch.path("overlap.csv")).expect("the README's data can be copied");
}

/// What a terminal of so many columns shows.
fn at(scratch: &Scratch, width: usize, args: &[&str]) -> String {
    let mut command = scratch.command(args);
    command.env("COLUMNS", width.to_string());
    let output = command.output().expect("trustvb starts");
    let run = Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    };
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "trustvb {}", args.join(" "));
    run.stdout
}

fn with<'a>(args: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [args, more].concat()
}

fn assert_within(text: &str, width: usize) {
    let long = text.lines().find(|line| line.chars().count() > width);
    assert_eq!(long, None, "more than {width} columns in\n{text}");
}

#[test]
fn vb_is_fine() {
    let text = at(&Scratch::new(), 80, &with(&["calibrate"], &SMALL));
    assert_within(&text, 80);
    insta::assert_snapshot!("vb_is_fine", text);
}

#[test]
fn vb_is_too_short() {
    let scratch = Scratch::new();
    overlap(&scratch);
    let args = with(&["calibrate", "overlap.csv"], &SMALL);
    let text = at(&scratch, 80, &args);
    assert_within(&text, 80);
    insta::assert_snapshot!("vb_is_too_short", text);
    insta::assert_snapshot!("vb_is_too_short_wide", at(&scratch, 120, &args));
    insta::assert_snapshot!("vb_is_too_short_narrow", at(&scratch, 60, &args));
}

#[test]
fn a_regression() {
    let scratch = Scratch::new();
    scratch.take("bmlr_small.csv");
    let text = at(&scratch, 80, &with(&REGRESSION, &SMALL));
    assert_within(&text, 80);
    insta::assert_snapshot!("regression", text);
}

#[test]
fn one_component() {
    let text = at(&Scratch::new(), 80, &with(&["calibrate", "-k", "1"], &SMALL));
    assert_within(&text, 80);
    insta::assert_snapshot!("one_component", text);
}

#[test]
fn several_levels_and_no_interval() {
    let scratch = Scratch::new();
    overlap(&scratch);
    let quantities = ["overlap.csv", "pi[1]", "log(mu[1,2])", "sqrt(mu[1,2])", "mu[1,] - mu[2,]"];
    let args = with(&["calibrate", "--level", "0.5,0.95"], &quantities);
    let text =
        at(&scratch, 80, &with(&args, &["--grid", "25", "-B", "60", "--tolerance", "1e-12"]));
    assert_within(&text, 80);
    insta::assert_snapshot!("several_levels", text);
    // What holds for the whole table is said once, above it, and nothing is repeated.
    assert_eq!(text.matches("[few-bootstraps]").count(), 1);
    assert!(text.find("[few-bootstraps]") < text.find("use this"));
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('!')).collect();
    for line in &lines {
        assert_eq!(lines.iter().filter(|other| *other == line).count(), 1, "{line}");
    }
}

#[test]
fn warnings_are_said_once_with_a_count() {
    let scratch = Scratch::new();
    // Four components where there are two.
    let text = at(&scratch, 80, &with(&["calibrate", "-k", "4"], &SMALL));
    assert_within(&text, 80);
    insta::assert_snapshot!("warnings", text);
    let long = scratch.ok(&with(&["calibrate", "-k", "4", "--all-methods"], &SMALL)).stdout;
    insta::assert_snapshot!("warnings_all_methods", long);
}

#[test]
fn many_columns_stay_readable() {
    let scratch = Scratch::new();
    scratch.take("wine.csv");
    let small = ["--grid", "9", "-B", "60", "--tolerance", "1e-12"];
    let text = at(&scratch, 80, &with(&["calibrate", "wine.csv", "-k", "3"], &small));
    assert_within(&text, 80);
    insta::assert_snapshot!("many_columns", text);
}

#[test]
fn iris_with_all_defaults_is_one_screen() {
    let scratch = Scratch::new();
    scratch.take("iris.csv");
    let text = at(&scratch, 80, &["calibrate", "iris.csv", "-k", "3"]);
    assert_within(&text, 80);
    assert!(text.lines().count() <= 40, "{text}");
    assert_eq!(text.lines().filter(|line| line.contains("%  [")).count(), 15, "{text}");
}

#[test]
fn a_table_is_asked_the_same_way_and_programs_get_every_method() {
    let scratch = Scratch::new();
    let build = |name, more: &[&'static str]| {
        let args = with(&["table", "build", "-o", name], &SMALL);
        scratch.ok(&with(&args, more))
    };
    let run = build("faithful.tvb", &[]);
    assert!(run.stderr.contains("`trustvb interval faithful.tvb`"), "{}", run.stderr);
    let share = build("share.tvb", &["--shard", "1/2"]);
    assert!(share.stderr.contains("share 1 of 2"), "{}", share.stderr);
    assert_eq!(build("quiet.tvb", &["--quiet"]).stderr, "");
    let calibrated = at(&scratch, 80, &with(&["calibrate"], &SMALL));
    let asked = at(&scratch, 80, &["interval", "faithful.tvb"]);
    let rest = |text: &str| text.split_once('\n').map(|(_, rest)| rest.to_owned());
    assert_eq!(rest(&calibrated), rest(&asked));
    for format in ["json", "csv"] {
        let args = ["interval", "faithful.tvb", "--format", format];
        let plain = scratch.ok(&args).stdout;
        assert_eq!(plain, scratch.ok(&with(&args, &["--all-methods"])).stdout);
        let named = with(&args, &["--method", "recommended,vb,tvb"]);
        assert_eq!(plain, scratch.ok(&named).stdout);
    }
    let long = scratch.ok(&["interval", "faithful.tvb", "--all-methods"]).stdout;
    let named = ["interval", "faithful.tvb", "--method", "recommended,vb,tvb"];
    assert_eq!(long, scratch.ok(&named).stdout);
    assert!(long.contains("est. coverage"), "{long}");
}

/// The numbers of a row against those for programs, to half a unit of the last digit that a length deserves.
#[test]
fn rows_show_what_programs_get() {
    let scratch = Scratch::new();
    overlap(&scratch);
    let args = with(&["calibrate", "overlap.csv"], &SMALL);
    let text = at(&scratch, 120, &args);
    let all: Value =
        serde_json::from_str(&at(&scratch, 80, &with(&args, &["--format", "json"]))).expect("JSON");
    let answers = all["intervals"].as_array().expect("a list");
    let labels: Vec<&str> = answers
        .iter()
        .filter(|a| a["recommended"] == true)
        .map(|a| a["label"].as_str().expect("a label"))
        .collect();
    assert_eq!(labels.len(), 6);
    let mut coverages = Vec::new();
    for label in labels {
        let of = |method: &str| {
            let found = answers.iter().find(|a| a["label"] == label && a["method"] == method);
            found.unwrap_or_else(|| panic!("no {method} of {label}"))
        };
        let line = text.lines().find(|line| line.starts_with(label)).expect("a row");
        let numbers: Vec<f64> = line[label.len()..]
            .split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
            .filter_map(|word| word.parse().ok())
            .collect();
        let (used, own, tvb) = (of("balanced"), of("vb"), of("tvb"));
        let coverage = own["coverage"].as_f64().expect("a coverage");
        let expected = [
            &used["estimate"],
            &used["lower"],
            &used["upper"],
            &own["lower"],
            &own["upper"],
            &own["coverage"],
            &tvb["lower"],
            &tvb["upper"],
        ];
        assert_eq!(numbers.len(), expected.len(), "{line}");
        let length = used["upper"].as_f64().unwrap() - used["lower"].as_f64().unwrap();
        for (i, (shown, exact)) in numbers.iter().zip(expected).enumerate() {
            let exact = exact.as_f64().expect("a number");
            let (exact, unit) = if i == 5 { (100.0 * exact, 1.0) } else { (exact, length / 30.0) };
            assert!((shown - exact).abs() <= unit / 2.0 + 1e-12, "{label}: {shown} for {exact}");
        }
        coverages.push(coverage);
    }
    let lowest = coverages.iter().copied().fold(1.0, f64::min);
    let highest = coverages.iter().copied().fold(0.0, f64::max);
    let says = format!("they cover {:.0}–{:.0}%.", 100.0 * lowest, 100.0 * highest);
    assert!(text.contains(&says), "{says}\n{text}");
}

/// The chance of a Beta variable to be below `x`: Simpson's rule on its density, about its mode's neighbourhood.
fn beta_cdf(a: f64, b: f64, x: f64) -> f64 {
    let ln = |t: f64| (a - 1.0) * t.ln() + (b - 1.0) * (1.0 - t).ln();
    let top = ln((a - 1.0) / (a + b - 2.0));
    let integral = |from: f64, to: f64| {
        let n = 2000;
        let h = (to - from) / f64::from(n);
        let weight = |i| if i == 0 || i == n { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
        let at = |i: i32| (from + h * f64::from(i)).clamp(1e-12, 1.0 - 1e-12);
        (0..=n).map(|i| weight(i) * (ln(at(i)) - top).exp()).sum::<f64>() * h / 3.0
    };
    integral(0.0, x) / integral(0.0, 1.0)
}

/// "VB covers", counted by hand: the share of bootstraps whose Beta law at ω = 1 has the full data's weight between
/// its 2.5% and 97.5% points.
#[test]
fn vb_covers_as_often_as_its_laws_hold_the_estimate() {
    let scratch = Scratch::new();
    overlap(&scratch);
    let build =
        ["table", "build", "overlap.csv", "-o", "x.tvb", "-q", "--method", "recommended,vb"];
    scratch.ok(&with(&build, &["-B", "200"]));
    let place =
        trustvb::location::Location::from_argument(&scratch.path("x.tvb")).expect("a place");
    let table = trustvb::table::open(&place).expect("a table");
    let alpha = |p: &[f64]| (p[0], p[1]);
    let full = table.full_data_posterior(1.0).expect("a fit");
    let (a, b) = alpha(full.parameters());
    let held: Vec<bool> = table
        .bootstraps(trustvb::resample::Design::Full)
        .filter_map(|(_, path)| table.parameters(path, 0))
        .map(|p| {
            let (own_a, own_b) = alpha(p);
            (0.025..=0.975).contains(&beta_cdf(own_a, own_b, a / (a + b)))
        })
        .collect();
    assert_eq!(held.len(), 200);
    let share = held.iter().filter(|held| **held).count() as f64 / 200.0;
    let text = at(&scratch, 80, &["interval", "x.tvb", "pi[1]"]);
    assert!(text.contains(&format!("it covers {:.0}%.", 100.0 * share)), "{share}: {text}");
    assert!(!text.contains("TVB"), "it has no half samples: {text}");
}

#[test]
fn what_has_no_recommended_interval_shows_every_method() {
    let scratch = Scratch::new();
    let small = ["pi[1]", "--grid", "9", "-B", "31"];
    let text = scratch.ok(&with(&["calibrate", "--published"], &small)).stdout;
    assert!(text.contains("est. coverage") && !text.contains("use this"), "{text}");
}

#[test]
fn every_flag_is_explained() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/FLAGS.md");
    let page = fs::read_to_string(file).expect("the page can be read");
    for name in trustvb::calibrate::Flag::NAMES {
        assert!(page.contains(&format!("`{name}`")), "docs/FLAGS.md says nothing of {name}");
    }
}
