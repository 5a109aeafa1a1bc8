//! What a fitted posterior says of units that it was not fitted to.
//!
//! A model is bound to its data and checks them; a new row, or a single one, needs no such checks. So
//! these functions take a posterior and plain numbers. Rows of a mixture of columns say themselves what they are to a
//! posterior: [`MixedData::ln_rho`](crate::model::MixedData::ln_rho) and its neighbours.

use crate::data::Grouped;
use crate::linalg::{
    NotPositiveDefinite, cholesky, ln_det_from_cholesky, packed_index, packed_len,
};
use crate::posterior::{Posterior, multi_digamma};
use crate::special::gamma::{digamma, ln_gamma};
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
    let weights = mean_weights(posterior);
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
    let weights = mean_weights(posterior);
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

/// `E[π_k]`, by the block's name: a posterior that was read from a file does not know which are the weights.
fn mean_weights(posterior: &Posterior) -> Vec<f64> {
    posterior.dirichlet("pi").map_or_else(Vec::new, |block| block.mean())
}

/// `E[log π_k]`.
fn mean_ln_weights(posterior: &Posterior) -> Vec<f64> {
    let Some(block) = posterior.dirichlet("pi") else { return Vec::new() };
    let total = digamma(block.alpha().iter().sum());
    block.alpha().iter().map(|&a| digamma(a) - total).collect()
}

pub(crate) fn ln_sum_exp(terms: &[f64]) -> f64 {
    let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !largest.is_finite() {
        return largest;
    }
    largest + terms.iter().map(|x| (x - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, Formula, Frame};
    use crate::fit::{FitOptions, Start, fit};
    use crate::model::{Bmlr, BmlrPrior, Gmm, GmmPrior, Model, Noise, Update};

    const START: Start = Start::KMeans { restarts: 3, seed: 1 };

    fn posterior(model: &dyn Model) -> Posterior {
        fit(model, None, 1.0, &START, &FitOptions::default(), &mut |_| ()).unwrap().posterior
    }

    /// The sweeper's responsibilities against those of the same units as if they were new.
    fn assert_same(model: &dyn Model, posterior: &Posterior, ln_rho: Vec<f64>) {
        let mut sweeper = model.sweeper();
        sweeper.load(None).unwrap();
        let expected = sweeper.responsibilities_under(posterior).unwrap();
        for (ours, theirs) in ln_rho.chunks_exact(2).zip(expected.chunks_exact(2)) {
            let total = ln_sum_exp(ours);
            for k in 0..2 {
                assert!(((ours[k] - total).exp() - theirs[k]).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn new_units_are_treated_as_those_of_the_fit() {
        let data = Dataset::faithful();
        let gmm = Gmm::new(&data, 2, GmmPrior::default(), Update::Corrected).unwrap();
        let fitted = posterior(&gmm);
        let columns = [data.column(0), data.column(1)];
        assert_same(&gmm, &fitted, gmm_ln_rho(&fitted, &columns).unwrap());

        let formula = Formula::parse("eruptions ~ waiting").unwrap();
        let grouped = formula.apply(&Frame::from(data)).unwrap();
        for (noise, known) in [(Noise::Estimate, None), (Noise::Known(2.0), Some(2.0))] {
            let bmlr = Bmlr::new(&grouped, 2, BmlrPrior::default(), noise).unwrap();
            let fitted = posterior(&bmlr);
            assert_same(&bmlr, &fitted, bmlr_ln_rho(&fitted, known, &grouped));
        }
    }

    #[test]
    fn predictive_densities_integrate_to_one() {
        let data = Dataset::faithful().select(&["eruptions".to_owned()]).unwrap();
        let gmm = Gmm::new(&data, 2, GmmPrior::default(), Update::Corrected).unwrap();
        let fitted = posterior(&gmm);
        let step = 0.001;
        let x: Vec<f64> = (-20_000..30_000).map(|i| f64::from(i) * step).collect();
        let density = gmm_ln_predictive(&fitted, &[&x]).unwrap();
        let total: f64 = density.iter().map(|ln| ln.exp() * step).sum();
        assert!((total - 1.0).abs() < 1e-6, "{total}");
    }
}
