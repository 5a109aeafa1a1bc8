//! The library's numbers as vectors, matrices and arrays of R.

use savvy::{OwnedIntegerSexp, OwnedListSexp, OwnedRealSexp, OwnedStringSexp, Sexp};
use trustvb::functional::Draws;
use trustvb::linalg::packed_index;
use trustvb::posterior::{Block, Family, Layout};

/// A value of a named list.
pub(crate) enum Value {
    Real(Vec<f64>),
    Whole(Vec<i32>),
    Text(Vec<String>),
    /// Numbers with dimensions, the first running fastest.
    Array(Vec<usize>, Vec<f64>),
    List(Vec<(String, Value)>),
    /// A list whose entries have no names.
    Plain(Vec<Value>),
}

impl Value {
    pub(crate) fn text(text: &str) -> Value {
        Value::Text(vec![text.to_owned()])
    }

    pub(crate) fn whole(n: usize) -> Value {
        Value::Whole(vec![i32::try_from(n).unwrap_or(i32::MAX)])
    }

    fn into_sexp(self) -> savvy::Result<Sexp> {
        match self {
            Value::Real(numbers) => OwnedRealSexp::try_from_slice(numbers)?.into(),
            Value::Whole(numbers) => OwnedIntegerSexp::try_from_slice(numbers)?.into(),
            Value::Text(texts) => OwnedStringSexp::try_from_slice(texts)?.into(),
            Value::Array(dimensions, numbers) => {
                let dimensions: Vec<i32> = dimensions.iter().map(|&n| n as i32).collect();
                let mut array = OwnedRealSexp::try_from_slice(numbers)?;
                // Kept until the array has it: setting an attribute may collect what nobody holds.
                let dimensions = OwnedIntegerSexp::try_from_slice(dimensions)?;
                array.set_attrib("dim", Sexp(dimensions.inner()))?;
                array.into()
            }
            Value::List(entries) => list(entries),
            Value::Plain(entries) => {
                let mut out = OwnedListSexp::new(entries.len(), false)?;
                for (i, value) in entries.into_iter().enumerate() {
                    out.set_value(i, value.into_sexp()?)?;
                }
                out.into()
            }
        }
    }
}

/// A named list.
pub(crate) fn list(entries: Vec<(String, Value)>) -> savvy::Result<Sexp> {
    let mut out = OwnedListSexp::new(entries.len(), true)?;
    for (i, (name, value)) in entries.into_iter().enumerate() {
        out.set_name_and_value(i, &name, value.into_sexp()?)?;
    }
    out.into()
}

/// Names for a list that is written down.
pub(crate) fn named<const N: usize>(entries: [(&str, Value); N]) -> Vec<(String, Value)> {
    entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Rows of numbers as a matrix of R, whose columns come one after the other.
pub(crate) fn matrix(width: usize, rows: &[f64]) -> Value {
    let n = rows.len().checked_div(width).unwrap_or(0);
    let columns = (0..width).flat_map(|j| rows.iter().skip(j).step_by(width).copied());
    Value::Array(vec![n, width], columns.collect())
}

/// Draws by quantity: `pi [n, K]`, `mu [n, K, p]`, `sigma [n, K, p, p]`, `beta [n, K, p]`, `tau [n, K]`. Blocks of one
/// column are named after it: `p.smoker [n, K, levels]`, `rate.visits [n, K]`, `mu.age [n, K]`, `sd.age [n, K]`.
pub(crate) fn draws(layout: &Layout, draws: &Draws) -> Vec<(String, Value)> {
    let mut arrays = Vec::new();
    let mut axes = Vec::new();
    for block in &layout.blocks {
        let Some((len, values)) = draws.block(layout, &block.name) else { continue };
        let rows: Vec<&[f64]> = values.collect();
        match is_axis(block) {
            true => axes.push((block.copies, rows)),
            false => arrays.extend(block_draws(block, len, &rows)),
        }
    }
    if !axes.is_empty() {
        arrays.extend(axes_draws(&axes));
    }
    arrays
}

/// Whether a block is one column of Gaussians whose columns are independent given the component.
fn is_axis(block: &Block) -> bool {
    block.family == Family::NormalWishart
        && block.coordinate.is_some()
        && !block.name.starts_with("mu.")
}

/// `mu [n, K, p]` and `sigma [n, K, p, p]` of Gaussians from blocks of one column each: a mean and a variance for each
/// component.
fn axes_draws(axes: &[(usize, Vec<&[f64]>)]) -> Vec<(String, Value)> {
    let (p, k) = (axes.len(), axes[0].0);
    let n = axes[0].1.len();
    let (mut mu, mut sigma) = (vec![0.0; n * k * p], vec![0.0; n * k * p * p]);
    for (j, (_, rows)) in axes.iter().enumerate() {
        for (i, row) in rows.iter().enumerate() {
            for component in 0..k {
                let at = i + n * component;
                mu[at + n * k * j] = row[2 * component];
                sigma[at + n * k * (j + p * j)] = row[2 * component + 1];
            }
        }
    }
    named([
        ("mu", Value::Array(vec![n, k, p], mu)),
        ("sigma", Value::Array(vec![n, k, p, p], sigma)),
    ])
}

fn block_draws(block: &Block, len: usize, rows: &[&[f64]]) -> Vec<(String, Value)> {
    let (n, copies, p) = (rows.len(), block.copies, block.dim);
    let by_copy = |at: &dyn Fn(&[f64]) -> f64| -> Vec<f64> {
        let of = |k: usize| rows.iter().map(move |row| &row[k * len..(k + 1) * len]);
        (0..copies).flat_map(|k| of(k).map(at).collect::<Vec<_>>()).collect()
    };
    let name = block.name.clone();
    let vector =
        |width: usize| -> Vec<f64> { (0..width).flat_map(|j| by_copy(&|c| c[j])).collect() };
    match block.family {
        // The weights are one copy of as many numbers as there are components.
        Family::Dirichlet if block.coordinate.is_none() => {
            vec![(name, Value::Array(vec![n, p], vector(p)))]
        }
        Family::Dirichlet | Family::MvNormal => {
            vec![(name, Value::Array(vec![n, copies, p], vector(p)))]
        }
        Family::Gamma => vec![(name, Value::Array(vec![n, copies], vector(1)))],
        Family::NormalWishart if block.coordinate.is_some() => {
            let sd = name.replacen("mu.", "sd.", 1);
            vec![
                (name, Value::Array(vec![n, copies], vector(1))),
                (sd, Value::Array(vec![n, copies], by_copy(&|c| c[1].sqrt()))),
            ]
        }
        Family::NormalWishart => {
            let mut sigma = Vec::with_capacity(n * copies * p * p);
            for j in 0..p {
                for i in 0..p {
                    sigma.extend(by_copy(&|c| c[p + packed_index(i, j)]));
                }
            }
            vec![
                ("mu".to_owned(), Value::Array(vec![n, copies, p], vector(p))),
                ("sigma".to_owned(), Value::Array(vec![n, copies, p, p], sigma)),
            ]
        }
    }
}
