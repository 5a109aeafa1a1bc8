//! What a table will cost, from its settings and a short trial on this machine.

use super::build::jobs;
use super::parts::Chunk;
use super::{Blueprint, BuildError, Manifest};
use crate::backend::{Backend, Cpu, Job, Work};
use crate::data::{Dataset, dataset_bytes};
use crate::fit::Reference;
use crate::resample::Design;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The cost of a table. Times are those of one core of this machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Fits in all.
    pub fits: usize,
    /// Paths: the full data, half sample or subsets, and bootstraps.
    pub paths: usize,
    /// Files they are kept in, which is the most shards there can be.
    pub parts: usize,
    /// Seconds before the first path: the file of the data, and the full-data path, which every shard makes for itself.
    pub reference_seconds: f64,
    /// Seconds for a path of a bootstrap; where some designs have the whole grid and others do not, on average.
    pub path_seconds: f64,
    /// Bytes of memory of a process with one thread.
    pub memory: f64,
    /// Bytes of memory that every further thread needs.
    pub memory_per_thread: f64,
    /// Bytes on disk, at most.
    pub disk: f64,
}

impl Estimate {
    /// Seconds of a build in `shards` processes of `threads` threads each, all at once.
    pub fn seconds(&self, shards: usize, threads: usize) -> f64 {
        let paths = self.paths.div_ceil(shards.max(1)).div_ceil(threads.max(1));
        self.reference_seconds + paths as f64 * self.path_seconds
    }

    /// The fewest shards, of `threads` threads each, that take no longer than `seconds`; if the full-data
    /// path alone takes longer, those that take no more than twice as long as it.
    pub fn shards(&self, threads: usize, seconds: f64) -> usize {
        let aim = seconds.max(2.0 * self.reference_seconds);
        (1..self.parts).find(|&n| self.seconds(n, threads) <= aim).unwrap_or(self.parts.max(1))
    }
}

impl Blueprint {
    /// Estimates the cost of the table by fitting the beginning of the full-data path and of one bootstrap's, as far
    /// down the grid as `budget` allows.
    pub fn estimate(&self, budget: Duration) -> Result<Estimate, BuildError> {
        estimate(self, budget)
    }
}

fn estimate(blueprint: &Blueprint, budget: Duration) -> Result<Estimate, BuildError> {
    let clock = Instant::now();
    // Its hash of the data is made by every build, too.
    let manifest = blueprint.manifest();
    let hashing = clock.elapsed().as_secs_f64();
    let (reference_seconds, path_seconds) = trial(blueprint, &manifest, budget)?;
    let jobs = jobs(&manifest);
    let (width, row) = (manifest.layout.len() + 5, 8.0);
    let columns = blueprint.problem.data().columns();
    let values: f64 = columns.iter().map(|column| column.len() as f64 * row).sum();
    let fits = manifest.fits_of(jobs.iter().copied());
    let chunks = Chunk::all(&manifest);
    let largest = chunks.iter().map(|chunk| chunk.fits(&manifest)).max().unwrap_or(0);
    let part = (largest * width) as f64 * row;
    Ok(Estimate {
        fits,
        paths: jobs.len(),
        parts: chunks.len(),
        reference_seconds: hashing + keeping_seconds(&columns) + reference_seconds,
        path_seconds,
        // The columns as read and as the model has them; then a weighted copy and two forms of a part.
        memory: PROGRAM + 2.0 * values + values + 2.0 * part,
        memory_per_thread: values + 2.0 * part,
        disk: values + (fits * width) as f64 * row,
    })
}

/// Seconds that it takes to make the file of the data, from its first rows.
fn keeping_seconds(columns: &[Vec<f64>]) -> f64 {
    let n_rows = columns.first().map_or(0, Vec::len);
    let tried = n_rows.min(TRIED_ROWS);
    if tried == 0 {
        return 0.0;
    }
    let clock = Instant::now();
    let names = (0..columns.len()).map(|j| j.to_string()).collect();
    let some = columns.iter().map(|column| column[..tried].to_vec()).collect();
    // A file that cannot be made costs what was tried all the same.
    let made = dataset_bytes(&Dataset::with_gaps(names, some));
    drop(made);
    clock.elapsed().as_secs_f64() * n_rows as f64 / tried as f64
}

