//! `cargo xtask api`: what programs can name of the two libraries, compared with the lists in `docs/api`.
//!
//! rustdoc writes the public items as JSON, which is not stable; `RUSTC_BOOTSTRAP` lets the stable one do so, and
//! cargo-public-api, of the version that reads it, makes lines of them. Implementations that follow from others
//! (blanket ones, derived ones, `Send` and the like) are left out.

use crate::command::{cargo, output, read, root, run, target, tool, write};
use crate::documents::Stale;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tool, at the version that reads what the rustdoc of [`RUST`] writes.
const TOOL: &str = "cargo-public-api@0.52.0";

/// The Rust whose lists are committed: others print some types in another way.
const RUST: &str = "1.95";

/// The libraries that are published.
const LIBRARIES: [&str; 2] = ["trustvb", "trustvb-report"];

/// Where the lists are, from the root.
const LISTS: &str = "docs/api";

/// Compares the lists, or writes them again.
pub(crate) fn run_task(stale: Stale) -> Result<(), String> {
    let said = output(Command::new("rustc").arg("--version"))?;
    if !said.starts_with(&format!("rustc {RUST}.")) {
        return Err(format!("lists are made with Rust {RUST}, and this is {}", said.trim()));
    }
    let tool = tool(TOOL, &[])?;
    let mut differences = Vec::new();
    for library in LIBRARIES {
        let now = list(&tool, library)?;
        let file = format!("{LISTS}/{library}.txt");
        if stale == Stale::Mend {
            write(&root().join(&file), &now)?;
        }
        let before = read(&root().join(&file)).unwrap_or_default();
        let (gone, new) = difference(&before, &now);
        println!("xtask: {library} has {} public items", now.lines().count());
        gone.iter().for_each(|line| println!("-{line}"));
        new.iter().for_each(|line| println!("+{line}"));
        if !gone.is_empty() || !new.is_empty() {
            differences.push(format!("{file}: {} gone, {} new", gone.len(), new.len()));
        }
    }
    match differences.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "what is public is not what the lists say ({}); CONTRIBUTING.md says what that means, and \
             `cargo xtask api --write` writes them again",
            differences.join("; ")
        )),
    }
}

/// The public items of a library with all its features, a line each, sorted.
fn list(tool: &Path, library: &str) -> Result<String, String> {
    let mut document = rustdoc(library);
    document.args(["--", "-Zunstable-options", "--output-format=json", "--cap-lints=allow"]);
    run(&mut document)?;
    let json = unstable().join("doc").join(format!("{}.json", library.replace('-', "_")));
    let mut print = Command::new(tool);
    print.args(["public-api", "-sss", "--color=never", "--rustdoc-json"]).arg(json);
    output(print.current_dir(root()))
}

/// Documents the libraries as docs.rs does, which says of items which feature has them; a warning is a failure.
pub(crate) fn document_as_docs_rs() -> Result<(), String> {
    for library in LIBRARIES {
        let mut document = rustdoc(library);
        document.args(["--", "--cfg=docsrs", "--deny=warnings"]);
        run(&mut document)?;
    }
    println!("xtask: {} are documented as on docs.rs", LIBRARIES.join(" and "));
    Ok(())
}

/// A rustdoc of a library with all features that may use what is not stable.
fn rustdoc(library: &str) -> Command {
    let mut document = cargo(&["rustdoc", "--quiet", "--locked", "--lib", "--package", library]);
    document.args(["--all-features", "--target-dir"]).arg(unstable());
    document.env("RUSTC_BOOTSTRAP", "1");
    document
}

/// A folder of its own for such builds: build scripts of others look at the variable, and all would be built again.
fn unstable() -> PathBuf {
    target().join("unstable")
}

/// Lines that only one of two lists has, in their order.
fn difference<'a>(before: &'a str, now: &'a str) -> (Vec<&'a str>, Vec<&'a str>) {
    let only = |a: &'a str, b: &str| {
        let known: BTreeSet<&str> = b.lines().collect();
        a.lines().filter(|line| !known.contains(line)).collect()
    };
    (only(before, now), only(now, before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_what_is_gone_and_what_is_new() {
        let (before, now) = ("pub fn a()\npub fn b(x: u8)\n", "pub fn a()\npub fn b(x: u16)\n");
        assert_eq!(difference(before, now), (vec!["pub fn b(x: u8)"], vec!["pub fn b(x: u16)"]));
        assert_eq!(difference(now, now), (vec![], vec![]));
    }

    /// A list that nobody made cannot be compared with.
    #[test]
    fn every_published_library_has_a_list() {
        for library in LIBRARIES {
            let list = read(&root().join(LISTS).join(format!("{library}.txt"))).unwrap();
            let crate_line = format!("pub mod {}", library.replace('-', "_"));
            assert_eq!(list.lines().next(), Some(crate_line.as_str()));
        }
        assert!(LIBRARIES.iter().all(|library| crate::crates::PUBLISHED.contains(library)));
    }
}
