//! The exact law of a functional: a standard law followed by monotone functions.

use super::counted::Counted;
use super::evaluate::{Function, expit};
use crate::linalg::packed_index;
use crate::posterior::{Marginal, NormalWishart};

/// A law that can be read off the parameters of a fit.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Base {
    Constant(f64),
    /// The sum of some weights: Beta.
    Weights {
        offset: usize,
        inside: Vec<bool>,
    },
    /// `cᵀμ_k`: scaled t.
    Mean {
        component: usize,
        offset: usize,
        coefficients: Vec<f64>,
        nonzero: Sparse,
    },
    /// `cᵀΣ_k c`: inverse gamma.
    Variance {
        offset: usize,
        dim: usize,
        nonzero: Sparse,
    },
    /// `Σ_k c_kᵀβ_k`: Normal.
    Coefficients(Vec<CoefficientForm>),
    /// One Gamma variable.
    Precision {
        offset: usize,
    },
}

/// The coefficients that are not 0, with their places.
type Sparse = Vec<(usize, f64)>;

/// The part of a linear form that concerns one component.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CoefficientForm {
    offset: usize,
    dim: usize,
    nonzero: Sparse,
}

fn sparse(c: &[f64]) -> Sparse {
    c.iter().copied().enumerate().filter(|(_, x)| *x != 0.0).collect()
}

/// `cᵀAc` of a packed symmetric matrix.
fn quadratic(c: &[(usize, f64)], a: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (at, &(i, x)) in c.iter().enumerate() {
        let cross: f64 = c[..at].iter().map(|&(j, y)| y * a[packed_index(i, j)]).sum();
        sum += x * (2.0 * cross + x * a[packed_index(i, i)]);
    }
    sum
}

fn dot(c: &[(usize, f64)], m: &[f64]) -> f64 {
    c.iter().map(|&(i, x)| x * m[i]).sum()
}

impl Base {
    pub(super) fn mean(component: usize, offset: usize, coefficients: Vec<f64>) -> Base {
        let nonzero = sparse(&coefficients);
        Base::Mean { component, offset, coefficients, nonzero }
    }

    pub(super) fn variance(offset: usize, c: Vec<f64>) -> Base {
        Base::Variance { offset, dim: c.len(), nonzero: sparse(&c) }
    }

    pub(super) fn coefficients(forms: impl Iterator<Item = (usize, Vec<f64>)>) -> Base {
        Base::Coefficients(
            forms
                .map(|(offset, c)| CoefficientForm { offset, dim: c.len(), nonzero: sparse(&c) })
                .collect(),
        )
    }

    fn marginal(&self, parameters: &[f64]) -> Marginal {
        match self {
            Base::Constant(value) => Marginal::Degenerate { value: *value },
            Base::Weights { offset, inside } => {
                let (mut a, mut b) = (0.0, 0.0);
                for (alpha, inside) in parameters[*offset..].iter().zip(inside) {
                    if *inside { a += alpha } else { b += alpha }
                }
                Marginal::Beta { a, b }
            }
            Base::Mean { offset, coefficients, nonzero, .. } => {
                let block = normal_wishart(coefficients.len(), &parameters[*offset..]);
                let df = block.mean_df();
                let form = quadratic(nonzero, block.w_inverse());
                Marginal::StudentT {
                    df,
                    location: dot(nonzero, block.mean()),
                    scale: (form / (block.beta * df)).sqrt(),
                }
            }
            Base::Variance { offset, dim, nonzero } => {
                let block = normal_wishart(*dim, &parameters[*offset..]);
                Marginal::InverseGamma {
                    shape: 0.5 * block.mean_df(),
                    scale: 0.5 * quadratic(nonzero, block.w_inverse()),
                }
            }
            Base::Coefficients(forms) => {
                let (mut mean, mut variance) = (0.0, 0.0);
                for form in forms {
                    let (m, s) = parameters[form.offset..].split_at(form.dim);
                    mean += dot(&form.nonzero, m);
                    variance += quadratic(&form.nonzero, s);
                }
                Marginal::Normal { mean, sd: variance.sqrt() }
            }
            Base::Precision { offset } => {
                Marginal::Gamma { shape: parameters[*offset], rate: parameters[*offset + 1] }
            }
        }
    }

