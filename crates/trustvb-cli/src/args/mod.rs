//! The command line as it is written; what it means is decided in `input` and the commands.
//!
//! A file per command, `shared` for groups of options that several have, `value` for single ones.

mod ask;
mod fit;
mod select;
mod shared;
mod simulate;
mod slurm;
mod study;
mod table;
mod terms;
mod value;

pub(crate) use ask::{AskArgs, CalibrateArgs, ExploreArgs, IntervalArgs, QuestionArgs, ReportArgs};
pub(crate) use fit::FitArgs;
pub(crate) use select::{SelectArgs, Shapes};
pub(crate) use shared::{
    Format, GridArgs, IterationArgs, MatchName, ModelArgs, OutputArgs, SettingsArgs, UpdateName,
};
pub(crate) use simulate::{
    DrawArgs, NoiseName, SimulateArgs, SimulateBmlrArgs, SimulateCommand, SimulateGmmArgs,
    SimulateMixtureArgs, SimulateStudyArgs,
};
pub(crate) use slurm::{JobArgs, SlurmArgs, SlurmCommand, SlurmStudyArgs, SlurmTableArgs};
pub(crate) use study::{
    HalfName, LabelsName, StudyArgs, StudyCommand, StudyMergeArgs, WantedStudyArgs,
};
pub(crate) use table::{
    BuildArgs, CheckArgs, DiffArgs, InfoArgs, MergeArgs, PlanArgs, TableArgs, TableCommand,
    TableContentArgs, WantedTableArgs,
};

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use std::path::{Path, PathBuf};
use value::threads;

const COMPLETIONS_EXAMPLES: &str = "Examples:
  trustvb completions bash
  trustvb completions zsh";

const MANUAL_EXAMPLES: &str = "Examples:
  trustvb manual -o man1";

/// Variational Bayes with intervals whose coverage can be believed.
#[derive(Debug, Parser)]
#[command(
    name = "trustvb",
    version = env!("TRUSTVB_VERSION"),
    propagate_version = true,
    max_term_width = 100,
    after_help = "`trustvb help terms` explains ω, coverage, resample and prior."
)]
pub(crate) struct Arguments {
    /// Threads to use; results do not depend on it [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The script that makes a shell complete commands and options.
pub(crate) fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "trustvb", &mut script);
    script
}

/// Writes manual pages into a folder: one for `trustvb`, and one for each of its commands.
pub(crate) fn write_manual(folder: &Path) -> std::io::Result<()> {
    clap_mangen::generate_to(Arguments::command(), folder)
}

/// What `trustvb help terms` prints.
pub(crate) fn terms() -> &'static str {
    terms::TERMS
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Calibrated intervals: the main job
    ///
    /// Fits VB to the data and to resamples of them, and shows for each quantity the interval to use, VB's own,
    /// how often that covers, and the paper's. Without DATA: Old Faithful, two components.
    #[command(after_help = ask::CALIBRATE_EXAMPLES)]
    Calibrate(CalibrateArgs),
    /// One variational fit, summarised
    #[command(after_help = fit::FIT_EXAMPLES)]
    Fit(FitArgs),
    /// How many components, and which covariances
    ///
    /// Fits every number of components that is asked for, compares them by BIC, ICL and VB's bound, and
    /// recommends one with its margin over the next.
    #[command(after_help = select::SELECT_EXAMPLES)]
    Select(Box<SelectArgs>),
    /// Calibrated intervals from a saved table
    #[command(after_help = ask::INTERVAL_EXAMPLES)]
    Interval(IntervalArgs),
    /// A table's answers as one HTML file to hand on
    ///
    /// The file needs no network and nothing beside it: the answer in words, intervals, evidence,
    /// warnings, data, model, settings, and the commands that make it again.
    #[command(after_help = ask::REPORT_EXAMPLES)]
    Report(ReportArgs),
    /// Ask tables in the browser
    ///
    /// Serves a page on this machine and opens it: type a quantity, move the level, choose methods,
    /// and export what you keep. The address is printed; Ctrl-C ends it.
    #[command(after_help = ask::EXPLORE_EXAMPLES)]
    Explore(ExploreArgs),
    /// Build, inspect, compare and merge tables that are kept
    Table(TableArgs),
    /// Data sets with known truth
    Simulate(SimulateArgs),
    /// Coverage studies: many data sets with known truth, and what intervals do
    ///
    /// Simulates data sets, lets every method answer, and keeps all intervals in a folder with a summary
    /// and figures. A study that was interrupted goes on where it stopped when it is run again. Without a
    /// name: the built-in studies.
    #[command(after_help = study::STUDY_EXAMPLES, args_conflicts_with_subcommands = true)]
    Study(Box<StudyArgs>),
    /// Tables and studies as job arrays on a Slurm cluster
    ///
    /// Writes the scripts of an array and of a job that checks the result when the array has ended, and
    /// submits both with --submit. All tasks write into the same folder. Given again, it leaves out the
    /// shards that are done.
    Slurm(SlurmArgs),
    /// Completions of commands and options for a shell
    ///
    /// Writes a script to standard output that the shell reads when it starts.
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Manual pages, one for each command, into a folder
    ///
    /// Writes trustvb.1, trustvb-calibrate.1 and so on, for `man` to find in a folder such as
    /// ~/.local/share/man/man1. Files of these names are replaced.
    #[command(after_help = MANUAL_EXAMPLES)]
    Manual {
        /// Where the pages go; made if it is not there
        #[arg(short, long, value_name = "FOLDER")]
        output: PathBuf,
    },
    /// What ω, coverage, resample and prior mean
    #[command(long_about = terms::TERMS, help_template = "{about-with-newline}")]
    Terms,
}
