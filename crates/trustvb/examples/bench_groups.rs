//! Whether the right groups are found, and the right number of them, where the truth is known.
//!
//! ```text
//! cargo run --release -p trustvb --example bench_groups -- find 20        the default's groups beside those of a fit from the truth
//! cargo run --release -p trustvb --example bench_groups -- count 20       how many groups `select` finds
//! cargo run --release -p trustvb --example bench_groups -- write find 20 DIR   the same data as CSV, for scripts/groups_rivals.py
//! ```
//!
//! `find-once` and `count-once` are the same for designs that were looked at once, when everything had been chosen.
//!
//! Groups are compared by the adjusted Rand index: 1 where they are those of the truth, 0 where they are of chance.

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{ChiSquared, Distribution, StandardNormal};
use rayon::prelude::*;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use trustvb::fit::{Fit, FitOptions, Start, fit};
use trustvb::model::{Model, ModelData, ModelSpec};
use trustvb::prelude::*;
use trustvb::random::{Purpose, stream};
use trustvb::select::SelectRequest;

/// Covariances within groups.
#[derive(Clone, Copy)]
enum Within {
    /// The identity in all groups.
    Round,
    /// All correlations of all groups are the same.
    Correlated(f64),
    /// Two common factors for all columns, the same in all groups.
    Factors,
    /// A matrix of its own for each group, about the identity: the nearer the larger the number.
    Unequal(f64),
    /// Round, of unlike sizes.
    Sizes,
}

/// Where groups are.
#[derive(Clone, Copy)]
enum Apart {
    /// The first in the origin, each other along a column of its own.
    Columns,
    /// In random directions from the origin.
    Random,
}

/// A design: distances are in standard deviations within groups (Mahalanobis).
struct Design {
    name: &'static str,
    weights: &'static [f64],
    columns: usize,
    rows: usize,
    apart: f64,
    within: Within,
    directions: Apart,
    /// Degrees of freedom of t tails.
    tails: Option<f64>,
}

const TWO: &[f64] = &[0.6, 0.4];
const THREE: &[f64] = &[0.5, 0.3, 0.2];
const FOUR: &[f64] = &[0.3, 0.3, 0.2, 0.2];

const fn design(
    name: &'static str,
    weights: &'static [f64],
    (columns, rows, apart): (usize, usize, f64),
    within: Within,
    directions: Apart,
) -> Design {
    Design { name, weights, columns, rows, apart, within, directions, tails: None }
}

const fn with_tails(design: Design) -> Design {
    Design { tails: Some(5.0), ..design }
}

use Apart::{Columns, Random};
use Within::{Correlated, Factors, Round, Sizes, Unequal};

/// Which groups.
const FIND: [Design; 22] = [
    design("2 round, 5 columns", TWO, (5, 100, 3.0), Round, Columns),
    design("2 round, 10 columns", TWO, (10, 300, 3.0), Round, Columns),
    design("2 correlated .6, 10 columns", TWO, (10, 300, 3.0), Correlated(0.6), Columns),
    design("3 correlated .4, 5 columns", THREE, (5, 300, 3.5), Correlated(0.4), Columns),
    design("2 correlated .6, 5 columns", TWO, (5, 300, 3.0), Correlated(0.6), Columns),
    design("2 round, 2 columns, few rows", TWO, (2, 60, 3.0), Round, Columns),
    design("2 correlated .3, 8 columns", TWO, (8, 120, 3.5), Correlated(0.3), Random),
    design("3 with factors, 6 columns", THREE, (6, 200, 4.0), Factors, Random),
    design("2 correlated .5, 15 columns", TWO, (15, 400, 3.5), Correlated(0.5), Random),
    design("2 round, 20 columns", TWO, (20, 300, 4.0), Round, Random),
    design("3 unequal, 10 columns", THREE, (10, 500, 4.0), Unequal(2.0), Random),
    design("2 unequal, 3 columns", TWO, (3, 200, 3.0), Unequal(1.0), Random),
    design("4 of unlike sizes, 4 columns", FOUR, (4, 600, 4.5), Sizes, Random),
    design("2, a tenth, 6 columns", &[0.9, 0.1], (6, 300, 4.0), Correlated(0.4), Random),
    design("3, a small one, unequal", &[0.6, 0.34, 0.06], (3, 400, 5.0), Unequal(1.0), Random),
    design("2 with factors, 12 columns", TWO, (12, 1000, 3.0), Factors, Random),
    design(
        "5 correlated .5, 5 columns",
        &[0.3, 0.25, 0.2, 0.15, 0.1],
        (5, 1000, 5.0),
        Correlated(0.5),
        Random,
    ),
    design("2 correlated .4, 30 columns", TWO, (30, 300, 5.0), Correlated(0.4), Random),
    design("2 with factors, 20 columns", TWO, (20, 400, 4.0), Factors, Random),
    design("3 correlated .5, 12 columns", THREE, (12, 300, 4.5), Correlated(0.5), Random),
    design("2 unequal, 20 columns", TWO, (20, 600, 4.0), Unequal(3.0), Random),
    design("2 unequal, 10 columns", TWO, (10, 400, 4.0), Unequal(5.0), Random),
];