/// Seconds of the full-data path, and of a bootstrap's on one of all cores at work.
fn trial(
    blueprint: &Blueprint,
    manifest: &Manifest,
    budget: Duration,
) -> Result<(f64, f64), BuildError> {
    let (model, points) = (blueprint.problem.model().as_ref(), manifest.omegas.len());
    let (bootstraps, short): (Vec<Job>, Vec<Job>) = jobs(manifest)
        .into_iter()
        .filter(|job| job.replicate > 0 && job.design != Design::Subset)
        .partition(|job| manifest.omegas_of_job(*job).len() == points);
    // Of both kinds of paths together, from the seconds of a long one.
    let mut short_seconds = 0.0;
    let average = |long: f64, of_short: f64| {
        let all = (bootstraps.len() + short.len()).max(1) as f64;
        (bootstraps.len() as f64 * long + short.len() as f64 * of_short) / all
    };
    let began = Instant::now();
    let mut tried = 1;
    // Seconds of the first point alone, with all its starts, of the full data and of a bootstrap.
    let mut first: Option<(f64, f64)> = None;
    loop {
        let omegas = &manifest.omegas[..tried.min(points)];
        let clock = Instant::now();
        let reference = Reference::new(model, omegas, &manifest.start, &manifest.path)?;
        let full = clock.elapsed().as_secs_f64();
        let work = Work {
            model,
            omegas,
            resamples: &blueprint.resamples,
            reference: &reference,
            options: &manifest.path,
            first: 0,
            known: None,
        };
        if tried == 1 && points > 1 {
            short_seconds = path_seconds(&work, &short, budget / 8);
        }
        let path = path_seconds(&work, &bootstraps, budget / 8);
        if tried >= points || began.elapsed() * 5 > budget {
            let Some(starts) = first.filter(|_| tried > 1) else {
                // Nothing is known of later points but that one start of many makes one.
                let long = average(points as f64 * path, short_seconds);
                return Ok((full + (points - 1) as f64 * path.min(full), long));
            };
            let seconds = |start, tried| whole(start, tried, omegas.len(), points);
            let long = average(seconds(starts.1, path), short_seconds);
            return Ok((seconds(starts.0, full), long));
        }
        first = first.or(Some((full, path)));
        tried *= 4;
    }
}

/// Seconds of a path on one core while all cores make paths: of more and more bootstraps, evenly taken from all, until
/// they take long enough to be believed.
fn path_seconds(work: &Work<'_>, bootstraps: &[Job], enough: Duration) -> f64 {
    if bootstraps.is_empty() {
        return 0.0;
    }
    let threads = rayon::current_num_threads();
    let never = AtomicBool::new(false);
    let mut count = threads;
    loop {
        count = count.min(bootstraps.len());
        let every = bootstraps.len().div_ceil(count);
        let some: Vec<Job> = bootstraps.iter().copied().step_by(every).collect();
        let clock = Instant::now();
        Cpu.run(work, &some, &never, &|_, _| ControlFlow::Continue(()));
        let passed = clock.elapsed();
        if passed * 2 > enough || some.len() == bootstraps.len() || count == bootstraps.len() {
            return passed.as_secs_f64() * threads.min(some.len()) as f64 / some.len() as f64;
        }
        count *= 4;
    }
}

/// Rows of the data that are written to see how long it takes.
const TRIED_ROWS: usize = 1 << 17;

/// Bytes that the program itself takes, whatever it does.
const PROGRAM: f64 = 20e6;

/// Seconds of a whole path of `points`, from those of its first point and of the first `tried`: only the first
/// has several starts, and fits further down cost about as much as those that were tried.
fn whole(first: f64, seconds: f64, tried: usize, points: usize) -> f64 {
    let each = (seconds - first).max(0.0) / (tried.max(2) - 1) as f64;
    seconds + points.saturating_sub(tried) as f64 * each
}

#[cfg(test)]
mod tests {
    use super::{Estimate, whole};

    #[test]
    fn starts_are_counted_once() {
        // Ten seconds of starts, then one for each point.
        assert_eq!(whole(10.0, 13.0, 4, 100), 109.0);
        assert_eq!(whole(10.0, 10.0, 1, 1), 10.0);
    }

    #[test]
    fn shards_are_as_few_as_the_time_allows() {
        let cost = Estimate {
            fits: 100_000,
            paths: 1000,
            parts: 50,
            reference_seconds: 10.0,
            path_seconds: 3.0,
            memory: 0.0,
            memory_per_thread: 0.0,
            disk: 0.0,
        };
        assert_eq!(cost.seconds(1, 1), 3010.0);
        assert_eq!(cost.seconds(1, 2), 1510.0);
        assert_eq!(cost.shards(2, 1510.0), 1);
        assert_eq!(cost.shards(2, 1509.0), 2);
        assert_eq!(cost.shards(1, 0.0), 50);
    }
}
