//! One part of a table on disk: whole paths of a chunk of replicates, as a Parquet file. It is read whole, or as far as
//! somebody needs it.

use super::Manifest;
use super::disk::Kept;
use crate::backend::Job;
use crate::data::{ColumnValues, SomeRows};
use crate::fit::{PathFits, StatusCode};
use crate::resample::Design;
use crate::store::{PARTS, StoreError};

/// Columns before the posterior's parameters.
const FIXED: [&str; 5] = ["replicate", "omega", "status", "sweeps", "bound"];

/// A chunk of consecutive replicates of one design.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Chunk {
    pub(super) design: Design,
    pub(super) number: u32,
}

impl Chunk {
    /// All chunks of a table, in order.
    pub(super) fn all(manifest: &Manifest) -> Vec<Chunk> {
        let of = |design: Design| {
            let (numbers, size) = (manifest.numbers(design), manifest.block);
            let chunks = match numbers.is_empty() {
                true => 0..0,
                false => numbers.start / size..numbers.end.div_ceil(size),
            };
            chunks.map(move |number| Chunk { design, number })
        };
        [Design::Full, Design::Split, Design::Subset].into_iter().flat_map(of).collect()
    }

    /// The chunk of a job.
    pub(super) fn of(manifest: &Manifest, job: Job) -> Chunk {
        Chunk { design: job.design, number: job.replicate / manifest.block }
    }

    pub(super) fn jobs(&self, manifest: &Manifest) -> Vec<Job> {
        let (numbers, first) = (manifest.numbers(self.design), self.number * manifest.block);
        (first.max(numbers.start)..(first + manifest.block).min(numbers.end))
            .map(|replicate| Job { design: self.design, replicate })
            .collect()
    }

    /// Fits that it holds.
    pub(super) fn fits(&self, manifest: &Manifest) -> usize {
        manifest.fits_of(self.jobs(manifest))
    }

    /// Its file in the table.
    pub(super) fn file(&self) -> String {
        format!("{PARTS}/{}-{:05}.parquet", self.design.name(), self.number)
    }

    /// What its seal says it holds.
    fn content(&self, manifest: &Manifest) -> String {
        let jobs = self.jobs(manifest);
        let ends = [jobs.first(), jobs.last()].map(|job| job.map_or(0, |job| job.replicate));
        format!("{} {}-{}", self.design.name(), ends[0], ends[1])
    }
}

/// Writes the paths of a chunk.
pub(super) fn write(
    kept: &Kept,
    chunk: Chunk,
    paths: &[(Job, PathFits)],
) -> Result<(), StoreError> {
    let manifest = &kept.manifest;
    let (mut replicates, mut omegas, mut status) = (Vec::new(), Vec::new(), Vec::new());
    let (mut sweeps, mut bounds) = (Vec::new(), Vec::new());
    let row = manifest.layout.len();
    let mut parameters = vec![Vec::new(); row];
    for (job, fits) in paths {
        for (i, &omega) in manifest.omegas_of_job(*job).iter().enumerate() {
            replicates.push(job.replicate as i32);
            omegas.push(omega);
            status.push(fits.status[i] as i32);
            sweeps.push(fits.sweeps[i] as i32);
            bounds.push(fits.bound[i]);
            for (column, x) in parameters.iter_mut().zip(&fits.parameters[i * row..]) {
                column.push(*x);
            }
        }
    }
    let names = manifest.layout.parameter_names();
    let mut columns = vec![
        (FIXED[0], ColumnValues::Integers(&replicates)),
        (FIXED[1], ColumnValues::Doubles(&omegas)),
        (FIXED[2], ColumnValues::Integers(&status)),
        (FIXED[3], ColumnValues::Integers(&sweeps)),
        (FIXED[4], ColumnValues::Doubles(&bounds)),
    ];
    for (name, values) in names.iter().zip(&parameters) {
        columns.push((name, ColumnValues::Doubles(values)));
    }
    kept.write_part(&chunk.file(), &chunk.content(manifest), &columns)
}

/// Reads the paths of a chunk and checks that they are the ones it should hold.
pub(super) fn read(kept: &Kept, chunk: Chunk) -> Result<Vec<(Job, PathFits)>, StoreError> {
    let (manifest, file) = (&kept.manifest, chunk.file());
    let mut names: Vec<String> = FIXED.iter().map(|&s| s.to_owned()).collect();
    names.extend(manifest.layout.parameter_names());
    let damaged = |what: &str| kept.damaged(&file, what);
    let jobs = chunk.jobs(manifest);
    let n_rows = chunk.fits(manifest);
    let columns = kept.read_part(&file, &chunk.content(manifest), &names, n_rows)?;
    let mut paths = Vec::with_capacity(jobs.len());
    let mut next = 0;
    for job in jobs {
        let n_omegas = manifest.omegas_of_job(job).len();
        let rows = next..next + n_omegas;
        next = rows.end;
        let mut fits = PathFits {
            parameters: Vec::with_capacity(n_omegas * manifest.layout.len()),
            bound: columns[4][rows.clone()].to_vec(),
            sweeps: columns[3][rows.clone()].iter().map(|&x| x as u32).collect(),
            status: Vec::with_capacity(n_omegas),
            end: None,
            search: None,
        };
        for (i, row) in rows.enumerate() {
            let fixed = [0, 1, 2].map(|column: usize| columns[column][row]);
            fits.status.push(status(fixed, job, manifest.omegas[i]).map_err(damaged)?);
            fits.parameters.extend(columns[FIXED.len()..].iter().map(|column| column[row]));
        }
        paths.push((job, fits));
    }
    Ok(paths)
}

