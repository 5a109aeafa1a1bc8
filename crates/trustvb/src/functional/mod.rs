//! Functionals `h(θ)`: the quantities that users ask intervals for, written as they would say them.
//!
//! A text such as `mu[1,waiting] - mu[1,eruptions]` or `log(sd[1,])` is parsed into a tree, and
//! its names, indices and slices are looked up in the [`Layout`] of a posterior. Each scalar of
//! the result is a [`Part`]. What matters next is how a part is distributed under `q(θ)`:
//!
//! - Simplification collects everything linear. Where a known law is recognised (linear forms of one
//!   `mu`, of all `beta`, sums of `pi`, variances, precisions, and monotone functions of these) the
//!   part has an [`ExactLaw`], which reads its numbers straight off the parameters of a fit.
//! - Everything else is evaluated at [`Draws`], shared by all functionals and coupled across fits.
//!
//! The engine knows blocks and families, never models: a new model with the same blocks needs nothing here.
//!
//! | name | indices | meaning |
//! |---|---|---|
//! | `pi` | component | weight |
//! | `mu`, `sd` | component, column | mean and standard deviation |
//! | `sigma`, `cor` | component, column, column | covariance and correlation |
//! | `beta` | component, coefficient | regression coefficient |
//! | `tau` | component | prior precision of the coefficients |
//! | `noise` | component | noise precision |
//!
//! Indices count from 1; columns can be named; an empty index takes all of them, as does a name without
//! brackets. Arithmetic is element by element. There are `+ - * / ^`, `log exp sqrt abs logit expit`,
//! `min max` and `sum mean`.
//!
//! ```
//! use trustvb::functional::Functional;
//! use trustvb::posterior::{Block, Layout};
//!
//! let layout = Layout::new(2, vec![], vec![Block::weights("pi", 2)]);
//! let odds = Functional::parse("pi[1]/pi[2]", &layout)?;
//! let law = odds.parts()[0].exact().expect("the odds of a Beta variable");
//! let (low, high) = law.interval(&[40.0, 20.0], 0.95);
//! assert!(low < 2.0 && 2.0 < high);
//! # Ok::<(), trustvb::functional::FunctionalError>(())
//! ```

mod advice;
#[cfg(feature = "parquet")]
mod columns;
mod counted;
mod draws;
mod error;
mod evaluate;
mod exact;
mod find;
mod lexer;
mod parse;
mod quantity;
mod replay;
mod resolve;
mod sampled;
mod simplify;
#[cfg(test)]
mod tests;
mod unit;
mod vocabulary;

pub(crate) use counted::Counted;
pub(crate) use draws::Drawer;
pub use draws::{Draw, Draws};
pub use error::FunctionalError;
pub use exact::ExactLaw;
pub(crate) use quantity::{Entry, Place, Quantity, Reported};
pub use sampled::SampledLaw;
pub use vocabulary::{QuantityName, Vocabulary};

use crate::posterior::Layout;
use evaluate::{Node, posterior_mean};
use quantity::AtomKind;
use simplify::Simplified;
use std::fmt;
use std::sync::Arc;

/// Whether some model has a quantity of this name.
pub fn is_quantity_name(word: &str) -> bool {
    crate::model::quantities().any(|quantity| quantity.name == word)
}

/// The natural range of a functional, which suggests the scale on which to treat it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// Any number: no change of scale.
    Real,
    /// At least 0: the log scale.
    Positive,
    /// From 0 to 1: the logit scale.
    Unit,
    /// From -1 to 1, a correlation: Fisher's z scale.
    Correlation,
}

impl Range {
    /// A value on the scale where there is no bound.
    pub fn unbounded(self, x: f64) -> f64 {
        match self {
            Range::Real => x,
            Range::Positive => x.ln(),
            Range::Unit => (x / (1.0 - x)).ln(),
            Range::Correlation => x.atanh(),
        }
    }

    /// The value that [`Range::unbounded`] takes to `y`.
    ///
    /// ```
    /// use trustvb::functional::Range;
    /// for range in [Range::Real, Range::Positive, Range::Unit, Range::Correlation] {
    ///     assert!((range.bounded(range.unbounded(0.3)) - 0.3).abs() < 1e-15);
    /// }
    /// ```
    pub fn bounded(self, y: f64) -> f64 {
        match self {
            Range::Real => y,
            Range::Positive => y.exp(),
            Range::Unit => evaluate::expit(y),
            Range::Correlation => y.tanh(),
        }
    }

    /// The derivative of [`Range::unbounded`] at `x`, which densities need when they change scale.
    pub fn slope(self, x: f64) -> f64 {
        match self {
            Range::Real => 1.0,
            Range::Positive => x.recip(),
            Range::Unit => (x * (1.0 - x)).recip(),
            Range::Correlation => ((1.0 - x) * (1.0 + x)).recip(),
        }
    }

    /// Whether a number is inside, not at a bound.
    pub fn holds(self, x: f64) -> bool {
        self.unbounded(x).is_finite()
    }
}

/// A functional that is code: its value at every draw, in their order.
pub type DrawFunction = dyn Fn(&Draws) -> Vec<f64> + Send + Sync;

/// What gives a part its values.
#[derive(Clone)]
enum Source {
    Expression(Node),
    Function { function: Arc<DrawFunction>, layout: Arc<Layout> },
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Expression(node) => node.fmt(f),
            Source::Function { .. } => f.write_str("Function"),
        }
    }
}

/// One scalar of a functional.
#[derive(Clone, Debug)]
pub struct Part {
    name: String,
    label: String,
    source: Source,
    exact: Option<ExactLaw>,
    range: Range,
    /// Whether it has a value whatever the parameters are, as far as its form shows.
    total: bool,
}

