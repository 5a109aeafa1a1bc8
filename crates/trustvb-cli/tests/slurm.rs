//! `trustvb slurm` without Slurm: the scripts it writes do their work under any name, and what makes no
//! sense is refused. `cluster/` has the same on a real Slurm.

mod common;

use common::{Run, Scratch, assert_same_files};
use std::fs;
use std::path::Path;
use std::process::Command;

const SMALL: [&str; 4] = ["--grid", "9", "-B", "50"];

/// A folder that every kind of quoting has to get right.
const ODD: &str = "it's \"odd\" #1 at 100% $HOME";

fn trustvb(folder: &Path, args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trustvb"));
    command.args(args).current_dir(folder);
    common::output(command)
}

fn ok(folder: &Path, args: &[&str]) -> String {
    let run = trustvb(folder, args);
    assert_eq!(run.code, Some(0), "trustvb {}: {}", args.join(" "), run.stderr);
    run.stdout
}

/// Runs a script as Slurm does: elsewhere, with the variables of a task.
fn script(path: &Path, task: u32) -> Run {
    let mut command = Command::new("bash");
    command
        .arg(path)
        .current_dir("/")
        .env("SLURM_ARRAY_TASK_ID", task.to_string())
        .env("SLURM_CPUS_PER_TASK", "1");
    common::output(command)
}

/// The tasks that a script asks for.
fn array(script: &Path) -> String {
    let text = fs::read_to_string(script).expect("a script");
    let line = text.lines().find_map(|line| line.strip_prefix("#SBATCH --array="));
    line.expect("an array").to_owned()
}

#[cfg(unix)]
#[test]
fn scripts_build_the_table_that_one_process_builds() {
    let scratch = Scratch::new();
    let folder = scratch.path(ODD);
    fs::create_dir(&folder).expect("a folder");
    fs::copy(common::fixture("bmlr_small.csv"), folder.join("-my data.csv")).expect("a copy");
    let own = ["--formula", "y ~ 0 + x1 + x2 | group", "--method", "vb,anchored,tvb"];
    let own = [&own[..], &SMALL, &["--", "-my data.csv"]].concat();
    ok(&folder, &[&["table", "build", "-o", "one.tvb"], &own[..]].concat());
    let arrange = [&["slurm", "table", "-o", "my table.tvb", "--shards", "4"], &own[..]].concat();
    let said = ok(&folder, &arrange);
    assert!(said.contains("'my table.tvb.slurm/array.sh'"), "{said}");
    let (tasks, finish) =
        (folder.join("my table.tvb.slurm/array.sh"), folder.join("my table.tvb.slurm/finish.sh"));
    assert_eq!(array(&tasks), "1-4");
    for task in [3, 1] {
        let run = script(&tasks, task);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    }
    let run = script(&finish, 0);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("my table.tvb is not complete: 3 of 6 parts"), "{}", run.stderr);
    assert!(run.stderr.contains("trustvb slurm table './-my data.csv' --output"), "{}", run.stderr);

    // Given again, only what is missing: a shard that was not run, and one with a damaged part.
    fs::write(folder.join("my table.tvb/parts/full-00000.parquet"), "PAR1").expect("a file");
    let said = ok(&folder, &arrange);
    assert!(said.contains("2 of 6 parts are there; an array of 3 tasks (1-2,4 of 4)"), "{said}");
    assert_eq!(array(&tasks), "1-2,4");
    for task in [1, 2, 4] {
        assert_eq!(script(&tasks, task).code, Some(0));
    }
    let run = script(&finish, 0);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert_same_files(&folder.join("one.tvb"), &folder.join("my table.tvb"));
    assert_eq!(ok(&folder, &arrange), "my table.tvb is complete: nothing to submit\n");
}

#[cfg(unix)]
#[test]
fn scripts_run_the_study_that_one_process_runs() {
    const STUDY: [&str; 9] =
        ["section3", "--only", "sep3/n=300", "--replications", "30", "-B", "20", "--grid", "5"];
    let scratch = Scratch::new();
    scratch.ok(&[&["study"], &STUDY[..], &["-o", "one.study"]].concat());
    let arrange = [&["slurm", "study", "-o", "array.study", "--shards", "3"], &STUDY[..]].concat();
    scratch.ok(&arrange);
    let (tasks, finish) =
        (scratch.path("array.study.slurm/array.sh"), scratch.path("array.study.slurm/finish.sh"));
    assert_eq!(script(&tasks, 2).code, Some(0));
    let run = script(&finish, 0);
    assert_eq!(run.code, Some(1));
    let words = "array.study is not complete: 2 of 3 parts are missing (replications of sep3/n=300 1–10, 21–30)";
    assert!(run.stderr.contains(words), "{}", run.stderr);
    scratch.ok(&arrange);
    assert_eq!(array(&tasks), "1,3");
    for task in [1, 3] {
        let run = script(&tasks, task);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    }
    assert_eq!(script(&finish, 0).code, Some(0));
    for name in ["replications.parquet", "coverage.svg"] {
        let read = |folder: &str| fs::read(scratch.path(folder).join(name)).expect("a file");
        assert!(read("one.study") == read("array.study"), "{name} differs");
    }
    let said = scratch.ok(&arrange).stdout;
    assert_eq!(said, "array.study is complete: nothing to submit\n");
}