/// Which groups, in designs that were looked at once, when all was chosen.
const FIND_ONCE: [Design; 10] = [
    design("2 round, 3 columns", TWO, (3, 80, 3.5), Round, Random),
    design("2 correlated .7, 4 columns", TWO, (4, 150, 3.0), Correlated(0.7), Columns),
    design("2 correlated .5, 12 columns", TWO, (12, 350, 3.5), Correlated(0.5), Columns),
    design("3 round, 8 columns", THREE, (8, 400, 4.0), Round, Random),
    design("3 unequal, 4 columns", THREE, (4, 240, 4.0), Unequal(1.5), Random),
    design("2, an eighth, 10 columns", &[0.875, 0.125], (10, 500, 4.5), Correlated(0.3), Random),
    design("4 with factors, 8 columns", FOUR, (8, 800, 5.0), Factors, Random),
    design("2 of unlike sizes, 6 columns", TWO, (6, 250, 3.5), Sizes, Random),
    design("2 unequal, 15 columns", TWO, (15, 450, 4.0), Unequal(2.0), Random),
    design("3 with factors, 18 columns", THREE, (18, 900, 4.5), Factors, Random),
];

/// How many groups.
const COUNT: [Design; 19] = [
    design("1, one column", &[1.0], (1, 120, 0.0), Round, Columns),
    design("1, correlated, 3 columns", &[1.0], (3, 200, 0.0), Correlated(0.5), Columns),
    design("1, 10 columns", &[1.0], (10, 300, 0.0), Round, Columns),
    design("2, one column", TWO, (1, 300, 3.0), Round, Columns),
    design("2 of unlike sizes, one column", TWO, (1, 300, 3.0), Sizes, Columns),
    design("2 unequal, 2 columns", TWO, (2, 200, 4.0), Unequal(1.0), Columns),
    design("2 round, 10 columns", TWO, (10, 300, 4.0), Round, Columns),
    design("2 correlated .4, 10 columns", TWO, (10, 300, 4.0), Correlated(0.4), Columns),
    design("3 round, 3 columns", THREE, (3, 300, 4.5), Round, Columns),
    design("3 unequal, 5 columns", THREE, (5, 300, 4.5), Unequal(1.5), Columns),
    design("3 correlated .4, 8 columns", THREE, (8, 300, 4.5), Correlated(0.4), Columns),
    design("4 correlated .3, 4 columns", FOUR, (4, 400, 5.0), Correlated(0.3), Columns),
    design("4 with factors, 15 columns", FOUR, (15, 600, 6.0), Factors, Columns),
    with_tails(design("1 with t tails, one column", &[1.0], (1, 300, 0.0), Round, Columns)),
    with_tails(design(
        "1 with t tails, 2 columns",
        &[1.0],
        (2, 300, 0.0),
        Correlated(0.3),
        Columns,
    )),
    with_tails(design(
        "1 with t tails, 5 columns",
        &[1.0],
        (5, 300, 0.0),
        Correlated(0.3),
        Columns,
    )),
    with_tails(design("2 with t tails, 2 columns", TWO, (2, 300, 6.0), Correlated(0.3), Columns)),
    with_tails(design("2 with t tails, 4 columns", TWO, (4, 400, 6.0), Correlated(0.3), Columns)),
    with_tails(design("3 with t tails, 3 columns", THREE, (3, 500, 7.0), Round, Columns)),
];

