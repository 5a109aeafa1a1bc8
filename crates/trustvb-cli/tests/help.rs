//! Every command's help has examples, and every example works as it is printed.

mod common;
#[path = "common/server.rs"]
mod server;

use common::Scratch;
use server::Server;

const COMMANDS: [&[&str]; 18] = [
    &["calibrate"],
    &["fit"],
    &["select"],
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
    &["completions"],
    &["manual"],
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
        "select",
        "interval",
        "report",
        "explore",
        "table",
        "simulate",
        "study",
        "slurm",
        "completions",
        "manual",
        "terms",
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
fn options_are_in_groups() {
    let help = Scratch::new().ok(&["calibrate", "--help"]).stdout;
    let groups =
        ["Common options:", "Model and fits:", "Resampling:", "Output:", "The paper's method:"];
    let lines: Vec<&str> = help.lines().collect();
    let line_of = |text: &str| {
        let is = |line: &&str| {
            let line = line.trim_start();
            line == text || line.split(' ').any(|word| word == text) && line.starts_with('-')
        };
        lines.iter().position(is).unwrap_or_else(|| panic!("{text} is not in the help"))
    };
    let places = groups.map(line_of);
    assert!(places.is_sorted(), "{places:?}");
    for (option, group) in [
        ("--components", 0),
        ("--all-methods", 0),
        ("--prior", 1),
        ("--bootstraps", 2),
        ("--plot", 3),
        ("--published", 4),
    ] {
        let at = line_of(option);
        assert_eq!(places.iter().rposition(|place| *place < at), Some(group), "{option}");
    }
    for word in ["standardised", "loose"] {
        assert!(help.contains(word), "--prior says nothing of {word}");
    }
}

#[test]
fn terms_are_explained_in_five_lines_each() {
    let scratch = Scratch::new();
    let text = scratch.ok(&["help", "terms"]).stdout;
    assert_eq!(text, scratch.ok(&["terms"]).stdout);
    assert_eq!(text.lines().find(|line| line.chars().count() > 80), None);
    for term in ["ω", "coverage", "resample", "prior"] {
        let mut lines = text.lines().skip_while(|line| !line.starts_with(term)).skip(1);
        let said = lines.by_ref().take_while(|line| line.starts_with("  ")).count();
        assert!((1..=5).contains(&said), "{term}: {said} lines");
    }
    // The help of commands is still there.
    let calibrate = scratch.ok(&["help", "calibrate"]).stdout;
    assert_eq!(calibrate, scratch.ok(&["calibrate", "--help"]).stdout);
    assert!(scratch.ok(&["help", "table", "build"]).stdout.contains("Usage: trustvb table build"));
}

#[test]
fn completions_know_the_commands() {
    let script = Scratch::new().ok(&["completions", "bash"]).stdout;
    assert!(script.contains("calibrate") && script.contains("--all-methods"));
    // What bash itself makes of the script.
    let mut bash =
        std::process::Command::new("bash").arg("-n").stdin(std::process::Stdio::piped()).spawn();
    if let Ok(child) = &mut bash {
        let mut input = child.stdin.take().expect("a pipe");
        std::io::Write::write_all(&mut input, script.as_bytes()).expect("bash reads");
        drop(input);
        assert!(child.wait().expect("bash ends").success());
    }
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let scratch = Scratch::new();
    scratch.ok(&["manual", "-o", "share/man1"]);
    let page = |name: &str| scratch.read(&format!("share/man1/{name}"));
    assert!(page("trustvb.1").contains("trustvb\\-calibrate"));
    for command in COMMANDS {
        let page = page(&format!("trustvb-{}.1", command.join("-")));
        assert!(page.starts_with(".ie") && page.contains("Examples:"), "{command:?}: {page}");
    }
}

/// The number, and in brackets the commit where one is known.
#[test]
fn the_version_is_the_number_with_the_commit() {
    let said = Scratch::new().ok(&["--version"]).stdout;
    let rest = said.trim_end().strip_prefix(concat!("trustvb ", env!("CARGO_PKG_VERSION")));
    let rest = rest.unwrap_or_else(|| panic!("{said}"));
    let commit = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')'));
    let is_commit = |text: &str| text.len() == 12 && text.chars().all(|c| c.is_ascii_hexdigit());
    assert!(rest.is_empty() || commit.is_some_and(is_commit), "{said}");
}

#[test]
fn words_are_split_as_a_shell_does() {
    assert_eq!(words("a 'b c'  d'e'"), ["a", "b c", "de"]);
}

/// Most defaults in the help are the library's by construction; these stand in prose.
#[test]
fn defaults_in_prose_are_those_of_the_library() {
    use trustvb::defaults::{GRID, LEVEL, PUBLISHED_GRID, TABLE_TOLERANCE, TOLERANCE};
    let help = Scratch::new().ok(&["calibrate", "--help"]).stdout;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [
        format!("[default: {LEVEL}]"),
        format!("[default: {TOLERANCE:e}; tables {TABLE_TOLERANCE:e}]"),
        format!("[default: {GRID}; {PUBLISHED_GRID} for Old Faithful with --published]"),
    ] {
        assert!(help.contains(&text), "{text}");
    }
}
