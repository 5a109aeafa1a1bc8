//! What a user says each row counts for: survey weights, or how many units it stands for.
//!
//! A row stands for some exchangeable units, and each of these counts so much. Units are what is resampled: a unit that
//! is drawn `c` times enters a fit with `c` times its weight.
//!
//! - *Survey weights* say how much a unit counts, because it had more or less chance to be in the sample than others. A
//!   row is one unit; weights are divided by their mean, so that a posterior is as wide as that of so many rows, however
//!   large the population is that they add up to.
//! - *Frequencies* say how many units a row stands for. Each counts as one, and everything is as if the row were in the
//!   data so many times.
//!
//! A row of weight 0 stands for no unit: it is as if it were not there.

use serde::{Deserialize, Serialize};

/// What weights mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WeightKind {
    /// How much a unit counts.
    Survey,
    /// How many units a row stands for.
    Frequency,
}

impl WeightKind {
    /// Its name in files: `survey`, `frequency`.
    pub fn name(self) -> &'static str {
        match self {
            WeightKind::Survey => "survey",
            WeightKind::Frequency => "frequency",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<WeightKind> {
        [WeightKind::Survey, WeightKind::Frequency].into_iter().find(|kind| kind.name() == name)
    }

    /// The option of a command line that says it.
    pub fn option(self) -> &'static str {
        match self {
            WeightKind::Survey => "--weights",
            WeightKind::Frequency => "--frequency",
        }
    }
}

/// Where weights are from, and what they mean: what a table records of them beside their values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeightsFrom {
    /// What they mean.
    pub kind: WeightKind,
    /// The column, or what stands for it.
    pub column: String,
}

impl WeightsFrom {
    /// `weighted by COLUMN`, after a number of rows.
    pub fn in_words(&self) -> String {
        match self.kind {
            WeightKind::Survey => format!("weighted by {}", self.column),
            WeightKind::Frequency => format!("counted by {}", self.column),
        }
    }
}

/// Units that frequencies may add up to: every resample draws as many.
const MOST_UNITS: f64 = 10_000_000.0;

/// Why numbers are no weights.
#[derive(Clone, Debug, PartialEq)]
pub enum WeightError {
    /// One of them cannot be.
    Value {
        /// What they should mean.
        kind: WeightKind,
        /// Its row, from 0.
        row: usize,
        /// As it was given.
        value: f64,
    },
    /// None is positive.
    AllZero,
    /// Frequencies add up to more than can be drawn.
    TooMany(f64),
    /// Not one for each row.
    Length {
        /// How many were given.
        given: usize,
        /// How many are needed.
        needed: usize,
    },
    /// Rows of a unit have different ones.
    WithinUnit {
        /// The later of two rows, from 0.
        row: usize,
        /// Its weight, and that of an earlier row of the unit.
        values: [f64; 2],
    },
}

impl std::error::Error for WeightError {}

impl std::fmt::Display for WeightError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.said(&|row| format!("row {}", row + 1)))
    }
}

impl WeightError {
    /// Whether it advises to say that these are survey weights; how that is said, each interface has its own words for.
    pub(crate) fn suggests_survey_weights(&self) -> bool {
        let kind = WeightKind::Frequency;
        matches!(self, WeightError::TooMany(_))
            || matches!(self, WeightError::Value { kind: own, .. } if *own == kind)
    }

    /// The error in words, with rows as `place` calls them.
    pub fn said(&self, place: &dyn Fn(usize) -> String) -> String {
        match self {
            WeightError::Value { kind: WeightKind::Survey, row, value } => format!(
                "{} has the weight {value}: a weight is a finite number of at least 0; correct it, or leave the row out",
                place(*row)
            ),
            WeightError::Value { kind: WeightKind::Frequency, row, value } => format!(
                "{} has the frequency {value}: a frequency is a whole number of at least 0; correct it, or, if these are no \
                 counts of rows, say that they are survey weights",
                place(*row)
            ),
            WeightError::AllZero => "all weights are 0: give some row a positive one".to_owned(),
            WeightError::TooMany(total) => format!(
                "frequencies add up to {total}, and at most {MOST_UNITS} units can be resampled; if they are weights of a \
                 sample and no counts of rows, say that they are survey weights"
            ),
            WeightError::Length { given, needed } => {
                format!("{given} weights for {needed} rows; give each row one")
            }
            WeightError::WithinUnit { row, values: [own, other] } => format!(
                "{} has the weight {own}, but an earlier row of its group has {other}: a group is one unit, so its rows have \
                 one weight",
                place(*row)
            ),
        }
    }
}

