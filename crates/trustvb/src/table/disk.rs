//! A table in a folder or an object store: built, resumed, saved, opened and merged.

use super::build::{bytes, check_memory, reference};
use super::parts::{self, Block};
use super::{BuildError, Manifest, Settings, TvbTable, Watch};
use crate::backend::{Backend, Job, Problem};
use crate::data::{DataError, Dataset, dataset_bytes, read_dataset_in};
use crate::location::Location;
use crate::model::{Model, ModelData, ModelError};
use crate::resample::Resamples;
use crate::store::{self, PARTS, Store, StoreError, if_there};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// What is wrong with a table on disk.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The folder or its files are not what they should be.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A shard that cannot be.
    #[error("shard {0}/{1} is not possible: the first number must be between 1 and the second")]
    Shard(u32, u32),
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

/// A table's folder or prefix, with its manifest.
pub(super) type Kept = Store<Manifest>;

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

/// The file of the data.
pub(super) const DATA: &str = "data.parquet";

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
    let kept = prepare(place, manifest, with_data.then_some(data))?;
    let manifest = &kept.manifest;
    let missing: Vec<Block> = Block::all(manifest)
        .into_par_iter()
        .enumerate()
        .filter(|(i, _)| shard.makes(*i))
        .map(|(_, block)| block)
        .filter(|block| parts::read(&kept, *block).is_err())
        .collect();
    let paths: usize = missing.iter().map(|block| block.jobs(manifest).len()).sum();
    (watch.begin)(paths as u64);
    if missing.is_empty() {
        return Ok(());
    }
    // Every thread holds a part, as fits and as columns; the full-data path is held twice.
    let at_once = rayon::current_num_threads().min(missing.len()) * manifest.block as usize;
    check_memory(manifest, 2 * (at_once + 1), 0.0).map_err(BuildError::from)?;
    let reference = reference(model, &manifest.omegas, &manifest.start, &manifest.path)?;
    let problem = Problem {
        model,
        omegas: &manifest.omegas,
        resamples,
        reference: &reference,
        options: &manifest.path,
    };
    missing.par_iter().with_max_len(1).try_for_each(|block| {
        let jobs = block.jobs(manifest);
        let fits = backend.run(&problem, &jobs, watch.cancel, watch.done);
        let paths = jobs
            .into_iter()
            .zip(fits)
            .map(|(job, fits)| fits.map(|fits| (job, fits)).ok_or(BuildError::Cancelled))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(parts::write(&kept, *block, &paths)?)
    })
}

/// Claims the place of a table, and writes the data unless they are there.
///
/// The manifest comes first: of two builders with different data only the one whose manifest it is may write them.
fn prepare(
    place: &Location,
    manifest: Manifest,
    data: Option<&ModelData>,
) -> Result<Kept, TableError> {
    let kept = Kept::claim(place, manifest)?;
    if let Some(data) = data
        && !kept.has(DATA)?
    {
        let dataset = Dataset::from_columns(data.column_names(), data.columns())?;
        kept.write(DATA, dataset_bytes(&dataset))?;
    }
    Ok(kept)
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
    prepare(place, manifest, with_data.then_some(data)).map(|_| ())
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
    let kept = prepare(place, manifest, with_data.then_some(data))?;
    let there = |block: Block| parts::read(&kept, block).is_ok();
    Ok(Block::all(&kept.manifest).into_par_iter().map(there).collect())
}

/// Writes a table that is in memory. A part whose paths it does not all have is left out, to be built
/// later.
pub fn save(table: &TvbTable, place: &Location) -> Result<(), TableError> {
    let kept = prepare(place, table.manifest().clone(), table.data())?;
    for block in Block::all(&kept.manifest) {
        let paths: Option<Vec<(Job, _)>> = block
            .jobs(&kept.manifest)
            .into_iter()
            .map(|job| table.path(job).map(|fits| (job, fits.clone())))
            .collect();
        if let Some(paths) = paths {
            parts::write(&kept, block, &paths)?;
        }
    }
    Ok(())
}

/// Opens a table, complete or not. Parts that are not there are left out; a damaged one is an error.
pub fn open(place: &Location) -> Result<TvbTable, TableError> {
    let kept = Kept::open(place)?;
    let there: BTreeSet<String> = kept.names_in(PARTS)?.into_iter().collect();
    let blocks: Vec<Block> = Block::all(&kept.manifest)
        .into_iter()
        .filter(|block| there.contains(block.file().trim_start_matches("parts/")))
        .collect();
    // Beside the table, every thread holds a part as it is read: its bytes and its columns.
    let block = kept.manifest.block as usize;
    let reading = rayon::current_num_threads().min(blocks.len()) * block;
    let more = 2.0 * bytes(&kept.manifest, reading);
    check_memory(&kept.manifest, blocks.len() * block, more).map_err(BuildError::from)?;
    let read: Vec<_> = blocks
        .par_iter()
        .map(|block| if_there(parts::read(&kept, *block)))
        .collect::<Result<_, _>>()?;
    let paths = read.into_iter().flatten().flatten().collect();
    let data = read_data(&kept)?;
    Ok(TvbTable::new(kept.manifest, paths, data))
}

/// The data of a table, if they are there and those it was built from.
pub(super) fn read_data(kept: &Kept) -> Result<Option<ModelData>, TableError> {
    let (place, manifest) = (&kept.place, &kept.manifest);
    let file = place.name_of(DATA);
    let content = place.read(DATA).map_err(|source| StoreError::Io { file: file.clone(), source });
    let Some(content) = if_there(content)? else { return Ok(None) };
    let data = ModelData::from_dataset(&manifest.model, read_dataset_in(content, &file)?)?;
    let wrong = |what: &str| kept.damaged(DATA, what);
    if super::hash_data(&data) != manifest.data_hash {
        return Err(wrong("the data are not those the table was built from").into());
    }
    if data.n_units() != manifest.n_units || data.variables() != manifest.columns {
        return Err(wrong("its units or columns are not those of the manifest").into());
    }
    Ok(Some(data))
}

/// Adds the parts of `sources` to `target`, which is made when it does not exist. Returns the number of parts
/// added. Nothing is written unless all manifests are equal; of several sources that have a part, the first
/// that is sound gives it.
pub fn merge(target: &Location, sources: &[Location]) -> Result<usize, TableError> {
    let sources: Vec<Kept> = store::open_alike(sources)?;
    let Some(first) = sources.first() else { return Ok(0) };
    let mut data = None;
    for source in &sources {
        if data.is_none() {
            data = read_data(source)?;
        }
    }
    let target = prepare(target, first.manifest.clone(), data.as_ref())?;
    let (mut added, mut damaged) = (0, None);
    for block in Block::all(&target.manifest) {
        if parts::read(&target, block).is_ok() {
            continue;
        }
        let mut found = None;
        for source in &sources {
            match if_there(parts::read(source, block)) {
                Ok(Some(paths)) => {
                    found = Some(paths);
                    break;
                }
                Ok(None) => (),
                Err(error) => damaged = damaged.or(Some(error)),
            }
        }
        if let Some(paths) = found {
            parts::write(&target, block, &paths)?;
            added += 1;
        }
    }
    damaged.map_or(Ok(added), |error| Err(error.into()))
}