/// How many groups, in designs that were looked at once.
const COUNT_ONCE: [Design; 12] = [
    design("1, 6 columns, factors", &[1.0], (6, 150, 0.0), Factors, Columns),
    design("1, 2 columns, many rows", &[1.0], (2, 2000, 0.0), Correlated(0.7), Columns),
    design("2 correlated .6, 6 columns", TWO, (6, 250, 4.0), Correlated(0.6), Random),
    design("2 with factors, 12 columns", TWO, (12, 400, 4.5), Factors, Random),
    design("2, a sixth, 3 columns", &[0.83, 0.17], (3, 300, 5.0), Unequal(1.0), Random),
    design("3 of unlike sizes, 2 columns", THREE, (2, 400, 5.5), Sizes, Columns),
    design("3 unequal, 6 columns", THREE, (6, 500, 4.5), Unequal(2.0), Random),
    design("3 round, 15 columns", THREE, (15, 450, 5.0), Round, Columns),
    design("5 correlated .3, 5 columns", &[0.2; 5], (5, 750, 5.0), Correlated(0.3), Columns),
    with_tails(design("1 with t tails, 3 columns", &[1.0], (3, 500, 0.0), Factors, Columns)),
    with_tails(design("1 with t tails, 8 columns", &[1.0], (8, 400, 0.0), Round, Columns)),
    with_tails(design("2 with t tails, 3 columns", TWO, (3, 400, 6.0), Correlated(0.5), Random)),
];

/// Numbers of groups that `select` compares.
const NUMBERS: [usize; 6] = [1, 2, 3, 4, 5, 6];

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// The Cholesky factor of a group's covariance, row after row.
fn root(within: Within, group: usize, p: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let mut a = vec![0.0; p * p];
    (0..p).for_each(|i| a[i * p + i] = 1.0);
    let mut scatter = |a: &mut [f64], times: usize, share: f64| {
        for _ in 0..times {
            let z: Vec<f64> = (0..p).map(|_| normal(rng)).collect();
            (0..p * p).for_each(|at| a[at] += share * z[at / p] * z[at % p]);
        }
    };
    match within {
        Round => {}
        Sizes => a.iter_mut().for_each(|x| *x *= [1.0, 0.36, 2.25, 0.64][group % 4]),
        Correlated(rho) => {
            (0..p * p).for_each(|at| a[at] = if at / p == at % p { 1.0 } else { rho });
        }
        Factors => {
            a.iter_mut().for_each(|x| *x *= 0.5);
            scatter(&mut a, 2, 1.0);
        }
        Unequal(nearness) => {
            let times = p + (nearness * p as f64) as usize;
            a.fill(0.0);
            scatter(&mut a, times, 1.0 / times as f64);
        }
    }
    let mut l = vec![0.0; p * p];
    for i in 0..p {
        for j in 0..=i {
            let known: f64 = (0..j).map(|m| l[i * p + m] * l[j * p + m]).sum();
            let left = a[i * p + j] - known;
            l[i * p + j] = if i == j { left.sqrt() } else { left / l[j * p + j] };
        }
    }
    l
}

/// A data set with the truth.
struct Drawn {
    data: Dataset,
    groups: Vec<usize>,
    centres: Vec<f64>,
}

