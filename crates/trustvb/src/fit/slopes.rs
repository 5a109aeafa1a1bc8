//! The slopes of a function of the posterior in its parameters, by central differences.
//!
//! Most functions use few of the parameters. A range of parameters is moved as a whole, each by a step of its own; where the
//! function stays the same to the bit, none of them is in it, and only the others are looked at one by one.

use crate::linalg::packed_index;
use crate::model::STEP;
use crate::posterior::{Family, Posterior};

/// `∂h/∂θ` for every parameter of the posterior.
pub(super) fn slopes(posterior: &Posterior, h: &dyn Fn(&Posterior) -> f64) -> Vec<f64> {
    let sizes = sizes(posterior);
    let layout = posterior.layout().clone();
    let centre = posterior.parameters();
    let here = h(posterior);
    let mut slopes = vec![0.0; centre.len()];
    let mut point = posterior.clone();
    let blocks = layout.blocks.iter().flat_map(|block| {
        let size = block.family.parameters(block.dim);
        (0..block.copies).map(move |copy| (block.offset + copy * size, size))
    });
    let mut ranges: Vec<(usize, usize)> = blocks.collect();
    while let Some((from, length)) = ranges.pop() {
        let range = from..from + length;
        if length > 1 {
            for i in range.clone() {
                // Unequal steps, so that a function does not stay because changes cancel.
                let uneven = 0.5 + (i as f64 * 0.618_033_988_749_894_9).fract();
                point.parameters_mut()[i] += uneven * STEP * sizes[i];
            }
            let moved = h(&point);
            point.parameters_mut()[range.clone()].copy_from_slice(&centre[range]);
            if moved.to_bits() != here.to_bits() {
                let half = length / 2;
                ranges.extend([(from, half), (from + half, length - half)]);
            }
            continue;
        }
        let mut at = |x: f64| {
            point.parameters_mut()[from] = x;
            let value = h(&point);
            point.parameters_mut()[from] = centre[from];
            (x, value)
        };
        let step = STEP * sizes[from];
        let (up, down) = (at(centre[from] + step), at(centre[from] - step));
        let (up, down) = match (up.1.is_finite(), down.1.is_finite()) {
            (true, false) => (up, (centre[from], here)),
            (false, true) => ((centre[from], here), down),
            _ => (up, down),
        };
        slopes[from] = (up.1 - down.1) / (up.0 - down.0);
    }
    slopes
}

/// The size of each parameter, against which a step is small.
fn sizes(posterior: &Posterior) -> Vec<f64> {
    let parameters = posterior.parameters();
    let mut sizes = Vec::with_capacity(parameters.len());
    for block in &posterior.layout().blocks {
        let (p, size) = (block.dim, block.family.parameters(block.dim));
        for copy in 0..block.copies {
            let own = &parameters[block.offset + copy * size..block.offset + (copy + 1) * size];
            match block.family {
                Family::Dirichlet | Family::Gamma => sizes.extend(own.iter().map(|x| x.abs())),
                Family::NormalWishart => {
                    // A covariance has a mean from ν = p + 1 on, which is a pole.
                    let (nu, beyond) = (own[1], (own[1] - p as f64 - 1.0).abs());
                    sizes.extend([own[0].abs(), beyond.clamp(1e-3 * nu, nu)]);
                    location_and_matrix(p, &own[2..], nu, &mut sizes);
                }
                Family::MvNormal => location_and_matrix(p, own, 1.0, &mut sizes),
            }
        }
    }
    // What is exactly 0 has no size of its own.
    sizes.iter_mut().for_each(|size| *size = size.max(f64::MIN_POSITIVE.sqrt()));
    sizes
}

/// Of a mean, and of the triangle of `n` times a covariance.
fn location_and_matrix(p: usize, own: &[f64], n: f64, sizes: &mut Vec<f64>) {
    let (mean, matrix) = own.split_at(p);
    let root = |j: usize| matrix[packed_index(j, j)].abs().sqrt();
    sizes.extend((0..p).map(|j| (root(j) / n.sqrt()).max(0.01 * mean[j].abs())));
    for i in 0..p {
        sizes.extend((0..=i).map(|j| root(i) * root(j)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::{Block, Layout};
    use std::sync::Arc;

    #[test]
    fn slopes_are_those_of_the_formula() {
        let blocks = vec![
            Block::weights("pi", 3),
            Block::centre("mu_lambda", Family::NormalWishart, 3, 2),
            Block::component("tau", Family::Gamma, 3, 1),
        ];
        let layout = Arc::new(Layout::new(3, vec!["a".into(), "b".into()], blocks));
        let parameters: Vec<f64> = (0..layout.len())
            .map(|i| if i < 3 { 2.0 + i as f64 } else { 10.0 + (i * i % 7) as f64 })
            .collect();
        let posterior = Posterior::new(layout, parameters.clone());
        // A weight does not change when all α move by the same share.
        let found = slopes(&posterior, &|q| q.weights()[1]);
        let expected = [-3.0 / 81.0, 6.0 / 81.0, -3.0 / 81.0];
        for (i, slope) in found.iter().enumerate() {
            let expected = expected.get(i).copied().unwrap_or(0.0);
            assert!((slope - expected).abs() < 1e-9, "{i}: {slope} instead of {expected}");
        }
        let of_gamma = posterior.layout().block("tau").map(|b| b.offset + 2).unwrap_or(0);
        let found = slopes(&posterior, &|q| q.gamma("tau", 1).map_or(0.0, |t| t.b / t.a));
        let (a, b) = (parameters[of_gamma], parameters[of_gamma + 1]);
        assert!((found[of_gamma] + b / (a * a)).abs() < 1e-9);
        assert!((found[of_gamma + 1] - 1.0 / a).abs() < 1e-9);
        assert_eq!(found.iter().filter(|x| **x != 0.0).count(), 2);
    }
}
