//! A variational posterior: a product of named blocks of standard families.
//!
//! A model says which blocks it has ([`Layout`]) and how a sweep updates them; means, marginals,
//! divergences, draws and storage are written once per family, here. A [`Posterior`] is a layout
//! and one flat vector of parameters, in the data's own units, which is also a row of a table.

mod dirichlet;
mod distance;
mod gamma;
mod marginal;
mod mv_normal;
mod normal_wishart;
mod sampler;

#[cfg(test)]
mod tests;

pub use dirichlet::Dirichlet;
pub(crate) use dirichlet::SymmetricDirichlet;
pub use gamma::Gamma;
pub use marginal::Marginal;
pub use mv_normal::MvNormal;
pub use normal_wishart::{NormalWishart, NormalWishartDraw};
pub(crate) use normal_wishart::{NormalWishartKl, multi_digamma};
pub(crate) use sampler::Sampler;

use crate::linalg::{packed_index, packed_len};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The families a block can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Weights on the simplex; one copy of dimension K.
    Dirichlet,
    /// A mean and a precision matrix per component.
    NormalWishart,
    /// A vector per component.
    MvNormal,
    /// A positive number per component.
    Gamma,
}

impl Family {
    /// Numbers that describe one copy of dimension `dim`.
    pub fn parameters(self, dim: usize) -> usize {
        match self {
            Family::Dirichlet => dim,
            Family::NormalWishart => 2 + dim + packed_len(dim),
            Family::MvNormal => dim + packed_len(dim),
            Family::Gamma => 2,
        }
    }
}

/// What a block is to the components of a mixture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// The weights of the components: a Dirichlet with an entry for each.
    Weights,
    /// A copy for each component, whose means are (part of) its centre: by these components are told apart.
    Centre,
    /// A copy for each component that says nothing of which it is.
    Component,
    /// Of no component.
    #[default]
    Shared,
}

/// Whose precision a Normal–Wishart is about. What is shared is stored with every copy, so that each has its whole law;
/// only joint laws and draws ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// Its own.
    #[default]
    Nothing,
    /// One that all copies of the block have: components of one covariance.
    Components,
    /// One that a component has in all blocks of this kind: coordinates of one variance.
    Coordinates,
}

impl Sharing {
    fn is_nothing(&self) -> bool {
        *self == Sharing::Nothing
    }
}

/// One named block: `copies` members of a family, independent but for what they share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Its name, as in JSON output: `pi`, `mu_lambda`, `beta`, `tau`, `noise`.
    pub name: String,
    /// Its family.
    pub family: Family,
    /// 1 for the weights, otherwise one per component.
    pub copies: usize,
    /// Dimension of one copy.
    pub dim: usize,
    /// Where its parameters begin in the flat vector.
    pub offset: usize,
    /// What it is to the components; files do not say it, because the model does.
    #[serde(skip)]
    pub role: Role,
    /// The coordinate that it belongs to, 0-based, when it belongs to one and not to all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coordinate: Option<usize>,
    /// The names of its entries, when they have any: levels of a category.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<String>,
    /// What its copies have in common, with one another or with those of other blocks.
    #[serde(default, skip_serializing_if = "Sharing::is_nothing")]
    pub sharing: Sharing,
}

impl Block {
    fn new(name: &str, family: Family, copies: usize, dim: usize, role: Role) -> Block {
        let name = name.to_owned();
        let (coordinate, levels, sharing) = (None, Vec::new(), Sharing::Nothing);
        Block { name, family, copies, dim, offset: 0, role, coordinate, levels, sharing }
    }

    /// The weights of `k` components.
    pub fn weights(name: &str, k: usize) -> Block {
        Block::new(name, Family::Dirichlet, 1, k, Role::Weights)
    }

    /// A member of a family for each of `k` components, whose mean is (part of) the component's centre.
    pub fn centre(name: &str, family: Family, k: usize, dim: usize) -> Block {
        Block::new(name, family, k, dim, Role::Centre)
    }

    /// A member of a family for each of `k` components.
    pub fn component(name: &str, family: Family, k: usize, dim: usize) -> Block {
        Block::new(name, family, k, dim, Role::Component)
    }

    /// The same for one coordinate, 0-based.
    pub fn of_coordinate(mut self, coordinate: usize) -> Block {
        self.coordinate = Some(coordinate);
        self
    }

    /// The same with names for its entries.
    pub fn with_levels(mut self, levels: Vec<String>) -> Block {
        self.levels = levels;
        self
    }

    /// The same with a precision in common.
    pub fn sharing(mut self, sharing: Sharing) -> Block {
        self.sharing = sharing;
        self
    }

    /// Numbers of its parameters; `None` when no memory could hold them.
    pub fn n_parameters(&self) -> Option<usize> {
        // The square of such a dimension cannot overflow.
        let size = (self.dim < 1 << 24).then(|| self.family.parameters(self.dim))?;
        self.copies.checked_mul(size)
    }
}