/// The status of a fit that should be that of a job at ω, from the first columns of its row.
fn status(
    [replicate, at, code]: [f64; 3],
    job: Job,
    omega: f64,
) -> Result<StatusCode, &'static str> {
    if replicate != f64::from(job.replicate) || at != omega {
        return Err("its replicates or omegas are not those of the manifest");
    }
    StatusCode::from_number(code as i32).ok_or("a status is unknown")
}

/// What somebody needs of every path of a part.
pub(super) struct Need<'a> {
    /// Places of numbers that are needed of the first `depth` fits.
    pub(super) columns: &'a [usize],
    pub(super) depth: usize,
    /// Grid points at which all numbers are needed, from small to large.
    pub(super) points: &'a [usize],
}

/// What was needed of a path.
pub(super) struct Glimpse {
    pub(super) job: Job,
    /// Some columns of some fits, fit after fit.
    pub(super) parameters: Vec<f64>,
    /// How each fit ended.
    pub(super) status: Vec<StatusCode>,
    /// All numbers at each of the points.
    pub(super) at_points: Vec<Vec<f64>>,
}

/// As [`read`], but nothing is decoded that is not needed.
pub(super) fn glimpse(
    kept: &Kept,
    chunk: Chunk,
    need: &Need<'_>,
) -> Result<Vec<Glimpse>, StoreError> {
    let (manifest, file) = (&kept.manifest, chunk.file());
    let jobs = chunk.jobs(manifest);
    let names = manifest.layout.parameter_names();
    let period = jobs.first().map_or(0, |job| manifest.omegas_of_job(*job).len());
    if jobs.iter().any(|job| manifest.omegas_of_job(*job).len() != period) {
        // The full data beside bootstraps at the first ω: one small part.
        return Ok(read(kept, chunk)?.into_iter().map(|path| need.of(path, names.len())).collect());
    }
    let need = &need.within(period);
    let every: Vec<usize> = (0..period).collect();
    let mut deep: Vec<usize> = (0..need.depth).chain(need.points.iter().copied()).collect();
    deep.sort_unstable();
    deep.dedup();
    // Which rows of a parameter's column are read, and where it then is.
    let rows = |column: usize| match need.columns.binary_search(&column) {
        Ok(_) => deep.as_slice(),
        Err(_) => need.points,
    };
    let mut wanted: Vec<(&str, &[usize])> =
        FIXED[..3].iter().map(|name| (*name, every.as_slice())).collect();
    let mut places = vec![None; names.len()];
    for (column, name) in names.iter().enumerate().filter(|(column, _)| !rows(*column).is_empty()) {
        places[column] = Some(wanted.len());
        wanted.push((name, rows(column)));
    }
    let wanted = SomeRows { columns: &wanted, period, n_rows: jobs.len() * period };
    let Some(read_columns) = kept.read_some(&file, &chunk.content(manifest), &wanted)? else {
        return Ok(read(kept, chunk)?.into_iter().map(|path| need.of(path, names.len())).collect());
    };
    let damaged = |what: &str| kept.damaged(&file, what);
    let value = |at: usize, column: usize, point: usize| {
        let (rows, place) = (rows(column), places[column]);
        let row = rows.binary_search(&point).ok();
        row.zip(place).map_or(f64::NAN, |(row, place)| read_columns[place][at * rows.len() + row])
    };
    let path = |(at, job): (usize, Job)| {
        let of_fit = |i: usize| {
            let fixed = [0, 1, 2].map(|column: usize| read_columns[column][at * period + i]);
            status(fixed, job, manifest.omegas[i]).map_err(damaged)
        };
        let whole = |&i: &usize| (0..names.len()).map(|column| value(at, column, i)).collect();
        let of_depth = |i: usize| need.columns.iter().map(move |&column| value(at, column, i));
        let mut parameters = Vec::with_capacity(need.depth * need.columns.len());
        parameters.extend((0..need.depth).flat_map(of_depth));
        Ok(Glimpse {
            job,
            parameters,
            status: (0..period).map(of_fit).collect::<Result<_, _>>()?,
            at_points: need.points.iter().map(whole).collect(),
        })
    };
    jobs.into_iter().enumerate().map(path).collect()
}

impl Need<'_> {
    /// What is needed of paths of so many fits.
    fn within(&self, period: usize) -> Need<'_> {
        let points = self.points.partition_point(|&i| i < period);
        Need { points: &self.points[..points], depth: self.depth.min(period), ..*self }
    }

    /// What is needed of a path that was read whole.
    pub(super) fn of(&self, (job, fits): (Job, PathFits), row: usize) -> Glimpse {
        let own = self.within(fits.status.len());
        own.of_whole((job, fits), row)
    }

    fn of_whole(&self, (job, fits): (Job, PathFits), row: usize) -> Glimpse {
        let fit = |i: usize| &fits.parameters[i * row..(i + 1) * row];
        let of_depth = |i: usize| self.columns.iter().map(move |&column| fit(i)[column]);
        let mut parameters = Vec::with_capacity(self.depth * self.columns.len());
        parameters.extend((0..self.depth).flat_map(of_depth));
        Glimpse {
            job,
            parameters,
            at_points: self.points.iter().map(|&i| fit(i).to_vec()).collect(),
            status: fits.status,
        }
    }
}
