//! The part of `cargo xtask bench` that lets every program use its defaults, and tells what the race of starts is worth.

use crate::bench::{duration, machine, number};
use crate::command::{cargo, output, python, root, run, target};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

const HEADING: &str = "\n## Defaults against defaults";

/// What follows these sections.
const NEXT: &str = "\n## The explorer";

const NOTE: &str = "\
Fits with default settings, starts included, all cores: trustvb with its ten starts that race, scikit-learn's
`BayesianGaussianMixture` and `GaussianMixture` with one k-means start each. Nobody is told when to stop: scikit-learn
stops at a bound change of 1e-3 or after 100 sweeps (marked *), trustvb at a relative change of the state of 1e-10. Medians of
three turns taken alternately; what takes long is measured once. The last three columns are the log likelihood per row at
the parameters held, of the rows that were fitted. At the true K a lower one is a worse optimum or a stronger prior; with few
rows or K + 2 a higher one may be overfitting, which EM is not charged for.
";

const RACE_NOTE: &str = "\
The race of starts against ten starts that each run to convergence, over simulated data sets with n from 200 to 20,000,
p from 1 to 20, K from 2 to 10, near and apart. Same: bounds within 0.01. The race's constants were chosen on these same data
sets, so its shares are flattered; fresh ones have not been looked at. It uses all threads, ten full starts only within a
sweep of many rows: part of the ratio is that.
";

/// Measures these sections alone, and puts them where they belong in `benches/RESULTS.md`.
pub(crate) fn again() -> Result<(), String> {
    let python = python("bench-venv", "benches/requirements.txt")?;
    let path = root().join("benches/RESULTS.md");
    let told = |why: std::io::Error| format!("{}: {why}", path.display());
    let text = replaced(&fs::read_to_string(&path).map_err(told)?, &section(&python)?)?;
    fs::write(&path, text).map_err(told)
}

/// `text` with the section `new` in the place of the old one, or before the section that follows it.
fn replaced(text: &str, new: &str) -> Result<String, String> {
    let end =
        text.find(NEXT).ok_or_else(|| format!("benches/RESULTS.md has no section {NEXT:?}"))?;
    let begin = text.find(HEADING).filter(|begin| *begin < end).unwrap_or(end);
    Ok(format!("{}{new}{}", &text[..begin], &text[end..]))
}

/// Two tables under headings of their own.
pub(crate) fn section(python: &Path) -> Result<String, String> {
    run(&mut cargo(&[
        "build",
        "--release",
        "--locked",
        "--package",
        "trustvb",
        "--example",
        "bench_defaults",
        "--example",
        "bench_starts",
    ]))?;
    println!("bench: defaults against defaults");
    let mut compare = Command::new(python);
    compare.arg("benches/defaults.py").arg(target().join("release/examples/bench_defaults"));
    compare.arg(target().join("bench-data")).current_dir(root());
    let rows = lines(&output(&mut compare)?)?;
    println!("bench: the race of starts");
    let races = output(&mut Command::new(target().join("release/examples/bench_starts")))?;
    let text = format!(
        "{HEADING}\n\n{NOTE}On {}; the machine did other work beside it, so read ratios.\n\n{}\n## Starts\n\n{RACE_NOTE}\n{}",
        machine(),
        defaults(&rows)?,
        race(&lines(&races)?)?
    );
    println!("{text}");
    Ok(text)
}

fn lines(text: &str) -> Result<Vec<Value>, String> {
    text.lines()
        .map(|line| serde_json::from_str(line).map_err(|why| format!("{why} in: {line}")))
        .collect()
}

fn defaults(rows: &[Value]) -> Result<String, String> {
    let mut text = String::from(
        "| times faster than Bayesian | than EM | n | p | true K | asked | trustvb | Bayesian | EM | fit: trustvb | Bayesian | EM |\n\
         |--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in rows {
        let seconds = |name: &str| number(row, &format!("{name}_seconds"));
        let (ours, bayesian, em) = (seconds("trustvb")?, seconds("bayesian")?, seconds("em")?);
        let mark = |name: &str| {
            if row[format!("{name}_converged")] == Value::Bool(false) { "*" } else { "" }
        };
        writeln!(
            text,
            "| {:.1} | {:.1} | {} | {} | {} | {} | {} | {}{} | {}{} | {:.4} | {:.4} | {:.4} |",
            bayesian / ours,
            em / ours,
            row["n"],
            row["p"],
            row["k"],
            row["asked"],
            duration(ours),
            duration(bayesian),
            mark("bayesian"),
            duration(em),
            mark("em"),
            number(row, "trustvb_fit")?,
            number(row, "bayesian_fit")?,
            number(row, "em_fit")?,
        )
        .map_err(|why| why.to_string())?;
    }
    Ok(text)
}

fn race(rows: &[Value]) -> Result<String, String> {
    let mut text = String::from(
        "| data sets | | same | above | by over 10 | below | by over 10 | at the limit of sweeps | ten full: at the limit | time, of all | ratio | median ratio |\n\
         |:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in rows {
        let percent = |name: &str| number(row, name).map(|x| format!("{:.0}%", 100.0 * x));
        let (ours, full) = (number(row, "seconds")?, number(row, "full_seconds")?);
        writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1} | {:.1} |",
            row["group"].as_str().unwrap_or("?"),
            row["sets"],
            percent("same")?,
            percent("above")?,
            percent("above_by_10")?,
            percent("below")?,
            percent("below_by_10")?,
            percent("unconverged")?,
            percent("full_unconverged")?,
            duration(ours),
            full / ours,
            number(row, "median_ratio")?,
        )
        .map_err(|why| why.to_string())?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_section_is_put_in_and_replaced() {
        let before = "# Benchmarks\n\n## The explorer\n\nquick\n";
        let once = replaced(before, &format!("{HEADING}\n\nold\n")).unwrap();
        let twice = replaced(&once, &format!("{HEADING}\n\nnew\n")).unwrap();
        let expected =
            "# Benchmarks\n\n## Defaults against defaults\n\nnew\n\n## The explorer\n\nquick\n";
        assert_eq!(twice, expected);
        assert!(replaced("", "").is_err());
    }

    #[test]
    fn who_hit_the_limit_is_marked() {
        let row = json!({
            "n": 300, "p": 2, "k": 2, "asked": 4, "trustvb_seconds": 0.001,
            "bayesian_seconds": 0.05, "em_seconds": 0.01, "bayesian_converged": false,
            "em_converged": true, "trustvb_fit": -3.0, "bayesian_fit": -3.01, "em_fit": -2.99,
        });
        let text = defaults(&[row]).unwrap();
        let expected = "| 50.0 | 10.0 | 300 | 2 | 2 | 4 | 1.000 ms | 50.000 ms* | 10.000 ms | -3.0000 | -3.0100 | -2.9900 |";
        assert_eq!(text.lines().nth(2), Some(expected));
        assert!(defaults(&[json!({})]).is_err());
    }
}
