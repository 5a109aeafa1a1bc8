//! The largest numbers that a study may have: each of them sizes something that is made before the first result.

use super::{Study, StudyError};
use crate::table::{MAX_BOOTSTRAPS, MAX_GRID};

/// Data sets in a cell.
const MAX_REPLICATIONS: usize = 10_000_000;

/// Draws behind a law without an exact form.
const MAX_DRAWS: usize = 1_000_000;

/// Refuses a study with a number beyond these.
pub(super) fn check(study: &Study) -> Result<(), StudyError> {
    let numbers = [
        ("replications", study.replications as usize, MAX_REPLICATIONS),
        ("bootstraps", study.bootstraps as usize, MAX_BOOTSTRAPS as usize),
        ("grid", study.grid, MAX_GRID),
        ("draws", study.draws, MAX_DRAWS),
    ];
    match numbers.into_iter().find(|(_, n, most)| n > most) {
        None => Ok(()),
        Some((name, n, most)) => Err(StudyError::Setting {
            setting: name.to_owned(),
            what: format!("{n} is too many; there can be at most {most}"),
        }),
    }
}
