//! What Python says about fits and tables, as JSON, checked and given the library's types.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;
use std::path::PathBuf;
use trustvb::calibrate::Method;
use trustvb::defaults as usual;
use trustvb::fit::{FitOptions, Matching, Start, Stopping};
use trustvb::resample::{Design, GivenResamples, Subsets};
use trustvb::table::Plan;

use crate::errors::{IntoException, value_error};

/// How to iterate.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Iteration {
    pub(crate) seed: u64,
    starts: Option<usize>,
    /// Start values, component after component.
    centres: Option<Vec<f64>>,
    tolerance: Option<f64>,
    max_sweeps: Option<usize>,
    acceleration: Option<usize>,
}

impl Iteration {
    pub(crate) fn parse(text: &str) -> PyResult<Iteration> {
        serde_json::from_str(text).map_err(IntoException::into_exception)
    }

    /// Where the full-data fit begins.
    pub(crate) fn start(&self, n_components: usize, centre_len: usize) -> PyResult<Start> {
        let Some(centres) = &self.centres else {
            return Ok(Start::KMeans {
                restarts: self.starts.unwrap_or(usual::STARTS),
                seed: self.seed,
            });
        };
        if centres.len() != n_components * centre_len || centres.iter().any(|x| !x.is_finite()) {
            return Err(value_error(format!(
                "centres has {} numbers but must have {n_components} rows of {centre_len} finite \
                 numbers, a row per component",
                centres.len()
            )));
        }
        Ok(Start::Centres(centres.clone()))
    }

    /// Random starts of a fit.
    pub(crate) fn starts(&self) -> usize {
        self.starts.unwrap_or(trustvb::defaults::STARTS)
    }

    pub(crate) fn fit(&self, tolerance: f64, trace: bool) -> FitOptions {
        let usual = FitOptions::default();
        FitOptions {
            stopping: Stopping::Relative(self.tolerance.unwrap_or(tolerance)),
            max_sweeps: self.max_sweeps.unwrap_or(usual.max_sweeps),
            acceleration: self.acceleration.unwrap_or(usual.acceleration),
            trace,
        }
    }
}

/// Which fits a table holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableOptions {
    methods: Vec<String>,
    grid: usize,
    omega_min: f64,
    bootstraps: u32,
    fresh_splits: bool,
    subsets: Option<u32>,
    resamples: Option<PathBuf>,
    matching: Option<Matching>,
    restarts: Option<usize>,
    published: bool,
}

impl TableOptions {
    pub(crate) fn parse(text: &str) -> PyResult<TableOptions> {
        serde_json::from_str(text).map_err(IntoException::into_exception)
    }

    pub(crate) fn plan(
        self,
        iteration: &Iteration,
        start: Start,
        n_units: usize,
    ) -> PyResult<Plan> {
        let methods = methods(&self.methods)?;
        let given = match &self.resamples {
            Some(path) => {
                Some(GivenResamples::read(path, n_units).map_err(IntoException::into_exception)?)
            }
            None => None,
        };
        Ok(Plan {
            grid: self.grid,
            omega_min: self.omega_min,
            bootstraps: self.bootstraps,
            fresh_splits: self.fresh_splits,
            subsets: self.subsets.map(|count| Subsets::of(n_units, count)),
            given,
            matching: self.matching,
            restarts: self.restarts,
            published: self.published,
            start,
            fit: iteration.fit(usual::TABLE_TOLERANCE, false),
            ..Plan::for_methods(iteration.seed, &methods)
        })
    }
}

/// Methods by name, in the order in which results are shown: the recommended one first.
pub(crate) fn methods(names: &[String]) -> PyResult<Vec<Method>> {
    let mut methods = names.iter().map(|name| method(name)).collect::<PyResult<Vec<_>>>()?;
    Method::in_order(&mut methods);
    Ok(methods)
}

pub(crate) fn method(name: &str) -> PyResult<Method> {
    Method::from_name(name).ok_or_else(|| {
        value_error(format!(
            "there is no method `{name}`; choose from {}",
            all_methods().join(", ")
        ))
    })
}

/// Names of all methods.
#[pyfunction]
pub(crate) fn all_methods() -> Vec<&'static str> {
    Method::ALL.iter().map(|method| method.name()).collect()
}

/// The name of the method that `name` stands for: `recommended` is one too.
#[pyfunction]
pub(crate) fn method_name(name: &str) -> PyResult<&'static str> {
    Ok(method(name)?.name())
}

/// What a table must have for a method: the design of its bootstraps, and whether it looks below ω = 1.
#[pyfunction]
pub(crate) fn method_needs(name: &str) -> PyResult<(Option<&'static str>, bool)> {
    let method = method(name)?;
    Ok((method.design().map(Design::name), method.needs_grid()))
}

/// What is meant where nothing is said, by the names of Python's parameters.
#[pyfunction]
pub(crate) fn defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("n_components", usual::COMPONENTS)?;
    dict.set_item("level", usual::LEVEL)?;
    dict.set_item("bootstraps", usual::BOOTSTRAPS)?;
    dict.set_item("grid", usual::GRID)?;
    dict.set_item("omega_min", usual::OMEGA_MIN)?;
    dict.set_item("n_init", usual::STARTS)?;
    dict.set_item("max_iter", usual::MAX_SWEEPS)?;
    dict.set_item("acceleration", usual::ACCELERATION)?;
    dict.set_item("draws", usual::DRAWS)?;
    dict.set_item("seed", usual::SEED)?;
    dict.set_item("starts", usual::STARTS)?;
    dict.set_item("tolerance", usual::TABLE_TOLERANCE)?;
    Ok(dict)
}
