//! Starting centres: k-means++ seeding and Lloyd's iteration, for any loss a model has.

use crate::random::{some_of, uniform};
use rand_chacha::ChaCha8Rng;

/// Units that can be grouped around centres: rows around points, groups around coefficients.
pub(crate) trait Clusterable {
    fn n_units(&self) -> usize;
    fn centre_len(&self) -> usize;
    /// How badly `centre` describes `unit`; at least 0.
    fn loss(&self, unit: usize, centre: &[f64]) -> f64;
    /// The loss of each of `units`, of which `out` has as many; for models that have a quicker way.
    fn losses(&self, units: &[(usize, f64)], centre: &[f64], out: &mut [f64]) {
        for (out, &(unit, _)) in out.iter_mut().zip(units) {
            *out = self.loss(unit, centre);
        }
    }
    /// The centre that describes `unit` best.
    fn centre_of(&self, unit: usize, out: &mut [f64]);
    /// The centre that describes weighted units best; `out` is left alone when there are none.
    fn refit(&self, members: &mut dyn Iterator<Item = (usize, f64)>, out: &mut [f64]);
}

/// How much is done for a start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Care {
    /// Lloyd iterations; a start need not be a perfect clustering.
    steps: usize,
    /// Units looked at. A start from a random subset of a large data set is as good and far quicker.
    most_units: usize,
    /// Units drawn for each new centre, of which the best is taken.
    tries: usize,
}

impl Care {
    /// For a start on which everything depends.
    pub(crate) const FULL: Care = Care { steps: 25, most_units: 20_000, tries: 1 };
    /// For one of several starts, whose own sweeps soon do better.
    pub(crate) const ROUGH: Care = Care { steps: 4, most_units: 2000, tries: 3 };
    /// For a start from units as they come.
    pub(crate) const SEEDS: Care = Care { steps: 1, most_units: 2000, tries: 1 };
    /// For any start of a model whose sweeps cost less than k-means does.
    pub(crate) const QUICK: Care = Care { steps: 5, most_units: 2000, tries: 3 };
}

/// The units of `n` that [`centres_by_k_means`] would look at, in its order: for units that have to be fetched first.
pub(crate) fn looked_at(n: usize, care: Care, rng: &mut ChaCha8Rng) -> Vec<usize> {
    match n > care.most_units {
        true => some_of(n, care.most_units, |n| (uniform(rng) * n as f64) as usize),
        false => (0..n).collect(),
    }
}

/// `k` centres for the weighted units (`None`: all of weight one), one after the other.
pub(crate) fn centres_by_k_means(
    units: &impl Clusterable,
    k: usize,
    weights: Option<&[f64]>,
    care: Care,
    rng: &mut ChaCha8Rng,
) -> Vec<f64> {
    let chosen = chosen_units(units.n_units(), weights, care, rng);
    k_means(units, k, &chosen, care, rng)
}

/// The units that are looked at, of `n`, with their weights.
pub(crate) fn chosen_units(
    n: usize,
    weights: Option<&[f64]>,
    care: Care,
    rng: &mut ChaCha8Rng,
) -> Vec<(usize, f64)> {
    let mut chosen: Vec<(usize, f64)> =
        (0..n).map(|i| (i, weights.map_or(1.0, |w| w[i]))).filter(|&(_, w)| w > 0.0).collect();
    let most = care.most_units;
    if chosen.len() > most {
        for i in 0..most {
            let j = i + (uniform(rng) * (chosen.len() - i) as f64) as usize;
            chosen.swap(i, j);
        }
        chosen.truncate(most);
    }
    chosen
}

/// `k` centres for the units that were chosen.
pub(crate) fn k_means(
    units: &impl Clusterable,
    k: usize,
    chosen: &[(usize, f64)],
    care: Care,
    rng: &mut ChaCha8Rng,
) -> Vec<f64> {
    let length = units.centre_len();
    if chosen.is_empty() {
        return vec![0.0; k * length];
    }
    let mut centres = seed(units, k, chosen, care.tries, rng);
    let mut labels = vec![usize::MAX; chosen.len()];
    let mut nearest = vec![0; chosen.len()];
    let mut least = vec![0.0; chosen.len()];
    let mut losses = vec![0.0; chosen.len()];
    for _ in 0..care.steps {
        nearest.fill(0);
        least.fill(f64::INFINITY);
        for (c, centre) in centres.chunks_exact(length).enumerate() {
            units.losses(chosen, centre, &mut losses);
            for ((nearest, least), &loss) in nearest.iter_mut().zip(&mut least).zip(&losses) {
                if loss < *least {
                    (*nearest, *least) = (c, loss);
                }
            }
        }
        if labels == nearest {
            break;
        }
        labels.copy_from_slice(&nearest);
        for c in 0..k {
            let mut members = labels
                .iter()
                .zip(chosen)
                .filter(|&(&label, _)| label == c)
                .map(|(_, &member)| member);
            units.refit(&mut members, &mut centres[c * length..(c + 1) * length]);
        }
    }
    centres
}

/// k-means++ (Arthur & Vassilvitskii 2007): each new centre is a unit drawn with probability
/// proportional to its loss under the centres so far; of `tries` draws the one that leaves the least loss.
fn seed(
    units: &impl Clusterable,
    k: usize,
    chosen: &[(usize, f64)],
    tries: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<f64> {
    let length = units.centre_len();
    let mut centres = vec![0.0; k * length];
    let mut losses: Vec<f64> = chosen.iter().map(|&(_, w)| w).collect();
    let mut trial = vec![0.0; length];
    for c in 0..k {
        let total: f64 = losses.iter().sum();
        let mut best: Option<(f64, Vec<f64>)> = None;
        for _ in 0..if c == 0 { 1 } else { tries } {
            let mut left = uniform(rng) * total;
            let mut pick = chosen.len() - 1;
            for (i, loss) in losses.iter().enumerate() {
                left -= loss;
                if left < 0.0 {
                    pick = i;
                    break;
                }
            }
            units.centre_of(chosen[pick].0, &mut trial);
            let mut after = vec![0.0; chosen.len()];
            units.losses(chosen, &trial, &mut after);
            for ((after, loss), &(_, w)) in after.iter_mut().zip(&losses).zip(chosen) {
                let here = w * *after;
                *after = if c == 0 { here } else { loss.min(here) };
            }
            let sum = after.iter().sum();
            if best.as_ref().is_none_or(|(least, _)| sum < *least) {
                best = Some((sum, after));
                centres[c * length..(c + 1) * length].copy_from_slice(&trial);
            }
        }
        if let Some((_, after)) = best {
            losses = after;
        }
    }
    centres
}
