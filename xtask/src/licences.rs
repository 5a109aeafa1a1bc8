//! Licences of what is compiled in: whether each may be, and their texts for what is handed on.
//!
//! `deny.toml` says which may be, for `cargo deny` and for the check here, which needs nothing but cargo.

use crate::command::{cargo, output, read, root};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A crate from elsewhere.
pub(crate) struct Foreign {
    pub(crate) name: String,
    version: String,
    licence: String,
    folder: PathBuf,
}

/// Checks every crate that any package of the workspace is built from, on whatever platform: returns how many.
pub(crate) fn check() -> Result<usize, String> {
    let allowed = allowed(&read(&root().join("deny.toml"))?)?;
    let crates = foreign(&["--workspace", "--target", "all"])?;
    let wrong: Vec<String> = crates
        .iter()
        .filter(|one| !Expression::new(&one.licence).holds(&allowed))
        .map(|one| format!("{} {}: `{}`", one.name, one.version, one.licence))
        .collect();
    match wrong.is_empty() {
        true => Ok(crates.len()),
        false => Err(format!("deny.toml does not allow the licence of {}", wrong.join(", "))),
    }
}

/// The licences of all that is compiled into a package for a platform, as one text.
pub(crate) fn texts(package: &str, target: &str) -> Result<String, String> {
    let edges = ["--edges", "normal,no-proc-macro"];
    let arguments = ["--package", package, "--target", target];
    Ok(gathered(&foreign(&[&arguments[..], &edges[..]].concat())?))
}

/// The crates from elsewhere in a tree of cargo's.
fn foreign(tree: &[&str]) -> Result<Vec<Foreign>, String> {
    let metadata = cargo(&["metadata", "--format-version", "1", "--locked"]).output();
    let metadata = metadata.map_err(|why| format!("cargo metadata: {why}"))?.stdout;
    let metadata: Value =
        serde_json::from_slice(&metadata).map_err(|why| format!("cargo metadata: {why}"))?;
    let mut lines = cargo(&["tree", "--locked", "--prefix", "none", "--format", "{p}"]);
    let lines = output(lines.args(tree))?;
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let of = |package: &Value| Foreign {
        name: text(&package["name"]),
        version: text(&package["version"]),
        licence: text(&package["license"]),
        folder: Path::new(&text(&package["manifest_path"]))
            .parent()
            .unwrap_or(Path::new(""))
            .into(),
    };
    let mut crates: Vec<Foreign> =
        packages.iter().filter(|package| !package["source"].is_null()).map(of).collect();
    let is_there = |one: &Foreign| {
        let start = format!("{} v{}", one.name, one.version);
        lines.lines().any(|line| {
            line.strip_prefix(&start)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
        })
    };
    crates.retain(is_there);
    crates.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(crates)
}

/// The strings of `allow` under `[licenses]`.
fn allowed(manifest: &str) -> Result<Vec<String>, String> {
    let section = manifest.split_once("[licenses]").map(|(_, rest)| rest);
    let list = section.and_then(|rest| rest.split_once("allow = [")).map(|(_, rest)| rest);
    let list = list.and_then(|rest| rest.split_once(']')).map(|(list, _)| list);
    let list = list.ok_or("deny.toml has no `allow = [` under [licenses]")?;
    Ok(list.split('"').skip(1).step_by(2).map(str::to_owned).collect())
}

/// Words of a licence expression, read from the first to the last.
struct Expression<'a> {
    words: Vec<&'a str>,
    next: usize,
}

