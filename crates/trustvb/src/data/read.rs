//! Opens a path, tells CSV from Parquet by its first bytes, and reads the wanted columns.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use super::csv::read_csv_sized;
use super::error::DataError;
use super::frame::Frame;
use super::parquet::read_parquet;

/// Which columns to read, and what to do with missing values.
#[derive(Clone, Default)]
pub struct ReadOptions<'a> {
    /// Columns by name or by number from 1, in the order wanted; all when `None`.
    pub columns: Option<Vec<String>>,
    /// Columns to read as text, such as the group; read even if `columns` leaves them out.
    pub text_columns: Vec<String>,
    /// Columns to leave out, whatever else is asked for.
    pub skip_columns: Vec<String>,
    /// Read every column as text, whatever it holds.
    pub as_text: bool,
    /// Drop rows with a missing or infinite cell instead of refusing the file.
    pub drop_missing: bool,
    /// Keep missing cells: NaN among numbers, empty among texts. Rows are then not dropped.
    pub keep_missing: bool,
    /// Called now and then with the bytes done and in all (0 when unknown).
    pub progress: Option<&'a dyn Fn(u64, u64)>,
}

impl fmt::Debug for ReadOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadOptions")
            .field("columns", &self.columns)
            .field("text_columns", &self.text_columns)
            .field("skip_columns", &self.skip_columns)
            .field("as_text", &self.as_text)
            .field("drop_missing", &self.drop_missing)
            .field("keep_missing", &self.keep_missing)
            .field("progress", &self.progress.is_some())
            .finish()
    }
}

/// A file that is there, told from its first bytes.
pub(super) enum Opened {
    /// Text, and its bytes in all.
    Text(io::Chain<io::Cursor<Vec<u8>>, BufReader<File>>, u64),
    /// Parquet.
    Parquet(File),
}

/// Opens a file and looks at its first bytes; `name` stands for it in messages.
pub(super) fn open(path: &Path, name: &str) -> Result<Opened, DataError> {
    let file = || name.to_owned();
    let refused = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => DataError::FileMissing { file: file() },
        io::ErrorKind::IsADirectory => DataError::IsDirectory { file: file() },
        _ => DataError::Read { file: file(), source },
    };
    let metadata = std::fs::metadata(path).map_err(refused)?;
    if metadata.is_dir() {
        return Err(DataError::IsDirectory { file: file() });
    }
    let mut opened = File::open(path).map_err(refused)?;
    let mut head = Vec::with_capacity(8);
    opened.by_ref().take(8).read_to_end(&mut head).map_err(refused)?;
    if is_parquet(&head) {
        opened.rewind().map_err(refused)?;
        return Ok(Opened::Parquet(opened));
    }
    let reader = io::Cursor::new(head).chain(BufReader::with_capacity(1 << 16, opened));
    Ok(Opened::Text(reader, metadata.len()))
}

/// Reads the wanted columns of a CSV or Parquet file; its content decides which, not its name.
pub fn read_path(path: &Path, options: &ReadOptions<'_>) -> Result<Frame, DataError> {
    let name = path.display().to_string();
    match open(path, &name)? {
        Opened::Parquet(file) => read_parquet(file, &name, options),
        Opened::Text(reader, bytes) => read_csv_sized(reader, &name, options, bytes),
    }
}

/// Parquet opens with `PAR1` and then a byte of its binary page header; a CSV file whose first
/// column is called PAR1 goes on with text.
fn is_parquet(head: &[u8]) -> bool {
    head.starts_with(b"PAR1")
        && head.get(4).is_none_or(|byte| !byte.is_ascii_graphic() && !byte.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_the_format() {
        assert!(is_parquet(b"PAR1\x15\x04"));
        assert!(is_parquet(b"PAR1"));
        assert!(!is_parquet(b"PAR1,PAR2"));
        assert!(!is_parquet(b"PAR1\n"));
        assert!(!is_parquet(b"x,y"));
    }

    #[test]
    fn paths_that_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let options = ReadOptions::default();
        let absent = folder.path().join("absent.csv");
        let message = read_path(&absent, &options).unwrap_err().to_string();
        assert!(message.contains("absent.csv: there is no such file"), "{message}");
        let message = read_path(folder.path(), &options).unwrap_err().to_string();
        assert!(message.contains("is a directory"), "{message}");
        let empty = folder.path().join("empty.csv");
        File::create(&empty).unwrap();
        let message = read_path(&empty, &options).unwrap_err().to_string();
        assert!(message.contains("empty.csv is empty"), "{message}");
    }
}
