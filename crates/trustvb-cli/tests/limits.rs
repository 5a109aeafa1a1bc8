//! Numbers too large for any machine, memory that is too small, and Ctrl-C at any moment: refused or heard, in words.

mod common;

use common::{Run, Scratch, finish};
use std::process::Command;
use std::time::Duration;

#[test]
fn numbers_that_no_machine_can_hold_are_refused() {
    let scratch = Scratch::new();
    let study = "title = 'x'\nreplications = 2\nbootstraps = 2\nmethods = ['vb']\nquantities = ['pi[1]']\n\
                 [[design]]\nname = 'a'\nsimulate = { model = 'gmm', n = 100000000000 }\n";
    scratch.write("huge.toml", study);
    scratch.write("many.toml", study.replace("replications = 2", "replications = 4000000000"));
    for (code, words, args) in [
        (2, "4294967295 bootstraps", &["calibrate", "-B", "4294967295"][..]),
        (2, "at most 100000", &["table", "build", "-o", "x.tvb", "--grid", "4294967296"]),
        (2, "at most 10000000", &["table", "build", "-o", "x.tvb", "-B", "2000000000"]),
        (1, "would need about", &["calibrate", "--tvb", "-B", "9000000", "--grid", "90000"]),
        (2, "--n: 10000000000 rows", &["simulate", "gmm", "--n", "10000000000"]),
        (2, "there can be 10000", &["simulate", "gmm", "-k", "1000000000"]),
        (2, "there can be", &["simulate", "gmm", "-p", "9000", "-k", "900"]),
        (2, "more than 1000000", &["calibrate", "pi[1]", "--draws", "100000000000"]),
        (1, "rows of 2 columns would need", &["study", "huge.toml", "-o", "huge.study"]),
        (1, "replications: 4000000000 is too many", &["study", "many.toml", "-o", "many.study"]),
    ] {
        let run = scratch.run(args);
        assert_eq!(run.code, Some(code), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(words), "{args:?}: {}", run.stderr);
    }
    assert!(!scratch.path("x.tvb").exists() && !scratch.path("huge.study").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_table_that_memory_cannot_hold_is_refused_before_it_is_read() {
    let scratch = Scratch::new();
    scratch.ok(&["simulate", "gmm", "--n", "100", "-p", "6", "-k", "4", "-o", "d.csv"]);
    let build = ["table", "build", "d.csv", "-k", "4", "-o", "a.tvb", "--grid", "100", "-B", "400"];
    // A grid for all bootstraps.
    let large = ["--tolerance", "1e-3", "-q", "--method", "vb,tvb,anchored"];
    scratch.ok(&[&build[..], &large].concat());
    let program = env!("CARGO_BIN_EXE_trustvb");
    let line = format!("ulimit -v 90000; exec {program} --threads 1 interval a.tvb 'pi[1]'");
    let output = Command::new("sh").args(["-c", &line]).current_dir(scratch.path("")).output();
    let output = output.expect("a shell is there");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("would need about") && said.contains("are free"), "{said}");
}

#[test]
fn a_full_standard_error_is_no_crash() {
    let scratch = Scratch::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let Ok(full) = full else { return };
    let status = scratch.command(&["fit", "nonexist"]).stderr(full).status().expect("it starts");
    assert_eq!(status.code(), Some(1));
}

#[test]
fn escape_sequences_in_names_do_not_reach_the_terminal() {
    let scratch = Scratch::new();
    scratch.write("odd.csv", "a\u{1b}[31m,\"b\nc\"\n1,2\n3,5\n2,2\n5,9\n4,4\n6,1\n");
    let shown = scratch.run(&["fit", "odd.csv", "-k", "1"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let refused = scratch.run(&["fit", "odd.csv", "--columns", "x\u{1b}[2J"]);
    for text in [&shown.stdout, &shown.stderr, &refused.stderr] {
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
    assert!(shown.stdout.contains("\\u{1b}[31m"), "{}", shown.stdout);
}

/// Sends Ctrl-C to a command that would run for hours, once it is at work.
#[cfg(unix)]
fn interrupted(scratch: &Scratch, args: &[&str]) -> Run {
    let child = scratch.spawn(args);
    std::thread::sleep(Duration::from_millis(700));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill is there").success(), "{args:?} had already ended");
    finish(child)
}

#[cfg(unix)]
#[test]
fn ctrl_c_is_heard_everywhere() {
    let scratch = Scratch::new();
    let hours = "1000000000";
    for (args, kept) in [
        (&["fit", "--starts", hours][..], "nothing was written"),
        (&["calibrate", "--starts", hours], "nothing is kept"),
        (&["calibrate", "--restarts", hours], "nothing is kept"),
        (&["table", "build", "-o", "a.tvb", "--restarts", hours], "what is done is in a.tvb"),
        (&["table", "plan", "--starts", hours], "nothing was written"),
        (&["simulate", "gmm", "--n", "50000000", "-o", "big.csv"], "nothing was written"),
    ] {
        let run = interrupted(&scratch, args);
        assert_eq!(run.code, Some(130), "{args:?}: {}", run.stderr);
        assert!(
            run.stderr.contains("interrupted; ") && run.stderr.contains(kept),
            "{}",
            run.stderr
        );
    }
    let build = ["table", "build", "-o", "b.tvb", "--grid", "100", "-B", "100", "-q"];
    scratch.ok(&build);
    let slow = ["interval", "b.tvb", "exp(mu[1,1])/pi[2]", "sd[1,1]*pi[1]", "--draws", "200000"];
    let run = interrupted(&scratch, &slow);
    assert_eq!(run.code, Some(130), "{}", run.stderr);
    let names = std::fs::read_dir(scratch.path("")).expect("a listing");
    let left: Vec<_> = names.filter_map(|e| Some(e.ok()?.file_name())).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().ends_with(".tmp")), "{left:?}");
}
