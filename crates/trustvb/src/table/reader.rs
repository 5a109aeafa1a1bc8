//! Asking a table that memory need not hold: its parts are read one after the other, and of each fit only the numbers
//! are kept that the quantities and methods asked for look at.
//!
//! Every part is still read and checked as a whole: its checksum is one of all its columns. What flags need of all numbers
//! of a fit is found while it is there (at the first ω) or by reading the parts of a design again (at others).

use super::build::{bytes, check_memory};
use super::disk::{Kept, read_data};
use super::parts::{self, Chunk};
use super::{BuildError, KeptData, Manifest, TableError, TvbTable};
use crate::backend::Job;
use crate::calibrate::Method;
use crate::fit::{PathFits, StatusCode, match_components};
use crate::functional::Part;
use crate::location::Location;
use crate::posterior::{Layout, Posterior};
use crate::resample::Design;
use crate::store::{PARTS, StoreError, if_there};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A table on disk whose fits have not been read yet.
pub struct TableReader {
    kept: Kept,
    chunks: Vec<Chunk>,
    layout: Arc<Layout>,
    data: Option<Arc<KeptData>>,
}

/// What a table that was read for certain questions has beside its paths.
#[derive(Clone, Debug)]
pub(crate) struct Thin {
    kept: Kept,
    chunks: Vec<Chunk>,
    /// Places of the numbers that are kept of a bootstrap's fit.
    columns: Vec<usize>,
    /// What flags need of bootstraps of all units at the first ω, in their order.
    first: Vec<First>,
}

/// Of a bootstrap's fit at the first ω.
#[derive(Clone, Debug)]
struct First {
    job: Job,
    /// The parameters of the weights' law.
    alpha: Vec<f64>,
    /// Whether another numbering would fit the full data better.
    mismatched: bool,
}

/// Some parts of functionals that fit together.
type Batch = std::ops::Range<usize>;

impl TableReader {
    /// Opens a table, complete or not, and reads its manifest and its data.
    ///
    /// # Errors
    /// If it is no table, or its data are not those it was built from.
    pub fn open(place: &Location) -> Result<TableReader, TableError> {
        let kept = Kept::open(place)?;
        let there: BTreeSet<String> = kept.names_in(PARTS)?.into_iter().collect();
        let chunks: Vec<Chunk> = Chunk::all(&kept.manifest)
            .into_iter()
            .filter(|chunk| there.contains(chunk.file().trim_start_matches("parts/")))
            .collect();
        let data = read_data(&kept)?.map(Arc::new);
        let layout = Arc::new(kept.manifest.layout.clone());
        Ok(TableReader { kept, chunks, layout, data })
    }

    /// What the table was made with.
    pub fn manifest(&self) -> &Manifest {
        &self.kept.manifest
    }

    /// The blocks of its posteriors.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// Whether its parts carry checksums; those of an older format have none.
    pub fn is_checked(&self) -> bool {
        self.manifest().schema >= Manifest::SCHEMA
    }

    /// Bytes of memory that the whole table takes.
    pub fn bytes(&self) -> f64 {
        bytes(&self.kept.manifest, self.n_paths())
    }

    fn n_paths(&self) -> usize {
        self.chunks.len() * self.kept.manifest.block as usize
    }

    /// Bytes that every thread holds while it reads: a part as bytes, as columns and as rows.
    fn reading(&self) -> f64 {
        let threads = rayon::current_num_threads().min(self.chunks.len());
        2.0 * bytes(&self.kept.manifest, threads * self.kept.manifest.block as usize)
    }

    /// The whole table. Parts that are not there are left out.
    ///
    /// # Errors
    /// If a part is damaged, or the table does not fit into memory.
    pub fn whole(&self) -> Result<TvbTable, TableError> {
        check_memory(self.manifest(), self.n_paths(), self.reading()).map_err(BuildError::from)?;
        let paths = self.paths(|job, fits| (job, fits))?;
        Ok(self.table(paths.into_iter().collect(), None))
    }

