//! Rows that are not in memory: what a fit asks of them, and who keeps them.
//!
//! All that a fit needs of its rows is a *pass*: a short vector goes to where the rows are (the log densities of the
//! components, and for derivatives a change of them), and sums over the rows come back. Sweeps, starts, acceleration,
//! stopping and influence are the same code wherever rows are. Beside passes a few rows are asked for by number: random
//! ones, among which starts are found. So a keeper of rows says two things ([`RowKeeper`]): it never sees a fit, and a fit
//! never sees rows. A cut at the sweep would make every keeper know priors and posteriors; a cut at reading rows would
//! send all of them through one process.

mod part;
mod pass;
mod scratch;
mod summary;

pub use part::{RowUnits, RowsPart};
pub use pass::{Pass, PassKind};
pub(super) use scratch::stream;
pub use summary::RowsSummary;

use crate::data::{DataError, check_rows};
use crate::linalg::packed_index;
use crate::model::{Degenerate, FarUnits};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Whoever keeps rows: in a file, on other machines.
///
/// Rows are in the units of the pass: each column less its [`Pass::centre`], over its [`Pass::scale`].
pub trait RowKeeper: Send + Sync + fmt::Debug {
    /// The sums of a pass over all rows, or why there are none. The same bits every time.
    fn sums(&self, pass: &Pass) -> Result<Vec<f64>, String>;
    /// Rows by number from 0, row after row, in the units given as centres and scales.
    fn rows(&self, units: (&[f64], &[f64]), numbers: &[usize]) -> Result<Vec<f64>, String>;
}

/// Rows that are not in memory, with what is known of their columns. Copies share the keeper.
#[derive(Clone, Debug)]
pub struct FarRows {
    source: Arc<str>,
    summary: Arc<RowsSummary>,
    keeper: Arc<dyn RowKeeper>,
    /// See [`FarRows::moments`]: every fit begins with them.
    moments: Arc<OnceLock<Vec<f64>>>,
}

impl FarRows {
    /// Rows of a keeper; `source` is what messages call them.
    pub fn new(source: &str, summary: RowsSummary, keeper: Arc<dyn RowKeeper>) -> FarRows {
        let (source, summary, moments) = (Arc::from(source), Arc::new(summary), Arc::default());
        FarRows { source, summary, keeper, moments }
    }

    /// What is known of the columns.
    pub fn summary(&self) -> &RowsSummary {
        &self.summary
    }

    /// What messages call the rows.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// A pass in the units in which columns have mean 0 and standard deviation 1.
    fn pass(&self, kind: PassKind, k: usize, densities: &[f64], change: &[f64]) -> Pass {
        let (centre, scale) = (&self.summary.mean, &self.summary.sd);
        let (densities, change) = (densities.to_vec(), change.to_vec());
        Pass {
            kind,
            n_components: k,
            centre: centre.clone(),
            scale: scale.clone(),
            densities,
            change,
        }
    }

    fn sums(&self, pass: &Pass) -> Result<Vec<f64>, Degenerate> {
        let sums = self.keeper.sums(pass).map_err(Degenerate::Rows)?;
        match (sums.len(), pass.n_sums()) {
            (got, expected) if got == expected => Ok(sums),
            (got, expected) => {
                Err(Degenerate::Rows(format!("a pass gave {got} sums instead of {expected}")))
            }
        }
    }

    /// The sums of an E-step into `stats`, and `Σ log Σρ`.
    pub(super) fn e_step(&self, densities: &[f64], stats: &mut [f64]) -> Result<f64, Degenerate> {
        let k = stats.len() / pass::features(self.summary.mean.len());
        let sums = self.sums(&self.pass(PassKind::Statistics, k, densities, &[]))?;
        let (ln_evidence, sums) = sums.split_last().ok_or(Degenerate::NotFinite)?;
        stats.copy_from_slice(sums);
        Ok(*ln_evidence)
    }

    /// Moments of all rows: an E-step with one component that takes everything. It is made once.
    pub(super) fn moments(&self) -> Result<Vec<f64>, Degenerate> {
        if let Some(known) = self.moments.get() {
            return Ok(known.clone());
        }
        let mut moments = vec![0.0; pass::features(self.summary.mean.len())];
        self.e_step(&moments.clone(), &mut moments)?;
        Ok(self.moments.get_or_init(|| moments).clone())
    }

    /// Rows by number, row after row, in scaled units.
    pub(super) fn rows(&self, numbers: &[usize]) -> Result<Vec<f64>, Degenerate> {
        let RowsSummary { mean, sd, .. } = self.summary();
        let rows = self.keeper.rows((mean, sd), numbers).map_err(Degenerate::Rows)?;
        match rows.len() == numbers.len() * mean.len() {
            true => Ok(rows),
            false => Err(Degenerate::Rows("not all rows that were asked for came".to_owned())),
        }
    }

    /// As [`Dataset::check_for_mixture`](crate::data::Dataset::check_for_mixture).
    pub(super) fn check_for_mixture(&self, n_components: usize) -> Result<(), DataError> {
        let summary = self.summary();
        let (p, n) = (summary.names.len(), summary.n_rows);
        let file = || self.source.to_string();
        let unreadable = |why: Degenerate| DataError::Units { file: file(), what: why.to_string() };
        let ranges: Vec<[f64; 2]> =
            summary.least.iter().zip(&summary.largest).map(|(a, b)| [*a, *b]).collect();
        let known = (&*self.source, &summary.names[..], n, &ranges[..]);
        check_rows(known, n_components, None)?;
        let moments = self.moments().map_err(unreadable)?;
        let (first, second) = moments[1..].split_at(p);
        let scatter =
            |a: usize, b: usize| second[packed_index(a, b)] - first[a] * first[b] / n as f64;
        let gram = || {
            let entry = |a: usize, b: usize| match a == b {
                true => 1.0,
                false => scatter(a, b) / (scatter(a, a) * scatter(b, b)).sqrt(),
            };
            (0..p).map(|a| (0..=a).map(|b| entry(a, b)).collect()).collect()
        };
        check_rows(known, n_components, Some(&gram))
    }
}

impl FarUnits for FarRows {
    fn n_units(&self) -> usize {
        self.summary.n_rows
    }

    fn hessian(&self, densities: &[f64], k: usize) -> Result<Vec<f64>, Degenerate> {
        self.sums(&self.pass(PassKind::Hessian, k, densities, &[]))
    }

    fn pull(&self, densities: &[f64], k: usize, change: &[f64]) -> Result<Vec<f64>, Degenerate> {
        self.sums(&self.pass(PassKind::Pull, k, densities, change))
    }

    fn influence(
        &self,
        densities: &[f64],
        k: usize,
        slopes: &[f64],
    ) -> Result<[f64; 2], Degenerate> {
        let sums = self.sums(&self.pass(PassKind::Influence, k, densities, slopes))?;
        Ok([sums[0], sums[1]])
    }
}
