//! The part of `cargo xtask bench` on intervals: whole commands beside R's mclust, and how they grow with the data.

use crate::bench::{duration, machine, number};
use crate::bench_classes::replaced;
use crate::command::{cargo, emptied, output, read, root, run as run_command, target, write};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The heading of the section in the results.
const HEADING: &str = "\n## Intervals\n";

/// How many times as fast as mclust intervals shall be.
const AIM: f64 = 10.0;

/// Turns of our commands: fewer of one that has taken longer than so many seconds, more of one that has not taken so many.
const TURNS: usize = 3;
const LONG: f64 = 10.0;
const MOST_TURNS: usize = 11;
const SHORT: f64 = 0.5;

/// mclust's bootstraps that would take longer than so many seconds are scaled up from a few.
const RIVAL_SECONDS: &str = "60";

/// Rows of a group, where each group is a data set of its own.
const GROUP_ROWS: usize = 200;

const NOTE: &str = "
The whole command `trustvb calibrate DATA -k K --method balanced --format json` (the recommended method), process,
reading and ten starts included, on all cores and on one, and the same with `--method jackknife`, which needs no
resamples; medians of three turns or, of what is quick, eleven. Beside it `Mclust(x, G = K, modelNames = \"VVV\")` and
`MclustBootstrap(fit, type = \"bs\")` of R's mclust with as many resamples, elapsed seconds inside of R, which uses one
core; without starting R and reading. Both give intervals for weights and means. mclust has no prior: a resample that
it cannot fit is drawn again, and counted as failed. ~: scaled up from 20 bootstraps, because all would take more than
a minute.
";

const GROWTH_NOTE: &str = "
How that grows: the time of the same commands with twice of something over the time without, well-separated components.
Groups are data sets of their own, in one command with `--by`.
";

/// How much is measured: all of it, or as little as shows that it can be.
#[derive(Clone, Copy)]
struct Effort {
    bootstraps: usize,
    rows: usize,
    groups: usize,
}

const FULL: Effort = Effort { bootstraps: 500, rows: 10_000, groups: 1000 };
const QUICK: Effort = Effort { bootstraps: 50, rows: 1000, groups: 20 };

/// Measures that section alone and puts it in the place of the one in `benches/RESULTS.md`.
pub(crate) fn run() -> Result<(), String> {
    let section = section()?;
    let path = root().join("benches/RESULTS.md");
    write(&path, replaced(&read(&path)?, HEADING, &section))
}

/// Prints the section with little measured, and writes nothing.
pub(crate) fn try_out() -> Result<(), String> {
    measured(QUICK).map(|_| ())
}

/// Measures, and returns a section for the results.
pub(crate) fn section() -> Result<String, String> {
    measured(FULL)
}

fn measured(effort: Effort) -> Result<String, String> {
    run_command(&mut cargo(&["build", "--release", "--locked", "--package", "trustvb-cli"]))?;
    let folder = target().join("bench-intervals");
    emptied(&folder)?;
    println!("bench: intervals against mclust");
    let rival = rival();
    let who = rival.clone().unwrap_or_else(|why| format!("not measured beside mclust: {why}"));
    let rows = problems(&folder)?
        .into_iter()
        .map(|problem| problem.measured(effort, rival.is_ok()))
        .collect::<Result<Vec<_>, _>>()?;
    println!("bench: growth of intervals");
    let text = format!(
        "{HEADING}{NOTE}On {}; {who}; {} bootstraps.\n\n{}\n{}{GROWTH_NOTE}\n{}",
        machine(),
        effort.bootstraps,
        table(&rows),
        summary(&rows),
        growth(&folder, effort)? + &groups(&folder, effort)?,
    );
    println!("{text}");
    Ok(text)
}

/// The versions of R and mclust, or why they cannot be asked.
fn rival() -> Result<String, String> {
    let code =
        "library(mclust); cat(paste0(R.version.string, ', mclust ', packageVersion('mclust')))";
    match Command::new("Rscript").args(["-e", code]).output() {
        Err(_) => Err("Rscript is not installed".to_owned()),
        Ok(ran) if !ran.status.success() => {
            Err("R has no package mclust (Debian: r-cran-mclust)".to_owned())
        }
        Ok(ran) => Ok(String::from_utf8_lossy(&ran.stdout).trim().to_owned()),
    }
}

