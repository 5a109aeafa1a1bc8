//! A table in Python: questions to it, and its numbers.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use trustvb::answers::usual_methods;
use trustvb::calibrate::{CalibrateError, Calibrator, Law, Method, stretched};
use trustvb::functional::{Draws, Functional, Part};
use trustvb::location::Location;
use trustvb::posterior::Posterior as InnerPosterior;
use trustvb::resample::Design;
use trustvb::table::{TableReader, TvbTable, merge, save};

use crate::answers;
use crate::arrays::vector;
use crate::errors::{IntoException, run_error, value_error};
use crate::function::{Asked, Raised, check, functionals};
use crate::options::{method, methods};
use crate::posterior::Posterior;
use crate::work::{Tracker, run};

/// Fits over a grid of ω and many resamples.
#[pyclass(frozen, module = "trustvb._native")]
pub(crate) struct Table {
    pub(crate) inner: Arc<TvbTable>,
    /// Fits that were made for it; the others were there.
    #[pyo3(get)]
    pub(crate) n_made: usize,
}

impl Table {
    pub(crate) fn new(table: TvbTable) -> Table {
        Table { n_made: table.n_fits(), inner: Arc::new(table) }
    }

    fn at(&self, omega: f64) -> PyResult<InnerPosterior> {
        self.inner.full_data_posterior(omega).ok_or_else(|| {
            let smallest = self.inner.omegas().last().copied().unwrap_or(1.0);
            value_error(format!(
                "there is no full-data fit at ω = {omega}; the table goes from 1 to {smallest}"
            ))
        })
    }
}

/// The one functional that is asked.
fn single(mut functionals: Vec<Functional>) -> PyResult<Functional> {
    match functionals.pop() {
        Some(functional) if functional.parts().len() == 1 => Ok(functional),
        Some(functional) => Err(value_error(format!(
            "`{}` has {} parts; ask for one at a time",
            functional.text(),
            functional.parts().len()
        ))),
        None => Err(value_error("there is no functional")),
    }
}

/// A folder, or an address in an object store.
pub(crate) fn place(path: &Path) -> PyResult<Location> {
    Location::from_argument(path).map_err(|error| value_error(error.to_string()))
}

#[pymethods]
impl Table {
    /// Opens a table in a folder or an object store. Of one that takes more than `most` bytes, fits are read when they
    /// are asked for.
    #[staticmethod]
    #[pyo3(signature = (path, most=None))]
    pub(crate) fn open(py: Python<'_>, path: PathBuf, most: Option<f64>) -> PyResult<Table> {
        let place = place(&path)?;
        let tracker = Arc::new(Tracker::default());
        let most = most.unwrap_or(TableReader::WHOLE);
        let table = run(py, None, None, &tracker, move |_| TableReader::open(&place)?.up_to(most))?;
        Ok(Table::new(table.map_err(IntoException::into_exception)?))
    }

    /// Adds the parts of tables to the one in the folder `path`, which is made when it is not there; returns
    /// how many were added.
    #[staticmethod]
    fn merge(py: Python<'_>, path: PathBuf, sources: Vec<PathBuf>) -> PyResult<usize> {
        let target = place(&path)?;
        let sources = sources.iter().map(|path| place(path)).collect::<PyResult<Vec<_>>>()?;
        let tracker = Arc::new(Tracker::default());
        let added = run(py, None, None, &tracker, move |_| merge(&target, &sources))?;
        added.map_err(IntoException::into_exception)
    }

