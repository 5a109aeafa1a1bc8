//! Every command's help has examples, and every example works as it is printed.

mod common;
#[path = "common/server.rs"]
mod server;

use common::Scratch;
use server::Server;

const COMMANDS: [&[&str]; 15] = [
    &["calibrate"],
    &["fit"],
    &["interval"],
    &["report"],
    &["explore"],
    &["table", "build"],
    &["table", "info"],
    &["table", "merge"],
    &["simulate", "gmm"],
    &["simulate", "bmlr"],
    &["simulate", "study"],
    &["study"],
    &["study", "merge"],
    &["slurm", "table"],
    &["slurm", "study"],
];

/// The lines under `Examples:`, without the indent.
fn examples(help: &str) -> Vec<String> {
    help.lines()
        .skip_while(|line| line.trim() != "Examples:")
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .map(|line| line.trim().to_owned())
        .collect()
}

/// Words as a shell makes them from plain text and single quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut begun, mut quoted) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match c {
            '\'' => (quoted, begun) = (!quoted, true),
            ' ' if !quoted => {
                if begun {
                    words.push(std::mem::take(&mut word));
                    begun = false;
                }
            }
            c => {
                word.push(c);
                begun = true;
            }
        }
    }
    assert!(!quoted, "an open quote in `{line}`");
    if begun {
        words.push(word);
    }
    words
}

#[test]
fn every_example_in_the_help_works() {
    for command in COMMANDS {
        let scratch = Scratch::new();
        let mut args = command.to_vec();
        args.push("--help");
        let help = scratch.ok(&args).stdout;
        let lines = examples(&help);
        assert!(!lines.is_empty(), "`trustvb {}` has no examples", args.join(" "));
        for line in lines {
            let words = words(&line);
            assert_eq!(words[0], "trustvb", "{line}");
            if words[1] == "explore" {
                // It would serve for ever.
                let tables: Vec<&str> = words[2..].iter().map(String::as_str).collect();
                let tables: Vec<&str> =
                    tables.into_iter().filter(|word| *word != "--no-browser").collect();
                let server = Server::start(&scratch, &tables);
                assert_eq!(server.request("GET /api/tables", &[], "").0, 200, "{line}");
                continue;
            }
            let run = scratch.run(&words[1..].iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
        }
    }
}

#[test]
fn help_fits_a_terminal_and_names_every_command() {
    let scratch = Scratch::new();
    let help = scratch.ok(&["--help"]).stdout;
    let commands = [
        "calibrate",
        "fit",
        "interval",
        "report",
        "explore",
        "table",
        "simulate",
        "study",
        "slurm",
    ];
    for name in commands {
        assert!(help.contains(&format!("\n  {name} ")), "{name} is not in the help");
    }
    for command in COMMANDS {
        let mut args = command.to_vec();
        args.push("--help");
        let help = scratch.ok(&args).stdout;
        let long = help.lines().find(|line| line.chars().count() > 100);
        assert_eq!(long, None, "`trustvb {}`", args.join(" "));
    }
}

#[test]
fn words_are_split_as_a_shell_does() {
    assert_eq!(words("a 'b c'  d'e'"), ["a", "b c", "de"]);
}
