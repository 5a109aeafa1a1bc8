//! A table on disk: a folder with a manifest, the data and parts, each written whole or not at all.

use super::build::{jobs, reference};
use super::manifest::SCHEMA;
use super::parts::{self, Block};
use super::{BuildError, Manifest, Settings, TvbTable, Watch};
use crate::backend::{Backend, Job, Problem};
use crate::data::{
    DataError, Dataset, ReadOptions, read_path, remove_leftovers, replace_file, write_parquet,
};
use crate::fit::{PathFits, StatusCode};
use crate::model::{Model, ModelData, ModelError};
use crate::resample::{Design, Resamples};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What is wrong with a table on disk.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// It is not a table.
    #[error("{folder} is not a TVB table: {why}; make one with `trustvb table build`")]
    NotATable {
        /// The folder.
        folder: String,
        /// What is missing.
        why: String,
    },
    /// A folder that is not ours to write into.
    #[error("{folder} holds `{file}` and no manifest.json: it is not a table; give another folder")]
    Foreign {
        /// The folder.
        folder: String,
        /// Something in it.
        file: String,
    },
    /// A newer format.
    #[error(
        "{folder} was written in format {found} by trustvb {library}, and this version reads up to \
         format {SCHEMA}; install a newer trustvb"
    )]
    Newer {
        /// The folder.
        folder: String,
        /// Its format.
        found: u64,
        /// The version that wrote it.
        library: String,
    },
    /// Two tables, or a table and a request, that do not belong together.
    #[error(
        "{folder} holds a table made with other settings: its {field} is {theirs}, here it is {ours}; \
         use another folder, or the same settings"
    )]
    Different {
        /// The folder.
        folder: String,
        /// The first field that differs.
        field: String,
        /// Value in the folder.
        theirs: String,
        /// Value asked for.
        ours: String,
    },
    /// A file is not what it should be.
    #[error(
        "{file} is damaged: {what}; remove it and run `trustvb table build` again to make it anew"
    )]
    Damaged {
        /// The file.
        file: String,
        /// What is wrong.
        what: String,
    },
    /// A shard that cannot be.
    #[error("shard {0}/{1} is not possible: the first number must be between 1 and the second")]
    Shard(u32, u32),
    /// The file system refused.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// Reading or writing columns failed.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The model and the stored data do not fit.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The fits failed or were interrupted.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// Which share of the parts to build: `number` of `of`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1.
    pub number: u32,
    /// Of how many.
    pub of: u32,
}

impl Default for Shard {
    fn default() -> Shard {
        Shard { number: 1, of: 1 }
    }
}

impl Shard {
    /// Whether it makes a part, counted from 0 in the table's order: every n-th is its own.
    pub fn makes(&self, part: usize) -> bool {
        part as u32 % self.of == self.number - 1
    }

    /// The numbers of the shares, of so many, that make any of these parts.
    pub fn making(parts: impl IntoIterator<Item = usize>, of: u32) -> Vec<u32> {
        let numbers: BTreeSet<u32> =
            parts.into_iter().map(|part| part as u32 % of.max(1) + 1).collect();
        numbers.into_iter().collect()
    }
}

const MANIFEST: &str = "manifest.json";
const DATA: &str = "data.parquet";
const PARTS: &str = "parts";

fn io_error(path: &Path) -> impl Fn(io::Error) -> TableError + '_ {
    |source| TableError::Io { file: path.display().to_string(), source }
}

/// Builds a table in `folder`, or what is missing of it there; `shard` does only its share.
///
/// Refuses a folder that holds a table with other settings.
#[allow(clippy::too_many_arguments)]
pub fn build_on_disk(
    folder: &Path,
    settings: Settings,
    model: &dyn Model,
    data: &ModelData,
    with_data: bool,
    resamples: &Resamples,
    backend: &dyn Backend,
    shard: Shard,
    watch: &Watch<'_>,
) -> Result<(), TableError> {
    if shard.number < 1 || shard.number > shard.of {
        return Err(TableError::Shard(shard.number, shard.of));
    }
    let manifest = Manifest::new(settings, model.layout(), data);
    prepare(folder, &manifest, with_data.then_some(data))?;
    let missing: Vec<Block> = Block::all(&manifest)
        .into_iter()
        .enumerate()
        .filter(|(i, _)| shard.makes(*i))
        .map(|(_, block)| block)
        .filter(|block| parts::read(&part(folder, *block), &manifest, *block).is_err())
        .collect();
    let paths: usize = missing.iter().map(|block| block.jobs(&manifest).len()).sum();
    (watch.begin)(paths as u64);
    if missing.is_empty() {
        return Ok(());
    }
    let reference = reference(model, &manifest.omegas, &manifest.start, &manifest.path)?;
    let problem = Problem {
        model,
        omegas: &manifest.omegas,
        resamples,
        reference: &reference,
        options: &manifest.path,
    };
    missing.par_iter().with_max_len(1).try_for_each(|block| {
        let jobs = block.jobs(&manifest);
        let fits = backend.run(&problem, &jobs, watch.cancel, watch.done);
        let paths = jobs
            .into_iter()
            .zip(fits)
            .map(|(job, fits)| fits.map(|fits| (job, fits)).ok_or(BuildError::Cancelled))
            .collect::<Result<Vec<_>, _>>()?;
        parts::write(&part(folder, *block), &manifest, &paths)
    })
}

