//! A few units as points, among which k-means finds starting centres: sweeps over all units do the rest.

use super::features::{FeatureKind, Features};
use crate::fit::Clusterable;
use crate::random::{index, uniform};
use rand_chacha::ChaCha8Rng;

/// Units that are looked at: so many, and so many for each component.
const LEAST: usize = 200;
const PER_COMPONENT: usize = 60;

/// Units in coordinates that are as good as each other: standardised numbers, indicators of levels, and square roots of
/// counts in their standard deviations. A missing cell costs nothing.
pub(super) struct Points {
    length: usize,
    /// Unit after unit.
    coordinates: Vec<f64>,
    /// For each coordinate 1 where it is there and 0 where not; nothing where all are.
    there: Vec<f64>,
    /// Those of an average unit.
    usual: Vec<f64>,
}

impl Points {
    /// Some of the units, drawn at random; with weights, as often as these say, and more than once.
    pub(super) fn draw(
        features: &Features,
        weights: Option<&[f64]>,
        n_components: usize,
        rng: &mut ChaCha8Rng,
    ) -> Points {
        let most = LEAST.max(PER_COMPONENT * n_components);
        let units = match weights {
            None => without_replacement(features.len(), most, rng),
            Some(weights) => by_weight(weights, most, rng),
        };
        Points::of(features, &units)
    }

    fn of(features: &Features, units: &[usize]) -> Points {
        let length = features.centre_len();
        let mut coordinates = vec![0.0; units.len() * length];
        let mut there = vec![1.0; units.len() * length];
        let mut usual = vec![0.0; length];
        for column in features.columns() {
            let own = column.centre_at..column.centre_at + column.centre_len();
            match column.kind {
                FeatureKind::Gaussian { .. } => {}
                FeatureKind::Category { levels } => usual[own.clone()].fill(1.0 / levels as f64),
                FeatureKind::Count => {
                    usual[own.start] = features.sizes[column.first].sqrt() / column.root_scale;
                }
            }
            for (row, &unit) in units.iter().enumerate() {
                let at = row * length + own.start;
                if !features.is_there(unit, column) {
                    there[at..at + own.len()].fill(0.0);
                    continue;
                }
                for (l, x) in coordinates[at..at + own.len()].iter_mut().enumerate() {
                    let value = features.get(unit, column.first + l);
                    *x = match column.kind {
                        FeatureKind::Count => value.sqrt() / column.root_scale,
                        FeatureKind::Gaussian { .. } | FeatureKind::Category { .. } => value,
                    };
                }
            }
        }
        if there.iter().all(|x| *x > 0.0) {
            there.clear();
        }
        Points { length, coordinates, there, usual }
    }

    fn row(&self, unit: usize) -> &[f64] {
        &self.coordinates[unit * self.length..(unit + 1) * self.length]
    }

    fn there(&self, unit: usize) -> Option<&[f64]> {
        let own = unit * self.length..(unit + 1) * self.length;
        (!self.there.is_empty()).then(|| &self.there[own])
    }
}

/// `most` of `n` units, or all.
fn without_replacement(n: usize, most: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut units: Vec<usize> = (0..n).collect();
    if most < n {
        for i in 0..most {
            let j = i + index(rng, n - i);
            units.swap(i, j);
        }
        units.truncate(most);
    }
    units
}

/// At most `most` units, each with a chance in proportion to its weight; no more than the weights add up to.
fn by_weight(weights: &[f64], most: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut sum = 0.0;
    let ends: Vec<f64> = weights
        .iter()
        .map(|w| {
            sum += w;
            sum
        })
        .collect();
    let n = if sum < most as f64 { sum.ceil() as usize } else { most };
    let draw = |_| {
        let at = uniform(rng) * sum;
        ends.partition_point(|end| *end <= at).min(weights.len().saturating_sub(1))
    };
    if sum > 0.0 { (0..n).map(draw).collect() } else { Vec::new() }
}

impl Clusterable for Points {
    fn n_units(&self) -> usize {
        self.coordinates.len() / self.length.max(1)
    }

    fn centre_len(&self) -> usize {
        self.length
    }

    fn loss(&self, unit: usize, centre: &[f64]) -> f64 {
        let squares = self.row(unit).iter().zip(centre).map(|(x, c)| (x - c) * (x - c));
        match self.there(unit) {
            None => squares.sum(),
            Some(there) => squares.zip(there).map(|(square, there)| square * there).sum(),
        }
    }

    /// What is missing is taken from the average unit.
    fn centre_of(&self, unit: usize, out: &mut [f64]) {
        out.copy_from_slice(self.row(unit));
        for (j, there) in self.there(unit).into_iter().flatten().enumerate() {
            if *there == 0.0 {
                out[j] = self.usual[j];
            }
        }
    }

    fn refit(&self, members: &mut dyn Iterator<Item = (usize, f64)>, out: &mut [f64]) {
        let (mut sums, mut totals) = (vec![0.0; self.length], vec![0.0; self.length]);
        for (unit, weight) in members {
            for (sum, x) in sums.iter_mut().zip(self.row(unit)) {
                *sum += weight * x;
            }
            match self.there(unit) {
                None => totals.iter_mut().for_each(|total| *total += weight),
                Some(there) => {
                    totals.iter_mut().zip(there).for_each(|(total, x)| *total += weight * x);
                }
            }
        }
        for (out, (sum, total)) in out.iter_mut().zip(sums.into_iter().zip(totals)) {
            if total > 0.0 {
                *out = sum / total;
            }
        }
    }
}
