//! The command line as it is written; what it means is decided in `input` and the commands.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::IpAddr;
use std::path::PathBuf;

/// Variational Bayes with intervals whose coverage can be believed.
#[derive(Debug, Parser)]
#[command(name = "trustvb", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Threads to use; results do not depend on it [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = positive)]
    pub(crate) threads: Option<usize>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Calibrated intervals: the main job
    ///
    /// Builds a table of fractional VB fits in memory and finds, for each quantity, the fraction
    /// whose interval has the coverage it claims. Without DATA: Old Faithful, two components.
    #[command(after_help = CALIBRATE_EXAMPLES)]
    Calibrate(CalibrateArgs),
    /// One variational fit, summarised
    #[command(after_help = FIT_EXAMPLES)]
    Fit(FitArgs),
    /// Calibrated intervals from a saved table
    #[command(after_help = INTERVAL_EXAMPLES)]
    Interval(IntervalArgs),
    /// A table's answers as one HTML file to hand on
    ///
    /// The file needs no network and nothing beside it: the answer in words, intervals, evidence,
    /// warnings, data, model, settings, and the commands that make it again.
    #[command(after_help = REPORT_EXAMPLES)]
    Report(ReportArgs),
    /// Ask tables in the browser
    ///
    /// Serves a page on this machine and opens it: type a quantity, move the level, choose methods,
    /// and export what you keep. The address is printed; Ctrl-C ends it.
    #[command(after_help = EXPLORE_EXAMPLES)]
    Explore(ExploreArgs),
    /// Build, inspect and merge tables on disk
    Table(TableArgs),
    /// Data sets with known truth
    Simulate(SimulateArgs),
    /// Coverage studies: many data sets with known truth, and what intervals do
    ///
    /// Simulates data sets, lets every method answer, and keeps all intervals in a folder with a summary
    /// and figures. A study that was interrupted goes on where it stopped when it is run again. Without a
    /// name: the built-in studies.
    #[command(after_help = STUDY_EXAMPLES, args_conflicts_with_subcommands = true)]
    Study(Box<StudyArgs>),
}

const CALIBRATE_EXAMPLES: &str = "Examples:
  trustvb calibrate
  trustvb calibrate 'mu[1,waiting] - mu[2,waiting]' --level 0.9 --method vb,anchored -B 100
  trustvb calibrate 'pi[1]' --method analytic --format json
  trustvb simulate bmlr --groups 40 --rows 20 --coefficients '1,-1;0,2' -o groups.csv
  trustvb calibrate groups.csv --formula 'y ~ 0 + x1 + x2 | group' --stream --method analytic";

const FIT_EXAMPLES: &str = "Examples:
  trustvb fit
  trustvb fit --omega 0.3 --format json
  trustvb fit --components 3 --columns waiting
  trustvb fit --formula 'eruptions ~ waiting' --stream";

const INTERVAL_EXAMPLES: &str = "Examples:
  trustvb table build -o faithful.tvb --grid 50 -B 100
  trustvb interval faithful.tvb 'logit(pi[1])' --level 0.9";

const REPORT_EXAMPLES: &str = "Examples:
  trustvb table build -o faithful.tvb --grid 50 -B 100
  trustvb report faithful.tvb -o report.html
  trustvb report faithful.tvb 'pi[1]' 'mu[1,waiting] - mu[2,waiting]' --level 0.9 -o difference.html";

const EXPLORE_EXAMPLES: &str = "Examples:
  trustvb table build -o faithful.tvb --grid 50 -B 100
  trustvb explore faithful.tvb
  trustvb table build -o three.tvb -k 3 --grid 50 -B 100
  trustvb explore faithful.tvb three.tvb --no-browser";

const BUILD_EXAMPLES: &str = "Examples:
  trustvb table build -o faithful.tvb --grid 50 -B 100
  trustvb table build -o first.tvb --grid 50 -B 100 --shard 1/2
  trustvb simulate bmlr --groups 40 --rows 20 --coefficients '1,-1;0,2' -o groups.csv
  trustvb table build groups.csv --formula 'y ~ 0 + x1 + x2 | group' --stream -o groups.tvb -B 50";