/// Weights that were checked: for each row how many units it stands for, and what each of these counts.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitWeights {
    from: WeightsFrom,
    repeats: Vec<f64>,
    each: Vec<f64>,
}

impl UnitWeights {
    /// Checks weights, one for each row (or group, where these are units).
    pub fn new(from: WeightsFrom, values: Vec<f64>) -> Result<UnitWeights, WeightError> {
        let kind = from.kind;
        let is_one = |x: f64| match kind {
            WeightKind::Survey => x.is_finite() && x >= 0.0,
            WeightKind::Frequency => x.is_finite() && x >= 0.0 && x.fract() == 0.0,
        };
        if let Some(row) = values.iter().position(|&x| !is_one(x)) {
            return Err(WeightError::Value { kind, row, value: values[row] });
        }
        let there = values.iter().filter(|&&x| x > 0.0).count();
        if there == 0 {
            return Err(WeightError::AllZero);
        }
        let n = values.len();
        let total: f64 = values.iter().sum();
        if kind == WeightKind::Frequency {
            return match total <= MOST_UNITS {
                true => Ok(UnitWeights { from, repeats: values, each: vec![1.0; n] }),
                false => Err(WeightError::TooMany(total)),
            };
        }
        // The largest first, so that a sum of huge weights does not overflow.
        let largest = values.iter().copied().fold(0.0, f64::max);
        let mean = values.iter().map(|x| x / largest).sum::<f64>() / there as f64;
        let each = values.iter().map(|x| x / largest / mean).collect();
        let repeats = values.iter().map(|&x| if x > 0.0 { 1.0 } else { 0.0 }).collect();
        Ok(UnitWeights { from, repeats, each })
    }

    /// As [`new`](Self::new), from [`totals`](Self::totals) that were kept: they are not divided by their mean again, so
    /// that they are the same to the last bit.
    pub fn kept(from: WeightsFrom, values: Vec<f64>) -> Result<UnitWeights, WeightError> {
        let kind = from.kind;
        let checked = UnitWeights::new(from, values.clone())?;
        match kind {
            WeightKind::Survey => Ok(UnitWeights { each: values, ..checked }),
            WeightKind::Frequency => Ok(checked),
        }
    }

    /// One weight for each unit from one for each row of it; `unit_of` says whose a row is.
    pub fn of_units(
        values: &[f64],
        unit_of: &[usize],
        n_units: usize,
    ) -> Result<Vec<f64>, WeightError> {
        if values.len() != unit_of.len() {
            return Err(WeightError::Length { given: values.len(), needed: unit_of.len() });
        }
        let mut own: Vec<Option<f64>> = vec![None; n_units];
        for (row, (&value, &unit)) in values.iter().zip(unit_of).enumerate() {
            match own[unit] {
                // Bits, because a weight that is no number is told as such later.
                Some(other) if other.to_bits() != value.to_bits() => {
                    return Err(WeightError::WithinUnit { row, values: [value, other] });
                }
                _ => own[unit] = Some(value),
            }
        }
        Ok(own.into_iter().map(|x| x.unwrap_or(0.0)).collect())
    }

    /// Where they are from, and what they mean.
    pub fn from(&self) -> &WeightsFrom {
        &self.from
    }

    /// Rows that have one.
    pub fn n_rows(&self) -> usize {
        self.repeats.len()
    }

    /// Units that rows stand for, in all.
    pub fn n_units(&self) -> usize {
        self.repeats.iter().sum::<f64>() as usize
    }

    /// Units that each row stands for.
    pub fn repeats(&self) -> &[f64] {
        &self.repeats
    }

