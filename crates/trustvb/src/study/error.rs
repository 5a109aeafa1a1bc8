//! What can be wrong with a study.

use crate::data::DataError;
use crate::functional::FunctionalError;
use crate::model::ModelError;
use crate::remedy::{Advise, Remedy};
use std::io;

/// Why a study cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The file is not one of ours.
    #[error("{file}: {what}")]
    Toml {
        /// The file.
        file: String,
        /// What the parser says, with line and field.
        what: String,
    },
    /// A setting that makes no sense.
    #[error("{setting}: {what}")]
    Setting {
        /// Which one.
        setting: String,
        /// What is wrong.
        what: String,
    },
    /// Another error, and where it is.
    #[error("{place}: {error}")]
    Within {
        /// The file, design or cell.
        place: String,
        /// The error.
        error: Box<StudyError>,
    },
    /// No such built-in study.
    #[error("there is no study {name}, neither built in ({}) nor as a file or folder", known.join(", "))]
    NoSuchStudy {
        /// What was asked for.
        name: String,
        /// Those there are.
        known: Vec<&'static str>,
    },
    /// No such cell.
    #[error("no cell is named {pattern}; there are {}", known.join(", "))]
    NoSuchCell {
        /// What was asked for.
        pattern: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// Truth and model have different numbers of components.
    #[error("the data have {truth} components and the model {model}; they must be as many")]
    Components {
        /// Components of the truth.
        truth: usize,
        /// Components of the model.
        model: usize,
    },
    /// A quantity without a true value.
    #[error(
        "{quantity} has no true value here, so its intervals cannot be judged; ask for another"
    )]
    NoTruth {
        /// The quantity.
        quantity: String,
    },
    /// The limit of the fit is not known.
    #[error("target \"limit\": the fit of very many rows has no answer: {0}")]
    Limit(String),
    /// A quantity that cannot be read.
    #[error(transparent)]
    Functional(#[from] FunctionalError),
    /// Data that cannot be made or kept.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A model that does not take the data.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The folder or its files are not what they should be.
    #[cfg(feature = "parquet")]
    #[error(transparent)]
    Store(#[from] crate::store::StoreError),
    /// The file system refused.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
}

impl Advise for StudyError {
    fn remedies(&self) -> Vec<Remedy> {
        match self {
            StudyError::Within { error, .. } => error.remedies(),
            StudyError::Data(error) => error.remedies(),
            StudyError::Model(error) => error.remedies(),
            #[cfg(feature = "parquet")]
            StudyError::Store(error) => error.remedies(),
            _ => Vec::new(),
        }
    }
}

impl StudyError {
    /// The same error, with where it is.
    pub(super) fn within(self, place: &str) -> StudyError {
        StudyError::Within { place: place.to_owned(), error: Box::new(self) }
    }
}
