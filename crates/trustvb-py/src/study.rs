//! Coverage studies: read, run in shards, merged, and summed up.

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trustvb::study::{
    Changes, Results, Study as InnerStudy, StudyError, Summary, merge, preset, run as run_study,
    study_in, summarise, survey,
};
use trustvb::table::Shard;

use crate::errors::{IntoException, value_error};
use crate::table::place;
use crate::work::{Tracker, run};

/// A study as it is run.
#[pyclass(frozen, module = "trustvb._native")]
pub(crate) struct Study {
    inner: InnerStudy,
}

#[pymethods]
impl Study {
    /// A built-in study, a TOML file or the study in a folder, with changes as JSON.
    #[staticmethod]
    fn read(name: &str, changes: &str) -> PyResult<Study> {
        let path = Path::new(name);
        let place = place(path)?;
        let study = if path.is_dir() || place.folder().is_none() {
            study_in(&place)
        } else if path.is_file() {
            let text = std::fs::read_to_string(path)
                .map_err(|source| StudyError::Io { file: name.to_owned(), source });
            text.and_then(|text| InnerStudy::parse(&text, name))
        } else {
            preset(name)
        };
        Study::changed(study.map_err(IntoException::into_exception)?, changes)
    }

    /// A study that is said as JSON, with the fields of a TOML file.
    #[staticmethod]
    fn of(fields: &str, changes: &str) -> PyResult<Study> {
        let study: InnerStudy =
            serde_json::from_str(fields).map_err(IntoException::into_exception)?;
        Study::changed(study, changes)
    }

    /// From the text that `__reduce__` gives, for unpickling.
    #[staticmethod]
    fn from_toml(text: &str) -> PyResult<Study> {
        let inner = InnerStudy::parse(text, "the study").map_err(IntoException::into_exception)?;
        Ok(Study { inner })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("from_toml")?, (slf.get().inner.to_toml(),)))
    }

    /// As a TOML file has it.
    #[getter]
    fn toml(&self) -> String {
        self.inner.to_toml()
    }

    /// Runs what is missing of a shard, its number and of how many, in the folder `path`.
    #[pyo3(signature = (path, shard=(1, 1), n_jobs=None, progress=None))]
    fn run_shard(
        &self,
        py: Python<'_>,
        path: PathBuf,
        shard: (u32, u32),
        n_jobs: Option<usize>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (number, of) = shard;
        if number < 1 || number > of {
            return Err(value_error(format!(
                "shard {number}/{of} is not possible: the first number must be between 1 and the second"
            )));
        }
        let (study, place) = (self.inner.clone(), place(&path)?);
        let tracker = Arc::new(Tracker::default());
        let ran = run(py, n_jobs, progress.as_ref(), &tracker, move |tracker| {
            tracker.watched(|watch| run_study(&place, &study, Shard { number, of }, watch))
        })?;
        ran.map(|_| ()).map_err(IntoException::into_exception)
    }

    /// Makes the folder of the study, or checks that it is that study's, and says which parts are there.
    fn survey(&self, py: Python<'_>, path: PathBuf) -> PyResult<Vec<bool>> {
        let (study, place) = (self.inner.clone(), place(&path)?);
        let tracker = Arc::new(Tracker::default());
        let there = run(py, None, None, &tracker, move |_| survey(&place, &study))?;
        there.map_err(IntoException::into_exception)
    }

    /// Adds the parts of studies to the one in the folder `path`; returns how many were added.
    #[staticmethod]
    fn merge(py: Python<'_>, path: PathBuf, sources: Vec<PathBuf>) -> PyResult<usize> {
        let tracker = Arc::new(Tracker::default());
        let target = place(&path)?;
        let sources = sources.iter().map(|path| place(path)).collect::<PyResult<Vec<_>>>()?;
        let added = run(py, None, None, &tracker, move |_| merge(&target, &sources))?;
        added.map_err(IntoException::into_exception)
    }

    /// Writes the intervals of the study in a folder as one file, once it is complete.
    #[staticmethod]
    fn finish(py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let tracker = Arc::new(Tracker::default());
        let place = place(&path)?;
        let written = run(py, None, None, &tracker, move |_| {
            let results = Results::read(&place)?;
            let (done, of) = results.replications();
            if done == of { results.write(&place) } else { Ok(()) }
        })?;
        written.map_err(IntoException::into_exception)
    }

    /// The summary of what is in a folder, as columns.
    #[staticmethod]
    fn summary(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
        let tracker = Arc::new(Tracker::default());
        let place = place(&path)?;
        let summary = run(py, None, None, &tracker, move |_| {
            Results::read(&place).map(|results| summarise(&results))
        })?;
        columns(py, &summary.map_err(IntoException::into_exception)?)
    }
}