    /// What each unit of a row counts: 1 on average.
    pub fn each(&self) -> &[f64] {
        &self.each
    }

    /// What each row counts in all: weights that mean the same as those that were given.
    pub fn totals(&self) -> Vec<f64> {
        self.repeats.iter().zip(&self.each).map(|(n, w)| n * w).collect()
    }

    /// The weights of rows in a fit, of whose units so many were drawn (`None`: all, once).
    pub fn in_a_fit(&self, drawn: Option<&[f64]>, out: &mut Vec<f64>) {
        out.clear();
        let drawn = drawn.unwrap_or(&self.repeats);
        out.extend(drawn.iter().zip(&self.each).map(|(c, w)| c * w));
    }

    /// Kish's effective sample size `(Σw)² / Σw²`: how many units of equal weight say as much about a mean.
    pub fn effective_units(&self) -> f64 {
        let sum = |power: i32| -> f64 {
            self.repeats.iter().zip(&self.each).map(|(n, w)| n * w.powi(power)).sum()
        };
        sum(1).powi(2) / sum(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(kind: WeightKind, values: &[f64]) -> Result<UnitWeights, WeightError> {
        UnitWeights::new(WeightsFrom { kind, column: "w".to_owned() }, values.to_vec())
    }

    #[test]
    fn survey_weights_have_mean_one_whatever_their_scale() {
        let one = weights(WeightKind::Survey, &[2.0, 0.0, 4.0, 6.0]).unwrap();
        assert_eq!(one.each(), [0.5, 0.0, 1.0, 1.5]);
        assert_eq!((one.n_units(), one.totals().iter().sum::<f64>()), (3, 3.0));
        let huge = weights(WeightKind::Survey, &[2e307, 0.0, 4e307, 6e307]).unwrap();
        for (a, b) in one.each().iter().zip(huge.each()) {
            assert!((a - b).abs() < 1e-15);
        }
        assert_eq!(weights(WeightKind::Survey, &[7.0; 10]).unwrap().each(), [1.0; 10]);
        // (1/2 + 1 + 3/2)² / (1/4 + 1 + 9/4)
        assert!((one.effective_units() - 9.0 / 3.5).abs() < 1e-15);
    }

    #[test]
    fn frequencies_are_numbers_of_units() {
        let counts = weights(WeightKind::Frequency, &[2.0, 0.0, 5.0]).unwrap();
        assert_eq!((counts.n_units(), counts.each()), (7, &[1.0; 3][..]));
        assert_eq!(counts.effective_units(), 7.0);
        let mut out = Vec::new();
        counts.in_a_fit(None, &mut out);
        assert_eq!(out, [2.0, 0.0, 5.0]);
        counts.in_a_fit(Some(&[1.0, 0.0, 6.0]), &mut out);
        assert_eq!(out, [1.0, 0.0, 6.0]);
    }

    #[test]
    fn what_is_no_weight_is_named_with_its_row() {
        for (kind, values, fragment) in [
            (WeightKind::Survey, &[1.0, -2.0][..], "row 2 has the weight -2"),
            (WeightKind::Survey, &[f64::NAN, 1.0], "row 1 has the weight NaN"),
            (WeightKind::Survey, &[1.0, f64::INFINITY], "row 2 has the weight inf"),
            (WeightKind::Survey, &[0.0, 0.0], "all weights are 0"),
            (WeightKind::Frequency, &[1.0, 1.5], "row 2 has the frequency 1.5"),
            (WeightKind::Frequency, &[1e9, 1.0], "add up to 1000000001"),
        ] {
            let message = weights(kind, values).unwrap_err().to_string();
            assert!(message.contains(fragment), "{fragment:?} is not in {message:?}");
        }
        let error = UnitWeights::of_units(&[1.0, 2.0, 3.0], &[0, 1, 0], 2).unwrap_err();
        assert!(error.to_string().contains("row 3 has the weight 3, but"), "{error}");
        assert_eq!(UnitWeights::of_units(&[1.0, 2.0, 1.0], &[0, 1, 0], 2).unwrap(), [1.0, 2.0]);
    }
}
