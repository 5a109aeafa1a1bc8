//! The explorer's part of `cargo xtask bench`: how long answers take in the browser's eyes.

use crate::command::{cargo, output, run as run_command, target};
use serde_json::Value;
use std::process::Command;

/// Milliseconds that the medians must stay below.
const EXACT: f64 = 100.0;
const DRAWN: f64 = 1000.0;
/// Milliseconds that the first screen may take.
const FIRST: f64 = 500.0;

/// Measures, and returns a section for the results.
pub(crate) fn section() -> Result<String, String> {
    run_command(&mut cargo(&[
        "build",
        "--release",
        "--locked",
        "--package",
        "trustvb-report",
        "--example",
        "bench_explore",
    ]))?;
    println!("bench: the explorer");
    let measured = output(&mut Command::new(target().join("release/examples/bench_explore")))?;
    let text = table(&measured)?;
    println!("{text}");
    Ok(text)
}

fn table(measured: &str) -> Result<String, String> {
    let mut text = String::from(
        "\n## The explorer\n\nFrom question to answer with its figures, over HTTP, for the usual methods on the Old \
         Faithful table\n(500 ω × 501 fits × 2 designs).\n\n| what | measured |\n|:--|--:|\n",
    );
    for line in measured.lines() {
        let row: Value = serde_json::from_str(line).map_err(|why| format!("{why} in: {line}"))?;
        let what = row["what"].as_str().unwrap_or("?");
        let value = row["value"].as_f64().ok_or_else(|| format!("no number in {line}"))?;
        text.push_str(&format!("| {what} | {value:.0} {} |\n", row["unit"].as_str().unwrap_or("")));
        let limit = if what.contains("exact") { EXACT } else { DRAWN };
        let limit = if what.starts_with("the first screen") { FIRST } else { limit };
        if (what.contains("median of") || limit == FIRST) && value > limit {
            return Err(format!("{what}: {value:.0} ms, which is more than {limit} ms"));
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn slow_answers_are_an_error() {
        let row = |what: &str, value: f64| {
            format!("{{\"what\":\"{what}\",\"value\":{value},\"unit\":\"ms\"}}\n")
        };
        let exact = row("a new quantity with an exact law, median of 3", 41.3);
        assert!(table(&exact).unwrap().contains("| 41 ms |"));
        assert!(table(&row("a new quantity with an exact law, median of 3", 130.0)).is_err());
        assert!(table(&row("a new quantity with draws, median of 3", 130.0)).is_ok());
        assert!(table(&row("a new quantity with draws, median of 3", 1300.0)).is_err());
        assert!(table(&row("a new quantity with draws, the slowest", 1300.0)).is_ok());
        assert!(table(&row("the first screen, six quantities", 130.0)).is_ok());
        assert!(table(&row("the first screen, six quantities", 530.0)).is_err());
    }
}
