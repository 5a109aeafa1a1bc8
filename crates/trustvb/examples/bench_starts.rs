//! Compares the race of starts with ten starts that each run to convergence, for `cargo xtask bench`.
//!
//! `bench_starts [SETS]` simulates that many data sets (300 unless told) of many shapes, fits each both ways, and prints a
//! line of JSON per group: how often the race ends at the same bound, above and below it, and what either costs. Then come
//! as many fresh data sets, on which no constant of the race was chosen.

#![allow(clippy::print_stdout, reason = "an example prints")]

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde_json::json;
use std::error::Error;
use std::time::Instant;
use trustvb::data::Dataset;
use trustvb::fit::{Driver, FitOptions, Start, Status, fit};
use trustvb::model::{Gmm, GmmPrior, Model, Update};
use trustvb::random::{Purpose, stream};

/// Bounds that differ by less are of one optimum.
const SAME: f64 = 0.01;

/// The largest `n p² K` that is looked at, so that ten full starts take no more than seconds.
const MOST_WORK: usize = 3_000_000;

/// What is simulated.
struct Shape {
    n: usize,
    p: usize,
    k: usize,
    asked: usize,
    separation: f64,
}

impl Shape {
    fn draw(number: u64) -> Shape {
        let mut rng = stream(99, Purpose::Simulate, number);
        let mut pick = |of: &[usize]| of[(rng.next_u64() % of.len() as u64) as usize];
        let mut n = pick(&[200, 500, 1000, 2000, 5000, 20_000]);
        let (p, k) = (pick(&[1, 2, 3, 5, 10, 20]), pick(&[2, 3, 4, 5, 7, 10]));
        let apart = [0.7, 1.0, 1.5, 2.5, 4.0][pick(&[0, 1, 2, 3, 4])];
        let asked = k + pick(&[0, 0, 1, 2]);
        while n * p * p * asked > MOST_WORK {
            n /= 2;
        }
        // In one or two columns there is less room.
        let separation = if p <= 2 { 2.0 * apart } else { apart };
        Shape { n, p, k, asked, separation }
    }

    /// Components with centres, covariances and weights of their own.
    fn simulate(&self, seed: u64) -> Result<Dataset, Box<dyn Error>> {
        let Shape { n, p, k, .. } = *self;
        let mut rng = stream(seed, Purpose::Simulate, (n * 1000 + p * 10 + k) as u64);
        let centres: Vec<f64> = (0..k * p).map(|_| self.separation * normal(&mut rng)).collect();
        let mut roots = Vec::with_capacity(k);
        for _ in 0..k {
            let size = (0.4 * normal(&mut rng)).exp();
            let off = 0.5 / (p as f64).sqrt();
            let root: Vec<f64> = (0..p * p)
                .map(|e| size * (f64::from(u8::from(e / p == e % p)) + off * normal(&mut rng)))
                .collect();
            roots.push(root);
        }
        let weights: Vec<f64> = (0..k).map(|_| (0.5 * normal(&mut rng)).exp()).collect();
        let total: f64 = weights.iter().sum();
        let mut counts = vec![0.0; k];
        let mut columns = vec![Vec::with_capacity(n); p];
        for i in 0..n {
            // The component that is furthest behind its share.
            let due = |c: usize| (i + 1) as f64 * weights[c] / total - counts[c];
            let c = (0..k).max_by(|&a, &b| due(a).total_cmp(&due(b))).unwrap_or(0);
            counts[c] += 1.0;
            let z: Vec<f64> = (0..p).map(|_| normal(&mut rng)).collect();
            for (j, column) in columns.iter_mut().enumerate() {
                let noise: f64 = (0..p).map(|l| roots[c][j * p + l] * z[l]).sum();
                column.push(centres[c * p + j] + noise);
            }
        }
        Ok(Dataset::from_columns((1..=p).map(|j| format!("x{j}")).collect(), columns)?)
    }
}

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// One data set, both ways.
struct Compared {
    n: usize,
    spare: usize,
    gain: f64,
    seconds: f64,
    full_seconds: f64,
    unconverged: bool,
    full_unconverged: bool,
}

