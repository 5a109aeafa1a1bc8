//! What came of many data sets in one Parquet file, kept as they are finished and resumed.
//!
//! Beside the file, a folder of parts under a manifest holds what is done: each part has the rows of a block of groups.
//! When all are there they become the file, row group after row group, and the folder goes. The file names the manifest
//! that it was made for, so that the same work is not done twice. What it holds follows from the parts alone, and what
//! they hold from the manifest: the bytes are the same resumed or not.

use crate::data::{RowGroups, Sheet, metadata_of, read_sheet, replace_file};
use crate::location::Location;
use crate::remedy::Remedy;
use crate::store::{self, MANIFEST, PARTS, Store, StoreError, Words, seal_of};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Version of the files' meaning.
const SCHEMA: u32 = 1;

/// The key under which a finished file names its manifest.
const OWNER: &str = "trustvb.manifest";

/// The column that says why a group has no other cells.
pub const ERROR: &str = "error";

/// Rows that are held before they become a row group of the file.
const ROW_GROUP: usize = 1 << 17;

/// What is done for which groups: two runs with equal descriptions give the same rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The column whose values are the groups.
    pub by: String,
    /// What the data are called, in messages too.
    pub source: String,
    /// A hash of all groups' rows.
    pub data_hash: String,
    /// Groups.
    pub n_groups: usize,
    /// Everything else that decides an answer, by its name.
    pub settings: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Manifest {
    schema: u32,
    library: String,
    by: String,
    source: String,
    data_hash: String,
    n_groups: usize,
    block: usize,
    settings: Value,
}

impl Manifest {
    fn new(run: &Run) -> Manifest {
        Manifest {
            schema: SCHEMA,
            library: env!("CARGO_PKG_VERSION").to_owned(),
            by: run.by.clone(),
            source: run.source.clone(),
            data_hash: run.data_hash.clone(),
            n_groups: run.n_groups,
            block: block(run.n_groups),
            settings: run.settings.clone(),
        }
    }
}

/// Groups per part: few enough that a killed run loses little, many enough that there are not thousands of files.
fn block(n_groups: usize) -> usize {
    (n_groups / 500).clamp(20, 1000)
}

impl store::Manifest for Manifest {
    const WORDS: &'static Words = &Words {
        what: "a folder of finished groups",
        noun: "run",
        make: Remedy::Do("give another name, or remove it"),
        mend: Remedy::Do("remove it, and the same command makes it anew"),
    };
    const SCHEMA: u32 = SCHEMA;
    const OWN: Option<&'static str> = Some("by");
    const EARLY: &'static [&'static str] = &[];

    fn schema(&self) -> u32 {
        self.schema
    }

    fn check(&mut self) -> Result<(), String> {
        let expected = block(self.n_groups);
        match self.block == expected {
            true => Ok(()),
            false => Err(format!("its block is {}, and can only be {expected}", self.block)),
        }
    }

    fn upgrade(_: &mut Value) {}
}

/// The folder of what is done, beside the file that it becomes.
pub struct Unfinished {
    store: Store<Manifest>,
    folder: PathBuf,
    file: PathBuf,
}

/// Whether a file holds all groups of a run.
pub fn is_finished(file: &Path, run: &Run) -> bool {
    let owner = seal_of(&Manifest::new(run));
    metadata_of(file).into_iter().any(|(key, value)| key == OWNER && value == owner)
}

/// The rows of a file that holds all groups of a run.
///
/// # Errors
/// If it cannot be read, or is not that of the run.
pub fn read_finished(file: &Path, run: &Run) -> Result<Sheet, StoreError> {
    let name = || file.display().to_string();
    let content = fs::read(file).map_err(|source| StoreError::Io { file: name(), source })?;
    let wrong = |what: String| StoreError::Io { file: name(), source: io::Error::other(what) };
    let (sheet, metadata) = read_sheet(content).map_err(wrong)?;
    let owner = seal_of(&Manifest::new(run));
    match metadata.iter().any(|(key, value)| key == OWNER && *value == owner) {
        true => Ok(sheet),
        false => Err(wrong("it is not that of this run".to_owned())),
    }
}

