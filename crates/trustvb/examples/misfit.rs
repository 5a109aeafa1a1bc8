//! How often the flag `misfit` is raised where the model holds, and where it does not: `misfit [DATA_SETS] [SEED]` prints the
//! tables of `docs/STUDIES.md`.
//!
//! Where the model holds, every data set has a design of its own, drawn at random: so many components, columns and rows,
//! more or less apart, with other weights, variances and correlations. Where it does not, designs are listed.

#![allow(clippy::print_stdout, reason = "an example prints")]

use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use rand_distr::{ChiSquared, Distribution, Exp1, Gamma, Normal, Poisson, StandardNormal, Uniform};
use rayon::prelude::*;
use std::error::Error;
use trustvb::calibrate::{Misfit, misfits};
use trustvb::data::{Column, Dataset, Frame};
use trustvb::model::{ColumnMixture, ColumnType, Covariance, GaussianMixture};
use trustvb::problem::Problem;
use trustvb::random::{Purpose, stream};

type Found = Result<Vec<Misfit>, Box<dyn Error + Send + Sync>>;

/// The law of a component's columns, of about unit variance.
#[derive(Clone, Copy, Debug)]
enum Law {
    Gaussian,
    T(f64),
    Exponential,
    LogNormal(f64),
    Uniform,
    Gamma(f64),
}

impl Law {
    fn draw(self, rng: &mut ChaCha8Rng) -> Result<f64, Box<dyn Error + Send + Sync>> {
        let normal: f64 = StandardNormal.sample(rng);
        Ok(match self {
            Law::Gaussian => normal,
            Law::T(df) => normal / (ChiSquared::new(df)?.sample(rng) / (df - 2.0)).sqrt(),
            Law::Exponential => Exp1.sample(rng),
            Law::LogNormal(sd) => {
                let variance = sd * sd;
                (sd * normal).exp() / ((variance.exp() - 1.0) * variance.exp()).sqrt()
            }
            Law::Uniform => 12_f64.sqrt() * Uniform::new(0.0, 1.0)?.sample(rng),
            Law::Gamma(shape) => Gamma::new(shape, shape.sqrt().recip())?.sample(rng),
        })
    }
}

/// Rows of a mixture whose components have one law.
#[derive(Clone, Debug)]
struct Design {
    law: Law,
    rows: usize,
    columns: usize,
    components: usize,
    apart: f64,
    /// Standard deviation of the logarithms of weights and of scales, and the share of variance that columns share.
    unequal: f64,
    shared: f64,
}

fn data(
    design: &Design,
    rng: &mut ChaCha8Rng,
) -> Result<Vec<Vec<f64>>, Box<dyn Error + Send + Sync>> {
    let Design { law, rows, columns, components, apart, unequal, shared } = *design;
    let mut normal = |sd: f64| -> Result<f64, Box<dyn Error + Send + Sync>> {
        Ok(sd * Normal::new(0.0, 1.0)?.sample(rng))
    };
    let mut weights = Vec::new();
    let mut laws = Vec::new();
    for _ in 0..components {
        weights.push(normal(unequal)?.exp());
        let centre = (0..columns).map(|_| normal(1.0)).collect::<Result<Vec<_>, _>>()?;
        let scales = (0..columns)
            .map(|_| Ok(normal(unequal)?.exp()))
            .collect::<Result<Vec<f64>, Box<dyn Error + Send + Sync>>>()?;
        laws.push((centre, scales));
    }
    // Centres on a sphere: two that are opposite are so many standard deviations apart.
    for (c, (centre, _)) in laws.iter_mut().enumerate() {
        let length = centre.iter().map(|x| x * x).sum::<f64>().sqrt();
        let far = if columns == 1 { c as f64 } else { 0.75 };
        for x in centre.iter_mut() {
            *x = if columns == 1 { far * apart } else { *x / length * far * apart };
        }
    }
    let total: f64 = weights.iter().sum();
    let mut all = vec![Vec::with_capacity(rows); columns];
    for _ in 0..rows {
        let mut u = total * Uniform::new(0.0, 1.0)?.sample(rng);
        let c = weights.iter().position(|w| {
            u -= w;
            u < 0.0
        });
        let (centre, scales) = &laws[c.unwrap_or(components - 1)];
        let common = law.draw(rng)?;
        for (j, column) in all.iter_mut().enumerate() {
            let own = law.draw(rng)?;
            // Sums of other laws are not of that law.
            let z = match law {
                Law::Gaussian => shared.sqrt() * common + (1.0 - shared).sqrt() * own,
                _ => own,
            };
            column.push(centre[j] + scales[j] * z);
        }
    }
    Ok(all)
}

fn found(problem: &Problem) -> Found {
    let fit = problem.fit().run()?;
    Ok(misfits(problem.model().as_ref(), &fit.posterior))
}

fn gmm(design: &Design, k: usize, covariance: Covariance, rng: &mut ChaCha8Rng) -> Found {
    let columns = data(design, rng)?;
    let names = (1..=columns.len()).map(|j| format!("x{j}")).collect();
    let data = Dataset::from_columns(names, columns)?;
    found(&GaussianMixture::new(k).covariance(covariance).bind(data)?)
}