const INFO_EXAMPLES: &str = "Examples:
  trustvb table build -o faithful.tvb --grid 50 -B 100
  trustvb table info faithful.tvb";

const MERGE_EXAMPLES: &str = "Examples:
  trustvb table build -o first.tvb --grid 50 -B 100 --shard 1/2
  trustvb table build -o second.tvb --grid 50 -B 100 --shard 2/2
  trustvb table merge -o whole.tvb first.tvb second.tvb";

const SIMULATE_GMM_EXAMPLES: &str = "Examples:
  trustvb simulate gmm --preset paper-gmm --n 1000 -o data.csv
  trustvb simulate gmm --n 300 --weights 3,2,1 --separation 2.5 --df 5 --seed 7 -o heavy.csv
  trustvb simulate gmm --n 500 --centres '0,0;3,1' --covariance '1,0.5;0.5,1' -o tilted.parquet";

const SIMULATE_BMLR_EXAMPLES: &str = "Examples:
  trustvb simulate bmlr --preset paper-bmlr --groups 100 --rows 50 -o groups.csv
  trustvb simulate bmlr --groups 40 --rows 20 --coefficients '1,-1;0,2' --noise-sd 0.5 -o groups.csv";

const SIMULATE_STUDY_EXAMPLES: &str = "Examples:
  trustvb simulate study paper-gmm gmm/n=1000 --replication 17 -o data.csv";

const STUDY_EXAMPLES: &str = "Examples:
  trustvb study
  trustvb study paper-gmm --show
  trustvb study section3 --only sep3/n=300 --replications 10 -B 20 --grid 20 -o quick.study
  trustvb study quick.study --so-far --format csv

Data set 17 of a cell is that of `trustvb simulate study NAME CELL --replication 17`; with the seed
in its truth file, `trustvb calibrate` gives the study's intervals.";

const STUDY_MERGE_EXAMPLES: &str = "Examples:
  trustvb study section3 --only sep3/n=300 --replications 20 -B 20 --grid 9 --shard 1/2 -o a.study
  trustvb study section3 --only sep3/n=300 --replications 20 -B 20 --grid 9 --shard 2/2 -o b.study
  trustvb study merge -o whole.study a.study b.study";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModelName {
    /// Gaussian mixture
    Gmm,
    /// Mixture of linear regressions
    Bmlr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UpdateName {
    /// The maximiser of the bound
    Corrected,
    /// As the paper prints it
    AsPrinted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MatchName {
    /// By resemblance to the full-data fit
    Assignment,
    /// By weight, the paper's rule
    Weight,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Table,
    Json,
    Csv,
}

/// Which data and model.
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    /// The model [default: bmlr with --formula, otherwise gmm]
    #[arg(long, value_enum)]
    pub(crate) model: Option<ModelName>,
    /// Number of components
    #[arg(short = 'k', long, default_value_t = 2, value_parser = positive, allow_negative_numbers = true)]
    pub(crate) components: usize,
    /// Columns to use, by name or number, separated by commas (gmm) [default: all]
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    pub(crate) columns: Option<Vec<String>>,
    /// Regression with R's conventions: 'y ~ 0 + x1 + x2 | group' (bmlr)
    #[arg(long)]
    pub(crate) formula: Option<String>,
    /// Read the file in pieces and keep only sums over each group, never its rows: for files larger
    /// than memory (bmlr). Memory then grows with the groups, not with the rows
    #[arg(long)]
    pub(crate) stream: bool,
    /// Leave out rows with missing or infinite values, and say how many
    #[arg(long)]
    pub(crate) drop_missing: bool,
    /// Noise precision of bmlr: 'estimate' or 'known=1' [default: estimate]
    #[arg(long, value_name = "HOW")]
    pub(crate) noise: Option<String>,
    /// Refuse groups with fewer rows than this (bmlr)
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) min_group_rows: usize,
    /// 'default' (does not depend on units), 'paper', or a TOML file with any of alpha0, m0, beta0,
    /// nu0, W0 (gmm) or alpha0, a0, b0, c0, d0, lambda (bmlr), and base = "default" or "paper"
    #[arg(long, default_value = "default", value_name = "PRIOR")]
    pub(crate) prior: String,
    /// Which form of the covariance update (gmm)
    #[arg(long, value_enum)]
    pub(crate) update: Option<UpdateName>,
}

