//! `cargo xtask audit`: licences, sources and bans of what is depended on, by `cargo deny`; and where unsafe code is.

use crate::command::{root, run, tool};
use crate::licences;
use std::fs;
use std::path::{Path, PathBuf};

/// The tool, at the version that `deny.toml` is written for.
const DENY: &str = "cargo-deny@0.20.2";

/// Files of the project with unsafe code: vector instructions, and R's question whether to stop.
const UNSAFE: [&str; 2] = ["crates/trustvb/src/simd/x86.rs", "r/trustvb/src/rust/src/work.rs"];

/// Where all crates are, from the root.
const FOLDERS: [&str; 3] = ["crates", "r/trustvb/src/rust", "xtask"];

/// Everything that can be checked without a clone of the advisory database; `advisories` says to fetch it and check.
pub(crate) fn run_task(advisories: bool) -> Result<(), String> {
    println!("xtask: licences of {} crates are allowed", licences::check()?);
    let files = unsafe_files()?;
    println!("xtask: unsafe code is in {}", files.join(", "));
    let deny = tool(DENY, &["--no-default-features"])?;
    let mut check = std::process::Command::new(&deny);
    check.args(["--all-features", "check", "licenses", "bans", "sources"]).current_dir(root());
    run(check.args(advisories.then_some("advisories")))
}

/// Files with unsafe code, which must be those that are known.
fn unsafe_files() -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        for path in rust_files(&root().join(folder)).map_err(|why| format!("{folder}: {why}"))? {
            let text =
                fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
            if text.lines().any(is_unsafe) {
                let own = path.strip_prefix(root()).unwrap_or(&path);
                found.push(own.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    match found == UNSAFE {
        true => Ok(found),
        false => Err(format!("unsafe code is in {found:?}, and known of {UNSAFE:?}")),
    }
}

/// Whether a line has the keyword, with what follows it in code, outside comments.
fn is_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or(line);
    let follows = ["{", "(", "fn ", "impl", "extern ", "trait "];
    code.match_indices("unsafe").any(|(at, word)| {
        let after = code[at + word.len()..].trim_start();
        !code[..at].ends_with('_') && follows.iter().any(|it| after.starts_with(it))
    })
}

fn rust_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("target") {
            found.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|own| own == "rs") {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_code_is_where_it_is_known() {
        assert_eq!(unsafe_files().unwrap(), UNSAFE);
        let code = [
            "    un{} { load(x) }",
            "un{} extern \"C\" {",
            "pub un{} fn f()",
            "#[un{}(no_mangle)]",
        ];
        let none = ["// un{} { }", "#![deny(un{}_code)]", "un{} code is here"];
        // Written so because this file is looked at too.
        let holds = |line: &&str| is_unsafe(&line.replacen("un{}", "unsafe", 1));
        assert!(code.iter().all(holds) && !none.iter().any(holds));
    }

    /// A crate forbids it, unless it has some of it.
    #[test]
    fn other_crates_forbid_it() {
        for (path, first) in [
            ("crates/trustvb/src/lib.rs", "#![deny(unsafe_code)]"),
            ("crates/trustvb-cli/src/main.rs", "#![forbid(unsafe_code)]"),
            ("crates/trustvb-py/src/lib.rs", "#![forbid(unsafe_code)]"),
            ("crates/trustvb-report/src/lib.rs", "#![forbid(unsafe_code)]"),
            ("xtask/src/main.rs", "#![forbid(unsafe_code)]"),
        ] {
            let text = fs::read_to_string(root().join(path)).unwrap();
            assert!(text.lines().any(|line| line == first), "{path} has no {first}");
        }
    }
}