fn part(folder: &Path, block: Block) -> PathBuf {
    folder.join(PARTS).join(block.file_name())
}

/// Makes the folder with its manifest and data, or checks that they are there and the same.
fn prepare(folder: &Path, manifest: &Manifest, data: Option<&ModelData>) -> Result<(), TableError> {
    let file = folder.join(MANIFEST);
    if file.exists() {
        same_manifest(folder, manifest)?;
    } else if folder.exists() {
        refuse_foreign(folder)?;
    }
    let parts = folder.join(PARTS);
    fs::create_dir_all(&parts).map_err(io_error(&parts))?;
    remove_leftovers(folder);
    remove_leftovers(&parts);
    if let Some(data) = data.filter(|_| !folder.join(DATA).exists()) {
        let dataset = Dataset::from_columns(data.column_names(), data.columns())?;
        write_parquet(&dataset, &folder.join(DATA))?;
    }
    if file.exists() {
        return Ok(());
    }
    let text = serde_json::to_string_pretty(manifest)
        .map_err(|e| TableError::Io { file: file.display().to_string(), source: e.into() })?;
    replace_file(&file, |mut f| f.write_all(text.as_bytes()).map(|()| f)).map_err(io_error(&file))
}

/// A folder without a manifest may be a table whose builder has just begun, or was killed then. One
/// with anything else in it is somebody's.
fn refuse_foreign(folder: &Path) -> Result<(), TableError> {
    for entry in fs::read_dir(folder).map_err(io_error(folder))? {
        let name = entry.map_err(io_error(folder))?.file_name();
        let name = name.to_string_lossy();
        if name != PARTS && name != DATA && name != MANIFEST && !name.ends_with(".tmp") {
            return Err(TableError::Foreign {
                folder: folder.display().to_string(),
                file: name.into_owned(),
            });
        }
    }
    Ok(())
}

/// Makes the folder of a table with these settings, or checks that it is one, before any fit.
pub fn claim(
    folder: &Path,
    settings: &Settings,
    model: &dyn Model,
    data: &ModelData,
    with_data: bool,
) -> Result<(), TableError> {
    let manifest = Manifest::new(settings.clone(), model.layout(), data);
    prepare(folder, &manifest, with_data.then_some(data))
}

/// Makes the folder of a table with these settings, or checks that it is one, and says of each part whether
/// it is there, in the order in which shards take them: shard `i/n` takes parts `i`, `i + n`, ….
pub fn survey(
    folder: &Path,
    settings: Settings,
    model: &dyn Model,
    data: &ModelData,
    with_data: bool,
) -> Result<Vec<bool>, TableError> {
    let manifest = Manifest::new(settings, model.layout(), data);
    prepare(folder, &manifest, with_data.then_some(data))?;
    let there = |block: Block| parts::read(&part(folder, block), &manifest, block).is_ok();
    Ok(Block::all(&manifest).into_par_iter().map(there).collect())
}

fn same_manifest(folder: &Path, manifest: &Manifest) -> Result<(), TableError> {
    match read_manifest(folder)?.difference(manifest) {
        None => Ok(()),
        Some((field, theirs, ours)) => {
            Err(TableError::Different { folder: folder.display().to_string(), field, theirs, ours })
        }
    }
}

fn read_manifest(folder: &Path) -> Result<Manifest, TableError> {
    let name = folder.display().to_string();
    let file = folder.join(MANIFEST);
    let text = fs::read_to_string(&file).map_err(|_| TableError::NotATable {
        folder: name.clone(),
        why: if folder.exists() {
            format!("it has no readable {MANIFEST}")
        } else {
            "there is no such folder".to_owned()
        },
    })?;
    let damaged = |what: String| TableError::Damaged { file: file.display().to_string(), what };
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|e| damaged(e.to_string()))?;
    let found =
        value["schema"].as_u64().ok_or_else(|| damaged("it has no schema number".into()))?;
    if found > u64::from(SCHEMA) {
        let library = value["library"].as_str().unwrap_or("of an unknown version").to_owned();
        return Err(TableError::Newer { folder: name, found, library });
    }
    let manifest: Manifest = serde_json::from_value(value).map_err(|e| damaged(e.to_string()))?;
    if manifest.block == 0 || manifest.omegas.is_empty() || manifest.layout.is_empty() {
        return Err(damaged("it describes an empty table".into()));
    }
    Ok(manifest)
}

