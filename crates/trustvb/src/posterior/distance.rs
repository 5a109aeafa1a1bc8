//! How far apart two components are, for matching them between fits.

use super::{Family, Posterior};
use crate::linalg::{invert_spd, quadratic_form};

impl Posterior {
    /// Squared Mahalanobis distance between the centres of component `i` here and `j` there, in the
    /// average of the two components' covariances: of the data (Normal–Wishart) or of the
    /// coefficients (Normal).
    pub fn distance(&self, i: usize, other: &Posterior, j: usize) -> f64 {
        for block in &self.layout.blocks {
            let name = block.name.as_str();
            let (mean, spread) = match block.family {
                Family::NormalWishart => {
                    let pair = (self.normal_wishart(name, i), other.normal_wishart(name, j));
                    let (Some(a), Some(b)) = pair else { continue };
                    let spread = average(
                        a.w_inverse().iter().map(|x| x / a.nu),
                        b.w_inverse().iter().map(|x| x / b.nu),
                    );
                    (difference(a.mean(), b.mean()), spread)
                }
                Family::MvNormal => {
                    let pair = (self.mv_normal(name, i), other.mv_normal(name, j));
                    let (Some(a), Some(b)) = pair else { continue };
                    let spread =
                        average(a.covariance().iter().copied(), b.covariance().iter().copied());
                    (difference(a.mean(), b.mean()), spread)
                }
                Family::Dirichlet | Family::Gamma => continue,
            };
            return match invert_spd(block.dim, &spread) {
                Ok((precision, _)) => quadratic_form(block.dim, &precision, &mean),
                Err(_) => f64::INFINITY,
            };
        }
        f64::INFINITY
    }
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| x - y).collect()
}

fn average(a: impl Iterator<Item = f64>, b: impl Iterator<Item = f64>) -> Vec<f64> {
    a.zip(b).map(|(x, y)| 0.5 * (x + y)).collect()
}
