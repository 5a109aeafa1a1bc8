//! Runs the replications of a study on all threads, each replication by itself on one of them.
//!
//! One thread per replication keeps the order of arithmetic, and the seconds, those of a single thread.
//! Blocks go round the cells, so that a look at an unfinished study sees all of them.

use super::folder::{Chunk, Folder};
use super::record::{Outcome, Record};
use super::replicate::{places, replicate};
use super::{Cell, Study, StudyError};
use crate::location::Location;
use crate::table::{Shard, Watch};
use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How far a study is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Replications that are kept, of all cells.
    pub done: usize,
    /// Replications that there should be.
    pub of: usize,
    /// Whether it was interrupted.
    pub cancelled: bool,
}

/// Runs a study in a folder, or what is missing of it there; a `shard` does only its share.
///
/// # Errors
/// If the folder holds another study or anything else, the study makes no sense, or a file cannot be
/// written. What is done stays in the folder.
pub fn run(
    place: &Location,
    study: &Study,
    shard: Shard,
    watch: &Watch<'_>,
) -> Result<Progress, StudyError> {
    let cells = study.cells()?;
    let threads = rayon::current_num_threads();
    // Each thread has a data set as it was drawn, as the model has it, and weighted.
    for cell in &cells {
        cell.simulation
            .check_memory(3 * threads)
            .map_err(|e| e.within(&format!("cell {}", cell.name)))?;
    }
    let folder = Folder::prepare(place, study, &cells)?;
    let chunks = folder.chunks();
    let missing: Vec<Chunk> = chunks
        .iter()
        .enumerate()
        .filter(|(i, _)| shard.makes(*i))
        .map(|(_, chunk)| *chunk)
        .filter(|chunk| folder.read_chunk(*chunk).is_err())
        .collect();
    let jobs: Vec<(Chunk, u32)> = missing
        .iter()
        .flat_map(|chunk| chunk.replications(study).map(move |number| (*chunk, number)))
        .collect();
    (watch.begin)(jobs.len() as u64);
    let turns = Turns {
        study,
        cells: &cells,
        folder: &folder,
        jobs: &jobs,
        next: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        waiting: Mutex::new(BTreeMap::new()),
        error: Mutex::new(None),
        watch,
    };
    let threads = rayon::current_num_threads().min(jobs.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| turns.take());
        }
    });
    let error = turns.error.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(error) = error {
        return Err(error);
    }
    let done = chunks
        .iter()
        .filter(|chunk| folder.has_chunk(**chunk))
        .map(|chunk| chunk.replications(study).count())
        .sum();
    let of = cells.len() * study.replications as usize;
    Ok(Progress { done, of, cancelled: watch.cancel.load(Ordering::Relaxed) && done < of })
}

/// Makes the folder of a study, or checks that it holds the same one, and says of each part whether it is
/// there, in the order in which shards take them: shard `i/n` takes parts `i`, `i + n`, ….
///
/// # Errors
/// Those of [`run`].
pub fn survey(place: &Location, study: &Study) -> Result<Vec<bool>, StudyError> {
    let folder = Folder::prepare(place, study, &study.cells()?)?;
    let there = |chunk: Chunk| folder.read_chunk(chunk).is_ok();
    Ok(folder.chunks().into_iter().map(there).collect())
}

/// What the threads share.
struct Turns<'a> {
    study: &'a Study,
    cells: &'a [Cell],
    folder: &'a Folder,
    jobs: &'a [(Chunk, u32)],
    next: AtomicUsize,
    stop: AtomicBool,
    /// Finished replications of chunks that are not complete.
    waiting: Mutex<BTreeMap<Chunk, BTreeMap<u32, Vec<Record>>>>,
    error: Mutex<Option<StudyError>>,
    watch: &'a Watch<'a>,
}

impl Turns<'_> {
    /// Takes replications until there are none left.
    fn take(&self) {
        // Calibrators use the pool they run in: here, this one thread.
        let pool = match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
            Ok(pool) => pool,
            Err(why) => {
                let source = io::Error::other(why);
                return self.fail(StudyError::Io { file: "a thread".to_owned(), source });
            }
        };
        loop {
            let stopped = self.stop.load(Ordering::Relaxed) || self.is_cancelled();
            let turn = self.next.fetch_add(1, Ordering::Relaxed);
            let Some((chunk, number)) = self.jobs.get(turn).filter(|_| !stopped) else { return };
            let Some(records) = pool.install(|| self.one(*chunk, *number)) else { return };
            if let Err(error) = self.keep(*chunk, *number, records) {
                return self.fail(error);
            }
            (self.watch.done)();
        }
    }

    fn is_cancelled(&self) -> bool {
        self.watch.cancel.load(Ordering::Relaxed)
    }

    fn one(&self, chunk: Chunk, number: u32) -> Option<Vec<Record>> {
        let cell = &self.cells[chunk.cell];
        let replicated = || replicate(self.study, cell, number, self.watch.cancel);
        // A mistake of ours in one data set must not cost the others; it is counted in the summary.
        catch_unwind(AssertUnwindSafe(replicated)).unwrap_or_else(|_| {
            let places = places(self.study, cell.targets.len(), number);
            Some(places.map(|p| Record::failed(p, Outcome::Crashed, f64::NAN)).collect())
        })
    }

    /// Keeps a replication, and writes its chunk when it was the last.
    fn keep(&self, chunk: Chunk, number: u32, records: Vec<Record>) -> Result<(), StudyError> {
        let complete = {
            let mut waiting = self.waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let own = waiting.entry(chunk).or_default();
            own.insert(number, records);
            match own.len() == chunk.replications(self.study).count() {
                true => waiting.remove(&chunk),
                false => None,
            }
        };
        match complete {
            None => Ok(()),
            Some(chunk_records) => {
                let records: Vec<Record> = chunk_records.into_values().flatten().collect();
                Ok(self.folder.write_chunk(chunk, &records)?)
            }
        }
    }

    fn fail(&self, error: StudyError) {
        self.stop.store(true, Ordering::Relaxed);
        let mut first = self.error.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        first.get_or_insert(error);
    }
}
