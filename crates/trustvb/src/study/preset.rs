//! The built-in studies: TOML files like those that users write.

use super::{Study, StudyError};

/// Names and files of the built-in studies.
pub const PRESETS: [(&str, &str); 6] = [
    ("paper-gmm", include_str!("presets/paper-gmm.toml")),
    ("paper-bmlr", include_str!("presets/paper-bmlr.toml")),
    ("paper-supplement", include_str!("presets/paper-supplement.toml")),
    ("section3", include_str!("presets/section3.toml")),
    ("hard", include_str!("presets/hard.toml")),
    ("noise", include_str!("presets/noise.toml")),
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
    use super::*;

    #[test]
    fn presets_are_studies_that_read_back() {
        for (name, _) in PRESETS {
            let study = preset(name).unwrap();
            assert_eq!(Study::parse(&study.to_toml(), name).unwrap(), study, "{name}");
        }
        assert!(preset("nothing").is_err());
    }
}