    /// Writes it to a folder.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let place = place(&path)?;
        let inner = self.inner.clone();
        let tracker = Arc::new(Tracker::default());
        let saved = run(py, None, None, &tracker, move |_| save(&*inner.whole()?, &place))?;
        saved.map_err(IntoException::into_exception)
    }

    /// What it was made with, as JSON.
    #[getter]
    fn manifest(&self) -> PyResult<String> {
        serde_json::to_string(self.inner.manifest()).map_err(run_error)
    }

    /// Whether every part was found to be as it was written; `false` for one of an older format.
    #[getter]
    fn is_checked(&self) -> bool {
        self.inner.is_checked()
    }

    /// The usual methods that it can answer.
    #[getter]
    fn possible_methods(&self) -> Vec<&'static str> {
        usual_methods(&self.inner).into_iter().map(Method::name).collect()
    }

    /// The grid, from 1 downwards.
    #[getter]
    fn omegas<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        vector(py, self.inner.omegas().to_vec())
    }

    /// Names and columns of the data, unless they were left out.
    #[getter]
    #[allow(clippy::type_complexity)]
    fn data<'py>(&self, py: Python<'py>) -> Option<(Vec<String>, Vec<Bound<'py, PyArray1<f64>>>)> {
        let data = self.inner.data()?;
        let columns = data.columns().into_iter().map(|column| vector(py, column)).collect();
        Some((data.column_names(), columns))
    }

    /// Number of fits.
    #[getter]
    fn n_fits(&self) -> usize {
        self.inner.n_fits()
    }

    /// The full-data posterior at ω.
    fn posterior(&self, omega: f64) -> PyResult<Posterior> {
        Ok(Posterior { inner: self.at(omega)? })
    }

    /// Calibrated intervals, functional by functional.
    #[pyo3(signature = (asked, method_names, levels, draws, n_jobs=None, progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn answer<'py>(
        &self,
        py: Python<'py>,
        asked: Vec<Asked>,
        method_names: Vec<String>,
        levels: Vec<f64>,
        draws: usize,
        n_jobs: Option<usize>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let (tracker, raised) = (Arc::new(Tracker::default()), Raised::default());
        let functionals = functionals(asked, self.inner.layout(), &tracker, &raised)?;
        let methods = methods(&method_names)?;
        let inner = self.inner.clone();
        let result = run(py, n_jobs, progress.as_ref(), &tracker, move |tracker| {
            let parts: Vec<_> = functionals.iter().flat_map(Functional::parts).collect();
            tracker.total.store(parts.len() as u64, Ordering::Relaxed);
            let done = || _ = tracker.done.fetch_add(1, Ordering::Relaxed);
            let how = (&methods[..], &levels[..], draws);
            inner.answer_all(&parts, &[], how, &tracker.cancel, &done)
        })?;
        check(&raised)?;
        let answers = result.map_err(IntoException::into_exception)?;
        answers.iter().flatten().map(|answer| answers::answer(py, answer)).collect()
    }

    /// The coverage curve of one functional by one method, at every `step`-th point of the grid; a
    /// step of 0 means all points, or about two dozen if the functional needs draws.
    fn curve<'py>(
        &self,
        py: Python<'py>,
        asked: Asked,
        method_name: &str,
        level: f64,
        step: usize,
        draws: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (tracker, raised) = (Arc::new(Tracker::default()), Raised::default());
        let functional = single(functionals(vec![asked], self.inner.layout(), &tracker, &raised)?)?;
        let method = method(method_name)?;
        let inner = self.inner.clone();
        let result = run(py, None, None, &tracker, move |_| {
            let part = &functional.parts()[0];
            let step = match (step, part.exact()) {
                (0, Some(_)) => 1,
                (0, None) => inner.omegas().len().div_ceil(24),
                (step, _) => step,
            };
            // The curve of a method that looks at none is that of `anchored`.
            let deep = [method, Method::Anchored];
            let table = inner.for_parts(&[part], &deep);
            let table = table.map_err(|error| CalibrateError::Unreadable(error.to_string()))?;
            Calibrator::new(&table, draws)?.curve(part, method, level, step)
        })?;
        check(&raised)?;
        answers::curve(py, &result.map_err(IntoException::into_exception)?)
    }

    /// The density of one functional at ω: `x` and `y`, across the central 99.9%. With `tempered` it is that of ω = 1
    /// stretched about its estimate by `1/√ω`.
    #[pyo3(signature = (asked, omega, points, draws, tempered=false))]
    #[allow(clippy::type_complexity)]
    fn density<'py>(
        &self,
        py: Python<'py>,
        asked: Asked,
        omega: f64,
        points: usize,
        draws: usize,
        tempered: bool,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let (tracker, raised) = (Arc::new(Tracker::default()), Raised::default());
        let layout = self.inner.layout().clone();
        let functional = single(functionals(vec![asked], &layout, &tracker, &raised)?)?;
        let (published, seed) =
            (self.inner.manifest().published_intervals, self.inner.manifest().seed);
        let posterior = self.at(if tempered { 1.0 } else { omega })?;
        let curve = run(py, None, None, &tracker, move |_| {
            let law = Law::new(&functional.parts()[0], layout, published, seed, draws);
            if tempered {
                law.tempered_density(posterior.parameters(), omega, points)
            } else {
                law.density(posterior.parameters(), points)
            }
        })?;
        check(&raised)?;
        let (x, y) = curve.into_iter().unzip();
        Ok((vector(py, x), vector(py, y)))
    }

    /// Draws of functionals from the full-data posterior at ω: a row per part. With `tempered` they are those of ω = 1
    /// stretched about the estimate by `1/√ω`.
    #[pyo3(signature = (asked, omega, n, tempered=false))]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        asked: Vec<Asked>,
        omega: f64,
        n: usize,
        tempered: bool,
    ) -> PyResult<Vec<(String, Bound<'py, PyArray1<f64>>)>> {
        let (tracker, raised) = (Arc::new(Tracker::default()), Raised::default());
        let layout = self.inner.layout().clone();
        let functionals = functionals(asked, &layout, &tracker, &raised)?;
        let seed = self.inner.manifest().seed;
        let posterior = self.at(if tempered { 1.0 } else { omega })?;
        let values: Vec<(String, Vec<f64>)> = run(py, None, None, &tracker, move |_| {
            let parts: Vec<_> = functionals.iter().flat_map(Functional::parts).collect();
            let parameters = posterior.parameters();
            let sample = Draws::sample_for(&layout, parameters, seed, n, &parts);
            let values = |part: &Part| {
                let mut values = sample.values(part);
                if tempered {
                    let (range, by) = (part.range(), omega.powf(-0.5));
                    let estimate = range.unbounded(part.plug_in(parameters));
                    values.iter_mut().for_each(|x| *x = stretched(range, estimate, by, *x));
                }
                values
            };
            parts.iter().map(|part| (part.name().to_owned(), values(part))).collect()
        })?;
        check(&raised)?;
        Ok(values.into_iter().map(|(name, values)| (name, vector(py, values))).collect())
    }

    /// All fits as columns: `design` (0 full, 1 split, 2 subset), `replicate`, `omega`, `status`, `sweeps`, `bound`,
    /// then the parameters by name.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let inner = self.inner.clone();
        let whole = run(py, None, None, &Arc::new(Tracker::default()), move |_| {
            inner.whole().map(Cow::into_owned)
        })?;
        let table = &whole.map_err(IntoException::into_exception)?;
        let names = table.layout().parameter_names();
        let (mut design, mut replicate, mut status, mut sweeps) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut omega, mut bound) = (Vec::new(), Vec::new());
        let mut parameters: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
        for (job, path) in table.paths() {
            let code = match job.design {
                Design::Full => 0,
                Design::Split => 1,
                Design::Subset => 2,
            };
            for (i, &at) in table.omegas().iter().take(path.status.len()).enumerate() {
                design.push(code);
                replicate.push(job.replicate as i32);
                omega.push(at);
                status.push(path.status[i] as i32);
                sweeps.push(path.sweeps[i] as i32);
                bound.push(path.bound[i]);
                let row = &path.parameters[i * names.len()..(i + 1) * names.len()];
                for (column, x) in parameters.iter_mut().zip(row) {
                    column.push(*x);
                }
            }
        }
        let dict = PyDict::new(py);
        dict.set_item("design", design.into_pyarray(py))?;
        dict.set_item("replicate", replicate.into_pyarray(py))?;
        dict.set_item("omega", omega.into_pyarray(py))?;
        dict.set_item("status", status.into_pyarray(py))?;
        dict.set_item("sweeps", sweeps.into_pyarray(py))?;
        dict.set_item("bound", bound.into_pyarray(py))?;
        for (name, column) in names.iter().zip(parameters) {
            dict.set_item(name, column.into_pyarray(py))?;
        }
        Ok(dict)
    }
}
