//! The built-in studies: TOML files like those that users write.

use super::{Study, StudyError};

/// Names and files of the built-in studies.
pub const PRESETS: [(&str, &str); 11] = [
    ("paper-gmm", include_str!("presets/paper-gmm.toml")),
    ("paper-bmlr", include_str!("presets/paper-bmlr.toml")),
    ("paper-supplement", include_str!("presets/paper-supplement.toml")),
    ("section3", include_str!("presets/section3.toml")),
    ("hard", include_str!("presets/hard.toml")),
    ("noise", include_str!("presets/noise.toml")),
    ("broad", include_str!("presets/broad.toml")),
    ("classes", include_str!("presets/classes.toml")),
    ("covariances", include_str!("presets/covariances.toml")),
    ("columns", include_str!("presets/columns.toml")),
    ("boundaries", include_str!("presets/boundaries.toml")),
];

/// The built-in study of that name.
pub fn preset(name: &str) -> Result<Study, StudyError> {
    match PRESETS.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => Study::parse(text, name),
        None => Err(StudyError::NoSuchStudy {
            name: name.to_owned(),
            known: PRESETS.iter().map(|(known, _)| *known).collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Half, Simulation, StudyTarget};
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn presets_are_studies_that_read_back() {
        for (name, _) in PRESETS {
            let study = preset(name).unwrap();
            assert_eq!(Study::parse(&study.to_toml(), name).unwrap(), study, "{name}");
        }
        assert!(preset("nothing").is_err());
    }

    #[test]
    fn the_data_of_presets_stay_the_same() {
        // Computed before simulations had a skewness: new settings must not move old seeds.
        for (name, cell, seed) in [
            ("hard", "t-sep3/n=300", 5_740_662_354_717_834),
            ("hard", "three-sep2/n=300", 5_077_632_346_053_891),
            ("section3", "sep2/n=1000", 4_373_547_870_286_124),
            ("paper-bmlr", "shared/rows=1000", 4_702_146_625_665_569),
        ] {
            assert_eq!(preset(name).unwrap().data_of(cell).unwrap().1, seed, "{name} {cell}");
        }
    }

    /// A study that spans what it says, and whose halves are both worth something.
    #[test]
    fn broad_is_broad() {
        let study = preset("broad").unwrap();
        let cells = study.cell_names();
        assert!(cells.len() >= 44, "{}", cells.len());
        let chosen = cells.iter().filter(|cell| Half::of(cell) == Half::Choose).count();
        let share = chosen as f64 / cells.len() as f64;
        assert!((0.4..=0.6).contains(&share), "{chosen} of {} are for choosing", cells.len());
        let (mut components, mut columns) = (BTreeSet::new(), BTreeSet::new());
        let (mut rows, mut lightest) = (BTreeSet::new(), 1.0_f64);
        for cell in &cells {
            let (simulation, _) = study.data_of(cell).unwrap();
            let weights = simulation.truth().pi;
            components.insert(weights.len());
            if let Simulation::Gmm(gmm) = simulation {
                columns.insert(gmm.centres[0].len());
                rows.insert(gmm.n);
            }
            lightest = weights.into_iter().fold(lightest, f64::min);
        }
        assert_eq!(components, (1..=4).collect());
        assert_eq!((columns.first(), columns.last()), (Some(&1), Some(&8)));
        assert_eq!((rows.first(), rows.last()), (Some(&100), Some(&3000)));
        assert!((lightest - 0.1).abs() < 1e-12, "{lightest}");
    }

    #[test]
    fn every_quantity_of_broad_has_a_value_to_cover() {
        let mut study = preset("broad").unwrap();
        let of_limit = |study: &Study| -> usize {
            let own = study.designs.iter().filter(|d| d.target == StudyTarget::Limit);
            own.map(|d| d.simulate.sizes().len()).sum()
        };
        // Each limit is two fits of a million rows; one of them is enough here.
        assert!(of_limit(&study) <= 5, "{}", of_limit(&study));
        study.designs.retain(|d| d.target == StudyTarget::Truth || d.name == "skew-one");
        for cell in study.cells().unwrap() {
            assert!(cell.targets.iter().all(|x| x.is_finite()), "{}", cell.name);
            assert!(
                (5..=13).contains(&cell.targets.len()),
                "{}: {}",
                cell.name,
                cell.targets.len()
            );
            if cell.name.starts_with("skew-one") {
                // Near the truth of 0.6, and not at it.
                let distance = (cell.targets[0] - 0.6).abs();
                assert!(distance > 0.0 && distance < 0.1, "{}", cell.targets[0]);
            }
        }
    }
}
