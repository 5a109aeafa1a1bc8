//! What a fitted mixture of regressions says of groups that it was not fitted to.

use crate::data::Grouped;
use crate::linalg::{packed_index, packed_len};
use crate::posterior::Posterior;
use crate::predict::{ln_sum_exp, mean_ln_weights};
use std::f64::consts::PI;

/// `log ρ_nk` of (M5) for groups of rows, group after group, a number per component. `known_noise` is
/// the noise precision when the posterior has no block for it.
pub fn bmlr_ln_rho(posterior: &Posterior, known_noise: Option<f64>, data: &Grouped) -> Vec<f64> {
    let ln_weights = mean_ln_weights(posterior);
    let p = data.n_columns();
    by_group(posterior, data, |k, sums, coefficients| {
        let (lambda, ln_lambda) = match (posterior.gamma("noise", k), known_noise) {
            (Some(gamma), _) => (gamma.mean(), gamma.mean_ln()),
            (None, known) => (known.unwrap_or(1.0), known.unwrap_or(1.0).ln()),
        };
        let mut spread = 0.0;
        if let Some(block) = posterior.mv_normal("beta", k) {
            for i in 0..p {
                for j in 0..=i {
                    let at = packed_index(i, j);
                    let twice = if i == j { 1.0 } else { 2.0 };
                    spread += twice * sums.xx[at] * block.covariance()[at];
                }
            }
        }
        ln_weights[k] + 0.5 * sums.rows * (ln_lambda - (2.0 * PI).ln())
            - 0.5 * lambda * (sums.residual(coefficients) + spread)
    })
}

/// The log density of each group's responses at the posterior means of weights, coefficients and
/// noise: `log Σ_k π_k N(y; Xβ_k, λ_k^-1 I)`.
pub fn bmlr_ln_density(
    posterior: &Posterior,
    known_noise: Option<f64>,
    data: &Grouped,
) -> Vec<f64> {
    let weights = posterior.weights();
    let terms = by_group(posterior, data, |k, sums, coefficients| {
        let noise = posterior.gamma("noise", k).map(|gamma| gamma.mean());
        let lambda = noise.or(known_noise).unwrap_or(1.0);
        weights[k].ln() + 0.5 * sums.rows * (lambda / (2.0 * PI)).ln()
            - 0.5 * lambda * sums.residual(coefficients)
    });
    terms.chunks_exact(weights.len()).map(ln_sum_exp).collect()
}

/// What a group's rows add up to.
struct Sums {
    rows: f64,
    yy: f64,
    xy: Vec<f64>,
    xx: Vec<f64>,
}

impl Sums {
    /// `‖y − Xm‖²`.
    fn residual(&self, m: &[f64]) -> f64 {
        let p = m.len();
        let mut sum = self.yy;
        for i in 0..p {
            sum -= 2.0 * m[i] * self.xy[i];
            for j in 0..=i {
                let twice = if i == j { 1.0 } else { 2.0 };
                sum += twice * m[i] * m[j] * self.xx[packed_index(i, j)];
            }
        }
        sum
    }
}

fn by_group(
    posterior: &Posterior,
    data: &Grouped,
    term: impl Fn(usize, &Sums, &[f64]) -> f64,
) -> Vec<f64> {
    let p = data.n_columns();
    let mut groups: Vec<Sums> = (0..data.n_groups())
        .map(|_| Sums { rows: 0.0, yy: 0.0, xy: vec![0.0; p], xx: vec![0.0; packed_len(p)] })
        .collect();
    for (row, &group) in data.groups().iter().enumerate() {
        let (sums, y) = (&mut groups[group], data.response()[row]);
        sums.rows += 1.0;
        sums.yy += y * y;
        for i in 0..p {
            let x = data.design_column(i)[row];
            sums.xy[i] += x * y;
            for j in 0..=i {
                sums.xx[packed_index(i, j)] += x * data.design_column(j)[row];
            }
        }
    }
    let n_components = posterior.layout().n_components;
    let mut out = Vec::with_capacity(groups.len() * n_components);
    for sums in &groups {
        for k in 0..n_components {
            let coefficients = posterior.mv_normal("beta", k).map_or(&[][..], |block| block.mean());
            out.push(term(k, sums, coefficients));
        }
    }
    out
}
