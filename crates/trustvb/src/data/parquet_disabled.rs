//! Stands in for the Parquet reader and writer in builds without them.

use std::fs::File;
use std::path::Path;

use super::dataset::Dataset;
use super::error::DataError;
use super::frame::Frame;
use super::read::ReadOptions;

pub(super) fn read_parquet(
    _file: File,
    name: &str,
    _options: &ReadOptions<'_>,
) -> Result<Frame, DataError> {
    Err(DataError::ParquetDisabled { file: name.to_owned() })
}

/// Never there, because it cannot be opened.
#[expect(dead_code, reason = "a build without Parquet makes none")]
pub(super) enum ParquetRows<'a> {
    /// Names the lifetime.
    Never(std::convert::Infallible, std::marker::PhantomData<&'a ()>),
}

impl<'a> ParquetRows<'a> {
    pub(super) fn open(
        _file: File,
        name: &str,
        _options: &ReadOptions<'a>,
    ) -> Result<ParquetRows<'a>, DataError> {
        Err(DataError::ParquetDisabled { file: name.to_owned() })
    }

    pub(super) fn piece(&mut self, _limit: usize) -> Result<Option<Frame>, DataError> {
        match *self {
            ParquetRows::Never(never, _) => match never {},
        }
    }
}

/// Refuses: this build is without the feature `parquet`.
pub fn write_parquet(_dataset: &Dataset, path: &Path) -> Result<(), DataError> {
    Err(DataError::ParquetDisabled { file: path.display().to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::read::read_path;

    #[test]
    fn parquet_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.parquet");
        std::fs::write(&path, b"PAR1\x15\x04").unwrap();
        let read = read_path(&path, &ReadOptions::default()).unwrap_err().to_string();
        let written = write_parquet(&Dataset::faithful(), &path).unwrap_err().to_string();
        for message in [read, written] {
            assert!(message.contains("data.parquet: this build"), "{message}");
            assert!(message.contains("feature `parquet`"), "{message}");
        }
    }
}
