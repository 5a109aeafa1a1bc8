//! Times whole fits of a Gaussian mixture, for `cargo xtask bench`.
//!
//! `bench_fit DATA.csv PRIOR.json CENTRES.csv SECONDS` fits again and again for about that long, on
//! as many threads as `RAYON_NUM_THREADS` says, and prints one line of JSON. A time includes
//! everything from columns in memory to the posterior: the model is set up anew for every fit.

#![allow(clippy::print_stdout, reason = "an example prints")]

use serde_json::json;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};
use trustvb::data::{ReadOptions, read_centres, read_path};
use trustvb::fit::{FitOptions, Start, fit};
use trustvb::model::{Gmm, GmmPrior, Update};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, prior, centres, seconds] = arguments.as_slice() else {
        return Err("usage: bench_fit DATA.csv PRIOR.json CENTRES.csv SECONDS".into());
    };
    let data = read_path(Path::new(data), &ReadOptions::default())?.into_dataset()?;
    let prior: GmmPrior = serde_json::from_str(&std::fs::read_to_string(prior)?)?;
    let centres = read_centres(Path::new(centres), data.names())?;
    let k = centres.len();
    let start = Start::Centres(centres.concat());
    let budget = Duration::from_secs_f64(seconds.parse()?);
    let began = Instant::now();
    let mut times = Vec::new();
    let fit = loop {
        let began_one = Instant::now();
        let model = Gmm::new(&data, k, prior.clone(), Update::Corrected)?;
        let fit = fit(&model, None, 1.0, &start, &FitOptions::default(), &mut |_| ())?;
        times.push(began_one.elapsed().as_secs_f64());
        if began.elapsed() >= budget {
            break fit;
        }
    };
    let means: Vec<&[f64]> = (0..k)
        .filter_map(|c| fit.posterior.normal_wishart("mu_lambda", c).map(|block| block.mean()))
        .collect();
    let result = json!({
        "seconds": times,
        "sweeps": fit.outcome.sweeps,
        "status": fit.outcome.status.name(),
        "bound": fit.outcome.bound,
        "weights": fit.posterior.weights(),
        "means": means,
    });
    println!("{result}");
    Ok(())
}