impl Design {
    fn draw(&self, set: u64) -> Result<Drawn, Box<dyn Error>> {
        let (k, p) = (self.weights.len(), self.columns);
        let mut rng = stream(set, Purpose::Simulate, 77);
        let common = root(self.within, 0, p, &mut rng);
        let own = matches!(self.within, Unequal(_) | Sizes);
        let roots: Vec<Vec<f64>> = (0..k)
            .map(|c| if own { root(self.within, c, p, &mut rng) } else { common.clone() })
            .collect();
        let mut centres = vec![0.0; k * p];
        for c in 0..k {
            match self.directions {
                Random => {
                    let z: Vec<f64> = (0..p).map(|_| normal(&mut rng)).collect();
                    let length = z.iter().map(|z| z * z).sum::<f64>().sqrt() * 2.0_f64.sqrt();
                    for i in 0..p {
                        let step: f64 = (0..=i).map(|j| common[i * p + j] * z[j]).sum();
                        centres[c * p + i] = self.apart * step / length;
                    }
                }
                Columns if c > 0 => {
                    // A step along a column is as long as L^-1 of it.
                    let column = (c - 1) % p;
                    let mut y = vec![0.0; p];
                    for i in 0..p {
                        let known: f64 = (0..i).map(|j| common[i * p + j] * y[j]).sum();
                        y[i] = (f64::from(u8::from(i == column)) - known) / common[i * p + i];
                    }
                    let length = y.iter().map(|y| y * y).sum::<f64>().sqrt();
                    centres[c * p + column] = self.apart / length;
                }
                Columns => {}
            }
        }
        let (mut groups, mut columns) = (Vec::new(), vec![Vec::new(); p]);
        for _ in 0..self.rows {
            let mut u = uniform(&mut rng);
            let mut c = 0;
            while c + 1 < k && u >= self.weights[c] {
                u -= self.weights[c];
                c += 1;
            }
            groups.push(c);
            let z: Vec<f64> = (0..p).map(|_| normal(&mut rng)).collect();
            let stretch = match self.tails {
                Some(df) => (df / ChiSquared::new(df)?.sample(&mut rng)).sqrt(),
                None => 1.0,
            };
            for (i, column) in columns.iter_mut().enumerate() {
                let noise: f64 = (0..=i).map(|j| roots[c][i * p + j] * z[j]).sum();
                column.push(centres[c * p + i] + stretch * noise);
            }
        }
        let names = (1..=p).map(|j| format!("x{j}")).collect();
        Ok(Drawn { data: Dataset::from_columns(names, columns)?, groups, centres })
    }
}

/// The adjusted Rand index of two groupings (Hubert & Arabie 1985).
fn adjusted_rand(a: &[usize], b: &[usize]) -> f64 {
    let size = |x: &[usize]| x.iter().max().map_or(0, |most| most + 1);
    let (rows, columns) = (size(a), size(b));
    let mut table = vec![0.0; rows * columns];
    a.iter().zip(b).for_each(|(x, y)| table[x * columns + y] += 1.0);
    let pairs = |n: f64| 0.5 * n * (n - 1.0);
    let both: f64 = table.iter().copied().map(pairs).sum();
    let of_a: f64 = table.chunks(columns).map(|row| pairs(row.iter().sum())).sum();
    let of_b: f64 = (0..columns).map(|j| pairs(table.iter().skip(j).step_by(columns).sum())).sum();
    let (expected, most) = (of_a * of_b / pairs(a.len() as f64), 0.5 * (of_a + of_b));
    if most == expected { 1.0 } else { (both - expected) / (most - expected) }
}

fn groups_of(model: &dyn Model, fit: &Fit) -> Result<Vec<usize>, Box<dyn Error>> {
    let mut sweeper = model.sweeper();
    sweeper.load(None)?;
    let all = sweeper.responsibilities_under(&fit.posterior)?;
    let largest = |r: &[f64]| (0..r.len()).fold(0, |best, c| if r[c] > r[best] { c } else { best });
    Ok(all.chunks_exact(model.n_components()).map(largest).collect())
}

/// What `of` finds in each data set of a design, by all threads: sets share no randomness.
fn each<T: Send>(
    sets: std::ops::Range<u64>,
    of: impl Fn(u64) -> Result<T, Box<dyn Error>> + Sync,
) -> Result<Vec<T>, Box<dyn Error>> {
    let found: Result<Vec<T>, String> =
        sets.into_par_iter().map(|set| of(set).map_err(|why| why.to_string())).collect();
    Ok(found?)
}

