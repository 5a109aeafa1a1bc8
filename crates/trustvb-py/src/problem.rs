//! Data with a model for them: what is fitted, and what tables are built from.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::Arc;
use trustvb::backend::Cpu;
use trustvb::calibrate::{Flag, Method};
use trustvb::data::{Column, Dataset, Formula, Frame, TextColumn};
use trustvb::fit::{Fit as InnerFit, FitOptions, Status, Stopping, fit};
use trustvb::model::{
    ColumnKind, ColumnMixture, ColumnType, GaussianMixture, MixedData, MixtureColumn, ModelData,
    ModelSpec,
};
use trustvb::problem::Problem as InnerProblem;
use trustvb::remedy::Advise;
use trustvb::select::{Criterion, SelectError, SelectRequest};
use trustvb::table::{Blueprint, BuildError, Shard, TableError};
use trustvb::weights::{UnitWeights, WeightKind, WeightsFrom};

use crate::arrays::{to_vec, vector};
use crate::errors::{IntoException, in_python, run_error, value_error};
use crate::far::{Keeper, Summary};
use crate::options::{Iteration, TableOptions};
use crate::posterior::Posterior;
use crate::table::{Table, place};
use crate::work::{Tracker, run};

/// Data and a model.
#[pyclass(frozen, module = "trustvb._native")]
pub(crate) struct Problem {
    inner: InnerProblem,
    /// Who keeps its rows, where they are not here.
    keeper: Option<Arc<Keeper>>,
}

/// What a problem is pickled as: names, columns, the model, and kind, name and values of weights. Columns are bytes, because arrays may come back from
/// another process at any address, and ours must be aligned.
type Reduced<'py> =
    (Vec<String>, Vec<Bound<'py, PyBytes>>, String, Option<(String, String, Bound<'py, PyBytes>)>);

/// One column of a frame: numbers, a text per row, or texts with the order of their levels.
#[derive(FromPyObject)]
pub(crate) enum Values<'py> {
    Numbers(PyReadonlyArray1<'py, f64>),
    Texts(Vec<String>),
    Ordered((Vec<String>, Vec<String>)),
}

impl Problem {
    fn new(spec: &str, data: ModelData) -> PyResult<Problem> {
        let spec: ModelSpec = serde_json::from_str(spec).map_err(IntoException::into_exception)?;
        let inner = InnerProblem::new(spec, data).map_err(IntoException::into_exception)?;
        Ok(Problem { inner, keeper: None })
    }

    /// What work leads to, unless the keeper of rows raises something: that comes first.
    fn kept<T>(&self, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        let Some(keeper) = &self.keeper else { return work() };
        keeper.begin();
        let done = work();
        match (keeper.raised(), done) {
            (Some(raised), _) => Err(raised),
            (None, Err(error)) => {
                keeper.stop();
                Err(error)
            }
            (None, done) => done,
        }
    }

    fn column_mixture(&self) -> PyResult<&ColumnMixture> {
        match self.inner.spec() {
            ModelSpec::Mixture(spec) => Ok(spec),
            _ => Err(value_error("the model is no mixture of columns")),
        }
    }

    fn fit_options(&self, iteration: &Iteration) -> FitOptions {
        let FitOptions { stopping, .. } = FitOptions::default();
        let tolerance = match stopping {
            Stopping::Relative(x) | Stopping::AbsoluteBound(x) => x,
        };
        iteration.fit(tolerance, true)
    }

    /// The table that Python asks for, checked.
    fn blueprint(&self, iteration: &str, table: &str) -> PyResult<Blueprint> {
        let iteration = Iteration::parse(iteration)?;
        let model = self.inner.model();
        let start = iteration.start(model.n_components(), model.centre_len())?;
        let plan = TableOptions::parse(table)?.plan(&iteration, start, self.inner.n_units())?;
        self.inner.table().plan(plan).check().map_err(IntoException::into_exception)
    }
}

