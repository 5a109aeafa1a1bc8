//! The library's errors as Python exceptions, in Python's words.

use pyo3::exceptions::PyValueError;
use pyo3::{PyErr, create_exception};
use trustvb::calibrate::CalibrateError;
use trustvb::data::DataError;
use trustvb::functional::FunctionalError;
use trustvb::model::{Degenerate, ModelError};
use trustvb::remedy::{Advise, Remedy, Setting, in_command};
use trustvb::resample::ResampleError;
use trustvb::study::StudyError;
use trustvb::table::{BuildError, PlanError, StoreError, TableError};

create_exception!(
    trustvb,
    TrustvbError,
    pyo3::exceptions::PyException,
    "What went wrong when the input was right: a fit that failed, a table that is damaged."
);

/// What to do, for somebody in Python.
pub(crate) fn in_python(remedy: &Remedy) -> String {
    let name = |setting: &Setting| match setting {
        Setting::Grid => "grid",
        Setting::Bootstraps => "bootstraps",
        Setting::Subsets => "subsets",
        Setting::Resamples => "resamples",
        Setting::FreshSplits => "fresh_splits",
        _ => "it",
    };
    match remedy {
        Remedy::Do(what) | Remedy::Columns(what) | Remedy::ColumnsOrFormula(what) => {
            (*what).to_owned()
        }
        Remedy::DropMissing => "leave those rows out".to_owned(),
        Remedy::Components(n) => format!("ask for at most {n} as n_components"),
        Remedy::MixedModel(takes) => format!("use LatentClass, which takes {takes}"),
        Remedy::AsGaussian => "say types={COLUMN: \"gaussian\"} to have it all the same".to_owned(),
        Remedy::FewerFits => "ask for fewer bootstraps or points of the grid".to_owned(),
        Remedy::LittleBootstraps => {
            "draw bootstraps from subsets of the rows with subsets=10".to_owned()
        }
        Remedy::Bootstraps(n) => format!("use bootstraps={n} or more"),
        Remedy::SmallerOmegaMin => "a smaller omega_min may be needed".to_owned(),
        Remedy::RoomForGrid => "give a smaller omega_min, such as 0.001".to_owned(),
        Remedy::Fewer(setting) => format!("give fewer as {}", name(setting)),
        Remedy::LeaveOut(settings) => {
            let names: Vec<&str> = settings.iter().map(name).collect();
            format!("leave out {}", names.join(" or "))
        }
        Remedy::Methods(names) => format!("choose other methods, such as method={names:?}"),
        Remedy::ServeMethod => {
            "build the table with this method among `method`, or leave the method out".to_owned()
        }
        Remedy::AskTvb => "tvb=True asks for them".to_owned(),
        Remedy::KeepData => "build the table with its data".to_owned(),
        Remedy::MakeTable => "make one with table(path=…)".to_owned(),
        Remedy::CompleteTable => "call table(path=…) again to complete it".to_owned(),
        Remedy::RemakeTable => "remove it and call table(path=…) again to make it anew".to_owned(),
        Remedy::MakeStudy => "make one with run_study(NAME, path=FOLDER)".to_owned(),
        other => format!("{} (on the command line)", in_command(other)),
    }
}

pub(crate) fn value_error(text: impl ToString) -> PyErr {
    PyValueError::new_err(text.to_string())
}

pub(crate) fn run_error(text: impl ToString) -> PyErr {
    TrustvbError::new_err(text.to_string())
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

value_errors!(FunctionalError, ResampleError, serde_json::Error);

macro_rules! advised_value_errors {
    ($($error:ty),+) => {
        $(impl IntoException for $error {
            fn into_exception(self) -> PyErr {
                value_error(self.advised(in_python))
            }
        })+
    };
}

advised_value_errors!(DataError, ModelError, PlanError);

impl IntoException for Degenerate {
    fn into_exception(self) -> PyErr {
        let advice = match self {
            Degenerate::Rows(_) => "",
            _ => "; try fewer components, another prior or other start values",
        };
        run_error(format!("the fit failed: {self}{advice}"))
    }
}

impl IntoException for CalibrateError {
    fn into_exception(self) -> PyErr {
        match self {
            CalibrateError::NoFullFit => run_error(self.advised(in_python)),
            other => value_error(other.advised(in_python)),
        }
    }
}

impl IntoException for BuildError {
    fn into_exception(self) -> PyErr {
        run_error(self.advised(in_python))
    }
}

impl IntoException for StoreError {
    fn into_exception(self) -> PyErr {
        run_error(self.advised(in_python))
    }
}

impl IntoException for TableError {
    fn into_exception(self) -> PyErr {
        match self {
            TableError::Model(error) => error.into_exception(),
            other => run_error(other.advised(in_python)),
        }
    }
}

impl IntoException for StudyError {
    fn into_exception(self) -> PyErr {
        match self {
            StudyError::Store(_) | StudyError::Limit(_) | StudyError::Io { .. } => {
                run_error(self.advised(in_python))
            }
            _ => value_error(self.advised(in_python)),
        }
    }
}
