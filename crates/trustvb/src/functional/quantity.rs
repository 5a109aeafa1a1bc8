//! The quantities that users can name, and the elements of a posterior that they stand for.
//!
//! A model lists its quantities in its own folder, each as an [`Entry`] of a family and the [`Place`] of its blocks;
//! everything that is done with them is here and knows families only.

use super::advice::quote;
use crate::linalg::{packed_index, packed_len};
use crate::model::quantities;
use crate::posterior::{Block, Family, Layout, Role, Sharing};

/// What one index of a quantity runs over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    Component,
    Coordinate,
    Level,
}

impl Axis {
    /// What users call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Axis::Component => "component",
            Axis::Coordinate => "coordinate",
            Axis::Level => "level",
        }
    }
}

/// What a quantity is of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// `π_k`, of the Dirichlet of all components.
    Weight,
    /// `p_kl`, of a Dirichlet for each component.
    Probability,
    /// `μ_k,i` of a Normal–Wishart.
    Mean,
    /// `Σ_k,ij` of a Normal–Wishart.
    Covariance,
    /// `√Σ_k,ii`.
    Deviation,
    /// `Σ_k,ij / √(Σ_k,ii Σ_k,jj)`.
    Correlation,
    /// `β_k,i` of a Normal.
    Coefficient,
    /// A Gamma variable.
    Positive,
}

impl Entry {
    fn family(self) -> Family {
        match self {
            Entry::Weight | Entry::Probability => Family::Dirichlet,
            Entry::Mean | Entry::Covariance | Entry::Deviation | Entry::Correlation => {
                Family::NormalWishart
            }
            Entry::Coefficient => Family::MvNormal,
            Entry::Positive => Family::Gamma,
        }
    }
}

/// Where a quantity's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the block of this name.
    Block(&'static str),
    /// In the blocks of single coordinates, as many as are of the family.
    Coordinates,
    /// In those of them that have part in the block of this name: `name.column`.
    CoordinatesOf(&'static str),
}

/// Which values are reported when nothing is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reported {
    /// All of them.
    All,
    /// All but the first of two levels, which says the same as the second.
    FreeLevels,
    /// None.
    Nothing,
}

/// A name that users can write.
#[derive(Debug, PartialEq)]
pub(crate) struct Quantity {
    pub(crate) name: &'static str,
    /// What it is, in a word or two: `weight`, `mean`.
    pub(crate) words: &'static str,
    pub(crate) entry: Entry,
    pub(crate) place: Place,
    pub(crate) reported: Reported,
}

impl Quantity {
    /// What its indices run over.
    pub(crate) fn axes(&self) -> &'static [Axis] {
        use Axis::{Component, Coordinate, Level};
        match (self.entry, self.place) {
            (Entry::Weight, _) | (Entry::Positive, Place::Block(_)) => &[Component],
            (Entry::Probability, _) => &[Component, Coordinate, Level],
            (Entry::Covariance | Entry::Correlation, _) => &[Component, Coordinate, Coordinate],
            _ => &[Component, Coordinate],
        }
    }

    /// Whether a block holds its values.
    fn holds(&self, block: &Block) -> bool {
        block.family == self.entry.family()
            && (block.role == Role::Weights) == (self.entry == Entry::Weight)
            && match self.place {
                Place::Block(name) => block.name == name,
                Place::Coordinates => block.coordinate.is_some(),
                Place::CoordinatesOf(name) => {
                    let part = block.name.strip_prefix(name);
                    block.coordinate.is_some() && part.is_some_and(|rest| rest.starts_with('.'))
                }
            }
    }

    /// Whether this posterior has it.
    pub(super) fn is_in(&self, layout: &Layout) -> bool {
        layout.blocks.iter().any(|b| self.holds(b))
    }

    /// The block with the values at these indices, of which a coordinate's place is the second.
    pub(super) fn block<'a>(&self, layout: &'a Layout, index: &[usize]) -> Option<&'a Block> {
        let mut blocks = layout.blocks.iter().filter(|b| self.holds(b));
        match self.place {
            Place::Block(_) => blocks.next(),
            Place::Coordinates | Place::CoordinatesOf(_) => {
                blocks.find(|b| b.coordinate == index.get(1).copied())
            }
        }
    }

    /// The values, 0-based, that the index after `index` can have.
    pub(super) fn extent(&self, layout: &Layout, index: &[usize]) -> Vec<usize> {
        match (self.axes().get(index.len()), self.place) {
            (Some(Axis::Component), _) => (0..layout.n_components).collect(),
            (Some(Axis::Coordinate), Place::Coordinates | Place::CoordinatesOf(_)) => {
                let own = layout.blocks.iter().filter(|b| self.holds(b));
                own.filter_map(|b| b.coordinate).collect()
            }
            (Some(Axis::Coordinate | Axis::Level), _) => {
                (0..self.block(layout, index).map_or(0, |b| b.dim)).collect()
            }
            (None, _) => Vec::new(),
        }
    }

    /// All indices of the values that are reported when nothing is asked.
    pub(super) fn reported(&self, layout: &Layout) -> Vec<Vec<usize>> {
        if self.reported == Reported::Nothing {
            return Vec::new();
        }
        let mut all = vec![Vec::new()];
        for axis in self.axes() {
            let mut longer = Vec::new();
            for index in &all {
                let mut values = self.extent(layout, index);
                if *axis == Axis::Level
                    && self.reported == Reported::FreeLevels
                    && values.len() == 2
                {
                    values.remove(0);
                }
                longer.extend(values.into_iter().map(|x| [index.as_slice(), &[x]].concat()));
            }
            all = longer;
        }
        all
    }
}