#[pymethods]
impl Problem {
    /// Rows of named numeric columns, and the model as JSON. Columns of two values are refused, unless they are accepted.
    #[staticmethod]
    #[pyo3(signature = (names, columns, spec, accepted=Vec::new()))]
    fn rows(
        names: Vec<String>,
        columns: Vec<PyReadonlyArray1<'_, f64>>,
        spec: &str,
        accepted: Vec<String>,
    ) -> PyResult<Problem> {
        let data = Dataset::from_columns(names, columns.iter().map(to_vec).collect())
            .map_err(IntoException::into_exception)?;
        GaussianMixture::check_columns(&data, &accepted).map_err(IntoException::into_exception)?;
        Problem::new(spec, ModelData::Rows(data))
    }

    /// Rows that others keep: what is known of each of their parts, who gives the sums of a pass over all of them, and
    /// who gives rows by number.
    #[staticmethod]
    fn far(
        py: Python<'_>,
        source: &str,
        summaries: Vec<Summary>,
        sums: Py<PyAny>,
        rows: Py<PyAny>,
        spec: &str,
    ) -> PyResult<Problem> {
        let (keeper, far) = Keeper::rows(source, summaries, sums, rows)?;
        let spec = spec.to_owned();
        let made = run(py, None, None, &Arc::new(Tracker::default()), move |_| {
            Problem::new(&spec, ModelData::Far(far))
        });
        match keeper.raised() {
            Some(raised) => Err(raised),
            None => Ok(Problem { inner: made??.inner, keeper: Some(keeper) }),
        }
    }