/// Data with a number of components.
struct Problem {
    name: &'static str,
    data: PathBuf,
    components: usize,
}

fn problems(folder: &Path) -> Result<Vec<Problem>, String> {
    let file = |name, path: &str, components| Problem { name, data: root().join(path), components };
    let mut problems = vec![
        file("Old Faithful, 272 × 2, K 2", "crates/trustvb/data/faithful.csv", 2),
        file("overlap.csv, 1000 × 2, K 2", "docs/data/overlap.csv", 2),
        file("iris, 150 × 4, K 3", "crates/trustvb/tests/fixtures/iris.csv", 3),
    ];
    let simulated = [
        ("simulated, 3000 × 10, K 5", 3000, 10, 5, "1"),
        ("simulated, 10,000 × 5, K 3", 10_000, 5, 3, "1.5"),
    ];
    for (name, n, p, components, separation) in simulated {
        let data = simulate(folder, n, p, components, separation)?;
        problems.push(Problem { name, data, components });
    }
    Ok(problems)
}

/// A file of simulated rows.
fn simulate(
    folder: &Path,
    n: usize,
    p: usize,
    k: usize,
    separation: &str,
) -> Result<PathBuf, String> {
    let path = folder.join(format!("{n}-{p}-{k}.csv"));
    let numbers = [n, p, k].map(|x| x.to_string());
    let mut command = trustvb(&["simulate", "gmm", "--separation", separation]);
    command.args(["--n", &numbers[0], "-p", &numbers[1], "-k", &numbers[2], "-o"]).arg(&path);
    output(&mut command)?;
    Ok(path)
}

fn trustvb(words: &[&str]) -> Command {
    let mut command = Command::new(target().join("release/trustvb"));
    command.args(words);
    command
}

/// The command that gives intervals for a file.
fn calibrate(data: &Path, k: usize, method: &str, bootstraps: usize) -> Command {
    let mut command = trustvb(&["calibrate"]);
    command.arg(data).args(["-k", &k.to_string(), "--method", method, "--quiet"]);
    if method == "balanced" {
        command.args(["-B", &bootstraps.to_string()]);
    }
    command
}

