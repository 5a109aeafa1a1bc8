//! A table in a folder or an object store: built, resumed, saved, opened and merged.

use super::build::{check_memory, run};
use super::parts::{self, Chunk};
use super::{Blueprint, BuildError, KeptData, Manifest, TableReader, TvbTable, Watch};
use crate::backend::{Backend, Job};
use crate::data::{DataError, Dataset, dataset_bytes, read_dataset_in};
use crate::fit::PathFits;
use crate::location::Location;
use crate::model::{ModelData, ModelError};
use crate::remedy::{Advise, Remedy};
use crate::store::{self, Store, StoreError, if_there};
use crate::weights::UnitWeights;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

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
    /// Not all of the table is there to be saved.
    #[error(
        "this table was read for certain questions and holds only what they need; open it whole to save it"
    )]
    Thin,
    /// Rows that are not in memory.
    #[error(
        "a table keeps its rows, and these are not in memory; answers by jackknife need no table"
    )]
    Far,
}

impl Advise for TableError {
    fn remedies(&self) -> Vec<Remedy> {
        match self {
            TableError::Store(error) => error.remedies(),
            TableError::Data(error) => error.remedies(),
            TableError::Model(error) => error.remedies(),
            TableError::Build(error) => error.remedies(),
            TableError::Shard(..) | TableError::Thin | TableError::Far => Vec::new(),
        }
    }
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

/// Its last column, where units have weights.
const WEIGHT: &str = "(weight)";

/// Parts for each thread that are computed before any of them need be whole: more would be more memory, fewer would
/// leave threads idle at the end of each batch.
const PARTS_PER_THREAD: usize = 4;

/// Keeping tables in a place: a folder, or a prefix in an object store.
impl Blueprint {
    /// Builds the table in `place`, or what is missing of it there; `shard` does only its share.
    ///
    /// Refuses a place that holds a table with other settings.
    pub fn build_in(
        &self,
        place: &Location,
        with_data: bool,
        shard: Shard,
        backend: &dyn Backend,
        watch: &Watch<'_>,
    ) -> Result<(), TableError> {
        if shard.number < 1 || shard.number > shard.of {
            return Err(TableError::Shard(shard.number, shard.of));
        }
        let kept = self.prepare(place, with_data)?;
        let manifest = &kept.manifest;
        let missing: Vec<Chunk> = Chunk::all(manifest)
            .into_par_iter()
            .enumerate()
            .filter(|(i, _)| shard.makes(*i))
            .map(|(_, chunk)| chunk)
            .filter(|chunk| parts::read(&kept, *chunk).is_err())
            .collect();
        let paths: usize = missing.iter().map(|chunk| chunk.jobs(manifest).len()).sum();
        (watch.begin)(paths as u64);
        if missing.is_empty() {
            return Ok(());
        }
        let batch = rayon::current_num_threads() * PARTS_PER_THREAD;
        // The parts of a batch, each as fits and as columns; the full-data path is held twice.
        let of_batch = |chunks: &[Chunk]| chunks.iter().flat_map(|b| b.jobs(manifest)).collect();
        let batches: Vec<Vec<Job>> = missing.chunks(batch).map(of_batch).collect();
        let fits = |jobs: &Vec<Job>| manifest.fits_of(jobs.iter().copied());
        let at_once = batches.iter().map(fits).max().unwrap_or(0);
        let at_once = 2 * (at_once + manifest.omegas.len());
        check_memory(manifest, at_once, 0.0).map_err(BuildError::from)?;
        let gathered = Gathered::default();
        run(self, manifest, &batches, backend, watch, |job, fits| {
            match gathered.add(manifest, job, fits) {
                Some((chunk, paths)) => Ok::<(), TableError>(parts::write(&kept, chunk, &paths)?),
                None => Ok(()),
            }
        })
    }

    /// Makes the place of the table, or checks that it is its own, before any fit.
    pub fn claim(&self, place: &Location, with_data: bool) -> Result<(), TableError> {
        self.prepare(place, with_data).map(|_| ())
    }

    /// As [`claim`](Self::claim), and says of each part whether it is there, in the order in which shards take them:
    /// shard `i/n` takes parts `i`, `i + n`, ….
    pub fn survey(&self, place: &Location, with_data: bool) -> Result<Vec<bool>, TableError> {
        let kept = self.prepare(place, with_data)?;
        let there = |chunk: Chunk| parts::read(&kept, chunk).is_ok();
        Ok(Chunk::all(&kept.manifest).into_par_iter().map(there).collect())
    }

