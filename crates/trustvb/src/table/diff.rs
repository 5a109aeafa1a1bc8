//! Whether two tables hold the same: manifests, data, and every number of every fit, bit for bit.

use super::disk::{Kept, TableError, read_data};
use super::parts::{self, Chunk};
use super::{KeptData, Manifest, hash_data};
use crate::backend::Job;
use crate::fit::PathFits;
use crate::location::Location;
use crate::store::{first_difference, if_there};
use rayon::prelude::*;

/// How two tables differ; see [`diff`].
#[derive(Clone, Debug, Default)]
pub struct TableDiff {
    /// Settings that differ: field, value in the first and in the second.
    pub manifest: Vec<(String, String, String)>,
    /// What differs about the data, in words.
    pub data: Option<String>,
    /// Parts that only the second table has, by file name.
    pub only_in_second: Vec<String>,
    /// Parts that only the first table has.
    pub only_in_first: Vec<String>,
    /// Parts whose numbers differ, with the first difference in words.
    pub different: Vec<(String, String)>,
    /// Parts that are the same.
    pub same_parts: usize,
    /// Fits in them.
    pub same_fits: usize,
}

impl TableDiff {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.manifest.is_empty()
            && self.data.is_none()
            && self.only_in_first.is_empty()
            && self.only_in_second.is_empty()
            && self.different.is_empty()
    }
}

/// Compares two tables. Parts are compared only when the settings that decide them are equal; a part that
/// cannot be read is an error.
pub fn diff(first: &Location, second: &Location) -> Result<TableDiff, TableError> {
    let (one, two) = (Kept::open(first)?, Kept::open(second)?);
    let manifest = &one.manifest;
    let mut diff =
        TableDiff { manifest: manifests(manifest, &two.manifest), ..TableDiff::default() };
    let data = (read_data(&one)?, read_data(&two)?);
    diff.data = match &data {
        (Some(_), None) => Some("only the first table has its data".to_owned()),
        (None, Some(_)) => Some("only the second table has its data".to_owned()),
        (Some(a), Some(b)) if hash_of(a) != hash_of(b) => Some("their data differ".to_owned()),
        _ => None,
    };
    if !diff.manifest.is_empty() {
        return Ok(diff);
    }
    let compared: Vec<(Chunk, Compared)> = Chunk::all(manifest)
        .into_par_iter()
        .map(|chunk| {
            let read = |kept| if_there(parts::read(kept, chunk));
            Ok((chunk, compare(manifest, read(&one)?, read(&two)?)))
        })
        .collect::<Result<_, TableError>>()?;
    for (chunk, compared) in compared {
        match compared {
            Compared::Neither => (),
            Compared::OnlyFirst => diff.only_in_first.push(chunk.file()),
            Compared::OnlySecond => diff.only_in_second.push(chunk.file()),
            Compared::Different(what) => diff.different.push((chunk.file(), what)),
            Compared::Same(fits) => {
                diff.same_parts += 1;
                diff.same_fits += fits;
            }
        }
    }
    Ok(diff)
}

fn hash_of(kept: &KeptData) -> String {
    hash_data(&kept.data, kept.weights.as_deref())
}

/// Every top-level field that differs.
fn manifests(one: &Manifest, two: &Manifest) -> Vec<(String, String, String)> {
    let value = |m: &Manifest| serde_json::to_value(m).unwrap_or_default();
    let (one, two) = (value(one), value(two));
    let fields = |v: &serde_json::Value| {
        v.as_object().map(|o| o.keys().cloned().collect::<Vec<_>>()).unwrap_or_default()
    };
    let mut names = fields(&one);
    names.extend(fields(&two).into_iter().filter(|name| one.get(name).is_none()));
    names.iter().filter_map(|name| first_difference(name, &one[name], &two[name])).collect()
}

enum Compared {
    Neither,
    OnlyFirst,
    OnlySecond,
    Different(String),
    Same(usize),
}

type Paths = Vec<(Job, PathFits)>;

fn compare(manifest: &Manifest, first: Option<Paths>, second: Option<Paths>) -> Compared {
    match (first, second) {
        (None, None) => Compared::Neither,
        (Some(_), None) => Compared::OnlyFirst,
        (None, Some(_)) => Compared::OnlySecond,
        (Some(first), Some(second)) => {
            let difference = first.iter().zip(&second).find_map(|((job, a), (_, b))| {
                difference(manifest, a, b)
                    .map(|what| format!("replicate {}, {what}", job.replicate))
            });
            match difference {
                Some(what) => Compared::Different(what),
                None => Compared::Same(first.iter().map(|(_, path)| path.status.len()).sum()),
            }
        }
    }
}

/// The first number in which two paths differ, in words.
fn difference(manifest: &Manifest, a: &PathFits, b: &PathFits) -> Option<String> {
    let width = manifest.layout.len();
    manifest.omegas.iter().take(a.status.len()).enumerate().find_map(|(i, omega)| {
        let here = |what: &str, a: String, b: String| {
            Some(format!("ω {omega}: {what} is {a} in the first table and {b} in the second"))
        };
        if a.status[i] != b.status[i] {
            return here("the status", format!("{:?}", a.status[i]), format!("{:?}", b.status[i]));
        }
        if a.sweeps[i] != b.sweeps[i] {
            return here("the number of sweeps", a.sweeps[i].to_string(), b.sweeps[i].to_string());
        }
        if a.bound[i].to_bits() != b.bound[i].to_bits() {
            return here("the bound", a.bound[i].to_string(), b.bound[i].to_string());
        }
        let row = i * width..(i + 1) * width;
        let at = (row.clone()).find(|&j| a.parameters[j].to_bits() != b.parameters[j].to_bits())?;
        let name = manifest.layout.parameter_names().swap_remove(at - row.start);
        here(&name, a.parameters[at].to_string(), b.parameters[at].to_string())
    })
}
