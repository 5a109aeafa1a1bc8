//! Joint draws of the parameters, shared by all functionals of a fit and coupled across fits.
//!
//! Draw `i` of every fit uses the same stream of random numbers, and within it every copy of every block
//! has a stream of its own. Fits with nearly the same parameters so have nearly the same draws, and blocks
//! that nobody asks for can be left out without changing the others.

use super::Part;
use super::quantity::{draw_len, draw_offsets};
use crate::posterior::{Dirichlet, Family, Gamma, Layout, MvNormal, NormalWishart};
use crate::random::{Purpose, stream};

/// One joint draw of θ: `π`; `μ` and `Σ` of each component; `β`; `τ`, in the order of the layout's blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw<'a> {
    values: &'a [f64],
}

impl Draw<'_> {
    /// The value at a place that was fixed when a functional was parsed; NaN if there is none.
    pub(super) fn value(&self, slot: usize) -> f64 {
        self.values.get(slot).copied().unwrap_or(f64::NAN)
    }
}

/// Draws from one variational posterior.
#[derive(Clone, Debug, PartialEq)]
pub struct Draws {
    values: Vec<f64>,
    width: usize,
}

impl Draws {
    /// `count` joint draws of all blocks. They depend on the seed, the draw's number and the
    /// parameters only. A copy whose parameters admit no draw is NaN.
    pub fn sample(layout: &Layout, parameters: &[f64], seed: u64, count: usize) -> Draws {
        Draws::fill(layout, parameters, seed, count, |_| true)
    }

    /// As [`sample`](Self::sample), with NaN for the blocks that no functional among `parts` uses.
    pub fn sample_for(
        layout: &Layout,
        parameters: &[f64],
        seed: u64,
        count: usize,
        parts: &[&Part],
    ) -> Draws {
        let mut wanted = vec![false; draw_offsets(layout).last().copied().unwrap_or(0)];
        for part in parts {
            part.mark(&mut wanted);
        }
        Draws::fill(layout, parameters, seed, count, |range| wanted[range].contains(&true))
    }

    fn fill(
        layout: &Layout,
        parameters: &[f64],
        seed: u64,
        count: usize,
        wanted: impl Fn(std::ops::Range<usize>) -> bool,
    ) -> Draws {
        let offsets = draw_offsets(layout);
        let width = offsets.last().copied().unwrap_or(0);
        let mut values = vec![f64::NAN; width * count];
        if width == 0 {
            return Draws { values, width };
        }
        for (number, draw) in values.chunks_exact_mut(width).enumerate() {
            let mut rng = stream(seed, Purpose::Draw, number as u64);
            let mut copy_number = 0;
            for (block, &start) in layout.blocks.iter().zip(&offsets) {
                let (size, len) = (block.family.parameters(block.dim), draw_len(block));
                for copy in 0..block.copies {
                    let range = start + copy * len..start + (copy + 1) * len;
                    let at = block.offset + copy * size;
                    copy_number += 1;
                    if wanted(range.clone()) {
                        // A stream of its own: a rejected proposal elsewhere shifts nothing here.
                        rng.set_stream(copy_number);
                        rng.set_word_pos(0);
                        let own = &parameters[at..at + size];
                        draw_copy(block.family, block.dim, own, &mut rng, &mut draw[range]);
                    }
                }
            }
        }
        Draws { values, width }
    }

    /// The posterior mean as if it were a draw, with `E[Σ]` for `Σ`; NaN where a mean does not exist.
    pub fn posterior_mean(layout: &Layout, parameters: &[f64]) -> Draws {
        let offsets = draw_offsets(layout);
        let width = offsets.last().copied().unwrap_or(0);
        let mut values = vec![f64::NAN; width];
        for (block, &start) in layout.blocks.iter().zip(&offsets) {
            let (size, len) = (block.family.parameters(block.dim), draw_len(block));
            for copy in 0..block.copies {
                let own = &parameters[block.offset + copy * size..block.offset + (copy + 1) * size];
                mean_of_copy(
                    block.family,
                    block.dim,
                    own,
                    &mut values[start + copy * len..start + (copy + 1) * len],
                );
            }
        }
        Draws { values, width }
    }

    /// The values of one block: for each draw its copies one after the other, `π`; `μ` and the lower
    /// triangle of `Σ`; `β`; or `τ`. Returns how many numbers a copy has.
    pub fn block<'a>(
        &'a self,
        layout: &Layout,
        name: &str,
    ) -> Option<(usize, impl Iterator<Item = &'a [f64]>)> {
        let number = layout.blocks.iter().position(|block| block.name == name)?;
        let block = &layout.blocks[number];
        let (start, len) = (draw_offsets(layout)[number], draw_len(block));
        let all = start..start + block.copies * len;
        let width = self.width.max(1);
        Some((len, self.values.chunks_exact(width).map(move |draw| &draw[all.clone()])))
    }

    /// Number of draws.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The draws one by one.
    pub fn iter(&self) -> impl Iterator<Item = Draw<'_>> {
        self.values.chunks_exact(self.width.max(1)).map(|values| Draw { values })
    }

    /// A functional at every draw, in their order.
    pub fn values(&self, part: &Part) -> Vec<f64> {
        part.values(self)
    }

    /// The law of a functional, as far as these draws show it.
    pub fn law(&self, part: &Part) -> super::SampledLaw {
        super::SampledLaw::new(self.values(part))
    }
}

fn mean_of_copy(family: Family, dim: usize, parameters: &[f64], out: &mut [f64]) {
    match family {
        Family::Dirichlet => out.copy_from_slice(&Dirichlet::new(parameters).mean()),
        Family::MvNormal => out.copy_from_slice(MvNormal::new(dim, parameters).mean()),
        Family::Gamma => out[0] = parameters[0] / parameters[1],
        Family::NormalWishart => {
            let block = NormalWishart::new(dim, parameters);
            out[..dim].copy_from_slice(block.mean());
            if let Some(covariance) = block.mean_covariance() {
                out[dim..].copy_from_slice(&covariance);
            }
        }
    }
}

fn draw_copy(
    family: Family,
    dim: usize,
    parameters: &[f64],
    rng: &mut impl rand::Rng,
    out: &mut [f64],
) {
    match family {
        Family::Dirichlet => Dirichlet::new(parameters).draw(rng, out),
        Family::MvNormal => MvNormal::new(dim, parameters).draw(rng, out),
        Family::Gamma => out[0] = Gamma::new(parameters[0], parameters[1]).draw(rng),
        Family::NormalWishart => {
            if let Ok(draw) = NormalWishart::new(dim, parameters).draw(rng) {
                out[..dim].copy_from_slice(&draw.mean);
                out[dim..].copy_from_slice(&draw.covariance);
            }
        }
    }
}
