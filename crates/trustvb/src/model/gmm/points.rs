//! Rows as points for k-means.

use super::rows::Rows;
use super::views::{Seen, View};
use crate::fit::{Care, Clusterable, chosen_units, k_means};

/// The first `p` numbers of each row.
pub(super) struct Points<'a> {
    pub(super) rows: &'a Rows,
    pub(super) p: usize,
}

/// Centres in the data's units, by k-means on rows looked at in some way.
pub(super) fn centres(
    points: &Points<'_>,
    n_components: usize,
    (centre, scale): (&[f64], &[f64]),
    weights: Option<&[f64]>,
    (care, view): (Care, View),
    rng: &mut rand_chacha::ChaCha8Rng,
) -> Vec<f64> {
    let mut chosen = chosen_units(points.n_units(), weights, care, rng);
    let mut centres = match Seen::new(points, &chosen, view, n_components) {
        None => k_means(points, n_components, &chosen, care, rng),
        Some(seen) => {
            chosen.iter_mut().enumerate().for_each(|(at, (unit, _))| *unit = at);
            seen.columns(&k_means(&seen, n_components, &chosen, care, rng))
        }
    };
    for own in centres.chunks_exact_mut(points.p) {
        for j in 0..points.p {
            own[j] = centre[j] + scale[j] * own[j];
        }
    }
    centres
}

/// Ordinary k-means on the scaled rows.
impl Clusterable for Points<'_> {
    fn n_units(&self) -> usize {
        self.rows.len()
    }
    fn centre_len(&self) -> usize {
        self.p
    }
    fn loss(&self, unit: usize, centre: &[f64]) -> f64 {
        (0..self.p).map(|j| (self.rows.get(unit, j) - centre[j]).powi(2)).sum()
    }
    fn centre_of(&self, unit: usize, out: &mut [f64]) {
        for (j, x) in out.iter_mut().enumerate() {
            *x = self.rows.get(unit, j);
        }
    }
    fn refit(&self, members: &mut dyn Iterator<Item = (usize, f64)>, out: &mut [f64]) {
        let mut total = 0.0;
        let mut sum = vec![0.0; self.p];
        for (unit, weight) in members {
            total += weight;
            for (j, s) in sum.iter_mut().enumerate() {
                *s += weight * self.rows.get(unit, j);
            }
        }
        if total > 0.0 {
            for (x, s) in out.iter_mut().zip(sum) {
                *x = s / total;
            }
        }
    }
}
