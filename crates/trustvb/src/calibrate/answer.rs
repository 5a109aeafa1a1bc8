//! A calibrated interval with its evidence, or why there is none.

use super::{CurvePoint, Flag, Method, Own, UNCHECKED};
use crate::model::ModelError;
use crate::posterior::Posterior;
use crate::remedy::{Advise, Remedy};

/// A calibrated interval with its evidence.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The functional, as typed.
    pub functional: String,
    /// The same with column names.
    pub label: String,
    /// Who answered.
    pub method: Method,
    /// The level asked for.
    pub level: f64,
    /// ω̂.
    pub omega: f64,
    /// h at the posterior mean of the full-data fit at ω = 1.
    pub estimate: f64,
    /// Lower limit.
    pub lower: f64,
    /// Upper limit.
    pub upper: f64,
    /// Estimated coverage at ω̂, where there is evidence.
    pub coverage: Option<f64>,
    /// Its Monte-Carlo standard error (0 for `analytic`, which has none).
    pub coverage_se: Option<f64>,
    /// What resamples say of VB's own interval; nothing of other methods', or if that is not known.
    pub own: Option<Own>,
    /// Monte-Carlo standard errors of the limits, when they come from draws.
    pub limits_se: Option<(f64, f64)>,
    /// What to know before trusting it.
    pub flags: Vec<Flag>,
    /// The coverage curve as far as it was evaluated, from large to small ω.
    pub curve: Vec<CurvePoint>,
    /// Fits made for this answer beyond those in the table.
    pub extra_fits: usize,
    /// The full-data posterior at ω̂, from which the interval was taken.
    pub posterior: Posterior,
    /// The law of the functional: `Beta`, `scaled t`, …, or `draws`.
    pub law: String,
}

impl Answer {
    /// ω̂, unless the method has none.
    pub fn shown_omega(&self) -> Option<f64> {
        (self.method == Method::Vb || self.method.chooses_omega()).then_some(self.omega)
    }

    /// What is to be thought of VB's own interval, in a few words; nothing of other methods'.
    pub fn verdict(&self) -> Option<&'static str> {
        (self.method == Method::Vb).then(|| self.own.map_or(UNCHECKED, Own::words))
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// The table lacks what the method needs.
    #[error("{method} needs {needs}, which the table does not have")]
    Missing {
        /// The method.
        method: &'static str,
        /// What is missing.
        needs: &'static str,
        /// How to get it.
        remedy: Remedy,
    },
    /// A method that makes fits of its own.
    #[error(
        "{0} needs more of a model of this library than fits made elsewhere can tell; use balanced, \
         tempered, anchored, gpc or tvb"
    )]
    NeedsModel(&'static str),
    /// An estimate or a limit that the scale it is said to be on does not hold.
    #[error(
        "{value} is not {bounds}, as {what} of this scale must be; use the scale `real`, or a law that \
         keeps to the scale"
    )]
    Scale {
        /// The number.
        value: f64,
        /// What it is.
        what: &'static str,
        /// Where it must lie.
        bounds: &'static str,
    },
    /// One interval was asked of a quantity with several numbers, or none.
    #[error("`{text}` has {parts} numbers, so it has as many intervals; ask for them by method")]
    Parts {
        /// What was asked.
        text: String,
        /// How many numbers it has.
        parts: usize,
    },
    /// A level outside (0, 1).
    #[error("the level {0} is not between 0 and 1; 0.95 asks for a 95% interval")]
    Level(f64),
    /// The full-data fit at ω = 1 is degenerate or not there.
    #[error(
        "the table has no full-data fit at ω = 1, so there is nothing to calibrate: the fit failed, \
         or the table is not complete"
    )]
    NoFullFit,
    /// The stored data do not make the stored model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A part of the table was there and no longer is.
    #[error("the table could not be read again: {0}")]
    Unreadable(String),
    /// Nobody waits for the answer any more.
    #[error("interrupted")]
    Cancelled,
}

impl Advise for CalibrateError {
    fn remedies(&self) -> Vec<Remedy> {
        match self {
            CalibrateError::Missing { remedy, .. } => vec![*remedy],
            CalibrateError::NoFullFit => vec![Remedy::InspectTable],
            CalibrateError::Model(error) => error.remedies(),
            _ => Vec::new(),
        }
    }
}
