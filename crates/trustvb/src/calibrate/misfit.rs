//! Whether columns are, within components, as the model has them: a check of fit that needs no further fit.
//!
//! The responsibilities `r` of component `k` weigh a column's values. Where the model holds, these have the component's
//! law: `E[r_k(x) f(x)] = π_k E_k[f]`. So their distribution `F` is compared with the Gaussian `Φ` of their own mean and
//! variance by Anderson and Darling's statistic, and counts with the Poisson law by their dispersion:
//!
//! ```text
//! A² = N ∫ (F − Φ)² / Φ(1 − Φ) dΦ        D = Σ r (x − x̄)² / N x̄
//! ```
//!
//! Rows that were known to be the component's would give `A²` the law that Stephens (1974) has for it. Responsibilities
//! make it smaller: `r_k` is the mean of who is in `k` given the row, which varies less, and what is fitted with them takes
//! away more. So his probabilities are bounds here. The column as a whole is compared with the mixture in the same way.
//! A misfit is one that chance has not made and that matters: very large samples show every trifle.

use crate::model::{Model, counts, numbers};
use crate::posterior::Posterior;
use crate::special::normal;
use std::fmt;

/// A column that is not as the model has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Misfit {
    /// The column's name.
    pub column: String,
    /// 1-based component; `None` if no single one stands out, but the column as a whole.
    pub component: Option<usize>,
    /// What it looks like.
    pub shape: Shape,
    /// How far off it is, whatever the number of rows: `A²/N`, or by which factor the variance of a count is off.
    pub size: f64,
}

/// What a column looks like where it is not as the model has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A long tail above.
    LongAbove,
    /// A long tail below.
    LongBelow,
    /// Tails heavier than a Gaussian's on both sides.
    HeavyTails,
    /// No tails: flat, or with more than one top.
    Flat,
    /// Something else.
    Other,
    /// Counts that vary more than Poisson ones.
    MoreVaried,
    /// Counts that vary less.
    LessVaried,
}

impl Shape {
    /// In a few words.
    pub fn words(self) -> &'static str {
        match self {
            Shape::LongAbove => "a long tail above",
            Shape::LongBelow => "a long tail below",
            Shape::HeavyTails => "heavy tails",
            Shape::Flat => "flat or more than one top",
            Shape::Other => "not a Gaussian's shape",
            Shape::MoreVaried => "more varied than Poisson counts",
            Shape::LessVaried => "less varied than Poisson counts",
        }
    }

    /// By skewness and excess kurtosis.
    fn of(skewness: f64, kurtosis: f64) -> Shape {
        match (skewness, kurtosis) {
            // A few rows far out on one side are no long tail there.
            (s, k) if k > PEAKED && k > 4.0 * s * s => Shape::HeavyTails,
            (s, _) if s > SKEWED => Shape::LongAbove,
            (s, _) if s < -SKEWED => Shape::LongBelow,
            (_, k) if k < -FLAT => Shape::Flat,
            _ => Shape::Other,
        }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.component {
            Some(k) => write!(f, "`{}` in component {k} ({})", self.column, self.shape.words()),
            None => write!(f, "`{}` ({})", self.column, self.shape.words()),
        }
    }
}

/// The probability of any false alarm in a fit, as a bound for many rows. It is this small because a misfit should be
/// plain: the short eruptions of Old Faithful are somewhat skewed, which chance makes in 4 of 100,000 fits, and Gaussians
/// describe them well enough.
const CHANCE: f64 = 1e-5;

/// `A²/N` from which on it matters: that of t tails with 5 degrees of freedom, or of a skewness of 0.65.
const SIZE: f64 = 0.005;

/// The factor by which the variance of a count must be off.
const DISPERSED: f64 = 1.4;

/// Rows that say something of a shape.
const ROWS: f64 = 20.0;

/// Counts of so few that come twice say nothing of a dispersion: `N x̄²`.
const PAIRS: f64 = 20.0;

/// Skewness and kurtosis that have a name.
const SKEWED: f64 = 0.5;
const PEAKED: f64 = 0.8;
const FLAT: f64 = 0.5;

/// Places at which distributions are compared, about.
const PLACES: f64 = 2000.0;