    /// A formula over a frame, and the model as JSON.
    #[staticmethod]
    fn formula(
        formula: &str,
        columns: Vec<(String, Values<'_>)>,
        min_group_rows: usize,
        spec: &str,
    ) -> PyResult<Problem> {
        let formula = Formula::parse(formula).map_err(IntoException::into_exception)?;
        let frame = frame(columns)?;
        let data = formula.apply(&frame).map_err(IntoException::into_exception)?;
        let parsed: ModelSpec =
            serde_json::from_str(spec).map_err(IntoException::into_exception)?;
        data.check_for_mixture(parsed.n_components(), min_group_rows)
            .map_err(IntoException::into_exception)?;
        Problem::new(spec, ModelData::Groups(data))
    }

    /// Columns of any kind with missing cells (an empty text, NaN), the types that are not to be read from them, and a
    /// mixture of columns as JSON.
    #[staticmethod]
    fn mixed(
        columns: Vec<(String, Values<'_>)>,
        types: Vec<(String, String)>,
        spec: &str,
    ) -> PyResult<Problem> {
        let spec: ColumnMixture =
            serde_json::from_str(spec).map_err(IntoException::into_exception)?;
        let types = types
            .into_iter()
            .map(|(name, kind)| match ColumnType::named(&kind) {
                Some(kind) => Ok((name, kind)),
                None => Err(value_error(format!(
                    "types: {name} is said to be `{kind}`; there are gaussian, count and category"
                ))),
            })
            .collect::<PyResult<Vec<_>>>()?;
        let inner =
            spec.bind(&text_frame(columns)?, &types).map_err(IntoException::into_exception)?;
        Ok(Problem { inner, keeper: None })
    }

    /// The kind of each column of a mixture of columns, with the levels of categories.
    fn kinds(&self) -> PyResult<Vec<(String, &'static str, Vec<String>)>> {
        let kind = |column: &MixtureColumn| {
            let levels = match &column.kind {
                ColumnKind::Category { levels } => levels.clone(),
                _ => Vec::new(),
            };
            (column.name.clone(), column.kind.name(), levels)
        };
        Ok(self.column_mixture()?.columns.iter().map(kind).collect())
    }

    /// What is to be known of the data before looking at answers, a sentence each.
    fn remarks(&self) -> Vec<String> {
        self.inner.spec().remarks(self.inner.data())
    }

    /// What a fit of these data shows by itself that speaks against it: names of flags with their sentences.
    fn flags(&self, fit: &Fit) -> Vec<(&'static str, String)> {
        let found = Flag::of_fit(self.inner.model().as_ref(), &fit.inner.posterior);
        found.iter().map(|flag| (flag.name(), flag.advised(in_python))).collect()
    }

    /// New rows of the same columns as numbers, a level by its place from 0, NaN where a cell is missing.
    fn code<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<(String, Values<'py>)>,
    ) -> PyResult<Vec<Bound<'py, PyArray1<f64>>>> {
        let rows = self
            .column_mixture()?
            .code(&text_frame(columns)?)
            .map_err(IntoException::into_exception)?;
        Ok(rows.columns().iter().map(|column| vector(py, column.clone())).collect())
    }

    /// From the columns that `__reduce__` gives, for unpickling.
    #[staticmethod]
    #[pyo3(signature = (names, columns, spec, weights=None))]
    fn from_columns(
        names: Vec<String>,
        columns: Vec<Bound<'_, PyBytes>>,
        spec: &str,
        weights: Option<(String, String, Bound<'_, PyBytes>)>,
    ) -> PyResult<Problem> {
        let doubles = |column: &Bound<'_, PyBytes>| -> Vec<f64> {
            let (chunks, _) = column.as_bytes().as_chunks();
            chunks.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect()
        };
        let columns: Vec<Vec<f64>> = columns.iter().map(doubles).collect();
        let parsed: ModelSpec =
            serde_json::from_str(spec).map_err(IntoException::into_exception)?;
        let data = if matches!(parsed, ModelSpec::Mixture(_)) {
            MixedData::new("the data", names, columns).into()
        } else {
            let data =
                Dataset::from_columns(names, columns).map_err(IntoException::into_exception)?;
            ModelData::from_dataset(&parsed, data).map_err(IntoException::into_exception)?
        };
        let bare = Problem::new(spec, data)?;
        let Some((kind, column, values)) = weights else { return Ok(bare) };
        let kind = WeightKind::named(&kind).ok_or_else(|| value_error("no kind of weights"))?;
        let kept = UnitWeights::kept(WeightsFrom { kind, column }, doubles(&values));
        let inner = kept.and_then(|kept| bare.inner.weighted(kept)).map_err(value_error)?;
        Ok(Problem { inner, keeper: None })
    }

    /// The same with a weight for each unit: `survey` or `frequency`.
    fn weighted(&self, values: PyReadonlyArray1<'_, f64>, kind: &str) -> PyResult<Problem> {
        let kind = WeightKind::named(kind)
            .ok_or_else(|| value_error(format!("{kind:?} is neither survey nor frequency")))?;
        let from = WeightsFrom { kind, column: "sample_weight".to_owned() };
        let weights = UnitWeights::new(from, to_vec(&values)).map_err(value_error)?;
        let inner = self.inner.clone().weighted(weights).map_err(value_error)?;
        Ok(Problem { inner, keeper: None })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Reduced<'py>)> {
        let (py, inner) = (slf.py(), &slf.get().inner);
        let spec = serde_json::to_string(inner.spec()).map_err(IntoException::into_exception)?;
        let bytes = |column: Vec<f64>| -> Vec<u8> {
            column.into_iter().flat_map(f64::to_le_bytes).collect()
        };
        if inner.data().is_far() {
            return Err(value_error("rows that others keep cannot be pickled with their model"));
        }
        let columns =
            inner.data().columns().into_iter().map(|c| PyBytes::new(py, &bytes(c))).collect();
        let rebuild = slf.get_type().getattr("from_columns")?;
        let weights = inner.weights().map(|weights| {
            let from = weights.from();
            let values = PyBytes::new(py, &bytes(weights.totals()));
            (from.kind.name().to_owned(), from.column.clone(), values)
        });
        Ok((rebuild, (inner.data().column_names(), columns, spec, weights)))
    }

    /// Number of units.
    #[getter]
    fn n_units(&self) -> usize {
        self.inner.data().n_units()
    }

    /// Names of the columns, or of the coefficients.
    #[getter]
    fn coordinates(&self) -> Vec<String> {
        self.inner.model().layout().coordinates.clone()
    }

    /// The group of each row, from 0 in order of first appearance; `None` for rows without groups and
    /// for groups without rows.
    #[getter]
    fn groups(&self) -> Option<Vec<usize>> {
        self.inner.data().groups().map(<[usize]>::to_vec)
    }

    /// One fit.
    #[pyo3(signature = (iteration, omega=1.0, weights=None))]
    fn fit(
        &self,
        py: Python<'_>,
        iteration: &str,
        omega: f64,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Fit> {
        let iteration = Iteration::parse(iteration)?;
        let model = self.inner.model();
        let start = iteration.start(model.n_components(), model.centre_len())?;
        let options = self.fit_options(&iteration);
        let weights = weights.as_ref().map(to_vec);
        let inner = self.inner.clone();
        let work = move |_: &Tracker| {
            let weights = weights.as_deref();
            fit(inner.model().as_ref(), weights, omega, &start, &options, &mut |_| ())
        };
        let result = self.kept(|| run(py, None, None, &Arc::new(Tracker::default()), work));
        let fit = result?.map_err(IntoException::into_exception)?;
        Ok(Fit { inner: fit })
    }

    /// Compares numbers of components, and shapes by name (none: the model's own); what was found, as JSON.
    #[pyo3(signature = (iteration, components, shapes, criterion=None, n_jobs=None))]
    fn select(
        &self,
        py: Python<'_>,
        iteration: &str,
        components: Vec<usize>,
        shapes: Vec<String>,
        criterion: Option<&str>,
        n_jobs: Option<usize>,
    ) -> PyResult<String> {
        let iteration = Iteration::parse(iteration)?;
        let criterion = match criterion.map(|name| Criterion::named(name).ok_or(name)) {
            None => None,
            Some(Ok(criterion)) => Some(criterion),
            Some(Err(name)) => {
                return Err(value_error(format!(
                    "criterion={name:?} is none of bic, icl, bound and evidence"
                )));
            }
        };
        let options = iteration.fit(trustvb::defaults::TABLE_TOLERANCE, false);
        let (inner, seed, starts) = (self.inner.clone(), iteration.seed, iteration.starts());
        let found = run(py, n_jobs, None, &Arc::new(Tracker::default()), move |_| {
            let names: Vec<&str> = shapes.iter().map(String::as_str).collect();
            let request = SelectRequest::new(inner.spec(), inner.data(), &components)
                .weights(inner.weights().cloned())
                .shapes(&names)
                .seed(seed)
                .starts(starts)
                .options(options);
            match criterion {
                Some(criterion) => request.criterion(criterion).run(),
                None => request.run(),
            }
        })?;
        let found = found.map_err(|error| match error {
            SelectError::Nothing(_) => run_error(error),
            other => value_error(other),
        })?;
        Ok(found.to_json().to_string())
    }

    /// The methods of a table for which none are named, and what is to be said of what was left out.
    fn usual_methods(
        &self,
        iteration: &str,
        table: &str,
        tvb: bool,
    ) -> PyResult<(Vec<&'static str>, Option<String>)> {
        let iteration = Iteration::parse(iteration)?;
        let model = self.inner.model();
        let start = iteration.start(model.n_components(), model.centre_len())?;
        let plan = TableOptions::parse(table)?.plan(&iteration, start, self.inner.n_units())?;
        let usual = plan.usual(&self.inner, tvb);
        let names = usual.methods.into_iter().map(Method::name).collect();
        Ok((names, usual.left_out.map(|left_out| left_out.advised(in_python))))
    }

    /// A table in memory, or at `path`: there it is completed when it was interrupted. In memory, fits that one of the
    /// tables in `held` has are not made again.
    #[pyo3(signature = (iteration, table, path=None, with_data=true, n_jobs=None, progress=None, held=Vec::new()))]
    #[allow(clippy::too_many_arguments)]
    fn table(
        &self,
        py: Python<'_>,
        iteration: &str,
        table: &str,
        path: Option<PathBuf>,
        with_data: bool,
        n_jobs: Option<usize>,
        progress: Option<Bound<'_, PyAny>>,
        held: Vec<Py<Table>>,
    ) -> PyResult<Table> {
        if let Some(path) = path {
            let whole = (1, 1);
            let to = path.clone();
            self.build_shard(py, iteration, table, to, whole, with_data, n_jobs, progress)?;
            return Table::open(py, path, None);
        }
        let blueprint = self.blueprint(iteration, table)?;
        let tracker = Arc::new(Tracker::default());
        let known = held
            .iter()
            .map(|table| table.get().inner.clone())
            .max_by_key(|table| blueprint.known_fits(table));
        let kept = known.as_ref().map_or(0, |table| blueprint.known_fits(table));
        let work = move |tracker: &Tracker| {
            tracker.watched(|watch| match known {
                Some(table) => blueprint.extend(&table, &Cpu, watch),
                None => blueprint.build(&Cpu, watch),
            })
        };
        let built = self.kept(|| run(py, n_jobs, progress.as_ref(), &tracker, work));
        let table = built?.map_err(|error| exception(error.into()))?;
        Ok(Table { n_made: table.n_fits() - kept, ..Table::new(table) })
    }

    /// Builds what is missing of a shard, its number and of how many, in the folder `path`.
    #[pyo3(signature = (iteration, table, path, shard, with_data=true, n_jobs=None, progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn build_shard(
        &self,
        py: Python<'_>,
        iteration: &str,
        table: &str,
        path: PathBuf,
        shard: (u32, u32),
        with_data: bool,
        n_jobs: Option<usize>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (blueprint, place) = (self.blueprint(iteration, table)?, place(&path)?);
        let tracker = Arc::new(Tracker::default());
        let shard = Shard { number: shard.0, of: shard.1 };
        let built = run(py, n_jobs, progress.as_ref(), &tracker, move |tracker| {
            tracker.watched(|watch| blueprint.build_in(&place, with_data, shard, &Cpu, watch))
        })?;
        built.map_err(exception)
    }

    /// Makes the folder of a table, or checks that it is that table's, and says which parts are there.
    #[pyo3(signature = (iteration, table, path, with_data=true))]
    fn survey(
        &self,
        py: Python<'_>,
        iteration: &str,
        table: &str,
        path: PathBuf,
        with_data: bool,
    ) -> PyResult<Vec<bool>> {
        let (blueprint, place) = (self.blueprint(iteration, table)?, place(&path)?);
        let there = run(py, None, None, &Arc::new(Tracker::default()), move |_| {
            blueprint.survey(&place, with_data)
        })?;
        there.map_err(exception)
    }
}

/// A fit that failed is told as such, also when it was the first of a table.
fn exception(error: TableError) -> PyErr {
    match error {
        TableError::Build(BuildError::FullData(why) | BuildError::Rows(why)) => {
            why.into_exception()
        }
        other => other.into_exception(),
    }
}

/// A finished fit.
#[pyclass(frozen, module = "trustvb._native")]
pub(crate) struct Fit {
    inner: InnerFit,
}

#[pymethods]
impl Fit {
    #[getter]
    fn posterior(&self) -> Posterior {
        Posterior { inner: self.inner.posterior.clone() }
    }

