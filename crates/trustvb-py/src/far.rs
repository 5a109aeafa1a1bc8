//! Rows that other processes keep: a part of them, and the passes that go to all parts.

use numpy::{PyArray1, PyArrayLike1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use trustvb::data::{DataError, Dataset, ReadOptions};
use trustvb::model::{FarRows, Pass, RowKeeper, RowUnits, RowsPart as InnerPart, RowsSummary};

use crate::arrays::{to_vec, vector};
use crate::errors::{IntoException, run_error, value_error};
use crate::work::{Tracker, run};

/// What is known of a part: names, rows, means, standard deviations, least and largest values.
pub(crate) type Summary = (Vec<String>, usize, Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>);

fn summary(known: &RowsSummary) -> Summary {
    let RowsSummary { names, n_rows, mean, sd, least, largest } = known.clone();
    (names, n_rows, mean, sd, least, largest)
}

fn known((names, n_rows, mean, sd, least, largest): Summary) -> RowsSummary {
    RowsSummary { names, n_rows, mean, sd, least, largest }
}

/// What a part is pickled as: its summary, columns as bytes, units, and rows left out.
type Reduced<'py> = (Summary, Vec<Bound<'py, PyBytes>>, Option<RowUnits>, usize);

/// Some of the rows of a data set, which answer passes.
#[pyclass(frozen, module = "trustvb._native")]
pub(crate) struct RowsPart {
    inner: Arc<InnerPart>,
}

#[pymethods]
impl RowsPart {
    /// Rows of named numeric columns.
    #[staticmethod]
    fn of(names: Vec<String>, columns: Vec<PyReadonlyArray1<'_, f64>>) -> PyResult<RowsPart> {
        let columns: Vec<Vec<f64>> = columns.iter().map(to_vec).collect();
        // Partitions of a large frame may be empty.
        if columns.iter().all(Vec::is_empty) {
            return Ok(RowsPart { inner: Arc::new(InnerPart::empty(names)) });
        }
        let data = Dataset::from_columns(names, columns).map_err(IntoException::into_exception)?;
        Ok(RowsPart { inner: Arc::new(InnerPart::new(&data)) })
    }

    /// Rows of a CSV or Parquet file.
    #[staticmethod]
    #[pyo3(signature = (path, columns=None, drop_missing=false))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        columns: Option<Vec<String>>,
        drop_missing: bool,
    ) -> PyResult<RowsPart> {
        let read = py.detach(|| {
            let options = ReadOptions { columns, drop_missing, ..ReadOptions::default() };
            InnerPart::read(&path, &options)
        });
        let inner = read.map_err(DataError::of_numbers_only);
        Ok(RowsPart { inner: Arc::new(inner.map_err(IntoException::into_exception)?) })
    }

    /// What is known of its columns.
    fn summary(&self) -> Summary {
        summary(self.inner.summary())
    }

    /// Rows that were left out because something is missing.
    #[getter]
    fn n_dropped(&self) -> usize {
        self.inner.n_dropped()
    }

    /// The sums of a pass, which comes as numbers.
    #[pyo3(signature = (numbers, n_jobs=None))]
    fn sums<'py>(
        &self,
        py: Python<'py>,
        numbers: PyReadonlyArray1<'py, f64>,
        n_jobs: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let pass = Pass::from_numbers(&to_vec(&numbers)).map_err(value_error)?;
        let inner = self.inner.clone();
        let work = move |_: &Tracker| inner.sums(&pass);
        let sums = run(py, n_jobs, None, &Arc::new(Tracker::default()), work)?;
        Ok(vector(py, sums.map_err(run_error)?))
    }

    /// Rows by number from 0, row after row, in units given as centres and scales.
    fn rows<'py>(
        &self,
        py: Python<'py>,
        centre: Vec<f64>,
        scale: Vec<f64>,
        numbers: Vec<usize>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let rows = py.detach(|| self.inner.rows((&centre, &scale), &numbers));
        Ok(vector(py, rows.map_err(run_error)?))
    }

    fn __sizeof__(&self) -> usize {
        self.inner.n_bytes()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Reduced<'py>)> {
        let (py, inner) = (slf.py(), &slf.get().inner);
        let (columns, units) = inner.columns();
        let bytes = |column: Vec<f64>| -> Vec<u8> {
            column.into_iter().flat_map(f64::to_le_bytes).collect()
        };
        let columns = columns.into_iter().map(|column| PyBytes::new(py, &bytes(column))).collect();
        let rebuild = slf.get_type().getattr("restored")?;
        Ok((rebuild, (summary(inner.summary()), columns, units, inner.n_dropped())))
    }

    /// From what `__reduce__` gives, for unpickling.
    #[staticmethod]
    fn restored(
        summary: Summary,
        columns: Vec<Bound<'_, PyBytes>>,
        units: Option<RowUnits>,
        dropped: usize,
    ) -> PyResult<RowsPart> {
        let doubles = |column: &Bound<'_, PyBytes>| -> Vec<f64> {
            let (chunks, _) = column.as_bytes().as_chunks();
            chunks.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect()
        };
        let columns: Vec<Vec<f64>> = columns.iter().map(doubles).collect();
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let inner = InnerPart::restored(known(summary), &columns, units, dropped);
        let inner = inner.ok_or_else(|| value_error("these are no rows of one part"))?;
        Ok(RowsPart { inner: Arc::new(inner) })
    }
}