    fn prepare(&self, place: &Location, with_data: bool) -> Result<Kept, TableError> {
        let data = (self.problem.data().as_ref(), self.problem.weights().map(Arc::as_ref));
        prepare(place, self.manifest(), with_data.then_some(data))
    }
}

/// Paths of parts that are not whole yet.
#[derive(Default)]
struct Gathered(Mutex<BTreeMap<Chunk, Vec<(Job, PathFits)>>>);

impl Gathered {
    /// Takes a path, and gives back the paths of its part, in order, when they are all there.
    fn add(
        &self,
        manifest: &Manifest,
        job: Job,
        fits: PathFits,
    ) -> Option<(Chunk, Vec<(Job, PathFits)>)> {
        let chunk = Chunk::of(manifest, job);
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let paths = held.entry(chunk).or_default();
        paths.push((job, fits));
        if paths.len() < chunk.jobs(manifest).len() {
            return None;
        }
        let mut paths = held.remove(&chunk)?;
        paths.sort_unstable_by_key(|(job, _)| *job);
        Some((chunk, paths))
    }
}

/// Claims the place of a table, and writes the data unless they are there.
///
/// The manifest comes first: of two builders with different data only the one whose manifest it is may write them.
fn prepare(
    place: &Location,
    manifest: Manifest,
    data: Option<(&ModelData, Option<&UnitWeights>)>,
) -> Result<Kept, TableError> {
    if data.is_some_and(|(data, _)| data.is_far()) {
        return Err(TableError::Far);
    }
    let kept = Kept::claim(place, manifest)?;
    if let Some((data, weights)) = data
        && !kept.has(DATA)?
    {
        let (mut names, mut columns) = (data.column_names(), data.columns());
        if let Some(weights) = weights {
            names.push(WEIGHT.to_owned());
            columns.push(data.of_rows(&weights.totals()));
        }
        let dataset = Dataset::with_gaps(names, columns);
        kept.write(DATA, dataset_bytes(&dataset))?;
    }
    Ok(kept)
}

/// Writes a table that is in memory. A part whose paths it does not all have is left out, to be built
/// later.
pub fn save(table: &TvbTable, place: &Location) -> Result<(), TableError> {
    if table.is_thin() {
        return Err(TableError::Thin);
    }
    let data = table.data().map(|data| (data, table.weights().map(Arc::as_ref)));
    let kept = prepare(place, table.manifest().clone(), data)?;
    for chunk in Chunk::all(&kept.manifest) {
        let paths: Option<Vec<(Job, _)>> = chunk
            .jobs(&kept.manifest)
            .into_iter()
            .map(|job| table.path(job).map(|fits| (job, fits.clone())))
            .collect();
        if let Some(paths) = paths {
            parts::write(&kept, chunk, &paths)?;
        }
    }
    Ok(())
}

/// Opens a table, complete or not. Parts that are not there are left out; a damaged one is an error.
pub fn open(place: &Location) -> Result<TvbTable, TableError> {
    TableReader::open(place)?.whole()
}

/// The data of a table, if they are there and those it was built from.
pub(super) fn read_data(kept: &Kept) -> Result<Option<KeptData>, TableError> {
    let (place, manifest) = (&kept.place, &kept.manifest);
    let file = place.name_of(DATA);
    let content = place.read(DATA).map_err(|source| StoreError::Io { file: file.clone(), source });
    let Some(content) = if_there(content)? else { return Ok(None) };
    let mut stored = read_dataset_in(content, &file)?;
    let wrong = |what: &str| kept.damaged(DATA, what);
    let weights = match manifest.weights {
        Some(_) => Some(take_weights(&mut stored).ok_or_else(|| wrong("it has no weights"))?),
        None => None,
    };
    let data = ModelData::from_dataset(&manifest.model, stored)?;
    let weights = match (&manifest.weights, weights) {
        (Some(from), Some(values)) => {
            let found = data.of_units(&values);
            let found = found.and_then(|values| UnitWeights::kept(from.clone(), values));
            Some(Arc::new(found.map_err(|what| wrong(&what.to_string()))?))
        }
        _ => None,
    };
    if super::hash_data(&data, weights.as_deref()) != manifest.data_hash {
        return Err(wrong("the data are not those the table was built from").into());
    }
    let n_units = weights.as_ref().map_or(data.n_units(), |weights| weights.n_units());
    if n_units != manifest.n_units || data.variables() != manifest.columns {
        return Err(wrong("its units or columns are not those of the manifest").into());
    }
    Ok(Some(KeptData { data, weights }))
}

/// Takes the weights of rows, the last column, out of data that were kept.
fn take_weights(stored: &mut Dataset) -> Option<Vec<f64>> {
    let last = stored.n_columns().checked_sub(1).filter(|&last| last > 0)?;
    if stored.names()[last] != WEIGHT {
        return None;
    }
    let values = stored.column(last).to_vec();
    let columns = (0..last).map(|j| stored.column(j).to_vec()).collect();
    let rest = Dataset::with_gaps(stored.names()[..last].to_vec(), columns);
    *stored = rest.with_source(stored.source());
    Some(values)
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
    let data = data.as_ref().map(|kept| (&kept.data, kept.weights.as_deref()));
    let target = prepare(target, first.manifest.clone(), data)?;
    let (mut added, mut damaged) = (0, None);
    for chunk in Chunk::all(&target.manifest) {
        if parts::read(&target, chunk).is_ok() {
            continue;
        }
        let mut found = None;
        for source in &sources {
            match if_there(parts::read(source, chunk)) {
                Ok(Some(paths)) => {
                    found = Some(paths);
                    break;
                }
                Ok(None) => (),
                Err(error) => damaged = damaged.or(Some(error)),
            }
        }
        if let Some(paths) = found {
            parts::write(&target, chunk, &paths)?;
            added += 1;
        }
    }
    damaged.map_or(Ok(added), |error| Err(error.into()))
}
