//! A chunk of rows as tiles of sums want it.
//!
//! A tile reads a few columns of several blocks. Blocks are therefore put together in groups of four, whose columns follow
//! each other: what a tile reads of a group is one stretch of memory, in which every vector is one line of the cache.

use crate::simd::{LANES, Lines, Part, Vector};

/// Blocks of a group.
pub(super) const GROUP: usize = 4;

/// A column of a group.
pub(super) type Column = [[f64; LANES]; GROUP];

/// A chunk of rows: group after group, column after column. The last group is filled up with zeros.
#[derive(Clone, Copy)]
pub(super) struct Groups<'a> {
    /// Columns.
    pub(super) p: usize,
    columns: &'a [Column],
}

impl<'a> Groups<'a> {
    /// From `blocks` of `p` columns as they are stored: block after block, column after column.
    #[inline(always)]
    pub(super) fn new<V: Vector>(
        p: usize,
        blocks: &[[f64; LANES]],
        room: &'a mut Lines,
    ) -> Groups<'a> {
        room.resize(blocks.len().next_multiple_of(GROUP * p));
        let (columns, _) = room.as_chunks_mut::<GROUP>();
        for (blocks, group) in blocks.chunks(GROUP * p).zip(columns.chunks_exact_mut(p)) {
            if blocks.len() < GROUP * p {
                group.fill([[0.0; LANES]; GROUP]);
            }
            for (b, block) in blocks.chunks_exact(p).enumerate() {
                for (x, column) in block.iter().zip(&mut *group) {
                    V::load(x).store(&mut column[b]);
                }
            }
        }
        Groups { p, columns }
    }

    /// The columns of each group.
    #[inline(always)]
    pub(super) fn iter(self) -> std::slice::ChunksExact<'a, Column> {
        self.columns.chunks_exact(self.p)
    }
}

/// Columns cut into panels: the first few have one more than the others.
#[derive(Clone, Copy)]
pub(super) struct Panels {
    pub(super) number: usize,
    wide: usize,
    narrow: usize,
}

/// The first of some columns, and their number.
#[derive(Clone, Copy)]
pub(super) struct Panel {
    pub(super) start: usize,
    pub(super) width: usize,
}

impl Panels {
    /// Of `p` columns for tiles of `P`, each as wide as a tile has rows or, if `p` is 6 or more, one less.
    #[inline(always)]
    pub(super) fn new<P: Part>(p: usize) -> Panels {
        let number = p.div_ceil(P::ROWS);
        Panels { number, wide: p % number, narrow: p / number }
    }

    #[inline(always)]
    pub(super) fn get(self, at: usize) -> Panel {
        let start = at * self.narrow + at.min(self.wide);
        Panel { start, width: self.narrow + usize::from(at < self.wide) }
    }
}
