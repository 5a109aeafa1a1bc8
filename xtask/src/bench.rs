//! `cargo xtask bench`: fits against scikit-learn, then tables, sweeps, scaling and instructions.
//!
//! Python makes the data, lets both programs take turns and prints what it measured
//! (`benches/compare.py`); the rest is measured by the examples `bench_engine`, `bench_influence` and `bench_stream`. Here
//! the numbers become tables.

use crate::command::{cargo, output, python, root, run as run_command, target};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Largest difference between the means that both programs find, as a share of the mean or of its
/// column's standard deviation.
const AGREEMENT: f64 = 1e-5;

const NOTE: &str = "\
One fit from given centres to convergence, one thread each, same data, prior and start, ω = 1; medians over turns
taken alternately. trustvb stops at its default tolerance (relative change of the state 1e-10). scikit-learn's
`BayesianGaussianMixture` stops at `tol`, the largest power of ten that brings its means within 1e-6 of trustvb's
(relative to the mean, or to the column's standard deviation if that is larger).
A trustvb fit includes setting up the model from columns in memory; its sweeps include rejected accelerated ones.
";

/// Measures, prints the table, writes it to `benches/RESULTS.md`, and fails on disagreement.
pub(crate) fn run() -> Result<(), String> {
    let python = python("bench-venv", "benches/requirements.txt")?;
    run_command(&mut cargo(&[
        "build",
        "--release",
        "--locked",
        "--package",
        "trustvb",
        "--example",
        "bench_fit",
        "--example",
        "bench_engine",
        "--example",
        "bench_influence",
        "--example",
        "bench_stream",
    ]))?;
    let binary = target().join("release/examples/bench_fit");
    let mut compare = Command::new(&python);
    compare.arg("benches/compare.py").arg(&binary).arg(target().join("bench-data"));
    compare.current_dir(root());
    for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
        compare.env(variable, "1");
    }
    println!("bench: measuring; this takes a few minutes");
    let measured: Vec<Value> = output(&mut compare)?
        .lines()
        .map(|line| serde_json::from_str(line).map_err(|why| format!("{why} in: {line}")))
        .collect::<Result<_, _>>()?;
    let table = table(&measured)?;
    println!("{table}");
    let engine = engine()?;
    println!("{engine}");
    let engine = engine
        + &crate::bench_defaults::section(&python)?
        + &crate::bench_intervals::section()?
        + &crate::bench_plans::section()?
        + &crate::bench_explore::section()?
        + &crate::bench_classes::section()?;
    let versions = output(Command::new(&python).args([
        "-c",
        "import sklearn, numpy, sys; print(f'Python {sys.version.split()[0]}, scikit-learn {sklearn.__version__}, numpy {numpy.__version__}')",
    ]))?;
    let text = format!(
        "# Benchmarks\n\nWritten by `cargo xtask bench` on {}; {}; {}.\n\n{NOTE}\n{table}\n{engine}",
        machine(),
        output(Command::new("rustc").arg("--version"))?.trim(),
        versions.trim(),
    );
    let path = root().join("benches/RESULTS.md");
    fs::write(&path, text).map_err(|why| format!("cannot write {}: {why}", path.display()))?;
    for row in &measured {
        let disagreement = number(row, "disagreement")?;
        if disagreement.is_nan() || disagreement > AGREEMENT {
            return Err(format!(
                "the two programs disagree: means of {} with n = {} differ by {disagreement:e}, \
                 more than {AGREEMENT:e}",
                row["name"], row["n"]
            ));
        }
    }
    Ok(())
}

/// A Markdown table, ratios first.
fn table(rows: &[Value]) -> Result<String, String> {
    let mut text = String::from(
        "| times faster per fit | per sweep | data | n | p | K | trustvb fit | sweeps | scikit-learn fit | sweeps | tol | means differ by |\n\
         |--:|--:|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in rows {
        let (ours, our_sweeps) = (number(row, "trustvb_seconds")?, number(row, "trustvb_sweeps")?);
        let (theirs, their_sweeps) =
            (number(row, "sklearn_seconds")?, number(row, "sklearn_sweeps")?);
        let word = |name: &str| row[name].as_str().unwrap_or("?").to_owned();
        writeln!(
            text,
            "| {:.0} | {:.0} | {} | {} | {} | {} | {} | {our_sweeps} | {} | {their_sweeps} | {} | {:.0e} |",
            theirs / ours,
            (theirs / their_sweeps) / (ours / our_sweeps),
            word("name"),
            row["n"],
            row["p"],
            row["k"],
            duration(ours),
            duration(theirs),
            word("sklearn_tol"),
            number(row, "disagreement")?,
        )
        .map_err(|why| why.to_string())?;
    }
    Ok(text)
}

