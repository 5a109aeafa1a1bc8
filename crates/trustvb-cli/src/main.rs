//! The `trustvb` command: reads the command line, runs one command, reports in words.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks to its user")]

mod args;
mod commands;
mod failure;
mod input;
mod one_answer;
mod output;
mod progress;
mod say;
mod terminal;

use args::{Arguments, Command};
use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    quiet_decoder_panics();
    progress::listen();
    let arguments = Arguments::parse();
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            say::say(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    if let Some(threads) = arguments.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .map_err(|e| Failure::Usage(format!("--threads {threads}: {e}")))?;
    }
    match arguments.command {
        Command::Fit(args) => commands::fit::run(&args),
        Command::Select(args) => commands::select::run(&args),
        Command::Calibrate(args) => commands::calibrate::run(&args),
        Command::Interval(args) => commands::interval::run(&args),
        Command::Explore(args) => commands::explore::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Table(args) => commands::table::run(&args),
        Command::Simulate(args) => commands::simulate::run(&args),
        Command::Study(args) => commands::study::run(&args),
        Command::Slurm(args) => commands::slurm::run(&args, arguments.threads),
        Command::Completions { shell } => output::print(&args::completions(shell)),
        Command::Manual { output } => commands::manual::run(&output),
        Command::Terms => output::print(format!("{}\n", args::terms()).as_bytes()),
    }
}

/// The Parquet decoder asserts some of what a damaged file can hold. Those panics are caught and
/// reported as damaged files; the default hook would print them first.
fn quiet_decoder_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let from_decoder =
            info.location().is_some_and(|location| location.file().contains("parquet"));
        if !from_decoder {
            default(info);
        }
    }));
}
