//! What columns of numbers show beside a fit: components that collapsed on a value, and columns that look like codes.

use super::Model;
use crate::data::{Distinct, Look};
use crate::posterior::Posterior;
use std::fmt;

/// A component most of whose units have the very same value in a column of numbers: its density has collapsed on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Heap {
    /// 1-based component.
    pub component: usize,
    /// The column's name.
    pub column: String,
    /// The value.
    pub value: f64,
    /// The share of the component's units that have it.
    pub share: f64,
}

impl fmt::Display for Heap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Heap { component, column, value, share } = self;
        // All but the last of a thousand is not all.
        let percent = (100.0 * share).floor();
        write!(f, "{percent:.0}% of component {component} have the value {value} in `{column}`")
    }
}

/// The components of a fit that collapsed on a value, with each column in which they did.
pub fn heaps(model: &dyn Model, posterior: &Posterior) -> Vec<Heap> {
    let k = model.n_components();
    if numbers(model).next().is_none() {
        return Vec::new();
    }
    let mut sweeper = model.sweeper();
    let found = sweeper.load(None).and_then(|()| sweeper.responsibilities_under(posterior));
    let Ok(responsibilities) = found else { return Vec::new() };
    let repeats = model.repeats();
    let mut heaps = Vec::new();
    for (name, values) in numbers(model) {
        let units = || {
            let there = values.iter().enumerate().filter(|(_, x)| !x.is_nan());
            there.map(|(i, x)| {
                let times = repeats.map_or(1.0, |repeats| repeats[i]);
                (*x, times, &responsibilities[i * k..(i + 1) * k])
            })
        };
        // A value with more than half of a component outlives the others when unlike ones cancel (Boyer & Moore).
        let mut left = vec![(0.0, f64::NAN); k];
        for (x, times, r) in units() {
            for ((weight, value), r) in left.iter_mut().zip(r) {
                let own = times * r;
                if *value == x {
                    *weight += own;
                } else if *weight >= own {
                    *weight -= own;
                } else {
                    (*weight, *value) = (own - *weight, x);
                }
            }
        }
        let mut all = vec![0.0; k];
        let mut largest: Vec<(f64, f64)> = left.iter().map(|(_, value)| (0.0, *value)).collect();
        for (x, times, r) in units() {
            for ((all, (most, value)), r) in all.iter_mut().zip(&mut largest).zip(r) {
                *all += times * r;
                *most += if *value == x { times * r } else { 0.0 };
            }
        }
        for (c, (most, value)) in largest.into_iter().enumerate() {
            if most >= MANY && most >= HEAP * all[c] {
                let (component, column, share) = (c + 1, name.clone(), most / all[c]);
                heaps.push(Heap { component, column, value, share });
            }
        }
    }
    heaps.sort_by_key(|heap| heap.component);
    heaps
}

/// The columns that a model takes for numbers although they look like codes, each with how many there are.
pub fn coded(model: &dyn Model) -> Vec<(String, usize)> {
    let look = |(name, values): (String, Vec<f64>)| {
        let seen = Distinct::of(values);
        match seen.look() {
            Look::Pair(_) if seen.come_again() => Some((name, 2)),
            Look::Codes(n, _) => Some((name, n)),
            _ => None,
        }
    };
    numbers(model).filter_map(look).collect()
}

/// The columns that are Gaussian in a model, with their values; NaN where a cell is missing.
pub(crate) fn numbers(model: &dyn Model) -> impl Iterator<Item = (String, Vec<f64>)> {
    let names = model.layout().coordinates.iter().enumerate();
    names.filter_map(|(j, name)| Some((name.clone(), model.numbers(j)?)))
}

/// The columns that are Poisson in a model, with their values; NaN where a cell is missing.
pub(crate) fn counts(model: &dyn Model) -> impl Iterator<Item = (String, Vec<f64>)> {
    let names = model.layout().coordinates.iter().enumerate();
    names.filter_map(|(j, name)| Some((name.clone(), model.counts(j)?)))
}

/// Brings values that a model holds on another scale back to the data's units, in which whole numbers are whole again.
pub(super) fn restoring(centre: f64, scale: f64) -> impl Fn(f64) -> f64 {
    let digits = 1e11 / 10f64.powi(scale.max(centre.abs()).log10().ceil() as i32);
    move |z| {
        let x = z * scale + centre;
        let rounded = (x * digits).round() / digits;
        if rounded.is_finite() { rounded + 0.0 } else { x }
    }
}

/// The share of a component from which on a value makes it: more than rounding does where a component is wider than half a
/// step.
const HEAP: f64 = 0.75;

/// Units from which on equal values are no accident.
const MANY: f64 = 5.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_were() {
        for (centre, scale) in [(3.7, 1.3), (1e6, 0.02), (-1e-9, 3e-10), (0.0, 1e50)] {
            for x in [centre, 0.0, centre + scale, centre - 2.0 * scale] {
                let back = restoring(centre, scale)((x - centre) / scale);
                assert!((back - x).abs() <= 1e-10 * scale.max(f64::abs(centre)), "{x} {back}");
            }
        }
        assert_eq!(restoring(3.7, 1.3)((2.0 - 3.7) / 1.3), 2.0);
    }
}
