//! `trustvb table build | info | check | merge | plan | diff`.

use super::shared::heading;
use super::value::{minutes, positive};
use super::{GridArgs, IterationArgs, ModelArgs, OutputArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

const BUILD_EXAMPLES: &str = "Examples:
  trustvb table build -o faithful.tvb --grid 50 -B 100
  trustvb table build -o first.tvb --grid 50 -B 100 --shard 1/2
  trustvb simulate bmlr --groups 40 --rows 20 --coefficients '1,-1;0,2' -o groups.csv
  trustvb table build groups.csv --formula 'y ~ 0 + x1 + x2 | group' --stream -o groups.tvb -B 50";

const INFO_EXAMPLES: &str = "Examples:
  trustvb table build -o faithful.tvb --grid 50 -B 100
  trustvb table info faithful.tvb
  trustvb table info faithful.tvb --complete";

const CHECK_EXAMPLES: &str = "Examples:
  trustvb table build -o faithful.tvb --grid 50 -B 100
  trustvb table check faithful.tvb
  trustvb table check faithful.tvb --complete";

const MERGE_EXAMPLES: &str = "Examples:
  trustvb table build -o first.tvb --grid 50 -B 100 --shard 1/2
  trustvb table build -o second.tvb --grid 50 -B 100 --shard 2/2
  trustvb table merge -o whole.tvb first.tvb second.tvb";

const PLAN_EXAMPLES: &str = "Examples:
  trustvb table plan
  trustvb table plan -B 5000 --grid 200 --cpus 4 --minutes 10";

const DIFF_EXAMPLES: &str = "Examples:
  trustvb table build -o whole.tvb --grid 50 -B 100
  trustvb table build -o again.tvb --grid 50 -B 100 --threads 1
  trustvb table diff whole.tvb again.tvb";

#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    #[command(subcommand)]
    pub(crate) command: TableCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TableCommand {
    /// Build a table, or complete one that was interrupted
    #[command(after_help = BUILD_EXAMPLES)]
    Build(Box<BuildArgs>),
    /// What a table holds, what is missing, and how the fits went
    #[command(after_help = INFO_EXAMPLES)]
    Info(InfoArgs),
    /// Read every file of a table and say what is wrong with any; fails if something is
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Put shards of the same table together
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(MergeArgs),
    /// What a table would cost: fits, time, memory, and how many shards make sense
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(Box<PlanArgs>),
    /// Whether two tables hold the same numbers, bit for bit; fails if they do not
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(DiffArgs),
}

/// Which table, and where.
#[derive(Debug, Args)]
pub(crate) struct WantedTableArgs {
    /// The table's folder, or its address in an object store, such as s3://bucket/name.tvb
    #[arg(short, long, value_name = "NAME.tvb")]
    pub(crate) output: PathBuf,
    /// Do not put the data into the table
    #[arg(long)]
    pub(crate) without_data: bool,
    #[command(flatten)]
    pub(crate) content: TableContentArgs,
}

/// What decides a table's numbers.
#[derive(Debug, Args)]
pub(crate) struct TableContentArgs {
    /// CSV or Parquet file; '-' for standard input [default: Old Faithful]
    pub(crate) data: Option<PathBuf>,
    /// Methods the table should serve, which decide its resamples [default: recommended,vb, and
    /// tvb where its fits are cheap]
    #[arg(long, value_delimiter = ',', value_name = "A,B", help_heading = heading::COMMON)]
    pub(crate) method: Vec<String>,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) iteration: IterationArgs,
    #[command(flatten)]
    pub(crate) grid: GridArgs,
}

#[derive(Debug, Args)]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    pub(crate) wanted: WantedTableArgs,
    /// Do only this share of the replicates, such as 3/16
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// No progress and no remarks on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// The table's folder
    pub(crate) table: PathBuf,
    /// Fail, and say what is missing, unless every part is there and can be read
    #[arg(long)]
    pub(crate) complete: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The table's folder, or its address in an object store
    pub(crate) table: PathBuf,
    /// Fail also when parts are missing
    #[arg(long)]
    pub(crate) complete: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) content: TableContentArgs,
    /// Cores of the machine, or of each task of a cluster [default: those of this machine]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) cpus: Option<usize>,
    /// How long a shard may take
    #[arg(long, value_name = "MINUTES", default_value_t = 20.0, value_parser = minutes, allow_negative_numbers = true)]
    pub(crate) minutes: f64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// A table
    pub(crate) first: PathBuf,
    /// Another
    pub(crate) second: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The folder that gets all parts; made if it does not exist
    #[arg(short, long, value_name = "NAME.tvb")]
    pub(crate) output: PathBuf,
    /// Tables with the same manifest
    #[arg(required = true)]
    pub(crate) sources: Vec<PathBuf>,
    /// No remarks on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
