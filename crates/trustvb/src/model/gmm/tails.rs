//! Whether tails are heavier than a Gaussian's: what t tails would add to the likelihood of a fit.
//!
//! To a criterion that knows Gaussians alone a cloud with heavy tails looks like several of them, one for its middle and
//! others for what lies far out. At the centres `m_k` and covariances `Σ_k` of a fit this asks for
//!
//! ```text
//! gain = max over ν, c of  Σ_n log Σ_k π_k t_ν(x_n; m_k, cΣ_k)  −  Σ_n log Σ_k π_k N(x_n; m_k, Σ_k)
//! ```
//!
//! which is no more than a mixture of t distributions would gain at its own maximum.

use crate::linalg::{cholesky, ln_det_from_cholesky, packed_index};
use crate::posterior::Posterior;
use crate::predict::ln_sum_exp;
use crate::special::gamma::ln_gamma;
use std::f64::consts::{PI, TAU};

/// Tails of all components, and what they are worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tails {
    /// Degrees of freedom of the t distribution that describes them best.
    pub df: f64,
    /// What it adds to the log likelihood.
    pub gain: f64,
}

/// Degrees of freedom that are tried, and scales beside the one that keeps the covariance.
const DEGREES: [f64; 7] = [3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 25.0];
const SCALES: [f64; 5] = [0.6, 0.75, 0.9, 1.0, 1.15];

/// Tried first: where none of these gains anything, none does that matters.
const FIRST: [(f64, f64); 3] = [(5.0, 0.75), (5.0, 1.0), (15.0, 1.0)];

/// Rows that are looked at.
const MOST_ROWS: usize = 5000;

/// Rows as the log densities need them.
struct Forms {
    p: f64,
    ln_weights: Vec<f64>,
    /// `½ log|Σ_k|`.
    half_ln_dets: Vec<f64>,
    /// `(x_n−m_k)ᵀ Σ_k^-1 (x_n−m_k)`, row after row.
    squares: Vec<f64>,
    counts: Vec<f64>,
}

impl Forms {
    fn new(posterior: &Posterior, columns: &[&[f64]], counts: Option<&[f64]>) -> Option<Forms> {
        let (p, n) = (columns.len(), columns.first()?.len());
        let every = n.div_ceil(MOST_ROWS).max(1);
        let rows: Vec<usize> = (0..n).step_by(every).collect();
        let weights = posterior.weights();
        let k = weights.len();
        let mut squares = vec![0.0; rows.len() * k];
        let mut half_ln_dets = Vec::with_capacity(k);
        let mut z = vec![0.0; p];
        for c in 0..k {
            let (mean, mut factor) = posterior.gaussian(c)?;
            cholesky(p, &mut factor).ok()?;
            half_ln_dets.push(0.5 * ln_det_from_cholesky(p, &factor));
            for (&row, out) in rows.iter().zip(squares.iter_mut().skip(c).step_by(k)) {
                for i in 0..p {
                    let known: f64 = (0..i).map(|j| factor[packed_index(i, j)] * z[j]).sum();
                    z[i] = (columns[i][row] - mean[i] - known) / factor[packed_index(i, i)];
                }
                *out = z.iter().map(|z| z * z).sum();
            }
        }
        Some(Forms {
            p: p as f64,
            ln_weights: weights.iter().map(|w| w.ln()).collect(),
            half_ln_dets,
            squares,
            counts: rows.iter().map(|&row| every as f64 * counts.map_or(1.0, |c| c[row])).collect(),
        })
    }

    /// The log likelihood where `ln_kernel` is the log density of a squared distance but for the determinant.
    fn ln_likelihood(&self, ln_kernel: impl Fn(f64) -> f64) -> f64 {
        let k = self.ln_weights.len();
        let mut terms = vec![0.0; k];
        let rows = self.squares.chunks_exact(k).zip(&self.counts);
        rows.map(|(squares, count)| {
            for (c, term) in terms.iter_mut().enumerate() {
                *term = self.ln_weights[c] - self.half_ln_dets[c] + ln_kernel(squares[c]);
            }
            count * ln_sum_exp(&terms)
        })
        .sum()
    }