fn find(designs: &[Design], sets: u64) -> Result<(), Box<dyn Error>> {
    println!("{:30} default  from the truth  another optimum is as good", "design");
    let mut means = [0.0; 2];
    for design in designs {
        let found = each(1000..1000 + sets, |set| {
            let drawn = design.draw(set)?;
            let problem = GaussianMixture::new(design.weights.len()).bind(drawn.data)?;
            let model = problem.model().as_ref();
            let found = problem.fit().run()?;
            let index = adjusted_rand(&groups_of(model, &found)?, &drawn.groups);
            let start = Start::Centres(drawn.centres);
            let truth = fit(model, None, 1.0, &start, &FitOptions::default(), &mut |_| ())?;
            let from_truth = adjusted_rand(&groups_of(model, &truth)?, &drawn.groups);
            Ok([index, from_truth, f64::from(u8::from(found.search.rival.is_some()))])
        })?;
        let mean = |at: usize| found.iter().map(|f| f[at]).sum::<f64>() / sets as f64;
        let (index, truth, doubtful) = (mean(0), mean(1), mean(2));
        println!("{:30} {index:7.2}  {truth:14.2}  {doubtful:26.2}", design.name);
        means[0] += index / designs.len() as f64;
        means[1] += truth / designs.len() as f64;
    }
    println!("{:30} {:7.2}  {:14.2}", "mean", means[0], means[1]);
    Ok(())
}

fn count(designs: &[Design], sets: u64) -> Result<(), Box<dyn Error>> {
    println!("{:30} right   chosen", "design");
    let mut mean = 0.0;
    for design in designs {
        let chosen = each(2000..2000 + sets, |set| {
            let data = ModelData::Rows(design.draw(set)?.data);
            let spec: ModelSpec = GaussianMixture::new(1).into();
            Ok(SelectRequest::new(&spec, &data, &NUMBERS).run()?.chosen().n_components)
        })?;
        let right = chosen.iter().filter(|k| **k == design.weights.len()).count();
        let chosen: String = chosen.iter().map(|k| format!(" {k}")).collect();
        println!("{:30} {:5.2}  {chosen}", design.name, right as f64 / sets as f64);
        mean += right as f64 / sets as f64 / designs.len() as f64;
    }
    println!("{:30} {mean:5.2}", "mean");
    Ok(())
}

/// A file for each data set, `NUMBER-SET.csv`, whose last column is the group, and `designs.csv` with their names.
fn write(designs: &[Design], first: u64, sets: u64, folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut names = String::from("number,groups,name\n");
    for (number, design) in designs.iter().enumerate() {
        writeln!(names, "{number},{},\"{}\"", design.weights.len(), design.name)?;
        for set in 0..sets {
            let drawn = design.draw(first + set)?;
            let mut text = drawn.data.names().join(",") + ",group\n";
            for (row, group) in drawn.groups.iter().enumerate() {
                for j in 0..design.columns {
                    write!(text, "{},", drawn.data.column(j)[row])?;
                }
                writeln!(text, "{group}")?;
            }
            std::fs::write(folder.join(format!("{number}-{set}.csv")), text)?;
        }
    }
    Ok(std::fs::write(folder.join("designs.csv"), names)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let designs = |what: &str| -> Option<(&[Design], u64)> {
        Some(match what {
            "find" => (&FIND, 1000),
            "find-once" => (&FIND_ONCE, 1000),
            "count" => (&COUNT, 2000),
            "count-once" => (&COUNT_ONCE, 2000),
            _ => return None,
        })
    };
    let usage = "usage: bench_groups [write] find|find-once|count|count-once SETS [FOLDER]";
    match words.as_slice() {
        ["write", what, sets, folder] => {
            let (designs, first) = designs(what).ok_or(usage)?;
            write(designs, first, sets.parse()?, Path::new(folder))
        }
        [what, sets] => {
            let (designs, _) = designs(what).ok_or(usage)?;
            if what.starts_with("find") {
                find(designs, sets.parse()?)
            } else {
                count(designs, sets.parse()?)
            }
        }
        _ => Err(usage.into()),
    }
}
