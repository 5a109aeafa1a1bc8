//! A study on disk: a store whose manifest is the study and its cells, and whose parts are whole replications.

use super::record::{Record, columns, records};
use super::replicate::places;
use super::{Cell, Study, StudyDesign, StudyError};
use crate::location::Location;
use crate::remedy::Remedy;
use crate::store::{self, PARTS, Store, StoreError, Words, if_there};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of the files' meaning; raised when an older reader would misread them. Since 2 manifest and parts are
/// sealed.
const SCHEMA: u32 = 2;

/// Replications per part: few enough that a killed study loses little, many enough that it is not
/// thousands of files.
const BLOCK: u32 = 10;

const STUDY: &str = "study.toml";

/// What a study's folder says about itself; two with equal manifests hold the same intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
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
pub(super) struct Chunk {
    pub(super) cell: usize,
    number: u32,
}

impl Chunk {
    /// Its replications, from 1.
    pub(super) fn replications(&self, study: &Study) -> impl Iterator<Item = u32> + use<> {
        let first = self.number * BLOCK;
        (first..(first + BLOCK).min(study.replications)).map(|r| r + 1)
    }

    fn file(&self) -> String {
        format!("{PARTS}/{:03}-{:05}.parquet", self.cell, self.number)
    }

    /// What its seal says it holds.
    fn content(&self, study: &Study) -> String {
        let last = self.replications(study).last().unwrap_or(0);
        format!("cell {} {}-{last}", self.cell, self.number * BLOCK + 1)
    }
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
}

impl store::Manifest for Manifest {
    const WORDS: &'static Words = &Words {
        what: "the folder of a study",
        noun: "study",
        make: Remedy::MakeStudy,
        mend: Remedy::Do("remove it and run the study again to make it anew"),
    };
    const SCHEMA: u32 = SCHEMA;
    const OWN: Option<&'static str> = Some("study");
    const EARLY: &'static [&'static str] = &[STUDY];

    fn schema(&self) -> u32 {
        self.schema
    }

    fn check(&mut self) -> Result<(), String> {
        if self.block != BLOCK {
            return Err(format!("its block is {}, and can only be {BLOCK}", self.block));
        }
        self.study.check().map_err(|e| e.to_string())?;
        let names: Vec<String> =
            self.study.designs.iter().flat_map(StudyDesign::cell_names).collect();
        if !self.cells.iter().map(|cell| &cell.name).eq(&names) {
            return Err("its cells are not those of its study".to_owned());
        }
        let odd = self.cells.iter().find(|cell| {
            cell.quantities.len() != cell.targets.len() || cell.design >= self.study.designs.len()
        });
        match odd {
            Some(cell) => Err(format!("its cell {} is not one of its study", cell.name)),
            None => Ok(()),
        }
    }

    fn upgrade(_: &mut Value) {}
}

/// A folder whose manifest is that of a study.
pub(super) struct Folder(Store<Manifest>);

impl Folder {
    /// Makes the folder, or checks that it holds the same study.
    pub(super) fn prepare(
        place: &Location,
        study: &Study,
        cells: &[Cell],
    ) -> Result<Folder, StudyError> {
        Folder::claim(place, Manifest::new(study, cells))
    }

    fn claim(place: &Location, manifest: Manifest) -> Result<Folder, StudyError> {
        let toml = manifest.study.to_toml();
        let store = Store::claim(place, manifest)?;
        if !store.has(STUDY)? {
            store.write(STUDY, Ok(toml.into_bytes()))?;
        }
        Ok(Folder(store))
    }

    pub(super) fn open(place: &Location) -> Result<Folder, StudyError> {
        Ok(Folder(Store::open(place)?))
    }

    /// Whether its parts carry checksums.
    pub(super) fn is_sealed(&self) -> bool {
        self.0.is_sealed()
    }

    /// All chunks, going round the cells.
    pub(super) fn chunks(&self) -> Vec<Chunk> {
        let manifest = &self.0.manifest;
        let chunks = manifest.study.replications.div_ceil(BLOCK);
        (0..chunks)
            .flat_map(|number| (0..manifest.cells.len()).map(move |cell| Chunk { cell, number }))
            .collect()
    }

    /// The records of each cell that are there.
    pub(super) fn records(&self) -> Result<Vec<Vec<Record>>, StudyError> {
        let mut records = vec![Vec::new(); self.0.manifest.cells.len()];
        for chunk in self.chunks() {
            records[chunk.cell].extend(if_there(self.read_chunk(chunk))?.into_iter().flatten());
        }
        Ok(records)
    }

    /// The study and its cells.
    pub(super) fn into_plan(self) -> (Study, Vec<CellInfo>) {
        (self.0.manifest.study, self.0.manifest.cells)
    }

    pub(super) fn has_chunk(&self, chunk: Chunk) -> bool {
        self.0.has(&chunk.file()).unwrap_or(false)
    }

    pub(super) fn write_chunk(&self, chunk: Chunk, records: &[Record]) -> Result<(), StoreError> {
        let content = chunk.content(&self.0.manifest.study);
        columns(records, |columns| self.0.write_part(&chunk.file(), &content, columns))
    }

    /// The records of a chunk, if they are the ones it should hold.
    pub(super) fn read_chunk(&self, chunk: Chunk) -> Result<Vec<Record>, StoreError> {
        let (study, cell) = (&self.0.manifest.study, &self.0.manifest.cells[chunk.cell]);
        let expected = || {
            let one = |number| places(study, cell.targets.len(), number);
            chunk.replications(study).flat_map(one)
        };
        let (file, content) = (chunk.file(), chunk.content(study));
        let names = Record::column_names();
        let n_rows = expected().count();
        let columns = self.0.read_part(&file, &content, &names, n_rows)?;
        let records = records(&columns).map_err(|what| self.0.damaged(&file, what))?;
        match records.iter().map(Record::place).eq(expected()) {
            true => Ok(records),
            false => {
                let what = "its replications are not those of the manifest";
                Err(self.0.damaged(&file, what))
            }
        }
    }
}

/// The study that a folder, or a prefix in an object store, holds.
pub fn study_in(place: &Location) -> Result<Study, StudyError> {
    Ok(Folder::open(place)?.into_plan().0)
}

/// Adds the parts of `sources` to `target`, which is made when it does not exist. Returns the number of
/// parts added. Nothing is written unless all manifests are equal.
pub fn merge(target: &Location, sources: &[Location]) -> Result<usize, StudyError> {
    let sources: Vec<Folder> = store::open_alike(sources)?.into_iter().map(Folder).collect();
    let Some(first) = sources.first() else { return Ok(0) };
    let target = Folder::claim(target, first.0.manifest.clone())?;
    let (mut added, mut damaged) = (0, None);
    for chunk in target.chunks() {
        if target.read_chunk(chunk).is_ok() {
            continue;
        }
        for source in &sources {
            match if_there(source.read_chunk(chunk)) {
                Ok(Some(records)) => {
                    target.write_chunk(chunk, &records)?;
                    added += 1;
                    break;
                }
                Ok(None) => (),
                Err(error) => damaged = damaged.or(Some(error)),
            }
        }
    }
    damaged.map_or(Ok(added), |error| Err(error.into()))
}
