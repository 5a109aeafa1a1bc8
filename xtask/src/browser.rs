//! Chromium for the tests of report and explorer: installed if it is not there, or a clear complaint.

use crate::command::{cargo, root, run as run_command, target};
use std::process::Command;

/// What Debian and Ubuntu call them.
const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];

/// Runs the tests that need a browser.
pub(crate) fn test() -> Result<(), String> {
    install()?;
    let mut command = cargo(&[
        "test",
        "--package",
        "trustvb-cli",
        "--test",
        "browser",
        "--locked",
        "--",
        "--ignored",
        "--test-threads=1",
        "--skip",
        "write_pictures",
    ]);
    run_command(&mut command)?;
    println!("xtask: pictures are in {}", target().join("browser").display());
    Ok(())
}

/// `cargo xtask pictures`: the pictures that the README shows.
pub(crate) fn pictures() -> Result<(), String> {
    install()?;
    let folder = root().join("docs/pictures");
    let mut command = cargo(&[
        "test",
        "--package",
        "trustvb-cli",
        "--test",
        "browser",
        "--locked",
        "--",
        "--ignored",
        "--exact",
        "write_pictures",
    ]);
    command.env("TRUSTVB_PICTURES", &folder);
    run_command(&mut command)?;
    println!("xtask: wrote {}", folder.display());
    Ok(())
}

/// Makes sure that `chromium` and `chromedriver` can be run.
fn install() -> Result<(), String> {
    if there("chromedriver") && ["chromium", "google-chrome", "chrome"].into_iter().any(there) {
        return Ok(());
    }
    let by_hand = "install Chromium (or Chrome) and chromedriver so that both are on the path";
    if !there("apt-get") {
        return Err(format!("the browser tests need Chromium, and there is no apt-get; {by_hand}"));
    }
    println!("xtask: Chromium or its driver is missing; installing {}", PACKAGES.join(" and "));
    if apt(&["install", "-y", "--no-install-recommends", PACKAGES[0], PACKAGES[1]]).is_ok() {
        return Ok(());
    }
    println!("xtask: that failed; trying again with fresh package lists");
    apt(&["update"])
        .and_then(|()| apt(&["install", "-y", "--no-install-recommends", PACKAGES[0], PACKAGES[1]]))
        .map_err(|why| format!("Chromium cannot be installed: {why}; {by_hand}"))
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

fn there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success())
}
