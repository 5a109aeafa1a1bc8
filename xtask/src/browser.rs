//! Chromium and axe-core for the tests of report and explorer: fetched if they are not there, or a clear complaint.

use crate::apt;
use crate::command::{built, root, run as run_command, target, tests_of};
use std::process::Command;

/// What Debian and Ubuntu call them.
const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];

/// The rules of accessibility that pages are tested against. MPL-2.0: it is fetched and never part of this project.
const AXE: &str = "axe-core@4.14.0";

/// Gets what the tests need.
pub(crate) fn fetch() -> Result<(), String> {
    install()?;
    fetch_axe()
}

/// Runs the tests that need a browser.
pub(crate) fn test() -> Result<(), String> {
    fetch()?;
    run_command(&mut tests_of("browser", &["--skip", "write_pictures"]))?;
    println!("xtask: pictures are in {}", target().join("browser").display());
    Ok(())
}

/// What the README shows first: VB's intervals beside those to use.
const INTERVALS: [&str; 6] = [
    "calibrate",
    "docs/data/overlap.csv",
    "pi[1]",
    "mu[2,x1]",
    "--plot",
    "docs/pictures/intervals.svg",
];

/// What classes are like.
const PROFILE: [&str; 6] = [
    "calibrate",
    "docs/data/titanic.csv",
    "--model",
    "mixture",
    "--profile",
    "docs/pictures/profile.svg",
];

/// `cargo xtask pictures`: the pictures that README and docs show.
pub(crate) fn pictures() -> Result<(), String> {
    install()?;
    let folder = root().join("docs/pictures");
    for picture in [INTERVALS, PROFILE] {
        run_command(Command::new(built()?).args(picture).current_dir(root()))?;
    }
    let mut command = tests_of("browser", &["--exact", "write_pictures"]);
    command.env("TRUSTVB_PICTURES", &folder);
    run_command(&mut command)?;
    println!("xtask: wrote {}", folder.display());
    Ok(())
}

/// Puts `axe.min.js` into `target/axe`, where the tests look for it.
fn fetch_axe() -> Result<(), String> {
    let folder = target().join("axe");
    if folder.join("axe.min.js").exists() {
        return Ok(());
    }
    let by_hand = format!("put axe.min.js of {AXE} into {}", folder.display());
    std::fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let mut pack = Command::new("npm");
    pack.args(["pack", AXE, "--silent"]).current_dir(&folder);
    run_command(&mut pack).map_err(|why| format!("{why}; {by_hand}"))?;
    let mut unpack = Command::new("tar");
    unpack.args(["-xzf", &format!("{}.tgz", AXE.replace('@', "-")), "--strip-components=1"]);
    unpack.args(["package/axe.min.js", "package/LICENSE"]).current_dir(&folder);
    run_command(&mut unpack).map_err(|why| format!("{why}; {by_hand}"))
}

/// Makes sure that `chromium` and `chromedriver` can be run.
fn install() -> Result<(), String> {
    let there = |program| apt::there(program, "--version");
    if there("chromedriver") && ["chromium", "google-chrome", "chrome"].into_iter().any(there) {
        return Ok(());
    }
    let by_hand = "install Chromium (or Chrome) and chromedriver so that both are on the path";
    apt::install("Chromium or its driver", &PACKAGES, by_hand)
}