    #[getter]
    fn bound(&self) -> f64 {
        self.inner.outcome.bound
    }

    #[getter]
    fn sweeps(&self) -> usize {
        self.inner.outcome.sweeps
    }

    #[getter]
    fn change(&self) -> f64 {
        self.inner.outcome.change
    }

    /// `converged`, `stalled`, `hit-limit` or `degenerate`.
    #[getter]
    fn status(&self) -> &'static str {
        self.inner.outcome.status.name()
    }

    /// Why a degenerate fit broke off.
    #[getter]
    fn why(&self) -> Option<String> {
        match &self.inner.outcome.status {
            Status::Degenerate(why) => Some(why.to_string()),
            _ => None,
        }
    }

    /// The bound of every accepted sweep.
    #[getter]
    fn trace<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        vector(py, self.inner.outcome.trace.clone())
    }

    /// Components with next to no data, from 0.
    #[getter]
    fn emptied(&self) -> Vec<usize> {
        self.inner.emptied.clone()
    }
}

/// Names and columns of the built-in Old Faithful data.
#[pyfunction]
pub(crate) fn faithful(py: Python<'_>) -> (Vec<String>, Vec<Bound<'_, PyArray1<f64>>>) {
    let data = Dataset::faithful();
    let columns = (0..data.n_columns()).map(|j| vector(py, data.column(j).to_vec())).collect();
    (data.names().to_vec(), columns)
}

