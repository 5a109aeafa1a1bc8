//! A table in a folder or an object store: a manifest, the data and parts, each written whole or not at all.

use super::build::{jobs, reference};
use super::manifest::SCHEMA;
use super::parts::{self, Block, PARTS};
use super::{BuildError, Manifest, Settings, TvbTable, Watch};
use crate::backend::{Backend, Job, Problem};
use crate::data::{DataError, Dataset, dataset_bytes, read_dataset_in, remove_leftovers};
use crate::fit::{PathFits, StatusCode};
use crate::location::Location;
use crate::model::{Model, ModelData, ModelError};
use crate::resample::{Design, Resamples};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

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
    /// A file where a folder should be.
    #[error("{folder} is a file, and a table is a folder; give another name")]
    IsFile {
        /// The file.
        folder: String,
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

fn io_error(file: String) -> impl FnOnce(io::Error) -> TableError {
    |source| TableError::Io { file, source }
}

/// Whether the table has a file.
fn has(place: &Location, file: &str) -> Result<bool, TableError> {
    place.has(file).map_err(io_error(place.name_of(file)))
}

/// Builds a table in `place`, or what is missing of it there; `shard` does only its share.
///
/// Refuses a place that holds a table with other settings.
#[allow(clippy::too_many_arguments)]
pub fn build_on_disk(
    place: &Location,
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
    prepare(place, &manifest, with_data.then_some(data))?;
    let missing: Vec<Block> = Block::all(&manifest)
        .into_iter()
        .enumerate()
        .filter(|(i, _)| shard.makes(*i))
        .map(|(_, block)| block)
        .filter(|block| parts::read(place, &manifest, *block).is_err())
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
        parts::write(place, &manifest, *block, &paths)
    })
}

/// Writes manifest and data, or checks that they are there and the same.
fn prepare(
    place: &Location,
    manifest: &Manifest,
    data: Option<&ModelData>,
) -> Result<(), TableError> {
    if place.folder().is_some_and(Path::is_file) {
        return Err(TableError::IsFile { folder: place.to_string() });
    }
    let is_there = has(place, MANIFEST)?;
    if is_there {
        same_manifest(place, manifest)?;
    } else if place.exists().map_err(io_error(place.to_string()))? {
        refuse_foreign(place)?;
    }
    if let Some(folder) = place.folder() {
        remove_leftovers(folder);
        remove_leftovers(&folder.join(PARTS));
    }
    let write = |file: &str, content: io::Result<Vec<u8>>| {
        content
            .and_then(|content| place.write(file, content))
            .map_err(io_error(place.name_of(file)))
    };
    if let Some(data) = data
        && !has(place, DATA)?
    {
        let dataset = Dataset::from_columns(data.column_names(), data.columns())?;
        write(DATA, dataset_bytes(&dataset))?;
    }
    if !is_there {
        write(MANIFEST, serde_json::to_vec_pretty(manifest).map_err(io::Error::from))?;
    }
    Ok(())
}

/// A folder without a manifest may be a table whose builder has just begun, or was killed then. One
/// with anything else in it is somebody's.
fn refuse_foreign(place: &Location) -> Result<(), TableError> {
    for name in place.names().map_err(io_error(place.to_string()))? {
        if name != PARTS && name != DATA && name != MANIFEST && !name.ends_with(".tmp") {
            return Err(TableError::Foreign { folder: place.to_string(), file: name });
        }
    }
    Ok(())
}

/// Makes the folder of a table with these settings, or checks that it is one, before any fit.
pub fn claim(
    place: &Location,
    settings: &Settings,
    model: &dyn Model,
    data: &ModelData,
    with_data: bool,
) -> Result<(), TableError> {
    let manifest = Manifest::new(settings.clone(), model.layout(), data);
    prepare(place, &manifest, with_data.then_some(data))
}

/// Makes the place of a table with these settings, or checks that it is one, and says of each part whether
/// it is there, in the order in which shards take them: shard `i/n` takes parts `i`, `i + n`, ….
pub fn survey(
    place: &Location,
    settings: Settings,
    model: &dyn Model,
    data: &ModelData,
    with_data: bool,
) -> Result<Vec<bool>, TableError> {
    let manifest = Manifest::new(settings, model.layout(), data);
    prepare(place, &manifest, with_data.then_some(data))?;
    let there = |block: Block| parts::read(place, &manifest, block).is_ok();
    Ok(Block::all(&manifest).into_par_iter().map(there).collect())
}

fn same_manifest(place: &Location, manifest: &Manifest) -> Result<(), TableError> {
    match read_manifest(place)?.difference(manifest) {
        None => Ok(()),
        Some((field, theirs, ours)) => {
            Err(TableError::Different { folder: place.to_string(), field, theirs, ours })
        }
    }
}

