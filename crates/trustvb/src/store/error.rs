//! What can be wrong with a folder of parts, in the words of what it should be.

use crate::remedy::{Advise, Remedy};
use std::io;

/// How messages speak of one kind of store.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// `a TVB table`.
    pub(crate) what: &'static str,
    /// `table`.
    pub(crate) noun: &'static str,
    /// How to get one.
    pub(crate) make: Remedy,
    /// How to replace a damaged file.
    pub(crate) mend: Remedy,
}

/// What is wrong with a table or a study on disk.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It is not one.
    #[error("{place} is not {what}: {why}")]
    NotOne {
        /// The folder or address.
        place: String,
        /// What it should be.
        what: &'static str,
        /// What is missing.
        why: String,
        /// How to get one.
        make: Remedy,
    },
    /// A folder that is not ours to write into.
    #[error("{place} holds `{file}` and no manifest.json: it is not a {noun}; give another folder")]
    Foreign {
        /// The folder.
        place: String,
        /// Something in it.
        file: String,
        /// `table` or `study`.
        noun: &'static str,
    },
    /// A file where a folder should be.
    #[error("{place} is a file, and a {noun} is a folder; give another name")]
    IsFile {
        /// The file.
        place: String,
        /// `table` or `study`.
        noun: &'static str,
    },
    /// A newer format.
    #[error(
        "{place} was written in format {found} by trustvb {library}, and this version reads up to \
         format {known}; install a newer trustvb"
    )]
    Newer {
        /// The folder.
        place: String,
        /// Its format.
        found: u64,
        /// The newest format known here.
        known: u32,
        /// The version that wrote it.
        library: String,
    },
    /// An older format, which is read and not added to.
    #[error(
        "{place} was written in format {found}, whose parts carry no checksum; it can be read, but nothing is added \
         to it: use another folder, which will have format {known}"
    )]
    Older {
        /// The folder.
        place: String,
        /// Its format.
        found: u32,
        /// The format of what is written here.
        known: u32,
    },
    /// Two that do not belong together.
    #[error(
        "{place} holds a {noun} made with other settings: its {field} is {theirs}, here it is {ours}; \
         use another folder, or the same settings"
    )]
    Different {
        /// The folder.
        place: String,
        /// `table` or `study`.
        noun: &'static str,
        /// The first field that differs.
        field: String,
        /// Value in the folder.
        theirs: String,
        /// Value asked for.
        ours: String,
    },
    /// Two to be merged that do not belong together.
    #[error(
        "{places} are different {noun}s: {field} is {theirs} in the first and {ours} in the second; nothing \
         was merged"
    )]
    Unlike {
        /// Both of them.
        places: String,
        /// `table` or `study`.
        noun: &'static str,
        /// The first field that differs.
        field: String,
        /// Value in the first.
        theirs: String,
        /// Value in the second.
        ours: String,
    },
    /// A file is not what it should be.
    #[error("{file} is damaged: {what}")]
    Damaged {
        /// The file.
        file: String,
        /// What is wrong.
        what: String,
        /// How to replace it.
        mend: Remedy,
    },
    /// The file system or the object store refused.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
}

impl Advise for StoreError {
    fn remedies(&self) -> Vec<Remedy> {
        match self {
            StoreError::NotOne { make, .. } => vec![*make],
            StoreError::Damaged { mend, .. } => vec![*mend],
            // Their remedies are the same everywhere, and part of what they say.
            _ => Vec::new(),
        }
    }
}

impl StoreError {
    /// Whether trying again later may help: not where access is refused or the address is wrong.
    pub fn may_pass(&self) -> bool {
        use io::ErrorKind::{InvalidInput, NotADirectory, NotFound, PermissionDenied};
        let lasting = [InvalidInput, NotADirectory, NotFound, PermissionDenied];
        matches!(self, StoreError::Io { source, .. } if !lasting.contains(&source.kind()))
    }

    /// Whether it says no more than that a file is not there.
    pub(crate) fn is_missing_file(&self) -> bool {
        matches!(self, StoreError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// `None` for a file that is not there.
pub(crate) fn if_there<T>(read: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match read {
        Err(error) if error.is_missing_file() => Ok(None),
        other => other.map(Some),
    }
}
