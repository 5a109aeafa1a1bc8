//! Times whole fits with default settings, starts included, for `cargo xtask bench`.
//!
//! `bench_defaults DATA.csv K SECONDS` fits again and again for about that long, on as many threads as there are, and
//! prints one line of JSON with the times and the parameters that were found. A time includes everything from columns
//! in memory to the posterior.

#![allow(clippy::print_stdout, reason = "an example prints")]

use serde_json::json;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};
use trustvb::data::{ReadOptions, read_path};
use trustvb::fit::{FitOptions, Start, fit};
use trustvb::model::{Gmm, GmmPrior, Update};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, k, seconds] = arguments.as_slice() else {
        return Err("usage: bench_defaults DATA.csv K SECONDS".into());
    };
    let data = read_path(Path::new(data), &ReadOptions::default())?.into_dataset()?;
    let k: usize = k.parse()?;
    let budget = Duration::from_secs_f64(seconds.parse()?);
    let start = Start::KMeans { restarts: 10, seed: 1 };
    let began = Instant::now();
    let mut times = Vec::new();
    let fit = loop {
        let began_one = Instant::now();
        let model = Gmm::new(&data, k, GmmPrior::default(), Update::Corrected)?;
        let fit = fit(&model, None, 1.0, &start, &FitOptions::default(), &mut |_| ())?;
        times.push(began_one.elapsed().as_secs_f64());
        if began.elapsed() >= budget {
            break fit;
        }
    };
    let blocks: Vec<_> =
        (0..k).filter_map(|c| fit.posterior.normal_wishart("mu_lambda", c)).collect();
    let means: Vec<&[f64]> = blocks.iter().map(|block| block.mean()).collect();
    let covariances: Vec<_> = blocks.iter().map(|block| block.mean_covariance()).collect();
    println!(
        "{}",
        json!({
            "seconds": times,
            "sweeps": fit.outcome.sweeps,
            "status": fit.outcome.status.name(),
            "weights": fit.posterior.weights(),
            "means": means,
            "covariances": covariances,
        })
    );
    Ok(())
}
