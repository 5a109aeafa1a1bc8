//! The value of a functional at a draw of the parameters, or at their posterior mean.

use super::quantity::{Atom, AtomKind};
use crate::linalg::packed_index;

/// Functions of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Log,
    Exp,
    Sqrt,
    Abs,
    Logit,
    Expit,
}

impl Function {
    pub(super) const ALL: [(&'static str, Function); 6] = [
        ("log", Function::Log),
        ("exp", Function::Exp),
        ("sqrt", Function::Sqrt),
        ("abs", Function::Abs),
        ("logit", Function::Logit),
        ("expit", Function::Expit),
    ];

    pub(super) fn apply(self, x: f64) -> f64 {
        match self {
            Function::Log => x.ln(),
            Function::Exp => x.exp(),
            Function::Sqrt => x.sqrt(),
            Function::Abs => x.abs(),
            Function::Logit => x.ln() - (-x).ln_1p(),
            Function::Expit => expit(x),
        }
    }
}

/// `1/(1 + e^-x)`, without overflow.
pub(super) fn expit(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        let e = x.exp();
        e / (1.0 + e)
    }
}

/// A scalar expression over the elements of the posterior, as the user meant it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Constant(f64),
    Atom(Atom),
    Negate(Box<Node>),
    /// Terms, each with whether it is subtracted.
    Sum(Vec<(bool, Node)>),
    /// Factors, each with whether it divides.
    Product(Vec<(bool, Node)>),
    Power(Box<Node>, Box<Node>),
    Apply(Function, Box<Node>),
    Least(Vec<Node>),
    Greatest(Vec<Node>),
}

impl Node {
    /// Number of nodes.
    pub(super) fn size(&self) -> usize {
        1 + match self {
            Node::Constant(_) | Node::Atom(_) => 0,
            Node::Negate(x) | Node::Apply(_, x) => x.size(),
            Node::Sum(xs) | Node::Product(xs) => xs.iter().map(|(_, x)| x.size()).sum(),
            Node::Power(x, y) => x.size() + y.size(),
            Node::Least(xs) | Node::Greatest(xs) => xs.iter().map(Node::size).sum(),
        }
    }

    /// Whether it is `Σ_ij / (√Σ_ii √Σ_jj)` with `i ≠ j`, as `cor` means it.
    pub(super) fn is_correlation(&self) -> bool {
        let variance = |node: &Node| match node {
            Node::Apply(Function::Sqrt, x) => match **x {
                Node::Atom(a) if a.kind == AtomKind::Covariance && a.i == a.j => Some(a),
                _ => None,
            },
            _ => None,
        };
        let Node::Product(factors) = self else { return false };
        let [(false, Node::Atom(c)), (true, a), (true, b)] = factors.as_slice() else {
            return false;
        };
        let (Some(a), Some(b)) = (variance(a), variance(b)) else { return false };
        c.kind == AtomKind::Covariance
            && c.i != c.j
            && (a.i.max(b.i), a.i.min(b.i)) == (c.i, c.j)
            && [a.offset, b.offset] == [c.offset; 2]
    }

    /// Calls `visit` with every element of the posterior in it.
    pub(super) fn atoms(&self, visit: &mut impl FnMut(&Atom)) {
        match self {
            Node::Constant(_) => {}
            Node::Atom(atom) => visit(atom),
            Node::Negate(x) | Node::Apply(_, x) => x.atoms(visit),
            Node::Sum(xs) | Node::Product(xs) => xs.iter().for_each(|(_, x)| x.atoms(visit)),
            Node::Power(x, y) => {
                x.atoms(visit);
                y.atoms(visit);
            }
            Node::Least(xs) | Node::Greatest(xs) => xs.iter().for_each(|x| x.atoms(visit)),
        }
    }

    /// The value where each element has the value that `value` gives it.
    pub(super) fn evaluate(&self, value: &impl Fn(&Atom) -> f64) -> f64 {
        match self {
            Node::Constant(x) => *x,
            Node::Atom(atom) => value(atom),
            Node::Negate(x) => -x.evaluate(value),
            Node::Sum(terms) => terms.iter().fold(0.0, |sum, (minus, x)| {
                let x = x.evaluate(value);
                if *minus { sum - x } else { sum + x }
            }),
            Node::Product(factors) => factors.iter().fold(1.0, |product, (divide, x)| {
                let x = x.evaluate(value);
                if *divide { product / x } else { product * x }
            }),
            Node::Power(x, y) => power(x.evaluate(value), y.evaluate(value)),
            Node::Apply(function, x) => function.apply(x.evaluate(value)),
            Node::Least(xs) => extreme(xs, value, |x, held| x < held),
            Node::Greatest(xs) => extreme(xs, value, |x, held| x > held),
        }
    }
}

/// `x^y`; small whole powers by multiplication.
pub(super) fn power(x: f64, y: f64) -> f64 {
    if y == y.trunc() && y.abs() <= 64.0 { x.powi(y as i32) } else { x.powf(y) }
}

/// The smallest or largest value; NaN if any is.
fn extreme(xs: &[Node], value: &impl Fn(&Atom) -> f64, better: fn(f64, f64) -> bool) -> f64 {
    let mut held = f64::NAN;
    for (at, x) in xs.iter().enumerate() {
        let x = x.evaluate(value);
        if x.is_nan() {
            return x;
        }
        if at == 0 || better(x, held) {
            held = x;
        }
    }
    held
}

/// The posterior mean of one element, straight from the flat parameters.
pub(super) fn posterior_mean(atom: &Atom, parameters: &[f64]) -> f64 {
    let copy = &parameters[atom.offset..];
    match atom.kind {
        AtomKind::Weight => copy[atom.i] / copy[..atom.dim].iter().sum::<f64>(),
        // β, ν, then m and the triangle of W^-1.
        AtomKind::Mean => copy[2 + atom.i],
        AtomKind::Covariance => {
            let denominator = copy[1] - atom.dim as f64 - 1.0;
            if denominator > 0.0 {
                copy[2 + atom.dim + packed_index(atom.i, atom.j)] / denominator
            } else {
                f64::NAN
            }
        }
        AtomKind::Coefficient => copy[atom.i],
        AtomKind::Precision => copy[0] / copy[1],
    }
}
