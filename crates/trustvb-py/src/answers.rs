//! Answers and choices as dictionaries.

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trustvb::answers::{
    Field, Judged, Own, UNCHECKED, fields, merged, percent as in_percent, verdict_on, whole_percent,
};
use trustvb::calibrate::{Answer, Choice, CurvePoint, Flag, Method};
use trustvb::remedy::Advise;

use crate::errors::in_python;

/// `(names, sentences, whether each is a reason for distrust)`.
pub(crate) fn flags(flags: &[Flag]) -> (Vec<&'static str>, Vec<String>, Vec<bool>) {
    (
        flags.iter().map(Flag::name).collect(),
        flags.iter().map(|flag| flag.advised(in_python)).collect(),
        flags.iter().map(|flag| !flag.is_remark()).collect(),
    )
}

/// An answer with the fields of the command's JSON. Limits' errors have a field each, and flags are told as
/// [`flags`] has them.
pub(crate) fn answer<'py>(py: Python<'py>, answer: &Answer) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, field) in fields(answer) {
        match field {
            Field::Text(text) => dict.set_item(name, text)?,
            Field::Number(x) => dict.set_item(name, x.unwrap_or(f64::NAN))?,
            Field::Pair(pair) => {
                let (lower, upper) = pair.unwrap_or((f64::NAN, f64::NAN));
                dict.set_item("lower_se", lower)?;
                dict.set_item("upper_se", upper)?;
            }
            Field::Count(n) => dict.set_item(name, n)?,
            Field::Truth(yes) => dict.set_item(name, yes)?,
            Field::Words(words) => dict.set_item(name, words)?,
            Field::Names(_) => dict.set_item(name, flags(&answer.flags))?,
            // They are among the flags.
            Field::Sentences(_) => {}
            Field::Curve(points) => dict.set_item(name, curve(py, points)?)?,
        }
    }
    // `analytic` resamples nothing: it has no Monte-Carlo error, which is not an error of 0.
    if answer.method == Method::Analytic {
        dict.set_item("coverage_se", f64::NAN)?;
    }
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

/// What a coverage says of an own interval that was made elsewhere, in a few words.
#[pyfunction]
pub(crate) fn verdict(
    lower: f64,
    upper: f64,
    coverage: f64,
    se: f64,
    level: f64,
    bootstraps: usize,
) -> &'static str {
    let own = Own::judge_interval((lower, upper), (coverage, se), level, bootstraps);
    own.map_or(UNCHECKED, Own::words)
}

/// One sentence on VB's own intervals at one level, from the name, the verdict and the coverage of each quantity.
#[pyfunction]
pub(crate) fn verdict_on_all(
    quantities: Vec<(String, String, f64)>,
    level: f64,
    bootstraps: usize,
) -> String {
    let known: Vec<(&str, Option<Judged>)> = quantities
        .iter()
        .map(|(name, words, coverage)| {
            let own = Own::from_words(words);
            (name.as_str(), own.map(|own| Judged { own, coverage: *coverage }))
        })
        .collect();
    verdict_on(&known, level, bootstraps)
}

/// Sentences that differ in numbers only as one, each with the places of those that it stands for.
#[pyfunction]
pub(crate) fn merged_sentences(sentences: Vec<String>) -> Vec<(String, Vec<usize>)> {
    merged(&sentences)
}

/// A level as a percentage, without decimals that say nothing.
#[pyfunction]
pub(crate) fn percent(level: f64) -> String {
    in_percent(level)
}

/// A coverage as a percentage without decimals, never rounded to certainty.
#[pyfunction]
pub(crate) fn covered(coverage: f64) -> String {
    whole_percent(coverage)
}
