//! A model as its settings, apart from the data: what a manifest records and a command line says.

use super::bmlr::IS_STATISTICS;
use super::{Bmlr, BmlrPrior, Gmm, GmmPrior, GroupStatistics, Model, ModelError, Noise, Update};
use crate::data::{Dataset, Grouped};
#[cfg(feature = "parquet")]
use crate::posterior::{Family, Layout};
use serde::{Deserialize, Serialize};

/// Blocks of a layout: name, family, copies, dimension.
#[cfg(feature = "parquet")]
type Blocks = Vec<(&'static str, Family, usize, usize)>;

/// Which model, with all its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "lowercase")]
pub enum ModelSpec {
    /// A Gaussian mixture.
    Gmm {
        /// Number of components.
        n_components: usize,
        /// Its prior.
        prior: GmmPrior,
        /// Which form of (M4).
        update: Update,
    },
    /// A mixture of linear regressions.
    Bmlr {
        /// Number of components.
        n_components: usize,
        /// Its prior.
        prior: BmlrPrior,
        /// What is known of the noise.
        noise: Noise,
        /// The formula that made the design, for the record.
        formula: String,
    },
}

/// Data of the kind a model takes.
#[derive(Clone, Debug)]
pub enum ModelData {
    /// Rows, for a Gaussian mixture.
    Rows(Dataset),
    /// Groups of rows with a response, for a mixture of regressions.
    Groups(Grouped),
    /// Sums over groups of rows that were never held whole, for a mixture of regressions.
    Statistics(GroupStatistics),
}

impl ModelSpec {
    /// Its short name.
    pub fn name(&self) -> &'static str {
        match self {
            ModelSpec::Gmm { .. } => "gmm",
            ModelSpec::Bmlr { .. } => "bmlr",
        }
    }

    /// Number of components.
    pub fn n_components(&self) -> usize {
        match self {
            ModelSpec::Gmm { n_components, .. } | ModelSpec::Bmlr { n_components, .. } => {
                *n_components
            }
        }
    }

    /// Families, copies and dimension of its blocks for data of these variables, and the names of its coordinates;
    /// `None` when such data cannot be its.
    #[cfg(feature = "parquet")]
    fn blocks<'a>(&self, variables: &'a [String]) -> Option<(Blocks, &'a [String])> {
        let k = self.n_components();
        let weights = ("pi", Family::Dirichlet, 1, k);
        match (self, variables) {
            (ModelSpec::Gmm { .. }, columns) => {
                let means = ("mu_lambda", Family::NormalWishart, k, columns.len());
                Some((vec![weights, means], columns))
            }
            (ModelSpec::Bmlr { noise, .. }, [_, design @ .., group]) if group == GROUP => {
                let mut blocks = vec![
                    weights,
                    ("beta", Family::MvNormal, k, design.len()),
                    ("tau", Family::Gamma, k, 1),
                ];
                if *noise == Noise::Estimate {
                    blocks.push(("noise", Family::Gamma, k, 1));
                }
                Some((blocks, design))
            }
            _ => None,
        }
    }

    /// The layout of its posterior for data of these [`ModelData::variables`].
    #[cfg(feature = "parquet")]
    pub(crate) fn layout(&self, variables: &[String]) -> Option<Layout> {
        let (blocks, coordinates) = self.blocks(variables)?;
        Some(Layout::new(self.n_components(), coordinates.to_vec(), &blocks))
    }

    /// Length of that layout, computed without making it; `None` also when no memory could hold it.
    #[cfg(feature = "parquet")]
    pub(crate) fn n_parameters(&self, variables: &[String]) -> Option<usize> {
        let (blocks, _) = self.blocks(variables)?;
        let size = |dim: usize, family: Family| {
            (dim < 1 << 24).then(|| family.parameters(dim)) // its square cannot overflow
        };
        blocks.into_iter().try_fold(0usize, |sum, (_, family, copies, dim)| {
            sum.checked_add(copies.checked_mul(size(dim, family)?)?)
        })
    }

    /// The model on its data.
    pub fn build(&self, data: &ModelData) -> Result<Box<dyn Model>, ModelError> {
        match (self, data) {
            (ModelSpec::Gmm { n_components, prior, update }, ModelData::Rows(data)) => {
                Ok(Box::new(Gmm::new(data, *n_components, prior.clone(), *update)?))
            }
            (ModelSpec::Bmlr { n_components, prior, noise, .. }, ModelData::Groups(data)) => {
                Ok(Box::new(Bmlr::new(data, *n_components, prior.clone(), *noise)?))
            }
            (ModelSpec::Bmlr { n_components, prior, noise, .. }, ModelData::Statistics(data)) => {
                Ok(Box::new(Bmlr::from_statistics(data, *n_components, prior.clone(), *noise)?))
            }
            _ => Err(ModelError::WrongData(self.name())),
        }
    }
}

