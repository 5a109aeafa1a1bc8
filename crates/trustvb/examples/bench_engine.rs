//! Times tables, sweeps and their scaling, for `cargo xtask bench`.
//!
//! Without an argument it measures everything and prints one line of JSON per measurement. With
//! `fit`, `table` or `bmlr` it runs one fixed workload once, for a counter of instructions; with
//! `sweep N P K` it times one kernel against the least it must do; with `peak`, kernels of many columns against the most
//! that a core can do.

#![allow(clippy::print_stdout, reason = "an example prints")]

use serde_json::json;
use std::error::Error;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Instant;
use trustvb::backend::{Backend, Cpu, Job, Work};
use trustvb::data::{Dataset, Grouped};
use trustvb::fit::{
    FitOptions, Matching, PathOptions, Reference, ReplicateStart, Start, Stopping, fit,
};
use trustvb::model::{Bmlr, BmlrPrior, Gmm, GmmPrior, Model, Noise, Update};
use trustvb::random::{Purpose, stream};
use trustvb::resample::{Design, Resamples};
use trustvb::roofline::{Blocks, multiply_adds};
use trustvb::table::{OmegaGrid, Watch};

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    match std::env::args().nth(1).as_deref() {
        None => measure(),
        Some("fit") => fixed_fit(),
        Some("table") => fixed_table(),
        Some("bmlr") => fixed_bmlr(),
        Some("sweep") => one_sweep(),
        Some("peak") => [5, 10, 20, 50]
            .into_iter()
            .flat_map(|p| [3, 5, 10].map(|k| (p, k)))
            .try_for_each(|(p, k)| say_against_the_most(10_000, p, k)),
        Some(other) => Err(format!("unknown workload {other}").into()),
    }
}

/// `k` unit Gaussians of equal weight, component c centred at `separation` in column c mod p.
fn gaussians(n: usize, p: usize, k: usize, separation: f64) -> Result<Dataset, Box<dyn Error>> {
    use rand_distr::{Distribution, StandardNormal};
    let mut rng = stream(1, Purpose::Simulate, (n * 1000 + p * 10 + k) as u64);
    let mut columns = vec![Vec::with_capacity(n); p];
    for i in 0..n {
        for (j, column) in columns.iter_mut().enumerate() {
            let noise: f64 = StandardNormal.sample(&mut rng);
            let shift = if i % k == j % k { separation } else { 0.0 };
            column.push(noise + shift);
        }
    }
    Ok(Dataset::from_columns((1..=p).map(|j| format!("x{j}")).collect(), columns)?)
}

fn options() -> PathOptions {
    PathOptions {
        fit: FitOptions { stopping: Stopping::Relative(1e-8), ..FitOptions::default() },
        matching: Matching::Assignment,
        start: ReplicateStart::Warm,
        seed: 1,
    }
}

/// `sweep N P K`: one kernel alone, for a profiler.
fn one_sweep() -> Outcome {
    let sizes: Vec<usize> =
        std::env::args().skip(2).map(|x| x.parse()).collect::<Result<_, _>>()?;
    let [n, p, k] = sizes[..] else { return Err("usage: bench_engine sweep N P K".into()) };
    say_against_the_least(n, p, k)
}

fn per_row(n: usize, p: usize, k: usize) -> String {
    format!("per row, component and sweep: n {n}, p {p}, K {k}")
}

/// A sweep, the least it must do, and their ratio. The two take turns, because a shared machine's
/// speed changes from second to second.
fn say_against_the_least(n: usize, p: usize, k: usize) -> Outcome {
    let blocks = Blocks::new(n, p);
    let (mut sweep, mut least) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..20 {
        let seconds = best(20, || {
            let began = Instant::now();
            black_box(blocks.read_and_exp(k));
            began.elapsed().as_secs_f64()
        });
        least = least.min(1e9 * seconds / (n * k) as f64);
        sweep = sweep.min(kernel_nanoseconds(n, p, k)?);
    }
    say(&per_row(n, p, k), sweep, "ns");
    say(&format!("the same, only reading rows and taking {k} exponentials"), least, "ns");
    say("times the least", sweep / least, "×");
    Ok(())
}

