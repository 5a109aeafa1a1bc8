//! `cargo xtask fixtures`: the committed fixtures that come from Python.

use crate::command::{self, python, root};
use std::process::Command;

/// Scripts that write fixtures, from the root of the repository.
const SCRIPTS: [&str; 5] = [
    "scripts/reference/sklearn_fixpoints.py",
    "scripts/reference/covariance_fixpoints.py",
    "scripts/reference/pooled_fixpoints.py",
    "scripts/reference/real_data.py",
    "scripts/reference/mixture_fixpoints.py",
];

/// Runs every script in the environment of `benches/requirements.txt`.
pub(crate) fn run() -> Result<(), String> {
    let python = python("bench-venv", "benches/requirements.txt")?;
    for script in SCRIPTS {
        println!("fixtures: {script}");
        command::run(Command::new(&python).arg(script).current_dir(root()))?;
    }
    Ok(())
}
