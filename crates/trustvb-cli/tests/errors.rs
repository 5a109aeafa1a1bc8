//! What a user reads when something is wrong: every message with its exit code.

mod common;

use common::Scratch;
use std::fmt::Write;
use std::fs;

const GOOD: &str = "x,y\n1,2\n2,1\n3,5\n4,4\n7,9\n8,6\n9,9\n6,8\n";

/// Runs each command line and lays out what was said; none may succeed, print an answer or panic.
fn report(scratch: &Scratch, lines: &[&[&str]]) -> String {
    let mut text = String::new();
    for args in lines {
        let run = scratch.run(args);
        let line = args.join(" ");
        assert!(matches!(run.code, Some(1 | 2)), "`trustvb {line}` ended with {:?}", run.code);
        assert_eq!(run.stdout, "", "`trustvb {line}` failed and printed an answer");
        assert!(!run.stderr.contains("panicked"), "`trustvb {line}`: {}", run.stderr);
        let code = run.code.unwrap_or_default();
        writeln!(text, "$ trustvb {line}\n[exit {code}] {}\n", run.stderr.trim_end())
            .expect("text can be added to");
    }
    text
}

fn with_data() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("good.csv", GOOD);
    scratch
}

#[test]
fn data_that_cannot_be_used() {
    let scratch = with_data();
    scratch.write("empty.csv", "");
    scratch.write("header.csv", "x,y\n");
    scratch.write("ragged.csv", "x,y\n1,2\n3,4,5\n6,7\n");
    scratch.write("text.csv", "x,y\n1,2\n3,abc\n6,7\n");
    scratch.write("nan.csv", "x,y\n1,2\n3,NaN\n,7\n2,4\n");
    scratch.write("constant.csv", "x,y\n1,5\n3,5\n6,5\n8,5\n");
    scratch.write("collinear.csv", "x,y,z\n1,2,3\n2,1,3\n3,5,8\n4,4,8\n7,9,16\n8,6,14\n");
    scratch.write("duplicate.csv", "x,x\n1,2\n2,1\n3,5\n");
    scratch.write("latin.csv", b"x,y\n1,2\n\xe9,1\n3,5\n");
    scratch.write("fake.parquet", "x,y\n1,2\n");
    fs::create_dir(scratch.path("folder.csv")).expect("a folder can be made");
    insta::assert_snapshot!(report(
        &scratch,
        &[
            &["fit", "missing.csv"],
            &["fit", "folder.csv"],
            &["fit", "empty.csv"],
            &["fit", "header.csv"],
            &["fit", "ragged.csv"],
            &["fit", "text.csv"],
            &["fit", "nan.csv"],
            &["fit", "constant.csv"],
            &["fit", "collinear.csv"],
            &["fit", "duplicate.csv"],
            &["fit", "latin.csv"],
            &["fit", "fake.parquet"],
            &["fit", "good.csv", "-k", "9"],
            &["fit", "--columns", "waitin"],
            &["fit", "--columns", "waiting,waiting"],
            &["fit", "good.csv", "--columns", "3"],
            &["calibrate", "missing.csv", "pi[1]"],
        ],
    ));
}

