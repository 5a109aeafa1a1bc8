//! Joint draws of the parameters, shared by all functionals of a fit and coupled across fits.
//!
//! Draw `i` of every fit uses the same stream of random numbers, and within it every copy of every block
//! has a stream of its own. Fits with nearly the same parameters so have nearly the same draws, and blocks
//! that nobody asks for can be left out without changing the others.

use super::evaluate::Node;
use super::quantity::{draw_len, draw_offsets};
use super::replay::{Replay, Tape};
use super::{Part, SampledLaw};
use crate::posterior::{
    Block, Dirichlet, Family, Layout, MvNormal, NormalWishart, Sampler, Sharing,
};
use std::ops::Range;

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

    pub(super) fn evaluate(&self, node: &Node) -> f64 {
        node.evaluate(&|atom| self.value(atom.slot))
    }
}

/// A copy of a block that is drawn.
#[derive(Clone, Debug)]
struct Copy {
    family: Family,
    dim: usize,
    /// Its parameters in the flat vector.
    parameters: Range<usize>,
    /// Its values in a draw, as far as they are wanted.
    values: Range<usize>,
    /// Its number among all copies, from 1: its own stream within a draw's.
    number: u64,
    /// The number of the copy whose stream its precision comes from, where that is not its own.
    precision: Option<u64>,
}

/// Draws certain blocks of posteriors of one layout, for any number of fits.
///
/// The random numbers behind the first draws are kept, so that a thousand fits need not make them anew.
#[derive(Clone, Debug)]
pub(crate) struct Drawer {
    copies: Vec<Copy>,
    width: usize,
    seed: u64,
    tape: Tape,
}

impl Drawer {
    /// Draws what `parts` use, and keeps the random numbers behind the first `kept` draws.
    pub(crate) fn new(layout: &Layout, seed: u64, parts: &[&Part], kept: usize) -> Drawer {
        let mut wanted = vec![false; draw_offsets(layout).last().copied().unwrap_or(0)];
        for part in parts {
            part.mark(&mut wanted);
        }
        Drawer::of(layout, seed, kept, |range| wanted[range].contains(&true))
    }

    fn of(
        layout: &Layout,
        seed: u64,
        kept: usize,
        wanted: impl Fn(Range<usize>) -> bool,
    ) -> Drawer {
        let offsets = draw_offsets(layout);
        let mut copies = Vec::new();
        let mut number = 0;
        // Before the first of the blocks that share a precision with others.
        let mut before_shared = None;
        for (block, &start) in layout.blocks.iter().zip(&offsets) {
            let (size, len) = (block.family.parameters(block.dim), draw_len(block));
            let before = number;
            for copy in 0..block.copies {
                number += 1;
                let owner = match block.sharing {
                    Sharing::Nothing => number,
                    Sharing::Components => before + 1,
                    Sharing::Coordinates => *before_shared.get_or_insert(before) + copy as u64 + 1,
                };
                let values = start + copy * len..start + (copy + 1) * len;
                if !wanted(values.clone()) {
                    continue;
                }
                let at = block.offset + copy * size;
                copies.push(Copy {
                    family: block.family,
                    dim: block.dim,
                    parameters: at..at + size,
                    values: without_covariance(block, values, &wanted),
                    number,
                    precision: (owner != number).then_some(owner),
                });
            }
        }
        let streams: Vec<(u64, usize)> =
            copies.iter().map(|copy| (copy.number, words(copy.family, copy.dim))).collect();
        let width = offsets.last().copied().unwrap_or(0);
        Drawer { tape: Tape::new(seed, &streams, kept), copies, width, seed }
    }

    /// Calls `visit` with each of `count` draws from a fit, in order.
    pub(crate) fn each(&self, parameters: &[f64], count: usize, mut visit: impl FnMut(Draw<'_>)) {
        let mut samplers: Vec<Sampler> = self
            .copies
            .iter()
            .map(|copy| Sampler::new(copy.family, copy.dim, &parameters[copy.parameters.clone()]))
            .collect();
        let mut values = vec![f64::NAN; self.width];
        for number in 0..count {
            for (i, (copy, sampler)) in self.copies.iter().zip(&mut samplers).enumerate() {
                // A stream of its own: a rejected proposal elsewhere shifts nothing here.
                let kept = self.tape.words(number, i);
                let mut rng = Replay::new(kept, self.seed, number as u64, copy.number);
                let out = &mut values[copy.values.clone()];
                match copy.precision {
                    None => sampler.draw(&mut rng, out),
                    Some(owner) => {
                        let mut precision = Replay::new(&[], self.seed, number as u64, owner);
                        sampler.draw_with(&mut precision, &mut rng, out);
                    }
                }
            }
            visit(Draw { values: &values });
        }
    }

    /// The values of a functional at `count` draws from a fit.
    pub(crate) fn values(&self, parameters: &[f64], count: usize, part: &Part) -> Vec<f64> {
        let Some(node) = part.expression() else {
            return part.values(&Draws::collect(self, parameters, count));
        };
        let mut values = Vec::with_capacity(count);
        self.each(parameters, count, |draw| values.push(draw.evaluate(node)));
        values
    }

    /// Where `v` lies among `count` draws of a functional, as [`SampledLaw::place`] says.
    pub(crate) fn place(&self, parameters: &[f64], count: usize, part: &Part, v: f64) -> f64 {
        let Some(node) = part.expression() else {
            return SampledLaw::new(self.values(parameters, count, part)).place(v);
        };
        let (mut n, mut below, mut up_to) = (0u32, 0u32, 0u32);
        self.each(parameters, count, |draw| {
            let x = draw.evaluate(node);
            n += u32::from(!x.is_nan());
            below += u32::from(x < v);
            up_to += u32::from(x <= v);
        });
        if n == 0 || v.is_nan() {
            return f64::NAN;
        }
        let share = |count: u32| f64::from(count) / f64::from(n);
        0.5_f64.clamp(share(below), share(up_to))
    }
}

/// Only the mean of a Normal–Wishart, if nothing of its covariance is wanted.
fn without_covariance(
    block: &Block,
    values: Range<usize>,
    wanted: impl Fn(Range<usize>) -> bool,
) -> Range<usize> {
    let end = values.start + block.dim;
    let only_mean = block.family == Family::NormalWishart && !wanted(end..values.end);
    if only_mean { values.start..end } else { values }
}

/// Random words that a draw of one copy takes, most of the time: two for a normal or a uniform, a gamma
/// takes both of them and sometimes both again.
fn words(family: Family, dim: usize) -> usize {
    match family {
        Family::Dirichlet => 6 * dim + 4,
        Family::Gamma => 10,
        Family::MvNormal => 2 * dim + 4,
        Family::NormalWishart => dim * (dim - 1) + 7 * dim + 4,
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
        Draws::collect(&Drawer::of(layout, seed, 0, |_| true), parameters, count)
    }

    /// As [`sample`](Self::sample), with NaN for the blocks that no functional among `parts` uses.
    pub fn sample_for(
        layout: &Layout,
        parameters: &[f64],
        seed: u64,
        count: usize,
        parts: &[&Part],
    ) -> Draws {
        Draws::collect(&Drawer::new(layout, seed, parts, 0), parameters, count)
    }

    fn collect(drawer: &Drawer, parameters: &[f64], count: usize) -> Draws {
        let mut values = Vec::with_capacity(drawer.width * count);
        drawer.each(parameters, count, |draw| values.extend_from_slice(draw.values));
        Draws { values, width: drawer.width }
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
