//! The methods that a study compares: the calibrators, and one of them on other resamples.

use crate::calibrate::Method;
use serde::{Deserialize, Serialize};

/// A method as studies name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StudyMethod {
    /// [`Method::Vb`].
    Vb,
    /// [`Method::Balanced`].
    Balanced,
    /// [`Method::Tempered`].
    Tempered,
    /// [`Method::Tvb`], one split and one set of bootstraps for all ω.
    Tvb,
    /// [`Method::Tvb`] with a new split and new bootstraps at every ω and a search over the whole grid, as in
    /// the paper's studies.
    TvbFresh,
    /// [`Method::TvbSequential`].
    TvbSequential,
    /// [`Method::Gpc`].
    Gpc,
    /// [`Method::Anchored`].
    Anchored,
    /// [`Method::Analytic`].
    Analytic,
    /// [`Method::Jackknife`].
    Jackknife,
    /// [`Method::Bootstrap`].
    Bootstrap,
}

impl StudyMethod {
    /// All of them, in the order in which results are shown.
    pub const ALL: [StudyMethod; 11] = [
        StudyMethod::Vb,
        StudyMethod::Balanced,
        StudyMethod::Tempered,
        StudyMethod::Tvb,
        StudyMethod::TvbFresh,
        StudyMethod::TvbSequential,
        StudyMethod::Gpc,
        StudyMethod::Anchored,
        StudyMethod::Analytic,
        StudyMethod::Jackknife,
        StudyMethod::Bootstrap,
    ];

    /// The calibrator behind it.
    pub fn method(self) -> Method {
        match self {
            StudyMethod::Vb => Method::Vb,
            StudyMethod::Balanced => Method::Balanced,
            StudyMethod::Tempered => Method::Tempered,
            StudyMethod::Tvb | StudyMethod::TvbFresh => Method::Tvb,
            StudyMethod::TvbSequential => Method::TvbSequential,
            StudyMethod::Gpc => Method::Gpc,
            StudyMethod::Anchored => Method::Anchored,
            StudyMethod::Analytic => Method::Analytic,
            StudyMethod::Jackknife => Method::Jackknife,
            StudyMethod::Bootstrap => Method::Bootstrap,
        }
    }

    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            StudyMethod::TvbFresh => "tvb-fresh",
            other => other.method().name(),
        }
    }

    /// The method of that name.
    pub fn from_name(name: &str) -> Option<StudyMethod> {
        StudyMethod::ALL.into_iter().find(|method| method.name() == name)
    }

    /// Whether it looks at bootstraps of all units at ω = 1 and at no other.
    #[cfg(feature = "parquet")]
    pub(super) fn needs_bootstraps_at_one(self) -> bool {
        matches!(self, StudyMethod::Balanced | StudyMethod::Tempered | StudyMethod::Bootstrap)
    }

    /// Whether it chooses an ω.
    pub fn chooses_omega(self) -> bool {
        self.method().chooses_omega()
    }
}
