//! `trustvb simulate gmm | bmlr | mixture | study`.

use super::value::{positive, seed};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

const SIMULATE_GMM_EXAMPLES: &str = "Examples:
  trustvb simulate gmm --preset paper-gmm --n 1000 -o data.csv
  trustvb simulate gmm --n 300 --weights 3,2,1 --separation 2.5 --df 5 --seed 7 -o heavy.csv
  trustvb simulate gmm --n 300 --separation 4 --skew 1 -o skewed.csv
  trustvb simulate gmm --n 500 --centres '0,0;3,1' --covariance '1,0.5;0.5,1' -o tilted.parquet";

const SIMULATE_BMLR_EXAMPLES: &str = "Examples:
  trustvb simulate bmlr --preset paper-bmlr --groups 100 --rows 50 -o groups.csv
  trustvb simulate bmlr --groups 40 --rows 20 --coefficients '1,-1;0,2' --noise-sd 0.5 -o groups.csv";

const SIMULATE_MIXTURE_EXAMPLES: &str = "Examples:
  trustvb simulate mixture --n 500 --items 6 --agree 0.85 -o answers.csv
  trustvb simulate mixture --n 500 --weights 3,2,1 --items 8 --missing 0.1 --seed 7 -o gaps.csv
  trustvb simulate mixture --n 500 --items 4 --rates '2,6' --means '0,3' -o mixed.csv";

const SIMULATE_STUDY_EXAMPLES: &str = "Examples:
  trustvb simulate study paper-gmm gmm/n=1000 --replication 17 -o data.csv";

#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    #[command(subcommand)]
    pub(crate) command: SimulateCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SimulateCommand {
    /// Rows of a mixture of Gaussians, or of t or skewed distributions
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
    /// Rows of yes-or-no items, counts and numbers in latent classes
    ///
    /// The truth goes into a file beside the data: data.csv gets data.truth.json, with the names that
    /// quantities have (pi, p, rate, mu, sd). Class 1 is the heaviest. Columns are items, then counts, then numbers.
    #[command(after_help = SIMULATE_MIXTURE_EXAMPLES)]
    Mixture(SimulateMixtureArgs),
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
    /// Distance of every other centre from the first instead, each along a column of its own, in standard deviations within
    /// components (Mahalanobis)
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) distance: Option<f64>,
    /// Centres instead: '0,0;2,1', a row per component
    #[arg(long, value_name = "ROWS", allow_hyphen_values = true)]
    pub(crate) centres: Option<String>,
    /// Covariance matrix by rows: '1,0.5;0.5,1'; once for all components or once for each
    #[arg(long, value_name = "ROWS", allow_hyphen_values = true)]
    pub(crate) covariance: Vec<String>,
    /// Correlation of all columns within components instead: once for all, or one for each
    #[arg(long, value_delimiter = ',', value_name = "A,B", allow_negative_numbers = true)]
    pub(crate) correlation: Vec<f64>,
    /// t-distributed components with so many degrees of freedom and the same covariances
    #[arg(long, value_name = "DF")]
    pub(crate) df: Option<f64>,
    /// Skewed components with the same means and covariances: the skewness of their standardised
    /// coordinates, which follow a Gamma law; 2 is that of an exponential law
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) skew: Option<f64>,
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
    /// Mean of the regressors [default: 0]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) x_mean: Option<f64>,
    /// Seed
    #[arg(long, default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) draw: DrawArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SimulateMixtureArgs {
    /// Rows [default: 1000]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) n: Option<usize>,
    /// Classes [default: as many as weights, rates or means, otherwise 2]
    #[arg(short = 'k', long, value_name = "K", value_parser = positive)]
    pub(crate) components: Option<usize>,
    /// Weights; they need not add up to 1 [default: 0.65,0.35 or K, K-1, …, 1]
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    pub(crate) weights: Option<Vec<f64>>,
    /// Items with the answers 0 and 1. Class 1 says 1 to all, class 2 to none, class 3 to the first half, class 4 to
    /// the other half
    #[arg(long, value_name = "N", default_value_t = 6)]
    pub(crate) items: usize,
    /// How clearly: the probability of the answer that a class leans to
    #[arg(long, value_name = "P", default_value_t = 0.8)]
    pub(crate) agree: f64,
    /// Rates of counts: '2,6' for one column with two classes, '2,6;1,1' for two columns
    #[arg(long, value_name = "ROWS")]
    pub(crate) rates: Option<String>,
    /// Means of numbers with standard deviation 1, written as rates are
    #[arg(long, value_name = "ROWS", allow_hyphen_values = true)]
    pub(crate) means: Option<String>,
    /// Share of the cells that are missing, at random
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    pub(crate) missing: f64,
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
