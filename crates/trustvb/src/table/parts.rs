//! One part of a table on disk: whole paths of a chunk of replicates, as a Parquet file.

use super::Manifest;
use super::disk::Kept;
use crate::backend::Job;
use crate::data::ColumnValues;
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
        for (i, &omega) in manifest.omegas.iter().enumerate() {
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
    let n_omegas = manifest.omegas.len();
    let n_rows = jobs.len() * n_omegas;
    let columns = kept.read_part(&file, &chunk.content(manifest), &names, n_rows)?;
    let mut paths = Vec::with_capacity(jobs.len());
    for (at, job) in jobs.into_iter().enumerate() {
        let rows = at * n_omegas..(at + 1) * n_omegas;
        let mut fits = PathFits {
            parameters: Vec::with_capacity(n_omegas * manifest.layout.len()),
            bound: columns[4][rows.clone()].to_vec(),
            sweeps: columns[3][rows.clone()].iter().map(|&x| x as u32).collect(),
            status: Vec::with_capacity(n_omegas),
            end: None,
        };
        for (i, row) in rows.enumerate() {
            if columns[0][row] != f64::from(job.replicate) || columns[1][row] != manifest.omegas[i]
            {
                return Err(damaged("its replicates or omegas are not those of the manifest"));
            }
            let code = StatusCode::from_number(columns[2][row] as i32);
            fits.status.push(code.ok_or_else(|| damaged("a status is unknown"))?);
            fits.parameters.extend(columns[FIXED.len()..].iter().map(|column| column[row]));
        }
        paths.push((job, fits));
    }
    Ok(paths)
}