/// Seconds of commands from start to end, each the median of turns that they take alternately.
fn seconds<const N: usize>(mut commands: [Command; N]) -> Result<[f64; N], String> {
    let mut times = [const { Vec::new() }; N];
    for turn in 0..MOST_TURNS {
        let enough = if turn < TURNS { LONG } else { SHORT };
        for (command, times) in commands.iter_mut().zip(&mut times) {
            if times.iter().sum::<f64>() < enough {
                let began = Instant::now();
                output(command)?;
                times.push(began.elapsed().as_secs_f64());
            }
        }
    }
    Ok(times.map(median))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// What mclust needed.
struct Rival {
    fit: f64,
    bootstraps: f64,
    scaled: bool,
    failed: u64,
    tried: u64,
}

struct Row {
    name: &'static str,
    balanced: f64,
    one_thread: f64,
    jackknife: f64,
    rival: Option<Rival>,
}

impl Problem {
    fn measured(&self, effort: Effort, with_rival: bool) -> Result<Row, String> {
        let command = |method| {
            let mut command = calibrate(&self.data, self.components, method, effort.bootstraps);
            command.args(["--format", "json"]);
            command
        };
        let mut alone = command("balanced");
        alone.args(["--threads", "1"]);
        let [balanced, one_thread, jackknife] =
            seconds([command("balanced"), alone, command("jackknife")])?;
        let rival = if with_rival { self.rival(effort)? } else { None };
        Ok(Row { name: self.name, balanced, one_thread, jackknife, rival })
    }

    /// What mclust needs; nothing if it finds no fit.
    fn rival(&self, effort: Effort) -> Result<Option<Rival>, String> {
        let mut command = Command::new("Rscript");
        command.arg("benches/intervals.R").arg(&self.data).current_dir(root());
        command.args([&self.components.to_string(), &effort.bootstraps.to_string()]);
        rival_from(&output(command.arg(RIVAL_SECONDS))?)
    }
}

fn rival_from(line: &str) -> Result<Option<Rival>, String> {
    let row: Value = serde_json::from_str(line).map_err(|why| format!("{why} in: {line}"))?;
    if row.get("fit").is_some_and(Value::is_null) {
        return Ok(None);
    }
    Ok(Some(Rival {
        fit: number(&row, "fit")?,
        bootstraps: number(&row, "bootstraps")?,
        scaled: row["scaled"] == Value::Bool(true),
        failed: row["failed"].as_u64().ok_or("no number of failed resamples")?,
        tried: row["tried"].as_u64().ok_or("no number of resamples")?,
    }))
}

impl Row {
    /// How many times as long mclust takes as `ours`.
    fn ratio(&self, ours: f64) -> Option<f64> {
        self.rival.as_ref().map(|rival| (rival.fit + rival.bootstraps) / ours)
    }
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| times faster than mclust | on one thread | by jackknife | data | balanced | on one thread | jackknife | mclust fit | its bootstraps | failed |\n\
         |--:|--:|--:|:--|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in rows {
        let ours = [row.balanced, row.one_thread, row.jackknife];
        let [balanced, one_thread, jackknife] = ours
            .map(|ours| row.ratio(ours).map_or("–".to_owned(), |ratio| format!("{ratio:.1}")));
        let (fit, bootstraps, failed) = match &row.rival {
            None => ("–".to_owned(), "–".to_owned(), "–".to_owned()),
            Some(it) => (
                duration(it.fit),
                format!("{}{}", if it.scaled { "~" } else { "" }, duration(it.bootstraps)),
                format!("{} of {}", it.failed, it.tried),
            ),
        };
        let [a, b, c] = ours.map(duration);
        text.push_str(&format!(
            "| {balanced} | {one_thread} | {jackknife} | {} | {a} | {b} | {c} | {fit} | {bootstraps} | {failed} |\n",
            row.name
        ));
    }
    text
}

/// In how many rows the aim is reached, and the rows that miss it.
fn summary(rows: &[Row]) -> String {
    let compared: Vec<_> =
        rows.iter().filter_map(|row| Some((row.name, row.ratio(row.balanced)?))).collect();
    if compared.is_empty() {
        return "mclust was not asked: whether the aim is reached is not known.\n".to_owned();
    }
    let missed: Vec<_> =
        compared.iter().filter(|(_, ratio)| *ratio < AIM).map(|(name, _)| *name).collect();
    let named =
        if missed.is_empty() { String::new() } else { format!(" Not in: {}.", missed.join("; ")) };
    format!(
        "At least {AIM} times as fast as mclust with `balanced`: in {} of {} rows.{named}\n",
        compared.len() - missed.len(),
        compared.len()
    )
}

/// Twice the rows, columns and components.
fn growth(folder: &Path, effort: Effort) -> Result<String, String> {
    let (n, p, k) = (effort.rows, 5, 3);
    let mut text = String::from("| time with | balanced | jackknife |\n|:--|--:|--:|\n");
    let twice = [
        (format!("twice the rows ({n} to {}, p {p}, K {k})", 2 * n), (2 * n, p, k)),
        (format!("twice the columns ({p} to {}, n {n}, K {k})", 2 * p), (n, 2 * p, k)),
        (format!("twice the components ({k} to {}, n {n}, p {p})", 2 * k), (n, p, 2 * k)),
    ];
    let once = simulate(folder, n, p, k, "3")?;
    for (name, (n, p, more)) in twice {
        let data = simulate(folder, n, p, more, "3")?;
        let ratio = |method| -> Result<f64, String> {
            let command = |data, k| calibrate(data, k, method, effort.bootstraps);
            let [once, twice] = seconds([command(&once, k), command(&data, more)])?;
            Ok(twice / once)
        };
        growth_line(&mut text, &name, ratio("balanced")?, ratio("jackknife")?)?;
    }
    Ok(text)
}

fn growth_line(text: &mut String, what: &str, balanced: f64, jackknife: f64) -> Result<(), String> {
    writeln!(text, "| {what} | {balanced:.2} × | {jackknife:.2} × |").map_err(|why| why.to_string())
}

/// Twice the groups, and what very many take: more lines of the table of growth, and what failed.
fn groups(folder: &Path, effort: Effort) -> Result<String, String> {
    let all = effort.groups;
    let rows = read(&simulate(folder, all * GROUP_ROWS, 2, 2, "3")?)?;
    let file = |count: usize| -> Result<PathBuf, String> {
        let path = folder.join(format!("groups-{count}.csv"));
        write(&path, grouped(&rows, count))?;
        Ok(path)
    };
    let (few, twice, many) = (file(all / 5)?, file(2 * all / 5)?, file(all)?);
    let command = |data, method| {
        let mut command = calibrate(data, 2, method, effort.bootstraps);
        command.args(["--by", "group", "--format", "csv"]);
        command
    };
    let measured =
        |method| seconds([command(&few, method), command(&twice, method), command(&many, method)]);
    let (balanced, jackknife) = (measured("balanced")?, measured("jackknife")?);
    let mut text = String::new();
    let what = format!(
        "twice the groups ({} to {}, {GROUP_ROWS} rows each, p 2, K 2)",
        all / 5,
        2 * all / 5
    );
    growth_line(&mut text, &what, balanced[1] / balanced[0], jackknife[1] / jackknife[0])?;
    let mut line = |what: &str, times: f64| {
        let [a, b] = [balanced[2], jackknife[2]].map(|seconds| duration(times * seconds));
        text.push_str(&format!("| {what} | {a} | {b} |\n"));
    };
    line(&format!("{all} groups, measured"), 1.0);
    line(&format!("{} groups, ten times that", 10 * all), 10.0);
    let failed =
        [output(&mut command(&many, "balanced"))?, output(&mut command(&many, "jackknife"))?];
    let failed = failed.map(|answer| failures(&answer));
    text.push_str(&format!(
        "\nGroups that could not be fitted: {} and {} of {all}.\n",
        failed[0], failed[1]
    ));
    Ok(text)
}

/// The first rows of a CSV file with a column that says which group each belongs to.
fn grouped(rows: &str, groups: usize) -> String {
    let mut lines = rows.lines();
    let mut text = format!("group,{}\n", lines.next().unwrap_or_default());
    for (at, line) in lines.take(groups * GROUP_ROWS).enumerate() {
        text.push_str(&format!("{},{line}\n", at / GROUP_ROWS + 1));
    }
    text
}

/// Rows of an answer by groups that tell of a failure: the last column is not empty.
fn failures(answer: &str) -> usize {
    answer.lines().skip(1).filter(|line| !line.ends_with(',')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &'static str, rival: Option<Rival>) -> Row {
        Row { name, balanced: 0.02, one_thread: 0.04, jackknife: 0.01, rival }
    }

    #[test]
    fn ratios_come_first_and_what_is_scaled_is_marked() {
        let line =
            "{\"fit\": 0.1, \"bootstraps\": 1.9, \"scaled\": true, \"failed\": 3, \"tried\": 23}\n";
        let text = table(&[row("x", rival_from(line).unwrap()), row("y", None)]);
        let lines: Vec<_> = text.lines().skip(2).collect();
        let expected = [
            "| 100.0 | 50.0 | 200.0 | x | 20.000 ms | 40.000 ms | 10.000 ms | 100.000 ms | ~1.90 s | 3 of 23 |",
            "| – | – | – | y | 20.000 ms | 40.000 ms | 10.000 ms | – | – | – |",
        ];
        assert_eq!(lines, expected);
        assert!(rival_from("{\"fit\": null}\n").unwrap().is_none());
        assert!(rival_from("{}\n").is_err());
    }

    #[test]
    fn rows_that_miss_the_aim_are_named() {
        let rival =
            |bootstraps| Some(Rival { fit: 0.0, bootstraps, scaled: false, failed: 0, tried: 500 });
        let rows = [row("x", rival(0.2)), row("y", rival(0.19)), row("z", None)];
        let expected =
            "At least 10 times as fast as mclust with `balanced`: in 1 of 2 rows. Not in: y.\n";
        assert_eq!(summary(&rows), expected);
        assert!(summary(&rows[2..]).starts_with("mclust was not asked"));
    }

    #[test]
    fn groups_are_rows_that_follow_each_other() {
        let rows = format!("x1,x2\n{}", "1,2\n".repeat(3 * GROUP_ROWS));
        let text = grouped(&rows, 2);
        assert_eq!(text.lines().count(), 1 + 2 * GROUP_ROWS);
        assert_eq!(text.lines().next(), Some("group,x1,x2"));
        assert_eq!(text.lines().last(), Some("2,1,2"));
        assert_eq!(failures("group,error\n1,\n2,\"too few rows\"\n"), 1);
    }

    #[test]
    fn the_middle_of_turns_counts() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert!(median(Vec::new()).is_nan());
    }
}
