//! What of a table is in its place, and whether it is sound, also while others are at work there.

use super::Manifest;
use super::disk::{DATA, Kept, TableError, read_data};
use super::parts::{self, Chunk};
use crate::backend::Job;
use crate::fit::{PathFits, StatusCode};
use crate::location::Location;
use crate::remedy::{Advise, in_command};
use crate::resample::Design;
use crate::store::{MANIFEST, PARTS, StoreError, if_there};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// What a table on disk holds.
#[derive(Clone, Debug)]
pub struct TableInfo {
    /// Its manifest.
    pub manifest: Manifest,
    /// Whether its parts carry checksums, which were then checked; tables of older formats have none.
    pub checked: bool,
    /// Whether the data are with it.
    pub has_data: bool,
    /// Paths it has, of how many.
    pub paths: (usize, usize),
    /// Replicates that are missing, by design.
    pub missing: BTreeMap<Design, Vec<u32>>,
    /// Parts that cannot be read, with the reason.
    pub damaged: Vec<String>,
    /// Parts that there should be.
    pub n_parts: usize,
    /// Parts that are not there or cannot be read, counted from 0 in the table's order.
    pub missing_parts: Vec<usize>,
    /// For each ω of the grid: fits that converged, did not converge, and failed.
    pub fits: Vec<[usize; 3]>,
    /// Sweeps made in all.
    pub sweeps: u64,
}

impl TableInfo {
    /// Whether every part is there and can be read.
    pub fn is_complete(&self) -> bool {
        self.missing_parts.is_empty()
    }
}

/// Reads a part that may be replaced while it is read, as when it is made anew on another machine: what is
/// damaged is read once more.
fn read_settled(kept: &Kept, chunk: Chunk) -> Result<Option<Vec<(Job, PathFits)>>, StoreError> {
    let read = || if_there(parts::read(kept, chunk));
    read().or_else(|_| read())
}

/// Looks at a table without refusing one that is incomplete or partly damaged. Builders may be at work:
/// a part that is being written is missing, not damaged.
pub fn info(place: &Location) -> Result<TableInfo, TableError> {
    let kept = Kept::open(place)?;
    let chunks = Chunk::all(&kept.manifest);
    let mut info = TableInfo {
        checked: kept.is_sealed(),
        has_data: kept.has(DATA)?,
        paths: (0, 0),
        missing: BTreeMap::new(),
        damaged: Vec::new(),
        n_parts: chunks.len(),
        missing_parts: Vec::new(),
        fits: vec![[0; 3]; kept.manifest.omegas.len()],
        sweeps: 0,
        manifest: kept.manifest.clone(),
    };
    for (number, chunk) in chunks.into_iter().enumerate() {
        let jobs = chunk.jobs(&kept.manifest);
        info.paths.1 += jobs.len();
        match read_settled(&kept, chunk) {
            Ok(Some(paths)) => {
                info.paths.0 += paths.len();
                for (_, fits) in &paths {
                    info.sweeps += fits.sweeps.iter().map(|&s| u64::from(s)).sum::<u64>();
                    for (counts, status) in info.fits.iter_mut().zip(&fits.status) {
                        match status {
                            StatusCode::Converged => counts[0] += 1,
                            StatusCode::Stalled | StatusCode::HitLimit => counts[1] += 1,
                            StatusCode::Degenerate => counts[2] += 1,
                        }
                    }
                }
            }
            absent => {
                info.missing_parts.push(number);
                info.damaged.extend(absent.err().map(|error| error.advised(in_command)));
                let replicates = jobs.into_iter().map(|job| job.replicate);
                info.missing.entry(chunk.design).or_default().extend(replicates);
            }
        }
    }
    Ok(info)
}

/// What a look at every byte of a table found; see [`check`].
#[derive(Clone, Debug)]
pub struct TableCheck {
    /// Its format.
    pub schema: u32,
    /// Whether parts carry checksums; if not, only their shape could be checked.
    pub checked: bool,
    /// Parts that are sound.
    pub sound: usize,
    /// Parts that there should be.
    pub n_parts: usize,
    /// Replicates that are missing, by design; those of damaged parts are not among them.
    pub missing: BTreeMap<Design, Vec<u32>>,
    /// Whether the data are there and those of the manifest; `None` when they are not there.
    pub data: Option<bool>,
    /// What is wrong, a sentence for each file.
    pub wrong: Vec<String>,
    /// Files that do not belong to the table.
    pub strangers: Vec<String>,
}

impl TableCheck {
    /// Whether nothing that is there is wrong.
    pub fn is_sound(&self) -> bool {
        self.wrong.is_empty() && self.strangers.is_empty()
    }
}

/// Reads every file of a table and says what is wrong with each. A manifest that cannot be used is an error.
pub fn check(place: &Location) -> Result<TableCheck, TableError> {
    let kept = Kept::open(place)?;
    let chunks = Chunk::all(&kept.manifest);
    let mut found = TableCheck {
        schema: kept.manifest.schema,
        checked: kept.is_sealed(),
        sound: 0,
        n_parts: chunks.len(),
        missing: BTreeMap::new(),
        data: None,
        wrong: Vec::new(),
        strangers: strangers(&kept, &chunks)?,
    };
    match read_data(&kept) {
        Ok(data) => found.data = data.map(|_| true),
        Err(error) => {
            found.data = Some(false);
            found.wrong.push(error.advised(in_command));
        }
    }
    let read = |chunk: &Chunk| read_settled(&kept, *chunk).map(|paths| paths.is_some());
    let parts: Vec<Result<bool, StoreError>> = chunks.par_iter().map(read).collect();
    for (chunk, part) in chunks.iter().zip(parts) {
        match part {
            Ok(true) => found.sound += 1,
            Ok(false) => {
                let replicates = chunk.jobs(&kept.manifest).into_iter().map(|job| job.replicate);
                found.missing.entry(chunk.design).or_default().extend(replicates);
            }
            Err(error) => found.wrong.push(error.advised(in_command)),
        }
    }
    Ok(found)
}

/// Files that no table of this manifest has; those that are being written are not among them.
fn strangers(kept: &Kept, chunks: &[Chunk]) -> Result<Vec<String>, StoreError> {
    let refused = |source| StoreError::Io { file: kept.place.to_string(), source };
    let known: BTreeSet<String> = chunks.iter().map(Chunk::file).collect();
    let top = kept.place.names().map_err(refused)?.into_iter();
    let mut names: Vec<String> =
        top.filter(|name| ![MANIFEST, DATA, PARTS].contains(&name.as_str())).collect();
    let parts = kept.names_in(PARTS)?.into_iter();
    names.extend(parts.map(|name| format!("{PARTS}/{name}")).filter(|name| !known.contains(name)));
    names.retain(|name| !name.ends_with(".tmp"));
    names.sort();
    Ok(names.into_iter().map(|name| kept.place.name_of(&name)).collect())
}
