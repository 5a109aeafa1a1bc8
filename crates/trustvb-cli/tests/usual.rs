//! What is shown when no method is named: nobody waits for fits that are not cheap, and everybody can ask for them.

mod common;

use common::Scratch;
use serde_json::Value;

const LEFT_OUT: &str = "TVB's intervals (the paper's) are left out: they need about";

/// Rows of so many columns in two groups.
fn wide(rows: usize, columns: usize) -> String {
    let header: Vec<String> = (1..=columns).map(|j| format!("x{j}")).collect();
    let mut state = 1_u64;
    let mut uniform = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut text = header.join(",") + "\n";
    for i in 0..rows {
        let centre = if i % 3 == 0 { 4.0 } else { 0.0 };
        let cell = |_| (centre + (0..4).map(|_| uniform()).sum::<f64>()).to_string();
        text.push_str(&((0..columns).map(cell).collect::<Vec<_>>().join(",") + "\n"));
    }
    text
}

fn methods(answer: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = answer["intervals"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|a| a["method"].as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[test]
fn tvb_is_left_out_where_its_fits_are_not_cheap() {
    let scratch = Scratch::new();
    scratch.write("wide.csv", wide(600, 20));
    let usual = scratch.ok(&["calibrate", "wide.csv", "pi[1]", "-B", "300", "--format", "json"]);
    assert_eq!(methods(&usual.json()), ["balanced", "vb"]);
    assert_eq!(usual.json()["fits"], 301);
    let line = usual.stderr.lines().find(|line| line.contains(LEFT_OUT));
    assert_eq!(
        line,
        Some(&*format!("trustvb: {LEFT_OUT} 30000 more fits; --tvb asks for them")),
        "{}",
        usual.stderr
    );
    // The same with the methods by name, without a word.
    let named = ["calibrate", "wide.csv", "pi[1]", "-B", "300", "--format", "json"];
    let named = scratch.ok(&[&named[..], &["--method", "recommended,vb"]].concat());
    assert_eq!((named.stdout, named.stderr.contains("left out")), (usual.stdout, false));
    scratch
        .ok(&["table", "build", "wide.csv", "-B", "20", "--grid", "1000", "-q", "-o", "wide.tvb"]);
    let kept = scratch.ok(&["interval", "wide.tvb", "pi[1]", "--format", "json"]).json();
    assert_eq!(methods(&kept), ["balanced", "vb"]);
}

#[test]
fn tvb_is_shown_where_it_is_cheap_or_asked_for() {
    let scratch = Scratch::new();
    let cheap = scratch.ok(&["calibrate", "pi[1]", "--format", "json"]);
    assert_eq!(methods(&cheap.json()), ["balanced", "tvb", "vb"]);
    assert!(!cheap.stderr.contains("left out"), "{}", cheap.stderr);
    // 501 fits at ω = 1, the full data down the grid, and a half sample with its bootstraps.
    assert_eq!(cheap.json()["fits"], 100 + 500 + 501 * 100);
    scratch.write("wide.csv", wide(600, 20));
    let asked = ["calibrate", "wide.csv", "pi[1]", "-B", "10", "--format", "json"];
    for (more, grid) in [(&["--tvb"][..], "1200"), (&["--all-methods"], "1200")] {
        // So long a grid is not cheap; a short one would be.
        let all = [&asked[..], &["--grid", grid, "--omega-min", "0.9"], more].concat();
        let run = scratch.ok(&all);
        assert_eq!(methods(&run.json()), ["balanced", "tvb", "vb"]);
        assert!(!run.stderr.contains("left out"), "{}", run.stderr);
    }
    let named = scratch.ok(&[
        "calibrate",
        "pi[1]",
        "--method",
        "vb",
        "--tvb",
        "-B",
        "20",
        "--format",
        "json",
    ]);
    assert_eq!(methods(&named.json()), ["tvb", "vb"]);
    let refused = scratch.run(&["calibrate", "--tvb", "--subsets", "3"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
}

#[test]
fn the_papers_column_is_among_the_groups_if_it_is_asked_for() {
    let scratch = Scratch::new();
    scratch.take("bmlr_small.csv");
    let by = [
        "calibrate",
        "bmlr_small.csv",
        "-k",
        "1",
        "--columns",
        "y,x1",
        "--by",
        "group",
        "-B",
        "10",
    ];
    let run = scratch.ok(&[&by[..], &["--grid", "5", "--tvb", "--format", "csv"]].concat());
    assert!(run.stdout.contains(",tvb,"), "{}", run.stdout);
}
