//! Arrays of numpy to the library's columns, and back without copying.

use numpy::ndarray::{Array1, Array2, ArrayD, IxDyn};
use numpy::{IntoPyArray, PyArray1, PyArrayDyn, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trustvb::functional::Draws;
use trustvb::linalg::packed_index;
use trustvb::posterior::{Block, Family, Layout};

use crate::errors::run_error;

/// A column as numpy has it, whatever its stride.
pub(crate) fn to_vec(column: &PyReadonlyArray1<'_, f64>) -> Vec<f64> {
    column.as_array().iter().copied().collect()
}

pub(crate) fn vector<'py>(py: Python<'py>, values: Vec<f64>) -> Bound<'py, PyArray1<f64>> {
    Array1::from_vec(values).into_pyarray(py)
}

/// Numbers as an array of this shape; the memory is handed over.
pub(crate) fn shaped<'py>(
    py: Python<'py>,
    shape: &[usize],
    values: Vec<f64>,
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let array = ArrayD::from_shape_vec(IxDyn(shape), values).map_err(run_error)?;
    Ok(array.into_pyarray(py))
}

/// Rows of numbers as a matrix with the shape `(n, width)`.
pub(crate) fn matrix<'py>(
    py: Python<'py>,
    width: usize,
    values: Vec<f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let rows = values.len().checked_div(width).unwrap_or(0);
    let array = Array2::from_shape_vec((rows, width), values).map_err(run_error)?;
    Ok(array.into_pyarray(py).into_any())
}

/// Draws by quantity: `pi (n, K)`, `mu (n, K, p)`, `sigma (n, K, p, p)`, `beta (n, K, p)`, `tau (n, K)`. Blocks of one
/// column are named after it: `p.smoker (n, K, levels)`, `rate.visits (n, K)`, `mu.age (n, K)`, `sd.age (n, K)`.
pub(crate) fn draws<'py>(
    py: Python<'py>,
    layout: &Layout,
    draws: &Draws,
) -> PyResult<Bound<'py, PyDict>> {
    let arrays = PyDict::new(py);
    let n = draws.len();
    for block in &layout.blocks {
        let Some((len, values)) = draws.block(layout, &block.name) else { continue };
        let (copies, p) = (block.copies, block.dim);
        match block.family {
            Family::Dirichlet if block.coordinate.is_some() => {
                let all = values.flatten().copied().collect();
                arrays.set_item(&block.name, shaped(py, &[n, copies, p], all)?)?;
            }
            // Part of the means and covariances of all columns, which follow.
            Family::NormalWishart if is_part(block) => {}
            Family::NormalWishart if block.coordinate.is_some() => {
                let pairs = values.flat_map(|draw| draw.chunks_exact(len));
                let (means, sds) = pairs.map(|pair| (pair[0], pair[1].sqrt())).unzip();
                arrays.set_item(&block.name, shaped(py, &[n, copies], means)?)?;
                let name = block.name.replacen("mu.", "sd.", 1);
                arrays.set_item(name, shaped(py, &[n, copies], sds)?)?;
            }
            Family::Dirichlet => {
                arrays.set_item(
                    &block.name,
                    shaped(py, &[n, p], values.flatten().copied().collect())?,
                )?;
            }
            Family::Gamma => {
                arrays.set_item(
                    &block.name,
                    shaped(py, &[n, copies], values.flatten().copied().collect())?,
                )?;
            }
            Family::MvNormal => {
                let all = values.flatten().copied().collect();
                arrays.set_item(&block.name, shaped(py, &[n, copies, p], all)?)?;
            }
            Family::NormalWishart => {
                let mut means = Vec::with_capacity(n * copies * p);
                let mut covariances = Vec::with_capacity(n * copies * p * p);
                for copy in values.flat_map(|draw| draw.chunks_exact(len)) {
                    let (mean, packed) = copy.split_at(p);
                    means.extend_from_slice(mean);
                    for i in 0..p {
                        covariances.extend((0..p).map(|j| packed[packed_index(i, j)]));
                    }
                }
                arrays.set_item("mu", shaped(py, &[n, copies, p], means)?)?;
                arrays.set_item("sigma", shaped(py, &[n, copies, p, p], covariances)?)?;
            }
        }
    }
    let parts: Vec<&Block> = layout.blocks.iter().filter(|block| is_part(block)).collect();
    if let Some(first) = parts.first() {
        let (k, p) = (first.copies, parts.len());
        let (mut means, mut covariances) = (vec![0.0; n * k * p], vec![0.0; n * k * p * p]);
        for (j, block) in parts.iter().enumerate() {
            let Some((len, values)) = draws.block(layout, &block.name) else { continue };
            let copies = values.flat_map(|draw| draw.chunks_exact(len));
            for (at, copy) in copies.enumerate() {
                means[at * p + j] = copy[0];
                covariances[(at * p + j) * p + j] = copy[1];
            }
        }
        arrays.set_item("mu", shaped(py, &[n, k, p], means)?)?;
        arrays.set_item("sigma", shaped(py, &[n, k, p, p], covariances)?)?;
    }
    Ok(arrays)
}

/// Whether a block is one column's part of `mu` and `sigma`, where columns are independent.
fn is_part(block: &Block) -> bool {
    block.coordinate.is_some() && block.name.starts_with("mu_lambda.")
}