/// Writes a table that is in memory. A part whose paths it does not all have is left out, to be built
/// later.
pub fn save(table: &TvbTable, folder: &Path) -> Result<(), TableError> {
    let manifest = table.manifest();
    prepare(folder, manifest, table.data())?;
    for block in Block::all(manifest) {
        let paths: Option<Vec<(Job, _)>> = block
            .jobs(manifest)
            .into_iter()
            .map(|job| table.path(job).map(|fits| (job, fits.clone())))
            .collect();
        if let Some(paths) = paths {
            parts::write(&part(folder, block), manifest, &paths)?;
        }
    }
    Ok(())
}

/// Opens a table, complete or not. Parts that are not there are left out; a damaged one is an error.
pub fn open(folder: &Path) -> Result<TvbTable, TableError> {
    let manifest = read_manifest(folder)?;
    let blocks: Vec<Block> =
        Block::all(&manifest).into_iter().filter(|b| part(folder, *b).exists()).collect();
    let read: Vec<_> = blocks
        .par_iter()
        .map(|block| parts::read(&part(folder, *block), &manifest, *block))
        .collect::<Result<_, _>>()?;
    let paths = read.into_iter().flatten().collect();
    let data = read_data(folder, &manifest)?;
    Ok(TvbTable::new(manifest, paths, data))
}

fn read_data(folder: &Path, manifest: &Manifest) -> Result<Option<ModelData>, TableError> {
    let file = folder.join(DATA);
    if !file.exists() {
        return Ok(None);
    }
    let dataset = read_path(&file, &ReadOptions::default())?.into_dataset()?;
    let data = ModelData::from_dataset(&manifest.model, dataset)?;
    if super::manifest::hash_data(&data) != manifest.data_hash {
        return Err(TableError::Damaged {
            file: file.display().to_string(),
            what: "the data are not those the table was built from".to_owned(),
        });
    }
    Ok(Some(data))
}

/// Adds the parts of `sources` to `target`, which is made when it does not exist. Returns the
/// number of parts added.
pub fn merge(target: &Path, sources: &[PathBuf]) -> Result<usize, TableError> {
    let mut added = 0;
    for source in sources {
        let manifest = read_manifest(source)?;
        let data = match target.join(DATA).exists() {
            true => None,
            false => read_data(source, &manifest)?,
        };
        prepare(target, &manifest, data.as_ref())?;
        for block in Block::all(&manifest) {
            let (from, to) = (part(source, block), part(target, block));
            if !from.exists() || parts::read(&to, &manifest, block).is_ok() {
                continue;
            }
            let paths = parts::read(&from, &manifest, block)?;
            parts::write(&to, &manifest, &paths)?;
            added += 1;
        }
    }
    Ok(added)
}

/// What a table on disk holds.
#[derive(Clone, Debug)]
pub struct TableInfo {
    /// Its manifest.
    pub manifest: Manifest,
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
fn read_settled(
    file: &Path,
    manifest: &Manifest,
    block: Block,
) -> Result<Vec<(Job, PathFits)>, TableError> {
    match parts::read(file, manifest, block) {
        Err(error) if !is_missing(&error) => parts::read(file, manifest, block),
        other => other,
    }
}

fn is_missing(error: &TableError) -> bool {
    matches!(error, TableError::Data(error) if error.is_missing_file())
}

/// Looks at a table without refusing one that is incomplete or partly damaged. Builders may be at work:
/// a part that is being written is missing, not damaged.
pub fn info(folder: &Path) -> Result<TableInfo, TableError> {
    let manifest = read_manifest(folder)?;
    let mut info = TableInfo {
        has_data: folder.join(DATA).exists(),
        paths: (0, jobs(&manifest).len()),
        missing: BTreeMap::new(),
        damaged: Vec::new(),
        n_parts: 0,
        missing_parts: Vec::new(),
        fits: vec![[0; 3]; manifest.omegas.len()],
        sweeps: 0,
        manifest,
    };
    for block in Block::all(&info.manifest) {
        let file = part(folder, block);
        info.n_parts += 1;
        match read_settled(&file, &info.manifest, block) {
            Ok(paths) => {
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
            Err(error) => {
                info.missing_parts.push(info.n_parts - 1);
                if !is_missing(&error) {
                    info.damaged.push(error.to_string());
                }
                let replicates = block.jobs(&info.manifest).into_iter().map(|job| job.replicate);
                info.missing.entry(block.design).or_default().extend(replicates);
            }
        }
    }
    Ok(info)
}
