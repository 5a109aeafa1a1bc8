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
        let mut order: Vec<usize> = (0..values.len()).filter(|&i| !values[i].is_nan()).collect();
        order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
        // For each component all that it has, and its largest heap with its value.
        let mut all = vec![0.0; k];
        let mut largest = vec![(0.0, 0.0); k];
        for same in order.chunk_by(|&a, &b| values[a] == values[b]) {
            let mut own = vec![0.0; k];
            for &i in same {
                let times = repeats.map_or(1.0, |repeats| repeats[i]);
                let r = &responsibilities[i * k..(i + 1) * k];
                own.iter_mut().zip(r).for_each(|(own, r)| *own += times * r);
            }
            for c in 0..k {
                all[c] += own[c];
                if own[c] > largest[c].0 {
                    largest[c] = (own[c], values[same[0]]);
                }
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
fn numbers(model: &dyn Model) -> impl Iterator<Item = (String, Vec<f64>)> {
    let names = model.layout().coordinates.iter().enumerate();
    names.filter_map(|(j, name)| Some((name.clone(), model.numbers(j)?)))
}

/// A value that a model holds on another scale, in the data's units again: whole numbers are whole.
pub(super) fn restored(z: f64, centre: f64, scale: f64) -> f64 {
    let (x, size) = (z * scale + centre, scale.max(centre.abs()));
    let digits = 1e11 / 10f64.powi(size.log10().ceil() as i32);
    let rounded = (x * digits).round() / digits;
    if rounded.is_finite() { rounded + 0.0 } else { x }
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
                let back = restored((x - centre) / scale, centre, scale);
                assert!((back - x).abs() <= 1e-10 * scale.max(f64::abs(centre)), "{x} {back}");
            }
        }
        assert_eq!(restored((2.0 - 3.7) / 1.3, 3.7, 1.3), 2.0);
    }
}