/// The folder of parts of a file.
pub fn folder_of(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".parts");
    file.with_file_name(name)
}

impl Unfinished {
    /// Makes the folder for a file, or goes on with what is in it.
    ///
    /// # Errors
    /// If the folder holds another run, or anything else.
    pub fn claim(file: &Path, run: &Run) -> Result<Unfinished, StoreError> {
        let folder = folder_of(file);
        let store = Store::claim(&Location::from(folder.as_path()), Manifest::new(run))?;
        Ok(Unfinished { store, folder, file: file.to_path_buf() })
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Blocks of groups.
    pub fn n_blocks(&self) -> usize {
        self.store.manifest.n_groups.div_ceil(self.store.manifest.block)
    }

    /// The groups of a block, from 0.
    pub fn groups_of(&self, block: usize) -> Range<usize> {
        let (size, all) = (self.store.manifest.block, self.store.manifest.n_groups);
        (block * size).min(all)..((block + 1) * size).min(all)
    }

    /// The block of a group.
    pub fn block_of(&self, group: usize) -> usize {
        group / self.store.manifest.block
    }

    fn part_file(block: usize) -> String {
        format!("{PARTS}/{block:05}.parquet")
    }

    /// What the seal of a block's part says it holds.
    fn content(&self, block: usize) -> String {
        let groups = self.groups_of(block);
        format!("groups {}-{}", groups.start + 1, groups.end)
    }

    /// The rows of a block that is done.
    ///
    /// # Errors
    /// If it is not there, or not what it should be.
    pub fn read(&self, block: usize) -> Result<Sheet, StoreError> {
        self.store.read_sheet(&Unfinished::part_file(block), &self.content(block))
    }

    /// Keeps the rows of a block, whole or not at all.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn keep(&self, block: usize, rows: &Sheet) -> Result<(), StoreError> {
        let (file, content) = (Unfinished::part_file(block), self.content(block));
        self.store.write_part(&file, &content, &rows.values())
    }

    /// Makes the file of all blocks and removes the folder. Nothing happens if no group succeeded: then the first
    /// error is given back, and the folder goes too.
    ///
    /// # Errors
    /// If a block is missing or damaged, or the file cannot be written.
    pub fn finish(self) -> Result<Result<Finished, String>, StoreError> {
        let (mut done, mut first_error) = (Finished::default(), None);
        for block in 0..self.n_blocks() {
            let rows = self.read(block)?;
            let errors: Vec<&String> = rows.words(ERROR).unwrap_or_default().iter().collect();
            let failed = errors.iter().filter(|error| !error.is_empty()).count();
            first_error =
                first_error.or_else(|| errors.iter().find(|e| !e.is_empty()).copied().cloned());
            done.n_rows += rows.n_rows();
            done.n_failed += failed;
        }
        if let Some(error) = first_error.filter(|_| done.n_failed == self.store.manifest.n_groups) {
            self.remove();
            return Ok(Err(error));
        }
        self.write()?;
        self.remove();
        Ok(Ok(done))
    }

    /// Writes the file, a few parts at a time.
    fn write(&self) -> Result<(), StoreError> {
        let owner = [(OWNER, seal_of(&self.store.manifest))];
        let mut first = self.read(0)?;
        let mut next = 1;
        let failed = |error: StoreError| io::Error::other(error.to_string());
        replace_file(&self.file, |file| {
            let mut groups = RowGroups::begin(&first.values(), &owner, file)?;
            loop {
                while first.n_rows() < ROW_GROUP && next < self.n_blocks() {
                    if !first.append(self.read(next).map_err(failed)?) {
                        return Err(io::Error::other("its parts have different columns"));
                    }
                    next += 1;
                }
                groups.write(&first.values())?;
                if next == self.n_blocks() {
                    return groups.finish();
                }
                first = self.read(next).map_err(failed)?;
                next += 1;
            }
        })
        .map_err(|source| StoreError::Io { file: self.file.display().to_string(), source })
    }