    fn gaussian(&self) -> f64 {
        self.ln_likelihood(|square| -0.5 * (self.p * TAU.ln() + square))
    }

    /// With t tails, whose scale matrices are `scale` times those of equal covariance.
    fn t(&self, df: f64, scale: f64) -> f64 {
        let scale = scale * (df - 2.0) / df;
        let constant = ln_gamma(0.5 * (df + self.p))
            - ln_gamma(0.5 * df)
            - 0.5 * self.p * (df * PI * scale).ln();
        self.ln_likelihood(|square| {
            constant - 0.5 * (df + self.p) * (square / (df * scale)).ln_1p()
        })
    }
}

/// The tails of a fit of rows given by columns, each so many times; `None` where a component has no covariance, or where
/// tails are not heavier than a Gaussian's.
pub(super) fn tails(
    posterior: &Posterior,
    columns: &[&[f64]],
    counts: Option<&[f64]>,
) -> Option<Tails> {
    let forms = Forms::new(posterior, columns, counts)?;
    let gaussian = forms.gaussian();
    if FIRST.iter().all(|&(df, scale)| forms.t(df, scale) <= gaussian) {
        return None;
    }
    let all = DEGREES.iter().flat_map(|&df| SCALES.map(|scale| (df, scale)));
    let tails = all.map(|(df, scale)| Tails { df, gain: forms.t(df, scale) - gaussian });
    tails.max_by(|a, b| a.gain.total_cmp(&b.gain)).filter(|best| best.gain > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::model::GaussianMixture;
    use crate::random::{Purpose, stream};
    use rand_distr::{ChiSquared, Distribution, StandardNormal};

    /// One cloud of 600 rows in two columns.
    fn cloud(df: Option<f64>) -> Dataset {
        let mut rng = stream(3, Purpose::Simulate, 0);
        let mut columns = vec![Vec::new(), Vec::new()];
        for _ in 0..600 {
            let shrink = df.map_or(1.0, |df| {
                ChiSquared::new(df).map_or(1.0, |law| (law.sample(&mut rng) / df).sqrt())
            });
            for column in &mut columns {
                let z: f64 = StandardNormal.sample(&mut rng);
                column.push(z / shrink);
            }
        }
        Dataset::from_columns(vec!["a".to_owned(), "b".to_owned()], columns).unwrap()
    }

    #[test]
    fn tails_are_seen_where_they_are() {
        let of = |df: Option<f64>| {
            let data = cloud(df);
            let columns: Vec<&[f64]> = (0..2).map(|j| data.column(j)).collect();
            let fit = GaussianMixture::new(1).bind(data.clone()).unwrap().fit().run().unwrap();
            tails(&fit.posterior, &columns, None)
        };
        let heavy = of(Some(5.0)).unwrap();
        assert!((4.0..=7.0).contains(&heavy.df) && heavy.gain > 10.0, "{heavy:?}");
        assert!(of(None).is_none_or(|tails| tails.gain < 3.0));
    }

    #[test]
    fn rows_that_count_twice_are_rows_twice() {
        let data = cloud(Some(4.0));
        let half: Vec<Vec<f64>> = (0..2).map(|j| data.column(j)[..300].to_vec()).collect();
        let twice: Vec<Vec<f64>> = half.iter().map(|c| [&c[..], &c[..]].concat()).collect();
        let fit = GaussianMixture::new(1).bind(data).unwrap().fit().run().unwrap();
        let views = |columns: &[Vec<f64>]| -> Option<Tails> {
            let columns: Vec<&[f64]> = columns.iter().map(|c| &c[..]).collect();
            let counts = vec![2.0; columns[0].len()];
            tails(&fit.posterior, &columns, (columns[0].len() == 300).then_some(&counts[..]))
        };
        let (counted, copied) = (views(&half).unwrap(), views(&twice).unwrap());
        assert!(counted.df == copied.df && (counted.gain - copied.gain).abs() < 1e-8);
    }
}
