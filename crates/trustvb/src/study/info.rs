//! What of a study is in its folder, also while others are at work there.

use super::folder::{Chunk, Folder};
use super::record::Record;
use super::{Study, StudyError};
use crate::location::Location;
use crate::store::StoreError;

/// How far a study on disk is.
#[derive(Clone, Debug)]
pub struct StudyInfo {
    /// Whether its parts carry checksums, which were then checked; studies of older formats have none.
    pub checked: bool,
    /// Parts that there should be.
    pub n_parts: usize,
    /// Parts that are not there or cannot be read, counted from 0 in the study's order.
    pub missing_parts: Vec<usize>,
    /// Replications that are missing, by the name of their cell.
    pub missing: Vec<(String, Vec<u32>)>,
    /// Parts that cannot be read, with the reason.
    pub damaged: Vec<String>,
}

impl StudyInfo {
    /// Whether every part is there and can be read.
    pub fn is_complete(&self) -> bool {
        self.missing_parts.is_empty()
    }
}

/// Makes the folder of a study, or checks that it is one, before any replication.
///
/// # Errors
/// If the folder holds another study or anything else, or the study makes no sense.
pub fn claim(place: &Location, study: &Study) -> Result<(), StudyError> {
    Folder::prepare(place, study, &study.cells()?).map(|_| ())
}

/// Looks at a study without refusing one that is incomplete or partly damaged. A part that is being
/// written is missing, not damaged.
///
/// # Errors
/// If the folder is not that of a study.
pub fn info(place: &Location) -> Result<StudyInfo, StudyError> {
    let folder = Folder::open(place)?;
    let chunks = folder.chunks();
    let (mut missing_parts, mut damaged, mut absent) = (Vec::new(), Vec::new(), Vec::new());
    for (number, chunk) in chunks.iter().enumerate() {
        let Err(error) = read_settled(&folder, *chunk) else { continue };
        missing_parts.push(number);
        absent.push(*chunk);
        if !error.is_missing_file() {
            damaged.push(error.to_string());
        }
    }
    let checked = folder.is_sealed();
    let (study, cells) = folder.into_plan();
    let missing = cells.into_iter().enumerate().filter_map(|(at, cell)| {
        let own = absent.iter().filter(|chunk| chunk.cell == at);
        let replications: Vec<u32> = own.flat_map(|chunk| chunk.replications(&study)).collect();
        (!replications.is_empty()).then_some((cell.name, replications))
    });
    let missing = missing.collect();
    Ok(StudyInfo { checked, n_parts: chunks.len(), missing_parts, missing, damaged })
}

/// Reads what may be replaced while it is read: what is damaged is read once more.
fn read_settled(folder: &Folder, chunk: Chunk) -> Result<Vec<Record>, StoreError> {
    match folder.read_chunk(chunk) {
        Err(error) if !error.is_missing_file() => folder.read_chunk(chunk),
        other => other,
    }
}