/// Which blocks a posterior has, and the names of the coordinates that users index by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// The blocks, in storage order.
    pub blocks: Vec<Block>,
    /// Names of the columns (gmm) or coefficients (bmlr).
    pub coordinates: Vec<String>,
    /// Number of components.
    pub n_components: usize,
}

impl Layout {
    /// A layout of blocks in storage order; their offsets are set here.
    pub fn new(n_components: usize, coordinates: Vec<String>, mut blocks: Vec<Block>) -> Layout {
        let mut offset = 0;
        for block in &mut blocks {
            block.offset = offset;
            offset += block.copies * block.family.parameters(block.dim);
        }
        Layout { blocks, coordinates, n_components }
    }

    /// Whether the two have the same parameters, whatever roles are known.
    pub fn is_alike(&self, other: &Layout) -> bool {
        let shape = |b: &Block| Block { role: Role::default(), ..b.clone() };
        self.n_components == other.n_components
            && self.coordinates == other.coordinates
            && self.blocks.iter().map(shape).eq(other.blocks.iter().map(shape))
    }

    /// The block of the components' weights, if there is one.
    pub fn weights(&self) -> Option<&Block> {
        self.blocks.iter().find(|b| b.role == Role::Weights)
    }

    /// The blocks that tell components apart.
    pub fn centres(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(|b| b.role == Role::Centre)
    }

    /// Length of the flat parameter vector.
    pub fn len(&self) -> usize {
        self.blocks.iter().map(|b| b.copies * b.family.parameters(b.dim)).sum()
    }

    /// Whether there is no block at all.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The block of that name.
    pub fn block(&self, name: &str) -> Option<&Block> {
        self.blocks.iter().find(|b| b.name == name)
    }

    /// Names of the flat parameters, for the columns of a table: `pi.alpha[1]`, `mu_lambda.m[2,1]`.
    pub fn parameter_names(&self) -> Vec<String> {
        let mut names = Vec::with_capacity(self.len());
        let triangle = |name: &str, what: &str, k: usize, p: usize, names: &mut Vec<String>| {
            for i in 1..=p {
                for j in 1..=i {
                    names.push(format!("{name}.{what}[{k},{i},{j}]"));
                }
            }
        };
        for block in &self.blocks {
            let (name, p) = (block.name.as_str(), block.dim);
            for k in 1..=block.copies {
                match block.family {
                    Family::Dirichlet if block.role == Role::Weights => {
                        names.extend((1..=p).map(|j| format!("{name}.alpha[{j}]")));
                    }
                    Family::Dirichlet => {
                        names.extend((1..=p).map(|j| format!("{name}.alpha[{k},{j}]")));
                    }
                    Family::NormalWishart => {
                        names.push(format!("{name}.beta[{k}]"));
                        names.push(format!("{name}.nu[{k}]"));
                        names.extend((1..=p).map(|j| format!("{name}.m[{k},{j}]")));
                        triangle(name, "W_inverse", k, p, &mut names);
                    }
                    Family::MvNormal => {
                        names.extend((1..=p).map(|j| format!("{name}.m[{k},{j}]")));
                        triangle(name, "S", k, p, &mut names);
                    }
                    Family::Gamma => {
                        names.push(format!("{name}.a[{k}]"));
                        names.push(format!("{name}.b[{k}]"));
                    }
                }
            }
        }
        names
    }

    /// Parameters at ω between two neighbours `(ω, parameters)` of a grid: linear in 1/ω for Normal
    /// blocks, whose covariance shrinks like 1/ω, and in ω for the others, whose counts and
    /// scatter grow like it.
    pub fn interpolate(&self, omega: f64, low: (f64, &[f64]), high: (f64, &[f64])) -> Vec<f64> {
        let mut out = vec![0.0; self.len()];
        for block in &self.blocks {
            let along = |w: f64| if block.family == Family::MvNormal { 1.0 / w } else { w };
            let share = (along(omega) - along(low.0)) / (along(high.0) - along(low.0));
            let size = block.copies * block.family.parameters(block.dim);
            for i in block.offset..block.offset + size {
                out[i] = low.1[i] + share * (high.1[i] - low.1[i]);
            }
        }
        out
    }

    /// Copies `from` to `to` with components reordered: new component `k` is old `order[k]`. Blocks of no component
    /// stay as they are.
    pub fn permute(&self, order: &[usize], from: &[f64], to: &mut [f64]) {
        for block in &self.blocks {
            let size = match block.role {
                Role::Weights => 1,
                Role::Centre | Role::Component => block.family.parameters(block.dim),
                Role::Shared => {
                    let all = block.offset
                        ..block.offset + block.copies * block.family.parameters(block.dim);
                    to[all.clone()].copy_from_slice(&from[all]);
                    continue;
                }
            };
            for (k, &old) in order.iter().enumerate() {
                let (new_at, old_at) = (block.offset + k * size, block.offset + old * size);
                to[new_at..new_at + size].copy_from_slice(&from[old_at..old_at + size]);
            }
        }
    }
}

/// A fitted variational posterior.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    layout: Arc<Layout>,
    parameters: Vec<f64>,
}

