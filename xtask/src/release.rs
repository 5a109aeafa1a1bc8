//! `cargo xtask release`: everything that would be handed on, made and tried; nothing is published.

use crate::command::{output, root};
use crate::dist::{self, Program};
use crate::documents::Stale;
use crate::steps::Steps;
use crate::{api, audit, crates, wheels};
use std::process::Command;

/// Makes and tries all artefacts; they are then in `target/dist`.
pub(crate) fn run() -> Result<(), String> {
    let changed = output(Command::new("git").args(["status", "--porcelain"]).current_dir(root()))?;
    if !changed.is_empty() {
        println!(
            "xtask: there are changes that are not committed; what is made is of no commit\n{changed}"
        );
    }
    let mut steps = Steps::new("release");
    steps.step("licences, bans, sources, unsafe code", || audit::run_task(false))?;
    steps.step("public API", || api::run_task(Stale::Refuse))?;
    steps.step("crates", crates::run_task)?;
    steps.step("the command", || dist::run_task(Program::Portable).map(|_| ()))?;
    steps.step("wheel and sources for Python", wheels::run_task)?;
    steps.finish();
    println!("{}", crate::command::read(&dist::folder().join("SHA256SUMS"))?);
    Ok(())
}
