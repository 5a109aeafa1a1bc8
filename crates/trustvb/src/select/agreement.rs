//! How often resamples of the units agree on a choice, with every fit as it is.
//!
//! A resample that has unit n so many times, `m_n`, moves a candidate's score by `Σ_n (m_n − 1) log p_c(x_n)`, and candidates
//! are compared anew: Kishino, Miyata & Hasegawa's (1990) resampling of estimated log likelihoods. Nothing is fitted. Over
//! bootstraps these sums are Normal, all but, with the covariances of the candidates' log densities over units, so that the
//! shares come from draws of that law, however many units there are.

use super::{Candidate, Criterion};
use crate::linalg::eigen::symmetric_eigen;
use crate::random::{Purpose, stream};
use rand_distr::{Distribution, StandardNormal};

/// Resamples that are drawn.
const RESAMPLES: usize = 4000;

/// Shares of the resamples in which each number of components is the best, largest first; of shapes where only one number was
/// compared. Empty where fewer than two candidates can be compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Candidate that stands for its number of components (or its shape), and the share.
    pub shares: Vec<(usize, f64)>,
}

/// A unit's log densities, and how many units it stands for with which weight.
pub(super) struct Densities<'a> {
    /// Of each candidate; empty where they cannot be had.
    pub(super) of: Vec<&'a [f64]>,
    /// Units that each is; `None`: one.
    pub(super) repeats: Option<&'a [f64]>,
    /// The weight of each of these; `None`: one.
    pub(super) each: Option<&'a [f64]>,
}

impl Densities<'_> {
    /// What a resample adds to the scores of two candidates has this covariance.
    fn covariance(&self, a: usize, b: usize) -> f64 {
        let (a, b) = (self.of[a], self.of[b]);
        let of = |values: Option<&[f64]>, unit: usize| values.map_or(1.0, |v| v[unit]);
        let (mut total, mut sums) = (0.0, [0.0; 3]);
        for unit in 0..a.len() {
            let (count, each) = (of(self.repeats, unit), of(self.each, unit));
            let (x, y) = (each * a[unit], each * b[unit]);
            total += count;
            sums[0] += count * x;
            sums[1] += count * y;
            sums[2] += count * x * y;
        }
        sums[2] - sums[0] * sums[1] / total
    }
}

impl Agreement {
    /// Of these candidates by this criterion.
    pub(super) fn new(
        candidates: &[Candidate],
        criterion: Criterion,
        densities: &Densities<'_>,
        seed: u64,
    ) -> Agreement {
        let order = criterion.order(candidates);
        let has_densities = |at: &usize| {
            !densities.of[*at].is_empty() && densities.of[*at].iter().all(|x| x.is_finite())
        };
        let whole: Vec<usize> = order
            .into_iter()
            .filter(|&at| candidates[at].emptied() == 0)
            .filter(has_densities)
            .collect();
        let several = whole
            .iter()
            .any(|&at| candidates[at].n_components != candidates[whole[0]].n_components);
        let c = whole.len();
        if c < 2 {
            return Agreement::default();
        }
        let mut covariances = vec![0.0; c * c];
        for i in 0..c {
            for j in 0..=i {
                let value = densities.covariance(whole[i], whole[j]);
                covariances[i * c + j] = value;
                covariances[j * c + i] = value;
            }
        }
        let (values, vectors) = symmetric_eigen(c, covariances);
        let roots: Vec<f64> = values.iter().map(|value| value.max(0.0).sqrt()).collect();
        let scores: Vec<f64> =
            whole.iter().map(|&at| -0.5 * criterion.badness(&candidates[at])).collect();
        let alike = |a: usize, b: usize| match several {
            true => candidates[a].n_components == candidates[b].n_components,
            false => a == b,
        };
        let mut rng = stream(seed, Purpose::Agreement, 0);
        // The best candidate of each number stands for it.
        let mut wins: Vec<(usize, usize)> = Vec::new();
        for &at in &whole {
            if wins.iter().all(|(other, _)| !alike(*other, at)) {
                wins.push((at, 0));
            }
        }
        let mut moved = vec![0.0; c];
        for _ in 0..RESAMPLES {
            moved.copy_from_slice(&scores);
            for (root, vector) in roots.iter().zip(vectors.chunks_exact(c)) {
                let z: f64 = StandardNormal.sample(&mut rng);
                moved.iter_mut().zip(vector).for_each(|(x, v)| *x += root * z * v);
            }
            let best = (1..c).fold(0, |best, i| if moved[i] > moved[best] { i } else { best });
            if let Some(win) = wins.iter_mut().find(|(at, _)| alike(*at, whole[best])) {
                win.1 += 1;
            }
        }
        let share = |(at, wins): (usize, usize)| (at, wins as f64 / RESAMPLES as f64);
        let mut shares: Vec<(usize, f64)> = wins.into_iter().map(share).collect();
        shares.retain(|(_, share)| *share > 0.0);
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        Agreement { shares }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::model::{GaussianMixture, ModelData, ModelSpec};
    use crate::random::index;
    use crate::select::SelectRequest;

    /// Counting units in resamples drawn one by one is the judge.
    #[test]
    fn shares_are_those_of_resamples_that_are_drawn() {
        let data = ModelData::Rows(Dataset::faithful());
        let spec: ModelSpec = GaussianMixture::new(1).into();
        let found = SelectRequest::new(&spec, &data, &[1, 2, 3, 4]).run().unwrap();
        let densities: Vec<Vec<f64>> = found
            .candidates
            .iter()
            .map(|c| spec.ln_densities(&data, &c.fit.as_ref().unwrap().posterior).unwrap())
            .collect();
        let n = data.n_units();
        let (mut rng, mut wins) = (stream(4, Purpose::Simulate, 0), [0.0; 5]);
        let draws = 2000;
        for _ in 0..draws {
            let mut counts = vec![0.0; n];
            (0..n).for_each(|_| counts[index(&mut rng, n)] += 1.0);
            let scores: Vec<f64> = found
                .candidates
                .iter()
                .zip(&densities)
                .map(|(c, l)| {
                    c.evidence + counts.iter().zip(l).map(|(m, l)| (m - 1.0) * l).sum::<f64>()
                })
                .collect();
            let best = (0..scores.len()).filter(|&at| found.candidates[at].emptied() == 0);
            let best = best.max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap();
            wins[found.candidates[best].n_components] += 1.0 / f64::from(draws);
        }
        let mut seen = 0.0;
        for (at, share) in &found.agreement.shares {
            let drawn = wins[found.candidates[*at].n_components];
            assert!((share - drawn).abs() < 0.05, "{:?} {wins:?}", found.agreement);
            seen += share;
        }
        assert!((seen - 1.0).abs() < 1e-9);
    }
}
