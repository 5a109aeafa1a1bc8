//! `trustvb select`.

use super::shared::{CovarianceName, SettingsArgs, heading};
use super::{IterationArgs, OutputArgs};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use trustvb::select::Criterion;

pub(super) const SELECT_EXAMPLES: &str = "Examples:
  trustvb select
  trustvb select -k 1:6 --covariance full --plot criteria.svg
  trustvb select -k 1:4 --criterion icl --format json
  trustvb select -k 1,2,3 --formula 'eruptions ~ waiting'";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CriterionName {
    /// Likelihood less what its free numbers are worth: which density describes the data
    Bic,
    /// The same less what cannot be told apart: which clusters there are
    Icl,
    /// VB's own bound on the log evidence
    Bound,
    /// The bound and what heavier tails would add to it: how many groups there are
    Evidence,
}

impl From<CriterionName> for Criterion {
    fn from(name: CriterionName) -> Criterion {
        match name {
            CriterionName::Bic => Criterion::Bic,
            CriterionName::Icl => Criterion::Icl,
            CriterionName::Bound => Criterion::Bound,
            CriterionName::Evidence => Criterion::Evidence,
        }
    }
}

/// A shape, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shapes {
    One(CovarianceName),
    All,
}

fn shapes(text: &str) -> Result<Shapes, String> {
    if text == "all" {
        return Ok(Shapes::All);
    }
    CovarianceName::from_str(text, false)
        .map(Shapes::One)
        .map_err(|_| format!("`{text}` is none of full, tied, diagonal, spherical and all"))
}

/// Numbers of components: `3`, `1:8`, `1,2,5:7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Components(pub(crate) Vec<usize>);

/// More than this many components are a slip of the keyboard.
const MOST: usize = 1000;

fn components(text: &str) -> Result<Components, String> {
    let one = |text: &str| match text.trim().parse::<usize>() {
        Ok(k) if k > MOST => Err(format!("`{text}` is more than {MOST} components")),
        Ok(k) if k > 0 => Ok(k),
        _ => {
            Err(format!("`{text}` is not a whole number of at least 1; write a range such as 1:8"))
        }
    };
    let mut all = Vec::new();
    for part in text.split(',') {
        match part.split_once(':') {
            None => all.push(one(part)?),
            Some((first, last)) => {
                let (first, last) = (one(first)?, one(last)?);
                if first > last {
                    return Err(format!("`{part}` runs backwards: write {last}:{first}"));
                }
                all.extend(first..=last);
            }
        }
    }
    Ok(Components(all))
}

#[derive(Debug, Args)]
pub(crate) struct SelectArgs {
    /// CSV or Parquet file; '-' for standard input [default: Old Faithful]
    pub(crate) data: Option<PathBuf>,
    /// Numbers of components to compare: a range, or several separated by commas
    #[arg(short = 'k', long, default_value = "1:8", value_name = "RANGE", value_parser = components, allow_hyphen_values = true, help_heading = heading::COMMON)]
    pub(crate) components: Components,
    /// Shapes of covariances to compare (gmm): full, tied, diagonal, spherical, separated by commas, or all
    /// [default: all with the default prior, otherwise full]
    #[arg(long, value_delimiter = ',', value_name = "SHAPES", value_parser = shapes, help_heading = heading::COMMON)]
    pub(crate) covariance: Vec<Shapes>,
    /// What to choose by [default: evidence for gmm with its default prior; otherwise bic, or bound where only sums of the
    /// rows are kept]
    #[arg(long, value_enum, help_heading = heading::COMMON)]
    pub(crate) criterion: Option<CriterionName>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) iteration: IterationArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Draw the criteria against the number of components, the best ones marked (.svg or .png)
    #[arg(long, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub(crate) plot: Option<PathBuf>,
}
