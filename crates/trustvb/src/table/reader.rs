//! Asking a table that memory need not hold: its parts are read one after the other, and of each fit only the numbers
//! are decoded and kept that the quantities and methods asked for look at.
//!
//! All bytes of every part are checked all the same. What flags need of all numbers of a fit is found while parts are
//! read (at the first ω) or by reading the parts of a design again (at others).

use super::build::{bytes, check_memory};
use super::disk::{Kept, read_data};
use super::parts::{self, Chunk, Glimpse, Need};
use super::{BuildError, KeptData, Manifest, TableError, TvbTable};
use crate::backend::Job;
use crate::calibrate::{Answer, CalibrateError, Calibrator, Memory, Method};
use crate::fit::{PathFits, StatusCode, match_components};
use crate::functional::Part;
use crate::location::Location;
use crate::posterior::{Layout, Posterior};
use crate::resample::Design;
use crate::store::{PARTS, StoreError, if_there};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Bytes of a table that are read at a time, where it is asked in pieces.
const PIECE: f64 = 128e6;

/// A table on disk whose fits have not been read yet. Copies share what was read.
#[derive(Clone, Debug)]
pub struct TableReader {
    kept: Kept,
    chunks: Vec<Chunk>,
    layout: Arc<Layout>,
    data: Option<Arc<KeptData>>,
}

/// What a table that was read for certain questions has beside its paths.
#[derive(Clone, Debug)]
pub(crate) struct Thin {
    reader: TableReader,
    /// Places of the numbers that are kept of a bootstrap's fit.
    columns: Vec<usize>,
    /// Grid points at which they are kept, of bootstraps of all units and of half samples.
    depths: [usize; 2],
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

impl TableReader {
    /// Bytes of a table that are usually read at once; a larger one is asked in pieces.
    pub const WHOLE: f64 = 256e6;

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
        self.manifest().schema >= Manifest::SEALED
    }

    /// Bytes of memory that the whole table takes.
    pub fn bytes(&self) -> f64 {
        bytes(&self.kept.manifest, self.n_fits())
    }