    /// The parts of functionals in batches, each of which needs at most so many bytes of the table, or is one part.
    pub fn batches(&self, parts: &[&Part], methods: &[Method], most: f64) -> Vec<Batch> {
        let each: f64 = [Design::Full, Design::Split]
            .map(|design| {
                (self.manifest().numbers(design).len() * self.depth(design, methods)) as f64
            })
            .iter()
            .sum();
        let (mut batches, mut start, mut columns) = (Vec::new(), 0, BTreeSet::new());
        for (at, part) in parts.iter().enumerate() {
            let own = part.columns(&self.layout);
            // Beside the columns, where the value of each part lies in the law of each fit.
            let together = columns.union(&own).count() + at + 1 - start;
            if at > start && 8.0 * each * together as f64 > most {
                batches.push(start..at);
                (start, columns) = (at, own);
            } else {
                columns.extend(own);
            }
        }
        if start < parts.len() {
            batches.push(start..parts.len());
        }
        batches
    }

    /// Grid points of a design that methods look at.
    fn depth(&self, design: Design, methods: &[Method]) -> usize {
        let deep = methods.iter().any(|m| m.needs_grid() && m.design() == Some(design));
        if deep { self.manifest().omegas.len() } else { 1 }
    }

    /// The table as far as these parts of functionals and methods need it. It answers for no others, and its paths hold
    /// less than they should.
    ///
    /// # Errors
    /// If a part of the table is damaged, or what is needed does not fit into memory.
    pub fn for_parts(&self, parts: &[&Part], methods: &[Method]) -> Result<TvbTable, TableError> {
        let needed: BTreeSet<usize> = parts.iter().flat_map(|p| p.columns(&self.layout)).collect();
        let columns: Vec<usize> = needed.into_iter().collect();
        let share = columns.len() as f64 / self.layout.len().max(1) as f64;
        let paths = (self.n_paths() as f64 * share).ceil() as usize;
        check_memory(self.manifest(), paths, self.reading()).map_err(BuildError::from)?;
        let reference = self.reference()?;
        let depths = [Design::Full, Design::Split].map(|d| (d, self.depth(d, methods)));
        let mut first = Vec::new();
        let mut all = BTreeMap::new();
        let read = self.paths(|job, fits| {
            let first = (job.design == Design::Full && job.replicate > 0)
                .then(|| self.first(reference.as_ref(), job, &fits))
                .flatten();
            let depth = depths.iter().find(|(d, _)| *d == job.design && job.replicate > 0);
            let fits = match depth {
                Some((_, depth)) => thinned(fits, *depth, self.layout.len(), &columns),
                // What bootstraps are checked against is needed whole, and is little.
                None => fits,
            };
            (job, fits, first)
        })?;
        for (job, fits, of_first) in read {
            all.insert(job, fits);
            first.extend(of_first);
        }
        let (kept, chunks) = (self.kept.clone(), self.chunks.clone());
        Ok(self.table(all, Some(Thin { kept, chunks, columns, first })))
    }

    /// Every path of the table, in order, as `take` leaves it.
    fn paths<T: Send>(
        &self,
        take: impl Fn(Job, PathFits) -> T + Sync,
    ) -> Result<Vec<T>, StoreError> {
        let read = |chunk: &Chunk| -> Result<Vec<T>, StoreError> {
            let paths = if_there(parts::read(&self.kept, *chunk))?.into_iter().flatten();
            Ok(paths.map(|(job, fits)| take(job, fits)).collect())
        };
        let read: Vec<Vec<T>> =
            self.chunks.par_iter().with_max_len(1).map(read).collect::<Result<_, _>>()?;
        Ok(read.into_iter().flatten().collect())
    }

    /// The full-data fit at the first ω, if there is one.
    fn reference(&self) -> Result<Option<Posterior>, StoreError> {
        let job = Job { design: Design::Full, replicate: 0 };
        let chunk = Chunk::of(self.manifest(), job);
        if !self.chunks.contains(&chunk) {
            return Ok(None);
        }
        let paths = if_there(parts::read(&self.kept, chunk))?.unwrap_or_default();
        let fits = paths.into_iter().find(|(own, _)| *own == job).map(|(_, fits)| fits);
        Ok(fits.and_then(|fits| self.posterior(&fits, 0)))
    }

    fn posterior(&self, fits: &PathFits, i: usize) -> Option<Posterior> {
        posterior(&self.layout, fits, i)
    }

    fn first(&self, reference: Option<&Posterior>, job: Job, fits: &PathFits) -> Option<First> {
        let (reference, own) = (reference?, self.posterior(fits, 0)?);
        let alpha = own.mixing().map_or_else(Vec::new, |law| law.alpha().to_vec());
        Some(First { job, alpha, mismatched: is_mismatched(reference, &own) })
    }

