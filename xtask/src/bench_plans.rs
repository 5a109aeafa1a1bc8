//! The part of `cargo xtask bench` on plans: what `trustvb table plan` says beforehand against what a table then costs.

use crate::bench::number;
use crate::command::{cargo, emptied, output, root, run as run_command, target};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The heading of the section in the results.
const HEADING: &str = "\n## Plans\n";

/// How far a plan may be off, either way.
const FACTOR: f64 = 2.0;

/// A table: what it is called, the data's `trustvb simulate`, and the words of `table plan` and `table build`.
type Setting = (&'static str, &'static [&'static str], &'static [&'static str]);

const SETTINGS: [Setting; 10] = [
    ("Old Faithful as it comes", &[], &[]),
    (
        "gmm, n 300, p 1, K 2",
        &["gmm", "--n", "300", "-p", "1", "--separation", "3"],
        &["-B", "1000", "--grid", "100"],
    ),
    ("gmm, n 1000, p 2, K 2, overlapping", &["gmm", "--n", "1000"], &["-B", "200", "--grid", "50"]),
    (
        "gmm, n 2000, p 5, K 3",
        &["gmm", "--n", "2000", "-p", "5", "-k", "3", "--separation", "3"],
        &["-k", "3", "-B", "200", "--grid", "20"],
    ),
    (
        "gmm, n 10,000, p 10, K 3, at ω = 1",
        &["gmm", "--n", "10000", "-p", "10", "-k", "3", "--separation", "2"],
        &["-k", "3", "-B", "300", "--method", "recommended"],
    ),
    (
        "gmm, n 20,000, p 20, K 5, at ω = 1",
        &["gmm", "--n", "20000", "-p", "20", "-k", "5", "--separation", "2"],
        &["-k", "5", "-B", "50", "--method", "recommended"],
    ),
    (
        "gmm, n 100,000, p 3, K 3, at ω = 1",
        &["gmm", "--n", "100000", "-p", "3", "-k", "3", "--separation", "3"],
        &["-k", "3", "-B", "100", "--method", "recommended"],
    ),
    (
        "bmlr, 500 groups of 20 rows, p 2",
        &["bmlr", "--groups", "500", "--rows", "20", "--coefficients", "1,-1;0,2"],
        &["--formula", "y ~ 0 + x1 + x2 | group", "-B", "200", "--grid", "50"],
    ),
    (
        "bmlr, 1000 groups of 100 rows, p 5, at ω = 1",
        &["bmlr", "--groups", "1000", "--rows", "100", "--coefficients", "1,-1,0,2,1;0,2,1,-1,0"],
        &[
            "--formula",
            "y ~ 0 + x1 + x2 + x3 + x4 + x5 | group",
            "-B",
            "500",
            "--method",
            "recommended",
        ],
    ),
    (
        "mixture, n 2000, 8 items",
        &["mixture", "--n", "2000", "--items", "8"],
        &["--model", "mixture", "-B", "100", "--grid", "20"],
    ),
];

const NOTE: &str = "
`trustvb table plan` (a trial of about two seconds) against `trustvb table build` of the same table, the whole process
with reading and writing, on all cores. Memory is the largest resident set (VmHWM) of the process.

";

/// Measures that section alone and puts it in the place of the one in `benches/RESULTS.md`.
pub(crate) fn run() -> Result<(), String> {
    let section = section()?;
    let path = root().join("benches/RESULTS.md");
    let text = fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    fs::write(&path, crate::bench_classes::replaced(&text, HEADING, &section))
        .map_err(|why| format!("cannot write {}: {why}", path.display()))
}

/// Measures, and returns a section for the results.
pub(crate) fn section() -> Result<String, String> {
    run_command(&mut cargo(&["build", "--release", "--locked", "--package", "trustvb-cli"]))?;
    println!("bench: plans of tables");
    let folder = target().join("bench-plans");
    emptied(&folder)?;
    let mut text = format!(
        "{HEADING}{NOTE}\
         | table | planned time | measured | planned memory | measured |\n|:--|--:|--:|--:|--:|\n"
    );
    let mut off = 0;
    for (name, data, words) in SETTINGS {
        let row = measured(&folder, data, words)?;
        off += [row.seconds, row.bytes].iter().filter(|pair| !is_near(**pair)).count();
        let line = row.line(name);
        println!("{}", line.trim_end());
        text.push_str(&line);
    }
    let count = 2 * SETTINGS.len();
    writeln!(text, "\nWithin a factor of {FACTOR}: {} of {count} numbers.", count - off)
        .map_err(|why| why.to_string())?;
    Ok(text)
}

/// Planned and measured.
type Pair = (f64, f64);

struct Row {
    seconds: Pair,
    bytes: Pair,
}

impl Row {
    fn line(&self, name: &str) -> String {
        let mark = |pair| if is_near(pair) { "" } else { " (!)" };
        let (time, memory) = (self.seconds, self.bytes);
        format!(
            "| {name} | {:.2} s | {:.2} s{} | {:.0} MB | {:.0} MB{} |\n",
            time.0,
            time.1,
            mark(time),
            memory.0 / 1e6,
            memory.1 / 1e6,
            mark(memory)
        )
    }
}

fn is_near((planned, measured): Pair) -> bool {
    (measured / FACTOR..=measured * FACTOR).contains(&planned)
}

fn measured(folder: &Path, data: &[&str], words: &[&str]) -> Result<Row, String> {
    let program = target().join("release/trustvb");
    let trustvb = |words: &[&str]| {
        let mut command = Command::new(&program);
        command.args(words).current_dir(folder);
        command
    };
    let mut content: Vec<&str> = Vec::new();
    if !data.is_empty() {
        run_command(&mut trustvb(&[&["simulate"], data, &["-o", "data.csv"]].concat()))?;
        content.push("data.csv");
    }
    content.extend(words);
    let plan = [&["table", "plan"], &content[..], &["--format", "json", "-q"]].concat();
    let plan = output(&mut trustvb(&plan))?;
    let plan: Value = serde_json::from_str(&plan).map_err(|why| format!("{why} in: {plan}"))?;
    let table = folder.join("table.tvb");
    if table.exists() {
        fs::remove_dir_all(&table).map_err(|why| format!("{}: {why}", table.display()))?;
    }
    let build = [&["table", "build"], &content[..], &["-o", "table.tvb", "-q"]].concat();
    let (seconds, bytes) = watched(&mut trustvb(&build))?;
    Ok(Row {
        seconds: (number(&plan, "seconds")?, seconds),
        bytes: (number(&plan, "memory_bytes")?, bytes),
    })
}

/// Seconds and largest resident set of a command.
fn watched(command: &mut Command) -> Result<Pair, String> {
    let began = Instant::now();
    let mut child = command
        .stdout(Stdio::null())
        .spawn()
        .map_err(|why| format!("cannot run {command:?}: {why}"))?;
    let status = format!("/proc/{}/status", child.id());
    let mut most = f64::NAN;
    loop {
        most = resident(&fs::read_to_string(&status).unwrap_or_default()).unwrap_or(most);
        match child.try_wait().map_err(|why| why.to_string())? {
            Some(ended) if ended.success() => return Ok((began.elapsed().as_secs_f64(), most)),
            Some(ended) => return Err(format!("{ended} from {command:?}")),
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

/// The largest resident set that `/proc` tells of, in bytes.
fn resident(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<f64>().ok().map(|kilobytes| 1024.0 * kilobytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_off_is_marked() {
        let row = Row { seconds: (1.0, 1.9), bytes: (10e6, 21e6) };
        assert_eq!(row.line("x"), "| x | 1.00 s | 1.90 s | 10 MB | 21 MB (!) |\n");
        assert!(is_near((2.0, 1.0)) && !is_near((2.1, 1.0)) && !is_near((1.0, f64::NAN)));
    }

    #[test]
    fn the_largest_resident_set_is_read() {
        assert_eq!(resident("VmPeak:\t 9 kB\nVmHWM:\t  2048 kB\nVmRSS:\t 1 kB\n"), Some(2097152.0));
        assert_eq!(resident(""), None);
    }
}
