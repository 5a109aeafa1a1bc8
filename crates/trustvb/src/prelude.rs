//! What most programs need: `use trustvb::prelude::*`.

pub use crate::calibrate::{Answer, Flag, Method};
pub use crate::data::{Dataset, Formula, Frame, ReadOptions, read_path};
pub use crate::fit::{Fit, FitOptions};
#[cfg(feature = "parquet")]
pub use crate::location::Location;
pub use crate::model::{
    BmlrPrior, GaussianMixture, GmmPrior, ModelData, ModelSpec, Noise, RegressionMixture,
};
pub use crate::problem::Problem;
pub use crate::table::TvbTable;
pub use crate::weights::{UnitWeights, WeightKind, WeightsFrom};
