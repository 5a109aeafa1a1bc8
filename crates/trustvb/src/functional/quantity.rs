//! The quantities that users can name, and the elements of a posterior that they stand for.

use crate::posterior::{Block, Family, Layout};

/// What one index of a quantity runs over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Component,
    Coordinate,
}

/// A name that users can write.
pub(super) struct Quantity {
    pub(super) name: &'static str,
    block: &'static str,
    family: Family,
    pub(super) axes: &'static [Axis],
}

use Axis::{Component as C, Coordinate as X};

/// All names, in the order in which they are listed to users.
pub(super) const QUANTITIES: [Quantity; 8] = [
    Quantity { name: "pi", block: "pi", family: Family::Dirichlet, axes: &[C] },
    Quantity { name: "mu", block: "mu_lambda", family: Family::NormalWishart, axes: &[C, X] },
    Quantity { name: "sigma", block: "mu_lambda", family: Family::NormalWishart, axes: &[C, X, X] },
    Quantity { name: "sd", block: "mu_lambda", family: Family::NormalWishart, axes: &[C, X] },
    Quantity { name: "cor", block: "mu_lambda", family: Family::NormalWishart, axes: &[C, X, X] },
    Quantity { name: "beta", block: "beta", family: Family::MvNormal, axes: &[C, X] },
    Quantity { name: "tau", block: "tau", family: Family::Gamma, axes: &[C] },
    Quantity { name: "noise", block: "noise", family: Family::Gamma, axes: &[C] },
];

impl Quantity {
    /// Its block in this posterior, if it has one.
    pub(super) fn block<'a>(&self, layout: &'a Layout) -> Option<&'a Block> {
        layout.block(self.block).filter(|b| b.family == self.family)
    }

    /// How many values an index over `axis` can have.
    pub(super) fn extent(&self, block: &Block, axis: Axis) -> usize {
        match (axis, block.family) {
            (Axis::Component, Family::Dirichlet) => block.dim,
            (Axis::Component, _) => block.copies,
            (Axis::Coordinate, _) => block.dim,
        }
    }
}

/// The names that exist in a posterior.
pub(super) fn names(layout: &Layout) -> Vec<&'static str> {
    QUANTITIES.iter().filter(|q| q.block(layout).is_some()).map(|q| q.name).collect()
}

/// The kinds of element that functionals are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AtomKind {
    /// `π_k`.
    Weight,
    /// `μ_k,i`.
    Mean,
    /// `Σ_k,ij` with `i ≥ j`.
    Covariance,
    /// `β_k,i`.
    Coefficient,
    /// A Gamma variable.
    Precision,
}

/// One element of the parameters θ, with all that is needed to find it in a fit and in a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Atom {
    pub(super) kind: AtomKind,
    /// 0-based component.
    pub(super) component: usize,
    pub(super) i: usize,
    pub(super) j: usize,
    /// Where the parameters of its copy begin in the flat vector.
    pub(super) offset: usize,
    /// Dimension of its block.
    pub(super) dim: usize,
    /// Its place in the values of a draw.
    pub(super) slot: usize,
}

/// Numbers that one copy of a block has in a draw: `π`; `μ` and `Σ`; `β`; `τ`.
pub(super) fn draw_len(block: &Block) -> usize {
    match block.family {
        Family::Dirichlet | Family::MvNormal => block.dim,
        Family::NormalWishart => block.dim + crate::linalg::packed_len(block.dim),
        Family::Gamma => 1,
    }
}

/// Where each block's values begin in a draw, and the length of a draw at the end.
pub(super) fn draw_offsets(layout: &Layout) -> Vec<usize> {
    let mut at = 0;
    let mut offsets = vec![0];
    for block in &layout.blocks {
        at += block.copies * draw_len(block);
        offsets.push(at);
    }
    offsets
}

/// The element `(component, i, j)` of a block; `i` and `j` are ignored where the family has none.
pub(super) fn atom(
    layout: &Layout,
    block: &Block,
    kind: AtomKind,
    component: usize,
    i: usize,
    j: usize,
) -> Atom {
    let number = layout.blocks.iter().position(|b| b.name == block.name).unwrap_or(0);
    let start = draw_offsets(layout)[number];
    let (i, j) = (i.max(j), i.min(j));
    let copy = if kind == AtomKind::Weight { 0 } else { component };
    let within = match kind {
        AtomKind::Weight => component,
        AtomKind::Mean | AtomKind::Coefficient => i,
        AtomKind::Covariance => block.dim + crate::linalg::packed_index(i, j),
        AtomKind::Precision => 0,
    };
    Atom {
        kind,
        component,
        i,
        j,
        offset: block.offset + copy * block.family.parameters(block.dim),
        dim: block.dim,
        slot: start + copy * draw_len(block) + within,
    }
}