    fn describe(&self) -> &'static str {
        match self {
            Base::Constant(_) => "constant",
            Base::Weights { .. } => "Beta",
            Base::Mean { .. } => "scaled t",
            Base::Variance { .. } => "inverse gamma",
            Base::Coefficients(_) => "Normal",
            Base::Precision { .. } => "Gamma",
        }
    }
}

fn normal_wishart(dim: usize, parameters: &[f64]) -> NormalWishart<'_> {
    NormalWishart::new(dim, parameters)
}

/// A strictly monotone function of one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// `a·x + c`.
    Affine {
        a: f64,
        c: f64,
    },
    Log,
    Exp,
    Logit,
    Expit,
    /// `x^c` for `x ≥ 0`.
    Power(f64),
    /// `x^c` for odd whole `c > 0`, on the whole line.
    OddPower(f64),
}

impl Step {
    pub(super) fn apply(self, x: f64) -> f64 {
        match self {
            Step::Affine { a, c } => a * x + c,
            Step::Log => x.ln(),
            Step::Exp => x.exp(),
            Step::Logit => Function::Logit.apply(x),
            Step::Expit => expit(x),
            Step::Power(0.5) => x.sqrt(),
            Step::Power(c) => x.powf(c),
            Step::OddPower(c) => x.abs().powf(c).copysign(x),
        }
    }

    /// The argument at which the value is `v`; an end of the line when `v` is never reached, on the
    /// side on which all arguments then lie.
    fn invert(self, v: f64) -> f64 {
        const NEVER: f64 = f64::INFINITY;
        match self {
            Step::Affine { a, c } => (v - c) / a,
            Step::Log => v.exp(),
            Step::Exp if v <= 0.0 => -NEVER,
            Step::Exp => v.ln(),
            Step::Logit => expit(v),
            Step::Expit if v <= 0.0 => -NEVER,
            Step::Expit if v >= 1.0 => NEVER,
            Step::Expit => Function::Logit.apply(v),
            Step::Power(c) if c > 0.0 && v < 0.0 => -NEVER,
            Step::Power(c) if c < 0.0 && v <= 0.0 => NEVER,
            Step::Power(0.5) => v * v,
            Step::Power(c) => v.powf(1.0 / c),
            Step::OddPower(c) => v.abs().powf(1.0 / c).copysign(v),
        }
    }

    /// The absolute derivative at `x`, where the value is `v`.
    fn slope(self, x: f64, v: f64) -> f64 {
        match self {
            Step::Affine { a, .. } => a.abs(),
            Step::Log => 1.0 / x,
            Step::Exp => v,
            Step::Logit => 1.0 / (x * (1.0 - x)),
            Step::Expit => v * (1.0 - v),
            Step::Power(c) | Step::OddPower(c) => (c * x.abs().powf(c - 1.0)).abs(),
        }
    }

    fn decreases(self) -> bool {
        match self {
            Step::Affine { a, .. } => a < 0.0,
            Step::Power(c) => c < 0.0,
            _ => false,
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Step::Affine { .. } => "affine function of ",
            Step::Log => "log of ",
            Step::Exp => "exponential of ",
            Step::Logit => "logit of ",
            Step::Expit => "expit of ",
            Step::Power(0.5) => "square root of ",
            Step::Power(-1.0) => "reciprocal of ",
            Step::Power(_) | Step::OddPower(_) => "power of ",
        }
    }
}

/// The exact law of a functional, for any fit with the layout that it was parsed for.
///
/// It holds places and coefficients only. Every method takes the flat parameters of one fit, and none
/// but [`describe`](Self::describe) allocates. Parameters that do not fill the layout cause a panic.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactLaw {
    base: Base,
    steps: Vec<Step>,
    decreasing: bool,
}