/// The columns that are plainly not as the model has them, with the components in which they are not.
pub fn misfits(model: &dyn Model, posterior: &Posterior) -> Vec<Misfit> {
    let (numbers, counts): (Vec<_>, Vec<_>) = (numbers(model).collect(), counts(model).collect());
    if numbers.is_empty() && counts.is_empty() {
        return Vec::new();
    }
    let mut sweeper = model.sweeper();
    let found = sweeper.load(None).and_then(|()| sweeper.responsibilities_under(posterior));
    let Ok(responsibilities) = found else { return Vec::new() };
    let k = model.n_components();
    let units = Units { model, k, responsibilities: &responsibilities };
    let tests = (numbers.len() * (k + 1) + counts.len() * k) as f64;
    let of_numbers = numbers.iter().flat_map(|(name, values)| units.gaussian(name, values, tests));
    let of_counts = counts.iter().flat_map(|(name, values)| units.poisson(name, values, tests));
    of_numbers.chain(of_counts).collect()
}

/// Units with who they are.
struct Units<'a> {
    model: &'a dyn Model,
    k: usize,
    responsibilities: &'a [f64],
}

/// What a component has of a column.
#[derive(Clone, Debug, Default)]
struct Own {
    /// `Σ w r`, and the rows of equal weight that say as much (Kish).
    weight: f64,
    rows: f64,
    mean: f64,
    /// Central moments from the second to the fourth.
    central: [f64; 3],
}

impl Own {
    fn sd(&self) -> f64 {
        self.central[0].sqrt()
    }

    fn shape(&self) -> Shape {
        let [second, third, fourth] = self.central;
        Shape::of(third / second.powf(1.5), fourth / (second * second) - 3.0)
    }
}

