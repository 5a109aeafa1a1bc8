//! The part of `cargo xtask bench` that lets every program use its defaults, and tells what the race of starts is worth.

use crate::bench::{duration, machine, number};
use crate::bench_classes::replaced;
use crate::command::{cargo, output, python, read, root, run, target, write};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The headings of the two sections in the results.
const HEADING: &str = "\n## Defaults against defaults\n";
const RACE_HEADING: &str = "\n## Starts\n";

/// How many times as fast as `BayesianGaussianMixture` a fit shall be.
const AIM: f64 = 10.0;

/// How far the log likelihood per fresh row may be below the best one.
const LOWER: f64 = 0.01;

const NOTE: &str = "
Fits with default settings, starts included, all cores: trustvb with its ten starts that race, scikit-learn's
`BayesianGaussianMixture` and `GaussianMixture` with one k-means start each. Nobody is told when to stop: scikit-learn
stops at a bound change of 1e-3 or after 100 sweeps, trustvb at a relative change of the state of 1e-10 or after 2000
sweeps; who ran to that limit is marked *. Medians of three turns taken alternately; what takes long is measured once.
The last three columns tell what each found is worth: the log likelihood per row, at the parameters held, of 20,000
fresh rows of the same law. It is marked † if it is more than 0.01 below the best of the three.
";

const RACE_NOTE: &str = "
With more components than there are, ten full starts often end higher, because they give one up for any gain of the
bound. The race keeps it unless the gain is decisive (`merit` in `fit/track.rs`): intervals of overlapping components
need that. With 5,000 units for each parameter of a component the bound alone decides.

The race of starts against ten starts that each run to convergence, over simulated data sets with n from 200 to 20,000,
p from 1 to 20, K from 2 to 10, near and apart. Same: bounds within 0.01. The race's constants were chosen on the first
300 data sets, so those shares are flattered; the fresh ones are others. It uses all threads, ten full starts only
within a sweep of many rows: part of the ratio is that.
";

/// Measures these sections alone, and puts them in the place of those in `benches/RESULTS.md`.
pub(crate) fn again() -> Result<(), String> {
    let python = python("bench-venv", "benches/requirements.txt")?;
    let (defaults, starts) = (defaults_section(&python)?, starts_section()?);
    let path = root().join("benches/RESULTS.md");
    let text = replaced(&read(&path)?, HEADING, &defaults);
    write(&path, replaced(&text, RACE_HEADING, &starts))
}

/// Two tables under headings of their own.
pub(crate) fn section(python: &Path) -> Result<String, String> {
    Ok(defaults_section(python)? + &starts_section()?)
}

/// Builds an example of the library; where it is.
fn example(name: &str) -> Result<PathBuf, String> {
    let words = ["build", "--release", "--locked", "--package", "trustvb", "--example", name];
    run(&mut cargo(&words))?;
    Ok(target().join("release/examples").join(name))
}

fn defaults_section(python: &Path) -> Result<String, String> {
    let binary = example("bench_defaults")?;
    println!("bench: defaults against defaults; this takes about ten minutes");
    let mut compare = Command::new(python);
    compare.arg("benches/defaults.py").arg(binary);
    compare.arg(target().join("bench-data")).current_dir(root());
    let rows = lines(&output(&mut compare)?)?;
    let text = format!(
        "{HEADING}{NOTE}On {}, all programs in the same run.\n\n{}\n{}",
        machine(),
        defaults(&rows)?,
        summary(&rows)?
    );
    println!("{text}");
    Ok(text)
}

fn starts_section() -> Result<String, String> {
    let binary = example("bench_starts")?;
    println!("bench: the race of starts");
    let text = format!(
        "{RACE_HEADING}{RACE_NOTE}\n{}",
        race(&lines(&output(&mut Command::new(binary))?)?)?
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
        let limit = if row["status"] == "converged" { "" } else { "*" };
        let mark = |name: &str| {
            if row[format!("{name}_converged")] == Value::Bool(false) { "*" } else { "" }
        };
        let [our_fit, bayesian_fit, em_fit] = fits(row)?;
        writeln!(
            text,
            "| {:.1} | {:.1} | {} | {} | {} | {} | {}{limit} | {}{} | {}{} | {our_fit} | {bayesian_fit} | {em_fit} |",
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
        )
        .map_err(|why| why.to_string())?;
    }
    Ok(text)
}

/// The log likelihoods of the three programs, marked where one found something worse.
fn fits(row: &Value) -> Result<[String; 3], String> {
    let of = |name: &str| number(row, &format!("{name}_fit"));
    let fits = [of("trustvb")?, of("bayesian")?, of("em")?];
    let best = fits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Ok(fits.map(|fit| format!("{fit:.4}{}", if fit < best - LOWER { "†" } else { "" })))
}

