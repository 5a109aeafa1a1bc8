//! Runs the `trustvb` binary in a scratch folder, so that messages hold only relative paths.

#![allow(dead_code, reason = "each test binary uses its own share of the helpers")]

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// What a run printed and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    fn new(output: Output) -> Run {
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("not JSON ({e}): {}", self.stdout))
    }
}

/// A folder that is gone after the test.
pub(crate) struct Scratch(TempDir);

impl Scratch {
    pub(crate) fn new() -> Scratch {
        Scratch(tempfile::tempdir().expect("a scratch folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("a folder can be made");
        }
        fs::write(path, text).expect("a file can be written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file can be read")
    }

    /// Brings a fixture of the workspace here.
    pub(crate) fn take(&self, fixture: &str) {
        fs::copy(self::fixture(fixture), self.path(fixture)).expect("a fixture can be copied");
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trustvb"));
        command.args(args).current_dir(self.0.path()).env("COLUMNS", "100").stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        Run::new(self.command(args).output().expect("trustvb starts"))
    }

    /// Runs what must succeed.
    pub(crate) fn ok(&self, args: &[&str]) -> Run {
        let run = self.run(args);
        assert_eq!(run.code, Some(0), "trustvb {}: {}", args.join(" "), run.stderr);
        run
    }

    /// Runs with text on standard input.
    pub(crate) fn run_with_input(&self, args: &[&str], input: &[u8]) -> Run {
        let mut child = self.spawn_piped(args, Stdio::piped());
        let mut stdin = child.stdin.take().expect("standard input is a pipe");
        stdin.write_all(input).expect("trustvb reads its input");
        drop(stdin);
        Run::new(child.wait_with_output().expect("trustvb ends"))
    }

    /// The largest resident memory of a run that must succeed, in megabytes, as far as it was seen before its end.
    #[cfg(target_os = "linux")]
    pub(crate) fn peak_memory(&self, args: &[&str]) -> f64 {
        let mut child = self.command(args).stdout(Stdio::null()).spawn().expect("trustvb starts");
        let status = format!("/proc/{}/status", child.id());
        let mut peak = 0.0_f64;
        loop {
            let text = fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find(|line| line.starts_with("VmHWM"));
            let seen = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
            peak = peak.max(seen.unwrap_or(0.0) / 1024.0);
            if let Some(ended) = child.try_wait().expect("a child can be asked") {
                assert!(ended.success(), "trustvb {}: {ended}", args.join(" "));
                return peak;
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }

    /// Starts a run whose end is waited for elsewhere.
    pub(crate) fn spawn(&self, args: &[&str]) -> Child {
        self.spawn_piped(args, Stdio::null())
    }

    fn spawn_piped(&self, args: &[&str], stdin: Stdio) -> Child {
        self.command(args)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("trustvb starts")
    }
}

/// Runs a command of any folder and environment to its end.
pub(crate) fn output(mut command: Command) -> Run {
    Run::new(command.env("COLUMNS", "100").stdin(Stdio::null()).output().expect("it starts"))
}

/// Waits for a child and takes what it printed.
pub(crate) fn finish(child: Child) -> Run {
    Run::new(child.wait_with_output().expect("trustvb ends"))
}

/// A data file that the library's tests use too.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../trustvb/tests/fixtures").join(name)
}

/// Every file below a folder with its bytes, temporary files of killed runs left out.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(here) = folders.pop() {
        for entry in fs::read_dir(&here).expect("a folder can be listed") {
            let path = entry.expect("a folder can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_none_or(|e| e != "tmp") {
                let name = path.strip_prefix(folder).expect("it is below").display().to_string();
                found.insert(name, fs::read(&path).expect("a file can be read"));
            }
        }
    }
    found
}

/// Fails with the names of the files that differ, not with their bytes.
pub(crate) fn assert_same_files(a: &Path, b: &Path) {
    let (a, b) = (files(a), files(b));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    let different: Vec<&String> = a.keys().filter(|name| a[*name] != b[*name]).collect();
    assert!(different.is_empty(), "these files differ: {different:?}");
}

/// Finished parts of a table.
pub(crate) fn parts(table: &Path) -> usize {
    fs::read_dir(table.join("parts")).map_or(0, |entries| {
        entries
            .filter_map(Result::ok)
            .filter(|entry| entry.path().extension().is_some_and(|e| e == "parquet"))
            .count()
    })
}

/// The largest relative difference between numbers that answers are made of.
pub(crate) fn difference(one: &Value, two: &Value) -> f64 {
    let (one, two) = (&one["intervals"], &two["intervals"]);
    let (one, two) = (one.as_array().expect("intervals"), two.as_array().expect("intervals"));
    assert_eq!(one.len(), two.len());
    let mut largest = 0.0_f64;
    for (a, b) in one.iter().zip(two) {
        for name in ["functional", "method", "flags"] {
            assert_eq!(a[name], b[name]);
        }
        for name in ["omega", "estimate", "lower", "upper"] {
            if let (Some(a), Some(b)) = (a[name].as_f64(), b[name].as_f64()) {
                largest = largest.max((a - b).abs() / a.abs().max(b.abs()).max(1e-300));
            }
        }
    }
    largest
}