impl Units<'_> {
    /// What a row counts, and what its units count each.
    fn weight(&self, row: usize) -> (f64, f64) {
        let each = self.model.each().map_or(1.0, |each| each[row]);
        (self.model.repeats().map_or(1.0, |repeats| repeats[row]) * each, each)
    }

    fn of(&self, row: usize) -> &[f64] {
        &self.responsibilities[row * self.k..(row + 1) * self.k]
    }

    /// Rows with a value and a weight, by value.
    fn sorted(&self, values: &[f64]) -> Vec<usize> {
        let is_there = |&i: &usize| !values[i].is_nan() && self.weight(i).0 > 0.0;
        let mut order: Vec<usize> = (0..values.len()).filter(is_there).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        order
    }

    /// Moments within each component, and of all.
    fn moments(&self, values: &[f64], order: &[usize]) -> Vec<Own> {
        let mut all = vec![Own::default(); self.k];
        let mut squares = vec![0.0; self.k];
        for &i in order {
            let (weight, each) = self.weight(i);
            for ((own, squares), r) in all.iter_mut().zip(&mut squares).zip(self.of(i)) {
                own.weight += weight * r;
                own.mean += weight * r * values[i];
                *squares += weight * each * r;
            }
        }
        for (own, squares) in all.iter_mut().zip(squares) {
            own.mean /= own.weight;
            own.rows = own.weight * own.weight / squares;
        }
        for &i in order {
            let weight = self.weight(i).0;
            for (own, r) in all.iter_mut().zip(self.of(i)) {
                let off = values[i] - own.mean;
                let share = weight * r / own.weight * off * off;
                own.central[0] += share;
                own.central[1] += share * off;
                own.central[2] += share * off * off;
            }
        }
        all
    }

    fn gaussian(&self, column: &str, values: &[f64], tests: f64) -> Vec<Misfit> {
        let order = self.sorted(values);
        let all = self.moments(values, &order);
        if order.is_empty() || all.iter().any(|own| own.weight > 1.0 && own.sd() <= 0.0) {
            return Vec::new();
        }
        let total: f64 = all.iter().map(|own| own.weight).sum();
        let mut below = vec![0.0; self.k];
        let mut areas = vec![Area::default(); self.k + 1];
        let (mut since, mut i) = (0.0, 0);
        while i < order.len() {
            let x = values[order[i]];
            // Equal values are one step, which says nothing of what is between it and the next.
            while i < order.len() && values[order[i]] == x {
                let weight = self.weight(order[i]).0;
                since += weight;
                for (below, r) in below.iter_mut().zip(self.of(order[i])) {
                    *below += weight * r;
                }
                i += 1;
            }
            if i == order.len() || since < total / PLACES {
                continue;
            }
            since = 0.0;
            let at = 0.5 * (x + values[order[i]]);
            let mut whole = [0.0; 3];
            for ((own, below), area) in all.iter().zip(&below).zip(&mut areas) {
                if own.weight < 1.0 {
                    continue;
                }
                let z = ((at - own.mean) / own.sd()).clamp(-FAR, FAR);
                let tail = normal::cdf(-z.abs());
                let (lower, upper) = if z < 0.0 { (tail, 1.0 - tail) } else { (1.0 - tail, tail) };
                area.add(below / own.weight - lower, lower, upper);
                let share = own.weight / total;
                for (sum, part) in whole.iter_mut().zip([below / own.weight - lower, lower, upper])
                {
                    *sum += share * part;
                }
            }
            areas[self.k].add(whole[0], whole[1], whole[2]);
        }
        let limit = CHANCE / tests;
        let is_off = |area: &Area, rows: f64| {
            let size = area.ended();
            (rows >= ROWS && size >= SIZE && chance(rows * size, rows) < limit).then_some(size)
        };
        let misfit =
            |component, shape, size| Misfit { column: column.to_owned(), component, shape, size };
        let of_components = all.iter().zip(&areas).enumerate().filter_map(|(c, (own, area))| {
            Some(misfit(Some(c + 1), own.shape(), is_off(area, own.rows)?))
        });
        let found: Vec<Misfit> = of_components.collect();
        if !found.is_empty() {
            return found;
        }
        let rows = all.iter().map(|own| own.rows).sum();
        let whole = is_off(&areas[self.k], rows).map(|size| misfit(None, Shape::Other, size));
        whole.into_iter().collect()
    }

    fn poisson(&self, column: &str, values: &[f64], tests: f64) -> Vec<Misfit> {
        let all = self.moments(values, &self.sorted(values));
        let limit = normal::quantile(1.0 - CHANCE / tests);
        let of_component = |(c, own): (usize, &Own)| {
            if own.rows < ROWS || own.rows * own.mean * own.mean < PAIRS {
                return None;
            }
            let dispersion = own.central[0] / own.mean;
            let z = (dispersion - 1.0) * (0.5 * own.rows).sqrt();
            let size = dispersion.max(1.0 / dispersion);
            (z.abs() > limit && size > DISPERSED).then(|| Misfit {
                column: column.to_owned(),
                component: Some(c + 1),
                shape: if z > 0.0 { Shape::MoreVaried } else { Shape::LessVaried },
                size,
            })
        };
        all.iter().enumerate().filter_map(of_component).collect()
    }
}

/// Standard deviations beyond which a tail is nothing.
const FAR: f64 = 35.0;

/// `∫ d² / u(1−u) du` of a difference `d` that is known at some places, in terms of `logit u`, in which it changes slowly.
#[derive(Clone, Copy, Debug, Default)]
struct Area {
    sum: f64,
    last: Option<(f64, f64)>,
}

impl Area {
    fn add(&mut self, d: f64, lower: f64, upper: f64) {
        let logit = (lower / upper).ln();
        self.sum += match self.last {
            Some((before, from)) => (logit - from) * (before * before + before * d + d * d) / 3.0,
            None => 0.5 * d * d,
        };
        self.last = Some((d, logit));
    }

    fn ended(&self) -> f64 {
        self.sum + self.last.map_or(0.0, |(d, _)| 0.5 * d * d)
    }
}

/// The probability of a larger `A²` in so many rows where mean and variance are estimated (D'Agostino and Stephens 1986,
/// table 4.9), for small ones.
fn chance(statistic: f64, rows: f64) -> f64 {
    let a = statistic * (1.0 + 0.75 / rows + 2.25 / (rows * rows));
    match a {
        a if a < 0.6 => 1.0,
        // The formula turns up again far beyond.
        a if a > 13.0 => 0.0,
        a => (1.2937 - 5.709 * a + 0.0186 * a * a).exp(),
    }
}