impl Quantity {
    /// The values' names along each index of a place: `2`, `smoker`, `yes`. Only what needs a name has one, where
    /// columns are of different kinds.
    pub(super) fn written(&self, layout: &Layout, place: &[usize]) -> String {
        let number = |x: usize| (x + 1).to_string();
        let indices: Vec<String> = match self.place {
            Place::Block(_) => place.iter().map(|&x| number(x)).collect(),
            Place::Coordinates | Place::CoordinatesOf(_) => {
                (0..place.len()).map(|at| self.index_name(layout, place, at)).collect()
            }
        };
        format!("{}[{}]", self.name, indices.join(","))
    }

    /// How index `at` of a place is typed, by name where there is one.
    pub(super) fn index_name(&self, layout: &Layout, place: &[usize], at: usize) -> String {
        let x = place[at];
        let names = match self.axes().get(at) {
            Some(Axis::Coordinate) => &layout.coordinates[..],
            Some(Axis::Level) => self.block(layout, place).map_or(&[][..], |b| &b.levels),
            _ => &[],
        };
        match names.get(x) {
            // A level that is a number is typed as it is.
            Some(name) if self.axes()[at] == Axis::Level && is_number(name) => name.clone(),
            Some(name) => quote(name),
            None => (x + 1).to_string(),
        }
    }
}

/// Whether a level's name is a number that can be typed as an index.
pub(super) fn is_number(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_digit()) && name.parse::<f64>().is_ok()
}

/// The quantities that a posterior has.
pub(super) fn quantities_in(layout: &Layout) -> impl Iterator<Item = &'static Quantity> {
    quantities().filter(|q| q.is_in(layout))
}

/// The names that exist in a posterior.
pub(super) fn names(layout: &Layout) -> Vec<&'static str> {
    quantities_in(layout).map(|q| q.name).collect()
}

/// The kinds of element that functionals are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AtomKind {
    /// An entry of a Dirichlet: `π_k`, or the probability of a level.
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
    /// 0-based component; 0 for weights, which are of all.
    pub(super) component: usize,
    /// Its place within its copy: an entry of a Dirichlet, a coordinate of a block, a row of a matrix.
    pub(super) i: usize,
    pub(super) j: usize,
    /// The coordinate that its block's first entry belongs to.
    pub(super) first: usize,
    /// Where the parameters of its copy begin in the flat vector.
    pub(super) offset: usize,
    /// Dimension of its block.
    pub(super) dim: usize,
    /// Its place in the values of a draw.
    pub(super) slot: usize,
}

impl Atom {
    /// The coordinate of its row.
    pub(super) fn row(&self) -> usize {
        self.first + self.i
    }

    /// The coordinate of its column.
    pub(super) fn column(&self) -> usize {
        self.first + self.j
    }
}

/// Numbers that one copy of a block has in a draw: `π`; `μ` and `Σ`; `β`; `τ`.
pub(super) fn draw_len(block: &Block) -> usize {
    match block.family {
        Family::Dirichlet | Family::MvNormal => block.dim,
        Family::NormalWishart => block.dim + packed_len(block.dim),
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

/// The element `(component, i, j)` of a block; `i` and `j` are ignored where the family has none. The weights have one
/// copy, whose entries are the components.
pub(super) fn atom(
    layout: &Layout,
    block: &Block,
    kind: AtomKind,
    component: usize,
    i: usize,
    j: usize,
) -> Atom {
    // What several have in common is one element.
    let (block, component) = match (kind, block.sharing) {
        (AtomKind::Covariance, Sharing::Components) => (block, 0),
        (AtomKind::Covariance, Sharing::Coordinates) => {
            let first = layout.blocks.iter().find(|b| b.sharing == Sharing::Coordinates);
            (first.unwrap_or(block), component)
        }
        _ => (block, component),
    };
    let number = layout.blocks.iter().position(|b| b.name == block.name).unwrap_or(0);
    let start = draw_offsets(layout)[number];
    let (i, j) = (i.max(j), i.min(j));
    let (component, i) = if block.role == Role::Weights { (0, component) } else { (component, i) };
    let within = match kind {
        AtomKind::Weight | AtomKind::Mean | AtomKind::Coefficient => i,
        AtomKind::Covariance => block.dim + packed_index(i, j),
        AtomKind::Precision => 0,
    };
    Atom {
        kind,
        component,
        i,
        j,
        first: block.coordinate.unwrap_or(0),
        offset: block.offset + component * block.family.parameters(block.dim),
        dim: block.dim,
        slot: start + component * draw_len(block) + within,
    }
}
