//! How far apart two components are, for matching them between fits.

use super::{Block, Family, Posterior};
use crate::linalg::{cholesky, solve_lower};

impl Posterior {
    /// How unlike component `i` here and `j` there are: the sum over the blocks that tell components apart. Infinite
    /// where the model has none.
    ///
    /// Normal families give the squared Mahalanobis distance between centres in the average of the two covariances:
    /// of the data (Normal–Wishart) or of the coefficients (Normal). A Gamma gives `4(√x − √y)²` of the mean rates, a
    /// Dirichlet `4 Σ (√p − √q)²` of the mean probabilities: the same measure for a Poisson count and for a category,
    /// by the transformation that makes their variance constant.
    pub fn distance(&self, i: usize, other: &Posterior, j: usize) -> f64 {
        let mut blocks = self.layout.centres().peekable();
        if blocks.peek().is_none() {
            return f64::INFINITY;
        }
        blocks.map(|b| self.block_distance(b, i, other, j).unwrap_or(f64::INFINITY)).sum()
    }

    fn block_distance(&self, block: &Block, i: usize, other: &Posterior, j: usize) -> Option<f64> {
        let name = block.name.as_str();
        let (mut apart, mut spread) = match block.family {
            Family::NormalWishart => {
                let (a, b) = (self.normal_wishart(name, i)?, other.normal_wishart(name, j)?);
                let spread = average(
                    a.w_inverse().iter().map(|x| x / a.nu),
                    b.w_inverse().iter().map(|x| x / b.nu),
                );
                (difference(a.mean(), b.mean()), spread)
            }
            Family::MvNormal => {
                let (a, b) = (self.mv_normal(name, i)?, other.mv_normal(name, j)?);
                let spread =
                    average(a.covariance().iter().copied(), b.covariance().iter().copied());
                (difference(a.mean(), b.mean()), spread)
            }
            Family::Gamma => {
                let (a, b) = (self.gamma(name, i)?.mean(), other.gamma(name, j)?.mean());
                return Some(4.0 * (a.sqrt() - b.sqrt()).powi(2));
            }
            Family::Dirichlet => {
                let (a, b) =
                    (self.dirichlet_of(name, i)?.mean(), other.dirichlet_of(name, j)?.mean());
                let roots = a.iter().zip(&b).map(|(p, q)| (p.sqrt() - q.sqrt()).powi(2));
                return Some(4.0 * roots.sum::<f64>());
            }
        };
        cholesky(block.dim, &mut spread).ok()?;
        solve_lower(block.dim, &spread, &mut apart);
        Some(apart.iter().map(|x| x * x).sum())
    }
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x - y).collect()
}

fn average(a: impl Iterator<Item = f64>, b: impl Iterator<Item = f64>) -> Vec<f64> {
    a.zip(b).map(|(x, y)| 0.5 * (x + y)).collect()
}
