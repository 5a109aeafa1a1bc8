//! A study with some of its numbers changed: what the command line and Python say beside its name.

use super::{Half, Labels, Study, StudyError, StudyMethod};
use serde::Deserialize;

/// What to change; nothing by default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Changes {
    /// Only the cells with names that match one of these patterns; see [`Study::only`].
    pub only: Vec<String>,
    /// Only the cells of this half; see [`Study::half`].
    pub half: Option<Half>,
    /// Fewer replications and bootstraps; see [`Study::scaled`].
    pub scale: Option<f64>,
    /// Data sets in each cell.
    pub replications: Option<u32>,
    /// Bootstraps of each design.
    pub bootstraps: Option<u32>,
    /// Points of the grid of ω.
    pub grid: Option<usize>,
    /// Seed of everything random.
    pub seed: Option<u64>,
    /// Levels of the intervals.
    pub levels: Vec<f64>,
    /// Methods, in any order.
    pub methods: Vec<StudyMethod>,
    /// Quantities, of all designs.
    pub quantities: Vec<String>,
    /// How components get the numbers of the true ones.
    pub labels: Option<Labels>,
}

impl Study {
    /// The study with these changes, checked.
    pub fn changed(self, changes: &Changes) -> Result<Study, StudyError> {
        let mut study = self.only(&changes.only)?;
        if let Some(half) = changes.half {
            study = study.half(half)?;
        }
        if let Some(scale) = changes.scale {
            study = study.scaled(scale);
        }
        study.replications = changes.replications.unwrap_or(study.replications);
        study.bootstraps = changes.bootstraps.unwrap_or(study.bootstraps);
        study.grid = changes.grid.unwrap_or(study.grid);
        study.seed = changes.seed.unwrap_or(study.seed);
        study.labels = changes.labels.unwrap_or(study.labels);
        if !changes.levels.is_empty() {
            study.levels.clone_from(&changes.levels);
        }
        if !changes.methods.is_empty() {
            study.methods.clone_from(&changes.methods);
            study.methods.sort();
            study.methods.dedup();
        }
        if !changes.quantities.is_empty() {
            study.quantities.clone_from(&changes.quantities);
            for design in &mut study.designs {
                design.quantities = None;
            }
        }
        study.check()?;
        Ok(study)
    }
}

#[cfg(test)]
mod tests {
    use super::super::preset;
    use super::*;
    use crate::calibrate::Method;

    #[test]
    fn only_what_is_said_changes() {
        let study = preset("hard").unwrap();
        assert_eq!(study.clone().changed(&Changes::default()).unwrap(), study);
        let changes = Changes {
            only: vec!["sep2/n=100".to_owned()],
            methods: vec![Method::Anchored.into(), Method::Vb.into(), Method::Vb.into()],
            levels: vec![0.5],
            seed: Some(7),
            ..Changes::default()
        };
        let changed = study.clone().changed(&changes).unwrap();
        assert_eq!(changed.methods, [Method::Vb, Method::Anchored]);
        assert_eq!((changed.designs.len(), changed.seed), (1, 7));
        assert_eq!((changed.bootstraps, &changed.levels[..]), (study.bootstraps, &[0.5][..]));
        let wrong = Changes { grid: Some(0), ..Changes::default() };
        assert!(study.changed(&wrong).unwrap_err().to_string().contains("grid"));
    }
}
