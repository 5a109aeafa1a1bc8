//! Times latent classes, for `cargo xtask bench`: one fit from a random start, and bootstraps with their intervals.
//!
//! `bench_classes DATA.csv CLASSES SEED BOOTSTRAPS` prints one line of JSON. Times begin with rows in memory; a fit is the
//! median of several, each of which sets the model up anew.

#![allow(clippy::print_stdout, reason = "an example prints")]

use serde_json::json;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};
use trustvb::calibrate::{Calibrator, Method};
use trustvb::data::{ReadOptions, read_path};
use trustvb::fit::Start;
use trustvb::functional::Functional;
use trustvb::model::{ColumnMixture, ModelSpec};
use trustvb::problem::Problem;
use trustvb::table::Plan;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, classes, seed, bootstraps] = arguments.as_slice() else {
        return Err("usage: bench_classes DATA.csv CLASSES SEED BOOTSTRAPS".into());
    };
    let options = ReadOptions { as_text: true, keep_missing: true, ..ReadOptions::default() };
    let frame = read_path(Path::new(path), &options)?;
    let (seed, bootstraps): (u64, u32) = (seed.parse()?, bootstraps.parse()?);
    let bound = ColumnMixture::new(classes.parse()?).bind(&frame, &[])?;
    let ModelSpec::Mixture(spec) = bound.spec() else { return Err("no mixture".into()) };
    let rows = spec.code(&frame)?;

    let (began, mut times) = (Instant::now(), Vec::new());
    let fit = loop {
        let one = Instant::now();
        let problem = Problem::new(spec.clone(), rows.clone())?;
        let fit = problem.fit().seed(seed).starts(1).run()?;
        times.push(one.elapsed().as_secs_f64());
        if began.elapsed() > Duration::from_millis(300) {
            break fit;
        }
    };
    times.sort_by(f64::total_cmp);

    let began = Instant::now();
    let problem = Problem::new(spec.clone(), rows.clone())?;
    let plan = Plan {
        bootstraps,
        start: Start::KMeans { restarts: 1, seed },
        ..Plan::for_methods(seed, &[Method::RECOMMENDED])
    };
    let table = problem.table().plan(plan).build()?;
    let calibrator = Calibrator::new(&table, 500)?;
    let mut intervals = 0;
    for part in Functional::defaults(table.layout()).iter().flat_map(Functional::parts) {
        intervals += calibrator.answer(part, &[Method::RECOMMENDED], &[0.95])?.len();
    }
    let result = json!({
        "fit": times[times.len() / 2],
        "bootstraps": began.elapsed().as_secs_f64(),
        "intervals": intervals,
        "sweeps": fit.outcome.sweeps,
        "ln_likelihood": rows.ln_density(&fit.posterior).iter().sum::<f64>(),
    });
    println!("{result}");
    Ok(())
}
