//! Starting centres of Gaussian mixtures: k-means on some rows, looked at in some way.

use super::rows::Rows;
use super::views::{Seen, View};
use crate::fit::{Care, chosen_units, k_means};

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
    let mut chosen = chosen_units(points.rows.len(), weights, care, rng);
    let seen = Seen::new(points, &chosen, view, n_components, rng);
    chosen.iter_mut().enumerate().for_each(|(at, (unit, _))| *unit = at);
    let mut centres = seen.columns(&k_means(&seen, n_components, &chosen, care, rng));
    for own in centres.chunks_exact_mut(points.p) {
        for j in 0..points.p {
            own[j] = centre[j] + scale[j] * own[j];
        }
    }
    centres
}
