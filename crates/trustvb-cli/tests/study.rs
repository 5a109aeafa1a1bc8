//! `trustvb study` and `trustvb simulate`: same seed, same file, whatever happens in between.

mod common;

use common::{Run, Scratch, finish, parts};
use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

/// Every method, an exact and a drawn quantity, two designs, more than one part in each cell.
const TINY: &str = r#"
title = "tiny"
replications = 13
bootstraps = 20
grid = 7
draws = 20
starts = 2
methods = ["vb", "tvb", "tvb-fresh", "tvb-sequential", "gpc", "anchored", "analytic", "bootstrap"]
quantities = ["pi[1]"]

[[design]]
name = "apart"
title = "far apart"
quantities = ["pi[1]", "mu[2,1] - mu[1,1]"]
simulate = { model = "gmm", n = [40, 60], separation = 4.0 }

[[design]]
name = "lines"
fit = { known_noise = 1.0 }
simulate = { model = "bmlr", groups = 30, rows = 4, coefficients = [[2.0, 0.0], [-1.0, 1.0]], snr = 2.0 }
"#;

fn tiny() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("tiny.toml", TINY);
    scratch
}

fn study(scratch: &Scratch, folder: &str, more: &[&str]) -> Run {
    let mut args = vec!["study", "tiny.toml", "-o", folder];
    args.extend(more);
    scratch.ok(&args)
}

fn replications(scratch: &Scratch, folder: &str) -> Vec<u8> {
    fs::read(scratch.path(folder).join("replications.parquet")).expect("a study has replications")
}

#[test]
fn the_same_seed_gives_the_same_file() {
    let scratch = tiny();
    study(&scratch, "one.study", &["--threads", "1"]);
    let one = replications(&scratch, "one.study");
    study(&scratch, "two.study", &["--threads", "2"]);
    assert!(one == replications(&scratch, "two.study"), "2 threads differ from 1");
    study(&scratch, "other.study", &["--seed", "2"]);
    assert!(one != replications(&scratch, "other.study"), "another seed gives the same");
    // Shards elsewhere and merged, or in one folder that is then completed.
    for shard in ["1/3", "2/3", "3/3"] {
        let folder = format!("shard-{}.study", &shard[..1]);
        study(&scratch, &folder, &["--shard", shard]);
        assert!(!scratch.path(&folder).join("replications.parquet").exists());
    }
    let merge = ["study", "merge", "-o", "merged.study"];
    let sources = ["shard-3.study", "shard-1.study", "shard-2.study"];
    scratch.ok(&[&merge[..], &sources[..]].concat());
    assert!(one == replications(&scratch, "merged.study"), "merged shards differ");
    study(&scratch, "shard-2.study", &[]);
    assert!(one == replications(&scratch, "shard-2.study"), "a completed shard differs");
    // A damaged part is made anew.
    let part = scratch.path("two.study/parts/001-00001.parquet");
    let bytes = fs::read(&part).expect("a part can be read");
    fs::write(&part, &bytes[..bytes.len() / 2]).expect("a part can be written");
    fs::remove_file(scratch.path("two.study/replications.parquet")).expect("a file can go");
    study(&scratch, "two.study", &[]);
    assert!(one == replications(&scratch, "two.study"), "a part made anew differs");
    for (figure, title) in [
        ("coverage", "How often 95% intervals hold the truth: tiny"),
        ("length", "How long 95% intervals are: tiny"),
        ("omega", "The ω chosen for 95% intervals: tiny"),
    ] {
        let svg = scratch.read(&format!("one.study/{figure}.svg"));
        assert!(svg.contains(title), "{figure}");
        assert!(svg.contains("far apart: pi[1]") && svg.contains("lines: pi[1]"), "{figure}");
        assert!(scratch.path(&format!("one.study/{figure}.png")).exists());
    }
}

