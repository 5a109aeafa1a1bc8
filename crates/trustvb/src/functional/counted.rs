//! What in a functional is estimated by counting units: entries of Dirichlets, and Gamma variables.

use super::Part;
use super::quantity::AtomKind;
use crate::posterior::{Family, Layout};

/// A sum of entries of a Dirichlet, or a Gamma variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Counted {
    /// Where the parameters of its copy begin in the flat vector.
    pub(crate) offset: usize,
    /// Which entries of the Dirichlet are in it; empty for a Gamma variable.
    pub(crate) inside: Vec<bool>,
}

impl Counted {
    fn entry(offset: usize, dim: usize, at: usize) -> Counted {
        Counted { offset, inside: (0..dim).map(|i| i == at).collect() }
    }

    fn rate(offset: usize) -> Counted {
        Counted { offset, inside: Vec::new() }
    }

    /// Whether it is a share of something, and not a rate.
    pub(crate) fn is_share(&self) -> bool {
        !self.inside.is_empty()
    }

    /// The single entries of its Dirichlet, in it or not; itself if it is a rate.
    pub(crate) fn entries(&self) -> Vec<Counted> {
        let dim = self.inside.len();
        match self.is_share() {
            true => (0..dim).map(|at| Counted::entry(self.offset, dim, at)).collect(),
            false => vec![self.clone()],
        }
    }
}

impl Part {
    /// All that it is made of and that units are counted for: one share or rate where its law is that of a monotone
    /// function of it, otherwise single entries, each once. Code may use everything.
    pub(crate) fn counted(&self, layout: &Layout) -> Vec<Counted> {
        if let Some(law) = self.exact() {
            return law.counted().into_iter().collect();
        }
        let mut all = Vec::new();
        match self.expression() {
            Some(node) => node.atoms(&mut |atom| match atom.kind {
                AtomKind::Weight => all.push(Counted::entry(atom.offset, atom.dim, atom.i)),
                AtomKind::Precision => all.push(Counted::rate(atom.offset)),
                AtomKind::Mean | AtomKind::Covariance | AtomKind::Coefficient => {}
            }),
            None => {
                for block in &layout.blocks {
                    let size = block.family.parameters(block.dim);
                    for offset in (0..block.copies).map(|copy| block.offset + copy * size) {
                        match block.family {
                            Family::Dirichlet => all.extend(
                                (0..block.dim).map(|at| Counted::entry(offset, block.dim, at)),
                            ),
                            Family::Gamma => all.push(Counted::rate(offset)),
                            Family::NormalWishart | Family::MvNormal => {}
                        }
                    }
                }
            }
        }
        all.sort();
        all.dedup();
        all
    }
}
