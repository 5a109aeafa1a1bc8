//! The methods that a study compares: the calibrators, and one of them on other resamples.

use crate::calibrate::Method;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A calibrator as studies name it: itself, or `tvb` with a new split and new bootstraps at every ω and a search over
/// the whole grid, as in the paper's studies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StudyMethod {
    method: Method,
    fresh: bool,
}

impl From<Method> for StudyMethod {
    fn from(method: Method) -> StudyMethod {
        StudyMethod { method, fresh: false }
    }
}

impl PartialEq<Method> for StudyMethod {
    fn eq(&self, other: &Method) -> bool {
        *self == StudyMethod::from(*other)
    }
}

impl StudyMethod {
    /// `tvb` with a new split and new bootstraps at every ω.
    pub const TVB_FRESH: StudyMethod = StudyMethod { method: Method::Tvb, fresh: true };

    /// All of them, in the order in which results are shown.
    pub fn all() -> Vec<StudyMethod> {
        let mut all: Vec<StudyMethod> = Method::ALL.into_iter().map(StudyMethod::from).collect();
        all.push(StudyMethod::TVB_FRESH);
        all.sort();
        all
    }

    /// The calibrator behind it.
    pub fn method(self) -> Method {
        self.method
    }

    /// Whether splits are drawn anew at every ω.
    pub fn has_fresh_splits(self) -> bool {
        self.fresh
    }

    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        if self.fresh { "tvb-fresh" } else { self.method.name() }
    }

    /// The method of that name.
    pub fn from_name(name: &str) -> Option<StudyMethod> {
        StudyMethod::all().into_iter().find(|method| method.name() == name)
    }

    /// Whether it looks at bootstraps of all units at ω = 1 and at no other.
    #[cfg(feature = "parquet")]
    pub(super) fn needs_bootstraps_at_one(self) -> bool {
        self.method.design().is_some() && !self.method.needs_grid()
    }

    /// Whether it chooses an ω.
    pub fn chooses_omega(self) -> bool {
        self.method.chooses_omega()
    }
}

impl Serialize for StudyMethod {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for StudyMethod {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<StudyMethod, D::Error> {
        let name = String::deserialize(deserializer)?;
        StudyMethod::from_name(&name).ok_or_else(|| {
            let known: Vec<&str> = StudyMethod::all().iter().map(|method| method.name()).collect();
            D::Error::custom(format!(
                "there is no method `{name}`; choose from {}",
                known.join(", ")
            ))
        })
    }
}
