//! What a fitted Gaussian mixture says of rows that it was not fitted to.

use super::spec::BLOCK;
use crate::linalg::{NotPositiveDefinite, cholesky, ln_det_from_cholesky, packed_index};
use crate::posterior::{Block, Posterior, Sharing, multi_digamma};
use crate::predict::{ln_sum_exp, mean_ln_weights};
use crate::special::gamma::ln_gamma;
use std::f64::consts::{LN_2, PI, TAU};

/// `log ρ_nk` of (M3) for rows given by columns: row after row, a number per component.
///
/// The responsibilities are these, exponentiated and divided by their sum over k.
pub fn gmm_ln_rho(
    posterior: &Posterior,
    columns: &[&[f64]],
) -> Result<Vec<f64>, NotPositiveDefinite> {
    let ln_weights = mean_ln_weights(posterior);
    by_component(posterior, columns, &ln_weights, |law| {
        let (d, nu) = (law.dim, law.nu);
        // E log|Λ|: of a matrix, or of as many equal precisions as there are columns.
        let digammas = match law.variances {
            Variances::Matrix => multi_digamma(law.dim, nu),
            Variances::One => d as f64 * multi_digamma(1, nu),
        };
        let ln_det = digammas + d as f64 * LN_2 - law.ln_det;
        let constant = 0.5 * (ln_det - d as f64 / law.beta - d as f64 * TAU.ln());
        Box::new(move |form| constant - 0.5 * nu * form)
    })
}

/// The log of the posterior predictive density of each row: a mixture of multivariate t with weights
/// `E[π_k]`, `ν_k−p+1` degrees of freedom, location `m_k` and scale `W_k^-1 (β_k+1)/(β_k(ν_k−p+1))`. Where columns have
/// variances of their own it is a product of such with p = 1; where they have one variance there are `ν_k` degrees of
/// freedom.
pub fn gmm_ln_predictive(
    posterior: &Posterior,
    columns: &[&[f64]],
) -> Result<Vec<f64>, NotPositiveDefinite> {
    let weights = posterior.weights();
    let ln_weights: Vec<f64> = weights.iter().map(|w| w.ln()).collect();
    let terms = by_component(posterior, columns, &ln_weights, |law| {
        let d = law.dim as f64;
        let df = match law.variances {
            Variances::Matrix => law.nu - d + 1.0,
            Variances::One => law.nu,
        };
        // scale matrix = W^-1 · c
        let c = (law.beta + 1.0) / (law.beta * df);
        let constant = ln_gamma(0.5 * (df + d))
            - ln_gamma(0.5 * df)
            - 0.5 * (d * (df * PI).ln() + law.ln_det + d * c.ln());
        Box::new(move |form| constant - 0.5 * (df + d) * (form / (c * df)).ln_1p())
    })?;
    Ok(terms.chunks_exact(weights.len().max(1)).map(ln_sum_exp).collect())
}

/// The log density of each row at the posterior means of weights, means and covariances; NaN where a covariance has none.
pub fn gmm_ln_density(
    posterior: &Posterior,
    columns: &[&[f64]],
) -> Result<Vec<f64>, NotPositiveDefinite> {
    let ln_weights: Vec<f64> = posterior.weights().iter().map(|w| w.ln()).collect();
    let terms = by_component(posterior, columns, &ln_weights, |law| {
        let d = law.dim as f64;
        // E[Σ] = W^-1/denominator
        let denominator = match law.variances {
            Variances::Matrix => law.nu - d - 1.0,
            Variances::One => law.nu - 2.0,
        };
        let constant = -0.5 * (d * (TAU / denominator).ln() + law.ln_det);
        Box::new(move |form| constant - 0.5 * denominator * form)
    })?;
    Ok(terms.chunks_exact(ln_weights.len().max(1)).map(ln_sum_exp).collect())
}

