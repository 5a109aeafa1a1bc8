//! Coverage and length of intervals by little bootstraps beside those by bootstraps of all units, on simulated data.
//!
//! `cargo run --release -p trustvb --example little_bootstraps [DATA SETS] [ROWS] [BOOTSTRAPS]` prints a table.

#![allow(clippy::print_stdout, reason = "an example prints")]

use rand_distr::{Binomial, Distribution, StandardNormal};
use std::error::Error;
use trustvb::prelude::*;
use trustvb::random::{Purpose, stream};
use trustvb::resample::Subsets;
use trustvb::table::Plan;

const METHODS: [Method; 3] = [Method::Balanced, Method::Tempered, Method::Bootstrap];
const QUANTITIES: [(&str, f64); 4] =
    [("pi[1]", 0.65), ("mu[1,x1]", 0.0), ("mu[2,x2]", 2.0), ("sd[1,x1]", 1.0)];
const SUBSETS: u32 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let number = |at: usize, usual: usize| match std::env::args().nth(at) {
        Some(word) => word.parse(),
        None => Ok(usual),
    };
    let (n_sets, n_rows, bootstraps) = (number(1, 300)?, number(2, 20_000)?, number(3, 200)?);
    let mut sums = vec![[0.0; 5]; METHODS.len() * QUANTITIES.len()];
    for set in 0..n_sets {
        let problem = GaussianMixture::new(2).bind(rows(n_rows, set as u64)?)?;
        let plan = Plan { bootstraps: bootstraps as u32, ..Plan::for_methods(1, &METHODS) };
        let subsets = Some(Subsets::of(n_rows, SUBSETS));
        let little = problem.table().plan(Plan { subsets, ..plan.clone() }).build()?;
        let all = problem.table().plan(plan).build()?;
        let each = QUANTITIES.iter().flat_map(|h| METHODS.iter().map(move |method| (h, *method)));
        for (((text, truth), method), sums) in each.zip(&mut sums) {
            let ask = |table: &TvbTable| -> Result<Answer, Box<dyn Error>> {
                let answers = table.ask(text)?.level(0.95).by(&[method])?;
                Ok(answers.into_iter().next().ok_or("there is no answer")?)
            };
            let (few, many) = (ask(&little)?, ask(&all)?);
            let holds = |a: &Answer| f64::from(u8::from(a.lower <= *truth && *truth <= a.upper));
            let ratio = ((few.upper - few.lower) / (many.upper - many.lower)).ln();
            let own = [holds(&many), holds(&few), (holds(&few) - holds(&many)).powi(2), ratio];
            own.iter().chain([&ratio.powi(2)]).zip(sums).for_each(|(x, sum)| *sum += x);
        }
    }
    let n = n_sets as f64;
    println!("{n_sets} data sets of {n_rows} rows, {bootstraps} bootstraps, {SUBSETS} subsets\n");
    println!("| quantity | method | all units | subsets | difference ± se | length ratio ± se |");
    println!("|---|---|---|---|---|---|");
    let each = QUANTITIES.iter().flat_map(|(h, _)| METHODS.iter().map(move |m| (h, m.name())));
    for ((text, method), [all, few, apart, ratio, squares]) in each.zip(sums) {
        let (differs, mean) = ((few - all) / n, ratio / n);
        let se = ((apart / n - differs * differs) / n).sqrt();
        let se_ratio = ((squares / n - mean * mean) / n).sqrt();
        println!(
            "| {text} | {method} | {:.3} | {:.3} | {differs:+.3} ± {se:.3} | {:.3} ± {se_ratio:.3} |",
            all / n,
            few / n,
            mean.exp()
        );
    }
    Ok(())
}

/// Two unit Gaussians, of weights 0.65 and 0.35, whose centres are 2 apart in each of two columns.
fn rows(n: usize, number: u64) -> Result<Dataset, Box<dyn Error>> {
    let mut rng = stream(17, Purpose::Simulate, number);
    let (mut columns, which) = (vec![Vec::new(); 2], Binomial::new(1, 0.35)?);
    for _ in 0..n {
        let centre = 2.0 * which.sample(&mut rng) as f64;
        for column in &mut columns {
            let noise: f64 = StandardNormal.sample(&mut rng);
            column.push(centre + noise);
        }
    }
    Ok(Dataset::from_columns(vec!["x1".to_owned(), "x2".to_owned()], columns)?)
}