impl<'a> Expression<'a> {
    /// `/` is what `OR` was written as before there were expressions.
    fn new(text: &'a str) -> Expression<'a> {
        let mut words = Vec::new();
        for word in text.split_whitespace() {
            let mut rest = word;
            while let Some(at) = rest.find(['(', ')', '/']) {
                words.extend((at > 0).then_some(&rest[..at]));
                words.push(&rest[at..=at]);
                rest = &rest[at + 1..];
            }
            words.extend((!rest.is_empty()).then_some(rest));
        }
        Expression { words, next: 0 }
    }

    /// Whether one can comply with it by these licences alone.
    fn holds(mut self, allowed: &[String]) -> bool {
        let holds = self.either(allowed);
        holds && self.next == self.words.len()
    }

    fn take(&mut self, wanted: &[&str]) -> bool {
        let found = self.words.get(self.next).is_some_and(|word| wanted.contains(word));
        self.next += usize::from(found);
        found
    }

    fn either(&mut self, allowed: &[String]) -> bool {
        let mut holds = self.both(allowed);
        while self.take(&["OR", "/"]) {
            holds |= self.both(allowed);
        }
        holds
    }

    fn both(&mut self, allowed: &[String]) -> bool {
        let mut holds = self.one(allowed);
        while self.take(&["AND"]) {
            holds &= self.one(allowed);
        }
        holds
    }

    fn one(&mut self, allowed: &[String]) -> bool {
        if self.take(&["("]) {
            let holds = self.either(allowed);
            return self.take(&[")"]) && holds;
        }
        let Some(word) = self.words.get(self.next) else { return false };
        let mut name = (*word).to_owned();
        self.next += 1;
        if self.take(&["WITH"]) {
            name = format!("{name} WITH {}", self.words.get(self.next).unwrap_or(&""));
            self.next += 1;
        }
        allowed.contains(&name)
    }
}

/// Each text once, under the names of the crates that come with it.
fn gathered(crates: &[Foreign]) -> String {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut silent = Vec::new();
    for one in crates {
        let title = format!("{} {} ({})", one.name, one.version, one.licence);
        let found = licence_files(&one.folder);
        if found.is_empty() {
            silent.push(title.clone());
        }
        for text in found {
            texts.entry(text).or_default().push(title.clone());
        }
    }
    let mut parts: Vec<(Vec<String>, String)> =
        texts.into_iter().map(|(text, titles)| (titles, text)).collect();
    parts.sort();
    let mut page = "Crates of Rust that are compiled in, with their licences.\n".to_owned();
    if !silent.is_empty() {
        let silent = silent.join("\n");
        page.push_str(&format!("\nThese say their licence and have no text of it:\n{silent}\n"));
    }
    for (titles, text) in parts {
        page.push_str(&format!("\n{}\n{}\n\n{text}\n", "-".repeat(80), titles.join("\n")));
    }
    page
}

/// What a crate says its licence is: the text of MIT's alone where others may be chosen too.
fn licence_files(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| {
            let name = name.to_uppercase();
            ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"]
                .iter()
                .any(|start| name.starts_with(start))
        })
        .collect();
    names.sort();
    if let Some(mit) = names.iter().find(|name| name.to_uppercase().starts_with("LICENSE-MIT")) {
        names = vec![mit.clone()];
    }
    let text = |name: &String| fs::read_to_string(folder.join(name)).ok();
    names.iter().filter_map(text).map(|text| text.trim().replace("\r\n", "\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions() {
        let allowed = ["MIT", "Apache-2.0 WITH LLVM-exception", "ISC"].map(str::to_owned);
        for (text, holds) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("GPL-3.0/MIT", true),
            ("MIT AND ISC", true),
            ("MIT AND GPL-3.0", false),
            ("(MIT OR GPL-3.0) AND ISC", true),
            ("ISC AND (GPL-3.0 OR (BSD-2-Clause))", false),
            ("GPL-3.0 OR MIT AND GPL-2.0", false),
            ("Apache-2.0 WITH LLVM-exception OR Apache-2.0", true),
            ("Apache-2.0", false),
            ("(MIT", false),
            ("MIT ISC", false),
            ("", false),
        ] {
            assert_eq!(Expression::new(text).holds(&allowed), holds, "{text}");
        }
    }

    #[test]
    fn allowed_licences_are_read() {
        let text = "[bans]\nallow = [\"x\"]\n[licenses]\nallow = [\n  \"MIT\",\n  \"ISC\",\n]\n";
        assert_eq!(allowed(text).unwrap(), ["MIT", "ISC"]);
        assert!(allowed("[bans]\n").is_err());
    }

    #[test]
    fn every_licence_is_allowed() {
        assert!(check().unwrap() > 100);
    }
}