    fn n_fits(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.fits(&self.kept.manifest)).sum()
    }

    /// Bytes that every thread holds while it reads: a part as bytes, as columns and as rows.
    fn reading(&self) -> f64 {
        let threads = rayon::current_num_threads().min(self.chunks.len());
        let largest = self.chunks.iter().map(|chunk| chunk.fits(&self.kept.manifest)).max();
        2.0 * bytes(&self.kept.manifest, threads * largest.unwrap_or(0))
    }

    /// The whole table. Parts that are not there are left out.
    ///
    /// # Errors
    /// If a part is damaged, or the table does not fit into memory.
    pub fn whole(&self) -> Result<TvbTable, TableError> {
        check_memory(self.manifest(), self.n_fits(), self.reading()).map_err(BuildError::from)?;
        let paths = self.paths(|job, fits| (job, fits))?;
        Ok(self.table(paths.into_iter().collect(), None))
    }

    /// The parts of functionals in batches, each of which needs at most so many bytes of the table, or is one part.
    pub fn batches(&self, parts: &[&Part], methods: &[Method], most: f64) -> Vec<Range<usize>> {
        let numbers = [Design::Full, Design::Split].map(|d| self.manifest().numbers(d).len());
        let depths = self.depths(methods);
        let each: f64 = numbers.iter().zip(depths).map(|(n, depth)| (n * depth) as f64).sum();
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
        if deep { self.manifest().omegas_of(design).len() } else { 1 }
    }

    fn depths(&self, methods: &[Method]) -> [usize; 2] {
        [Design::Full, Design::Split].map(|design| self.depth(design, methods))
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
        let fits = (self.n_fits() as f64 * share).ceil() as usize;
        check_memory(self.manifest(), fits, self.reading()).map_err(BuildError::from)?;
        let reference = self.reference()?;
        let read = |chunk: &Chunk| self.thin_part(*chunk, &columns, methods, reference.as_ref());
        let read: Vec<Vec<ThinPath>> =
            self.chunks.par_iter().with_max_len(1).map(read).collect::<Result<_, _>>()?;
        let (mut first, mut all) = (Vec::new(), BTreeMap::new());
        for (job, fits, of_first) in read.into_iter().flatten() {
            all.insert(job, fits);
            first.extend(of_first);
        }
        let depths = self.depths(methods);
        Ok(self.table(all, Some(Thin { reader: self.clone(), columns, depths, first })))
    }

    /// The table itself if it takes at most so many bytes of memory; otherwise one that has the full-data fits alone,
    /// and reads of the others what is asked for when it is asked ([`TvbTable::for_parts`]).
    ///
    /// # Errors
    /// If a part of the table is damaged.
    pub fn up_to(&self, most: f64) -> Result<TvbTable, TableError> {
        match self.bytes() <= most {
            true => self.whole(),
            false => self.for_parts(&[], &[]),
        }
    }

    /// What is needed of the paths of a chunk.
    fn thin_part(
        &self,
        chunk: Chunk,
        columns: &[usize],
        methods: &[Method],
        reference: Option<&Posterior>,
    ) -> Result<Vec<ThinPath>, StoreError> {
        // Who asks for nothing needs no flags.
        let is_first = chunk.design == Design::Full && !columns.is_empty();
        let need = Need {
            columns,
            depth: self.depth(chunk.design, methods),
            points: if is_first { &[0] } else { &[] },
        };
        let row = self.layout.len();
        let thin = |glimpse: Glimpse| {
            let Glimpse { job, parameters, status, at_points } = glimpse;
            let of_first = at_points.first().and_then(|all| {
                self.first(reference?, job, posterior(&self.layout, status[0], all)?)
            });
            let (bound, sweeps) = (Vec::new(), Vec::new());
            (job, PathFits { parameters, bound, sweeps, status, end: None, search: None }, of_first)
        };
        if chunk.number > 0 && chunk.design != Design::Subset {
            let glimpses = if_there(parts::glimpse(&self.kept, chunk, &need))?;
            return Ok(glimpses.into_iter().flatten().map(thin).collect());
        }
        // What bootstraps are checked against is needed whole, and is little.
        let is_checked = |job: Job| job.design == Design::Subset || job.replicate == 0;
        let paths = if_there(parts::read(&self.kept, chunk))?.into_iter().flatten();
        let thin_unless_checked = |(job, fits): (Job, PathFits)| match is_checked(job) {
            true => (job, fits, None),
            false => thin(need.of((job, fits), row)),
        };
        Ok(paths.map(thin_unless_checked).collect())
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
        Ok(fits.and_then(|fits| {
            posterior(&self.layout, fits.status[0], &fits.parameters[..self.layout.len()])
        }))
    }

    fn first(&self, reference: &Posterior, job: Job, own: Posterior) -> Option<First> {
        let alpha = own.mixing().map_or_else(Vec::new, |law| law.alpha().to_vec());
        Some(First { job, alpha, mismatched: is_mismatched(reference, &own) })
    }

    fn table(&self, paths: BTreeMap<Job, PathFits>, thin: Option<Thin>) -> TvbTable {
        let mut table = TvbTable::new(self.kept.manifest.clone(), paths, self.data.clone());
        table.thin = thin.map(Arc::new);
        table
    }
}

/// A path of which only some numbers are there, and what flags need of it.
type ThinPath = (Job, PathFits, Option<First>);

/// The fit with these numbers, unless it failed.
fn posterior(layout: &Arc<Layout>, status: StatusCode, parameters: &[f64]) -> Option<Posterior> {
    (status != StatusCode::Degenerate).then(|| Posterior::new(layout.clone(), parameters.to_vec()))
}

/// Whether another numbering of a fit's components would be more like the reference.
fn is_mismatched(reference: &Posterior, fit: &Posterior) -> bool {
    match_components(reference, fit).iter().enumerate().any(|(k, &j)| k != j)
}

