//! `trustvb study` and `trustvb study merge`.

use super::Format;
use super::value::{bootstraps, level, positive, scale, seed};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

pub(super) const STUDY_EXAMPLES: &str = "Examples:
  trustvb study
  trustvb study paper-gmm --show
  trustvb study section3 --only sep3/n=300 --replications 10 -B 20 --grid 20 -o quick.study
  trustvb study quick.study --so-far --format csv
  trustvb study broad --half choose --only 'one-*' --replications 4 -B 20 -o choose.study
  trustvb study choose.study --so-far --flags=balanced,bootstrap

Data set 17 of a cell is that of `trustvb simulate study NAME CELL --replication 17`; with the seed
in its truth file, `trustvb calibrate` gives the study's intervals.";

const STUDY_MERGE_EXAMPLES: &str = "Examples:
  trustvb study section3 --only sep3/n=300 --replications 20 -B 20 --grid 9 --shard 1/2 -o a.study
  trustvb study section3 --only sep3/n=300 --replications 20 -B 20 --grid 9 --shard 2/2 -o b.study
  trustvb study merge -o whole.study a.study b.study";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LabelsName {
    /// The full-data fit is matched to the truth
    Matched,
    /// The heaviest component of the full-data fit is number 1
    Weight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HalfName {
    /// The cells to choose methods and constants by
    Choose,
    /// The cells to look at once, when everything is chosen
    Judge,
}

/// Which study, with what changed, and where.
#[derive(Debug, Args)]
pub(crate) struct WantedStudyArgs {
    /// A built-in study, a TOML file, or the folder of a study that goes on
    #[arg(value_name = "NAME, FILE or FOLDER")]
    pub(crate) study: Option<String>,
    /// The folder [default: NAME.study]
    #[arg(short, long, value_name = "NAME.study")]
    pub(crate) output: Option<PathBuf>,
    /// This share of the replications and of the bootstraps, for a quick look
    #[arg(long, value_name = "X", value_parser = scale, allow_negative_numbers = true)]
    pub(crate) scale: Option<f64>,
    /// Data sets in each cell
    #[arg(long, value_name = "N", value_parser = bootstraps)]
    pub(crate) replications: Option<u32>,
    /// Bootstraps of each design
    #[arg(short = 'B', long, value_name = "N", value_parser = bootstraps)]
    pub(crate) bootstraps: Option<u32>,
    /// Points of the grid of fractions
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) grid: Option<usize>,
    /// Seed of everything random
    #[arg(long, value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Only these cells: names of designs or cells, with * for anything; a cell's data stay the same
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    pub(crate) only: Vec<String>,
    /// Only the cells of one half, by a hash of their names: choose by the one, and look at the other once,
    /// at the end; with --so-far, show only these
    #[arg(long, value_enum)]
    pub(crate) half: Option<HalfName>,
    /// Only these methods, or others than the study has: vb, balanced, tempered, tvb, tvb-fresh,
    /// tvb-sequential, gpc, anchored, analytic, jackknife, bootstrap
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    pub(crate) method: Vec<String>,
    /// These quantities instead of the study's; may be repeated
    #[arg(long, value_name = "H")]
    pub(crate) quantity: Vec<String>,
    /// Levels of the intervals
    #[arg(long, value_delimiter = ',', value_parser = level, allow_negative_numbers = true)]
    pub(crate) level: Vec<f64>,
    /// How components of fits get the numbers of the true ones [default: matched]
    #[arg(long, value_enum)]
    pub(crate) labels: Option<LabelsName>,
}

#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    #[command(subcommand)]
    pub(crate) command: Option<StudyCommand>,
    #[command(flatten)]
    pub(crate) wanted: WantedStudyArgs,
    /// Print the study as TOML, to copy and change, and do nothing
    #[arg(long)]
    pub(crate) show: bool,
    /// Show what is done so far, and run nothing
    #[arg(long)]
    pub(crate) so_far: bool,
    /// Fail, and say what is missing, unless all replications are there; a complete study gets its
    /// summary and figures
    #[arg(long, requires = "so_far")]
    pub(crate) complete: bool,
    /// Do only this share of the replications, such as 2/5; merge the folders, or run the study again
    /// in the same folder, to complete it
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// After the summary: how often intervals hold the truth with each flag and without it, for all
    /// methods or --flags=A,B; with --format csv instead of the summary
    #[arg(long, value_delimiter = ',', value_name = "A,B", num_args = 0.., require_equals = true)]
    pub(crate) flags: Option<Vec<String>>,
    /// How to print the summary
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// No progress and no remarks on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// Put shards of the same study together
    #[command(after_help = STUDY_MERGE_EXAMPLES)]
    Merge(StudyMergeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct StudyMergeArgs {
    /// The folder that gets all parts; made if it does not exist
    #[arg(short, long, value_name = "NAME.study")]
    pub(crate) output: PathBuf,
    /// Folders of the same study
    #[arg(required = true)]
    pub(crate) sources: Vec<PathBuf>,
    /// How to print the summary
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// No remarks on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