impl Posterior {
    /// A posterior from its flat parameters, whose number must be that of the layout.
    pub fn new(layout: Arc<Layout>, parameters: Vec<f64>) -> Posterior {
        assert_eq!(layout.len(), parameters.len(), "parameters must fill the layout");
        Posterior { layout, parameters }
    }

    /// Which blocks it has.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// The flat parameters, in the order of [`Layout::parameter_names`].
    pub fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    pub(crate) fn parameters_mut(&mut self) -> &mut [f64] {
        &mut self.parameters
    }

    fn slice(&self, name: &str, family: Family, copy: usize) -> Option<(usize, &[f64])> {
        let block = self.layout.block(name).filter(|b| b.family == family && copy < b.copies)?;
        let size = family.parameters(block.dim);
        let at = block.offset + copy * size;
        Some((block.dim, &self.parameters[at..at + size]))
    }

    /// The Dirichlet block of that name: the weights, or its first copy.
    pub fn dirichlet(&self, name: &str) -> Option<Dirichlet<'_>> {
        self.dirichlet_of(name, 0)
    }

    /// Component `k` (0-based) of the Dirichlet block of that name.
    pub fn dirichlet_of(&self, name: &str, k: usize) -> Option<Dirichlet<'_>> {
        self.slice(name, Family::Dirichlet, k).map(|(_, alpha)| Dirichlet::new(alpha))
    }

    /// Component `k` (0-based) of the Normal–Wishart block of that name.
    pub fn normal_wishart(&self, name: &str, k: usize) -> Option<NormalWishart<'_>> {
        self.slice(name, Family::NormalWishart, k).map(|(p, x)| NormalWishart::new(p, x))
    }

    /// Component `k` (0-based) of the multivariate Normal block of that name.
    pub fn mv_normal(&self, name: &str, k: usize) -> Option<MvNormal<'_>> {
        self.slice(name, Family::MvNormal, k).map(|(p, x)| MvNormal::new(p, x))
    }

    /// Component `k` (0-based) of the Gamma block of that name.
    pub fn gamma(&self, name: &str, k: usize) -> Option<Gamma> {
        self.slice(name, Family::Gamma, k).map(|(_, x)| Gamma::new(x[0], x[1]))
    }

    /// The law of the components' weights, where the model has any.
    pub fn mixing(&self) -> Option<Dirichlet<'_>> {
        self.layout.weights().and_then(|block| self.dirichlet(&block.name))
    }

    /// Posterior mean weights; none where the model has none.
    pub fn weights(&self) -> Vec<f64> {
        self.mixing().map_or_else(Vec::new, |d| d.mean())
    }

    /// The centres of all components, one after the other: the means of the blocks that tell them apart.
    pub fn centres(&self) -> Vec<f64> {
        let mut centres = Vec::new();
        for k in 0..self.layout.n_components {
            for block in self.layout.centres() {
                let name = block.name.as_str();
                match block.family {
                    Family::Dirichlet => {
                        centres.extend(self.dirichlet_of(name, k).iter().flat_map(|b| b.mean()));
                    }
                    Family::NormalWishart => {
                        let block = self.normal_wishart(name, k);
                        centres.extend(block.iter().flat_map(|b| b.mean()));
                    }
                    Family::MvNormal => {
                        centres.extend(self.mv_normal(name, k).iter().flat_map(|b| b.mean()));
                    }
                    Family::Gamma => centres.extend(self.gamma(name, k).map(|b| b.mean())),
                }
            }
        }
        centres
    }

    /// Posterior mean of the mean and covariance (packed) of a component all of whose columns are Gaussian: in one block, or
    /// in a block for each. `None` for other models, and where a covariance has no mean.
    pub fn gaussian(&self, k: usize) -> Option<(Vec<f64>, Vec<f64>)> {
        let p = self.layout.coordinates.len();
        let (mut mean, mut covariance) = (vec![0.0; p], vec![0.0; packed_len(p)]);
        let mut found = 0;
        for block in self.layout.centres() {
            let law = self.normal_wishart(&block.name, k)?;
            let own = law.mean_covariance()?;
            match block.coordinate {
                None if block.dim == p => return Some((law.mean().to_vec(), own)),
                None => return None,
                Some(j) => {
                    mean[j] = law.mean()[0];
                    covariance[packed_index(j, j)] = own[0];
                    found += 1;
                }
            }
        }
        (found == p && p > 0).then_some((mean, covariance))
    }

    /// The component numbers sorted by decreasing weight, ties by their order; as they are where there are no weights.
    pub fn order_by_weight(&self) -> Vec<usize> {
        let weights = self.weights();
        let mut order: Vec<usize> = (0..self.layout.n_components).collect();
        if weights.len() == order.len() {
            order.sort_by(|&i, &j| weights[j].total_cmp(&weights[i]));
        }
        order
    }

    /// The same posterior with new component `k` = old component `order[k]`.
    pub fn permuted(&self, order: &[usize]) -> Posterior {
        let mut parameters = self.parameters.clone();
        self.layout.permute(order, &self.parameters, &mut parameters);
        Posterior { layout: self.layout.clone(), parameters }
    }
}
