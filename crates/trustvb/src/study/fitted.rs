//! The model that a study fits: its prior by name or with numbers of its own, and what else is set.

use super::StudyError;
use crate::model::{Covariance, PriorBase, Update};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// The model that is fitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitSettings {
    /// The prior: `default`, `paper`, or a table with the keys of a prior file.
    #[serde(default)]
    pub prior: StudyPrior,
    /// Which form of the covariance update (gmm).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<Update>,
    /// The shape of the covariances (gmm): `full`, `tied`, `diagonal` or `spherical`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covariance: Option<Covariance>,
    /// A known noise precision (bmlr); otherwise it is estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_noise: Option<f64>,
}

/// The prior of a design. A table is kept as it is written, because only the simulation beside it says
/// which model's keys it has; it is read when the study is checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum StudyPrior {
    /// A prior with a name.
    Named(PriorBase),
    /// The keys of a prior file, such as `{ alpha0 = 1.0, beta0 = 0.01 }`.
    Given(Map<String, Value>),
}

impl Default for StudyPrior {
    fn default() -> StudyPrior {
        StudyPrior::Named(PriorBase::default())
    }
}

/// Written by hand: an untagged enum would not say which names there are.
impl<'de> Deserialize<'de> for StudyPrior {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<StudyPrior, D::Error> {
        struct NameOrTable;
        impl<'de> Visitor<'de> for NameOrTable {
            type Value = StudyPrior;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a prior or a table with its numbers")
            }
            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<StudyPrior, E> {
                PriorBase::deserialize(name.into_deserializer()).map(StudyPrior::Named)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<StudyPrior, A::Error> {
                Map::deserialize(MapAccessDeserializer::new(map)).map(StudyPrior::Given)
            }
        }
        deserializer.deserialize_any(NameOrTable)
    }
}

impl StudyPrior {
    /// The prior of a model, whatever its fields are: they are those of its own file.
    pub(crate) fn read<P: DeserializeOwned>(&self) -> Result<P, StudyError> {
        let wrong = |what: String| StudyError::Setting { setting: "prior".to_owned(), what };
        let table = match self {
            StudyPrior::Given(table) => table.clone(),
            StudyPrior::Named(base) => {
                let base = serde_json::to_value(base).map_err(|e| wrong(e.to_string()))?;
                Map::from_iter([("base".to_owned(), base)])
            }
        };
        serde_json::from_value(Value::Object(table)).map_err(|e| wrong(e.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Study;
    use super::*;
    use crate::model::ModelSpec;

    const SMALL: &str = r#"
title = "small"
replications = 3
bootstraps = 100
methods = ["vb"]
quantities = ["pi[1]"]

[[design]]
name = "rows"
simulate = { model = "gmm", n = 100 }
fit = { prior = "paper" }

[[design]]
name = "groups"
simulate = { model = "bmlr", rows = 5, groups = 30, coefficients = [[1.0], [-1.0]] }
"#;

    fn with(prior: &str) -> Result<Study, StudyError> {
        Study::parse(&SMALL.replace("\"paper\"", prior), "my.toml")
    }

    #[test]
    fn a_prior_with_a_name_is_written_as_its_name() {
        let study = with("\"paper\"").unwrap();
        assert_eq!(study.designs[0].fit.prior, StudyPrior::Named(PriorBase::Paper));
        assert_eq!(study.designs[1].fit.prior, StudyPrior::default());
        let json = serde_json::to_value(&study).unwrap();
        assert_eq!(json["design"][0]["fit"], serde_json::json!({ "prior": "paper" }));
        assert_eq!(json["design"][1]["fit"], serde_json::json!({ "prior": "default" }));
        assert!(study.to_toml().contains("prior = \"paper\""));
    }

    #[test]
    fn a_prior_with_numbers_is_the_models_own() {
        let study =
            with("{ base = \"paper\", alpha0 = 1, beta0 = 0.01, m0 = [0.0, 1.5] }").unwrap();
        assert_eq!(Study::parse(&study.to_toml(), "toml").unwrap(), study);
        let json = serde_json::to_string(&study).unwrap();
        assert_eq!(serde_json::from_str::<Study>(&json).unwrap(), study);
        let ModelSpec::Gmm(gmm) = &study.cells().unwrap()[0].spec else { panic!("bmlr") };
        let prior = &gmm.prior;
        assert_eq!(
            (prior.alpha0, prior.beta0, prior.base),
            (Some(1.0), Some(0.01), PriorBase::Paper)
        );
        assert_eq!(prior.m0, Some(vec![0.0, 1.5]));
        let groups =
            SMALL.replace("[[1.0], [-1.0]] }", "[[1.0], [-1.0]] }\nfit = { prior = { a0 = 2.0 } }");
        let cells = Study::parse(&groups, "toml").unwrap().cells().unwrap();
        let ModelSpec::Bmlr(bmlr) = &cells[1].spec else { panic!("gmm") };
        let prior = &bmlr.prior;
        assert_eq!((prior.a0, prior.alpha0), (Some(2.0), None));
    }

    #[test]
    fn priors_that_make_no_sense_are_refused() {
        for (prior, fragments) in [
            ("\"papre\"", &["line 11", "papre", "`paper`"][..]),
            ("3.0", &["line 11", "name of a prior or a table"]),
            ("{ alpha = 1.0 }", &["design rows", "prior", "`alpha`", "`alpha0`"]),
            ("{ a0 = 1.0 }", &["design rows", "`a0`"]),
            ("{ beta0 = -1.0 }", &["design rows", "beta0 is -1"]),
            ("{ m0 = [1.0] }", &["m0 has 1 numbers but the data have 2 columns"]),
        ] {
            let message = with(prior).unwrap_err().to_string();
            for fragment in fragments {
                assert!(message.contains(fragment), "{fragment:?} is not in {message:?}");
            }
        }
    }
}
