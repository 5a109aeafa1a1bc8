//! `cargo xtask test`: everything that must hold before a change is accepted.

use crate::command::{TESTS, cargo, run as run_command, text};
use crate::dist::{self, Program};
use crate::documents::{self, Stale};
use crate::site::{self, References};
use crate::steps::Steps;
use crate::{browser, cluster, fuzz, python, r};
use std::process::Command;

/// How much is tested.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Scope {
    Quick,
    Usual,
    Cluster,
}

/// Runs the steps one after the other and stops at the first that fails.
pub(crate) fn run(scope: Scope) -> Result<(), String> {
    let quick = scope == Scope::Quick;
    let mut steps = Steps::new("test");
    // Cargo wants processors and this a network, so they do not wait for each other.
    let fetched = (!quick).then(|| std::thread::spawn(move || fetch(scope)));
    for (name, mut command) in commands(quick) {
        println!("xtask: {name}: {}", text(&command));
        steps.step(name, || run_command(&mut command))?;
    }
    steps.step("a short run of the fuzzer", || fuzz::fuzz(&[]))?;
    if let Some(fetched) = fetched {
        let ended = || fetched.join().unwrap_or_else(|_| Err("its thread panicked".to_owned()));
        steps.step("getting what the other steps need, from the first step on", ended)?;
        steps.step("the archive of the command", || dist::run_task(Program::OfTests))?;
        steps.step("the Python package", python::test)?;
        steps.step("the R package", || r::test(scope == Scope::Cluster))?;
        steps.step("the documentation site", || site::build(References::None))?;
        steps.step("report, explorer and site in a browser", browser::test)?;
        steps.step("the commands of README and docs", || documents::run(Stale::Refuse))?;
    }
    if scope == Scope::Cluster {
        steps.step("clusters", || cluster::test(true))?;
    }
    steps.finish();
    Ok(())
}

/// Gets what the steps after cargo's need.
fn fetch(scope: Scope) -> Result<(), String> {
    if scope == Scope::Cluster {
        r::fetch()?;
        cluster::fetch()?;
    }
    browser::fetch()?;
    python::fetch()
}

/// Cargo's part. Examples are built as tests are, and the README's Rust is a documentation test.
fn commands(quick: bool) -> Vec<(&'static str, Command)> {
    let mut commands = vec![
        ("format", cargo(&["fmt", "--all", "--check"])),
        (
            "lints",
            cargo(&[
                "clippy",
                "--workspace",
                "--all-targets",
                "--all-features",
                "--locked",
                "--",
                "-D",
                "warnings",
            ]),
        ),
        (
            "lints without features",
            cargo(&[
                "clippy",
                "--package",
                "trustvb",
                "--package",
                "trustvb-r",
                "--all-targets",
                "--no-default-features",
                "--locked",
                "--",
                "-D",
                "warnings",
            ]),
        ),
        ("tests", cargo(&TESTS)),
        (
            "documentation tests",
            // The same packages as above, whose dependencies are built already.
            cargo(&[
                "test",
                "--workspace",
                "--exclude",
                "trustvb-py",
                "--exclude",
                "trustvb-r",
                "--doc",
                "--locked",
            ]),
        ),
    ];
    if !quick {
        let mut documentation = cargo(&[
            "doc",
            "--workspace",
            "--lib",
            "--no-deps",
            "--document-private-items",
            // As lints are, whose work on dependencies is then not done again.
            "--all-features",
            "--locked",
        ]);
        documentation.env("RUSTDOCFLAGS", "-D warnings");
        commands.push(("documentation", documentation));
    }
    commands
}
