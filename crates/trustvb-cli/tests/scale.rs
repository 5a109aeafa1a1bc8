//! Long work in a folder that is shared: damage is named and mended, leftovers go, and two at work in the
//! same folder do not hurt each other. Builds that are killed or share a table are in `determinism.rs`.

mod common;

use common::{Scratch, assert_same_files, finish, parts};
use std::fs;
use std::time::{Duration, SystemTime};

const SMALL: [&str; 4] = ["--grid", "12", "-B", "50"];

fn build(scratch: &Scratch, name: &str) {
    scratch.ok(&[&["table", "build", "-o", name], &SMALL[..]].concat());
}

#[test]
fn a_truncated_part_is_named_refused_and_mended() {
    let scratch = Scratch::new();
    build(&scratch, "whole.tvb");
    build(&scratch, "cut.tvb");
    let part = scratch.path("cut.tvb/parts/full-00001.parquet");
    let bytes = fs::read(&part).expect("a part");
    scratch.ok(&["table", "info", "cut.tvb", "--complete"]);
    for length in [bytes.len() - 1, bytes.len() / 2, 4, 0] {
        fs::write(&part, &bytes[..length]).expect("a shorter part");
        let info = scratch.ok(&["table", "info", "cut.tvb"]).stdout;
        assert!(info.contains("in 5 of 6 parts"), "{info}");
        assert!(info.contains("missing: full replicates 20–39"), "{info}");
        assert!(info.contains("damaged: cut.tvb/parts/full-00001.parquet"), "{info}");
        let checked = scratch.run(&["table", "info", "cut.tvb", "--complete"]);
        assert_eq!(checked.code, Some(1));
        for words in
            ["cut.tvb is not complete: 1 of 6 parts", "full replicates 20–39", "full-00001"]
        {
            assert!(checked.stderr.contains(words), "{words:?} is not in {}", checked.stderr);
        }
        let asked = scratch.run(&["interval", "cut.tvb", "pi[1]"]);
        assert_eq!(asked.code, Some(1));
        for words in
            ["cut.tvb/parts/full-00001.parquet is damaged", "run `trustvb table build` again"]
        {
            assert!(asked.stderr.contains(words), "{words:?} is not in {}", asked.stderr);
        }
        build(&scratch, "cut.tvb");
        assert_same_files(&scratch.path("whole.tvb"), &scratch.path("cut.tvb"));
    }
}

#[test]
fn leftovers_of_killed_writers_do_not_pile_up() {
    let scratch = Scratch::new();
    build(&scratch, "table.tvb");
    let left =
        ["table.tvb/parts/.full-00001.parquet.7-0a.tmp", "table.tvb/.manifest.json.7-0b.tmp"];
    let fresh = "table.tvb/parts/.full-00002.parquet.8-0c.tmp";
    for name in left {
        scratch.write(name, "half a file");
        let file = fs::File::options().write(true).open(scratch.path(name)).expect("a file");
        file.set_modified(SystemTime::now() - Duration::from_secs(2 * 60 * 60)).expect("a time");
    }
    scratch.write(fresh, "somebody is writing this");
    build(&scratch, "table.tvb");
    assert!(left.iter().all(|name| !scratch.path(name).exists()));
    assert!(scratch.path(fresh).exists(), "it may be another builder's");
    assert!(scratch.ok(&["table", "info", "table.tvb"]).stdout.contains("in 6 of 6 parts"));
}

const STUDY: [&str; 9] =
    ["section3", "--only", "sep3/n=300", "--replications", "60", "-B", "20", "--grid", "9"];

#[test]
fn two_at_work_on_one_study_do_not_hurt_each_other() {
    let scratch = Scratch::new();
    let run =
        [&["study"], &STUDY[..], &["-o", "shared.study", "--quiet", "--threads", "1"]].concat();
    // Both begin with no folder, and make it.
    let running: Vec<_> = (0..2).map(|_| scratch.spawn(&run)).collect();
    for run in running.into_iter().map(finish) {
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    }
    assert_eq!(parts(&scratch.path("shared.study")), 6);
    scratch.ok(&[&["study"], &STUDY[..], &["-o", "one.study"]].concat());
    for name in ["manifest.json", "study.toml", "replications.parquet", "coverage.svg"] {
        let read = |folder: &str| fs::read(scratch.path(folder).join(name)).expect("a file");
        assert!(read("one.study") == read("shared.study"), "{name} differs");
    }
}

#[test]
fn a_study_says_what_is_missing() {
    let scratch = Scratch::new();
    let study = [&["study"], &STUDY[..], &["-o", "part.study"]].concat();
    scratch.ok(&[&study[..], &["--shard", "1/3"]].concat());
    let check = ["study", "part.study", "--so-far", "--complete"];
    let run = scratch.run(&check);
    assert_eq!(run.code, Some(1));
    let words = "part.study is not complete: 4 of 6 parts are missing (replications of sep3/n=300 11–30, 41–60)";
    assert!(run.stderr.contains(words), "{}", run.stderr);
    assert!(!scratch.path("part.study/summary.csv").exists());
    // A damaged part of another shard does not stop a shard.
    scratch.write("part.study/parts/000-00000.parquet", "PAR1");
    scratch.ok(&[&study[..], &["--shard", "2/3"]].concat());
    let run = scratch.run(&check);
    assert!(run.stderr.contains("damaged: part.study/parts/000-00000.parquet"), "{}", run.stderr);
    assert!(run.stderr.contains("3 of 6 parts"), "{}", run.stderr);
    scratch.ok(&[&study[..], &["--shard", "3/3"]].concat());
    scratch.ok(&[&study[..], &["--shard", "1/3", "--quiet"]].concat());
    fs::remove_file(scratch.path("part.study/summary.csv")).expect("the last shard wrote it");
    scratch.ok(&check);
    assert!(scratch.path("part.study/summary.csv").exists());
}
