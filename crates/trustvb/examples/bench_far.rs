//! The cost of rows that are not in memory, for docs/SCALE.md: time of a sweep by row, component and squared column on one
//! thread, in memory and from a scratch file (the fastest of several sweeps, so that others on the machine matter
//! little); passes of a fit and of an interval by `jackknife`; bytes that a pass sends to a part of the rows and gets back.
//!
//! `cargo run --release -p trustvb --example bench_far` measures a list of sizes, with `N P K` one.

#![allow(clippy::print_stdout, reason = "an example prints")]

use rand_distr::{Distribution, StandardNormal};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use trustvb::data::{DataError, Dataset, Frame, ReadOptions};
use trustvb::fit::{FitOptions, Linearisation, Start, fit};
use trustvb::model::{
    Degenerate, FarRows, Gmm, GmmPrior, Model, ModelData, Pass, PassKind, RowKeeper, RowsPart,
    Source, TakePieces, Update, Wishes,
};
use trustvb::random::{Purpose, stream};

type Outcome = Result<(), Box<dyn Error>>;

/// Sweeps of which the fastest counts.
const SWEEPS: usize = 20;

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    println!(
        "| rows | p | K | sweep in memory | per row·K·p² | from a scratch file | per row·K·p² | passes of a fit | of \
         an interval | to a part | back |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    if words.is_empty() {
        let sizes = [(4_000_000, 2, 2), (2_000_000, 5, 3), (1_000_000, 10, 5), (500_000, 20, 5)];
        return sizes.into_iter().try_for_each(|(n, p, k)| measure(n, p, k));
    }
    let sizes: Vec<usize> = words.iter().map(|x| x.parse()).collect::<Result<_, _>>()?;
    let [n, p, k] = sizes[..] else { return Err("usage: bench_far N P K".into()) };
    measure(n, p, k)
}

/// `k` unit Gaussians of equal weight that overlap a little, whatever the number of columns.
fn gaussians(n: usize, p: usize, k: usize) -> Result<Dataset, Box<dyn Error>> {
    let mut rng = stream(1, Purpose::Simulate, (n + p * 10 + k) as u64);
    let shift = 4.0 / (2.0 * p as f64 / k as f64).max(1.0).sqrt();
    let mut columns = vec![Vec::with_capacity(n); p];
    for i in 0..n {
        for (j, column) in columns.iter_mut().enumerate() {
            let noise: f64 = StandardNormal.sample(&mut rng);
            let times = if p == 1 { i % k } else { usize::from(i % k == j % k) };
            column.push(noise + shift * times as f64);
        }
    }
    Ok(Dataset::from_columns((1..=p).map(|j| format!("x{j}")).collect(), columns)?)
}

/// Rows in memory as if they came from a file.
struct Rows<'a>(&'a Dataset);

impl Source for Rows<'_> {
    fn frame(&self, _: ReadOptions<'_>) -> Result<Frame, DataError> {
        Ok(Frame::from(self.0.clone()))
    }
    fn pieces(&self, options: ReadOptions<'_>, take: &mut TakePieces<'_>) -> Result<(), DataError> {
        take(&mut std::iter::once(self.frame(options)))
    }
    fn path(&self) -> Option<&Path> {
        None
    }
}

/// One part, whose passes are counted.
#[derive(Debug)]
struct Counted {
    part: RowsPart,
    passes: AtomicUsize,
    sent: AtomicUsize,
    back: AtomicUsize,
}

impl RowKeeper for Counted {
    fn sums(&self, pass: &Pass) -> Result<Vec<f64>, String> {
        let sums = self.part.sums(pass)?;
        self.passes.fetch_add(1, Ordering::Relaxed);
        if pass.kind == PassKind::Statistics {
            self.sent.fetch_max(8 * pass.to_numbers().len(), Ordering::Relaxed);
            self.back.fetch_max(8 * sums.len(), Ordering::Relaxed);
        }
        Ok(sums)
    }
    fn rows(&self, units: (&[f64], &[f64]), numbers: &[usize]) -> Result<Vec<f64>, String> {
        self.part.rows(units, numbers)
    }
}

/// Seconds of one sweep on one thread.
fn sweep(model: &dyn Model, state: &[f64]) -> Result<f64, Box<dyn Error>> {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    one.install(|| fastest(model, state)).map_err(Into::into)
}

fn fastest(model: &dyn Model, state: &[f64]) -> Result<f64, Degenerate> {
    let mut sweeper = model.sweeper();
    sweeper.load(None)?;
    let mut next = vec![0.0; state.len()];
    let mut fastest = f64::INFINITY;
    for _ in 0..SWEEPS {
        let began = Instant::now();
        sweeper.sweep(1.0, state, &mut next)?;
        fastest = fastest.min(began.elapsed().as_secs_f64());
    }
    Ok(fastest)
}

fn measure(n: usize, p: usize, k: usize) -> Outcome {
    let data = gaussians(n, p, k)?;
    let (prior, update) = (GmmPrior::default(), Update::Corrected);
    let keeper = Arc::new(Counted {
        part: RowsPart::new(&data),
        passes: AtomicUsize::new(0),
        sent: AtomicUsize::new(0),
        back: AtomicUsize::new(0),
    });
    let far = FarRows::new("rows", keeper.part.summary().clone(), keeper.clone());
    let counted = Gmm::far(&far, k, prior.clone(), update)?;
    let start = Start::KMeans { restarts: 10, seed: 1 };
    let found = fit(&counted, None, 1.0, &start, &FitOptions::default(), &mut |_| ())?;
    let of_fit = keeper.passes.swap(0, Ordering::Relaxed);
    let at = Linearisation::new(&counted, None, 1.0, &found.state)?;
    let sd = at.sd(&counted, &|posterior| posterior.weights()[0])?;
    assert!(sd > 0.0, "rows that say nothing are no measure");
    let of_interval = keeper.passes.load(Ordering::Relaxed);
    let (sent, back) = (keeper.sent.load(Ordering::Relaxed), keeper.back.load(Ordering::Relaxed));
    let held = sweep(&Gmm::new(&data, k, prior.clone(), update)?, &found.state)?;
    let wishes = Wishes { stream: true, ..Wishes::new(k) };
    let ModelData::Far(scratch) = wishes.model().grant(&wishes, &Rows(&data))?.data else {
        return Err("no rows were streamed".into());
    };
    let streamed = sweep(&Gmm::far(&scratch, k, prior, update)?, &found.state)?;
    let each = |seconds: f64| 1e9 * seconds / (n * k * p * p) as f64;
    println!(
        "| {n} | {p} | {k} | {held:.3} s | {:.2} ns | {streamed:.3} s | {:.2} ns | {of_fit} | {of_interval} | {sent} B \
         | {back} B |",
        each(held),
        each(streamed)
    );
    Ok(())
}
