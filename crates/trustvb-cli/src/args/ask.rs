//! The commands that ask a table: `trustvb calibrate`, `interval`, `report` and `explore`.

use super::shared::heading;
use super::value::{draws, level};
use super::{GridArgs, IterationArgs, ModelArgs, OutputArgs};
use clap::Args;
use std::net::IpAddr;
use std::path::PathBuf;
use trustvb::defaults::DRAWS;

pub(super) const CALIBRATE_EXAMPLES: &str = "Examples:
  trustvb calibrate
  trustvb calibrate 'mu[1,waiting] - mu[2,waiting]' --level 0.9 --method recommended,vb -B 100
  trustvb calibrate 'pi[1]' --method analytic --format json
  trustvb simulate bmlr --groups 40 --rows 20 --coefficients '1,-1;0,2' -o groups.csv
  trustvb calibrate groups.csv --formula 'y ~ 0 + x1 + x2 | group' --stream --method analytic
  trustvb calibrate groups.csv -k 1 --columns y,x1 --by group -B 100 --format csv -o each.csv";

pub(super) const INTERVAL_EXAMPLES: &str = "Examples:
  trustvb table build -o faithful.tvb --grid 50 -B 100
  trustvb interval faithful.tvb 'logit(pi[1])' --level 0.9";

pub(super) const REPORT_EXAMPLES: &str = "Examples:
  trustvb table build -o faithful.tvb --grid 50 -B 100
  trustvb report faithful.tvb -o report.html
  trustvb report faithful.tvb 'pi[1]' 'mu[1,waiting] - mu[2,waiting]' --level 0.9 -o difference.html";

pub(super) const EXPLORE_EXAMPLES: &str = "Examples:
  trustvb table build -o faithful.tvb --grid 50 -B 100
  trustvb explore faithful.tvb
  trustvb table build -o three.tvb -k 3 --grid 50 -B 100
  trustvb explore faithful.tvb three.tvb --no-browser";

/// What to ask.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// Level of the intervals; may be repeated [default: 0.95]
    #[arg(long, value_delimiter = ',', value_parser = level, allow_negative_numbers = true, help_heading = heading::COMMON)]
    pub(crate) level: Vec<f64>,
    /// Methods, separated by commas, in a row each: recommended (that is, balanced), vb, tempered, jackknife,
    /// bootstrap; the paper's tvb, tvb-sequential and gpc; anchored and analytic, which balanced has superseded
    /// [default: recommended,vb, and tvb where its fits are cheap]
    #[arg(long, value_delimiter = ',', value_name = "A,B", help_heading = heading::COMMON)]
    pub(crate) method: Vec<String>,
    /// Draws behind each law that has no exact form
    #[arg(long, default_value_t = DRAWS, value_name = "N", value_parser = draws, help_heading = heading::RESAMPLING)]
    pub(crate) draws: usize,
}

/// What to ask, and a picture of the answer.
#[derive(Debug, Args)]
pub(crate) struct QuestionArgs {
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// Draw densities and coverage curves to a file, .svg or .png
    #[arg(long, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub(crate) plot: Option<PathBuf>,
    /// Draw what each component is like, column by column, with the intervals to use, to a file, .svg or .png (gmm,
    /// mixture)
    #[arg(long, value_name = "FILE", help_heading = heading::OUTPUT)]
    pub(crate) profile: Option<PathBuf>,
    /// A row per method, with ω, estimated coverage and flags, instead of one per quantity
    #[arg(long, help_heading = heading::COMMON)]
    pub(crate) all_methods: bool,
}

impl QuestionArgs {
    /// Whether people see a row per method: they asked for it, or for methods by name.
    pub(crate) fn every_method(&self) -> bool {
        self.all_methods || !self.ask.method.is_empty()
    }
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// CSV or Parquet file ('-' for standard input) [default: Old Faithful], then quantities such as
    /// 'pi[1]' or 'mu[1,] - mu[2,]' [default: every weight and mean]
    #[arg(value_name = "DATA or H")]
    pub(crate) positional: Vec<String>,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    #[command(flatten)]
    pub(crate) iteration: IterationArgs,
    #[command(flatten)]
    pub(crate) grid: GridArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Do this for the rows of each value of a column, on all cores; one table of all of them, in which a group that
    /// cannot be fitted is a row too; with -o NAME.parquet as Parquet, with a column for each flag, resumed if it was
    /// interrupted
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["save", "plot", "profile", "stream", "resamples", "subsets"], help_heading = heading::COMMON)]
    pub(crate) by: Option<String>,
    /// Keep the table in this folder
    #[arg(long, value_name = "NAME.tvb", help_heading = heading::OUTPUT)]
    pub(crate) save: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct IntervalArgs {
    /// A table made by `trustvb table build` or `calibrate --save`
    pub(crate) table: PathBuf,
    /// Quantities [default: every weight and mean]
    #[arg(value_name = "H")]
    pub(crate) functionals: Vec<String>,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// A table made by `trustvb table build` or `calibrate --save`
    pub(crate) table: PathBuf,
    /// Quantities [default: every weight and mean]
    #[arg(value_name = "H")]
    pub(crate) functionals: Vec<String>,
    /// The file to write
    #[arg(short, long, value_name = "FILE.html")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) question: AskArgs,
    /// No progress and no remarks on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExploreArgs {
    /// Tables made by `trustvb table build` or `calibrate --save`; several are shown side by side
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) tables: Vec<PathBuf>,
    /// The port [default: any that is free]
    #[arg(long, value_name = "N")]
    pub(crate) port: Option<u16>,
    /// Do not open a browser
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// The address to listen on. Elsewhere than on this machine, the page needs the token that is
    /// part of the printed address; the connection is not encrypted
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) bind: IpAddr,
    /// Demand a token on this machine too, as where others can log in
    #[arg(long)]
    pub(crate) token: bool,
    /// Draws behind each law that has no exact form
    #[arg(long, default_value_t = DRAWS, value_name = "N", value_parser = draws)]
    pub(crate) draws: usize,
    /// No remarks on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
