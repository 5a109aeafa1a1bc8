//! `trustvb table plan` and `table diff`, addresses of tables, and little bootstraps.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::Scratch;

/// A small table of the built-in data.
fn build(scratch: &Scratch, name: &str, more: &[&str]) {
    let mut arguments = vec!["table", "build", "-o", name, "--grid", "12", "-B", "45", "-q"];
    arguments.extend(more);
    scratch.ok(&arguments);
}

#[test]
fn tables_are_compared_bit_by_bit() {
    let scratch = Scratch::new();
    build(&scratch, "a.tvb", &[]);
    build(&scratch, "b.tvb", &["--threads", "1"]);
    for number in ["1", "2", "3"] {
        build(&scratch, "c.tvb", &["--shard", &format!("{number}/3")]);
    }
    for other in ["b.tvb", "c.tvb"] {
        let text = scratch.ok(&["table", "diff", "a.tvb", other]).stdout;
        assert!(text.starts_with("identical: 6 parts with 609 fits"), "{text}");
    }
    // A part of another table is no part of this one.
    let part = scratch.path("b.tvb/parts/full-00001.parquet");
    build(&scratch, "other.tvb", &["--seed", "2"]);
    std::fs::copy(scratch.path("other.tvb/parts/full-00001.parquet"), &part).unwrap();
    let failed = scratch.run(&["table", "diff", "a.tvb", "b.tvb"]);
    assert_eq!(failed.code, Some(1));
    let text = failed.stderr;
    assert!(text.contains("b.tvb/parts/full-00001.parquet is damaged: it belongs to"), "{text}");
    build(&scratch, "b.tvb", &[]);
    std::fs::remove_file(scratch.path("b.tvb/parts/split-00000.parquet")).unwrap();
    let failed = scratch.run(&["table", "diff", "a.tvb", "b.tvb"]);
    assert_eq!(failed.code, Some(1));
    let text = failed.stdout;
    assert!(text.contains("5 parts with"), "{text}");
    assert!(text.contains("only in the first table: parts/split-00000.parquet"), "{text}");
    let json = scratch.run(&["table", "diff", "a.tvb", "other.tvb", "--format", "json"]);
    assert_eq!(json.code, Some(1));
    let json = json.json();
    assert_eq!(json["identical"], false);
    assert_eq!(json["manifest"][0]["field"], "path.seed");
    assert_eq!(json["same_parts"], 0);
}

#[test]
fn a_plan_counts_what_a_build_makes() {
    let scratch = Scratch::new();
    let json = scratch
        .ok(&["table", "plan", "--grid", "12", "-B", "45", "--cpus", "2", "--format", "json"]);
    let plan = json.json();
    build(&scratch, "a.tvb", &[]);
    let info = scratch.ok(&["table", "info", "a.tvb", "--format", "json"]).json();
    assert_eq!(plan["paths"], info["paths_expected"]);
    assert_eq!(plan["parts"], info["parts_expected"]);
    // The full data and the half sample with its bootstraps along the grid, the others at ω = 1.
    assert_eq!(plan["fits"], 12 + 45 + 46 * 12);
    assert_eq!(plan["shards"], 1);
    assert!(plan["seconds"].as_f64().unwrap() > 0.0);
    let text = scratch
        .ok(&["table", "plan", "--tvb", "-B", "100000", "--cpus", "1", "--minutes", "0.05"])
        .stdout;
    assert!(text.contains("shards of one core each take about"), "{text}");
    assert!(text.contains("--shard 1/"), "{text}");
}

#[test]
fn addresses_work_like_folders() {
    let scratch = Scratch::new();
    let address = format!("file://{}", scratch.path("there.tvb").display());
    build(&scratch, &address, &[]);
    build(&scratch, "here.tvb", &[]);
    scratch.ok(&["table", "diff", "here.tvb", &address]);
    let ask = |table: &str| scratch.ok(&["interval", table, "pi[1]", "--format", "csv"]).stdout;
    assert_eq!(ask(&address), ask("here.tvb"));
    for (address, says) in
        [("ftp://host/x.tvb", "`ftp://` is no kind of place"), ("s3://", "s3://")]
    {
        let failed = scratch.run(&["table", "info", address]);
        assert_eq!(failed.code, Some(2), "{address}");
        let text = failed.stderr;
        assert!(text.contains(says), "{text}");
    }
}

#[test]
fn little_bootstraps_are_offered_where_they_make_sense() {
    let scratch = Scratch::new();
    let refused = |arguments: &[&str], says: &str| {
        let failed = scratch.run(arguments);
        assert_eq!(failed.code, Some(2), "{arguments:?}");
        let text = failed.stderr;
        assert!(text.contains(says), "{text}");
    };
    refused(&["calibrate", "--subsets", "5"], "subsets would have 51 units");
    scratch.ok(&[
        "simulate",
        "gmm",
        "--n",
        "4000",
        "--weights",
        "0.65,0.35",
        "--separation",
        "2",
        "-o",
        "rows.csv",
    ]);
    refused(
        &["calibrate", "rows.csv", "--subsets", "5", "--method", "tvb"],
        "tvb needs those of half samples",
    );
    let text = scratch
        .ok(&[
            "calibrate",
            "rows.csv",
            "pi[1]",
            "--subsets",
            "5",
            "--grid",
            "20",
            "-B",
            "60",
            "--save",
            "little.tvb",
        ])
        .stdout;
    assert!(text.contains("use this 95% interval") && !text.contains("TVB"), "{text}");
    let info = scratch.ok(&["table", "info", "little.tvb", "--complete"]).stdout;
    assert!(info.contains("5 subsets of 332 units"), "{info}");
    let again = scratch.ok(&["interval", "little.tvb", "pi[1]", "--method", "anchored"]).stdout;
    assert!(again.contains("anchored"), "{again}");
}
