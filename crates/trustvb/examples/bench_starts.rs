//! Explore.
#![allow(clippy::print_stdout, reason = "an example prints")]
use rand_distr::{Distribution, StandardNormal};
use std::error::Error;
use trustvb::data::Dataset;
use trustvb::fit::{Driver, FitOptions, Start, fit};
use trustvb::model::{Gmm, GmmPrior, Model, Update};
use trustvb::random::{Purpose, stream};

fn simulate(
    seed: u64,
    n: usize,
    p: usize,
    k: usize,
    separation: f64,
) -> Result<Dataset, Box<dyn Error>> {
    let mut rng = stream(seed, Purpose::Simulate, (n * 1000 + p * 10 + k) as u64);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let centres: Vec<f64> = (0..k * p).map(|_| separation * normal()).collect();
    let roots: Vec<Vec<f64>> = (0..k)
        .map(|_| {
            let size = (0.4 * normal()).exp();
            (0..p * p)
                .map(|e| {
                    size * (if e / p == e % p { 1.0 } else { 0.0 }
                        + 0.5 / (p as f64).sqrt() * normal())
                })
                .collect()
        })
        .collect();
    let weights: Vec<f64> = (0..k).map(|_| (0.5 * normal()).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mut columns = vec![Vec::with_capacity(n); p];
    let mut z = vec![0.0; p];
    let mut count = vec![0.0; k];
    for i in 0..n {
        let c = (0..k)
            .max_by(|&a, &b| {
                let due = |c: usize| (i + 1) as f64 * weights[c] / total - count[c];
                due(a).total_cmp(&due(b))
            })
            .unwrap_or(0);
        count[c] += 1.0;
        for z in &mut z {
            *z = normal();
        }
        for j in 0..p {
            columns[j]
                .push(centres[c * p + j] + (0..p).map(|l| roots[c][j * p + l] * z[l]).sum::<f64>());
        }
    }
    Ok(Dataset::from_columns((1..=p).map(|j| format!("x{j}")).collect(), columns)?)
}

fn traces(quality: bool) -> Result<(), Box<dyn Error>> {
    use rand::Rng;
    for number in 0..300u64 {
        let mut rng = stream(99, Purpose::Simulate, number);
        let mut pick = |of: &[usize]| of[(rng.next_u64() % of.len() as u64) as usize];
        let (mut n, p, k) = (
            pick(&[200, 500, 1000, 2000, 5000, 20000]),
            pick(&[1, 2, 3, 5, 10, 20]),
            pick(&[2, 3, 4, 5, 7, 10]),
        );
        let sep =
            [0.7, 1.0, 1.5, 2.5, 4.0][pick(&[0, 1, 2, 3, 4])] * if p <= 2 { 2.0 } else { 1.0 };
        let asked = k + pick(&[0, 0, 1, 2]);
        while n * p * p * asked > 3_000_000 {
            n /= 2;
        }
        let data = simulate(number, n, p, k, sep)?;
        let model = Gmm::new(&data, asked, GmmPrior::default(), Update::Corrected)?;
        if quality {
            let began = cpu();
            let f = fit(
                &model,
                None,
                1.0,
                &Start::KMeans { restarts: 10, seed: 1 },
                &FitOptions::default(),
                &mut |_| (),
            )?;
            let stride = f.state.len() / asked;
            let counts: Vec<f64> = (0..asked).map(|c| f.state[c * stride]).collect();
            println!(
                "{}",
                serde_json::json!({"bound": f.outcome.bound, "sweeps": f.outcome.sweeps, "status": f.outcome.status.name(), "seconds": (cpu() - began), "counts": counts})
            );
            continue;
        }
        let mut sweeper = model.sweeper();
        sweeper.load(None)?;
        let mut driver = Driver::new(&model);
        let began = cpu();
        let mut all = Vec::new();
        for start in 0..10 {
            let centres = model.random_centres(None, &mut stream(1, Purpose::Start, start));
            let mut state = vec![0.0; model.state_len()];
            sweeper.start(1.0, &centres, &mut state)?;
            let mut at = Vec::new();
            let options = FitOptions { max_sweeps: 1000, ..FitOptions::default() };
            let outcome = driver.run(sweeper.as_mut(), 1.0, &mut state, &options, &mut |p| {
                at.push((p.sweeps, p.bound, p.change));
            });
            let stride = state.len() / asked;
            let mut counts: Vec<f64> = (0..asked).map(|c| state[c * stride]).collect();
            counts.sort_by(|a, b| b.total_cmp(a));
            all.push(serde_json::json!({"trace": at, "bound": outcome.bound, "sweeps": outcome.sweeps, "status": outcome.status.name(), "counts": counts}));
        }
        println!(
            "{}",
            serde_json::json!({"n": n, "p": p, "k": k, "asked": asked, "sep": sep, "starts": all, "seconds": (cpu() - began)})
        );
    }
    Ok(())
}

fn cpu() -> f64 {
    let mut total = 0.0;
    for task in std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        let text = std::fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        total += text.split_whitespace().next().and_then(|x| x.parse::<f64>().ok()).unwrap_or(0.0);
    }
    total * 1e-9
}