    fn table(&self, paths: BTreeMap<Job, PathFits>, thin: Option<Thin>) -> TvbTable {
        let mut table = TvbTable::new(self.kept.manifest.clone(), paths, self.data.clone());
        table.thin = thin.map(Arc::new);
        table
    }
}

/// Of a path only some grid points, and of their fits only some columns.
fn thinned(fits: PathFits, depth: usize, row: usize, columns: &[usize]) -> PathFits {
    let mut parameters = Vec::with_capacity(depth * columns.len());
    for fit in fits.parameters.chunks_exact(row.max(1)).take(depth) {
        parameters.extend(columns.iter().map(|&column| fit[column]));
    }
    PathFits { parameters, bound: Vec::new(), sweeps: Vec::new(), status: fits.status, end: None }
}

fn posterior(layout: &Arc<Layout>, fits: &PathFits, i: usize) -> Option<Posterior> {
    let row = layout.len();
    (fits.status[i] != StatusCode::Degenerate)
        .then(|| Posterior::new(layout.clone(), fits.parameters[i * row..(i + 1) * row].to_vec()))
}

/// Whether another numbering of a fit's components would be more like the reference.
fn is_mismatched(reference: &Posterior, fit: &Posterior) -> bool {
    match_components(reference, fit).iter().enumerate().any(|(k, &j)| k != j)
}

impl Thin {
    /// Whether a path of such a table has only what was needed of it.
    pub(super) fn is_thin(path: &PathFits) -> bool {
        path.bound.is_empty() && !path.status.is_empty()
    }

    /// The numbers of a fit at their places; NaN at all others.
    pub(super) fn row(&self, layout: &Layout, path: &PathFits, i: usize) -> Vec<f64> {
        let mut row = vec![f64::NAN; layout.len()];
        let width = self.columns.len();
        let own = &path.parameters[i * width..(i + 1) * width];
        self.columns.iter().zip(own).for_each(|(&column, &x)| row[column] = x);
        row
    }

    /// The weights' law in every bootstrap of all units at the first ω.
    pub(crate) fn first_weights(&self) -> impl Iterator<Item = (Job, &[f64])> {
        self.first.iter().map(|first| (first.job, first.alpha.as_slice()))
    }

    /// Share of bootstraps, of each of these designs at these grid points, in which another numbering of the components
    /// would fit the full data better. Reads the parts of the designs once more.
    pub(crate) fn mismatched(
        &self,
        table: &TvbTable,
        wanted: &[(Design, usize)],
    ) -> Result<Vec<f64>, StoreError> {
        let share = |bad: usize, all: usize| bad as f64 / all.max(1) as f64;
        let references: Vec<Option<Posterior>> = wanted
            .iter()
            .map(|&(_, i)| table.zeroth(Design::Full, i))
            .map(|row| row.map(|row| Posterior::new(table.layout().clone(), row.to_vec())))
            .collect();
        let read = |chunk: &Chunk| -> Result<Vec<(usize, usize)>, StoreError> {
            let of_chunk =
                |at: &usize| wanted[*at].0 == chunk.design && wanted[*at] != (Design::Full, 0);
            let points: Vec<usize> = (0..wanted.len()).filter(of_chunk).collect();
            let mut counts = vec![(0, 0); wanted.len()];
            if points.is_empty() {
                return Ok(counts);
            }
            let paths = if_there(parts::read(&self.kept, *chunk))?.into_iter().flatten();
            for (_, fits) in paths.filter(|(job, _)| job.replicate > 0) {
                for &at in &points {
                    let own = posterior(table.layout(), &fits, wanted[at].1);
                    if let (Some(reference), Some(own)) = (&references[at], own) {
                        counts[at].0 += usize::from(is_mismatched(reference, &own));
                        counts[at].1 += 1;
                    }
                }
            }
            Ok(counts)
        };
        let all: Vec<Vec<(usize, usize)>> =
            self.chunks.par_iter().with_max_len(1).map(read).collect::<Result<_, _>>()?;
        let of_first = self.first.iter().filter(|first| first.mismatched).count();
        let of_first = share(of_first, self.first.len());
        let counted = |at: usize| {
            let (bad, n) = all.iter().map(|c| c[at]).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
            if wanted[at] == (Design::Full, 0) { of_first } else { share(bad, n) }
        };
        Ok((0..wanted.len()).map(counted).collect())
    }
}
