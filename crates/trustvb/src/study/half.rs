//! The two halves of a study's cells: one to choose methods and constants by, one that is looked at once.
//!
//! Whoever tries many variants on the cells that they report will find one that does well there. Which half
//! a cell belongs to is a hash of its name, so that no result decides it, and neither other cells nor the
//! order of the file move it.

use super::{Study, StudyError};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// One half of the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Half {
    /// Cells to choose by.
    Choose,
    /// Cells to judge by, once, when everything is chosen.
    Judge,
}

impl Half {
    /// The half of the cell of that name, such as `sep2/n=300`: the first bit of the name's SHA-256.
    pub fn of(cell: &str) -> Half {
        match Sha256::digest(cell.as_bytes())[0] & 0x80 {
            0 => Half::Choose,
            _ => Half::Judge,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Half::Choose => "choose",
            Half::Judge => "judge",
        }
    }
}

impl Study {
    /// Only the cells of one half.
    ///
    /// # Errors
    /// If there is none.
    pub fn half(mut self, half: Half) -> Result<Study, StudyError> {
        self.keep(|cell| Half::of(cell) == half);
        if self.designs.is_empty() {
            let what = format!("no cell of this study is in the half `{}`", half.name());
            return Err(StudyError::Setting { setting: "half".to_owned(), what });
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PRESETS, preset};
    use super::*;

    #[test]
    fn every_cell_is_in_one_half_and_keeps_its_data() {
        for (name, _) in PRESETS {
            let study = preset(name).unwrap();
            let all = study.cell_names();
            let halves = [Half::Choose, Half::Judge]
                .map(|half| study.clone().half(half).map_or(Vec::new(), |s| s.cell_names()));
            let mut both = halves.concat();
            assert_eq!(both.len(), all.len(), "{name}");
            both.sort_by_key(|cell| all.iter().position(|known| known == cell));
            assert_eq!(both, all, "{name}");
        }
        let study = preset("hard").unwrap();
        let judged = study.clone().half(Half::Judge).unwrap();
        for cell in judged.cell_names() {
            assert_eq!(judged.data_of(&cell).unwrap(), study.data_of(&cell).unwrap());
            assert_eq!(Half::of(&cell), Half::Judge);
        }
    }

    #[test]
    fn the_hash_is_pinned() {
        // `printf sep2/n=300 | sha256sum`: the first digit is below 8 in the half for choosing.
        assert_eq!(Half::of("sep2/n=300"), Half::Choose);
        assert_eq!(Half::of("sep3/n=300"), Half::Judge);
    }

    #[test]
    fn a_half_without_cells_is_refused() {
        let study = preset("section3").unwrap().only(&["sep2/n=300".to_owned()]).unwrap();
        let other = if Half::of("sep2/n=300") == Half::Choose { Half::Judge } else { Half::Choose };
        let message = study.half(other).unwrap_err().to_string();
        assert!(message.contains("half") && message.contains(other.name()), "{message}");
    }
}
