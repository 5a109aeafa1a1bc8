//! One interval of one replication, and how it is kept in a part of a study's folder.

use crate::calibrate::{Answer, Flag};
use crate::data::ColumnValues;

/// What became of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Outcome {
    /// There is one.
    Interval = 0,
    /// The method gave none; its flags say why.
    NoInterval = 1,
    /// The full data could not be fitted.
    FitFailed = 2,
    /// The model refused the data.
    Refused = 3,
    /// The program failed: a mistake of ours, to be reported.
    Crashed = 4,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Outcome; 5] = [
        Outcome::Interval,
        Outcome::NoInterval,
        Outcome::FitFailed,
        Outcome::Refused,
        Outcome::Crashed,
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Interval => "interval",
            Outcome::NoInterval => "no-interval",
            Outcome::FitFailed => "fit-failed",
            Outcome::Refused => "refused",
            Outcome::Crashed => "crashed",
        }
    }
}

/// One method's interval for one quantity of one data set at one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// Replication, from 1.
    pub replication: u32,
    /// Number of the quantity in its cell.
    pub quantity: u32,
    /// Number of the method in the study.
    pub method: u32,
    /// Number of the level in the study.
    pub level: u32,
    /// What became of it.
    pub outcome: Outcome,
    /// Flags, as bits in the order of [`Flag::NAMES`].
    pub flags: u32,
    /// ω̂.
    pub omega: f64,
    /// h at the posterior mean at ω = 1.
    pub estimate: f64,
    /// Lower limit.
    pub lower: f64,
    /// Upper limit.
    pub upper: f64,
    /// Coverage as the method itself estimates it.
    pub coverage: f64,
    /// Its Monte-Carlo standard error.
    pub coverage_se: f64,
    /// Fits behind it.
    pub fits: f64,
    /// Wall seconds on one thread, all fits it needs included.
    pub seconds: f64,
}

impl Record {
    /// From an answer.
    pub(super) fn new(place: Place, answer: &Answer, fits: usize, seconds: f64) -> Record {
        let there = answer.lower.is_finite() && answer.upper.is_finite();
        Record {
            replication: place.replication,
            quantity: place.quantity,
            method: place.method,
            level: place.level,
            outcome: if there { Outcome::Interval } else { Outcome::NoInterval },
            flags: bits(&answer.flags),
            omega: answer.omega,
            estimate: answer.estimate,
            lower: answer.lower,
            upper: answer.upper,
            coverage: answer.coverage.unwrap_or(f64::NAN),
            coverage_se: answer.coverage_se.unwrap_or(f64::NAN),
            fits: fits as f64,
            seconds,
        }
    }

    /// Without an answer.
    pub(super) fn failed(place: Place, outcome: Outcome, seconds: f64) -> Record {
        Record {
            replication: place.replication,
            quantity: place.quantity,
            method: place.method,
            level: place.level,
            outcome,
            flags: 0,
            omega: f64::NAN,
            estimate: f64::NAN,
            lower: f64::NAN,
            upper: f64::NAN,
            coverage: f64::NAN,
            coverage_se: f64::NAN,
            fits: 0.0,
            seconds,
        }
    }

    pub(super) fn place(&self) -> Place {
        Place {
            replication: self.replication,
            quantity: self.quantity,
            method: self.method,
            level: self.level,
        }
    }

    /// Whether the interval holds a value; `None` without an interval.
    pub fn covers(&self, value: f64) -> Option<bool> {
        (self.outcome == Outcome::Interval).then_some(self.lower <= value && value <= self.upper)
    }

    /// Names of its flags.
    pub fn flag_names(&self) -> Vec<&'static str> {
        let set = |i: &usize| self.flags & (1 << i) != 0;
        (0..Flag::NAMES.len()).filter(set).map(|i| Flag::NAMES[i]).collect()
    }
}

/// Where in a cell a record belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) replication: u32,
    pub(super) quantity: u32,
    pub(super) method: u32,
    pub(super) level: u32,
}

fn bits(flags: &[Flag]) -> u32 {
    flags.iter().fold(0, |bits, flag| {
        let at = Flag::NAMES.iter().position(|name| *name == flag.name());
        bits | at.map_or(0, |at| 1 << at)
    })
}

const INTEGERS: [&str; 6] = ["replication", "quantity", "method", "level", "outcome", "flags"];
const DOUBLES: [&str; 8] =
    ["omega", "estimate", "lower", "upper", "coverage", "coverage_se", "fits", "seconds"];

impl Record {
    /// Names of the columns of a part.
    pub(super) fn column_names() -> Vec<String> {
        INTEGERS.iter().chain(&DOUBLES).map(|&s| s.to_owned()).collect()
    }

    fn integers(&self) -> [i32; 6] {
        [
            self.replication as i32,
            self.quantity as i32,
            self.method as i32,
            self.level as i32,
            self.outcome as i32,
            self.flags as i32,
        ]
    }

    fn doubles(&self) -> [f64; 8] {
        [
            self.omega,
            self.estimate,
            self.lower,
            self.upper,
            self.coverage,
            self.coverage_se,
            self.fits,
            self.seconds,
        ]
    }
}

/// Gives `write` the records of a part as columns.
pub(super) fn columns<T>(
    records: &[Record],
    write: impl FnOnce(&[(&str, ColumnValues<'_>)]) -> T,
) -> T {
    let integers: Vec<Vec<i32>> =
        (0..6).map(|c| records.iter().map(|r| r.integers()[c]).collect()).collect();
    let doubles: Vec<Vec<f64>> =
        (0..8).map(|c| records.iter().map(|r| r.doubles()[c]).collect()).collect();
    let mut columns: Vec<(&str, ColumnValues<'_>)> = Vec::new();
    for (name, values) in INTEGERS.iter().zip(&integers) {
        columns.push((name, ColumnValues::Integers(values)));
    }
    for (name, values) in DOUBLES.iter().zip(&doubles) {
        columns.push((name, ColumnValues::Doubles(values)));
    }
    write(&columns)
}

/// The records of a part's columns.
pub(super) fn records(columns: &[Vec<f64>]) -> Result<Vec<Record>, &'static str> {
    (0..columns[0].len())
        .map(|row| {
            let integer = |column: usize| columns[column][row] as u32;
            let outcome = Outcome::ALL.into_iter().find(|o| *o as i32 == integer(4) as i32);
            Ok(Record {
                replication: integer(0),
                quantity: integer(1),
                method: integer(2),
                level: integer(3),
                outcome: outcome.ok_or("an outcome is unknown")?,
                flags: integer(5),
                omega: columns[6][row],
                estimate: columns[7][row],
                lower: columns[8][row],
                upper: columns[9][row],
                coverage: columns[10][row],
                coverage_se: columns[11][row],
                fits: columns[12][row],
                seconds: columns[13][row],
            })
        })
        .collect()
}
