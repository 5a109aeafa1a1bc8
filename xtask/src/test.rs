//! `cargo xtask test`: everything that must hold before a change is accepted.

use crate::command::{TESTS, cargo, run as run_command, text};
use crate::documents::{self, Stale};
use crate::site::{self, References};
use crate::{browser, cluster, fuzz, python, r};
use std::process::Command;
use std::time::Instant;

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
    let mut steps = 0;
    for (name, mut command) in commands(quick) {
        println!("xtask: {name}: {}", text(&command));
        step(&mut steps, name, || run_command(&mut command))?;
    }
    step(&mut steps, "a short run of the fuzzer", || fuzz::fuzz(&[]))?;
    if !quick {
        step(&mut steps, "the Python package", python::test)?;
        step(&mut steps, "the R package", || r::test(scope == Scope::Cluster))?;
        step(&mut steps, "the documentation site", || site::build(References::None))?;
        step(&mut steps, "report, explorer and site in a browser", browser::test)?;
        step(&mut steps, "the commands of README and docs", || documents::run(Stale::Refuse))?;
    }
    if scope == Scope::Cluster {
        step(&mut steps, "clusters", || cluster::test(true))?;
    }
    println!("xtask test: {steps} steps passed");
    Ok(())
}

fn step(
    steps: &mut usize,
    name: &str,
    work: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    let began = Instant::now();
    work().map_err(|why| format!("step failed: {name}\n  {why}"))?;
    println!("xtask: {name}: passed in {:.1} s", began.elapsed().as_secs_f64());
    *steps += 1;
    Ok(())
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
            "--locked",
        ]);
        documentation.env("RUSTDOCFLAGS", "-D warnings");
        commands.push(("documentation", documentation));
    }
    commands
}