impl TvbTable {
    /// The table with all that these parts of functionals and methods look at: itself, unless it has only what others
    /// need. Then they are read.
    ///
    /// # Errors
    /// If a part of the table is damaged, or what is needed does not fit into memory.
    pub fn for_parts(
        &self,
        parts: &[&Part],
        methods: &[Method],
    ) -> Result<Cow<'_, TvbTable>, TableError> {
        match self.thin().filter(|thin| !thin.serves(parts, methods)) {
            None => Ok(Cow::Borrowed(self)),
            Some(thin) => Ok(Cow::Owned(thin.reader.for_parts(parts, methods)?)),
        }
    }

    /// Parts of functionals that are best asked together: all, unless the table has not been read. Then a few at a time,
    /// so that what they need of it is not too much.
    pub fn batches(&self, parts: &[&Part], methods: &[Method]) -> Vec<Range<usize>> {
        match self.thin() {
            None => std::iter::once(0..parts.len()).collect(),
            Some(thin) => thin.reader.batches(parts, methods, PIECE),
        }
    }

    /// The table with all that it has.
    ///
    /// # Errors
    /// If a part of the table is damaged, or it does not fit into memory.
    pub fn whole(&self) -> Result<Cow<'_, TvbTable>, TableError> {
        match self.thin() {
            None => Ok(Cow::Borrowed(self)),
            Some(thin) => Ok(Cow::Owned(thin.reader.whole()?)),
        }
    }

    /// Answers for many parts of functionals, as [`Calibrator::answer_with`] gives them; `done` is told of each. Where
    /// the table has not been read, a few are asked at a time, with what they need of it. `known` has what earlier calls
    /// found out about each part, or is empty.
    ///
    /// # Errors
    /// If a part of the table is damaged, or there is no answer.
    pub fn answer_all(
        &self,
        parts: &[&Part],
        known: &[&Memory],
        (methods, levels, draws): (&[Method], &[f64], usize),
        cancel: &AtomicBool,
        done: &dyn Fn(),
    ) -> Result<Vec<Vec<Answer>>, CalibrateError> {
        let mut answers = Vec::with_capacity(parts.len());
        for batch in self.batches(parts, methods) {
            let own = &parts[batch.clone()];
            let table = self.for_parts(own, methods);
            let table = table.map_err(|error| CalibrateError::Unreadable(error.to_string()))?;
            let known = known.get(batch).unwrap_or_default();
            let calibrator = Calibrator::new(&table, draws)?;
            let asked = (methods, levels);
            answers.extend(calibrator.answer_all_with(own, known, asked, cancel, done)?);
        }
        Ok(answers)
    }
}

impl Thin {
    /// Whether all that these need was read.
    fn serves(&self, parts: &[&Part], methods: &[Method]) -> bool {
        if self.columns.is_empty() {
            // It has nothing for flags either.
            return parts.is_empty();
        }
        let has = |column: usize| self.columns.binary_search(&column).is_ok();
        let depths = self.reader.depths(methods);
        depths.iter().zip(self.depths).all(|(needed, there)| *needed <= there)
            && parts.iter().all(|part| part.columns(&self.reader.layout).into_iter().all(has))
    }

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
            let grid: BTreeSet<usize> = points.iter().map(|at| wanted[*at].1).collect();
            let grid: Vec<usize> = grid.into_iter().collect();
            let need = Need { columns: &[], depth: 0, points: &grid };
            let paths = if_there(parts::glimpse(&self.reader.kept, *chunk, &need))?;
            let bootstraps = paths.into_iter().flatten().filter(|path| path.job.replicate > 0);
            for Glimpse { status, at_points, .. } in bootstraps {
                for &at in &points {
                    let i = wanted[at].1;
                    let place = grid.binary_search(&i).ok();
                    let there = place.and_then(|place| at_points.get(place)).zip(status.get(i));
                    let own = there.and_then(|(row, code)| posterior(table.layout(), *code, row));
                    if let (Some(reference), Some(own)) = (&references[at], own) {
                        counts[at].0 += usize::from(is_mismatched(reference, &own));
                        counts[at].1 += 1;
                    }
                }
            }
            Ok(counts)
        };
        let all: Vec<Vec<(usize, usize)>> =
            self.reader.chunks.par_iter().with_max_len(1).map(read).collect::<Result<_, _>>()?;
        let of_first = self.first.iter().filter(|first| first.mismatched).count();
        let of_first = share(of_first, self.first.len());
        let counted = |at: usize| {
            let (bad, n) = all.iter().map(|c| c[at]).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
            if wanted[at] == (Design::Full, 0) { of_first } else { share(bad, n) }
        };
        Ok((0..wanted.len()).map(counted).collect())
    }
}