fn compare(number: u64) -> Result<Compared, Box<dyn Error>> {
    let shape = Shape::draw(number);
    let data = shape.simulate(number)?;
    let model = Gmm::new(&data, shape.asked, GmmPrior::default(), Update::Corrected)?;
    let options = FitOptions::default();
    let began = Instant::now();
    let start = Start::KMeans { restarts: 10, seed: 1 };
    let raced = fit(&model, None, 1.0, &start, &options, &mut |_| ())?;
    let seconds = began.elapsed().as_secs_f64();
    let began = Instant::now();
    let mut sweeper = model.sweeper();
    sweeper.load(None)?;
    let mut driver = Driver::new(&model);
    let (mut best, mut full_unconverged) = (f64::NEG_INFINITY, false);
    for start in 0..10 {
        let centres = model.random_centres(None, &mut stream(1, Purpose::Start, start));
        let mut state = vec![0.0; model.state_len()];
        sweeper.start(1.0, &centres, &mut state)?;
        let outcome = driver.run(sweeper.as_mut(), 1.0, &mut state, &options, &mut |_| ());
        if outcome.bound > best {
            best = outcome.bound;
            full_unconverged = outcome.status == Status::HitLimit;
        }
    }
    Ok(Compared {
        n: shape.n,
        spare: shape.asked - shape.k,
        gain: raced.outcome.bound - best,
        seconds,
        full_seconds: began.elapsed().as_secs_f64(),
        unconverged: raced.outcome.status == Status::HitLimit,
        full_unconverged,
    })
}

fn say(group: &str, sets: &[&Compared]) {
    let share = |is: &dyn Fn(&Compared) -> bool| {
        sets.iter().filter(|s| is(s)).count() as f64 / sets.len().max(1) as f64
    };
    let mut ratios: Vec<f64> = sets.iter().map(|s| s.full_seconds / s.seconds).collect();
    ratios.sort_by(f64::total_cmp);
    let sum = |of: &dyn Fn(&Compared) -> f64| sets.iter().map(|s| of(s)).sum::<f64>();
    println!(
        "{}",
        json!({
            "group": group,
            "sets": sets.len(),
            "same": share(&|s| s.gain.abs() <= SAME),
            "above": share(&|s| s.gain > SAME),
            "below": share(&|s| s.gain < -SAME),
            "below_by_10": share(&|s| s.gain < -10.0),
            "above_by_10": share(&|s| s.gain > 10.0),
            "unconverged": share(&|s| s.unconverged),
            "full_unconverged": share(&|s| s.full_unconverged),
            "seconds": sum(&|s| s.seconds),
            "full_seconds": sum(&|s| s.full_seconds),
            "median_ratio": ratios.get(ratios.len() / 2),
        })
    );
}

/// The number of the first fresh data set.
const FRESH: u64 = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let sets: u64 = std::env::args().nth(1).map_or(Ok(300), |text| text.parse())?;
    let all: Vec<Compared> = (0..sets).map(compare).collect::<Result<_, _>>()?;
    let fresh: Vec<Compared> = (FRESH..FRESH + sets).map(compare).collect::<Result<_, _>>()?;
    let group = |is: &dyn Fn(&Compared) -> bool| all.iter().filter(|s| is(s)).collect::<Vec<_>>();
    say("all", &group(&|_| true));
    say("true K", &group(&|s| s.spare == 0));
    say("K + 1 or K + 2", &group(&|s| s.spare > 0));
    say("n up to 2000", &group(&|s| s.n <= 2000));
    say("n above 2000", &group(&|s| s.n > 2000));
    say("fresh: all", &fresh.iter().collect::<Vec<_>>());
    say("fresh: true K", &fresh.iter().filter(|s| s.spare == 0).collect::<Vec<_>>());
    say("fresh: K + 1 or K + 2", &fresh.iter().filter(|s| s.spare > 0).collect::<Vec<_>>());
    Ok(())
}