impl Study {
    fn changed(study: InnerStudy, changes: &str) -> PyResult<Study> {
        let changes: Changes =
            serde_json::from_str(changes).map_err(IntoException::into_exception)?;
        let inner = study.changed(&changes).map_err(IntoException::into_exception)?;
        Ok(Study { inner })
    }
}

/// The columns of the command's `summary.csv`.
fn columns<'py>(py: Python<'py>, summary: &[Summary]) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    let texts = |name: &str, of: &dyn Fn(&Summary) -> String| {
        columns.set_item(name, summary.iter().map(of).collect::<Vec<_>>())
    };
    let counts = |name: &str, of: &dyn Fn(&Summary) -> usize| {
        let values: Vec<i64> = summary.iter().map(|s| of(s) as i64).collect();
        columns.set_item(name, values.into_pyarray(py))
    };
    let numbers = |name: &str, of: &dyn Fn(&Summary) -> f64| {
        let values: Vec<f64> = summary.iter().map(of).collect();
        columns.set_item(name, values.into_pyarray(py))
    };
    texts("cell", &|s| s.cell.clone())?;
    counts("size", &|s| s.size)?;
    texts("quantity", &|s| s.quantity.clone())?;
    texts("method", &|s| s.method.name().to_owned())?;
    numbers("level", &|s| s.level)?;
    numbers("truth", &|s| s.truth)?;
    counts("replications", &|s| s.replications)?;
    counts("intervals", &|s| s.intervals)?;
    for (i, name) in ["no_interval", "fit_failed", "refused", "crashed"].iter().enumerate() {
        counts(name, &|s| s.without[i])?;
    }
    numbers("coverage", &|s| s.coverage)?;
    numbers("coverage_lower", &|s| s.coverage_limits.0)?;
    numbers("coverage_upper", &|s| s.coverage_limits.1)?;
    numbers("mean_length", &|s| s.mean_length)?;
    numbers("median_length", &|s| s.median_length)?;
    numbers("sd_length", &|s| s.sd_length)?;
    numbers("score", &|s| s.score)?;
    numbers("score_se", &|s| s.score_se)?;
    numbers("score_ratio", &|s| s.score_ratio)?;
    numbers("score_ratio_se", &|s| s.score_ratio_se)?;
    numbers("bias", &|s| s.bias)?;
    numbers("sd_estimate", &|s| s.sd_estimate)?;
    numbers("oracle_length", &|s| s.oracle_length)?;
    numbers("oracle_score", &|s| s.oracle_score)?;
    let quantiles = ["omega_p5", "omega_q1", "omega_median", "omega_q3", "omega_p95"];
    for (i, name) in quantiles.iter().enumerate() {
        numbers(name, &|s| s.omega[i])?;
    }
    numbers("claimed_coverage", &|s| s.claimed)?;
    numbers("fits", &|s| s.fits)?;
    numbers("warned", &|s| s.warned)?;
    texts("flags", &|s| {
        let flags: Vec<String> =
            s.flags.iter().map(|(name, share)| format!("{name}={share:.4}")).collect();
        flags.join(";")
    })?;
    numbers("seconds", &|s| s.seconds)?;
    Ok(columns)
}