/// The share of a core's multiply-adds that a sweep makes use of: log densities and sums take `p(p+1)/2` each for a row and
/// component. The two take turns, and each turn has its own share: neighbours on the same core may halve both.
fn say_against_the_most(n: usize, p: usize, k: usize) -> Outcome {
    const ROUNDS: usize = 1_000_000;
    let most = || {
        let began = Instant::now();
        black_box(multiply_adds(black_box(ROUNDS)));
        (16 * 8 * ROUNDS) as f64 / began.elapsed().as_secs_f64()
    };
    let mut turns = Vec::new();
    for _ in 0..9 {
        let before = most();
        let made = (p * (p + 1)) as f64 / (1e-9 * kernel_nanoseconds(n, p, k)?);
        turns.push((made / before.max(most()), made));
    }
    turns.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (share, made) = turns[turns.len() / 2];
    say(&format!("multiply-adds per second of a sweep: n {n}, p {p}, K {k}"), made / 1e9, "10⁹");
    say("share of the most that a core makes", 100.0 * share, "%");
    Ok(())
}

/// Nanoseconds per row, component and sweep of a mixture of `k` Gaussians, on one thread.
fn kernel_nanoseconds(n: usize, p: usize, k: usize) -> Result<f64, Box<dyn Error>> {
    let data = gaussians(n, p, k, 2.0)?;
    let model = Gmm::new(&data, k, GmmPrior::default(), Update::Corrected)?;
    let centres = model.random_centres(None, &mut stream(1, Purpose::Start, 0));
    Ok(with_threads(1, || sweep_nanoseconds(&model, &centres).map_err(|e| e.to_string()))??)
}

/// Builds a table and returns the seconds, fits and sweeps per fit.
fn table(
    model: &dyn Model,
    points: usize,
    bootstraps: u32,
    designs: &[Design],
) -> Result<(f64, usize, f64), Box<dyn Error>> {
    let omegas = OmegaGrid { points, min: 1e-3 }.omegas();
    let options = options();
    let began = Instant::now();
    let start = Start::KMeans { restarts: 10, seed: 1 };
    let reference = Reference::new(model, &omegas, &start, &options)?;
    let resamples = Resamples::new(1, false, None);
    let work = Work {
        model,
        omegas: &omegas,
        resamples: &resamples,
        reference: &reference,
        options: &options,
        first: 0,
        known: None,
    };
    let jobs: Vec<Job> = designs
        .iter()
        .flat_map(|&design| (0..=bootstraps).map(move |replicate| Job { design, replicate }))
        .collect();
    let counted = Mutex::new((0usize, 0u64));
    Cpu.run(&work, &jobs, Watch::silent().cancel, &|_, path| {
        if let Ok(mut counted) = counted.lock() {
            counted.0 += path.sweeps.len();
            counted.1 += path.sweeps.iter().map(|&s| u64::from(s)).sum::<u64>();
        }
        ControlFlow::Continue(())
    });
    let seconds = began.elapsed().as_secs_f64();
    let (fits, sweeps) = counted.into_inner().map_err(|e| e.to_string())?;
    Ok((seconds, fits, sweeps as f64 / fits as f64))
}

/// The shortest of several runs: on a shared machine the least disturbed one.
fn best(times: usize, mut run: impl FnMut() -> f64) -> f64 {
    (0..times).map(|_| run()).fold(f64::INFINITY, f64::min)
}

/// How many times longer one measurement is than another: best of several turns each, taken
/// alternately so that a busy moment disturbs both.
fn ratio(
    mut large: impl FnMut() -> Result<f64, Box<dyn Error>>,
    mut small: impl FnMut() -> Result<f64, Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    let mut least = (f64::INFINITY, f64::INFINITY);
    for _ in 0..5 {
        least = (least.0.min(large()?), least.1.min(small()?));
    }
    Ok(least.0 / least.1)
}

