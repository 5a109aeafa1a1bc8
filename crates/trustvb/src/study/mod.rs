//! Coverage studies: many data sets with known truth, many methods, and what their intervals do.
//!
//! A [`Study`] says which data to simulate ([`SimulationSettings`]), which model to fit and what to ask by
//! which [`StudyMethod`]s. Each design at each size is a [`Cell`]; a cell has many replications, each a
//! data set from a stream of its own. With the feature `parquet`, `run` keeps the intervals of whole
//! replications in a folder, so that a study can be stopped, resumed, and made in shards; `summarise` says
//! what they show.
//!
//! Component 1 of the truth is the heaviest. Fits are matched to the truth before anything is asked
//! ([`Labels::Matched`]), so that results tell of intervals and not of numbering.

mod change;
mod error;
mod fitted;
#[cfg(feature = "parquet")]
mod flags;
#[cfg(feature = "parquet")]
mod folder;
mod half;
#[cfg(feature = "parquet")]
mod info;
mod limits;
#[cfg(all(test, feature = "parquet"))]
mod made_up;
mod method;
#[cfg(feature = "parquet")]
mod overall;
mod plan;
mod preset;
#[cfg(feature = "parquet")]
mod ranks;
#[cfg(feature = "parquet")]
mod record;
#[cfg(feature = "parquet")]
mod replicate;
#[cfg(feature = "parquet")]
mod results;
#[cfg(feature = "parquet")]
mod run;
mod score;
pub(crate) mod simulate;
#[cfg(feature = "parquet")]
mod summary;
pub(crate) mod truth;

pub use crate::model::{Simulation, SimulationSettings};
pub use change::Changes;
pub use error::StudyError;
pub use fitted::{FitSettings, StudyPrior};
#[cfg(feature = "parquet")]
pub use flags::{FlagCoverage, flag_coverage};
#[cfg(feature = "parquet")]
pub use folder::{CellInfo, merge, study_in};
pub use half::Half;
#[cfg(feature = "parquet")]
pub use info::{StudyInfo, claim, info};
pub use method::StudyMethod;
#[cfg(feature = "parquet")]
pub use overall::{Overall, overall};
pub use plan::{Cell, Labels, Study, StudyDesign, StudyTarget};
pub use preset::{PRESETS, preset};
#[cfg(feature = "parquet")]
pub use ranks::{Ranks, ranks};
#[cfg(feature = "parquet")]
pub use record::{Outcome, Record};
#[cfg(feature = "parquet")]
pub use results::Results;
#[cfg(feature = "parquet")]
pub use run::{Progress, run, survey};
pub use score::{interval_score, mean_and_sd, oracle, ratio_of_means, wilson};
pub use simulate::{SettingsOf, SimulationOf, calibration_seed};
#[cfg(feature = "parquet")]
pub use summary::{Summary, summarise};
pub use truth::Truth;