#[test]
fn models_that_make_no_sense() {
    let scratch = with_data();
    scratch.take("bmlr_small.csv");
    scratch.write("unknown.toml", "alpha = 1.0\n");
    scratch.write("syntax.toml", "alpha0 = = 1\n");
    scratch.write("w0.toml", "W0 = [[1.0, 2.0], [2.0, 1.0]]\n");
    scratch.write("w0_size.toml", "W0 = [[1.0]]\n");
    scratch.write("w0_tilted.toml", "W0 = [[1.0, 0.5], [0.5, 1.0]]\n");
    scratch.write("m0.toml", "m0 = [1.0, 2.0, 3.0]\n");
    scratch.write("nu0.toml", "nu0 = 0.5\n");
    scratch.write("alpha0.toml", "alpha0 = -1.0\n");
    scratch.write("three.csv", "x,y\n1,2\n3,4\n5,6\n");
    scratch.write("wide.csv", "x,y,z\n1,2,3\n3,4,5\n");
    insta::assert_snapshot!(report(
        &scratch,
        &[
            &["fit", "good.csv", "--model", "bmlr"],
            &["fit", "bmlr_small.csv", "--formula", "y ~ 0 + x1 + x3 | group"],
            &["fit", "bmlr_small.csv", "--formula", "y ~ "],
            &["fit", "bmlr_small.csv", "--formula", "y = x1 | group"],
            &["fit", "bmlr_small.csv", "--formula", "y ~ x1 % x2 | group"],
            &["fit", "bmlr_small.csv", "--formula", "y ~ 0 | group"],
            &["fit", "bmlr_small.csv", "--formula", "y ~ x1 | group | x2"],
            &["fit", "bmlr_small.csv", "--formula", "y ~ x1 | group", "--noise", "rubbish"],
            &["fit", "bmlr_small.csv", "--formula", "y ~ x1 | group", "--noise", "known=-1"],
            &["fit", "bmlr_small.csv", "--formula", "y ~ x1 | group", "--columns", "y"],
            &["fit", "bmlr_small.csv", "--formula", "y ~ x1 | group", "--min-group-rows", "50"],
            &["fit", "good.csv", "--noise", "estimate"],
            &["fit", "good.csv", "--model", "gmm", "--formula", "y ~ x"],
            &["fit", "--prior", "missing.toml"],
            &["fit", "--prior", "unknown.toml"],
            &["fit", "--prior", "syntax.toml"],
            &["fit", "--prior", "w0.toml"],
            &["fit", "--prior", "w0_size.toml"],
            &["fit", "--prior", "m0.toml"],
            &["fit", "--prior", "nu0.toml"],
            &["fit", "--prior", "alpha0.toml"],
            &["fit", "good.csv", "--covariance", "round"],
            &["fit", "good.csv", "--covariance", "tied", "--prior", "paper"],
            &["fit", "good.csv", "--covariance", "tied", "--update", "as-printed"],
            &["calibrate", "good.csv", "--covariance", "diagonal", "--published"],
            &["fit", "--covariance", "diagonal", "--prior", "w0_tilted.toml"],
            &["fit", "good.csv", "--formula", "y ~ x", "--covariance", "tied"],
            &["select", "good.csv", "-k", "3:1"],
            &["select", "good.csv", "-k", "0:2"],
            &["select", "good.csv", "-k", ""],
            &["select", "good.csv", "-k", "1:5"],
            &["select", "good.csv", "-k", "1:2", "--covariance", "full,round"],
            &["select", "good.csv", "-k", "1:2", "--centres", "three.csv"],
            &["select", "good.csv", "-k", "1:2", "--plot", "figure.pdf"],
            &[
                "select",
                "bmlr_small.csv",
                "-k",
                "1:2",
                "--formula",
                "y ~ x1 | group",
                "--covariance",
                "all"
            ],
            &["fit", "good.csv", "--centres", "missing.csv"],
            &["fit", "good.csv", "--centres", "three.csv"],
            &["fit", "good.csv", "--centres", "wide.csv"],
        ],
    ));
}

#[test]
fn command_lines_that_are_wrong() {
    let scratch = with_data();
    insta::assert_snapshot!(report(
        &scratch,
        &[
            &["fit", "-k", "0"],
            &["fit", "--omega", "0"],
            &["fit", "--omega", "2"],
            &["fit", "--omega", "-1"],
            &["fit", "--seed", "-1"],
            &["fit", "--tolerance", "0"],
            &["fit", "--format", "xml"],
            &["fit", "--model", "lda"],
            &["fit", "--omgea", "0.5"],
            &["fit", "--threads", "0"],
            &["calibrate", "--level", "95"],
            &["calibrate", "--method", "tbv"],
            &["calibrate", "--plot", "x.pdf"],
            &["calibrate", "--plot", "x"],
            &["calibrate", "-B", "-3"],
            &["calibrate", "-B", "0"],
            &["calibrate", "--level", "-0.5"],
            &["table", "build"],
            &["table", "build", "-o", "t.tvb", "--shard", "5/4"],
            &["table", "build", "-o", "t.tvb", "--shard", "0/4"],
            &["table", "build", "-o", "t.tvb", "--shard", "half"],
            &["table", "merge", "-o", "t.tvb"],
            &["interval"],
            &["tables"],
        ],
    ));
    assert!(!scratch.path("t.tvb").exists());
}

