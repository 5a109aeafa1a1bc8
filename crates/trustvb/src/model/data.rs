//! Data of the kinds that models take.

use super::{FarRows, GroupStatistics, MixedData, ModelError, ModelSpec};
use crate::data::{Dataset, Grouped};
use crate::weights::{UnitWeights, WeightError};

/// Data of a kind that a model takes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ModelData {
    /// Rows of numbers.
    Rows(Dataset),
    /// Groups of rows with a response.
    Groups(Grouped),
    /// Sums over groups of rows that were never held whole.
    Statistics(GroupStatistics),
    /// Rows of columns of different kinds, with missing cells.
    Mixed(MixedData),
    /// Rows of numbers that are not in memory.
    Far(FarRows),
}

impl From<FarRows> for ModelData {
    fn from(data: FarRows) -> ModelData {
        ModelData::Far(data)
    }
}

impl From<MixedData> for ModelData {
    fn from(data: MixedData) -> ModelData {
        ModelData::Mixed(data)
    }
}

impl From<Dataset> for ModelData {
    fn from(data: Dataset) -> ModelData {
        ModelData::Rows(data)
    }
}

impl From<Grouped> for ModelData {
    fn from(data: Grouped) -> ModelData {
        ModelData::Groups(data)
    }
}

impl From<GroupStatistics> for ModelData {
    fn from(data: GroupStatistics) -> ModelData {
        ModelData::Statistics(data)
    }
}

