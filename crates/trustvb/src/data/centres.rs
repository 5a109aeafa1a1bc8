//! Reads start values: a CSV file with a header and one row of coordinates per component.

use std::path::Path;

use super::error::DataError;
use super::read::{ReadOptions, read_path};

/// Reads one centre per row, its coordinates in the order of `expected_names`.
///
/// A header with those names in another order is rearranged; other names are taken by position if
/// there are as many.
pub fn read_centres(path: &Path, expected_names: &[String]) -> Result<Vec<Vec<f64>>, DataError> {
    let data = read_path(path, &ReadOptions::default())?.into_dataset()?;
    if data.n_columns() != expected_names.len() {
        return Err(DataError::CentreColumns {
            file: data.source().to_owned(),
            found: data.names().to_vec(),
            expected: expected_names.to_vec(),
        });
    }
    let by_name: Option<Vec<usize>> = expected_names
        .iter()
        .map(|expected| data.names().iter().position(|name| name == expected))
        .collect();
    let order = by_name.unwrap_or_else(|| (0..data.n_columns()).collect());
    let row = |i: usize| order.iter().map(|&j| data.column(j)[i]).collect();
    Ok((0..data.n_rows()).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn centres_follow_names_or_else_positions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("centres.csv");
        let expected = ["eruptions".to_owned(), "waiting".to_owned()];
        for (text, centres) in [
            ("eruptions,waiting\n2,55\n4,80\n", [[2.0, 55.0], [4.0, 80.0]]),
            ("waiting,eruptions\n55,2\n80,4\n", [[2.0, 55.0], [4.0, 80.0]]),
            ("a,b\n55,2\n80,4\n", [[55.0, 2.0], [80.0, 4.0]]),
        ] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(read_centres(&path, &expected).unwrap(), centres);
        }
        std::fs::write(&path, "a,b,c\n1,2,3\n").unwrap();
        let message = read_centres(&path, &expected).unwrap_err().to_string();
        assert!(message.contains("3 columns (`a`, `b` and `c`)"), "{message}");
        assert!(message.contains("2 columns (`eruptions` and `waiting`)"), "{message}");
    }
}
