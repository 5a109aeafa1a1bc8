//! Answers and choices as dictionaries.

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trustvb::calibrate::{Answer, Choice, CurvePoint, Flag, Method};

use crate::errors::in_python;

/// `(names, sentences, whether each is a reason for distrust)`.
pub(crate) fn flags(flags: &[Flag]) -> (Vec<&'static str>, Vec<String>, Vec<bool>) {
    (
        flags.iter().map(Flag::name).collect(),
        flags.iter().map(|flag| in_python(&flag.sentence())).collect(),
        flags.iter().map(|flag| !flag.is_remark()).collect(),
    )
}

pub(crate) fn answer<'py>(py: Python<'py>, answer: &Answer) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("functional", &answer.functional)?;
    dict.set_item("label", &answer.label)?;
    dict.set_item("method", answer.method.name())?;
    dict.set_item("level", answer.level)?;
    dict.set_item("recommended", answer.method == Method::RECOMMENDED)?;
    dict.set_item("omega", answer.shown_omega().unwrap_or(f64::NAN))?;
    dict.set_item("estimate", answer.estimate)?;
    dict.set_item("lower", answer.lower)?;
    dict.set_item("upper", answer.upper)?;
    dict.set_item("coverage", answer.coverage.unwrap_or(f64::NAN))?;
    // `analytic` resamples nothing: it has no Monte-Carlo error, which is not an error of 0.
    let se = answer.coverage_se.filter(|_| answer.method != Method::Analytic);
    dict.set_item("coverage_se", se.unwrap_or(f64::NAN))?;
    let (lower_se, upper_se) = answer.limits_se.unwrap_or((f64::NAN, f64::NAN));
    dict.set_item("lower_se", lower_se)?;
    dict.set_item("upper_se", upper_se)?;
    dict.set_item("law", &answer.law)?;
    dict.set_item("extra_fits", answer.extra_fits)?;
    dict.set_item("flags", flags(&answer.flags))?;
    dict.set_item("curve", curve(py, &answer.curve)?)?;
    Ok(dict)
}

pub(crate) fn choice<'py>(py: Python<'py>, choice: &Choice) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("omega", choice.omega)?;
    dict.set_item("coverage", choice.coverage.unwrap_or(f64::NAN))?;
    dict.set_item("coverage_se", choice.coverage_se.unwrap_or(f64::NAN))?;
    dict.set_item("flags", flags(&choice.flags))?;
    dict.set_item("curve", curve(py, &choice.curve)?)?;
    Ok(dict)
}

/// Columns `omega`, `coverage`, `se`.
pub(crate) fn curve<'py>(py: Python<'py>, points: &[CurvePoint]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let column = |of: fn(&CurvePoint) -> f64| points.iter().map(of).collect::<Vec<_>>();
    dict.set_item("omega", column(|p| p.omega).into_pyarray(py))?;
    dict.set_item("coverage", column(|p| p.coverage).into_pyarray(py))?;
    dict.set_item("se", column(|p| p.se).into_pyarray(py))?;
    Ok(dict)
}