#[test]
fn a_script_reads_well() {
    let scratch = Scratch::new();
    let slurm = ["--shards", "4", "--cpus", "2", "--time", "01:00:00", "--memory", "4G"];
    let more = ["--partition", "long", "--account", "stats", "--at-once", "2"];
    let site = ["--sbatch=--qos=low", "--setup", "module load gcc", "--command", "/opt/trustvb"];
    let table = ["slurm", "table", "-o", "faithful.tvb", "--grid", "9", "-B", "100"];
    let said = scratch.ok(&[&table[..], &slurm, &more, &site, &["--scripts", "jobs"]].concat());
    let here = fs::canonicalize(scratch.path("")).expect("a folder").display().to_string();
    let shown = format!(
        "{}\n---\n{}\n---\n{}",
        said.stdout,
        scratch.read("jobs/array.sh"),
        scratch.read("jobs/finish.sh")
    );
    insta::assert_snapshot!(shown.replace(&here, "[here]"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let scratch = Scratch::new();
    scratch.ok(&[&["table", "build", "-o", "other.tvb", "--seed", "2"], &SMALL[..]].concat());
    scratch.write("somebody/notes.txt", "mine");
    scratch.write("bad.csv", "x,y\n1,2\n3,abc\n");
    let table = ["slurm", "table", "-o", "new.tvb"];
    let cases: [(&[&str], i32, &[&str]); 17] = [
        (&["--shards", "0"], 2, &["`0` is not a whole number of at least 1"]),
        (&["--shards", "-3"], 2, &["`-3` is not a whole number"]),
        (&["--shards", "7"], 2, &["--shards 7: there are only 6 parts", "at most 6"]),
        (&["--shard", "1/2"], 2, &["--shard"]),
        (&["--threads", "4"], 2, &["--threads 4", "--cpus 4"]),
        (&["--time", "soon"], 2, &["`soon` is not a time limit", "01:30:00"]),
        (&["--memory", "lots"], 2, &["`lots` is not a size of memory", "4G"]),
        (&["--partition", "a b"], 2, &["--partition", "one word"]),
        (&["--cpus", "0"], 2, &["`0` is not a whole number"]),
        (&["--sbatch=--array=1-9"], 2, &["set --array themselves"]),
        (&["--setup", "a\nb"], 2, &["one line"]),
        (&["-"], 2, &["standard input", "a file that all nodes see"]),
        (&["two\nlines.csv"], 2, &["line breaks"]),
        (&["missing.csv"], 1, &["missing.csv: there is no such file"]),
        (&["bad.csv"], 1, &["abc"]),
        (&["--submit"], 1, &["sbatch is not here", "--submit"]),
        (&["--grid", "0"], 2, &["--grid"]),
    ];
    let nothing = scratch.path("nothing");
    fs::create_dir(&nothing).expect("a folder");
    for (more, code, fragments) in cases {
        let size: &[&str] = if more.contains(&"--grid") { &[] } else { &SMALL };
        let mut command = scratch.command(&[&table[..], size, more].concat());
        // No sbatch here, whatever is installed.
        command.env("PATH", &nothing);
        let run = common::output(command);
        assert_eq!(run.code, Some(code), "{more:?}: {}", run.stderr);
        for fragment in fragments {
            assert!(run.stderr.contains(fragment), "{more:?}: {fragment:?} not in {}", run.stderr);
        }
        assert!(!scratch.path("new.tvb.slurm").exists(), "{more:?} wrote scripts");
    }
    for (args, code, fragment) in [
        (&["slurm", "table", "-o", "other.tvb"][..], 1, "seed is 2, here it is 1"),
        (&["slurm", "table", "-o", "somebody"], 1, "notes.txt"),
        (&["slurm", "table", "-o", "."], 1, "it is not a table"),
        (&["slurm", "table"], 2, "--output"),
    ] {
        let run = scratch.run(&[args, &SMALL].concat());
        assert_eq!(run.code, Some(code), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(fragment), "{args:?}: {fragment:?} not in {}", run.stderr);
    }
    for (args, code, fragment) in [
        (&["slurm", "study"][..], 2, "give a study"),
        (&["slurm", "study", "nonsense"], 2, "there is no study nonsense"),
        (&["slurm", "study", "section3", "-o", "somebody"], 1, "notes.txt"),
        (&["study", "section3", "--complete"], 2, "--so-far"),
    ] {
        let run = scratch.run(args);
        assert_eq!(run.code, Some(code), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(fragment), "{args:?}: {fragment:?} not in {}", run.stderr);
    }
}
