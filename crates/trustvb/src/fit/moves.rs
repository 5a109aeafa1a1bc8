//! Moves that a sweep cannot make: a component is taken away, or taken away and put where another is split in two.
//!
//! Sweeps climb to the nearest optimum. Two components on one cluster, and one component on two clusters, are left by
//! them slowly or not at all (Ueda et al. 2000). A move changes `q(θ)` as a whole; sweeps then say what it is worth.

use crate::posterior::{Family, Posterior};

/// `α` of a component that is to get nothing: `E[log π] = ψ(α)` is about −1/α.
const NOTHING: f64 = 1e-3;

/// How far the halves of a split component are apart, in standard deviations along its longest axis, either way.
const APART: f64 = 0.8;

/// Steps of the power method for the longest axis; it need not be exact.
const POWER_STEPS: usize = 20;

/// `q(θ)` under which `component` gets no unit: the others share what it had.
pub(super) fn without(posterior: &Posterior, component: usize) -> Posterior {
    let mut parameters = posterior.parameters().to_vec();
    if let Some(pi) = posterior.layout().block("pi") {
        parameters[pi.offset + component] = NOTHING;
    }
    Posterior::new(posterior.layout().clone(), parameters)
}

/// `q(θ)` in which `component` is one half of `other`, split across its longest axis. `None` for a model whose blocks do
/// not say how units spread about a centre.
pub(super) fn split_into(
    posterior: &Posterior,
    component: usize,
    other: usize,
) -> Option<Posterior> {
    let layout = posterior.layout();
    if layout.centres().count() > 1 && layout.centres().all(|b| b.family == Family::NormalWishart) {
        return split_columns(posterior, component, other);
    }
    let block = layout.blocks.iter().find(|b| b.family == Family::NormalWishart)?;
    let (p, size) = (block.dim, block.family.parameters(block.dim));
    let half = longest_axis(posterior, &block.name, other)?;
    let mut parameters = posterior.parameters().to_vec();
    let (from, to) = (block.offset + other * size, block.offset + component * size);
    parameters.copy_within(from..from + size, to);
    for j in 0..p {
        parameters[from + 2 + j] += APART * half[j];
        parameters[to + 2 + j] -= APART * half[j];
    }
    halve(posterior, parameters, component, other)
}

/// The weight of `other` shared with `component`.
fn halve(
    posterior: &Posterior,
    mut parameters: Vec<f64>,
    component: usize,
    other: usize,
) -> Option<Posterior> {
    let pi = posterior.layout().block("pi")?.offset;
    parameters[pi + other] *= 0.5;
    parameters[pi + component] = parameters[pi + other];
    Some(Posterior::new(posterior.layout().clone(), parameters))
}

/// As [`split_into`], where every column has a block of its own: the longest axis is then a column.
fn split_columns(posterior: &Posterior, component: usize, other: usize) -> Option<Posterior> {
    let layout = posterior.layout();
    let mut parameters = posterior.parameters().to_vec();
    // The largest standard deviation in units of its column's, with itself and its place.
    let mut longest = (0.0, 0.0, 0);
    for block in layout.centres() {
        let size = block.family.parameters(block.dim);
        let (from, to) = (block.offset + other * size, block.offset + component * size);
        parameters.copy_within(from..from + size, to);
        let law = posterior.normal_wishart(&block.name, other)?;
        let sd = (law.w_inverse()[0] / law.nu).sqrt();
        let relative = sd / column_spreads(posterior, &block.name, 1)[0];
        if relative > longest.0 {
            longest = (relative, sd, block.offset);
        }
    }
    let (_, sd, offset) = longest;
    let size = Family::NormalWishart.parameters(1);
    parameters[offset + other * size + 2] += APART * sd;
    parameters[offset + component * size + 2] -= APART * sd;
    halve(posterior, parameters, component, other)
}

/// One standard deviation of a component along the axis on which it is longest, columns in units of their own standard
/// deviations: so that the answer does not depend on units.
fn longest_axis(posterior: &Posterior, name: &str, component: usize) -> Option<Vec<f64>> {
    let block = posterior.normal_wishart(name, component)?;
    let p = block.mean().len();
    let at =
        |i: usize, j: usize| block.w_inverse()[crate::linalg::packed_index(i.max(j), i.min(j))];
    // Of all components together: what a column's unit is.
    let spread: Vec<f64> = column_spreads(posterior, name, p);
    let mut axis: Vec<f64> = (0..p).map(|j| at(j, j).sqrt() / spread[j]).collect();
    let mut length = 0.0;
    for _ in 0..POWER_STEPS {
        let image: Vec<f64> = (0..p)
            .map(|i| (0..p).map(|j| at(i, j) / (spread[i] * spread[j]) * axis[j]).sum())
            .collect();
        length = image.iter().map(|x| x * x).sum::<f64>().sqrt();
        if !(length > 0.0 && length.is_finite()) {
            return None;
        }
        axis = image.iter().map(|x| x / length).collect();
    }
    let sd = (length / block.nu).sqrt();
    Some(axis.iter().zip(&spread).map(|(a, s)| sd * a * s).collect())
}

/// Each column's standard deviation over the whole mixture.
fn column_spreads(posterior: &Posterior, name: &str, p: usize) -> Vec<f64> {
    let weights = posterior.weights();
    let mut mean = vec![0.0; p];
    let mut square = vec![0.0; p];
    for (k, w) in weights.iter().enumerate() {
        let Some(block) = posterior.normal_wishart(name, k) else { continue };
        for j in 0..p {
            let variance = block.w_inverse()[crate::linalg::packed_index(j, j)] / block.nu;
            mean[j] += w * block.mean()[j];
            square[j] += w * (variance + block.mean()[j] * block.mean()[j]);
        }
    }
    mean.iter().zip(square).map(|(m, s)| (s - m * m).max(f64::MIN_POSITIVE).sqrt()).collect()
}

/// Components that might be spared, the likeliest first: those with next to no units, and the lighter one of each pair
/// whose centres are near each other; at most `most`.
pub(super) fn spare(posterior: &Posterior, counts: &[f64], most: usize) -> Vec<usize> {
    let k = counts.len();
    let mut spare: Vec<usize> = Vec::new();
    let lightest = (0..k).min_by(|&a, &b| counts[a].total_cmp(&counts[b]));
    let mut pairs: Vec<(f64, usize)> = (0..k)
        .flat_map(|a| (0..a).map(move |b| (a, b)))
        .map(|(a, b)| {
            let lighter = if counts[a] < counts[b] { a } else { b };
            (posterior.distance(a, posterior, b), lighter)
        })
        .collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    for component in lightest.into_iter().chain(pairs.into_iter().map(|(_, lighter)| lighter)) {
        if spare.len() < most && !spare.contains(&component) {
            spare.push(component);
        }
    }
    spare
}