impl ModelData {
    /// Names of the variables that the model uses: the response first where there is one, and
    /// `(group)` last where there are groups.
    pub fn variables(&self) -> Vec<String> {
        let grouped = |response: &str, design: &[String]| {
            let mut names = vec![response.to_owned()];
            names.extend(design.iter().cloned());
            names.push(GROUP.to_owned());
            names
        };
        match self {
            ModelData::Rows(data) => data.names().to_vec(),
            ModelData::Groups(data) => grouped(data.response_name(), data.design_names()),
            ModelData::Statistics(data) => grouped(data.response_name(), data.design_names()),
        }
    }

    /// Names of all columns: those of [`variables`](Self::variables), or of the statistics.
    pub fn column_names(&self) -> Vec<String> {
        match self {
            ModelData::Rows(_) | ModelData::Groups(_) => self.variables(),
            ModelData::Statistics(data) => {
                data.to_columns().into_iter().map(|(name, _)| name).collect()
            }
        }
    }

    /// All columns as numbers, in the order of [`ModelData::column_names`]; groups by number.
    pub fn columns(&self) -> Vec<Vec<f64>> {
        match self {
            ModelData::Rows(data) => {
                (0..data.n_columns()).map(|j| data.column(j).to_vec()).collect()
            }
            ModelData::Groups(data) => {
                let mut columns = vec![data.response().to_vec()];
                columns.extend((0..data.n_columns()).map(|j| data.design_column(j).to_vec()));
                columns.push(data.groups().iter().map(|&g| g as f64).collect());
                columns
            }
            ModelData::Statistics(data) => {
                data.to_columns().into_iter().map(|(_, values)| values).collect()
            }
        }
    }

    /// The inverse of [`ModelData::columns`], for a given kind of model.
    pub fn from_dataset(spec: &ModelSpec, data: Dataset) -> Result<ModelData, ModelError> {
        if let ModelSpec::Gmm { .. } = spec {
            return Ok(ModelData::Rows(data));
        }
        if data.names()[0] == IS_STATISTICS {
            return GroupStatistics::from_dataset(&data)
                .map(ModelData::Statistics)
                .ok_or(ModelError::WrongData(spec.name()));
        }
        let p = data.n_columns();
        if p < 3 || data.names()[p - 1] != GROUP {
            return Err(ModelError::WrongData(spec.name()));
        }
        let labels: Vec<String> = data.column(p - 1).iter().map(f64::to_string).collect();
        let grouped = Grouped::from_columns(
            data.names()[0].clone(),
            data.column(0).to_vec(),
            data.names()[1..p - 1].to_vec(),
            (1..p - 1).map(|j| data.column(j).to_vec()).collect(),
            Some(&labels),
        )?;
        Ok(ModelData::Groups(grouped))
    }

    /// Number of units.
    pub fn n_units(&self) -> usize {
        match self {
            ModelData::Rows(data) => data.n_rows(),
            ModelData::Groups(data) => data.n_groups(),
            ModelData::Statistics(data) => data.n_groups(),
        }
    }
}

/// The column that holds the groups' numbers when grouped data are stored as a plain table.
const GROUP: &str = "(group)";
