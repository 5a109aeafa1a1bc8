//! How far apart two posteriors are, and what a posterior becomes when the data change units.

use trustvb::linalg::{packed_index, packed_len, unpack};
use trustvb::posterior::{Family, Posterior};

/// The largest difference between two posteriors of the same layout. Counts and rates are relative
/// to their size, locations to theirs or to the posterior's spread if that is larger, and entry
/// (i, j) of a matrix to the square root of diagonal entries i and j.
pub(crate) fn distance(a: &Posterior, b: &Posterior) -> f64 {
    assert_eq!(a.layout().blocks, b.layout().blocks);
    let mut largest = 0.0_f64;
    let mut see = |x: f64, y: f64, size: f64| {
        let difference = (x - y).abs() / size;
        // `max` would drop a NaN.
        largest = if difference.is_nan() { f64::INFINITY } else { largest.max(difference) };
    };
    for block in &a.layout().blocks {
        let size = block.family.parameters(block.dim);
        for copy in 0..block.copies {
            let at = block.offset + copy * size;
            let (x, y) = (&a.parameters()[at..at + size], &b.parameters()[at..at + size]);
            let (head, spread) = match block.family {
                Family::Dirichlet | Family::Gamma => {
                    x.iter().zip(y).for_each(|(x, y)| see(*x, *y, x.abs()));
                    continue;
                }
                Family::NormalWishart => {
                    see(x[0], y[0], x[0]);
                    see(x[1], y[1], x[1]);
                    (2, x[1])
                }
                Family::MvNormal => (0, 1.0),
            };
            let p = block.dim;
            let (m, matrix) = x[head..].split_at(p);
            let (m_b, matrix_b) = y[head..].split_at(p);
            let sd = |j: usize| matrix[packed_index(j, j)].sqrt();
            for j in 0..p {
                see(m[j], m_b[j], m[j].abs().max(sd(j) / spread.sqrt()));
                for i in 0..=j {
                    let at = packed_index(j, i);
                    see(matrix[at], matrix_b[at], sd(i) * sd(j));
                }
            }
        }
    }
    largest
}

/// The posterior of a Gaussian mixture after column j has become `shift[j] + scale[j] x_j`.
pub(crate) fn gmm_in_units(posterior: &Posterior, shift: &[f64], scale: &[f64]) -> Posterior {
    let p = scale.len();
    let mut parameters = posterior.parameters().to_vec();
    let k = posterior.layout().n_components;
    for copy in parameters[k..].chunks_exact_mut(2 + p + packed_len(p)) {
        let (m, w_inverse) = copy[2..].split_at_mut(p);
        for j in 0..p {
            m[j] = shift[j] + scale[j] * m[j];
            for i in 0..=j {
                w_inverse[packed_index(j, i)] *= scale[i] * scale[j];
            }
        }
    }
    Posterior::new(posterior.layout().clone(), parameters)
}

/// As [`gmm_in_units`], where every column has a block of its own.
pub(crate) fn columns_in_units(posterior: &Posterior, shift: &[f64], scale: &[f64]) -> Posterior {
    let mut parameters = posterior.parameters().to_vec();
    for block in &posterior.layout().blocks {
        let Some(j) = block.coordinate else { continue };
        for copy in parameters[block.offset..].chunks_exact_mut(4).take(block.copies) {
            copy[2] = shift[j] + scale[j] * copy[2];
            copy[3] *= scale[j] * scale[j];
        }
    }
    Posterior::new(posterior.layout().clone(), parameters)
}

/// The posterior of a Gaussian mixture after a row `x` has become `shift + matrix·x`.
pub(crate) fn gmm_mapped(posterior: &Posterior, shift: &[f64], matrix: &[Vec<f64>]) -> Posterior {
    let p = matrix.len();
    let times = |x: &[f64]| -> Vec<f64> {
        matrix.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
    };
    let mut parameters = posterior.parameters().to_vec();
    let k = posterior.layout().n_components;
    for copy in parameters[k..].chunks_exact_mut(2 + p + packed_len(p)) {
        let (m, w_inverse) = copy[2..].split_at_mut(p);
        let mapped = times(m);
        for j in 0..p {
            m[j] = shift[j] + mapped[j];
        }
        // A W^-1 Aᵀ, by applying A to the columns and then to the rows.
        let half: Vec<Vec<f64>> = unpack(p, w_inverse).iter().map(|column| times(column)).collect();
        for i in 0..p {
            let row: Vec<f64> = half.iter().map(|column| column[i]).collect();
            let full = times(&row);
            for j in 0..=i {
                w_inverse[packed_index(i, j)] = full[j];
            }
        }
    }
    Posterior::new(posterior.layout().clone(), parameters)
}

/// A change of units of a regression: `y` to `shift_y + scale_y y`, column j to
/// `shift[j] + scale[j] x_j`; with an intercept (a first column of ones) shifts may differ from 0.
#[derive(Clone, Debug)]
pub(crate) struct RegressionUnits {
    pub(crate) shift_y: f64,
    pub(crate) scale_y: f64,
    pub(crate) shift: Vec<f64>,
    pub(crate) scale: Vec<f64>,
}

impl RegressionUnits {
    /// What a difference of coefficients becomes.
    fn difference(&self, beta: &[f64]) -> Vec<f64> {
        let mut new: Vec<f64> =
            beta.iter().zip(&self.scale).map(|(b, s)| self.scale_y * b / s).collect();
        let moved: f64 = new.iter().zip(&self.shift).map(|(b, d)| b * d).sum();
        new[0] -= moved;
        new
    }

    /// What coefficients become.
    pub(crate) fn coefficients(&self, beta: &[f64]) -> Vec<f64> {
        let mut new = self.difference(beta);
        new[0] += self.shift_y;
        new
    }

    /// What a posterior becomes; `τ` is always in standardised units.
    pub(crate) fn posterior(&self, posterior: &Posterior) -> Posterior {
        let layout = posterior.layout();
        let p = self.scale.len();
        let mut parameters = posterior.parameters().to_vec();
        let beta = layout.block("beta").unwrap();
        for copy in parameters[beta.offset..].chunks_exact_mut(p + packed_len(p)).take(beta.copies)
        {
            let (m, s) = copy.split_at_mut(p);
            m.copy_from_slice(&self.coefficients(m));
            // T S Tᵀ, by applying T to the columns and then to the rows.
            let half: Vec<Vec<f64>> =
                unpack(p, s).iter().map(|column| self.difference(column)).collect();
            for i in 0..p {
                let row: Vec<f64> = half.iter().map(|column| column[i]).collect();
                let full = self.difference(&row);
                for j in 0..=i {
                    s[packed_index(i, j)] = full[j];
                }
            }
        }
        if let Some(noise) = layout.block("noise") {
            for rate in parameters[noise.offset..].iter_mut().skip(1).step_by(2) {
                *rate *= self.scale_y.powi(2);
            }
        }
        Posterior::new(layout.clone(), parameters)
    }
}
