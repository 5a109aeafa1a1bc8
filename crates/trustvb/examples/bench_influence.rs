//! Times influence functions for `cargo xtask bench`: from few columns and many rows to many columns.
//!
//! Without an argument it measures a list of sizes and prints one line of JSON per measurement; with `N P K` one size,
//! and with `N P K differences` the same by differences of sweeps as well.

#![allow(clippy::print_stdout, reason = "an example prints")]

use rand_distr::{Distribution, StandardNormal};
use serde_json::json;
use std::error::Error;
use std::time::Instant;
use trustvb::data::Dataset;
use trustvb::fit::{Fit, FitOptions, Linearisation, Start, fit};
use trustvb::model::{Gmm, GmmPrior, Model, Update};
use trustvb::posterior::Posterior;
use trustvb::random::{Purpose, stream};

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() {
        for (n, p, k) in [(5000, 10, 5), (5000, 38, 5), (5000, 100, 3), (5000, 200, 2)] {
            measure(n, p, k, false)?;
        }
        return measure(1_000_000, 5, 3, false);
    }
    let sizes: Vec<usize> = words.iter().take(3).map(|x| x.parse()).collect::<Result<_, _>>()?;
    let [n, p, k] = sizes[..] else { return Err("usage: bench_influence N P K".into()) };
    measure(n, p, k, words.get(3).is_some_and(|word| word == "differences"))
}

/// `k` unit Gaussians of equal weight whose centres are 5 apart in all, whatever the number of columns.
fn gaussians(n: usize, p: usize, k: usize) -> Result<Dataset, Box<dyn Error>> {
    let mut rng = stream(1, Purpose::Simulate, (n * 1000 + p * 10 + k) as u64);
    let shift = 5.0 / (2.0 * p as f64 / k as f64).max(1.0).sqrt();
    let mut columns = vec![Vec::with_capacity(n); p];
    for i in 0..n {
        for (j, column) in columns.iter_mut().enumerate() {
            let noise: f64 = StandardNormal.sample(&mut rng);
            column.push(noise + if i % k == j % k { shift } else { 0.0 });
        }
    }
    Ok(Dataset::from_columns((1..=p).map(|j| format!("x{j}")).collect(), columns)?)
}

fn mean(posterior: &Posterior) -> f64 {
    posterior.normal_wishart("mu_lambda", 0).map_or(f64::NAN, |block| block.mean()[0])
}

fn measure(n: usize, p: usize, k: usize, differences: bool) -> Outcome {
    let data = gaussians(n, p, k)?;
    let model = Gmm::new(&data, k, GmmPrior::default(), Update::Corrected)?;
    let here = format!("n {n}, p {p}, K {k}, state {}", model.state_len());
    let began = Instant::now();
    let start = Start::KMeans { restarts: 1, seed: 1 };
    let found = fit(&model, None, 1.0, &start, &FitOptions::default(), &mut |_| ())?;
    say(&format!("{here}: one fit"), began.elapsed().as_secs_f64(), "s");
    say("its sweeps", found.outcome.sweeps as f64, "");
    let before = peak_memory_mb();
    let began = Instant::now();
    let at = Linearisation::new(&model, None, 1.0, &found.state)?;
    say("linearised", began.elapsed().as_secs_f64(), "s");
    let began = Instant::now();
    let of_mean = at.influence(&model, &mean)?.sd;
    say("one mean, all units", began.elapsed().as_secs_f64(), "s");
    let began = Instant::now();
    at.influence(&model, &|q| q.weights()[0])?;
    say("one weight, all units", began.elapsed().as_secs_f64(), "s");
    say("memory beyond that of the fit", peak_memory_mb() - before, "MB");
    if differences { by_differences(&model, &found, of_mean) } else { Ok(()) }
}

fn by_differences(model: &Gmm, found: &Fit, of_mean: f64) -> Outcome {
    let began = Instant::now();
    let at = Linearisation::by_differences(model, None, 1.0, &found.state)?;
    say("linearised by differences", began.elapsed().as_secs_f64(), "s");
    let began = Instant::now();
    let expected = at.influence(model, &mean)?.sd;
    say("one mean by differences", began.elapsed().as_secs_f64(), "s");
    say("relative difference of its standard deviation", (of_mean / expected - 1.0).abs(), "");
    Ok(())
}

fn peak_memory_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kilobytes.map_or(f64::NAN, |kb| kb / 1024.0)
}

fn say(what: &str, value: f64, unit: &str) {
    println!("{}", json!({ "what": what, "value": value, "unit": unit }));
}