/// Some columns of a component with their law.
struct Law {
    dim: usize,
    beta: f64,
    nu: f64,
    /// `log|W^-1|`; with one variance that of as many as there are columns.
    ln_det: f64,
    variances: Variances,
}

/// What the precisions of these columns are.
#[derive(Clone, Copy, PartialEq)]
enum Variances {
    /// A Wishart matrix.
    Matrix,
    /// One Gamma variable for all.
    One,
}

type Term<'a> = Box<dyn Fn(f64) -> f64 + 'a>;

/// For each row and component `own[k]`, and the sum of a function of `(x−m_k)ᵀW_k(x−m_k)` over groups of columns that
/// are independent of one another.
fn by_component<'a>(
    posterior: &Posterior,
    columns: &[&[f64]],
    own: &[f64],
    term: impl Fn(Law) -> Term<'a>,
) -> Result<Vec<f64>, NotPositiveDefinite> {
    let n = columns.first().map_or(0, |column| column.len());
    let n_components = own.len();
    let mut out: Vec<f64> = (0..n).flat_map(|_| own.iter().copied()).collect();
    let blocks = &posterior.layout().blocks;
    let of_column = |block: &&Block| block.name != BLOCK && block.coordinate.is_some();
    for k in 0..n_components {
        if let Some(block) = posterior.normal_wishart(BLOCK, k) {
            whole(&block, columns, &term, &mut out[k..], n_components)?;
            continue;
        }
        // Columns with one variance, or each column by itself.
        let mut form = vec![0.0; n];
        let mut shared: Option<Law> = None;
        for block in blocks.iter().filter(of_column) {
            let (Some(law), Some(column)) = (
                posterior.normal_wishart(&block.name, k),
                block.coordinate.and_then(|j| columns.get(j)),
            ) else {
                continue;
            };
            let (mean, w_inverse) = (law.mean()[0], law.w_inverse()[0]);
            let squares = column.iter().map(|x| (x - mean) * (x - mean) / w_inverse);
            let (beta, nu, ln_det) = (law.beta, law.nu, w_inverse.ln());
            if block.sharing == Sharing::Coordinates {
                form.iter_mut().zip(squares).for_each(|(sum, square)| *sum += square);
                let law = shared.get_or_insert(Law {
                    dim: 0,
                    beta,
                    nu,
                    ln_det: 0.0,
                    variances: Variances::One,
                });
                law.dim += 1;
                law.ln_det += ln_det;
            } else {
                let term = term(Law { dim: 1, beta, nu, ln_det, variances: Variances::Matrix });
                let to = out.iter_mut().skip(k).step_by(n_components);
                to.zip(squares).for_each(|(out, square)| *out += term(square));
            }
        }
        if let Some(law) = shared {
            let term = term(law);
            let to = out.iter_mut().skip(k).step_by(n_components);
            to.zip(form).for_each(|(out, form)| *out += term(form));
        }
    }
    Ok(out)
}

/// All columns of a component that has a matrix.
fn whole<'a>(
    block: &crate::posterior::NormalWishart<'_>,
    columns: &[&[f64]],
    term: impl Fn(Law) -> Term<'a>,
    out: &mut [f64],
    stride: usize,
) -> Result<(), NotPositiveDefinite> {
    let p = columns.len();
    let mut factor = block.w_inverse().to_vec();
    cholesky(p, &mut factor)?;
    let term = term(Law {
        dim: p,
        beta: block.beta,
        nu: block.nu,
        ln_det: ln_det_from_cholesky(p, &factor),
        variances: Variances::Matrix,
    });
    let mut z = vec![0.0; p];
    for (row, out) in out.iter_mut().step_by(stride).enumerate() {
        let mut form = 0.0;
        for i in 0..p {
            let mut x = columns[i][row] - block.mean()[i];
            for j in 0..i {
                x -= factor[packed_index(i, j)] * z[j];
            }
            z[i] = x / factor[packed_index(i, i)];
            form += z[i] * z[i];
        }
        *out += term(form);
    }
    Ok(())
}