#[test]
fn quantities_that_cannot_be_read() {
    let scratch = with_data();
    scratch.take("bmlr_small.csv");
    let quantities = [
        "mu[1",
        "mu[3,1]",
        "mu[0,1]",
        "mu[1,3]",
        "mu[1,waitin]",
        "mw[1,1]",
        "mu[1,] - sigma[1,1,2] - sigma",
        "pi[1] +",
        "pi[1] pi[2]",
        "log(pi[1]",
        "lgo(pi[1])",
        "pi[1,1]",
        "sigma[1,1]",
        "log(pi[1], pi[2])",
        "pi[1] & pi[2]",
        "beta[1,1]",
    ];
    let lines: Vec<Vec<&str>> = quantities.iter().map(|q| vec!["calibrate", *q]).collect();
    let lines: Vec<&[&str]> = lines.iter().map(Vec::as_slice).collect();
    insta::assert_snapshot!(report(&scratch, &lines));
    insta::assert_snapshot!(
        "quantities_of_a_regression",
        report(
            &scratch,
            &[
                &["calibrate", "bmlr_small.csv", "mu[1,1]", "--formula", "y ~ 0 + x1 + x2 | group"],
                &[
                    "calibrate",
                    "bmlr_small.csv",
                    "beta[1,x3]",
                    "--formula",
                    "y ~ 0 + x1 + x2 | group"
                ],
            ],
        )
    );
}

#[test]
fn resamples_that_cannot_be_used() {
    let scratch = with_data();
    scratch.write("zero.csv", "role,replicate,units\nhalf,0,1 2 3 4\nbootstrap,1,5 0 7 8\n");
    scratch.write("large.csv", "role,replicate,units\nhalf,0,1 2 3 4\nbootstrap,1,5 6 7 9\n");
    scratch.write("half.csv", "role,replicate,units\nhalf,0,1 2 3 4\n");
    scratch.write("twice.csv", "role,replicate,units\nhalf,0,1 2\nhalf,0,3 4\n");
    scratch.write("role.csv", "role,replicate,units\nboot,1,5 6 7 8\n");
    scratch.write("none.csv", "role,replicate,units\nbootstrap,1,\n");
    scratch.write("header.csv", "role,replicate,unit\nbootstrap,1,5 6\n");
    let with = |file| ["calibrate", "good.csv", "pi[1]", "--resamples", file];
    insta::assert_snapshot!(report(
        &scratch,
        &[
            &with("missing.csv"),
            &with("zero.csv"),
            &with("large.csv"),
            &with("half.csv"),
            &with("twice.csv"),
            &with("role.csv"),
            &with("none.csv"),
            &with("header.csv"),
            &["calibrate", "good.csv", "--resamples", "half.csv", "--fresh-splits"],
        ],
    ));
}

#[test]
fn answers_that_cannot_be_written() {
    let scratch = with_data();
    fs::create_dir(scratch.path("folder")).expect("a folder can be made");
    insta::assert_snapshot!(report(
        &scratch,
        &[
            &["fit", "-o", "no/such/folder.txt"],
            &["calibrate", "-o", "no/such/folder.txt"],
            &["calibrate", "--plot", "no/such/figure.svg"],
            &["fit", "-o", "folder"],
        ],
    ));
}

