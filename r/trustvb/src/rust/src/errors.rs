//! The library's errors as conditions of R: a class, and a sentence in R's words.

use std::fmt::Display;
use trustvb::calibrate::CalibrateError;
use trustvb::data::DataError;
use trustvb::model::{ModelError, WishError};
use trustvb::remedy::{in_command, Advise, Remedy, Setting};
use trustvb::select::SelectError;
use trustvb::table::{BuildError, PlanError};

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
    /// A table on disk.
    Table,
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
            Class::Table => "table",
            Class::Interrupted => "interrupted",
        }
    }
}

/// What to do, for somebody in R.
pub(crate) fn in_r(remedy: &Remedy) -> String {
    let name = |setting: &Setting| match setting {
        Setting::Grid => "`grid`",
        Setting::Bootstraps => "`bootstraps`",
        other => other.noun(),
    };
    match remedy {
        Remedy::Do(what) | Remedy::Columns(what) | Remedy::ColumnsOrFormula(what) => {
            (*what).to_owned()
        }
        Remedy::DropMissing => "leave those rows out with `na.action = na.omit`".to_owned(),
        Remedy::Components(n) => format!("ask for at most {n} as `k`"),
        Remedy::MixedModel(takes) => format!("use tvb_lca(), which takes {takes}"),
        Remedy::AsGaussian => {
            "say `types = c(COLUMN = \"gaussian\")` to have it all the same".to_owned()
        }
        Remedy::FewerFits => "ask for fewer `bootstraps` or points of the `grid`".to_owned(),
        Remedy::Bootstraps(n) => format!("use `bootstraps = {n}` or more"),
        Remedy::SmallerOmegaMin => "a smaller `omega_min` may be needed".to_owned(),
        Remedy::RoomForGrid => "give a smaller `omega_min`, such as 0.001".to_owned(),
        Remedy::Fewer(setting) => format!("give fewer as {}", name(setting)),
        Remedy::LeaveOut(settings) => {
            let names: Vec<&str> = settings.iter().map(name).collect();
            format!("leave out {}", names.join(" or "))
        }
        Remedy::Methods(names) => {
            let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            format!("choose other methods, such as method = c({})", names.join(", "))
        }
        Remedy::ServeMethod => {
            "build the table with this method among `method`, or leave the method out".to_owned()
        }
        Remedy::AskTvb => "`tvb = TRUE` asks for them".to_owned(),
        Remedy::KeepData => "build the table with `keep_data = TRUE`".to_owned(),
        Remedy::InspectTable => "summary() of the table tells how many".to_owned(),
        Remedy::MakeTable => "make one with tvb_table()".to_owned(),
        Remedy::CompleteTable => "call tvb_table() again to complete it".to_owned(),
        Remedy::RemakeTable => "remove it and call tvb_table() again to make it anew".to_owned(),
        other => format!("{} (on the command line)", in_command(other)),
    }
}

/// Options that are named in what is wrong itself, in the command's words and in R's.
const WORDS: [(&str, &str); 7] = [
    ("--prior paper", "`prior = \"paper\"`"),
    ("--covariance full", "`covariance = \"full\"`"),
    ("--model mixture", "tvb_lca()"),
    ("--covariance", "`covariance`"),
    ("--formula", "`formula`"),
    ("--noise", "`noise`"),
    ("--types", "`types`"),
];

/// An error that R's side turns into a condition of its class.
pub(crate) fn error(class: Class, text: impl Display) -> savvy::Error {
    let text = WORDS.iter().fold(text.to_string(), |text, (from, to)| text.replace(from, to));
    savvy::Error::new(format!("trustvb:{}:{text}", class.name()))
}

/// An error with what to do about it.
fn advised(class: Class, error: &impl Advise) -> savvy::Error {
    self::error(class, error.advised(in_r))
}

pub(crate) fn data(error: DataError) -> savvy::Error {
    advised(Class::Data, &error)
}

pub(crate) fn model(error: ModelError) -> savvy::Error {
    match error {
        ModelError::Prior(_) => advised(Class::Options, &error),
        other => advised(Class::Data, &other),
    }
}

pub(crate) fn wish(error: WishError) -> savvy::Error {
    match error {
        WishError::Data(error) => data(error),
        WishError::Model(error) => model(error),
        other => advised(Class::Options, &other),
    }
}

pub(crate) fn plan(error: PlanError) -> savvy::Error {
    advised(Class::Options, &error)
}

pub(crate) fn build(error: BuildError) -> savvy::Error {
    match error {
        BuildError::Plan(error) => plan(error),
        BuildError::Cancelled => interrupted(NOTHING_KEPT),
        other => advised(Class::Fit, &other),
    }
}

/// What is wrong with a table on disk.
#[cfg(feature = "tables")]
pub(crate) fn table(error: trustvb::table::TableError) -> savvy::Error {
    use trustvb::table::TableError;
    match error {
        TableError::Build(error) => build(error),
        TableError::Data(error) => data(error),
        TableError::Model(error) => model(error),
        other => advised(Class::Table, &other),
    }
}

pub(crate) fn calibrate(error: CalibrateError) -> savvy::Error {
    match error {
        CalibrateError::NoFullFit => advised(Class::Fit, &error),
        CalibrateError::Model(error) => model(error),
        CalibrateError::Cancelled => interrupted(NOTHING_SAID),
        other => advised(Class::Quantity, &other),
    }
}

pub(crate) fn select(error: SelectError) -> savvy::Error {
    match error {
        SelectError::Model(error) => model(error),
        SelectError::Nothing(_) => self::error(Class::Fit, error),
        SelectError::Cancelled => interrupted(NOTHING_SAID),
        other => self::error(Class::Options, format!("`k`: {other}")),
    }
}

/// After an interrupted build in memory.
pub(crate) const NOTHING_KEPT: &str =
    "interrupted before all resamples were fitted, and nothing of them is kept; \
                                       fewer `bootstraps` take less time";

/// After an interrupted question.
pub(crate) const NOTHING_SAID: &str = "interrupted before there was an answer";

/// The user has stopped the work.
pub(crate) fn interrupted(text: impl Display) -> savvy::Error {
    error(Class::Interrupted, text)
}

/// What should never happen.
pub(crate) fn bug(text: impl Display) -> savvy::Error {
    error(Class::Fit, format!("{text}: this is a bug in trustvb"))
}