fn with_threads<T: Send>(
    threads: usize,
    run: impl FnOnce() -> T + Send,
) -> Result<T, Box<dyn Error>> {
    Ok(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?.install(run))
}

/// Nanoseconds per row, component and sweep on one thread.
fn sweep_nanoseconds(model: &dyn Model, centres: &[f64]) -> Result<f64, Box<dyn Error>> {
    let mut sweeper = model.sweeper();
    sweeper.load(None)?;
    let mut state = vec![0.0; model.state_len()];
    let mut next = state.clone();
    sweeper.start(1.0, centres, &mut state)?;
    let work = model.n_units() * model.state_len();
    let repeats = (20_000_000 / work).max(3);
    let seconds = best(5, || {
        let began = Instant::now();
        for _ in 0..repeats {
            // A failed sweep would be far too quick; the sum below would show it.
            let _ = black_box(sweeper.sweep(1.0, &state, &mut next));
        }
        began.elapsed().as_secs_f64()
    });
    let work = (repeats * model.n_units() * model.n_components()) as f64;
    Ok(1e9 * seconds / work)
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

fn measure() -> Outcome {
    let both = [Design::Full, Design::Split];
    let gmm = |data: &Dataset, k: usize| Gmm::new(data, k, GmmPrior::default(), Update::Corrected);
    let faithful = gmm(&Dataset::faithful(), 2)?;
    let build = |points: usize, bootstraps: u32| {
        let runs = (0..3).map(|_| table(&faithful, points, bootstraps, &both));
        runs.collect::<Result<Vec<_>, Box<dyn Error>>>().map(|runs| {
            let first = (f64::INFINITY, 0, 0.0);
            runs.into_iter().fold(first, |best, run| if run.0 < best.0 { run } else { best })
        })
    };
    let (seconds, fits, sweeps) = build(500, 500)?;
    say("Old Faithful table, all threads", seconds, "s");
    say("fits in it", fits as f64, "");
    say("sweeps per fit in it", sweeps, "");
    say("microseconds per fit, all threads", 1e6 * seconds / fits as f64, "µs");
    let threads = |n: usize| {
        let build = || table(&faithful, 500, 500, &both).map_err(|why| why.to_string());
        Ok(with_threads(n, build)??.0)
    };
    say("times faster with 2 threads than with 1", ratio(|| threads(1), || threads(2))?, "×");
    let twice = |small: (usize, u32), large: (usize, u32)| {
        ratio(
            || Ok(table(&faithful, large.0, large.1, &both)?.0),
            || Ok(table(&faithful, small.0, small.1, &both)?.0),
        )
    };
    say("time with twice the bootstraps", twice((250, 250), (250, 500))?, "×");
    say("time with twice the grid", twice((250, 250), (500, 250))?, "×");
    let (small, large) =
        (gmm(&gaussians(2000, 2, 2, 2.0)?, 2)?, gmm(&gaussians(4000, 2, 2, 2.0)?, 2)?);
    let of_full = |model: &Gmm| Ok(table(model, 50, 100, &[Design::Full])?.0);
    say("time with twice the rows", ratio(|| of_full(&large), || of_full(&small))?, "×");
    // Other components and columns make another problem with other sweeps, so per sweep here.
    let sweep = |p: usize, k: usize| Ok(kernel_nanoseconds(20_000, p, k)? * k as f64);
    for (what, (p1, k1), (p2, k2)) in [
        ("components (5 to 10, p 4)", (4, 5), (4, 10)),
        ("columns (4 to 8, K 3)", (4, 3), (8, 3)),
        ("columns (20 to 40, K 3)", (20, 3), (40, 3)),
    ] {
        let times = ratio(|| sweep(p2, k2), || sweep(p1, k1))?;
        say(&format!("time of a sweep with twice the {what}"), times, "×");
    }
    for (n, p, k) in [
        (100_000, 2, 2),
        (100_000, 5, 3),
        (20_000, 20, 10),
        (3_000, 50, 20),
        (1_000, 2, 2),
        (272, 2, 2),
    ] {
        if n == 100_000 {
            say_against_the_least(n, p, k)?;
        } else {
            say(&per_row(n, p, k), kernel_nanoseconds(n, p, k)?, "ns");
        }
    }
    for (n, p, k) in [(20_000, 10, 5), (20_000, 20, 5), (10_000, 50, 5)] {
        say_against_the_most(n, p, k)?;
    }
    let million = gaussians(1_000_000, 5, 3, 3.0)?;
    let began = Instant::now();
    let model = gmm(&million, 3)?;
    let start = Start::KMeans { restarts: 1, seed: 1 };
    let found = fit(&model, None, 1.0, &start, &FitOptions::default(), &mut |_| ())?;
    say(
        "one fit of 1,000,000 rows, p 5, K 3, from columns in memory",
        began.elapsed().as_secs_f64(),
        "s",
    );
    say("its sweeps", found.outcome.sweeps as f64, "");
    regressions()?;
    say("peak memory of all this", peak_memory_mb(), "MB");
    Ok(())
}

/// The statistics of a million rows in 1,000 groups, and a fit from them.
fn regressions() -> Outcome {
    let rows = gaussians(1_000_000, 6, 2, 1.0)?;
    let labels: Vec<String> = (0..rows.n_rows()).map(|i| (i / 1000).to_string()).collect();
    let design = (1..6).map(|j| rows.column(j).to_vec()).collect();
    let names = (1..6).map(|j| format!("x{j}")).collect();
    let y = rows.column(0).to_vec();
    let grouped = Grouped::from_columns("y".to_owned(), y, names, design, Some(&labels))?;
    let make = || Bmlr::new(&grouped, 2, BmlrPrior::default(), Noise::Estimate);
    let seconds = best(5, || {
        let began = Instant::now();
        let _ = black_box(make());
        began.elapsed().as_secs_f64()
    });
    say("bmlr: statistics of 1,000,000 rows in 1,000 groups, p 5", 1e3 * seconds, "ms");
    let model = make()?;
    let start = Start::KMeans { restarts: 1, seed: 1 };
    let seconds = best(5, || {
        let began = Instant::now();
        let _ = black_box(fit(&model, None, 1.0, &start, &FitOptions::default(), &mut |_| ()));
        began.elapsed().as_secs_f64()
    });
    say("bmlr: one fit from them, start included", 1e3 * seconds, "ms");
    Ok(())
}

fn fixed_fit() -> Outcome {
    let model = Gmm::new(&gaussians(3000, 2, 2, 2.0)?, 2, GmmPrior::default(), Update::Corrected)?;
    let start = Start::KMeans { restarts: 1, seed: 1 };
    black_box(fit(&model, None, 1.0, &start, &FitOptions::default(), &mut |_| ())?);
    Ok(())
}

fn fixed_table() -> Outcome {
    let model = Gmm::new(&Dataset::faithful(), 2, GmmPrior::default(), Update::Corrected)?;
    black_box(with_threads(1, || {
        table(&model, 100, 10, &[Design::Full, Design::Split]).map_err(|e| e.to_string())
    })??);
    Ok(())
}

fn fixed_bmlr() -> Outcome {
    let rows = gaussians(4000, 3, 2, 1.0)?;
    let labels: Vec<String> = (0..rows.n_rows()).map(|i| (i / 8).to_string()).collect();
    let design = vec![rows.column(1).to_vec(), rows.column(2).to_vec()];
    let names = vec!["x1".to_owned(), "x2".to_owned()];
    let y = rows.column(0).to_vec();
    let grouped = Grouped::from_columns("y".to_owned(), y, names, design, Some(&labels))?;
    let model = Bmlr::new(&grouped, 2, BmlrPrior::default(), Noise::Estimate)?;
    black_box(with_threads(1, || {
        table(&model, 50, 5, &[Design::Full]).map_err(|e| e.to_string())
    })??);
    Ok(())
}
