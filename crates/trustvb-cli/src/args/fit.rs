//! `trustvb fit`.

use super::value::omega;
use super::{IterationArgs, ModelArgs, OutputArgs};
use clap::Args;
use std::path::PathBuf;

pub(super) const FIT_EXAMPLES: &str = "Examples:
  trustvb fit
  trustvb fit --omega 0.3 --format json
  trustvb fit --components 3 --columns waiting
  trustvb fit --formula 'eruptions ~ waiting' --stream";

#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// CSV or Parquet file; '-' for standard input [default: Old Faithful]
    pub(crate) data: Option<PathBuf>,
    /// The fraction: the likelihood is raised to this power
    #[arg(long, default_value_t = 1.0, value_parser = omega, allow_negative_numbers = true)]
    pub(crate) omega: f64,
    /// Show the bound after every sweep
    #[arg(long)]
    pub(crate) trace: bool,
    /// Write each unit's probability of belonging to each component to a CSV file
    #[arg(long, value_name = "FILE")]
    pub(crate) responsibilities: Option<PathBuf>,
    /// Fit the rows of each value of a column, on all cores; one table of all of them, in which a group that cannot be
    /// fitted is a row too; with -o NAME.parquet as Parquet, resumed if it was interrupted
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["trace", "responsibilities", "stream"])]
    pub(crate) by: Option<String>,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) iteration: IterationArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
