//! A fitted posterior in Python: means, draws, what it says of new units; it can be pickled.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use trustvb::data::Grouped;
use trustvb::functional::{Draws, Functional};
use trustvb::model::MixedData;
use trustvb::posterior::{Layout, Posterior as Inner, Role};
use trustvb::predict;

use crate::arrays::{draws, matrix, to_vec, vector};
use crate::errors::{IntoException, run_error, value_error};

/// What a posterior is pickled as: its layout, its parameters, and the roles of its blocks, which layouts do not write.
type Reduced<'py> = (String, Bound<'py, PyArray1<f64>>, Vec<&'static str>);

const ROLES: [(&str, Role); 4] = [
    ("weights", Role::Weights),
    ("centre", Role::Centre),
    ("component", Role::Component),
    ("shared", Role::Shared),
];

/// A variational posterior: named blocks and their flat parameters.
#[pyclass(frozen, module = "trustvb._native")]
pub(crate) struct Posterior {
    pub(crate) inner: Inner,
}

#[pymethods]
impl Posterior {
    /// From the layout as JSON, the flat parameters, and the roles of the blocks.
    #[new]
    #[pyo3(signature = (layout, parameters, roles=Vec::new()))]
    fn new(
        layout: &str,
        parameters: PyReadonlyArray1<'_, f64>,
        roles: Vec<String>,
    ) -> PyResult<Posterior> {
        let mut layout: Layout =
            serde_json::from_str(layout).map_err(IntoException::into_exception)?;
        for (block, own) in layout.blocks.iter_mut().zip(&roles) {
            block.role = ROLES.iter().find(|(name, _)| name == own).map_or(block.role, |(_, r)| *r);
        }
        let parameters = to_vec(&parameters);
        if layout.len() != parameters.len() {
            return Err(value_error(format!(
                "the layout has {} parameters, but {} are given",
                layout.len(),
                parameters.len()
            )));
        }
        Ok(Posterior { inner: Inner::new(Arc::new(layout), parameters) })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Reduced<'py>)> {
        let this = slf.get();
        let role = |own: Role| ROLES.iter().find(|(_, role)| *role == own).map_or("", |(n, _)| *n);
        let roles = this.inner.layout().blocks.iter().map(|block| role(block.role)).collect();
        Ok((slf.get_type().into_any(), (this.layout()?, this.parameters(slf.py()), roles)))
    }

    /// The layout, as JSON.
    #[getter]
    fn layout(&self) -> PyResult<String> {
        serde_json::to_string(self.inner.layout().as_ref()).map_err(run_error)
    }

    /// The flat parameters.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        vector(py, self.inner.parameters().to_vec())
    }

    /// Names of the flat parameters.
    #[getter]
    fn parameter_names(&self) -> Vec<String> {
        self.inner.layout().parameter_names()
    }

    /// Complains of texts that are no quantities of this posterior.
    fn check(&self, texts: Vec<String>) -> PyResult<()> {
        for text in &texts {
            Functional::parse(text, self.inner.layout()).map_err(IntoException::into_exception)?;
        }
        Ok(())
    }

    /// Posterior means by quantity, each as one draw.
    fn mean<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let layout = self.inner.layout();
        draws(py, layout, &Draws::posterior_mean(layout, self.inner.parameters()))
    }

    /// `n` joint draws by quantity.
    fn draws<'py>(&self, py: Python<'py>, n: usize, seed: u64) -> PyResult<Bound<'py, PyDict>> {
        let layout = self.inner.layout();
        let sample = py.detach(|| Draws::sample(layout, self.inner.parameters(), seed, n));
        draws(py, layout, &sample)
    }

    /// `log ρ_nk` of new rows.
    fn ln_rho<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let columns: Vec<Vec<f64>> = columns.iter().map(to_vec).collect();
        let rho = py.detach(|| predict::gmm_ln_rho(&self.inner, &slices(&columns)));
        matrix(py, self.inner.layout().n_components, rho.map_err(run_error)?)
    }

    /// The log posterior predictive density of new rows.
    fn ln_predictive<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let columns: Vec<Vec<f64>> = columns.iter().map(to_vec).collect();
        let density = py.detach(|| predict::gmm_ln_predictive(&self.inner, &slices(&columns)));
        Ok(vector(py, density.map_err(run_error)?))
    }

    /// `log ρ_nk` of new rows of a mixture of columns, as [`Problem::code`](crate::problem::Problem) gives them.
    fn class_ln_rho<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let rows = self.mixed(&columns)?;
        let rho = py.detach(|| rows.ln_rho(&self.inner));
        matrix(py, self.inner.layout().n_components, rho)
    }

    /// Of such rows, the log of the posterior predictive density, and the log density at the posterior means.
    #[allow(clippy::type_complexity)]
    fn class_ln_density<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let rows = self.mixed(&columns)?;
        let (predictive, at_means) =
            py.detach(|| (rows.ln_predictive(&self.inner), rows.ln_density(&self.inner)));
        Ok((vector(py, predictive), vector(py, at_means)))
    }

    /// `log ρ_nk` and the log density of new groups of rows with a response. `groups` holds a number
    /// for each row, from 0 in order of first appearance.
    fn regression<'py>(
        &self,
        py: Python<'py>,
        design: Vec<PyReadonlyArray1<'py, f64>>,
        response: PyReadonlyArray1<'py, f64>,
        groups: Vec<usize>,
        known_noise: Option<f64>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyArray1<f64>>)> {
        let names = (1..=design.len()).map(|j| format!("x{j}")).collect();
        let labels: Vec<String> = groups.iter().map(usize::to_string).collect();
        let data = Grouped::from_columns(
            "y".to_owned(),
            to_vec(&response),
            names,
            design.iter().map(to_vec).collect(),
            Some(&labels),
        )
        .map_err(IntoException::into_exception)?;
        let (rho, density) = py.detach(|| {
            (
                predict::bmlr_ln_rho(&self.inner, known_noise, &data),
                predict::bmlr_ln_density(&self.inner, known_noise, &data),
            )
        });
        Ok((matrix(py, self.inner.layout().n_components, rho)?, vector(py, density)))
    }
}

impl Posterior {
    /// Coded rows of this posterior's columns.
    fn mixed(&self, columns: &[PyReadonlyArray1<'_, f64>]) -> PyResult<MixedData> {
        let layout = self.inner.layout();
        let columns: Vec<Vec<f64>> = columns.iter().map(to_vec).collect();
        let n_levels = |j: usize| {
            let own = layout.blocks.iter().find(|block| block.coordinate == Some(j))?;
            (!own.levels.is_empty()).then_some(own.dim as f64)
        };
        let is_level = |x: &f64, n: f64| x.is_nan() || (*x >= 0.0 && *x < n);
        let coded = columns.len() == layout.coordinates.len()
            && columns.iter().all(|column| column.len() == columns[0].len())
            && columns.iter().enumerate().all(|(j, column)| {
                n_levels(j).is_none_or(|n| column.iter().all(|x| is_level(x, n)))
            });
        if !coded {
            return Err(value_error("these are no coded rows of the posterior's columns"));
        }
        Ok(MixedData::new("the data", layout.coordinates.clone(), columns))
    }
}

fn slices(columns: &[Vec<f64>]) -> Vec<&[f64]> {
    columns.iter().map(Vec::as_slice).collect()
}
