//! Functionals from Python: texts, or callables over draws.

use numpy::PyArrayLike1;
use pyo3::prelude::*;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use trustvb::functional::{Draws, Functional};
use trustvb::posterior::Layout;

use crate::arrays::draws;
use crate::errors::{IntoException, value_error};
use crate::work::Tracker;

/// What is asked: a text, or a name with a callable over draws.
#[derive(FromPyObject)]
pub(crate) enum Asked {
    Text(String),
    Function(String, Py<PyAny>),
}

/// The first exception that a callable raised; after it nothing is called any more.
pub(crate) type Raised = Arc<Mutex<Option<PyErr>>>;

/// Parses texts and wraps callables.
pub(crate) fn functionals(
    asked: Vec<Asked>,
    layout: &Arc<Layout>,
    tracker: &Arc<Tracker>,
    raised: &Raised,
) -> PyResult<Vec<Functional>> {
    if asked.is_empty() {
        return Ok(Functional::defaults(layout));
    }
    asked
        .into_iter()
        .map(|asked| match asked {
            Asked::Text(text) => {
                Functional::parse(&text, layout).map_err(IntoException::into_exception)
            }
            Asked::Function(name, callable) => {
                let (layout_of_draws, tracker, raised) =
                    (layout.clone(), tracker.clone(), raised.clone());
                let function = move |sample: &Draws| {
                    if tracker.cancel.load(Ordering::Relaxed) {
                        return vec![f64::NAN; sample.len()];
                    }
                    Python::attach(|py| call(py, &callable, &layout_of_draws, sample))
                        .unwrap_or_else(|exception| {
                            tracker.cancel.store(true, Ordering::Relaxed);
                            if let Ok(mut raised) = raised.lock() {
                                raised.get_or_insert(exception);
                            }
                            vec![f64::NAN; sample.len()]
                        })
                };
                Ok(Functional::from_function(&name, layout, Arc::new(function)))
            }
        })
        .collect()
}

/// The exception, if a callable raised one.
pub(crate) fn check(raised: &Raised) -> PyResult<()> {
    match raised.lock().ok().and_then(|mut raised| raised.take()) {
        Some(exception) => Err(exception),
        None => Ok(()),
    }
}

fn call(
    py: Python<'_>,
    callable: &Py<PyAny>,
    layout: &Layout,
    sample: &Draws,
) -> PyResult<Vec<f64>> {
    let result = callable.call1(py, (draws(py, layout, sample)?,))?;
    let values: PyArrayLike1<'_, f64, numpy::AllowTypeChange> =
        result.extract(py).map_err(|_| {
            value_error(
                "a functional must return one number for each draw, as an array of one dimension",
            )
        })?;
    let values: Vec<f64> = values.as_array().iter().copied().collect();
    if values.len() != sample.len() {
        return Err(value_error(format!(
            "a functional must return one number for each draw: it was given {} draws and returned \
             {} numbers",
            sample.len(),
            values.len()
        )));
    }
    Ok(values)
}