impl ExactLaw {
    pub(super) fn new(base: Base, steps: Vec<Step>) -> ExactLaw {
        let decreasing = steps.iter().filter(|s| s.decreases()).count() % 2 == 1;
        ExactLaw { base, steps, decreasing }
    }

    /// The law before the outer functions: the one of `pi[1]` for `log(pi[1])`.
    pub fn marginal(&self, parameters: &[f64]) -> Marginal {
        self.base.marginal(parameters)
    }

    /// `P(h(θ) ≤ v)`; 0 and 1 below and above the range of `h`.
    pub fn cdf(&self, parameters: &[f64], v: f64) -> f64 {
        let x = self.source(v);
        let law = self.marginal(parameters);
        if self.decreasing { law.sf(x) } else { law.cdf(x) }
    }

    /// The `p`-quantile of `h(θ)`; NaN outside [0, 1].
    pub fn quantile(&self, parameters: &[f64], p: f64) -> f64 {
        let p = if self.decreasing { 1.0 - p } else { p };
        self.forward(self.marginal(parameters).quantile(p))
    }

    /// The central interval that holds probability `level`.
    pub fn interval(&self, parameters: &[f64], level: f64) -> (f64, f64) {
        self.carried(self.marginal(parameters).interval(level))
    }

    /// Limits of `h` from limits of the number that the outer functions are of.
    pub(crate) fn carried(&self, (low, high): (f64, f64)) -> (f64, f64) {
        let (low, high) = (self.forward(low), self.forward(high));
        if self.decreasing { (high, low) } else { (low, high) }
    }

    /// The number that the outer functions take to `v`.
    pub(crate) fn source(&self, v: f64) -> f64 {
        self.steps.iter().rev().fold(v, |v, step| step.invert(v))
    }

    /// The share or the rate that it is a monotone function of, if it is of one.
    pub(super) fn counted(&self) -> Option<Counted> {
        match &self.base {
            Base::Weights { offset, inside } => {
                Some(Counted { offset: *offset, inside: inside.clone() })
            }
            Base::Precision { offset } => Some(Counted { offset: *offset, inside: Vec::new() }),
            _ => None,
        }
    }

    /// The probability density of `h(θ)` at `v`.
    pub fn density(&self, parameters: &[f64], v: f64) -> f64 {
        let mut x = v;
        let mut slope = 1.0;
        for step in self.steps.iter().rev() {
            let inner = step.invert(x);
            slope *= step.slope(inner, x);
            x = inner;
        }
        let density = self.marginal(parameters).density(x);
        if density == 0.0 { 0.0 } else { density / slope }
    }

    /// What it is, in words: `Beta`, `scaled t`, `log of inverse gamma`.
    ///
    /// Changes of location and scale are left out where they stay in the family.
    pub fn describe(&self) -> String {
        let mut steps = self.steps.as_slice();
        if let [Step::Affine { a, c }, rest @ ..] = steps {
            let stays = match self.base {
                Base::Mean { .. } | Base::Coefficients(_) => true,
                Base::Variance { .. } | Base::Precision { .. } => *a > 0.0 && *c == 0.0,
                Base::Weights { .. } | Base::Constant(_) => false,
            };
            if stays {
                steps = rest;
            }
        }
        let outer: String = steps.iter().rev().map(|s| s.describe()).collect();
        outer + self.base.describe()
    }

    /// The 0-based component and the coefficients `c`, if `h = cᵀμ_k + constant`.
    ///
    /// For the published rule, whose intervals of means are a t quantile times a posterior standard
    /// deviation. The centre, constant included, is [`Part::plug_in`](super::Part::plug_in).
    pub fn is_mean_of_component(&self) -> Option<(usize, &[f64])> {
        match (&self.base, self.steps.as_slice()) {
            (Base::Mean { component, coefficients, .. }, [] | [Step::Affine { a: 1.0, .. }]) => {
                Some((*component, coefficients))
            }
            _ => None,
        }
    }

    fn forward(&self, x: f64) -> f64 {
        self.steps.iter().fold(x, |x, step| step.apply(x))
    }
}
