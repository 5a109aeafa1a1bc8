//! A block prepared for many draws: factors and gamma laws are computed once, and nothing is allocated.
//!
//! The numbers are those of the blocks' own `draw`, bit for bit.

use super::{Dirichlet, Family, Gamma, MvNormal, NormalWishart};
use crate::linalg::{cholesky, invert_lower, packed_index, packed_len};
use rand_distr::{Distribution, StandardNormal};

/// One copy of a block with given parameters.
pub(crate) enum Sampler {
    Dirichlet(Vec<GammaLaw>),
    NormalWishart(Box<NormalWishartSampler>),
    MvNormal {
        mean: Vec<f64>,
        factor: Vec<f64>,
        z: Vec<f64>,
    },
    Gamma {
        law: GammaLaw,
        rate: f64,
    },
    /// The parameters admit no draw.
    Nothing,
}

impl Sampler {
    /// Prepares the copy of a family with these parameters.
    pub(crate) fn new(family: Family, dim: usize, parameters: &[f64]) -> Sampler {
        match family {
            Family::Dirichlet => {
                let block = Dirichlet::new(parameters);
                Sampler::Dirichlet(block.alpha().iter().map(|a| GammaLaw::new(*a)).collect())
            }
            Family::NormalWishart => {
                let block = NormalWishart::new(dim, parameters);
                NormalWishartSampler::new(dim, &block)
                    .map_or(Sampler::Nothing, |s| Sampler::NormalWishart(Box::new(s)))
            }
            Family::MvNormal => {
                let block = MvNormal::new(dim, parameters);
                let mut factor = block.covariance().to_vec();
                match cholesky(dim, &mut factor) {
                    Ok(()) => {
                        let mean = block.mean().to_vec();
                        Sampler::MvNormal { mean, factor, z: vec![0.0; dim] }
                    }
                    Err(_) => Sampler::Nothing,
                }
            }
            Family::Gamma => {
                let block = Gamma::new(parameters[0], parameters[1]);
                Sampler::Gamma { law: GammaLaw::new(block.a), rate: block.b }
            }
        }
    }

    /// A draw into `out`, which is all of the copy's values, or for a Normal–Wishart without its
    /// covariance only the mean.
    pub(crate) fn draw(&mut self, rng: &mut impl rand::Rng, out: &mut [f64]) {
        match self {
            Sampler::Nothing => out.fill(f64::NAN),
            Sampler::Dirichlet(laws) => {
                let mut total = 0.0;
                for (x, law) in out.iter_mut().zip(laws) {
                    *x = law.draw(rng);
                    total += *x;
                }
                for x in out {
                    *x /= total;
                }
            }
            Sampler::NormalWishart(sampler) => {
                sampler.draw_root(rng);
                sampler.draw_values(rng, out);
            }
            Sampler::MvNormal { mean, factor, z } => {
                for z in z.iter_mut() {
                    *z = StandardNormal.sample(rng);
                }
                for i in 0..mean.len() {
                    out[i] =
                        mean[i] + (0..=i).map(|j| factor[packed_index(i, j)] * z[j]).sum::<f64>();
                }
            }
            Sampler::Gamma { law, rate } => out[0] = law.draw(rng) / *rate,
        }
    }

    /// As [`Sampler::draw`], where the precision is another's too and comes from its random numbers.
    pub(crate) fn draw_with(
        &mut self,
        precision: &mut impl rand::Rng,
        rng: &mut impl rand::Rng,
        out: &mut [f64],
    ) {
        match self {
            Sampler::NormalWishart(sampler) => {
                sampler.draw_root(precision);
                sampler.draw_values(rng, out);
            }
            _ => self.draw(rng, out),
        }
    }
}

/// `Gamma(shape, 1)`, kept away from 0; NaN for a shape that is none.
pub(crate) struct GammaLaw(Option<rand_distr::Gamma<f64>>);

impl GammaLaw {
    fn new(shape: f64) -> GammaLaw {
        GammaLaw(rand_distr::Gamma::new(shape, 1.0).ok())
    }

    fn draw(&self, rng: &mut impl rand::Rng) -> f64 {
        self.0.as_ref().map_or(f64::NAN, |law| law.sample(rng).max(f64::MIN_POSITIVE))
    }
}

/// See [`NormalWishart::draw`], whose letters these are.
pub(crate) struct NormalWishartSampler {
    p: usize,
    mean: Vec<f64>,
    spread: f64,
    l: Vec<f64>,
    chi: Vec<GammaLaw>,
    t: Vec<f64>,
    t_inverse: Vec<f64>,
    root: Vec<f64>,
    z: Vec<f64>,
}

impl NormalWishartSampler {
    fn new(p: usize, block: &NormalWishart<'_>) -> Option<NormalWishartSampler> {
        let mut l = block.w_inverse().to_vec();
        cholesky(p, &mut l).ok()?;
        Some(NormalWishartSampler {
            p,
            mean: block.mean().to_vec(),
            spread: block.beta.sqrt(),
            l,
            chi: (0..p).map(|i| GammaLaw::new(0.5 * (block.nu - i as f64))).collect(),
            t: vec![0.0; packed_len(p)],
            t_inverse: vec![0.0; packed_len(p)],
            root: vec![0.0; p * p],
            z: vec![0.0; p],
        })
    }

    /// A square root of a draw of `Σ`.
    fn draw_root(&mut self, rng: &mut impl rand::Rng) {
        let p = self.p;
        for i in 0..p {
            for j in 0..i {
                self.t[packed_index(i, j)] = StandardNormal.sample(rng);
            }
            self.t[packed_index(i, i)] = (2.0 * self.chi[i].draw(rng)).sqrt();
        }
        invert_lower(p, &self.t, &mut self.t_inverse);
        for i in 0..p {
            for j in 0..p {
                self.root[i * p + j] = (0..=i.min(j))
                    .map(|k| self.l[packed_index(i, k)] * self.t_inverse[packed_index(j, k)])
                    .sum();
            }
        }
    }

    /// The mean and `Σ`, given that root.
    fn draw_values(&mut self, rng: &mut impl rand::Rng, out: &mut [f64]) {
        let p = self.p;
        for z in &mut self.z {
            *z = StandardNormal.sample(rng);
        }
        let (mean, covariance) = out.split_at_mut(p);
        for (i, row) in self.root.chunks_exact(p).enumerate() {
            let shift = row.iter().zip(&self.z).map(|(r, z)| r * z).sum::<f64>();
            mean[i] = self.mean[i] + shift / self.spread;
        }
        if covariance.is_empty() {
            return;
        }
        for i in 0..p {
            for j in 0..=i {
                covariance[packed_index(i, j)] =
                    (0..p).map(|k| self.root[i * p + k] * self.root[j * p + k]).sum();
            }
        }
    }
}
