//! Tells the command which commit it is built from: `trustvb --version`.
//!
//! `TRUSTVB_COMMIT` says it where nothing else can (an empty one says nothing), then cargo's note in a published crate, then
//! git, if this folder is part of the checkout. A plain copy of the sources has no commit, and its version is the number.
//! So is that of a build for tests, which would otherwise be made again after every commit.

use std::path::{Path, PathBuf};
use std::process::Command;

/// As many digits of a commit as are shown.
const DIGITS: usize = 12;

/// Cargo's note in a crate that it has packaged.
const NOTE: &str = ".cargo_vcs_info.json";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=TRUSTVB_COMMIT");
    let folder = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let commit = match std::env::var("TRUSTVB_COMMIT") {
        Ok(given) => Some(given),
        Err(_) if variable("PROFILE") == "debug" => None,
        Err(_) => noted(&folder).or_else(|| checked_out(&folder)),
    };
    let number = variable("CARGO_PKG_VERSION");
    let version = match commit.as_deref().map(str::trim) {
        Some(commit) if !commit.is_empty() => {
            format!("{number} ({})", commit.chars().take(DIGITS).collect::<String>())
        }
        _ => number,
    };
    println!("cargo::rustc-env=TRUSTVB_VERSION={version}");
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// The commit in cargo's note: the only run of hexadecimal digits that is as long.
fn noted(folder: &Path) -> Option<String> {
    let note = std::fs::read_to_string(folder.join(NOTE)).ok()?;
    let mut words = note.split(|c: char| !c.is_ascii_hexdigit());
    words.find(|word| word.len() >= 40).map(str::to_owned)
}

/// The commit that git has checked out here. The file that changes with it is watched, so that nothing is built again
/// otherwise.
fn checked_out(folder: &Path) -> Option<String> {
    // Sources that merely lie in somebody's repository are no part of it.
    git(folder, &["ls-files", "--error-unmatch", "build.rs"])?;
    let commit = git(folder, &["rev-parse", "HEAD"])?;
    for name in ["logs/HEAD", "HEAD"] {
        let path = folder.join(git(folder, &["rev-parse", "--git-path", name])?);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
            break;
        }
    }
    Some(commit)
}

fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(folder).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