/// How to iterate.
#[derive(Debug, Args)]
pub(crate) struct IterationArgs {
    /// Seed of everything random
    #[arg(long, default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Start values: CSV with a header and a row per component; they are then the only start
    #[arg(long, value_name = "FILE")]
    pub(crate) centres: Option<PathBuf>,
    /// Random k-means++ starts of the full-data fit; the best bound wins
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = positive)]
    pub(crate) starts: usize,
    /// Largest relative change at which a fit has converged [default: 1e-10; tables 1e-8]
    #[arg(long, value_name = "X", value_parser = tolerance, allow_negative_numbers = true)]
    pub(crate) tolerance: Option<f64>,
    /// Sweeps after which a fit gives up
    #[arg(long, default_value_t = 2000, value_name = "N", value_parser = positive)]
    pub(crate) max_sweeps: usize,
    /// States that Anderson acceleration combines; 0 for plain sweeps
    #[arg(long, default_value_t = 5, value_name = "DEPTH")]
    pub(crate) acceleration: usize,
}

/// Where the answer goes.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// How to print the answer
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// No progress and no remarks on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

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
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) iteration: IterationArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Which fits a table holds.
#[derive(Debug, Args)]
pub(crate) struct GridArgs {
    /// Points of the grid of fractions, even in log ω [default: 100; 500 for Old Faithful]
    #[arg(long, value_name = "N", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) grid: Option<usize>,
    /// The smallest fraction
    #[arg(long, default_value_t = 0.001, value_name = "X", value_parser = omega, allow_negative_numbers = true)]
    pub(crate) omega_min: f64,
    /// Bootstraps of each design
    #[arg(short = 'B', long, default_value_t = 500, value_name = "N", value_parser = bootstraps, allow_negative_numbers = true)]
    pub(crate) bootstraps: u32,
    /// A new split and new bootstraps at every ω, as in the paper's studies
    #[arg(long)]
    pub(crate) fresh_splits: bool,
    /// Your own resamples: CSV with the columns role (half, bootstrap, full), replicate, units
    #[arg(long, value_name = "FILE")]
    pub(crate) resamples: Option<PathBuf>,
    /// Start every replicate afresh from this many k-means starts of its own
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) restarts: Option<usize>,
    /// How components of replicates get their numbers
    #[arg(long = "match", value_enum)]
    pub(crate) matching: Option<MatchName>,
    /// Everything as the paper's code had it: printed update, its prior, order by weight, k-means
    /// start for every replicate, plain sweeps stopped at a bound change of 1e-4 or 200 sweeps,
    /// intervals of means as t quantile times posterior sd, search over the whole grid
    #[arg(long)]
    pub(crate) published: bool,
}

/// What to ask.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// Level of the intervals; may be repeated [default: 0.95]
    #[arg(long, value_delimiter = ',', value_parser = level, allow_negative_numbers = true)]
    pub(crate) level: Vec<f64>,
    /// Methods, separated by commas: vb, tvb, tvb-sequential, gpc, anchored, analytic, bootstrap
    /// [default: vb,tvb,anchored,analytic]
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    pub(crate) method: Vec<String>,
    /// Draws behind each law that has no exact form
    #[arg(long, default_value_t = 500, value_name = "N", value_parser = positive)]
    pub(crate) draws: usize,
}