/// Python callables that keep rows. What they raise first while a fit is made is kept, and ends all its passes.
#[derive(Debug)]
pub(crate) struct Keeper {
    sums: Py<PyAny>,
    rows: Py<PyAny>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether a fit is being made, which asks what was raised.
    fitting: bool,
    raised: Option<PyErr>,
    stopped: bool,
}

impl Keeper {
    /// Rows of all parts together, and who keeps them.
    pub(crate) fn rows(
        source: &str,
        summaries: Vec<Summary>,
        sums: Py<PyAny>,
        rows: Py<PyAny>,
    ) -> PyResult<(Arc<Keeper>, FarRows)> {
        let parts: Vec<RowsSummary> = summaries.into_iter().map(known).collect();
        let merged = RowsSummary::merged(source, &parts).map_err(IntoException::into_exception)?;
        let keeper = Arc::new(Keeper { sums, rows, state: Mutex::default() });
        keeper.begin();
        Ok((keeper.clone(), FarRows::new(source, merged, keeper)))
    }

    /// A fit begins, whose end will ask what was raised.
    pub(crate) fn begin(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = State { fitting: true, ..State::default() };
    }

    /// What was raised since the fit began; passes are possible again.
    pub(crate) fn raised(&self) -> Option<PyErr> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *state).raised
    }

    /// Ends the passes of work that nobody waits for.
    pub(crate) fn stop(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).stopped = true;
    }

    fn call(
        &self,
        work: impl FnOnce(Python<'_>) -> PyResult<Vec<f64>>,
    ) -> Result<Vec<f64>, String> {
        let lock = || self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if lock().stopped {
            return Err("nobody waits for them any more".to_owned());
        }
        Python::attach(work).map_err(|exception| {
            let text = exception.to_string();
            let mut state = lock();
            state.stopped |= state.fitting;
            state.raised.get_or_insert(exception);
            text
        })
    }
}

impl RowKeeper for Keeper {
    fn sums(&self, pass: &Pass) -> Result<Vec<f64>, String> {
        self.call(|py| doubles(&self.sums.bind(py).call1((vector(py, pass.to_numbers()),))?))
    }

    fn rows(&self, units: (&[f64], &[f64]), numbers: &[usize]) -> Result<Vec<f64>, String> {
        let (centre, scale) = (units.0.to_vec(), units.1.to_vec());
        self.call(|py| doubles(&self.rows.bind(py).call1((centre, scale, numbers.to_vec()))?))
    }
}

fn doubles(array: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let values: PyArrayLike1<'_, f64> = array.extract()?;
    Ok(values.as_array().iter().copied().collect())
}
