//! What bootstraps say of one of VB's own intervals, as a rule and in a few words.

use super::Answer;

/// A coverage that is this far below the level is not called fine, however few the resamples are.
const NEAR: f64 = 0.03;

/// What is said where nothing is known of the coverage of VB's own interval.
pub const UNCHECKED: &str = "VB was not checked";

/// What the estimated coverage of one of VB's own intervals says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    /// It covers less than it claims, by more than noise.
    TooShort,
    /// It seems to cover less than it claims, but resamples are too few to say so.
    Unclear,
    /// It covers what it claims, as far as can be told.
    Fine,
    /// It covers more than it claims, by more than noise.
    TooLong,
}

impl Own {
    /// All of them.
    pub const ALL: [Own; 4] = [Own::TooShort, Own::Unclear, Own::Fine, Own::TooLong];

    /// What a coverage with its standard error says of an interval that claims `level`, if it was estimated from
    /// `bootstraps` resamples; `None` if it is not known.
    ///
    /// Noise is two standard errors: that of the coverage found below the level, that of the level itself above it,
    /// because few resamples that all cover have no spread and yet say little.
    pub fn judge(coverage: f64, se: f64, level: f64, bootstraps: usize) -> Option<Own> {
        if !coverage.is_finite() || bootstraps == 0 {
            return None;
        }
        let nominal = (level * (1.0 - level) / bootstraps as f64).sqrt();
        Some(if coverage + 2.0 * if se.is_finite() { se } else { 0.0 } < level {
            Own::TooShort
        } else if coverage > level + 2.0 * nominal {
            Own::TooLong
        } else if coverage < level - NEAR {
            Own::Unclear
        } else {
            Own::Fine
        })
    }

    /// The same of an interval with these limits; `None` also if it is a point, as that of the only weight is: nothing
    /// misses it, which says nothing.
    pub fn judge_interval(
        (lower, upper): (f64, f64),
        (coverage, se): (f64, f64),
        level: f64,
        bootstraps: usize,
    ) -> Option<Own> {
        if upper > lower { Own::judge(coverage, se, level, bootstraps) } else { None }
    }

    /// What `bootstraps` resamples say of an interval of `vb`; `None` if its coverage is not known, or it is a point.
    pub fn of(vb: &Answer, bootstraps: usize) -> Option<Own> {
        let found = (vb.coverage?, vb.coverage_se.unwrap_or(0.0));
        Own::judge_interval((vb.lower, vb.upper), found, vb.level, bootstraps)
    }

    /// For a cell of a table.
    pub fn words(self) -> &'static str {
        match self {
            Own::TooShort => "VB is too short",
            Own::Unclear => "VB may be too short",
            Own::Fine => "VB is fine",
            Own::TooLong => "VB is too long",
        }
    }

    /// The one with these words.
    pub fn from_words(words: &str) -> Option<Own> {
        Own::ALL.into_iter().find(|own| own.words() == words)
    }
}

#[cfg(test)]
mod tests {
    use super::Own::{Fine, TooLong, TooShort, Unclear};
    use super::*;

    #[test]
    fn noise_is_no_verdict() {
        for (coverage, se, level, bootstraps, expected) in [
            (0.69, 0.02, 0.95, 500, Some(TooShort)),
            (0.94, 0.0106, 0.95, 500, Some(Fine)),
            (0.91, 0.04, 0.95, 50, Some(Unclear)),
            (0.99, 0.0044, 0.95, 500, Some(TooLong)),
            // Ten of ten are no surprise at 95%, although the estimated error is 0.
            (1.0, 0.0, 0.95, 10, Some(Fine)),
            (f64::NAN, f64::NAN, 0.95, 500, None),
            (0.95, 0.0, 0.95, 0, None),
        ] {
            assert_eq!(Own::judge(coverage, se, level, bootstraps), expected, "{coverage}");
        }
        assert!(Own::ALL.iter().all(|own| Own::from_words(own.words()) == Some(*own)));
    }
}
