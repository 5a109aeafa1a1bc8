//! The library's errors as conditions of R: a class, and a sentence in R's words.

use std::fmt::Display;
use trustvb::calibrate::CalibrateError;
use trustvb::data::DataError;
use trustvb::model::{ModelError, WishError};
use trustvb::table::BuildError;

/// What went wrong, as R's conditions are told apart.
#[derive(Clone, Copy)]
pub(crate) enum Class {
    /// The data, or the formula on them.
    Data,
    /// What was asked of the fit.
    Quantity,
    /// Settings that do not go together.
    Options,
    /// The fit itself.
    Fit,
    /// The user has had enough.
    Interrupted,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Class::Data => "data",
            Class::Quantity => "quantity",
            Class::Options => "options",
            Class::Fit => "fit",
            Class::Interrupted => "interrupted",
        }
    }
}

/// The library advises in the words of the command line; these are R's for the same.
const WORDS: [(&str, &str); 21] = [
    (" (with --columns, or in the formula)", " in the formula"),
    (", or choose others with --columns", ""),
    (" with --columns", " of the formula"),
    (" with --components", " as `k`"),
    (
        "; fill in the values, or leave those rows out with --drop-missing",
        "; fill in the values, or leave those rows out with `na.action = na.omit`",
    ),
    ("--drop-missing", "na.action = na.omit"),
    ("--omega-min 1", "`omega_min = 1`"),
    ("--omega-min", "`omega_min`"),
    ("--method vb,anchored,analytic", "method = c(\"vb\", \"anchored\", \"analytic\")"),
    ("--noise", "`noise`"),
    ("--grid", "`grid`"),
    ("--types", "`types`"),
    ("--prior paper", "prior = \"paper\""),
    ("--model ", ""),
    ("(-B)", "(`bootstraps`)"),
    ("use -B 500 or more", "use `bootstraps = 500` or more"),
    ("-B ", "`bootstraps` "),
    ("build the table without --without-data", "fit again"),
    ("with this method in --method", "with this method among `method`"),
    (" (`trustvb table info` tells which)", ""),
    ("code it as numbers", "code it as numbers, as model.matrix() does"),
];

/// A sentence of the library for somebody in R.
pub(crate) fn in_r(text: &str) -> String {
    WORDS.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// An error that R's side turns into a condition of its class.
pub(crate) fn error(class: Class, text: impl Display) -> savvy::Error {
    savvy::Error::new(format!("trustvb:{}:{}", class.name(), in_r(&text.to_string())))
}

pub(crate) fn data(error: DataError) -> savvy::Error {
    self::error(Class::Data, error)
}

pub(crate) fn model(error: ModelError) -> savvy::Error {
    match error {
        ModelError::Prior(_) => self::error(Class::Options, error),
        other => self::error(Class::Data, other),
    }
}

pub(crate) fn wish(error: WishError) -> savvy::Error {
    match error {
        WishError::Data(error) => data(error),
        WishError::Model(error) => model(error),
        other => self::error(Class::Options, other),
    }
}

pub(crate) fn build(error: BuildError) -> savvy::Error {
    match error {
        BuildError::Plan(error) => self::error(Class::Options, error),
        BuildError::Cancelled => interrupted(),
        other => self::error(Class::Fit, other),
    }
}

pub(crate) fn calibrate(error: CalibrateError) -> savvy::Error {
    match error {
        CalibrateError::NoFullFit => self::error(Class::Fit, error),
        CalibrateError::Model(error) => model(error),
        CalibrateError::Cancelled => interrupted(),
        other => self::error(Class::Quantity, other),
    }
}

pub(crate) fn interrupted() -> savvy::Error {
    let what = "interrupted before all resamples were fitted, and nothing of them is kept; \
                fewer `bootstraps` take less time";
    error(Class::Interrupted, what)
}

/// What should never happen.
pub(crate) fn bug(text: impl Display) -> savvy::Error {
    error(Class::Fit, format!("{text}: this is a bug in trustvb"))
}
