//! A study on disk: a folder with a manifest, the study as TOML, and parts of whole replications, each
//! written whole or not at all.

use super::record::{Place, Record, read_part, write_part};
use super::replicate::places;
use super::{Cell, Study, StudyError};
use crate::data::{remove_leftovers, replace_file};
use crate::table::first_difference;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Version of the files' meaning; raised when an older reader would misread them.
const SCHEMA: u32 = 1;

/// Replications per part: few enough that a killed study loses little, many enough that it is not
/// thousands of files.
const BLOCK: u32 = 10;

const MANIFEST: &str = "manifest.json";
const STUDY: &str = "study.toml";
const PARTS: &str = "parts";

/// What a study's folder says about itself; two with equal manifests hold the same intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Manifest {
    schema: u32,
    library: String,
    block: u32,
    study: Study,
    cells: Vec<CellInfo>,
}

/// A cell as the manifest tells it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellInfo {
    /// `design/n=1000`.
    pub name: String,
    /// Number of its design in the study.
    pub design: usize,
    /// Rows, or rows per group.
    pub size: usize,
    /// The seed of its data.
    pub seed: u64,
    /// Names of its quantities.
    pub quantities: Vec<String>,
    /// The values that intervals should cover.
    pub targets: Vec<f64>,
}

/// Consecutive replications of one cell, kept in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Block {
    pub(super) cell: usize,
    number: u32,
}

impl Block {
    /// Its replications, from 1.
    pub(super) fn replications(&self, study: &Study) -> impl Iterator<Item = u32> + use<> {
        let first = self.number * BLOCK;
        (first..(first + BLOCK).min(study.replications)).map(|r| r + 1)
    }

    fn file_name(&self) -> String {
        format!("{:03}-{:05}.parquet", self.cell, self.number)
    }
}

/// A folder whose manifest is that of a study.
pub(super) struct Folder {
    path: PathBuf,
    manifest: Manifest,
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> StudyError + '_ {
    |source| StudyError::Io { file: path.display().to_string(), source }
}

fn write_text(path: &Path, text: &str) -> Result<(), StudyError> {
    replace_file(path, |mut f| f.write_all(text.as_bytes()).map(|()| f)).map_err(io_error(path))
}

impl Manifest {
    fn new(study: &Study, cells: &[Cell]) -> Manifest {
        let cells = cells
            .iter()
            .map(|cell| CellInfo {
                name: cell.name.clone(),
                design: cell.design,
                size: cell.size,
                seed: cell.seed,
                quantities: cell.quantities(),
                targets: cell.targets.clone(),
            })
            .collect();
        Manifest {
            schema: SCHEMA,
            library: env!("CARGO_PKG_VERSION").to_owned(),
            block: BLOCK,
            study: study.clone(),
            cells,
        }
    }

    fn read(folder: &Path) -> Result<Manifest, StudyError> {
        let name = folder.display().to_string();
        let file = folder.join(MANIFEST);
        let text = fs::read_to_string(&file).map_err(|_| StudyError::NotAStudy {
            folder: name.clone(),
            why: match folder.exists() {
                true => format!("it has no readable {MANIFEST}"),
                false => "there is no such folder".to_owned(),
            },
        })?;
        let damaged = |what: String| StudyError::Damaged { file: file.display().to_string(), what };
        let value: serde_json::Value =
            serde_json::from_str(&text).map_err(|e| damaged(e.to_string()))?;
        if value.get("study").is_none() {
            let why = "its manifest is not that of a study".to_owned();
            return Err(StudyError::NotAStudy { folder: name, why });
        }
        let found = value["schema"].as_u64().unwrap_or(0);
        if found > u64::from(SCHEMA) {
            let library = value["library"].as_str().unwrap_or("of an unknown version").to_owned();
            return Err(StudyError::Newer { folder: name, found, known: SCHEMA, library });
        }
        serde_json::from_value(value).map_err(|e| damaged(e.to_string()))
    }

    /// Says so when two manifests are not the same.
    fn insist(&self, folder: &Path, other: &Manifest) -> Result<(), StudyError> {
        let value = |m: &Manifest| serde_json::to_value(m).unwrap_or_default();
        let (theirs, ours) = (value(self), value(other));
        // Cells follow from the study: what is said first should be what somebody chose.
        let difference = first_difference("study", &theirs["study"], &ours["study"])
            .or_else(|| first_difference("", &theirs, &ours));
        match difference {
            None => Ok(()),
            Some((field, theirs, ours)) => {
                let folder = folder.display().to_string();
                Err(StudyError::Different { folder, field, theirs, ours })
            }
        }
    }
}

