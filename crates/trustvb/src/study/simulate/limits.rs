//! Sizes that a simulation may have, looked at before anything of that size is made.

use super::{Simulation, SimulationSettings, StudyError, wrong};
use crate::memory;

/// Components and columns that can be asked for by a number alone.
const MOST: usize = 10_000;

/// Numbers in all covariance matrices together: 8 GB.
const MOST_NUMBERS: f64 = 1e9;

/// Refuses settings whose very description would not fit.
pub(super) fn check(settings: &SimulationSettings) -> Result<(), StudyError> {
    let (k, p) = (settings.components.unwrap_or(2), settings.columns.unwrap_or(2));
    for (name, n) in [("components", k), ("columns", p)] {
        if n > MOST {
            return Err(wrong(name, format!("{n} are too many; there can be {MOST}")));
        }
    }
    let numbers = k as f64 * (p as f64).powi(2);
    match numbers <= MOST_NUMBERS {
        true => Ok(()),
        false => Err(wrong(
            "columns",
            format!(
                "{k} covariance matrices of {p} columns have {numbers} numbers, and there can be {MOST_NUMBERS}; \
                 ask for fewer"
            ),
        )),
    }
}

impl Simulation {
    /// Rows and columns of its data.
    fn shape(&self) -> (f64, f64) {
        match self {
            Simulation::Gmm(s) => (s.n as f64, s.centres.first().map_or(1, Vec::len) as f64),
            Simulation::Bmlr(s) => {
                let columns = 2 + s.coefficients.first().map_or(1, Vec::len);
                (s.groups as f64 * s.rows as f64, columns as f64)
            }
        }
    }

    /// Refuses data that memory cannot hold, `copies` times at once.
    ///
    /// # Errors
    /// With the setting, both sizes and what to do.
    pub fn check_memory(&self, copies: usize) -> Result<(), StudyError> {
        let (rows, columns) = self.shape();
        let what = format!("{rows} rows of {columns} columns");
        memory::check(&what, 8.0 * rows * columns * copies as f64, "ask for fewer rows").map_err(
            |error| {
                let name = match self {
                    Simulation::Gmm(_) => "n",
                    Simulation::Bmlr(_) => "rows",
                };
                wrong(name, error.to_string())
            },
        )
    }
}