    /// Removes the folder as far as it is ours. What cannot be removed does no harm.
    fn remove(&self) {
        for block in 0..self.n_blocks() {
            let _ = fs::remove_file(self.folder.join(Unfinished::part_file(block)));
        }
        let _ = fs::remove_dir(self.folder.join(PARTS));
        let _ = fs::remove_file(self.folder.join(MANIFEST));
        let _ = fs::remove_dir(&self.folder);
    }
}

/// What a finished file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Finished {
    /// Rows.
    pub n_rows: usize,
    /// Groups that are a row with an error.
    pub n_failed: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Cells;
    use serde_json::json;

    fn run(n_groups: usize, seed: u64) -> Run {
        Run {
            by: "site".to_owned(),
            source: "plants.csv".to_owned(),
            data_hash: "abc".to_owned(),
            n_groups,
            settings: json!({"seed": seed, "level": [0.95]}),
        }
    }

    /// Two rows of a group; every seventh has failed and is one.
    fn rows(groups: Range<usize>, fails: bool) -> Sheet {
        let (mut labels, mut lower, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        for group in groups {
            let failed = fails || group % 7 == 3;
            for row in 0..if failed { 1 } else { 2 } {
                labels.push(format!("g{group}"));
                lower.push(if failed { f64::NAN } else { (group + row) as f64 / 3.0 });
                errors.push(if failed { "too few rows".to_owned() } else { String::new() });
            }
        }
        let columns = [
            ("site", Cells::Text(labels)),
            ("lower", Cells::Numbers(lower)),
            (ERROR, Cells::Text(errors)),
        ];
        Sheet { columns: columns.map(|(name, cells)| (name.to_owned(), cells)).to_vec() }
    }

    fn complete(file: &Path, order: impl Iterator<Item = usize>) -> Finished {
        let unfinished = Unfinished::claim(file, &run(50, 1)).unwrap();
        for block in order {
            if unfinished.read(block).is_err() {
                unfinished.keep(block, &rows(unfinished.groups_of(block), false)).unwrap();
            }
        }
        unfinished.finish().unwrap().unwrap()
    }

    #[test]
    fn a_resumed_run_gives_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a.parquet"), folder.path().join("b.parquet"));
        let done = complete(&a, 0..3);
        assert_eq!((done.n_rows, done.n_failed), (93, 7));
        assert!(!folder_of(&a).exists());
        assert!(is_finished(&a, &run(50, 1)) && !is_finished(&a, &run(50, 2)));
        let killed = Unfinished::claim(&b, &run(50, 1)).unwrap();
        killed.keep(2, &rows(killed.groups_of(2), false)).unwrap();
        assert_eq!(killed.groups_of(2), 40..50);
        drop(killed);
        assert!(!is_finished(&b, &run(50, 1)));
        complete(&b, (0..3).rev());
        assert_eq!(fs::read(&a).unwrap(), fs::read(&b).unwrap());
        assert_eq!(read(&a).n_rows(), 93);
    }

    fn read(file: &Path) -> Sheet {
        assert!(read_finished(file, &run(50, 2)).is_err());
        read_finished(file, &run(50, 1)).unwrap()
    }

    #[test]
    fn other_settings_and_damage_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.parquet");
        let unfinished = Unfinished::claim(&file, &run(50, 1)).unwrap();
        unfinished.keep(0, &rows(0..20, false)).unwrap();
        let error = Unfinished::claim(&file, &run(50, 2)).err().unwrap().to_string();
        assert!(error.contains("settings.seed is 1, here it is 2"), "{error}");
        // A part in the place of another, or of another run, is none of its own.
        let parts = folder_of(&file).join(PARTS);
        fs::copy(parts.join("00000.parquet"), parts.join("00001.parquet")).unwrap();
        assert!(unfinished.read(0).is_ok() && unfinished.read(1).is_err());
        assert!(unfinished.finish().is_err());
    }

    #[test]
    fn where_every_group_fails_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.parquet");
        let unfinished = Unfinished::claim(&file, &run(30, 1)).unwrap();
        for block in 0..2 {
            unfinished.keep(block, &rows(unfinished.groups_of(block), true)).unwrap();
        }
        assert_eq!(unfinished.finish().unwrap(), Err("too few rows".to_owned()));
        assert!(!file.exists() && !folder_of(&file).exists());
    }
}
