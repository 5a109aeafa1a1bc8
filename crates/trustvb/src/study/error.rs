//! What can be wrong with a study.

use crate::data::DataError;
use crate::functional::FunctionalError;
use crate::model::ModelError;
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
    /// A folder that is not a study's.
    #[error(
        "{folder} is not the folder of a study: {why}; make one with `trustvb study NAME -o FOLDER`"
    )]
    NotAStudy {
        /// The folder.
        folder: String,
        /// What is missing.
        why: String,
    },
    /// A folder that is not ours to write into.
    #[error("{folder} holds `{file}` and no manifest.json: it is not a study; give another folder")]
    Foreign {
        /// The folder.
        folder: String,
        /// Something in it.
        file: String,
    },
    /// A newer format.
    #[error(
        "{folder} was written in format {found} by trustvb {library}, and this version reads up to \
         format {known}; install a newer trustvb"
    )]
    Newer {
        /// The folder.
        folder: String,
        /// Its format.
        found: u64,
        /// The newest format known here.
        known: u32,
        /// The version that wrote it.
        library: String,
    },
    /// A folder with another study.
    #[error(
        "{folder} holds a study made with other settings: its {field} is {theirs}, here it is {ours}; \
         use another folder, or the same settings"
    )]
    Different {
        /// The folder.
        folder: String,
        /// The first field that differs.
        field: String,
        /// Value in the folder.
        theirs: String,
        /// Value asked for.
        ours: String,
    },
    /// A file is not what it should be.
    #[error("{file} is damaged: {what}; remove it and run the study again to make it anew")]
    Damaged {
        /// The file.
        file: String,
        /// What is wrong.
        what: String,
    },
    /// The file system refused.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
}

impl StudyError {
    /// The same error, with where it is.
    pub(super) fn within(self, place: &str) -> StudyError {
        StudyError::Within { place: place.to_owned(), error: Box::new(self) }
    }
}