#[test]
fn several_levels_have_curves_and_ranks() {
    let scratch = tiny();
    let asked = ["--method", "vb,bootstrap", "--level", "0.95,0.5,0.9", "--only", "apart"];
    let run = study(&scratch, "levels.study", &[&asked[..], &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let ranks = json["ranks"].as_array().expect("ranks");
    assert_eq!(ranks.len(), 2 * 2 * 2, "cells, quantities, methods");
    // 95% would make bins of 2.5%, which is too narrow for a histogram.
    assert_eq!(ranks[0]["edges"], serde_json::json!([0.0, 0.05, 0.25, 0.75, 0.95, 1.0]));
    let count = |r: &serde_json::Value| -> u64 {
        r["counts"].as_array().expect("counts").iter().filter_map(|c| c.as_u64()).sum()
    };
    assert!(ranks.iter().all(|r| count(r) == 13), "{ranks:?}");
    for (figure, title) in [
        ("levels", "How often intervals hold the truth, at every level: tiny"),
        ("ranks", "Where the truth falls among the limits: tiny"),
    ] {
        let svg = scratch.read(&format!("levels.study/{figure}.svg"));
        assert!(svg.contains(title) && svg.contains("far apart, n = 40: pi[1]"), "{figure}");
        assert!(scratch.path(&format!("levels.study/{figure}.png")).exists());
    }
    study(&scratch, "one.study", &["--method", "vb", "--only", "lines"]);
    assert!(!scratch.path("one.study/levels.svg").exists(), "one level has no curve");
}

/// Waits until a study has a part more, or has ended.
fn wait_for_growth(scratch: &Scratch, folder: &str, before: usize, running: &mut Child) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        if running.try_wait().expect("a child can be asked").is_some() {
            return false;
        }
        if parts(&scratch.path(folder)) > before {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    panic!("{folder} did not grow in a minute");
}

const LONG: [&str; 6] = ["--replications", "90", "--method", "vb,anchored", "--threads", "1"];

fn start(scratch: &Scratch, folder: &str) -> Child {
    let mut args = vec!["study", "tiny.toml", "-o", folder];
    args.extend(LONG);
    scratch.spawn(&args)
}

#[test]
fn a_killed_study_resumes_to_the_same_file() {
    let scratch = tiny();
    study(&scratch, "whole.study", &LONG);
    let all = parts(&scratch.path("whole.study"));
    let mut kills = 0;
    for wait in [0, 5] {
        let before = parts(&scratch.path("killed.study"));
        let mut running = start(&scratch, "killed.study");
        if wait_for_growth(&scratch, "killed.study", before, &mut running) {
            std::thread::sleep(Duration::from_millis(wait));
            running.kill().expect("a child can be killed");
            kills += usize::from(running.wait().expect("a child ends").code().is_none());
        }
    }
    let left = parts(&scratch.path("killed.study"));
    assert!(kills == 2 && left < all, "{kills} kills, {left} of {all} parts: too fast to test");
    // What a study that was killed while writing leaves behind.
    scratch.write("killed.study/parts/.000-00003.parquet.123.tmp", "half a part");
    let so_far = scratch.ok(&["study", "killed.study", "--so-far", "--format", "json"]).json();
    assert!(so_far["replications_done"].as_u64() < so_far["replications_expected"].as_u64());
    study(&scratch, "killed.study", &LONG);
    let (whole, killed) =
        (replications(&scratch, "whole.study"), replications(&scratch, "killed.study"));
    assert!(whole == killed, "a resumed study differs");
}

#[cfg(unix)]
#[test]
fn an_interrupted_study_says_how_to_go_on() {
    let scratch = tiny();
    let mut running = start(&scratch, "stopped.study");
    assert!(wait_for_growth(&scratch, "stopped.study", 0, &mut running));
    let killed = std::process::Command::new("kill")
        .args(["-INT", &running.id().to_string()])
        .status()
        .expect("kill is there");
    assert!(killed.success());
    let run = finish(running);
    assert_eq!(run.code, Some(130));
    let words = "in stopped.study, and the same command goes on from there";
    assert!(run.stderr.contains("interrupted; ") && run.stderr.contains(words), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1);
}

/// A replication of a study is what a user gets from the same data with the same seed.
#[test]
fn a_simulated_data_set_gives_the_interval_of_the_study() {
    let scratch = tiny();
    let methods = ["--method", "vb,tvb,gpc,anchored,analytic,tvb-sequential,bootstrap"];
    let summary = |n: &str| {
        let folder = format!("{n}.study");
        let more = ["--only", "apart/n=60", "--quantity", "pi[1]", "--replications", n];
        let all = [&more[..], &methods[..], &["--format", "json"]].concat();
        study(&scratch, &folder, &all).json()
    };
    let (one, two) = (summary("1"), summary("2"));
    let simulate = ["simulate", "study", "2.study", "apart/n=60"];
    scratch.ok(&[&simulate[..], &["--replication", "2", "-o", "data.csv"]].concat());
    let truth: serde_json::Value =
        serde_json::from_str(&scratch.read("data.truth.json")).expect("JSON");
    assert_eq!(truth["truth"]["pi"][0], 0.65);
    assert_eq!(truth["truth"]["mu"][1][0], 4.0);
    let seed = truth["calibration_seed"].to_string();
    let settings = ["--grid", "7", "-B", "20", "--draws", "20", "--starts", "2", "--seed", &seed];
    let ask = ["calibrate", "data.csv", "pi[1]", "--format", "json"];
    let answers = scratch.ok(&[&ask[..], &settings[..], &methods[..]].concat()).json();
    // The same data again, from the seed in the truth file alone.
    let seed = truth["seed"].to_string();
    let again = ["simulate", "gmm", "--n", "60", "--separation", "4", "--replication", "2"];
    let csv = scratch.ok(&[&again[..], &["--seed", &seed]].concat()).stdout;
    assert_eq!(csv, scratch.read("data.csv"));
    // The second length is twice the mean of both, less the first.
    for answer in answers["intervals"].as_array().expect("intervals") {
        let find = |json: &serde_json::Value| {
            let rows = json["summary"].as_array().expect("rows").clone();
            let own = rows.into_iter().find(|row| row["method"] == answer["method"]);
            own.expect("the method is there")["mean_length"].as_f64().expect("a length")
        };
        let second = 2.0 * find(&two) - find(&one);
        let end = |name: &str| answer[name].as_f64().expect("a limit");
        let length = end("upper") - end("lower");
        assert!((length - second).abs() < 1e-12, "{}: {length} {second}", answer["method"]);
    }
}

#[test]
fn simulated_files_read_back() {
    let scratch = Scratch::new();
    let gmm = ["simulate", "gmm", "--preset", "paper-gmm", "--n", "50"];
    scratch.ok(&[&gmm[..], &["-o", "a.csv"]].concat());
    scratch.ok(&[&gmm[..], &["-o", "b.parquet"]].concat());
    let fit = |file: &str| scratch.ok(&["fit", file, "--format", "json"]).stdout;
    assert_eq!(fit("a.csv").replace("a.csv", ""), fit("b.parquet").replace("b.parquet", ""));
    let bmlr = ["simulate", "bmlr", "--groups", "30", "--rows", "6", "--coefficients", "-1,2;1,0"];
    scratch.ok(&[&bmlr[..], &["--noise-sd", "0.3", "-o", "groups.csv"]].concat());
    let truth: serde_json::Value =
        serde_json::from_str(&scratch.read("groups.truth.json")).expect("JSON");
    let formula = truth["formula"].as_str().expect("a formula");
    assert_eq!(truth["truth"]["beta"][0][1], 2.0);
    let fitted =
        scratch.ok(&["fit", "groups.csv", "--formula", formula, "--format", "json"]).json();
    let beta = fitted["blocks"]["beta"][0]["m"][1].as_f64().expect("a coefficient");
    assert!((beta - 2.0).abs() < 0.2, "{beta}");
}

#[test]
fn mistakes_are_told_with_a_remedy() {
    let scratch = tiny();
    scratch.write("wrong.toml", TINY.replace("grid = 7", "gird = 7"));
    scratch.write("somebody/notes.txt", "mine");
    let cases: [(&[&str], i32, &[&str]); 13] = [
        (&["study", "paper"], 2, &["no study paper", "paper-gmm"]),
        (&["study", "wrong.toml"], 1, &["wrong.toml", "line 5", "gird", "`grid`"]),
        (&["study", "tiny.toml", "--only", "near"], 2, &["near", "apart/n=40"]),
        (&["study", "tiny.toml", "--method", "magic"], 2, &["magic", "tvb-fresh"]),
        (&["study", "tiny.toml", "--quantity", "mu[3,1]"], 1, &["cell apart/n=40", "mu[3,1]"]),
        (&["study", "tiny.toml", "--scale", "0"], 2, &["scale"]),
        (&["study", "tiny.toml", "--shard", "4/3"], 2, &["4/3"]),
        (
            &["study", "tiny.toml", "-o", "somebody"],
            1,
            &["somebody", "notes.txt", "another folder"],
        ),
        (&["study", "somebody"], 1, &["somebody is not the folder of a study"]),
        (&["simulate", "gmm", "--df", "1"], 2, &["--df", "more than 2"]),
        (&["simulate", "gmm", "--skew", "0"], 2, &["--skew", "between 0.01 and 10"]),
        (&["simulate", "bmlr"], 2, &["--coefficients", "a row per component"]),
        (&["simulate", "study", "tiny.toml", "apart"], 2, &["apart", "apart/n=40"]),
    ];
    for (args, code, fragments) in cases {
        let run = scratch.run(args);
        assert_eq!(run.code, Some(code), "{args:?}: {}", run.stderr);
        for fragment in fragments {
            assert!(
                run.stderr.contains(fragment),
                "{args:?}: {fragment:?} not in {:?}",
                run.stderr
            );
        }
    }
    study(&scratch, "taken.study", &["--replications", "1", "--method", "vb"]);
    let run = scratch.run(&["study", "tiny.toml", "-o", "taken.study", "--method", "vb"]);
    assert_eq!(run.code, Some(1));
    let words = "its study.replications is 1, here it is 13";
    assert!(run.stderr.contains(words), "{}", run.stderr);
}

#[test]
fn halves_and_flags_are_shown() {
    let scratch = tiny();
    study(&scratch, "all.study", &["--replications", "3", "--method", "vb,bootstrap"]);
    let shown = |more: &[&str]| {
        scratch.ok(&[&["study", "all.study", "--so-far"][..], more].concat()).stdout
    };
    let cells = |half: &str| -> Vec<String> {
        let text = shown(&["--half", half, "--format", "json"]);
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let rows = json["summary"].as_array().expect("rows").iter();
        let mut cells: Vec<String> = rows.map(|row| row["cell"].to_string()).collect();
        cells.dedup();
        cells
    };
    let (choose, judge) = (cells("choose"), cells("judge"));
    assert_eq!(choose.len() + judge.len(), 3, "{choose:?} {judge:?}");
    assert!(choose.iter().all(|cell| !judge.contains(cell)));
    // 20 bootstraps are few, and only those who use them say so.
    let table = shown(&["--flags=bootstrap"]);
    let (_, flags) = table.split_once("Flags over all cells").expect("a table of flags");
    assert!(flags.contains("bootstrap, 95% intervals") && !flags.contains("vb, 95%"), "{flags}");
    assert!(flags.contains("few-bootstraps"), "{flags}");
    let csv = shown(&["--flags", "--format", "csv"]);
    assert!(csv.starts_with("method,level,flag,with,without,"), "{csv}");
    let refused = scratch.run(&["study", "all.study", "--so-far", "--flags=magic"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
}

#[test]
fn what_is_shown_can_be_run() {
    let scratch = tiny();
    let shown = scratch.ok(&["study", "tiny.toml", "--scale", "0.2", "--show"]).stdout;
    scratch.write("shown.toml", &shown);
    assert_eq!(scratch.ok(&["study", "shown.toml", "--show"]).stdout, shown);
    assert!(shown.contains("replications = 3\n"), "{shown}");
    let list = scratch.ok(&["study"]).stdout;
    for name in
        ["paper-gmm", "paper-bmlr", "paper-supplement", "section3", "hard", "noise", "broad"]
    {
        assert!(list.contains(name), "{list}");
    }
}
