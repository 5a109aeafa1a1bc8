//! What a fit says of rows, old and new.

use trustvb::data::Formula;
use trustvb::model::{ModelSpec, Noise};
use trustvb::posterior::Posterior;
use trustvb::predict::{bmlr_ln_density, bmlr_ln_rho, gmm_ln_predictive, gmm_ln_rho};

use crate::errors::{bug, data, error, Class};
use crate::frame::{needed, Columns};
use crate::values::{matrix, named, Value};

/// For new rows: `probability [n, K]`, `ln_density [n]`, and for regressions `design [n, p]` and `mean [n, K]`. Rows of regressions
/// without a response have no probabilities of their own, and no density.
pub(crate) fn predict(
    spec: &ModelSpec,
    posterior: &Posterior,
    columns: &Columns,
) -> savvy::Result<Vec<(String, Value)>> {
    let layout = posterior.layout();
    let k = layout.n_components;
    match spec {
        ModelSpec::Bmlr(own) => {
            let formula = Formula::parse(&own.formula).map_err(data)?;
            let frame = columns.frame()?;
            let (_, design) = formula.design(&frame).map_err(data)?;
            let size = vec![frame.n_rows(), design.len()];
            let mut answer = named([
                ("mean", means(posterior, &design)?),
                ("design", Value::Array(size, design.concat())),
            ]);
            let responses = formula.response_columns();
            if responses.iter().all(|name| frame.names().contains(name)) {
                needed(
                    &frame,
                    &formula.group().map(str::to_owned).into_iter().collect::<Vec<_>>(),
                )?;
                let grouped = formula.apply(&frame).map_err(data)?;
                let known = match own.noise {
                    Noise::Known(precision) => Some(precision),
                    _ => None,
                };
                let rho = bmlr_ln_rho(posterior, known, &grouped);
                let density = bmlr_ln_density(posterior, known, &grouped);
                let of_rows = |width: usize, values: &[f64]| -> Vec<f64> {
                    let row = |&g: &usize| values[g * width..(g + 1) * width].iter().copied();
                    grouped.groups().iter().flat_map(row).collect()
                };
                let rows = of_rows(k, &probabilities(k, rho));
                answer.extend(named([
                    ("probability", matrix(k, &rows)),
                    ("ln_density", Value::Real(of_rows(1, &density))),
                    ("ln_likelihood", Value::Real(vec![density.iter().sum()])),
                ]));
            }
            Ok(answer)
        }
        ModelSpec::Mixture(own) => {
            let frame = columns.texts()?;
            needed(&frame, &layout.coordinates)?;
            let rows = own.code(&frame).map_err(data)?;
            Ok(named([
                ("probability", matrix(k, &probabilities(k, rows.ln_rho(posterior)))),
                ("ln_density", Value::Real(rows.ln_predictive(posterior))),
                ("ln_likelihood", Value::Real(vec![rows.ln_density(posterior).iter().sum()])),
            ]))
        }
        ModelSpec::Gmm(_) => {
            let frame = columns.frame()?;
            needed(&frame, &layout.coordinates)?;
            let place = |name: &String| frame.column_index(name).and_then(|j| frame.numeric(j));
            let rows = layout
                .coordinates
                .iter()
                .map(place)
                .collect::<Result<Vec<_>, _>>()
                .map_err(data)?;
            let rho = gmm_ln_rho(posterior, &rows).map_err(|why| error(Class::Fit, why))?;
            let density =
                gmm_ln_predictive(posterior, &rows).map_err(|why| error(Class::Fit, why))?;
            Ok(named([
                ("probability", matrix(k, &probabilities(k, rho))),
                ("ln_density", Value::Real(density)),
            ]))
        }
        _ => Err(bug("a model that R does not know")),
    }
}

/// The expected response of each row under each component.
fn means(posterior: &Posterior, design: &[Vec<f64>]) -> savvy::Result<Value> {
    let (n, k) = (design.first().map_or(0, Vec::len), posterior.layout().n_components);
    let mut values = vec![0.0; n * k];
    for component in 0..k {
        let beta = posterior.mv_normal("beta", component).ok_or_else(|| bug("no coefficients"))?;
        for (column, b) in design.iter().zip(beta.mean()) {
            for (value, x) in values[component * n..(component + 1) * n].iter_mut().zip(column) {
                *value += b * x;
            }
        }
    }
    Ok(Value::Array(vec![n, k], values))
}

/// Probabilities from `log ρ`, row by row.
fn probabilities(k: usize, mut ln_rho: Vec<f64>) -> Vec<f64> {
    for row in ln_rho.chunks_exact_mut(k) {
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        row.iter_mut().for_each(|x| *x = (*x - largest).exp());
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|x| *x /= total);
    }
    ln_rho
}