fn main() -> Result<(), Box<dyn Error>> {
    let a: Vec<String> = std::env::args().skip(1).collect();
    if a[0] == "traces" {
        return traces(false);
    }
    if a[0] == "quality" {
        return traces(true);
    }
    let u = |i: usize| a[i].parse::<usize>();
    let (seed, n, p, k, asked) = (u(1)? as u64, u(2)?, u(3)?, u(4)?, u(5)?);
    let sep: f64 = a[6].parse()?;
    let data = simulate(seed, n, p, k, sep)?;
    let model = Gmm::new(&data, asked, GmmPrior::default(), Update::Corrected)?;
    let options = FitOptions::default();
    let began = cpu();
    if a[0] == "fit" {
        let f = fit(
            &model,
            None,
            1.0,
            &Start::KMeans { restarts: 10, seed: 1 },
            &options,
            &mut |_| (),
        )?;
        println!(
            "fit {:.3}s bound {:.4} sweeps {} {:?}",
            (cpu() - began),
            f.outcome.bound,
            f.outcome.sweeps,
            f.outcome.status
        );
        return Ok(());
    }
    let mut sweeper = model.sweeper();
    sweeper.load(None)?;
    let mut driver = Driver::new(&model);
    for start in 0..10 {
        let began = cpu();
        let centres = model.random_centres(None, &mut stream(1, Purpose::Start, start));
        let t_centres = (cpu() - began);
        let mut state = vec![0.0; model.state_len()];
        sweeper.start(1.0, &centres, &mut state)?;
        let mut at = Vec::new();
        let mut changes = Vec::new();
        let outcome = driver.run(sweeper.as_mut(), 1.0, &mut state, &options, &mut |p| {
            if [5, 10, 20, 40, 80, 160, 320, 640, 1280, 1999].contains(&p.sweeps) {
                at.push((p.sweeps, p.bound));
                changes.push(format!("{:.0e}", p.change));
            }
        });
        let t = (cpu() - began);
        let stride = state.len() / asked;
        let counts: Vec<String> = (0..asked).map(|c| format!("{:.1}", state[c * stride])).collect();
        println!(
            "{start} centres {t_centres:.3} all {t:.3} sweeps {} bound {:.4} {:?} {:?}",
            outcome.sweeps, outcome.bound, outcome.status, counts
        );
        println!(
            "    {:?}",
            at.iter().map(|(s, b)| format!("{s}:{:.3}", outcome.bound - b)).collect::<Vec<_>>()
        );
        println!("    {:?}", changes);
    }
    println!("all {:.3}", (cpu() - began));
    Ok(())
}
