//! The library's errors as Python exceptions, in Python's words.

use pyo3::exceptions::PyValueError;
use pyo3::{PyErr, create_exception};
use trustvb::calibrate::CalibrateError;
use trustvb::data::DataError;
use trustvb::functional::FunctionalError;
use trustvb::model::{Degenerate, ModelError};
use trustvb::resample::ResampleError;
use trustvb::study::StudyError;
use trustvb::table::{BuildError, PlanError, TableError};

create_exception!(
    trustvb,
    TrustvbError,
    pyo3::exceptions::PyException,
    "What went wrong when the input was right: a fit that failed, a table that is damaged."
);

/// The library advises in the words of the command line; these are Python's for the same.
const WORDS: [(&str, &str); 22] = [
    (" (with --columns, or in the formula)", ""),
    (", or choose others with --columns", ""),
    (" with --columns", ""),
    (" with --components", " as n_components"),
    (
        "; fill in the values, or leave those rows out with --drop-missing",
        "; fill in the values, or leave those rows out",
    ),
    ("--drop-missing", "dropping them"),
    ("--omega-min 1", "omega_min=1"),
    ("--omega-min", "omega_min"),
    ("--fresh-splits", "fresh_splits"),
    ("--resamples", "resamples"),
    ("--method vb,anchored,analytic", "method=(\"vb\", \"anchored\", \"analytic\")"),
    ("--subsets", "subsets"),
    ("--grid", "grid"),
    ("(-B)", "(bootstraps)"),
    ("use -B 500 or more", "use bootstraps=500 or more"),
    ("build the table without --without-data", "build the table with its data"),
    ("with this method in --method", "with this method among `method`"),
    ("run `trustvb table build` again to complete it", "call table(path=…) again to complete it"),
    ("run `trustvb table build` again to make it anew", "call table(path=…) again to make it anew"),
    (
        "(`trustvb table info` tells which)",
        "(`trustvb table info` on the command line tells which)",
    ),
    ("make one with `trustvb table build`", "make one with table(path=…)"),
    ("make one with `trustvb study NAME -o FOLDER`", "make one with run_study(NAME, path=FOLDER)"),
];

/// A sentence of the library for somebody in Python.
pub(crate) fn in_python(text: &str) -> String {
    WORDS.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

pub(crate) fn value_error(text: impl ToString) -> PyErr {
    PyValueError::new_err(in_python(&text.to_string()))
}

pub(crate) fn run_error(text: impl ToString) -> PyErr {
    TrustvbError::new_err(in_python(&text.to_string()))
}

/// An error of the library as an exception: `ValueError` when the input is wrong.
pub(crate) trait IntoException {
    fn into_exception(self) -> PyErr;
}

macro_rules! value_errors {
    ($($error:ty),+) => {
        $(impl IntoException for $error {
            fn into_exception(self) -> PyErr {
                value_error(self)
            }
        })+
    };
}

value_errors!(DataError, ModelError, FunctionalError, ResampleError, PlanError, serde_json::Error);

impl IntoException for Degenerate {
    fn into_exception(self) -> PyErr {
        run_error(format!(
            "the fit failed: {self}; try fewer components, another prior or other start values"
        ))
    }
}

impl IntoException for CalibrateError {
    fn into_exception(self) -> PyErr {
        match self {
            CalibrateError::NoFullFit => run_error(self),
            other => value_error(other),
        }
    }
}

impl IntoException for BuildError {
    fn into_exception(self) -> PyErr {
        run_error(self)
    }
}

impl IntoException for TableError {
    fn into_exception(self) -> PyErr {
        match self {
            TableError::Model(error) => error.into_exception(),
            other => run_error(other),
        }
    }
}

impl IntoException for StudyError {
    fn into_exception(self) -> PyErr {
        match self {
            StudyError::Store(_) | StudyError::Limit(_) | StudyError::Io { .. } => run_error(self),
            _ => value_error(self),
        }
    }
}
