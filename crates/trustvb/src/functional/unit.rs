//! In which unit a functional is measured, as far as its form shows: so that quantities in different units
//! are not drawn on one axis.

use super::evaluate::{Function, Node};
use super::quantity::AtomKind;
use std::collections::BTreeMap;

/// What a unit is made of, with its power.
type Powers = BTreeMap<Base, f64>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Base {
    /// The response of a regression.
    Response,
    /// A coordinate, 0-based.
    Coordinate(usize),
}

#[derive(Clone, Debug, PartialEq)]
enum Unit {
    /// A constant goes with every unit.
    Any,
    Known(Powers),
    /// There is none that can be told, as for the log of a length.
    Unknown,
}

/// The unit of `node` in the names of the coordinates: `waiting`, `waiting²`, `waiting/eruptions`, or
/// nothing for a pure number; `None` where it cannot be told.
pub(super) fn unit(node: &Node, coordinates: &[String]) -> Option<String> {
    match of(node, coordinates) {
        Unit::Any => Some(String::new()),
        Unit::Known(powers) => Some(name(&powers, coordinates)),
        Unit::Unknown => None,
    }
}

fn of(node: &Node, coordinates: &[String]) -> Unit {
    let of = |x: &Node| of(x, coordinates);
    let coordinate = |i: usize| match coordinates.get(i).map(String::as_str) {
        Some("(Intercept)") => Vec::new(),
        _ => vec![Base::Coordinate(i)],
    };
    match node {
        Node::Constant(_) => Unit::Any,
        Node::Atom(atom) => match atom.kind {
            AtomKind::Weight => Unit::Known(Powers::new()),
            AtomKind::Mean => known(&coordinate(atom.row()), &[]),
            AtomKind::Covariance => {
                known(&[coordinate(atom.row()), coordinate(atom.column())].concat(), &[])
            }
            AtomKind::Coefficient => known(&[Base::Response], &coordinate(atom.row())),
            AtomKind::Precision => Unit::Unknown,
        },
        Node::Negate(x) | Node::Apply(Function::Abs, x) => of(x),
        Node::Sum(xs) => common(xs.iter().map(|(_, x)| of(x))),
        Node::Least(xs) | Node::Greatest(xs) => common(xs.iter().map(of)),
        Node::Product(xs) => {
            let mut product = Powers::new();
            for (divides, x) in xs {
                match of(x) {
                    Unit::Any => {}
                    Unit::Unknown => return Unit::Unknown,
                    Unit::Known(powers) => {
                        let sign = if *divides { -1.0 } else { 1.0 };
                        powers.into_iter().for_each(|(base, power)| {
                            *product.entry(base).or_default() += sign * power;
                        });
                    }
                }
            }
            reduced(product)
        }
        Node::Power(x, y) => match (of(x), y.as_ref()) {
            (Unit::Known(powers), Node::Constant(y)) => raised(powers, *y),
            (unit, _) => pure(unit),
        },
        Node::Apply(Function::Sqrt, x) => match of(x) {
            Unit::Known(powers) => raised(powers, 0.5),
            unit => unit,
        },
        Node::Apply(_, x) => pure(of(x)),
    }
}

fn known(times: &[Base], over: &[Base]) -> Unit {
    let mut powers = Powers::new();
    times.iter().for_each(|base| *powers.entry(*base).or_default() += 1.0);
    over.iter().for_each(|base| *powers.entry(*base).or_default() -= 1.0);
    reduced(powers)
}

fn reduced(mut powers: Powers) -> Unit {
    powers.retain(|_, power| *power != 0.0);
    Unit::Known(powers)
}

fn raised(powers: Powers, exponent: f64) -> Unit {
    reduced(powers.into_iter().map(|(base, power)| (base, power * exponent)).collect())
}

/// The unit that all have which have one.
fn common(units: impl Iterator<Item = Unit>) -> Unit {
    units.fold(Unit::Any, |held, next| match (held, next) {
        (Unit::Any, unit) | (unit, Unit::Any) => unit,
        (held, next) if held == next => held,
        _ => Unit::Unknown,
    })
}

/// A function of a pure number is one; of anything else it has no unit that can be told.
fn pure(unit: Unit) -> Unit {
    match unit {
        Unit::Any => Unit::Any,
        Unit::Known(powers) if powers.is_empty() => Unit::Known(powers),
        _ => Unit::Unknown,
    }
}

fn name(powers: &Powers, coordinates: &[String]) -> String {
    let side = |sign: f64| {
        let parts: Vec<String> = powers
            .iter()
            .filter(|(_, power)| **power * sign > 0.0)
            .map(|(base, power)| {
                let name = match base {
                    Base::Response => "response",
                    Base::Coordinate(i) => coordinates.get(*i).map_or("?", String::as_str),
                };
                match power.abs() {
                    1.0 => name.to_owned(),
                    2.0 => format!("{name}²"),
                    3.0 => format!("{name}³"),
                    power => format!("{name}^{power}"),
                }
            })
            .collect();
        parts.join("·")
    };
    match (side(1.0), side(-1.0)) {
        (over, under) if under.is_empty() => over,
        (over, under) if over.is_empty() => format!("1/{under}"),
        (over, under) => format!("{over}/{under}"),
    }
}
