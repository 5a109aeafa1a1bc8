//! The R package with all that it is compiled from: what its tarball holds.
//!
//! In a checkout the package's crate is a member of the workspace and depends on the library by its path. A tarball must
//! build by itself, so the library's sources, the workspace's manifest and its lock file go into the package's `src`,
//! and the paths and members in manifests are changed to what they are there.

use crate::command::{cargo, output, read, root, write};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Of the package, what is made by building in place.
const NOT_STAGED: [&str; 2] = ["target", "Makevars"];

/// Of the library, what it is compiled from.
const SOURCES: [&str; 2] = ["src", "data"];

/// Tables of manifests that only others need: the library's tests, and what is not compiled into the package.
const LEFT_OUT: [&str; 3] = ["[dev-dependencies]", "[[example]]", "[profile.release.package]"];

/// Puts the package together in `folder` and returns where it is.
pub(crate) fn stage(folder: &Path) -> Result<PathBuf, String> {
    let package = folder.join("trustvb");
    if package.exists() {
        fs::remove_dir_all(&package).map_err(|why| format!("{}: {why}", package.display()))?;
    }
    copy(&root().join("r/trustvb"), &package)?;
    let src = package.join("src");
    let library = src.join("crates/trustvb");
    for part in SOURCES {
        copy(&root().join("crates/trustvb").join(part), &library.join(part))?;
    }
    let manifest = read(&root().join("crates/trustvb/Cargo.toml"))?;
    write(&library.join("Cargo.toml"), without_tables(&manifest))?;
    let workspace = read(&root().join("Cargo.toml"))?;
    write(&src.join("Cargo.toml"), without_tables(&with_two_members(&workspace)?))?;
    let own = read(&src.join("rust/Cargo.toml"))?;
    write(&src.join("rust/Cargo.toml"), &replaced(&own, "../../../../crates", "../crates")?)?;
    write(&src.join("Cargo.lock"), &read(&root().join("Cargo.lock"))?)?;
    // This also takes out of the lock file what these two need not.
    let mut metadata = cargo(&["metadata", "--format-version", "1", "--manifest-path"]);
    let metadata = output(metadata.arg(src.join("Cargo.toml")))?;
    let metadata = serde_json::from_str(&metadata).map_err(|why| format!("metadata: {why}"))?;
    let mut tree =
        cargo(&["tree", "--edges", "normal,build", "--target", "all", "--prefix", "none"]);
    tree.args(["--package", "trustvb-r", "--format", "{p}", "--manifest-path"]);
    let tree = output(tree.arg(src.join("Cargo.toml")))?;
    write(&package.join("inst/AUTHORS"), authors(&metadata, &tree))?;
    Ok(package)
}

/// The workspace's manifest for the library and the package's crate alone.
fn with_two_members(manifest: &str) -> Result<String, String> {
    let is = |line: &str, key: &str| line.split('=').next().is_some_and(|k| k.trim() == key);
    if !manifest.lines().any(|line| is(line, "members") && line.ends_with(']')) {
        return Err("Cargo.toml: `members` is not a list on one line".to_owned());
    }
    let line = |line: &str| match line {
        _ if is(line, "default-members") => None,
        _ if is(line, "members") => Some("members = [\"crates/trustvb\", \"rust\"]\n".to_owned()),
        _ => Some(format!("{line}\n")),
    };
    Ok(manifest.lines().filter_map(line).collect())
}

fn without_tables(manifest: &str) -> String {
    let mut kept = String::new();
    let mut keeps = true;
    for line in manifest.lines() {
        if line.starts_with('[') {
            keeps = !LEFT_OUT.contains(&line.trim());
        }
        if keeps {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn replaced(text: &str, from: &str, to: &str) -> Result<String, String> {
    match text.contains(from) {
        true => Ok(text.replace(from, to)),
        false => Err(format!("r/trustvb/src/rust/Cargo.toml does not name {from}")),
    }
}

/// The crates of a tree, on whatever platform, with their licences and authors.
fn authors(metadata: &Value, tree: &str) -> String {
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let mut lines: Vec<String> = Vec::new();
    for package in metadata["packages"].as_array().map_or(&[][..], Vec::as_slice) {
        let (name, version) = (text(&package["name"]), text(&package["version"]));
        let is_in_tree = tree.lines().any(|line| line.starts_with(&format!("{name} v{version}")));
        // The two crates of the package itself are from nowhere else.
        if package["source"].is_null() || !is_in_tree {
            continue;
        }
        let authors: Vec<String> = package["authors"]
            .as_array()
            .map_or(Vec::new(), |list| list.iter().map(text).collect());
        let by = if authors.is_empty() { "its authors".to_owned() } else { authors.join(", ") };
        lines.push(format!("{name} {version} ({}), by {by}", text(&package["license"])));
    }
    lines.sort();
    let head =
        "Crates of Rust that may be compiled into this package, with their licences and authors.";
    // What crates bring along in C has other authors.
    let in_c = match tree.lines().any(|line| line.starts_with("zstd-sys ")) {
        true => {
            "\nzstd-sys compiles zstd (BSD-3-Clause), by Meta Platforms, Inc. and affiliates.\n"
        }
        false => "",
    };
    format!("{head}\n\n{}\n{in_c}", lines.join("\n"))
}

/// Copies a folder without what building leaves in it, with its times, so that cargo sees files that it has already built.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |why: std::io::Error| format!("{}: {why}", from.display());
    fs::create_dir_all(to).map_err(failed)?;
    for entry in fs::read_dir(from).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let Some(name) = path.file_name() else { continue };
        let built =
            ["o", "so"].map(|e| path.extension().is_some_and(|own| own == e)).contains(&true);
        if built || NOT_STAGED.iter().any(|skip| name == *skip) {
            continue;
        }
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else {
            let copied = to.join(name);
            fs::copy(&path, &copied).map_err(failed)?;
            let modified = path.metadata().and_then(|own| own.modified()).map_err(failed)?;
            let file = fs::File::options().write(true).open(&copied).map_err(failed)?;
            file.set_modified(modified).map_err(failed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_of_two() {
        let text = "[workspace]\nmembers = [\"a\", \"b\"]\ndefault-members = [\"a\"]\n[x]\n";
        let two = with_two_members(text).unwrap();
        assert_eq!(two, "[workspace]\nmembers = [\"crates/trustvb\", \"rust\"]\n[x]\n");
        assert!(with_two_members("[workspace]\nmembers = [\n\"a\"]\n").is_err());
    }

    #[test]
    fn tables_of_tests_are_left_out() {
        let text =
            "[package]\na = 1\n[dev-dependencies]\nb = 1\n[lints]\nc = 1\n[[example]]\nd = 1\n";
        assert_eq!(without_tables(text), "[package]\na = 1\n[lints]\nc = 1\n");
    }
}
