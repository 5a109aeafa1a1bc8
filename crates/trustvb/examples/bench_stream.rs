//! Times reading a file in pieces against reading it whole, with the peak memory of each, for
//! `cargo xtask bench`.
//!
//! Without an argument, or with a number of rows, it makes a Parquet and a CSV file and prints one line of
//! JSON per measurement. Peak memory is that of a process, so each reading is a process of its own:
//! `pieces FILE` or `whole FILE`.

#![allow(clippy::print_stdout, reason = "an example prints")]

use rand_distr::{Distribution, StandardNormal};
use serde_json::{Value, json};
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use trustvb::data::{Dataset, Formula, Pieces, read_path, write_csv, write_parquet};
use trustvb::model::{Bmlr, BmlrPrior, GroupStatistics, Model, Noise};
use trustvb::random::{Purpose, stream};

type Outcome = Result<(), Box<dyn Error>>;

const GROUPS: usize = 1000;
const FORMULA: &str = "y ~ x1 + x2 + x3 + x4 | group";

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => compare(1_000_000),
        ["pieces", file] => measure(Path::new(file), true),
        ["whole", file] => measure(Path::new(file), false),
        [rows] => compare(rows.parse()?),
        _ => Err("usage: bench_stream [ROWS | pieces FILE | whole FILE]".into()),
    }
}

/// Rows of 1,000 groups that are scattered over the file, with five coefficients.
fn rows(n: usize) -> Result<Dataset, Box<dyn Error>> {
    let mut rng = stream(1, Purpose::Simulate, n as u64);
    let mut columns: Vec<Vec<f64>> = (0..6).map(|_| Vec::with_capacity(n)).collect();
    for i in 0..n {
        let group = i % GROUPS;
        let x: [f64; 4] = std::array::from_fn(|_| StandardNormal.sample(&mut rng));
        let noise: f64 = StandardNormal.sample(&mut rng);
        let sign = if group.is_multiple_of(3) { -1.0 } else { 1.0 };
        columns[0].push(group as f64);
        columns[1].push(sign * (1.0 + x[0] - x[1] + 0.5 * x[2]) + noise);
        columns[2..].iter_mut().zip(x).for_each(|(column, x)| column.push(x));
    }
    let names = ["group", "y", "x1", "x2", "x3", "x4"].map(str::to_owned).to_vec();
    Ok(Dataset::from_columns(names, columns)?)
}

/// Reads a file and builds the model, and prints seconds and peak memory.
fn measure(path: &Path, in_pieces: bool) -> Outcome {
    let began = Instant::now();
    let formula = Formula::parse(FORMULA)?;
    let options = formula.read_options();
    let (prior, noise) = (BmlrPrior::default(), Noise::Estimate);
    let model = if in_pieces {
        let pieces = Pieces::open(path, &options, Pieces::ROWS)?;
        let data = GroupStatistics::from_pieces(&formula, pieces)?;
        Bmlr::from_statistics(&data, 2, prior, noise)?
    } else {
        let data = formula.apply(&read_path(path, &options)?)?;
        Bmlr::new(&data, 2, prior, noise)?
    };
    let seconds = began.elapsed().as_secs_f64();
    let megabytes = peak_memory_mb();
    println!("{}", json!({"units": model.n_units(), "seconds": seconds, "megabytes": megabytes}));
    Ok(())
}

fn peak_memory_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kilobytes.map_or(f64::NAN, |kb| kb / 1024.0)
}

fn compare(n: usize) -> Outcome {
    let folder = tempfile::tempdir()?;
    let (parquet, csv) = (folder.path().join("rows.parquet"), folder.path().join("rows.csv"));
    let data = rows(n)?;
    write_parquet(&data, &parquet)?;
    write_csv(&data, BufWriter::new(File::create(&csv)?))?;
    drop(data);
    let itself = std::env::current_exe()?;
    for (format, file) in [("Parquet", &parquet), ("CSV", &csv)] {
        for (how, name) in [("whole", "whole"), ("pieces", "in pieces")] {
            let mut least = (f64::INFINITY, f64::INFINITY);
            for _ in 0..3 {
                let output = Command::new(&itself).arg(how).arg(file).output()?;
                let said: Value = serde_json::from_slice(&output.stdout)
                    .map_err(|why| format!("{why}: {}", String::from_utf8_lossy(&output.stderr)))?;
                let number = |name: &str| said[name].as_f64().unwrap_or(f64::NAN);
                least = (least.0.min(number("seconds")), least.1.min(number("megabytes")));
            }
            let what = format!(
                "bmlr: {format} file of {n} rows in {GROUPS} groups, p 5, read {name} to statistics"
            );
            println!("{}", json!({"what": what, "value": 1e3 * least.0, "unit": "ms"}));
            let what = format!("peak memory of that ({format}, {name})");
            println!("{}", json!({"what": what, "value": least.1, "unit": "MB"}));
        }
    }
    Ok(())
}
