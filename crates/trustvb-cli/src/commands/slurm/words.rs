//! The words of a command line again, as they were given: for scripts that run the same later.

use crate::args::Arguments;
use crate::failure::Failure;
use clap::{ArgAction, ArgMatches, Command, CommandFactory, parser::ValueSource};
use std::ffi::OsStr;

/// Words of one command.
#[derive(Debug, PartialEq)]
pub(super) struct Words {
    pub(super) positional: Vec<String>,
    pub(super) options: Vec<String>,
}

impl Words {
    /// All of them, after the names of commands.
    pub(super) fn after(self, names: &[&str]) -> Vec<String> {
        let names = names.iter().map(|name| (*name).to_owned());
        names.chain(self.positional).chain(self.options).collect()
    }
}

/// What clap made of this process's command line, at a command such as `slurm table`.
pub(super) fn typed(names: &[&str]) -> Result<ArgMatches, Failure> {
    parsed(std::env::args_os(), names)
}

fn parsed<T: Into<std::ffi::OsString> + Clone>(
    words: impl IntoIterator<Item = T>,
    names: &[&str],
) -> Result<ArgMatches, Failure> {
    let mut matches = Arguments::command()
        .try_get_matches_from(words)
        .map_err(|e| Failure::Usage(e.to_string()))?;
    for name in names {
        matches = match matches.remove_subcommand() {
            Some((found, inner)) if found == *name => inner,
            _ => return Err(Failure::Usage(format!("this is not `trustvb {}`", names.join(" ")))),
        };
    }
    Ok(matches)
}

/// The words for those arguments of `declared` that the user gave.
pub(super) fn given(declared: &Command, matches: &ArgMatches) -> Result<Words, Failure> {
    let mut words = Words { positional: Vec::new(), options: Vec::new() };
    for argument in declared.get_arguments() {
        let id = argument.get_id().as_str();
        if matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        let option = argument.get_long().map(|long| format!("--{long}"));
        if let (ArgAction::SetTrue, Some(option)) = (argument.get_action(), &option) {
            words.options.push(option.clone());
            continue;
        }
        for occurrence in matches.get_raw_occurrences(id).into_iter().flatten() {
            // A list that was split at its commas.
            let values = occurrence.map(plain).collect::<Result<Vec<_>, _>>()?;
            let value = values.join(",");
            match &option {
                None => words.positional.push(operand(&value)),
                Some(option) if value.starts_with('-') => {
                    words.options.push(format!("{option}={value}"));
                }
                Some(option) => words.options.extend([option.clone(), value]),
            }
        }
    }
    Ok(words)
}

/// A word that a script can hold.
pub(super) fn plain(word: &OsStr) -> Result<String, Failure> {
    match word.to_str() {
        Some(text) if !text.contains(char::is_control) => Ok(text.to_owned()),
        _ => Err(Failure::Usage(format!(
            "{word:?}: a script cannot hold line breaks and other control characters, or what is not \
             UTF-8; rename it"
        ))),
    }
}

/// A file that is not taken for an option.
pub(super) fn operand(word: &str) -> String {
    if word.starts_with('-') { format!("./{word}") } else { word.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{SlurmTableArgs, WantedTableArgs};
    use clap::Args;

    const LINE: [&str; 18] = [
        "trustvb",
        "slurm",
        "table",
        "-o",
        "my table.tvb",
        "--shards",
        "4",
        "--method",
        "vb,tvb",
        "-B60",
        "--without-data",
        "--formula",
        "y ~ 0 + x1 | group",
        "--prior=-odd.toml",
        "--sbatch",
        "--qos=x",
        "--submit",
        "it's.csv",
    ];

    #[test]
    fn words_come_back_as_they_were_given() {
        let matches = parsed(LINE, &["slurm", "table"]).expect("it can be read");
        let table = WantedTableArgs::augment_args(Command::new("table"));
        let words = given(&table, &matches).expect("words");
        assert_eq!(words.positional, ["it's.csv"]);
        let expected = [
            "--output",
            "my table.tvb",
            "--without-data",
            "--method",
            "vb,tvb",
            "--formula",
            "y ~ 0 + x1 | group",
            "--prior=-odd.toml",
            "--bootstraps",
            "60",
        ];
        assert_eq!(words.options, expected);
        // Given once more they are the same.
        let all = given(&SlurmTableArgs::augment_args(Command::new("table")), &matches);
        let all = all.expect("words").after(&["trustvb", "slurm", "table"]);
        assert!(all.contains(&"--sbatch=--qos=x".to_owned()), "{all:?}");
        let again = parsed(&all, &["slurm", "table"]).expect("it can be read again");
        assert_eq!(given(&table, &again).expect("words"), words);
    }

    #[test]
    fn a_line_break_is_refused() {
        let line = ["trustvb", "slurm", "table", "-o", "x.tvb", "a\nb.csv"];
        let matches = parsed(line, &["slurm", "table"]).expect("it can be read");
        let table = WantedTableArgs::augment_args(Command::new("table"));
        assert!(matches!(given(&table, &matches), Err(Failure::Usage(_))));
        assert_eq!(operand("-x"), "./-x");
    }
}
