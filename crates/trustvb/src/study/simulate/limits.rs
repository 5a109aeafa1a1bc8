//! Sizes that a simulation may have, looked at before anything of that size is made.

use super::{Simulation, StudyError, wrong};
use crate::memory;
use crate::remedy::{Advise, Remedy, in_command};

/// Components and columns that can be asked for by a number alone.
const MOST: usize = 10_000;

/// Numbers in a description, such as all covariance matrices together: 8 GB.
const MOST_NUMBERS: f64 = 1e9;

/// Refuses a number of components or columns that nobody can mean.
pub(crate) fn check_size(name: &str, n: usize) -> Result<(), StudyError> {
    match n > MOST {
        true => Err(wrong(name, format!("{n} are too many; there can be {MOST}"))),
        false => Ok(()),
    }
}

/// Refuses settings whose very description would not fit: `what` has so many numbers.
pub(crate) fn check_description(name: &str, what: &str, numbers: f64) -> Result<(), StudyError> {
    match numbers <= MOST_NUMBERS {
        true => Ok(()),
        false => Err(wrong(
            name,
            format!(
                "{what} have {numbers} numbers, and there can be {MOST_NUMBERS}; ask for fewer"
            ),
        )),
    }
}

impl Simulation {
    /// Refuses data that memory cannot hold, `copies` times at once.
    ///
    /// # Errors
    /// With the setting, both sizes and what to do.
    pub fn check_memory(&self, copies: usize) -> Result<(), StudyError> {
        let (rows, columns) = self.shape();
        let what = format!("{rows} rows of {columns} columns");
        memory::check(
            &what,
            8.0 * rows * columns * copies as f64,
            &[Remedy::Do("ask for fewer rows")],
        )
        .map_err(|error| wrong(self.size_name(), error.advised(in_command)))
    }
}