/// In how many rows each aim is reached, and the rows that miss it.
fn summary(rows: &[Value]) -> Result<String, String> {
    let (mut behind_aim, mut behind_em, mut lower) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        let seconds = |name: &str| number(row, &format!("{name}_seconds"));
        let name = format!("{} × {} K {}", row["n"], row["p"], row["asked"]);
        let ours = seconds("trustvb")?;
        if seconds("bayesian")? < AIM * ours {
            behind_aim.push(name.clone());
        }
        if seconds("em")? < ours {
            behind_em.push(name.clone());
        }
        if fits(row)?[0].ends_with('†') {
            lower.push(name);
        }
    }
    let line = |what: &str, missed: &[String]| {
        let named = if missed.is_empty() {
            String::new()
        } else {
            format!(" Not in: {}.", missed.join(", "))
        };
        format!("- {what}: in {} of {} rows.{named}\n", rows.len() - missed.len(), rows.len())
    };
    Ok(line("at least 10 times as fast as BayesianGaussianMixture", &behind_aim)
        + &line("not behind GaussianMixture", &behind_em)
        + &line("no † at what trustvb found", &lower)
        + &of_spare_components(rows)?)
}

/// What two components more than there are cost each program: its time over that for the true number.
fn of_spare_components(rows: &[Value]) -> Result<String, String> {
    let is_pair =
        |pair: &&[Value]| ["n", "p", "k"].into_iter().all(|name| pair[0][name] == pair[1][name]);
    let pairs: Vec<&[Value]> = rows.windows(2).filter(is_pair).collect();
    let mut words = Vec::new();
    for (name, program) in
        [("trustvb", "trustvb"), ("bayesian", "BayesianGaussianMixture"), ("em", "GaussianMixture")]
    {
        let seconds = |row: &Value| number(row, &format!("{name}_seconds"));
        let ratio = |pair: &&[Value]| Ok(seconds(&pair[1])? / seconds(&pair[0])?);
        let mut ratios = pairs.iter().map(ratio).collect::<Result<Vec<f64>, String>>()?;
        ratios.sort_by(f64::total_cmp);
        let (Some(least), Some(most)) = (ratios.first(), ratios.last()) else {
            return Ok(String::new());
        };
        let median = ratios[ratios.len() / 2];
        words.push(format!("{program} {median:.1} ({least:.1} to {most:.1})"));
    }
    Ok(format!("- K + 2 over K, medians of the ratio of times: {}.\n", words.join(", ")))
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

    fn row(asked: u32, seconds: [f64; 3], fits: [f64; 3]) -> Value {
        json!({
            "n": 300, "p": 2, "k": 2, "asked": asked, "status": "converged", "bayesian_converged": false, "em_converged": true,
            "trustvb_seconds": seconds[0], "bayesian_seconds": seconds[1], "em_seconds": seconds[2],
            "trustvb_fit": fits[0], "bayesian_fit": fits[1], "em_fit": fits[2],
        })
    }

    #[test]
    fn who_hit_the_limit_is_marked() {
        let text = defaults(&[row(4, [0.001, 0.05, 0.01], [-3.0, -3.005, -2.995])]).unwrap();
        let expected = "| 50.0 | 10.0 | 300 | 2 | 2 | 4 | 1.000 ms | 50.000 ms* | 10.000 ms | -3.0000 | -3.0050 | -2.9950 |";
        assert_eq!(text.lines().nth(2), Some(expected));
        let mut unfinished = row(4, [0.001, 0.05, 0.01], [-3.0, -3.005, -2.995]);
        unfinished["status"] = json!("hit-limit");
        assert!(defaults(&[unfinished]).unwrap().contains("| 1.000 ms* |"));
        assert!(defaults(&[json!({})]).is_err());
    }

    #[test]
    fn what_is_worse_is_marked() {
        let marked = fits(&row(2, [1.0; 3], [-3.0, -3.02, -3.009])).unwrap();
        assert_eq!(marked, ["-3.0000", "-3.0200†", "-3.0090"]);
    }

    #[test]
    fn rows_that_miss_an_aim_are_named() {
        let mut alone = row(2, [1.0, 20.0, 0.9], [-3.1, -3.0, -3.0]);
        alone["k"] = json!(1);
        let rows = [row(2, [1.0, 10.0, 1.0], [-3.0; 3]), row(3, [2.0, 9.9, 2.0], [-3.0; 3]), alone];
        let expected = "\
            - at least 10 times as fast as BayesianGaussianMixture: in 2 of 3 rows. Not in: 300 × 2 K 3.\n\
            - not behind GaussianMixture: in 2 of 3 rows. Not in: 300 × 2 K 2.\n\
            - no † at what trustvb found: in 2 of 3 rows. Not in: 300 × 2 K 2.\n\
            - K + 2 over K, medians of the ratio of times: trustvb 2.0 (2.0 to 2.0), BayesianGaussianMixture 1.0 (1.0 to 1.0), \
            GaussianMixture 2.0 (2.0 to 2.0).\n";
        assert_eq!(summary(&rows).unwrap(), expected);
        assert!(summary(&rows[..1]).unwrap().starts_with(
            "- at least 10 times as fast as BayesianGaussianMixture: in 1 of 1 rows.\n"
        ));
        assert_eq!(of_spare_components(&rows[..1]).unwrap(), "");
    }
}