/// What `bench_engine` and `bench_stream` measure, and instruction counts of the former.
fn engine() -> Result<String, String> {
    let binary = target().join("release/examples/bench_engine");
    println!("bench: tables, sweeps, scaling and reading in pieces");
    let mut text = String::from("| what | measured |\n|:--|--:|\n");
    let example = |name: &str| target().join("release/examples").join(name);
    let influence = output(&mut Command::new(example("bench_influence")))?;
    let streamed = output(&mut Command::new(example("bench_stream")))?;
    let measured = output(&mut Command::new(&binary))?;
    for line in measured.lines().chain(influence.lines()).chain(streamed.lines()) {
        let row: Value = serde_json::from_str(line).map_err(|why| format!("{why} in: {line}"))?;
        let value = number(&row, "value")?;
        let digits = if value >= 1000.0 { 0 } else { 2 };
        let unit = row["unit"].as_str().unwrap_or("");
        let what = row["what"].as_str().unwrap_or("?");
        let measured = format!("{value:.digits$} {unit}");
        writeln!(text, "| {what} | {} |", measured.trim_end()).map_err(|why| why.to_string())?;
    }
    let seconds = default_calibrate()?;
    writeln!(text, "| the whole command `trustvb calibrate` | {} |", duration(seconds))
        .map_err(|why| why.to_string())?;
    for workload in ["fit", "table", "bmlr"] {
        let count = instructions(&binary, workload)?;
        writeln!(text, "| instructions of the fixed workload `{workload}` | {count} |")
            .map_err(|why| why.to_string())?;
    }
    text.push_str(
        "\nTimes are the best of a few runs. Instructions are counted by callgrind, which has no AVX-512, so \
         they are those of the AVX2 kernel; they do not depend on what else the machine does.\n",
    );
    Ok(text)
}

/// Seconds of the default `trustvb calibrate`, from process start to end; the best of five.
fn default_calibrate() -> Result<f64, String> {
    run_command(&mut cargo(&["build", "--release", "--locked", "--package", "trustvb-cli"]))?;
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let began = Instant::now();
        output(Command::new(target().join("release/trustvb")).args(["calibrate", "--quiet"]))?;
        least = least.min(began.elapsed().as_secs_f64());
    }
    Ok(least)
}

/// Instructions that callgrind counts for a workload, or why it cannot.
fn instructions(binary: &Path, workload: &str) -> Result<String, String> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return Ok("not counted: valgrind is not installed".to_owned());
    }
    let mut command = Command::new("valgrind");
    command
        .arg("--tool=callgrind")
        .arg(format!("--callgrind-out-file={}", target().join("callgrind.out").display()))
        .arg(binary)
        .arg(workload)
        .env("RAYON_NUM_THREADS", "1");
    let run = command.output().map_err(|why| format!("valgrind: {why}"))?;
    let messages = String::from_utf8_lossy(&run.stderr).into_owned();
    messages
        .lines()
        .find_map(|line| line.split_once("Collected : ").map(|(_, n)| n.trim().to_owned()))
        .ok_or_else(|| format!("valgrind counted nothing:\n{messages}"))
}

pub(crate) fn number(row: &Value, name: &str) -> Result<f64, String> {
    row[name].as_f64().ok_or_else(|| format!("no number {name} in {row}"))
}

/// Seconds in a unit that leaves two or three digits before the point.
pub(crate) fn duration(seconds: f64) -> String {
    if seconds < 1e-3 {
        format!("{:.0} µs", seconds * 1e6)
    } else if seconds < 1.0 {
        format!("{:.3} ms", seconds * 1e3)
    } else {
        format!("{seconds:.2} s")
    }
}

/// The processor and its number of cores, as far as the system tells.
pub(crate) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let information = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = information
        .lines()
        .find_map(|line| {
            line.strip_prefix("model name")?.split_once(':').map(|(_, name)| name.trim())
        })
        .unwrap_or(std::env::consts::ARCH);
    format!("{model}, {cores} cores")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ratios_come_first() {
        let row = json!({
            "name": "Old Faithful", "n": 272, "p": 2, "k": 2,
            "trustvb_seconds": 1e-4, "trustvb_sweeps": 10,
            "sklearn_seconds": 0.05, "sklearn_sweeps": 50,
            "sklearn_tol": "1e-9", "disagreement": 3e-7,
        });
        let text = table(&[row]).unwrap();
        let expected = "| 500 | 100 | Old Faithful | 272 | 2 | 2 | 100 µs | 10 | 50.000 ms | 50 | 1e-9 | 3e-7 |";
        assert_eq!(text.lines().nth(2), Some(expected));
        assert!(table(&[json!({})]).is_err());
    }
}
