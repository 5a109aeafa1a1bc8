//! For fits made elsewhere: resamples, laws of draws, and the choice of ω from evidence.

use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trustvb::calibrate::{
    Flag, GivenEvidence, GivenFit, GivenFits, LinearPart, Method, Places, choose as choose_omega,
    stretched,
};
use trustvb::functional::{Range, SampledLaw};
use trustvb::remedy::Advise;
use trustvb::resample::{Design, Resamples};
use trustvb::table::OmegaGrid;

use crate::answers;
use crate::arrays::{to_vec, vector};
use crate::errors::{IntoException, in_python, value_error};
use crate::options::method;

/// The weights of a replicate: the same as those of a table with this seed.
#[pyfunction]
pub(crate) fn resample<'py>(
    py: Python<'py>,
    seed: u64,
    design: &str,
    replicate: u32,
    n_units: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let design = [Design::Full, Design::Split]
        .into_iter()
        .find(|known| known.name() == design)
        .ok_or_else(|| value_error(format!("there is no design `{design}`: full or split")))?;
    Ok(vector(py, Resamples::new(seed, false, None).weights(design, replicate, 0, n_units)))
}

/// A grid of ω, even in log ω, from 1 downwards.
#[pyfunction]
pub(crate) fn omega_grid<'py>(
    py: Python<'py>,
    points: usize,
    smallest: f64,
) -> Bound<'py, PyArray1<f64>> {
    vector(py, OmegaGrid { points, min: smallest }.omegas())
}

type Matrix<'py> = PyReadonlyArray2<'py, f64>;

/// Two matrices of `u` and the share of fits that did not converge.
type Gathered<'py> = (Matrix<'py>, Matrix<'py>, PyReadonlyArray1<'py, f64>);

/// Chooses ω at each level. `full` and `split` each hold two matrices of `u`, a row per ω and a column per
/// bootstrap, checked at the same ω and at ω = 1, and by ω the share of fits that did not converge.
#[pyfunction]
#[pyo3(signature = (omegas, method_name, levels, full=None, split=None))]
pub(crate) fn choose<'py>(
    py: Python<'py>,
    omegas: PyReadonlyArray1<'py, f64>,
    method_name: &str,
    levels: Vec<f64>,
    full: Option<Gathered<'py>>,
    split: Option<Gathered<'py>>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let rows = |matrix: &Matrix<'py>| -> Vec<Vec<f64>> {
        matrix.as_array().outer_iter().map(|row| row.iter().copied().collect()).collect()
    };
    let places = |gathered: Option<Gathered<'py>>| {
        gathered.map(|(same, anchor, unconverged)| Places {
            same_omega: rows(&same),
            anchor: rows(&anchor),
            unconverged: to_vec(&unconverged),
        })
    };
    let evidence =
        GivenEvidence { omegas: to_vec(&omegas), full: places(full), split: places(split) };
    let choices = choose_omega(&evidence, method(method_name)?, &levels)
        .map_err(IntoException::into_exception)?;
    choices.iter().map(|choice| answers::choice(py, choice)).collect()
}

/// An interval by `tempered`, `balanced` or `bootstrap`, from the fit of all units at ω = 1 and those of bootstraps, a row each: the
/// estimate and the limits at this level, NaN where there is no fit. `linear` is for `balanced`: the influence of each unit, and
/// the sum of it over the units of each bootstrap.
#[pyfunction]
#[pyo3(signature = (method_name, level, scale, full, bootstraps, unconverged, linear=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn interval_at_one<'py>(
    py: Python<'py>,
    method_name: &str,
    level: f64,
    scale: &str,
    full: (f64, f64, f64),
    bootstraps: Matrix<'py>,
    unconverged: f64,
    linear: Option<(PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>)>,
) -> PyResult<Bound<'py, PyDict>> {
    let fit = |estimate, lower, upper| GivenFit { estimate, lower, upper };
    let rows = bootstraps.as_array();
    let fits = GivenFits {
        range: range(scale)?,
        full: fit(full.0, full.1, full.2),
        bootstraps: rows.outer_iter().map(|row| fit(row[0], row[1], row[2])).collect(),
        unconverged,
    };
    let found = match (method(method_name)?, linear) {
        (Method::Balanced, Some((influence, moved))) => {
            let linear = LinearPart { influence: to_vec(&influence), moved: to_vec(&moved) };
            fits.steady_interval(&linear, level)
        }
        (method, _) => fits.interval(method, level),
    }
    .map_err(IntoException::into_exception)?;
    let dict = answers::choice(py, &found.choice)?;
    dict.set_item("lower", found.lower)?;
    dict.set_item("upper", found.upper)?;
    Ok(dict)
}

