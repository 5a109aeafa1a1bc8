//! Programs that tests need and Debian or Ubuntu has: installed if they are not there, or a clear complaint.

use crate::command::run as run_command;
use std::process::Command;

/// Installs packages; `what` and `by_hand` are for the complaint.
pub(crate) fn install(what: &str, packages: &[&str], by_hand: &str) -> Result<(), String> {
    if !there("apt-get", "--version") {
        return Err(format!("{what} is missing, and there is no apt-get; {by_hand}"));
    }
    println!("xtask: {what} is missing; installing {}", packages.join(" and "));
    let mut arguments = vec!["install", "-y", "--no-install-recommends"];
    arguments.extend(packages);
    if apt(&arguments).is_ok() {
        return Ok(());
    }
    println!("xtask: that failed; trying again with fresh package lists");
    apt(&["update"])
        .and_then(|()| apt(&arguments))
        .map_err(|why| format!("{what} cannot be installed: {why}; {by_hand}"))
}

/// Runs apt-get, with sudo unless the user may install anyway.
fn apt(arguments: &[&str]) -> Result<(), String> {
    let root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout.starts_with(b"0"));
    let mut command = if root {
        Command::new("apt-get")
    } else {
        let mut sudo = Command::new("sudo");
        sudo.args(["--non-interactive", "apt-get"]);
        sudo
    };
    run_command(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
}

/// Whether a program runs; `version` is its option that does nothing else.
pub(crate) fn there(program: &str, version: &str) -> bool {
    Command::new(program).arg(version).output().is_ok_and(|out| out.status.success())
}