pub(super) fn read_manifest(place: &Location) -> Result<Manifest, TableError> {
    let name = place.to_string();
    let content = match place.read(MANIFEST) {
        Ok(content) => content,
        // A store says in its own words why it cannot be reached; a folder is there or not.
        Err(source) if place.folder().is_none() && source.kind() != io::ErrorKind::NotFound => {
            return Err(TableError::Io { file: place.name_of(MANIFEST), source });
        }
        Err(_) => {
            let why = match place.exists() {
                Ok(true) => format!("it has no readable {MANIFEST}"),
                _ if place.folder().is_some() => "there is no such folder".to_owned(),
                _ => "nothing is there".to_owned(),
            };
            return Err(TableError::NotATable { folder: name, why });
        }
    };
    let damaged = |what: String| TableError::Damaged { file: place.name_of(MANIFEST), what };
    let value: serde_json::Value =
        serde_json::from_slice(&content).map_err(|e| damaged(e.to_string()))?;
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
pub fn save(table: &TvbTable, place: &Location) -> Result<(), TableError> {
    let manifest = table.manifest();
    prepare(place, manifest, table.data())?;
    for block in Block::all(manifest) {
        let paths: Option<Vec<(Job, _)>> = block
            .jobs(manifest)
            .into_iter()
            .map(|job| table.path(job).map(|fits| (job, fits.clone())))
            .collect();
        if let Some(paths) = paths {
            parts::write(place, manifest, block, &paths)?;
        }
    }
    Ok(())
}

/// Opens a table, complete or not. Parts that are not there are left out; a damaged one is an error.
pub fn open(place: &Location) -> Result<TvbTable, TableError> {
    let manifest = read_manifest(place)?;
    let read: Vec<_> = Block::all(&manifest)
        .par_iter()
        .map(|block| if_there(parts::read(place, &manifest, *block)))
        .collect::<Result<_, _>>()?;
    let paths = read.into_iter().flatten().flatten().collect();
    let data = read_data(place, &manifest)?;
    Ok(TvbTable::new(manifest, paths, data))
}

/// `None` for a file that is not there.
pub(super) fn if_there<T>(read: Result<T, TableError>) -> Result<Option<T>, TableError> {
    match read {
        Err(TableError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

pub(super) fn read_data(
    place: &Location,
    manifest: &Manifest,
) -> Result<Option<ModelData>, TableError> {
    let file = place.name_of(DATA);
    let content = place.read(DATA).map_err(io_error(file.clone()));
    let Some(content) = if_there(content)? else { return Ok(None) };
    let data = ModelData::from_dataset(&manifest.model, read_dataset_in(content, &file)?)?;
    if super::hash_data(&data) != manifest.data_hash {
        return Err(TableError::Damaged {
            file,
            what: "the data are not those the table was built from".to_owned(),
        });
    }
    Ok(Some(data))
}

/// Adds the parts of `sources` to `target`, which is made when it does not exist. Returns the
/// number of parts added.
pub fn merge(target: &Location, sources: &[Location]) -> Result<usize, TableError> {
    let mut added = 0;
    for source in sources {
        let manifest = read_manifest(source)?;
        let data = match has(target, DATA)? {
            true => None,
            false => read_data(source, &manifest)?,
        };
        prepare(target, &manifest, data.as_ref())?;
        for block in Block::all(&manifest) {
            if parts::read(target, &manifest, block).is_ok() {
                continue;
            }
            if let Some(paths) = if_there(parts::read(source, &manifest, block))? {
                parts::write(target, &manifest, block, &paths)?;
                added += 1;
            }
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
    place: &Location,
    manifest: &Manifest,
    block: Block,
) -> Result<Option<Vec<(Job, PathFits)>>, TableError> {
    let read = || if_there(parts::read(place, manifest, block));
    read().or_else(|_| read())
}

/// Looks at a table without refusing one that is incomplete or partly damaged. Builders may be at work:
/// a part that is being written is missing, not damaged.
pub fn info(place: &Location) -> Result<TableInfo, TableError> {
    let manifest = read_manifest(place)?;
    let mut info = TableInfo {
        has_data: has(place, DATA)?,
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
        info.n_parts += 1;
        match read_settled(place, &info.manifest, block) {
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
                info.missing_parts.push(info.n_parts - 1);
                info.damaged.extend(absent.err().map(|error| error.to_string()));
                let replicates = block.jobs(&info.manifest).into_iter().map(|job| job.replicate);
                info.missing.entry(block.design).or_default().extend(replicates);
            }
        }
    }
    Ok(info)
}