impl Folder {
    /// Makes the folder, or checks that it holds the same study.
    pub(super) fn prepare(
        path: &Path,
        study: &Study,
        cells: &[Cell],
    ) -> Result<Folder, StudyError> {
        Folder::claim(path, Manifest::new(study, cells))
    }

    fn claim(path: &Path, manifest: Manifest) -> Result<Folder, StudyError> {
        let file = path.join(MANIFEST);
        if file.exists() {
            Manifest::read(path)?.insist(path, &manifest)?;
        } else if path.exists() {
            refuse_foreign(path)?;
        }
        let parts = path.join(PARTS);
        fs::create_dir_all(&parts).map_err(io_error(&parts))?;
        remove_leftovers(path);
        remove_leftovers(&parts);
        if !file.exists() {
            write_text(&path.join(STUDY), &manifest.study.to_toml())?;
            let text = serde_json::to_string_pretty(&manifest).map_err(|e| StudyError::Io {
                file: file.display().to_string(),
                source: e.into(),
            })?;
            write_text(&file, &text)?;
        }
        Ok(Folder { path: path.to_path_buf(), manifest })
    }

    pub(super) fn open(path: &Path) -> Result<Folder, StudyError> {
        Ok(Folder { path: path.to_path_buf(), manifest: Manifest::read(path)? })
    }

    /// All blocks, going round the cells.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let blocks = self.manifest.study.replications.div_ceil(BLOCK);
        (0..blocks)
            .flat_map(|number| {
                (0..self.manifest.cells.len()).map(move |cell| Block { cell, number })
            })
            .collect()
    }

    /// The records of each cell that are there.
    pub(super) fn records(&self) -> Result<Vec<Vec<Record>>, StudyError> {
        let mut records = vec![Vec::new(); self.manifest.cells.len()];
        for block in self.blocks().into_iter().filter(|block| self.has_block(*block)) {
            records[block.cell].extend(self.read_block(block)?);
        }
        Ok(records)
    }

    /// The study and its cells.
    pub(super) fn into_plan(self) -> (Study, Vec<CellInfo>) {
        (self.manifest.study, self.manifest.cells)
    }

    fn file(&self, block: Block) -> PathBuf {
        self.path.join(PARTS).join(block.file_name())
    }

    pub(super) fn has_block(&self, block: Block) -> bool {
        self.file(block).exists()
    }

    pub(super) fn write_block(&self, block: Block, records: &[Record]) -> Result<(), StudyError> {
        write_part(&self.file(block), records)
    }

    /// The records of a block, if they are the ones it should hold.
    pub(super) fn read_block(&self, block: Block) -> Result<Vec<Record>, StudyError> {
        let file = self.file(block);
        let records = read_part(&file)?;
        let (study, cell) = (&self.manifest.study, &self.manifest.cells[block.cell]);
        let expected: Vec<Place> = block
            .replications(study)
            .flat_map(|number| places(study, cell.targets.len(), number))
            .collect();
        let right = records.iter().map(Record::place).eq(expected);
        match right {
            true => Ok(records),
            false => Err(StudyError::Damaged {
                file: file.display().to_string(),
                what: "its replications are not those of the manifest".to_owned(),
            }),
        }
    }
}

/// A folder without a manifest may be a study that has just begun, or was killed then. One with anything
/// else in it is somebody's.
fn refuse_foreign(folder: &Path) -> Result<(), StudyError> {
    for entry in fs::read_dir(folder).map_err(io_error(folder))? {
        let name = entry.map_err(io_error(folder))?.file_name();
        let name = name.to_string_lossy();
        if name != PARTS && name != STUDY && name != MANIFEST && !name.ends_with(".tmp") {
            let (folder, file) = (folder.display().to_string(), name.into_owned());
            return Err(StudyError::Foreign { folder, file });
        }
    }
    Ok(())
}

/// The study that a folder holds.
pub fn study_in(folder: &Path) -> Result<Study, StudyError> {
    Ok(Manifest::read(folder)?.study)
}

/// Adds the parts of `sources` to `target`, which is made when it does not exist. Returns the number of
/// parts added.
pub fn merge(target: &Path, sources: &[PathBuf]) -> Result<usize, StudyError> {
    let mut added = 0;
    for source in sources {
        let source = Folder::open(source)?;
        let target = Folder::claim(target, source.manifest.clone())?;
        for block in source.blocks() {
            if !source.has_block(block) || target.read_block(block).is_ok() {
                continue;
            }
            target.write_block(block, &source.read_block(block)?)?;
            added += 1;
        }
    }
    Ok(added)
}
