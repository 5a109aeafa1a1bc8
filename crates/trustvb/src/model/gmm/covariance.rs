//! What the covariances of a Gaussian mixture may be.

use super::spec::BLOCK;
use crate::posterior::{Block, Family, Sharing};
use serde::{Deserialize, Serialize};

/// The shape of the components' covariances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Covariance {
    /// Each component has a matrix of its own.
    #[default]
    Full,
    /// All components have the same matrix.
    Tied,
    /// Columns are independent within a component, each with a variance of its own.
    Diagonal,
    /// As diagonal, with one variance for all columns. It depends on the columns' units.
    Spherical,
}

impl Covariance {
    /// All of them, the richest first.
    pub const ALL: [Covariance; 4] =
        [Covariance::Full, Covariance::Tied, Covariance::Diagonal, Covariance::Spherical];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Covariance::Full => "full",
            Covariance::Tied => "tied",
            Covariance::Diagonal => "diagonal",
            Covariance::Spherical => "spherical",
        }
    }

    /// The shape of this name.
    pub fn named(name: &str) -> Option<Covariance> {
        Covariance::ALL.into_iter().find(|shape| shape.name() == name)
    }

    /// In words: `full covariances`.
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Covariance::Full => "full covariances",
            Covariance::Tied => "one covariance for all",
            Covariance::Diagonal => "diagonal covariances",
            Covariance::Spherical => "spherical covariances",
        }
    }

    /// Whether it is the usual one, which files leave out.
    pub(super) fn is_full(&self) -> bool {
        *self == Covariance::Full
    }

    /// Numbers that are free in `k` covariances of `p` columns.
    pub(super) fn free(self, k: usize, p: usize) -> usize {
        match self {
            Covariance::Full => k * p * (p + 1) / 2,
            Covariance::Tied => p * (p + 1) / 2,
            Covariance::Diagonal => k * p,
            Covariance::Spherical => k,
        }
    }

    /// The blocks for `k` components of these columns.
    ///
    /// Where columns are independent each has a block of its own, a Normal–Wishart of dimension 1: so its laws are those
    /// of any other mixture of columns.
    pub(super) fn blocks(self, k: usize, columns: &[String]) -> Vec<Block> {
        let mut blocks = vec![Block::weights("pi", k)];
        let whole = || Block::centre(BLOCK, Family::NormalWishart, k, columns.len());
        let of_column = |sharing: Sharing| {
            columns.iter().enumerate().map(move |(j, name)| {
                Block::centre(&block_of(name), Family::NormalWishart, k, 1)
                    .of_coordinate(j)
                    .sharing(sharing)
            })
        };
        match self {
            Covariance::Full => blocks.push(whole()),
            Covariance::Tied => blocks.push(whole().sharing(Sharing::Components)),
            Covariance::Diagonal => blocks.extend(of_column(Sharing::Nothing)),
            Covariance::Spherical => blocks.extend(of_column(Sharing::Coordinates)),
        }
        blocks
    }
}

/// The block of one column.
pub(super) fn block_of(column: &str) -> String {
    format!("{BLOCK}.{column}")
}

impl std::fmt::Display for Covariance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