impl Part {
    /// The text as typed, with what tells this part from the others: `mu[1,] [eruptions]`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// `mu[1,eruptions]` when the part is a plain quantity, else its name.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// `h` at the posterior mean of its elements, with `E[Σ] = W^-1/(ν−p−1)` behind `sigma`, `sd` and
    /// `cor`; NaN where that does not exist.
    pub fn plug_in(&self, parameters: &[f64]) -> f64 {
        match &self.source {
            Source::Expression(node) => node.evaluate(&|atom| posterior_mean(atom, parameters)),
            Source::Function { function, layout } => {
                let values = function(&Draws::posterior_mean(layout, parameters));
                values.first().copied().unwrap_or(f64::NAN)
            }
        }
    }

    /// Its exact law, if there is a known one.
    pub fn exact(&self) -> Option<&ExactLaw> {
        self.exact.as_ref()
    }

    /// Whether a mean or covariance of that component (0-based) is in it, as far as can be told: code may use everything.
    pub fn has_shape_of(&self, component: usize) -> bool {
        let Some(node) = self.expression() else { return true };
        let mut found = false;
        node.atoms(&mut |atom| {
            let shape = matches!(atom.kind, AtomKind::Mean | AtomKind::Covariance);
            found |= shape && atom.component == component;
        });
        found
    }

    /// Whether it has a value whatever the parameters are, as far as its form shows: nothing is known of code.
    pub(crate) fn is_total(&self) -> bool {
        self.total
    }

    /// The range in which it must lie, as far as its form shows.
    pub fn range(&self) -> Range {
        self.range
    }

    /// `h` at every draw, in their order.
    fn values(&self, draws: &Draws) -> Vec<f64> {
        match &self.source {
            Source::Expression(node) => draws.iter().map(|draw| draw.evaluate(node)).collect(),
            Source::Function { function, .. } => function(draws),
        }
    }

    /// Whether it is code, of which nothing is known but its values.
    pub(crate) fn is_code(&self) -> bool {
        self.expression().is_none()
    }

    /// Its expression, unless it is code.
    fn expression(&self) -> Option<&Node> {
        match &self.source {
            Source::Expression(node) => Some(node),
            Source::Function { .. } => None,
        }
    }

    /// In which unit it is measured, in the layout's names of coordinates: `waiting`, `waiting²`, or
    /// nothing for a pure number. `None` where its form does not show it.
    pub fn unit(&self, layout: &Layout) -> Option<String> {
        unit::unit(self.expression()?, &layout.coordinates)
    }

    /// Elements and operations in it: what evaluating it once costs. Code counts as one.
    pub fn size(&self) -> usize {
        self.expression().map_or(1, Node::size)
    }

    /// Marks in `wanted` the place in a draw of every element that it uses.
    fn mark(&self, wanted: &mut [bool]) {
        match &self.source {
            Source::Expression(node) => node.atoms(&mut |atom| {
                if let Some(slot) = wanted.get_mut(atom.slot) {
                    *slot = true;
                }
            }),
            Source::Function { .. } => wanted.fill(true),
        }
    }
}

/// A functional of the parameters: one part, or one per element of a vector.
#[derive(Clone, Debug)]
pub struct Functional {
    text: String,
    parts: Vec<Part>,
}

impl Functional {
    /// Reads a functional for posteriors with this layout.
    pub fn parse(text: &str, layout: &Layout) -> Result<Functional, FunctionalError> {
        let tree = parse::parse(text)?;
        let vector = resolve::resolve(text, layout, &tree)?;
        let typed = text.trim();
        let single = vector.elements.len() == 1;
        let mut parts = Vec::with_capacity(vector.elements.len());
        for element in vector.elements {
            let Simplified { form, total } = simplify::simplify(&element.node);
            if let Some(value) = form.value().filter(|x| !x.is_finite()) {
                let message = format!("this is {value} whatever the parameters are");
                return Err(FunctionalError::new(text, tree.span, message, None));
            }
            let name = if single { typed.to_owned() } else { format!("{typed} [{}]", element.tag) };
            let range = match form.bounds() {
                (low, high) if low >= 0.0 && high <= 1.0 => Range::Unit,
                (low, _) if low >= 0.0 => Range::Positive,
                _ if element.node.is_correlation() => Range::Correlation,
                _ => Range::Real,
            };
            parts.push(Part {
                label: element.title.unwrap_or_else(|| name.clone()),
                name,
                // Where it may have no value its law is that of the draws that have one.
                exact: if total { find::find(&form) } else { None },
                range,
                total,
                source: Source::Expression(element.node),
            });
        }
        Ok(Functional { text: text.to_owned(), parts })
    }

    /// A functional that is code, for posteriors with this layout. Nothing is known of its law, so it
    /// is evaluated at draws, batch by batch; `function` returns as many values as there are draws.
    pub fn from_function(
        name: &str,
        layout: &Arc<Layout>,
        function: Arc<DrawFunction>,
    ) -> Functional {
        let part = Part {
            name: name.to_owned(),
            label: name.to_owned(),
            source: Source::Function { function, layout: layout.clone() },
            exact: None,
            range: Range::Real,
            total: false,
        };
        Functional { text: name.to_owned(), parts: vec![part] }
    }

    /// The text as typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its scalars, in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// What is reported when nothing is asked for: every weight, then every mean or coefficient.
    pub fn defaults(layout: &Layout) -> Vec<Functional> {
        let mut texts = Vec::new();
        for quantity in quantity::quantities_in(layout) {
            for place in quantity.reported(layout) {
                texts.push(quantity.written(layout, &place));
            }
        }
        texts.iter().filter_map(|text| Functional::parse(text, layout).ok()).collect()
    }
}
