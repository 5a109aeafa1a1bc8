//! Rows of data in blocks of eight, column by column within a block, as the vector unit reads them.

use super::far::FarRows;
use super::kernel::{Densities, e_step};
use crate::model::Degenerate;
use crate::model::kernel::Scratch;
use crate::simd::{InstructionSet, Kernel, LANES, Vector, dispatch_on};

/// Where the rows of a data set are.
#[derive(Debug)]
pub(super) enum RowsAt {
    Memory(Rows),
    Far(FarRows),
}

impl RowsAt {
    pub(super) fn len(&self) -> usize {
        match self {
            RowsAt::Memory(rows) => rows.len(),
            RowsAt::Far(far) => far.summary().n_rows,
        }
    }

    /// The rows, where they are in memory.
    pub(super) fn held(&self) -> Option<&Rows> {
        match self {
            RowsAt::Memory(rows) => Some(rows),
            RowsAt::Far(_) => None,
        }
    }

    /// An E-step over all rows, or over those that are chosen; see [`e_step`].
    #[inline]
    pub(super) fn e_step(
        &self,
        chosen: Option<&Rows>,
        densities: &Densities,
        stats: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<f64, Degenerate> {
        match self {
            RowsAt::Memory(all) => Ok(e_step(chosen.unwrap_or(all), densities, stats, scratch)),
            RowsAt::Far(far) => far.e_step(&densities.numbers, stats),
        }
    }

    /// Moments of the sample: an E-step with one component that takes everything.
    pub(super) fn moments(&self, chosen: Option<&Rows>) -> Result<Vec<f64>, Degenerate> {
        let all = match self {
            RowsAt::Memory(all) => all,
            RowsAt::Far(far) => return far.moments(),
        };
        Ok(chosen.unwrap_or(all).moments())
    }
}

/// `n` rows of `p` numbers with a weight each. The last block is padded with rows of weight 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    p: usize,
    n: usize,
    /// Block `b`, column `j` at `b*p + j`.
    pub(super) blocks: Vec<[f64; LANES]>,
    /// Weights of block `b`.
    pub(super) weights: Vec<[f64; LANES]>,
}

impl Rows {
    /// Rows of weight 1 from a function of row and column.
    pub(super) fn new(p: usize, n: usize, value: impl Fn(usize, usize) -> f64) -> Rows {
        let n_blocks = n.div_ceil(LANES);
        let mut rows = Rows {
            p,
            n,
            blocks: vec![[0.0; LANES]; n_blocks * p],
            weights: vec![[0.0; LANES]; n_blocks],
        };
        for i in 0..n {
            let (b, lane) = (i / LANES, i % LANES);
            for j in 0..p {
                rows.blocks[b * p + j][lane] = value(i, j);
            }
            rows.weights[b][lane] = 1.0;
        }
        rows
    }

    pub(super) fn len(&self) -> usize {
        self.n
    }

    pub(super) fn p(&self) -> usize {
        self.p
    }

    pub(super) fn get(&self, row: usize, column: usize) -> f64 {
        self.blocks[row / LANES * self.p + column][row % LANES]
    }

    /// The numbers of a row.
    pub(super) fn row(&self, row: usize) -> impl Iterator<Item = f64> {
        let (block, lane) = (row / LANES, row % LANES);
        self.blocks[block * self.p..(block + 1) * self.p].iter().map(move |column| column[lane])
    }

    /// `Σw`, `Σwx` and the triangle of `Σwxxᵀ`: an E-step with one component that takes everything.
    pub(super) fn moments(&self) -> Vec<f64> {
        let numbers = vec![0.0; Densities::stride(self.p)];
        let mut moments = numbers.clone();
        let everything = Densities { p: self.p, numbers };
        e_step(self, &everything, &mut moments, &mut Scratch::default());
        moments
    }

    /// A column for each line, of the first columns of these rows.
    pub(super) fn mapped(&self, lines: &[Line]) -> Rows {
        let mut mapped = Rows {
            p: lines.len(),
            n: self.n,
            blocks: vec![[0.0; LANES]; self.weights.len() * lines.len()],
            weights: self.weights.clone(),
        };
        let map = Map { p: self.p, blocks: &self.blocks, lines, out: &mut mapped.blocks };
        dispatch_on(InstructionSet::best(), map);
        mapped
    }

    /// These columns, then those of `others`, which are as many rows.
    pub(super) fn beside(&self, others: &Rows) -> Rows {
        let blocks = self.blocks.chunks_exact(self.p).zip(others.blocks.chunks_exact(others.p));
        Rows {
            p: self.p + others.p,
            n: self.n,
            blocks: blocks.flat_map(|(own, other)| own.iter().chain(other).copied()).collect(),
            weights: self.weights.clone(),
        }
    }

    /// Becomes the rows of `all` with positive weight, each with its weight.
    pub(super) fn compact(&mut self, all: &Rows, weights: &[f64]) {
        let p = all.p;
        self.p = p;
        self.n = weights.iter().filter(|&&w| w > 0.0).count();
        let n_blocks = self.n.div_ceil(LANES);
        self.blocks.clear();
        self.blocks.resize(n_blocks * p, [0.0; LANES]);
        self.weights.clear();
        self.weights.resize(n_blocks, [0.0; LANES]);
        let mut next = 0;
        for (from, weights) in all.blocks.chunks_exact(p).zip(weights.chunks(LANES)) {
            for (old_lane, &w) in weights.iter().enumerate() {
                if w > 0.0 {
                    let (b, lane) = (next / LANES, next % LANES);
                    for (to, from) in self.blocks[b * p..(b + 1) * p].iter_mut().zip(from) {
                        to[lane] = from[old_lane % LANES];
                    }
                    self.weights[b][lane] = w;
                    next += 1;
                }
            }
        }
    }
}

/// A linear function of the first columns of a row.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) shift: f64,
    pub(super) slopes: Vec<f64>,
}

/// Linear functions of rows, eight rows at a time.
struct Map<'a> {
    p: usize,
    blocks: &'a [[f64; LANES]],
    lines: &'a [Line],
    out: &'a mut [[f64; LANES]],
}

impl Kernel for Map<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        let out = self.out.chunks_exact_mut(self.lines.len());
        for (x, out) in self.blocks.chunks_exact(self.p).zip(out) {
            for (line, out) in self.lines.iter().zip(out) {
                let mut sum = V::splat(line.shift);
                for (x, &slope) in x.iter().zip(&line.slopes) {
                    sum = V::load(x).mul_add(V::splat(slope), sum);
                }
                sum.store(out);
            }
        }
    }
}
