//! From what a user says of data and model to both: the options of a command line, before they are known to make sense.

use super::{Covariance, KINDS, Kind, ModelData, ModelError, ModelSpec, PriorBase, Update};
use crate::data::{DataError, Frame, ReadOptions};
use crate::remedy::{Advise, Remedy};
use crate::weights::{UnitWeights, WeightKind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What a user says of a model. Each model takes what is its and refuses the rest.
#[derive(Clone, Debug)]
pub struct Wishes {
    /// Number of components.
    pub components: usize,
    /// Columns to use, by name or number.
    pub columns: Option<Vec<String>>,
    /// A regression's formula.
    pub formula: Option<String>,
    /// Never hold all rows.
    pub stream: bool,
    /// Leave out rows with missing values.
    pub drop_missing: bool,
    /// What is known of a regression's noise: `estimate`, or `known=1`.
    pub noise: Option<String>,
    /// Groups with fewer rows are refused.
    pub min_group_rows: usize,
    /// The prior.
    pub prior: PriorWish,
    /// Which form of (M4).
    pub update: Option<Update>,
    /// The shape of covariances.
    pub covariance: Option<Covariance>,
    /// What columns hold, by name, [`EVERY_COLUMN`] for all that are not named.
    pub types: Vec<(String, ColumnType)>,
    /// What rows count for.
    pub weights: Option<WishedWeights>,
    /// What is left open is as in the paper's code.
    pub published: bool,
}

/// The column that says what rows count for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WishedWeights {
    /// Its name or number.
    pub column: String,
    /// What its numbers mean.
    pub kind: WeightKind,
}

impl Wishes {
    /// So many components, and nothing else.
    pub fn new(components: usize) -> Wishes {
        Wishes {
            components,
            columns: None,
            formula: None,
            stream: false,
            drop_missing: false,
            noise: None,
            min_group_rows: crate::defaults::MIN_GROUP_ROWS,
            prior: PriorWish::Default,
            update: None,
            covariance: None,
            types: Vec::new(),
            weights: None,
            published: false,
        }
    }

    /// The options that are not every model's and that were given.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let options = [
            ("--columns", self.columns.is_some()),
            ("--types", !self.types.is_empty()),
            ("--formula", self.formula.is_some()),
            ("--stream", self.stream),
            ("--noise", self.noise.is_some()),
            ("--covariance", self.covariance.is_some()),
            ("--update", self.update.is_some()),
            ("--published", self.published),
        ];
        options.into_iter().filter(|(_, given)| *given).map(|(option, _)| option)
    }

    /// Refuses options that are not a model's, with the models whose they are.
    pub(super) fn check(&self, kind: &Kind) -> Result<(), WishError> {
        let Some(option) = self.given().find(|option| !kind.takes.contains(option)) else {
            return Ok(());
        };
        let own = KINDS.iter().filter(|kind| kind.takes.contains(&option));
        let own: Vec<&str> = own.map(|kind| kind.name).collect();
        let mut why = format!("{option} is for --model {}", own.join(" and "));
        if let Some((_, more)) = kind.because.iter().find(|(known, _)| *known == option) {
            why.push_str(more);
        }
        Err(WishError::Options(why))
    }

    /// The model that these words mean when none is named: the first that wants something of what is given.
    pub fn model(&self) -> &'static Kind {
        KINDS.into_iter().find(|kind| (kind.is_meant)(self)).unwrap_or(KINDS[0])
    }
}

/// The name that stands for all columns that are not named.
pub const EVERY_COLUMN: &str = "*";

/// What a user says a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnType {
    /// Numbers.
    Gaussian,
    /// Whole numbers from 0.
    Count,
    /// One of several levels.
    Category,
}

impl ColumnType {
    /// The type of this name.
    pub fn named(name: &str) -> Option<ColumnType> {
        match name {
            "gaussian" => Some(ColumnType::Gaussian),
            "count" => Some(ColumnType::Count),
            "category" => Some(ColumnType::Category),
            _ => None,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ColumnType::Gaussian => "gaussian",
            ColumnType::Count => "count",
            ColumnType::Category => "category",
        }
    }

