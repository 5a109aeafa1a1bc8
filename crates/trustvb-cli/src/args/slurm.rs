//! `trustvb slurm table | study`.

use super::value::positive;
use super::{WantedStudyArgs, WantedTableArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

const TABLE_EXAMPLES: &str = "Examples:
  trustvb slurm table -o faithful.tvb --grid 50 -B 100 --shards 4
  trustvb slurm table -o night.tvb --shards 10 --cpus 2 --time 01:00:00 --memory 4G --partition long

With --submit the jobs are submitted; without it the scripts are written and the commands that submit
them are printed. `trustvb table info NAME.tvb` shows how far a table is.";

const STUDY_EXAMPLES: &str = "Examples:
  trustvb slurm study section3 --only sep3/n=300 --replications 40 -B 20 -o look.study --shards 2
  trustvb slurm study section3 --scale 0.1 -o tenth.study --time 02:00:00 --setup 'module load gcc'

With --submit the jobs are submitted; without it the scripts are written and the commands that submit
them are printed. `trustvb study NAME.study --so-far` shows how far a study is.";

#[derive(Debug, Args)]
pub(crate) struct SlurmArgs {
    #[command(subcommand)]
    pub(crate) command: SlurmCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SlurmCommand {
    /// Build a table as a job array
    ///
    /// Takes the arguments of `trustvb table build`. DATA and the table's folder must be on a file system
    /// that all nodes share.
    #[command(after_help = TABLE_EXAMPLES)]
    Table(Box<SlurmTableArgs>),
    /// Run a study as a job array
    ///
    /// Takes the arguments of `trustvb study`. The study's folder must be on a file system that all nodes
    /// share.
    #[command(after_help = STUDY_EXAMPLES)]
    Study(Box<SlurmStudyArgs>),
}

#[derive(Debug, Args)]
pub(crate) struct SlurmTableArgs {
    #[command(flatten)]
    pub(crate) wanted: WantedTableArgs,
    #[command(flatten)]
    pub(crate) job: JobArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SlurmStudyArgs {
    #[command(flatten)]
    pub(crate) wanted: WantedStudyArgs,
    #[command(flatten)]
    pub(crate) job: JobArgs,
}

/// How the work is cut, and what Slurm is told.
#[derive(Debug, Args)]
#[command(next_help_heading = "Slurm")]
pub(crate) struct JobArgs {
    /// Tasks of the array, each a share of the parts [default: four parts for each CPU of a task, at
    /// most 100 tasks]
    #[arg(long, value_name = "N", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) shards: Option<usize>,
    /// CPUs of each task
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = positive)]
    pub(crate) cpus: usize,
    /// Time limit of each task, as sbatch takes it: 90, 01:30:00 or 1-12 [default: the partition's]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) time: Option<String>,
    /// Memory of each task: 4G, 800M [default: the partition's]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub(crate) memory: Option<String>,
    /// The partition [default: the cluster's]
    #[arg(long, value_name = "NAME", value_parser = one_word)]
    pub(crate) partition: Option<String>,
    /// The account to charge
    #[arg(long, value_name = "NAME", value_parser = one_word)]
    pub(crate) account: Option<String>,
    /// Tasks that may run at once [default: all]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) at_once: Option<usize>,
    /// Any other option of sbatch, such as --sbatch=--qos=long; may be repeated
    #[arg(long, value_name = "OPTION", value_parser = sbatch_option, allow_hyphen_values = true)]
    pub(crate) sbatch: Vec<String>,
    /// A line of shell for the scripts to run first, such as 'module load gcc'; may be repeated
    #[arg(long, value_name = "LINE", value_parser = one_line)]
    pub(crate) setup: Vec<String>,
    /// How the scripts call trustvb, written there as it is: a path, or 'apptainer exec vb.sif trustvb'
    /// [default: this program]
    #[arg(long, value_name = "COMMAND", value_parser = one_line)]
    pub(crate) command: Option<String>,
    /// The folder for scripts and logs [default: that of -o with .slurm at the end]
    #[arg(long, value_name = "DIR")]
    pub(crate) scripts: Option<PathBuf>,
    /// Submit the jobs, and print their numbers
    #[arg(long)]
    pub(crate) submit: bool,
}

/// Minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, with seconds.
fn time(text: &str) -> Result<String, String> {
    let numbers = |text: &str, most: usize| {
        let parts: Vec<&str> = text.split(':').collect();
        parts.len() <= most
            && parts.iter().all(|p| !p.is_empty() && p.chars().all(|c| c.is_ascii_digit()))
    };
    let fine = match text.split_once('-') {
        Some((days, rest)) => numbers(days, 1) && numbers(rest, 3),
        None => numbers(text, 3),
    };
    let some = text.chars().any(|c| ('1'..='9').contains(&c));
    match fine && some {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "`{text}` is not a time limit; write minutes (90), hours:minutes:seconds (01:30:00) or \
             days-hours (1-12)"
        )),
    }
}

/// A number with K, M, G or T; megabytes without.
fn memory(text: &str) -> Result<String, String> {
    let number = text.strip_suffix(['K', 'M', 'G', 'T', 'k', 'm', 'g', 't']).unwrap_or(text);
    match number.parse::<u64>() {
        Ok(n) if n > 0 && !number.starts_with('+') => Ok(text.to_owned()),
        _ => Err(format!("`{text}` is not a size of memory; write 4G, or 800M")),
    }
}

fn one_word(text: &str) -> Result<String, String> {
    let wrong = |c: char| c.is_whitespace() || c.is_control() || "'\"\\#".contains(c);
    match text.is_empty() || text.contains(wrong) {
        true => Err("it must be one word without quotes".to_owned()),
        false => Ok(text.to_owned()),
    }
}

fn one_line(text: &str) -> Result<String, String> {
    match text.trim().is_empty() || text.contains(char::is_control) {
        true => Err("it must be one line".to_owned()),
        false => Ok(text.to_owned()),
    }
}

/// Options that the scripts set themselves.
const OURS: [&str; 5] = ["--array", "--cpus-per-task", "--output", "--dependency", "--parsable"];

fn sbatch_option(text: &str) -> Result<String, String> {
    let text = one_line(text)?;
    if !text.starts_with("--") {
        return Err(format!("`{text}` is not an option of sbatch; write --sbatch=--qos=long"));
    }
    let name = text.split(['=', ' ']).next().unwrap_or(&text);
    match OURS.contains(&name) {
        true => Err(format!("the scripts set {name} themselves")),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_sbatch() {
        for text in ["90", "90:30", "01:30:00", "1-12", "1-12:30", "1-12:30:15", "0-1"] {
            assert_eq!(time(text).as_deref(), Ok(text));
        }
        for text in ["", "0", "00:00", "1h", "1:2:3:4", "1-", "-1", "1-2-3", "1:", "01:30 #"] {
            assert!(time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_those_of_sbatch() {
        for text in ["4G", "800M", "800", "1t"] {
            assert_eq!(memory(text).as_deref(), Ok(text));
        }
        for text in ["", "0", "G", "4GB", "-4G", "+4G", "4 G", "1.5G"] {
            assert!(memory(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nothing_gets_out_of_its_line() {
        assert!(one_word("long\nrm -r").is_err() && one_word("a b").is_err());
        assert!(one_line("a\nb").is_err() && one_line(" ").is_err());
        assert!(sbatch_option("--qos=long").is_ok() && sbatch_option("qos=long").is_err());
        assert!(sbatch_option("--array=1-9").is_err());
    }
}
