//! Groups of options that several commands have.

use super::value::{bootstraps, column_type, omega, positive, seed, tolerance};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use trustvb::defaults;
use trustvb::model::{ColumnType, Covariance, KINDS};

/// The models that there are, with their titles.
fn model_names() -> PossibleValuesParser {
    let values = KINDS.iter().map(|kind| PossibleValue::new(kind.name).help(kind.title));
    PossibleValuesParser::new(values)
}

/// Groups of options in the help.
pub(super) mod heading {
    pub(in crate::args) const COMMON: &str = "Common options";
    pub(in crate::args) const MODEL: &str = "Model and fits";
    pub(in crate::args) const RESAMPLING: &str = "Resampling";
    pub(in crate::args) const OUTPUT: &str = "Output";
    pub(in crate::args) const PAPER: &str = "The paper's method";
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum UpdateName {
    /// The maximiser of the bound
    Corrected,
    /// As the paper prints it
    AsPrinted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CovarianceName {
    /// Each component has a matrix of its own
    Full,
    /// All components have the same matrix
    Tied,
    /// Columns are independent, each with a variance of its own
    Diagonal,
    /// As diagonal, with one variance for all columns: they must be in the same units
    Spherical,
}

impl From<CovarianceName> for Covariance {
    fn from(name: CovarianceName) -> Covariance {
        match name {
            CovarianceName::Full => Covariance::Full,
            CovarianceName::Tied => Covariance::Tied,
            CovarianceName::Diagonal => Covariance::Diagonal,
            CovarianceName::Spherical => Covariance::Spherical,
        }
    }
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
#[command(next_help_heading = heading::MODEL)]
pub(crate) struct ModelArgs {
    /// Number of components
    #[arg(short = 'k', long, default_value_t = defaults::COMPONENTS, value_parser = positive, allow_negative_numbers = true, help_heading = heading::COMMON)]
    pub(crate) components: usize,
    /// The shape of the components' covariances (gmm) [default: full]
    #[arg(long, value_enum, value_name = "SHAPE")]
    pub(crate) covariance: Option<CovarianceName>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
}

/// Which data and model, but for how many components.
#[derive(Debug, Args)]
#[command(next_help_heading = heading::MODEL)]
pub(crate) struct SettingsArgs {
    /// Columns to use, by name or number, separated by commas (gmm, mixture) [default: all]
    #[arg(long, value_delimiter = ',', value_name = "A,B", help_heading = heading::COMMON)]
    pub(crate) columns: Option<Vec<String>>,
    /// Regression with R's conventions: 'y ~ 0 + x1 + x2 | group' (bmlr)
    #[arg(long, help_heading = heading::COMMON)]
    pub(crate) formula: Option<String>,
    /// The model [default: bmlr with --formula, mixture with --types, otherwise gmm]
    #[arg(long, value_parser = model_names())]
    pub(crate) model: Option<String>,
    /// What columns hold, where it is not what they look like: 'smoker=category,visits=count,age=gaussian'; a word alone,
    /// 'category', is for all that are not named (mixture; gmm takes 'gaussian' for columns that look like codes)
    #[arg(long, value_delimiter = ',', value_name = "COLUMN=TYPE", value_parser = column_type)]
    pub(crate) types: Vec<(String, ColumnType)>,
    /// Read the file once, in pieces, and never hold its rows: for files larger than memory. A regression (bmlr) keeps
    /// sums over each group. A Gaussian mixture (gmm, full covariances) keeps its numbers in a scratch file, 8 bytes
    /// for each row and column, in the folder that TMPDIR names, and reads that in every sweep; methods that need no
    /// resamples answer: jackknife, analytic and vb
    #[arg(long)]
    pub(crate) stream: bool,
    /// Leave out rows with missing or infinite values, and say how many
    #[arg(long)]
    pub(crate) drop_missing: bool,
    /// Survey weights: the column that says how much each row counts. They are divided by their mean, and units are
    /// resampled with their weights
    #[arg(long, value_name = "COLUMN", conflicts_with = "frequency")]
    pub(crate) weights: Option<String>,
    /// Frequencies: the column that says how many rows each row stands for. All is as if it were there so many times
    #[arg(long, value_name = "COLUMN")]
    pub(crate) frequency: Option<String>,
    /// Noise precision of bmlr: 'estimate' or 'known=1' [default: estimate]
    #[arg(long, value_name = "HOW")]
    pub(crate) noise: Option<String>,
    /// Refuse groups with fewer rows than this (bmlr)
    #[arg(long, value_name = "N", default_value_t = defaults::MIN_GROUP_ROWS)]
    pub(crate) min_group_rows: usize,
    /// 'default' (does not depend on units), 'paper', or a TOML file with any of alpha0, m0, beta0,
    /// nu0, W0, loose (gmm) or alpha0, a0, b0, c0, d0, lambda (bmlr), and base = "default", "standardised"
    /// (the paper's, on standardised columns) or "paper" for the rest. loose is the probability that a
    /// component's covariance is unlike the others'
    #[arg(long, default_value = "default", value_name = "PRIOR")]
    pub(crate) prior: String,
    /// Which form of the covariance update (gmm): the right one, or as the paper prints it
    #[arg(long, value_enum)]
    pub(crate) update: Option<UpdateName>,
}

/// How to iterate.
#[derive(Debug, Args)]
#[command(next_help_heading = heading::MODEL)]
pub(crate) struct IterationArgs {
    /// Seed of everything random
    #[arg(long, default_value_t = defaults::SEED, value_parser = seed, allow_negative_numbers = true, help_heading = heading::COMMON)]
    pub(crate) seed: u64,
    /// Start values: CSV with a header and a row per component; they are then the only start
    #[arg(long, value_name = "FILE")]
    pub(crate) centres: Option<PathBuf>,
    /// Random k-means++ starts of the full-data fit; the best bound wins
    #[arg(long, default_value_t = defaults::STARTS, value_name = "N", value_parser = positive)]
    pub(crate) starts: usize,
    /// Largest relative change at which a fit has converged [default: 1e-10; tables 1e-8]
    #[arg(long, value_name = "X", value_parser = tolerance, allow_negative_numbers = true)]
    pub(crate) tolerance: Option<f64>,
    /// Sweeps after which a fit gives up
    #[arg(long, default_value_t = defaults::MAX_SWEEPS, value_name = "N", value_parser = positive)]
    pub(crate) max_sweeps: usize,
    /// States that Anderson acceleration combines; 0 for plain sweeps
    #[arg(long, default_value_t = defaults::ACCELERATION, value_name = "DEPTH")]
    pub(crate) acceleration: usize,
}

/// Where the answer goes.
#[derive(Debug, Args)]
#[command(next_help_heading = heading::OUTPUT)]
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

/// Which fits a table holds.
#[derive(Debug, Args)]
#[command(next_help_heading = heading::RESAMPLING)]
pub(crate) struct GridArgs {
    /// Bootstraps of each design
    #[arg(short = 'B', long, default_value_t = defaults::BOOTSTRAPS, value_name = "N", value_parser = bootstraps, allow_negative_numbers = true)]
    pub(crate) bootstraps: u32,
    /// Draw bootstraps of all units from this many random subsets of n^0.7 units each (bag of little
    /// bootstraps): for data of very many units. Not with tvb
    #[arg(long, value_name = "N", value_parser = bootstraps)]
    pub(crate) subsets: Option<u32>,
    /// Your own resamples: CSV with the columns role (half, bootstrap, full), replicate, units
    #[arg(long, value_name = "FILE")]
    pub(crate) resamples: Option<PathBuf>,
    /// Start every replicate afresh from this many k-means starts of its own
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) restarts: Option<usize>,
    /// How components of replicates get their numbers
    #[arg(long = "match", value_enum)]
    pub(crate) matching: Option<MatchName>,
    /// Points of the grid of fractions, even in log ω [default: 100; 500 for Old Faithful
    /// with --published]
    #[arg(long, value_name = "N", value_parser = positive, allow_negative_numbers = true, help_heading = heading::PAPER)]
    pub(crate) grid: Option<usize>,
    /// The smallest fraction
    #[arg(long, default_value_t = defaults::OMEGA_MIN, value_name = "X", value_parser = omega, allow_negative_numbers = true, help_heading = heading::PAPER)]
    pub(crate) omega_min: f64,
    /// A new split and new bootstraps at every ω, as in the paper's studies
    #[arg(long, help_heading = heading::PAPER)]
    pub(crate) fresh_splits: bool,
    /// The paper's TVB beside the interval to use, also where its fits are not cheap: 100 for each bootstrap, one for
    /// each fraction of the grid
    #[arg(long, help_heading = heading::COMMON)]
    pub(crate) tvb: bool,
    /// Everything as the paper's code had it: printed update, its prior, order by weight, k-means
    /// start for every replicate, plain sweeps stopped at a bound change of 1e-4 or 200 sweeps,
    /// intervals of means as t quantile times posterior sd, search over the whole grid
    #[arg(long, help_heading = heading::PAPER)]
    pub(crate) published: bool,
}