    /// What a column is said to be, by its own name before that of all columns.
    pub(super) fn said(
        types: &[(String, ColumnType)],
        frame: &Frame,
        column: usize,
    ) -> Option<ColumnType> {
        let own = |(name, _): &&(String, ColumnType)| {
            frame.column_index(name).is_ok_and(|at| at == column)
        };
        let every = |(name, _): &&(String, ColumnType)| name == EVERY_COLUMN;
        let said = types.iter().rev().find(own).or_else(|| types.iter().rev().find(every));
        said.map(|(_, kind)| *kind)
    }

    /// Refuses names that no column has.
    pub(super) fn check(types: &[(String, ColumnType)], frame: &Frame) -> Result<(), DataError> {
        let mut named = types.iter().filter(|(name, _)| name != EVERY_COLUMN);
        named.try_for_each(|(name, _)| frame.column_index(name).map(|_| ()))
    }
}

/// The prior as it is named.
#[derive(Clone, Debug, PartialEq)]
pub enum PriorWish {
    /// The model's own.
    Default,
    /// The paper's.
    Paper,
    /// The content of a file, and its name.
    File {
        /// Where it is from.
        name: String,
        /// TOML.
        content: String,
    },
}

impl PriorWish {
    /// A model's prior of this name or content, and its base.
    pub(super) fn read<P: DeserializeOwned + Default>(
        &self,
        published: bool,
    ) -> Result<(P, Option<PriorBase>), WishError> {
        match self {
            PriorWish::Default if published => Ok((P::default(), Some(PriorBase::Paper))),
            PriorWish::Default => Ok((P::default(), None)),
            PriorWish::Paper => Ok((P::default(), Some(PriorBase::Paper))),
            PriorWish::File { name, content } => match toml::from_str(content) {
                Ok(prior) => Ok((prior, None)),
                Err(e) => Err(WishError::Prior(format!("{name}: {e}"))),
            },
        }
    }

    /// What is wrong with a prior, said of its file where it has one.
    pub(super) fn wrong(&self, what: &str) -> WishError {
        WishError::Prior(match self {
            PriorWish::File { name, .. } => format!("{name}: {what}"),
            _ => what.to_owned(),
        })
    }
}

/// What is done with the pieces of a file.
pub type TakePieces<'a> = dyn FnMut(&mut (dyn Iterator<Item = Result<Frame, DataError>> + '_)) -> Result<(), DataError>
    + 'a;

/// Where data are read from, with whatever progress is shown meanwhile.
pub trait Source {
    /// All of it.
    fn frame(&self, options: ReadOptions<'_>) -> Result<Frame, DataError>;
    /// Piece by piece.
    fn pieces(&self, options: ReadOptions<'_>, take: &mut TakePieces<'_>) -> Result<(), DataError>;
    /// The file, where it is one.
    fn path(&self) -> Option<&Path>;
}

/// Data with a model that is meant for them.
#[derive(Clone, Debug)]
pub struct Wished {
    /// The model.
    pub spec: ModelSpec,
    /// Its data.
    pub data: ModelData,
    /// Rows left out because something is missing.
    pub dropped: usize,
    /// What its units count for.
    pub weights: Option<UnitWeights>,
}

/// Why wishes cannot be granted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WishError {
    /// Options that do not go together, or that no model has.
    #[error("{0}")]
    Options(String),
    /// The prior's file.
    #[error("{0}")]
    Prior(String),
    /// The data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Data and model together.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Advise for WishError {
    fn remedies(&self) -> Vec<Remedy> {
        match self {
            WishError::Data(error) => error.remedies(),
            WishError::Model(error) => error.remedies(),
            WishError::Options(_) | WishError::Prior(_) => Vec::new(),
        }
    }
}
