//! `cargo xtask python`, a step of `cargo xtask test`: the Python package as its users install it.
//!
//! pip builds it into `target/python-venv`, beside what `crates/trustvb-py/tests/requirements.txt` pins. Then come its
//! lints, its types and pytest, which compares it with the `trustvb` command of the same sources.

use crate::command::{built, python, root, run};
use std::path::Path;
use std::process::Command;

/// The package, from the root.
const PACKAGE: &str = "crates/trustvb-py";

/// Tests of it that need a cluster, from the package.
const CLUSTER: &str = "tests/cluster";

/// What its tests need.
const REQUIREMENTS: &str = "crates/trustvb-py/tests/requirements.txt";

/// Gets what the tests need.
pub(crate) fn fetch() -> Result<(), String> {
    python("python-venv", REQUIREMENTS).map(|_| ())
}

/// Installs and tests the package.
pub(crate) fn test() -> Result<(), String> {
    let python = python("python-venv", REQUIREMENTS)?;
    let package = root().join(PACKAGE);
    let command = built()?;
    install(&python, &package)?;
    run(module(&python, &package, "ruff").args(["check", "."]))?;
    run(module(&python, &package, "ruff").args(["format", "--check", "."]))?;
    run(module(&python, &package, "mypy").arg("python/trustvb"))?;
    // The first import of a day writes a file, and of two processes that do so at once one fails.
    run(Command::new(&python).args(["-W", "ignore", "-c", "import arviz"]))?;
    // A file's tests share what they fit, so a file is for one process.
    run(module(&python, &package, "pytest")
        .args(["--quiet", "--ignore", CLUSTER, "--numprocesses=auto", "--dist=loadfile"])
        .env("TRUSTVB_COMMAND", command))
}

/// Runs the tests that need a cluster, with the package of these sources: installed here unless it has just been.
pub(crate) fn test_cluster(installed: bool) -> Result<(), String> {
    let package = root().join(PACKAGE);
    let python = python("python-venv", REQUIREMENTS)?;
    let command = built()?;
    if !installed {
        install(&python, &package)?;
    }
    run(module(&python, &package, "pytest")
        .args(["--quiet", CLUSTER])
        .env("TRUSTVB_COMMAND", command))
}

/// Dependencies are those that are pinned; the same version is installed again and again. The profile is that of cargo's
/// tests, optimised too, so that what they have built is not built again.
fn install(python: &Path, package: &Path) -> Result<(), String> {
    run(module(python, package, "pip")
        .args(["install", "--quiet", "--no-deps", "--force-reinstall"])
        .env("MATURIN_PEP517_ARGS", "--profile dev")
        .arg(package))
}

fn module(python: &Path, folder: &Path, name: &str) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", name]).current_dir(folder);
    command
}
