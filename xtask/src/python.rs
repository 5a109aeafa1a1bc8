//! `cargo xtask python`, a step of `cargo xtask test`: the Python package as its users install it.
//!
//! pip builds it into `target/python-venv`, beside what `crates/trustvb-py/tests/requirements.txt` pins. Then come its
//! lints, its types and pytest, which compares it with the `trustvb` command of the same sources.

use crate::command::{cargo, python, root, run, target};
use std::path::Path;
use std::process::Command;

/// The package, from the root.
const PACKAGE: &str = "crates/trustvb-py";

/// Installs and tests the package.
pub(crate) fn test() -> Result<(), String> {
    let python = python("python-venv", "crates/trustvb-py/tests/requirements.txt")?;
    run(&mut cargo(&["build", "--release", "--locked", "--package", "trustvb-cli"]))?;
    let package = root().join(PACKAGE);
    // Dependencies are those that are pinned; the same version is installed again and again.
    run(module(&python, &package, "pip")
        .args(["install", "--quiet", "--no-deps", "--force-reinstall"])
        .arg(&package))?;
    run(module(&python, &package, "ruff").args(["check", "."]))?;
    run(module(&python, &package, "ruff").args(["format", "--check", "."]))?;
    run(module(&python, &package, "mypy").arg("python/trustvb"))?;
    let command = target().join("release").join(format!("trustvb{}", std::env::consts::EXE_SUFFIX));
    run(module(&python, &package, "pytest").arg("--quiet").env("TRUSTVB_COMMAND", command))
}

fn module(python: &Path, folder: &Path, name: &str) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", name]).current_dir(folder);
    command
}