fn frame(columns: Vec<(String, Values<'_>)>) -> PyResult<Frame> {
    let columns = columns
        .into_iter()
        .map(|(name, values)| {
            let column = match values {
                Values::Numbers(values) => Column::Numeric(to_vec(&values)),
                Values::Texts(texts) => Column::Text(text_column(&texts)?),
                Values::Ordered((texts, order)) => {
                    Column::Text(text_column(&texts)?.ordered(order))
                }
            };
            Ok((name, column))
        })
        .collect::<PyResult<_>>()?;
    Frame::from_columns(columns).map_err(IntoException::into_exception)
}

fn text_column(texts: &[String]) -> PyResult<TextColumn> {
    TextColumn::from_texts(texts.iter().map(String::as_str))
        .ok_or_else(|| value_error("there are too many different texts"))
}

/// A frame of texts, as the command reads a file for a mixture of columns: a number is the shortest text that reads back
/// the same, and an empty text is a missing cell.
fn text_frame(columns: Vec<(String, Values<'_>)>) -> PyResult<Frame> {
    let text = |x: f64| if x.is_nan() { String::new() } else { x.to_string() };
    let columns = columns
        .into_iter()
        .map(|(name, values)| {
            let values = match values {
                Values::Numbers(values) => {
                    Values::Texts(values.as_array().iter().map(|x| text(*x)).collect())
                }
                texts => texts,
            };
            (name, values)
        })
        .collect();
    frame(columns)
}

/// Columns of a formula: those it names (`None`: all), texts, those to skip, those of the response.
type FormulaColumns = (Option<Vec<String>>, Vec<String>, Vec<String>, Vec<String>);

/// Which columns a formula needs.
#[pyfunction]
pub(crate) fn formula_columns(formula: &str) -> PyResult<FormulaColumns> {
    let formula = Formula::parse(formula).map_err(IntoException::into_exception)?;
    let options = formula.read_options();
    let response = formula.response_columns();
    Ok((options.columns, options.text_columns, options.skip_columns, response))
}

/// The columns of a formula's design, from a frame that need not hold the response.
#[pyfunction]
pub(crate) fn formula_design<'py>(
    py: Python<'py>,
    formula: &str,
    columns: Vec<(String, Values<'py>)>,
) -> PyResult<Vec<Bound<'py, PyArray1<f64>>>> {
    let formula = Formula::parse(formula).map_err(IntoException::into_exception)?;
    let (_, design) = formula.design(&frame(columns)?).map_err(IntoException::into_exception)?;
    Ok(design.into_iter().map(|column| vector(py, column)).collect())
}