/// What to ask, and a picture of the answer.
#[derive(Debug, Args)]
pub(crate) struct QuestionArgs {
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// Draw densities and coverage curves to a file, .svg or .png
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// CSV or Parquet file ('-' for standard input) [default: Old Faithful], then quantities such as
    /// 'pi[1]' or 'mu[1,] - mu[2,]' [default: every weight and mean]
    #[arg(value_name = "DATA or H")]
    pub(crate) positional: Vec<String>,
    /// Keep the table in this folder
    #[arg(long, value_name = "NAME.tvb")]
    pub(crate) save: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    #[command(flatten)]
    pub(crate) grid: GridArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) iteration: IterationArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
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
    #[arg(long, default_value_t = 500, value_name = "N", value_parser = positive)]
    pub(crate) draws: usize,
    /// No remarks on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

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
    /// Put shards of the same table together
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(MergeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct BuildArgs {
    /// CSV or Parquet file; '-' for standard input [default: Old Faithful]
    pub(crate) data: Option<PathBuf>,
    /// The table's folder
    #[arg(short, long, value_name = "NAME.tvb")]
    pub(crate) output: PathBuf,
    /// Methods the table should serve, which decide its resamples [default: vb,tvb,anchored,analytic]
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    pub(crate) method: Vec<String>,
    /// Do only this share of the replicates, such as 3/16
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// Do not put the data into the table
    #[arg(long)]
    pub(crate) without_data: bool,
    #[command(flatten)]
    pub(crate) grid: GridArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) iteration: IterationArgs,
    /// No progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// The table's folder
    pub(crate) table: PathBuf,
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

#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    #[command(subcommand)]
    pub(crate) command: SimulateCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SimulateCommand {
    /// Rows of a mixture of Gaussians, or of t distributions
    ///
    /// The truth goes into a file beside the data: data.csv gets data.truth.json, with the names that
    /// quantities have (pi, mu, sigma). Component 1 is the heaviest.
    #[command(after_help = SIMULATE_GMM_EXAMPLES)]
    Gmm(SimulateGmmArgs),
    /// Groups of rows, each following one of several regressions
    ///
    /// The truth goes into a file beside the data: data.csv gets data.truth.json, with the names that
    /// quantities have (pi, beta, noise). Component 1 is the heaviest. The design is standard Normal.
    #[command(after_help = SIMULATE_BMLR_EXAMPLES)]
    Bmlr(SimulateBmlrArgs),
    /// A data set of a study, exactly as the study saw it
    ///
    /// Its truth file tells the seed with which `trustvb calibrate` gives the study's intervals.
    #[command(after_help = SIMULATE_STUDY_EXAMPLES)]
    Study(SimulateStudyArgs),
}

/// Which data set, and where it goes.
#[derive(Debug, Args)]
pub(crate) struct DrawArgs {
    /// Which data set of the seed
    #[arg(long, default_value_t = 1, value_name = "R", value_parser = seed)]
    pub(crate) replication: u64,
    /// The file: Parquet by its name, otherwise CSV [default: CSV to standard output, without truth]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateGmmArgs {
    /// Start from a built-in design: paper-gmm; the other options change it
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// Rows [default: 1000]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) n: Option<usize>,
    /// Components [default: as many as weights or centres, otherwise 2]
    #[arg(short = 'k', long, value_name = "K", value_parser = positive)]
    pub(crate) components: Option<usize>,
    /// Columns, when centres come from --separation [default: 2]
    #[arg(short = 'p', long, value_name = "P", value_parser = positive)]
    pub(crate) columns: Option<usize>,
    /// Weights; they need not add up to 1 [default: 0.65,0.35 or K, K-1, …, 1]
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    pub(crate) weights: Option<Vec<f64>>,
    /// Distance between neighbouring centres in each coordinate [default: 2]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) separation: Option<f64>,
    /// Centres instead: '0,0;2,1', a row per component
    #[arg(long, value_name = "ROWS", allow_hyphen_values = true)]
    pub(crate) centres: Option<String>,
    /// Covariance matrix by rows: '1,0.5;0.5,1'; once for all components or once for each
    #[arg(long, value_name = "ROWS", allow_hyphen_values = true)]
    pub(crate) covariance: Vec<String>,
    /// t-distributed components with so many degrees of freedom and the same covariances
    #[arg(long, value_name = "DF")]
    pub(crate) df: Option<f64>,
    /// Seed
    #[arg(long, default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateBmlrArgs {
    /// Start from a built-in design: paper-bmlr; the other options change it
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// Groups [default: 500]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) groups: Option<usize>,
    /// Rows of each group [default: 100]
    #[arg(long, value_name = "J", value_parser = positive)]
    pub(crate) rows: Option<usize>,
    /// Weights; they need not add up to 1 [default: 0.65,0.35 or K, K-1, …, 1]
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    pub(crate) weights: Option<Vec<f64>>,
    /// Coefficients: '1,-1;0,2', a row per component
    #[arg(long, value_name = "ROWS", allow_hyphen_values = true)]
    pub(crate) coefficients: Option<String>,
    /// Norm of the signal over that of the noise, in each group [default: 1]
    #[arg(long, value_name = "X")]
    pub(crate) snr: Option<f64>,
    /// Standard deviation of the noise, instead of --snr
    #[arg(long, value_name = "X")]
    pub(crate) noise_sd: Option<f64>,
    /// One draw of the noise for all groups of a component, as in the paper's code, or one for each
    /// group [default: independent; as in the paper's code with the preset]
    #[arg(long, value_enum)]
    pub(crate) noise: Option<NoiseName>,
    /// Seed
    #[arg(long, default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NoiseName {
    Independent,
    Shared,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateStudyArgs {
    /// A built-in study, a TOML file, or the folder of a study
    pub(crate) study: String,
    /// The cell, such as gmm/n=1000
    pub(crate) cell: String,
    /// Seed of the study [default: the study's own]
    #[arg(long, value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LabelsName {
    /// The full-data fit is matched to the truth
    Matched,
    /// The heaviest component of the full-data fit is number 1
    Weight,
}

#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    #[command(subcommand)]
    pub(crate) command: Option<StudyCommand>,
    /// A built-in study, a TOML file, or the folder of a study that goes on
    #[arg(value_name = "NAME, FILE or FOLDER")]
    pub(crate) study: Option<String>,
    /// The folder [default: NAME.study]
    #[arg(short, long, value_name = "NAME.study")]
    pub(crate) output: Option<PathBuf>,
    /// Print the study as TOML, to copy and change, and do nothing
    #[arg(long)]
    pub(crate) show: bool,
    /// Show what is done so far, and do nothing
    #[arg(long)]
    pub(crate) so_far: bool,
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
    /// Only these methods, or others than the study has: vb, tvb, tvb-fresh, tvb-sequential, gpc,
    /// anchored, analytic, bootstrap
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
    /// Do only this share of the replications, such as 2/5; merge the folders, or run the study again
    /// in the same folder, to complete it
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
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

fn scale(text: &str) -> Result<f64, String> {
    within(text, "a scale: greater than 0", |x| x > 0.0 && x <= 1000.0)
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(0) | Err(_) => Err(format!("`{text}` is not a whole number of at least 1")),
        Ok(n) => Ok(n),
    }
}

fn bootstraps(text: &str) -> Result<u32, String> {
    u32::try_from(positive(text)?).map_err(|_| format!("`{text}` is more than {}", u32::MAX))
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number from 0 to {}", u64::MAX))
}

fn within(text: &str, what: &str, ok: impl Fn(f64) -> bool) -> Result<f64, String> {
    text.parse::<f64>().ok().filter(|x| ok(*x)).ok_or_else(|| format!("`{text}` is not {what}"))
}

fn omega(text: &str) -> Result<f64, String> {
    within(text, "a fraction: greater than 0 and at most 1", |x| x > 0.0 && x <= 1.0)
}

fn level(text: &str) -> Result<f64, String> {
    within(text, "a level: between 0 and 1, such as 0.95", |x| x > 0.0 && x < 1.0)
}

fn tolerance(text: &str) -> Result<f64, String> {
    within(text, "a tolerance: greater than 0 and below 1", |x| x > 0.0 && x < 1.0)
}
