//! Starting centres: k-means++ seeding and Lloyd's iteration, for any loss a model has.

use crate::random::uniform;
use rand_chacha::ChaCha8Rng;

/// Units that can be grouped around centres: rows around points, groups around coefficients.
pub(crate) trait Clusterable {
    fn n_units(&self) -> usize;
    fn centre_len(&self) -> usize;
    /// How badly `centre` describes `unit`; at least 0.
    fn loss(&self, unit: usize, centre: &[f64]) -> f64;
    /// The centre that describes `unit` best.
    fn centre_of(&self, unit: usize, out: &mut [f64]);
    /// The centre that describes weighted units best; `out` is left alone when there are none.
    fn refit(&self, members: &mut dyn Iterator<Item = (usize, f64)>, out: &mut [f64]);
}

/// Lloyd iterations; a start need not be a perfect clustering.
pub(crate) const LLOYD_STEPS: usize = 25;

/// The same for one of several starts, whose own sweeps soon do better.
pub(crate) const ROUGH_STEPS: usize = 4;

/// Units looked at. A start from a random subset of a large data set is as good and far quicker.
const MAX_UNITS: usize = 20_000;

/// `k` centres for the weighted units (`None`: all of weight one), one after the other, after at most `steps` of Lloyd's.
pub(crate) fn centres_by_k_means(
    units: &impl Clusterable,
    k: usize,
    weights: Option<&[f64]>,
    steps: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<f64> {
    let length = units.centre_len();
    let mut chosen: Vec<(usize, f64)> = (0..units.n_units())
        .map(|i| (i, weights.map_or(1.0, |w| w[i])))
        .filter(|&(_, w)| w > 0.0)
        .collect();
    if chosen.len() > MAX_UNITS {
        for i in 0..MAX_UNITS {
            let j = i + (uniform(rng) * (chosen.len() - i) as f64) as usize;
            chosen.swap(i, j);
        }
        chosen.truncate(MAX_UNITS);
    }
    if chosen.is_empty() {
        return vec![0.0; k * length];
    }
    let mut centres = seed(units, k, &chosen, rng);
    let mut labels = vec![usize::MAX; chosen.len()];
    for _ in 0..steps {
        let mut changed = false;
        for (label, &(unit, _)) in labels.iter_mut().zip(&chosen) {
            let nearest = nearest(units, unit, &centres).0;
            changed |= *label != nearest;
            *label = nearest;
        }
        if !changed {
            break;
        }
        for c in 0..k {
            let mut members = labels
                .iter()
                .zip(&chosen)
                .filter(|&(&label, _)| label == c)
                .map(|(_, &member)| member);
            units.refit(&mut members, &mut centres[c * length..(c + 1) * length]);
        }
    }
    centres
}

/// k-means++ (Arthur & Vassilvitskii 2007): each new centre is a unit drawn with probability
/// proportional to its loss under the centres so far.
fn seed(
    units: &impl Clusterable,
    k: usize,
    chosen: &[(usize, f64)],
    rng: &mut ChaCha8Rng,
) -> Vec<f64> {
    let length = units.centre_len();
    let mut centres = vec![0.0; k * length];
    let mut losses: Vec<f64> = chosen.iter().map(|&(_, w)| w).collect();
    for c in 0..k {
        let total: f64 = losses.iter().sum();
        let mut left = uniform(rng) * total;
        let mut pick = chosen.len() - 1;
        for (i, loss) in losses.iter().enumerate() {
            left -= loss;
            if left < 0.0 {
                pick = i;
                break;
            }
        }
        units.centre_of(chosen[pick].0, &mut centres[c * length..(c + 1) * length]);
        for (loss, &(unit, w)) in losses.iter_mut().zip(chosen) {
            let here = w * units.loss(unit, &centres[c * length..(c + 1) * length]);
            *loss = if c == 0 { here } else { loss.min(here) };
        }
    }
    centres
}

fn nearest(units: &impl Clusterable, unit: usize, centres: &[f64]) -> (usize, f64) {
    let mut best = (0, f64::INFINITY);
    for (c, centre) in centres.chunks_exact(units.centre_len()).enumerate() {
        let loss = units.loss(unit, centre);
        if loss < best.1 {
            best = (c, loss);
        }
    }
    best
}