#[test]
fn tables_that_cannot_be_used() {
    let scratch = with_data();
    let build = |name: &'static str, more: &[&'static str]| {
        let mut args = vec!["table", "build", "-o", name, "--grid", "3", "-B", "30"];
        args.extend(more);
        scratch.ok(&args);
    };
    for name in ["damaged.tvb", "schema.tvb", "cut.tvb", "no_schema.tvb", "whole.tvb"] {
        build(name, &[]);
    }
    scratch.ok(&["table", "build", "-o", "other.tvb", "--grid", "3", "-B", "31"]);
    build("vb.tvb", &["--method", "vb"]);
    build("no_data.tvb", &["--without-data"]);
    scratch.write("foreign/notes.txt", "mine");
    fs::create_dir(scratch.path("empty")).expect("a folder can be made");
    scratch.write("damaged.tvb/manifest.json", "{\"schema\": 1,");
    scratch.write("no_schema.tvb/manifest.json", "{}");
    let manifest = scratch.read("schema.tvb/manifest.json");
    scratch.write(
        "schema.tvb/manifest.json",
        manifest.replacen("\"schema\": 4", "\"schema\": 7", 1).replacen(
            "\"library\": \"0.1.0\"",
            "\"library\": \"9.0.0\"",
            1,
        ),
    );
    let part = scratch.path("cut.tvb/parts/full-00001.parquet");
    let bytes = fs::read(&part).expect("a part can be read");
    fs::write(&part, &bytes[..bytes.len() / 2]).expect("a part can be written");
    insta::assert_snapshot!(report(
        &scratch,
        &[
            &["interval", "missing.tvb"],
            &["interval", "good.csv"],
            &["interval", "foreign"],
            &["interval", "empty"],
            &["interval", "damaged.tvb"],
            &["interval", "no_schema.tvb"],
            &["interval", "schema.tvb"],
            &["table", "info", "schema.tvb"],
            &["interval", "cut.tvb", "pi[1]"],
            &["interval", "vb.tvb", "pi[1]", "--method", "tvb"],
            &["interval", "vb.tvb", "pi[1]", "--method", "anchored"],
            &["interval", "no_data.tvb", "pi[1]", "--method", "analytic"],
            &["interval", "whole.tvb", "pi[3]"],
            &["interval", "whole.tvb", "pi[1]", "--method", "tbv"],
            &["table", "build", "-o", "foreign"],
            &["table", "build", "-o", "good.csv"],
            &["table", "build", "-o", "whole.tvb", "--grid", "4", "-B", "30"],
            &["table", "build", "-o", "whole.tvb", "--grid", "3", "-B", "31"],
            &["table", "build", "good.csv", "-o", "whole.tvb", "--grid", "3", "-B", "30"],
            &["table", "build", "-o", "damaged.tvb", "--grid", "3", "-B", "30"],
            &["table", "merge", "-o", "whole.tvb", "other.tvb"],
            &["table", "merge", "-o", "both.tvb", "whole.tvb", "other.tvb"],
            &["table", "merge", "-o", "new.tvb", "missing.tvb"],
            &["table", "merge", "-o", "cut_copy.tvb", "cut.tvb"],
            &["calibrate", "--save", "whole.tvb", "--grid", "3", "-B", "31"],
            &["calibrate", "--save", "foreign", "--grid", "3", "-B", "31"],
        ],
    ));
    assert_eq!(scratch.read("foreign/notes.txt"), "mine");
    assert_eq!(scratch.read("good.csv"), GOOD);
}

#[test]
fn reports_and_explorers_that_cannot_be_made() {
    let scratch = with_data();
    scratch.ok(&["table", "build", "-o", "small.tvb", "--grid", "3", "-B", "30"]);
    fs::create_dir(scratch.path("folder")).expect("a folder can be made");
    insta::assert_snapshot!(report(
        &scratch,
        &[
            &["report", "small.tvb"],
            &["report", "missing.tvb", "-o", "r.html"],
            &["report", "good.csv", "-o", "r.html"],
            &["report", "small.tvb", "pi[3]", "-o", "r.html"],
            &["report", "small.tvb", "pi[1]", "--method", "tbv", "-o", "r.html"],
            &["report", "small.tvb", "-o", "no/such/r.html"],
            &["report", "small.tvb", "-o", "folder"],
            &["explore"],
            &["explore", "missing.tvb"],
            &["explore", "small.tvb", "good.csv"],
            &["explore", "small.tvb", "--port", "70000"],
            &["explore", "small.tvb", "--bind", "nowhere"],
        ],
    ));
    assert!(!scratch.path("r.html").exists());
}
