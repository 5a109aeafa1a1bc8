//! The posterior law of a functional in one fit: exact where there is a form, otherwise by draws.

use super::temper::stretched;
use crate::functional::{Drawer, ExactLaw, Part, SampledLaw};
use crate::posterior::{Layout, Marginal};
use std::sync::Arc;

/// How to evaluate the law of a functional for any fit of a table.
#[derive(Clone, Debug)]
pub struct Law<'a> {
    part: &'a Part,
    published: bool,
    draws: usize,
    /// Draws what the functional uses, if it has no exact law.
    drawer: Option<Arc<Drawer>>,
}

/// The final interval deserves more draws than each of a thousand memberships.
const FINAL: usize = 10;

impl<'a> Law<'a> {
    /// The law of `part`. With `published`, a linear form of one mean has the t law stretched to the
    /// posterior standard deviation, as in the paper's code.
    pub fn new(
        part: &'a Part,
        layout: Arc<Layout>,
        published: bool,
        seed: u64,
        draws: usize,
    ) -> Law<'a> {
        let published =
            published && part.exact().is_some_and(|law| law.is_mean_of_component().is_some());
        let needed = part.exact().is_none();
        let drawer = needed.then(|| Arc::new(Drawer::new(&layout, seed, &[part], draws)));
        Law { part, published, draws, drawer }
    }

    /// Whether evaluating it is cheap.
    pub fn is_exact(&self) -> bool {
        self.part.exact().is_some()
    }

    /// Its name.
    pub fn describe(&self) -> String {
        self.part.exact().map_or_else(|| "draws".to_owned(), ExactLaw::describe)
    }

    /// Where `v` lies in the law: `P(h ≤ v)`, and at a value of positive probability the number
    /// between `P(h < v)` and `P(h ≤ v)` that is nearest to ½.
    ///
    /// `v` is in the central `1−a` interval iff this is in `[a/2, 1−a/2]`.
    pub fn place(&self, parameters: &[f64], v: f64) -> f64 {
        match self.part.exact() {
            Some(law) if matches!(law.marginal(parameters), Marginal::Degenerate { .. }) => {
                if law.quantile(parameters, 0.5) == v { 0.5 } else { law.cdf(parameters, v) }
            }
            Some(law) if self.published => {
                law.cdf(parameters, unstretch(&law.marginal(parameters), law, parameters, v))
            }
            Some(law) => law.cdf(parameters, v),
            None => self
                .drawer
                .as_ref()
                .map_or(f64::NAN, |drawer| drawer.place(parameters, self.draws, self.part, v)),
        }
    }

    /// The central interval, with the standard errors of its limits when they come from draws.
    pub fn interval(&self, parameters: &[f64], level: f64) -> (f64, f64, Option<(f64, f64)>) {
        match self.part.exact() {
            Some(law) => {
                let (lower, upper) = law.interval(parameters, level);
                if !self.published {
                    return (lower, upper, None);
                }
                let stretch = |v| restretch(&law.marginal(parameters), law, parameters, v);
                (stretch(lower), stretch(upper), None)
            }
            None => {
                let law = self.sample(parameters, FINAL * self.draws);
                let (lower, upper) = law.interval(level);
                (lower, upper, Some(law.standard_error_of_limits(level)))
            }
        }
    }

    /// The central interval in one of many fits: with a tenth of the draws.
    pub fn quick_interval(&self, parameters: &[f64], level: f64) -> (f64, f64) {
        match self.part.exact() {
            Some(_) => {
                let (lower, upper, _) = self.interval(parameters, level);
                (lower, upper)
            }
            None => self.sample(parameters, self.draws).interval(level),
        }
    }

    /// Its density, as points `(x, f(x))` across the central 99.9%.
    pub fn density(&self, parameters: &[f64], points: usize) -> Vec<(f64, f64)> {
        let shape = self.shape(parameters);
        evenly(shape.interval(SHOWN), points).map(|x| (x, shape.density(x))).collect()
    }

    /// The density of the law at ω = 1 stretched about its estimate by `1/√ω`, (M7), across the central 99.9%.
    pub fn tempered_density(
        &self,
        parameters: &[f64],
        omega: f64,
        points: usize,
    ) -> Vec<(f64, f64)> {
        let shape = self.shape(parameters);
        let (range, by) = (self.part.range(), omega.powf(-0.5));
        let estimate = range.unbounded(self.part.plug_in(parameters));
        let (lower, upper) = shape.interval(SHOWN);
        let limits = (stretched(range, estimate, by, lower), stretched(range, estimate, by, upper));
        evenly(limits, points)
            .map(|x| {
                let source = stretched(range, estimate, by.recip(), x);
                (x, shape.density(source) * range.slope(x) / (by * range.slope(source)))
            })
            .collect()
    }

    fn shape<'p>(&'p self, parameters: &'p [f64]) -> Shape<'p> {
        match self.part.exact() {
            Some(law) => Shape::Exact { law, parameters },
            None => Shape::Sampled(self.sample(parameters, FINAL * self.draws)),
        }
    }

    fn sample(&self, parameters: &[f64], count: usize) -> SampledLaw {
        let drawer = self.drawer.as_ref();
        let values = drawer.map(|drawer| drawer.values(parameters, count, self.part));
        SampledLaw::new(values.unwrap_or_default())
    }
}

/// The share of a law that figures show.
const SHOWN: f64 = 0.999;

/// A law in one fit.
enum Shape<'a> {
    Exact { law: &'a ExactLaw, parameters: &'a [f64] },
    Sampled(SampledLaw),
}

impl Shape<'_> {
    fn interval(&self, level: f64) -> (f64, f64) {
        match self {
            Shape::Exact { law, parameters } => law.interval(parameters, level),
            Shape::Sampled(law) => law.interval(level),
        }
    }

    fn density(&self, x: f64) -> f64 {
        match self {
            Shape::Exact { law, parameters } => law.density(parameters, x),
            Shape::Sampled(law) => law.density(x),
        }
    }
}

fn evenly((low, high): (f64, f64), points: usize) -> impl Iterator<Item = f64> {
    (0..points).map(move |i| low + (high - low) * i as f64 / (points - 1) as f64)
}

/// `sd / scale` of a t law, by which the published intervals of means are longer.
fn stretch_factor(marginal: &Marginal) -> f64 {
    match marginal {
        Marginal::StudentT { df, .. } if *df > 2.0 => (df / (df - 2.0)).sqrt(),
        _ => 1.0,
    }
}

/// The centre of a (symmetric) law of a mean, after its affine transform.
fn centre(law: &ExactLaw, parameters: &[f64]) -> f64 {
    law.quantile(parameters, 0.5)
}

fn unstretch(marginal: &Marginal, law: &ExactLaw, parameters: &[f64], v: f64) -> f64 {
    let centre = centre(law, parameters);
    centre + (v - centre) / stretch_factor(marginal)
}

fn restretch(marginal: &Marginal, law: &ExactLaw, parameters: &[f64], v: f64) -> f64 {
    let centre = centre(law, parameters);
    centre + (v - centre) * stretch_factor(marginal)
}
