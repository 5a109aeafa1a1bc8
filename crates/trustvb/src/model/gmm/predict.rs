//! What a fitted Gaussian mixture says of rows that it was not fitted to.

use crate::linalg::{NotPositiveDefinite, cholesky, ln_det_from_cholesky, packed_index};
use crate::posterior::{Posterior, multi_digamma};
use crate::predict::{ln_sum_exp, mean_ln_weights};
use crate::special::gamma::ln_gamma;
use std::f64::consts::{LN_2, PI};

/// `log ρ_nk` of (M3) for rows given by columns: row after row, a number per component.
///
/// The responsibilities are these, exponentiated and divided by their sum over k.
pub fn gmm_ln_rho(
    posterior: &Posterior,
    columns: &[&[f64]],
) -> Result<Vec<f64>, NotPositiveDefinite> {
    let p = columns.len();
    let ln_weights = mean_ln_weights(posterior);
    by_component(posterior, columns, |k, beta, nu, ln_det_w_inverse| {
        let ln_det = multi_digamma(p, nu) + p as f64 * LN_2 - ln_det_w_inverse;
        let constant =
            ln_weights[k] + 0.5 * (ln_det - p as f64 / beta - p as f64 * (2.0 * PI).ln());
        Box::new(move |form| constant - 0.5 * nu * form)
    })
}

/// The log of the posterior predictive density of each row: a mixture of multivariate t with weights
/// `E[π_k]`, `ν_k−p+1` degrees of freedom, location `m_k` and scale `W_k^-1 (β_k+1)/(β_k(ν_k−p+1))`.
pub fn gmm_ln_predictive(
    posterior: &Posterior,
    columns: &[&[f64]],
) -> Result<Vec<f64>, NotPositiveDefinite> {
    let p = columns.len() as f64;
    let weights = posterior.weights();
    let terms = by_component(posterior, columns, |k, beta, nu, ln_det_w_inverse| {
        let df = nu - p + 1.0;
        // scale matrix = W^-1 · c
        let c = (beta + 1.0) / (beta * df);
        let constant = weights[k].ln() + ln_gamma(0.5 * (df + p))
            - ln_gamma(0.5 * df)
            - 0.5 * (p * (df * PI).ln() + ln_det_w_inverse + p * c.ln());
        Box::new(move |form| constant - 0.5 * (df + p) * (form / (c * df)).ln_1p())
    })?;
    Ok(terms.chunks_exact(weights.len()).map(ln_sum_exp).collect())
}

/// For each row and component a function of `(x−m_k)ᵀW_k(x−m_k)`.
fn by_component<'a>(
    posterior: &Posterior,
    columns: &[&[f64]],
    term: impl Fn(usize, f64, f64, f64) -> Box<dyn Fn(f64) -> f64 + 'a>,
) -> Result<Vec<f64>, NotPositiveDefinite> {
    let p = columns.len();
    let n = columns.first().map_or(0, |column| column.len());
    let n_components = posterior.layout().n_components;
    let mut out = vec![0.0; n * n_components];
    let mut z = vec![0.0; p];
    for k in 0..n_components {
        let Some(block) = posterior.normal_wishart("mu_lambda", k) else { continue };
        let mut factor = block.w_inverse().to_vec();
        cholesky(p, &mut factor)?;
        let term = term(k, block.beta, block.nu, ln_det_from_cholesky(p, &factor));
        for row in 0..n {
            let mut form = 0.0;
            for i in 0..p {
                let mut x = columns[i][row] - block.mean()[i];
                for j in 0..i {
                    x -= factor[packed_index(i, j)] * z[j];
                }
                z[i] = x / factor[packed_index(i, i)];
                form += z[i] * z[i];
            }
            out[row * n_components + k] = term(form);
        }
    }
    Ok(out)
}