/// What can be said of one variable.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableInWords {
    /// Its name.
    pub name: String,
    /// Mean, standard deviation, least and largest value.
    pub summary: [f64; 4],
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
            ModelData::Mixed(data) => data.names().to_vec(),
            ModelData::Far(data) => data.summary().names.clone(),
            ModelData::Groups(data) => grouped(data.response_name(), data.design_names()),
            ModelData::Statistics(data) => grouped(data.response_name(), data.design_names()),
        }
    }

    /// Names of all columns: those of [`variables`](Self::variables), or of the statistics.
    pub fn column_names(&self) -> Vec<String> {
        match self {
            ModelData::Rows(_) | ModelData::Groups(_) | ModelData::Mixed(_) | ModelData::Far(_) => {
                self.variables()
            }
            ModelData::Statistics(data) => {
                data.to_columns().into_iter().map(|(name, _)| name).collect()
            }
        }
    }

    /// All columns as numbers, in the order of [`ModelData::column_names`]; groups by number. Of rows that are not in
    /// memory, columns of what is known of each: mean, standard deviation, least and largest value.
    pub fn columns(&self) -> Vec<Vec<f64>> {
        match self {
            ModelData::Rows(data) => {
                (0..data.n_columns()).map(|j| data.column(j).to_vec()).collect()
            }
            ModelData::Mixed(data) => data.columns().to_vec(),
            ModelData::Far(_) => {
                self.summaries().iter().map(|known| known.summary.to_vec()).collect()
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

    /// The inverse of [`ModelData::columns`], for a given model.
    pub fn from_dataset(spec: &ModelSpec, data: Dataset) -> Result<ModelData, ModelError> {
        spec.stored_data(data)
    }

    /// Number of rows: of groups, those of all of them.
    pub fn n_rows(&self) -> usize {
        match self {
            ModelData::Groups(data) => data.n_rows(),
            ModelData::Statistics(data) => data.n_rows(),
            ModelData::Rows(_) | ModelData::Mixed(_) | ModelData::Far(_) => self.n_units(),
        }
    }

    /// Number of units.
    pub fn n_units(&self) -> usize {
        match self {
            ModelData::Rows(data) => data.n_rows(),
            ModelData::Mixed(data) => data.n_rows(),
            ModelData::Far(data) => data.summary().n_rows,
            ModelData::Groups(data) => data.n_groups(),
            ModelData::Statistics(data) => data.n_groups(),
        }
    }

    /// The rows, where they are what the model looks at.
    pub fn rows(&self) -> Option<&Dataset> {
        match self {
            ModelData::Rows(data) => Some(data),
            _ => None,
        }
    }

    /// The group of each row, from 0 in order of first appearance, where rows are held and have groups.
    pub fn groups(&self) -> Option<&[usize]> {
        match self {
            ModelData::Groups(data) => Some(data.groups()),
            _ => None,
        }
    }

    /// For each row that is held, what its unit has.
    #[cfg(feature = "parquet")]
    pub(crate) fn of_rows(&self, of_units: &[f64]) -> Vec<f64> {
        match self.groups() {
            Some(groups) => groups.iter().map(|&g| of_units[g]).collect(),
            None => of_units.to_vec(),
        }
    }

    /// The inverse of `of_rows`: weights of units from those of rows, which must be alike in a unit.
    pub fn of_units(&self, of_rows: &[f64]) -> Result<Vec<f64>, WeightError> {
        match self.groups() {
            Some(groups) => UnitWeights::of_units(of_rows, groups, self.n_units()),
            None if of_rows.len() == self.n_units() => Ok(of_rows.to_vec()),
            None => Err(WeightError::Length { given: of_rows.len(), needed: self.n_units() }),
        }
    }

    /// Whether only sums over groups are held, and no rows.
    pub fn is_statistics(&self) -> bool {
        matches!(self, ModelData::Statistics(_))
    }

    /// Whether rows are not in memory, so that nothing can be kept or resampled of them.
    pub fn is_far(&self) -> bool {
        matches!(self, ModelData::Far(_))
    }

    /// Whether a file of its columns can be read as data again.
    pub fn is_a_file(&self) -> bool {
        matches!(self, ModelData::Rows(_) | ModelData::Statistics(_))
    }

    /// The columns as a user's file has them: groups first, numbered from 1. `None` where there are only sums.
    pub fn to_file(&self) -> Option<Dataset> {
        match self {
            ModelData::Rows(rows) => Some(rows.clone()),
            ModelData::Mixed(rows) => {
                Some(Dataset::with_gaps(rows.names().to_vec(), rows.columns().to_vec()))
            }
            ModelData::Groups(grouped) => {
                let mut names = vec!["group".to_owned(), "y".to_owned()];
                names.extend(grouped.design_names().iter().cloned());
                let mut columns = vec![
                    grouped.groups().iter().map(|&g| (g + 1) as f64).collect(),
                    grouped.response().to_vec(),
                ];
                columns.extend((0..grouped.n_columns()).map(|j| grouped.design_column(j).to_vec()));
                Dataset::from_columns(names, columns).ok()
            }
            ModelData::Statistics(_) | ModelData::Far(_) => None,
        }
    }

    /// The formula that reads such a file, where one is needed.
    pub fn formula_of_file(&self) -> Option<String> {
        match self {
            ModelData::Groups(data) => {
                Some(format!("y ~ 0 + {} | group", data.design_names().join(" + ")))
            }
            _ => None,
        }
    }

    /// What the units are, in words.
    pub fn in_words(&self) -> String {
        let plural = |n: usize, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
        let grouped = |groups: usize, rows: usize, of: &str, response: &str| {
            format!(
                "{}, each a unit, with {} in all{of}; the response is {response}.",
                plural(groups, "group"),
                plural(rows, "row")
            )
        };
        match self {
            ModelData::Rows(data) => format!("{}, each a unit.", plural(data.n_rows(), "row")),
            ModelData::Far(data) => {
                let rows = plural(data.summary().n_rows, "row");
                format!("{rows}, each a unit, which were not in memory.")
            }
            ModelData::Mixed(data) => match data.n_missing() {
                0 => format!("{}, each a unit.", plural(data.n_rows(), "row")),
                n => {
                    let cells = data.n_rows() * data.names().len();
                    let rows = plural(data.n_rows(), "row");
                    format!("{rows}, each a unit; {n} of {cells} cells are missing.")
                }
            },
            ModelData::Groups(data) => {
                grouped(data.n_groups(), data.n_rows(), "", data.response_name())
            }
            ModelData::Statistics(data) => {
                let of = ", of which sums were kept";
                grouped(data.n_groups(), data.n_rows(), of, data.response_name())
            }
        }
    }

    /// Mean, standard deviation, least and largest value of each variable; not of the groups' numbers.
    pub fn summaries(&self) -> Vec<VariableInWords> {
        let summary = |values: &[f64]| {
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            [mean, variance.sqrt(), low, high]
        };
        let summaries: Vec<[f64; 4]> = match self {
            ModelData::Rows(_) => self.columns().iter().map(|c| summary(c)).collect(),
            ModelData::Mixed(data) => {
                let there = |c: &Vec<f64>| c.iter().copied().filter(|x| !x.is_nan()).collect();
                data.columns()
                    .iter()
                    .map(|c| -> Vec<f64> { there(c) })
                    .map(|c| summary(&c))
                    .collect()
            }
            ModelData::Far(data) => {
                let known = data.summary();
                let n = known.n_rows as f64;
                let of = |j: usize| {
                    let sd = known.sd[j] * (n / (n - 1.0)).sqrt();
                    [known.mean[j], sd, known.least[j], known.largest[j]]
                };
                (0..known.names.len()).map(of).collect()
            }
            ModelData::Groups(data) => {
                let columns = self.columns();
                columns[..data.n_columns() + 1].iter().map(|c| summary(c)).collect()
            }
            ModelData::Statistics(data) => {
                let p = data.n_columns();
                // The response comes first among the names, and last in the statistics.
                let order = std::iter::once(p).chain(0..p);
                order
                    .map(|j| data.summary(j))
                    .map(|found| [found.mean, found.sd, found.least, found.largest])
                    .collect()
            }
        };
        let named = self.variables().into_iter().zip(summaries);
        named.map(|(name, summary)| VariableInWords { name, summary }).collect()
    }
}

/// The column that holds the groups' numbers when grouped data are stored as a plain table.
pub(super) const GROUP: &str = "(group)";