/// Two classes with columns of Gaussian numbers and of counts, which are negative binomial where `excess` is positive.
fn classes(rows: usize, apart: f64, excess: f64, rng: &mut ChaCha8Rng) -> Found {
    let mut columns = vec![Vec::new(); 6];
    for _ in 0..rows {
        let second = Uniform::new(0.0, 1.0)?.sample(rng) < 0.4;
        let shift: f64 = if second { apart } else { 0.0 };
        for (j, column) in columns.iter_mut().enumerate() {
            column.push(if j < 3 {
                shift + Normal::new(0.0, 1.0)?.sample(rng)
            } else {
                let rate = [0.5, 2.0, 6.0][j - 3] * (0.5 * shift).exp();
                let rate = match excess {
                    0.0 => rate,
                    _ => Gamma::new(rate / excess, excess)?.sample(rng).max(1e-9),
                };
                Poisson::new(rate)?.sample(rng)
            });
        }
    }
    let names = ["a", "b", "c", "few", "some", "many"];
    let columns =
        names.iter().zip(columns).map(|(name, x)| ((*name).to_owned(), Column::Numeric(x)));
    let kinds = names.iter().enumerate().map(|(j, name)| {
        ((*name).to_owned(), if j < 3 { ColumnType::Gaussian } else { ColumnType::Count })
    });
    let types: Vec<(String, ColumnType)> = kinds.collect();
    found(&ColumnMixture::new(2).bind(&Frame::from_columns(columns.collect())?, &types)?)
}

/// The share of data sets with a misfit, and how many could be fitted.
fn share(
    data_sets: u64,
    seed: u64,
    number: u64,
    one: impl Fn(&mut ChaCha8Rng) -> Found + Sync,
) -> (f64, usize) {
    let all: Vec<bool> = (0..data_sets)
        .into_par_iter()
        .filter_map(|i| {
            let mut rng = stream(seed, Purpose::Simulate, number * 1_000_000 + i);
            Some(!one(&mut rng).ok()?.is_empty())
        })
        .collect();
    (all.iter().filter(|is| **is).count() as f64 / all.len().max(1) as f64, all.len())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let data_sets: u64 = arguments.next().map_or(Ok(200), |x| x.parse())?;
    let seed: u64 = arguments.next().map_or(Ok(1), |x| x.parse())?;
    let pick = |from: &[usize], rng: &mut ChaCha8Rng| *from.choose(rng).unwrap_or(&1);

    println!("| the model holds | data sets | flagged |\n|---|---|---|");
    let rows = [60, 120, 250, 500, 1000, 3000];
    for (number, covariance) in Covariance::ALL.into_iter().enumerate() {
        for (at, n) in rows.into_iter().enumerate() {
            let few = (data_sets * 500 / n.max(500) as u64).max(1);
            let (flagged, of) = share(few, seed, (number * rows.len() + at) as u64, |rng| {
                let (components, columns) =
                    (pick(&[1, 2, 3, 4], rng), pick(&[1, 2, 3, 5, 10], rng));
                let apart = pick(&[1, 2, 3, 4, 6, 10], rng) as f64;
                // All components have one covariance, without correlations, or without differences.
                let same = matches!(covariance, Covariance::Tied | Covariance::Spherical);
                let unequal = if same { 0.0 } else { 0.3 };
                let shared = match covariance {
                    Covariance::Full | Covariance::Tied => pick(&[0, 3, 6], rng) as f64 / 10.0,
                    Covariance::Diagonal | Covariance::Spherical => 0.0,
                };
                let law = Law::Gaussian;
                let design = Design { law, rows: n, columns, components, apart, unequal, shared };
                // One too many is no misfit.
                let k = components + usize::from(pick(&[0, 0, 0, 1], rng) == 1);
                gmm(&design, k, covariance, rng)
            });
            println!("| {covariance}, {n} rows | {of} | {:.1}% |", 100.0 * flagged);
        }
    }
    for (number, (n, apart)) in
        [(100, 1.0), (100, 3.0), (400, 1.0), (400, 3.0), (2000, 2.0)].into_iter().enumerate()
    {
        let (flagged, of) =
            share(data_sets, seed, 100 + number as u64, |rng| classes(n, apart, 0.0, rng));
        println!("| classes {apart} apart, {n} rows | {of} | {:.1}% |", 100.0 * flagged);
    }

    println!("\n| it does not | data sets | flagged |\n|---|---|---|");
    let laws = [
        Law::LogNormal(1.0),
        Law::LogNormal(0.5),
        Law::Exponential,
        Law::Gamma(4.0),
        Law::T(3.0),
        Law::T(5.0),
        Law::Uniform,
    ];
    let mut number = 200;
    for law in laws {
        for (n, columns, components, apart) in [
            (200, 2, 2, 6.0),
            (500, 2, 2, 6.0),
            (500, 2, 2, 3.0),
            (500, 1, 1, 0.0),
            (2000, 3, 3, 8.0),
        ] {
            let design =
                Design { law, rows: n, columns, components, apart, unequal: 0.3, shared: 0.0 };
            let (flagged, of) = share(data_sets.min(100), seed, number, |rng| {
                gmm(&design, components, Covariance::Full, rng)
            });
            let what = format!(
                "{law:?}, {components} components, {columns} columns, {apart} apart, {n} rows"
            );
            println!("| {what} | {of} | {:.0}% |", 100.0 * flagged);
            number += 1;
        }
    }
    for (n, excess) in [(200, 1.0), (1000, 1.0), (1000, 0.5)] {
        let (flagged, of) =
            share(data_sets.min(100), seed, number, |rng| classes(n, 3.0, excess, rng));
        println!(
            "| counts whose variance is {} times the mean, {n} rows | {of} | {:.0}% |",
            1.0 + excess,
            100.0 * flagged
        );
        number += 1;
    }
    Ok(())
}