/// The interval of the fit of all units, stretched to the standard deviation that the quantity is found to have.
#[pyfunction]
pub(crate) fn interval_by_sd<'py>(
    py: Python<'py>,
    level: f64,
    scale: &str,
    full: (f64, f64, f64),
    sd: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let fit = GivenFit { estimate: full.0, lower: full.1, upper: full.2 };
    let found = fit.widened(range(scale)?, level, sd).map_err(IntoException::into_exception)?;
    let dict = answers::choice(py, &found.choice)?;
    dict.set_item("lower", found.lower)?;
    dict.set_item("upper", found.upper)?;
    Ok(dict)
}

/// Draws stretched about an estimate by `1/√ω`, on the scale where they are unbounded.
#[pyfunction]
pub(crate) fn tempered_draws<'py>(
    py: Python<'py>,
    draws: PyReadonlyArray1<'py, f64>,
    estimate: f64,
    omega: f64,
    scale: &str,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let range = range(scale)?;
    let (estimate, by) = (range.unbounded(estimate), omega.powf(-0.5));
    let moved = to_vec(&draws).into_iter().map(|x| stretched(range, estimate, by, x)).collect();
    Ok(vector(py, moved))
}

/// Checks the name of a scale.
#[pyfunction]
pub(crate) fn check_scale(scale: &str) -> PyResult<()> {
    range(scale).map(|_| ())
}

fn range(scale: &str) -> PyResult<Range> {
    match scale {
        "real" => Ok(Range::Real),
        "positive" => Ok(Range::Positive),
        "unit" => Ok(Range::Unit),
        "correlation" => Ok(Range::Correlation),
        other => Err(value_error(format!(
            "there is no scale `{other}`; choose from real, positive, unit, correlation"
        ))),
    }
}

/// Where `v` lies among draws.
#[pyfunction]
pub(crate) fn sampled_place(draws: PyReadonlyArray1<'_, f64>, v: f64) -> f64 {
    SampledLaw::new(to_vec(&draws)).place(v)
}

/// Where values lie among draws, and the draws' central intervals: the draws are put in order once.
#[pyfunction]
pub(crate) fn sampled_all(
    draws: PyReadonlyArray1<'_, f64>,
    values: Vec<f64>,
    levels: Vec<f64>,
) -> (Vec<f64>, Vec<(f64, f64)>) {
    let law = SampledLaw::new(to_vec(&draws));
    let places = values.iter().map(|v| law.place(*v)).collect();
    (places, levels.iter().map(|level| law.interval(*level)).collect())
}

/// The central interval of draws, and the standard errors of its limits.
#[pyfunction]
pub(crate) fn sampled_interval(
    draws: PyReadonlyArray1<'_, f64>,
    level: f64,
) -> ((f64, f64), (f64, f64)) {
    let law = SampledLaw::new(to_vec(&draws));
    (law.interval(level), law.standard_error_of_limits(level))
}

/// A kernel estimate of the density of draws at `x`.
#[pyfunction]
pub(crate) fn sampled_density<'py>(
    py: Python<'py>,
    draws: PyReadonlyArray1<'py, f64>,
    x: PyReadonlyArray1<'py, f64>,
) -> Bound<'py, PyArray1<f64>> {
    let law = SampledLaw::new(to_vec(&draws));
    vector(py, to_vec(&x).into_iter().map(|x| law.density(x)).collect())
}

/// Name and sentence of a flag that needs no numbers.
#[pyfunction]
pub(crate) fn flag(name: &str) -> PyResult<(&'static str, String)> {
    [Flag::EstimateOutside, Flag::FullFitFailed, Flag::Undefined]
        .iter()
        .find(|flag| flag.name() == name)
        .map(|flag| (flag.name(), flag.advised(in_python)))
        .ok_or_else(|| value_error(format!("there is no flag `{name}` without numbers")))
}
