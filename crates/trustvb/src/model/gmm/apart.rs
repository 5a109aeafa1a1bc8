//! How far apart centres are, and what a prior that knew it would add to the bound.
//!
//! The default prior lets centres lie anywhere: `β0 = 0.01` is ten standard deviations of a component in every direction. An
//! estimate hardly feels it, but the bound pays for it with each centre and column, however near the centres are. So more
//! groups look less probable the more columns there are. With `q(θ)` as it is and `β` for `β0`, the bound is higher by
//!
//! ```text
//! gain = max over β0 ≤ β ≤ 0.1 of  ½ K p log(β/β0) − ½ (β − β0) Σ_k E[(μ_k − m0)ᵀ Λ_k (μ_k − m0)]       (M9)
//! ```
//!
//! where the expectation is `p/(N_k + β0)` and the squared distance of the centre from the mean of all units. Beyond 0.1 it
//! would reward components that lie upon each other (`bench_groups count`).

use super::prior::{ALPHA0, BETA0};
use crate::linalg::{cholesky, packed_index};
use crate::posterior::Posterior;

/// Centres about three standard deviations of a component from the mean of all units: nearer ones are taken for that far.
const MOST: f64 = 0.1;

/// What is gained for a fit of rows given by columns, each so many times; nothing where a component has no covariance.
pub(super) fn gain(posterior: &Posterior, columns: &[&[f64]], counts: Option<&[f64]>) -> f64 {
    let count = |row: usize| counts.map_or(1.0, |c| c[row]);
    let n = columns.first().map_or(0, |column| column.len());
    let total: f64 = (0..n).map(count).sum();
    let mean = |x: &&[f64]| x.iter().enumerate().map(|(i, x)| count(i) * x).sum::<f64>() / total;
    let centre: Vec<f64> = columns.iter().map(mean).collect();
    let (p, alpha) = (columns.len(), posterior.dirichlet("pi").map_or(&[][..], |d| d.alpha()));
    let mut squares = 0.0;
    let mut z = vec![0.0; p];
    for (k, alpha) in alpha.iter().enumerate() {
        let Some((mean, mut factor)) = posterior.gaussian(k) else { return 0.0 };
        if cholesky(p, &mut factor).is_err() {
            return 0.0;
        }
        for i in 0..p {
            let known: f64 = (0..i).map(|j| factor[packed_index(i, j)] * z[j]).sum();
            z[i] = (mean[i] - centre[i] - known) / factor[packed_index(i, i)];
        }
        squares += z.iter().map(|z| z * z).sum::<f64>() + p as f64 / (alpha - ALPHA0 + BETA0);
    }
    let numbers = (alpha.len() * p) as f64;
    let best = (numbers / squares).clamp(BETA0, MOST);
    0.5 * (numbers * (best / BETA0).ln() - (best - BETA0) * squares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::model::{GaussianMixture, GmmPrior};
    use crate::random::{Purpose, stream};
    use rand_distr::{Distribution, StandardNormal};

    /// Two clouds of 200 rows, this far apart in the first of three columns.
    fn clouds(distance: f64) -> Dataset {
        let mut rng = stream(5, Purpose::Simulate, 0);
        let mut columns = vec![Vec::new(); 3];
        for row in 0..400 {
            for (j, column) in columns.iter_mut().enumerate() {
                let z: f64 = StandardNormal.sample(&mut rng);
                column.push(z + if j == 0 && row % 2 == 0 { distance } else { 0.0 });
            }
        }
        let names = ["a", "b", "c"].map(str::to_owned).to_vec();
        Dataset::from_columns(names, columns).unwrap()
    }

    /// The bound of a fit whose prior has that `β0` is the judge: it is higher by the gain, and a little more, since that fit
    /// has moved.
    #[test]
    fn the_gain_is_what_another_prior_adds_to_the_bound() {
        for (distance, beta0) in [(5.0, 0.1), (30.0, 0.013_3)] {
            let data = clouds(distance);
            let columns: Vec<&[f64]> = (0..3).map(|j| data.column(j)).collect();
            let fit = |prior: GmmPrior| {
                let spec = GaussianMixture { prior, ..GaussianMixture::new(2) };
                spec.bind(data.clone()).unwrap().fit().run().unwrap()
            };
            let usual = fit(GmmPrior::default());
            let gain = gain(&usual.posterior, &columns, None);
            let other = fit(GmmPrior { beta0: Some(beta0), ..GmmPrior::default() });
            let ahead = other.outcome.bound - usual.outcome.bound;
            // Distances are in mean covariances, not mean precisions.
            assert!((ahead - gain).abs() < 0.02 * gain + 0.06, "{distance}: {ahead} {gain}");
        }
    }
}
