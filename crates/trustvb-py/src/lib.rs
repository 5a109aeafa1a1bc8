//! `trustvb._native`: what the Python package asks of the library. It converts and forwards; all
//! statistics are in `trustvb`, all convenience in `python/trustvb`.

#![forbid(unsafe_code)]

mod answers;
mod arrays;
mod errors;
mod far;
mod function;
mod groups;
mod options;
mod outside;
mod posterior;
mod problem;
mod study;
mod table;
mod work;

use pyo3::prelude::*;

/// The native half of trustvb; `import trustvb` is the door.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("TrustvbError", module.py().get_type::<errors::TrustvbError>())?;
    module.add_class::<posterior::Posterior>()?;
    module.add_class::<problem::Problem>()?;
    module.add_class::<far::RowsPart>()?;
    module.add_class::<groups::KeptGroups>()?;
    module.add_class::<problem::Fit>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<study::Study>()?;
    module.add_function(wrap_pyfunction!(problem::faithful, module)?)?;
    module.add_function(wrap_pyfunction!(problem::formula_columns, module)?)?;
    module.add_function(wrap_pyfunction!(problem::formula_design, module)?)?;
    module.add_function(wrap_pyfunction!(outside::resample, module)?)?;
    module.add_function(wrap_pyfunction!(outside::omega_grid, module)?)?;
    module.add_function(wrap_pyfunction!(outside::choose, module)?)?;
    module.add_function(wrap_pyfunction!(outside::sampled_place, module)?)?;
    module.add_function(wrap_pyfunction!(outside::sampled_all, module)?)?;
    module.add_function(wrap_pyfunction!(outside::sampled_interval, module)?)?;
    module.add_function(wrap_pyfunction!(outside::sampled_density, module)?)?;
    module.add_function(wrap_pyfunction!(outside::interval_at_one, module)?)?;
    module.add_function(wrap_pyfunction!(outside::interval_by_sd, module)?)?;
    module.add_function(wrap_pyfunction!(outside::tempered_draws, module)?)?;
    module.add_function(wrap_pyfunction!(outside::check_scale, module)?)?;
    module.add_function(wrap_pyfunction!(outside::flag, module)?)?;
    module.add_function(wrap_pyfunction!(answers::verdict, module)?)?;
    module.add_function(wrap_pyfunction!(answers::verdict_on_all, module)?)?;
    module.add_function(wrap_pyfunction!(answers::merged_sentences, module)?)?;
    module.add_function(wrap_pyfunction!(answers::percent, module)?)?;
    module.add_function(wrap_pyfunction!(answers::covered, module)?)?;
    module.add_function(wrap_pyfunction!(options::defaults, module)?)?;
    module.add_function(wrap_pyfunction!(options::method_name, module)?)?;
    module.add("UNCHECKED", trustvb::answers::UNCHECKED)?;
    module.add_function(wrap_pyfunction!(options::method_needs, module)?)?;
    module.add_function(wrap_pyfunction!(options::all_methods, module)?)?;
    Ok(())
}
