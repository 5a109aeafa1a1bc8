//! Runs the README's shell commands: every block whose fence says `sh` and nothing else.
//!
//! They run in a copy of the repository, so what they write does not stay, with the `trustvb` that cargo's tests have
//! built first on the path. A block is one bash script that stops at its first error.

use crate::command::{self, root, target};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Lines that make no sense here, by how they begin, and why.
const SKIPPED: [(&str, &str); 3] = [
    ("cargo xtask test", "it is the running command"),
    ("git clone", "this is the clone"),
    ("cd trustvb", "this is the clone"),
];

/// How people run it from a checkout. Here the program is built already, and optimised too.
const FROM_CHECKOUT: (&str, &str) = ("cargo run --release -- ", "trustvb ");

/// Folders that are no part of a clone.
const NOT_COPIED: [&str; 3] = ["target", ".git", ".venv"];

/// Builds the program, copies the repository and runs every block.
pub(crate) fn run() -> Result<(), String> {
    let text = fs::read_to_string(root().join("README.md"))
        .map_err(|why| format!("cannot read README.md: {why}"))?;
    let blocks = shell_blocks(&text)?;
    if blocks.is_empty() {
        return Err("README.md has no block of commands marked ```sh".to_owned());
    }
    let program = command::built()?;
    let scratch = target().join("xtask-readme");
    if scratch.exists() {
        fs::remove_dir_all(&scratch).map_err(|why| format!("{}: {why}", scratch.display()))?;
    }
    copy(&root(), &scratch).map_err(|why| format!("cannot copy the repository: {why}"))?;
    let folder = program.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut path = vec![folder, scratch.join("installed/bin")];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let path = std::env::join_paths(path).map_err(|why| why.to_string())?;
    for block in &blocks {
        let (script, skipped) = block.script();
        for (line, command, reason) in skipped {
            println!("README.md:{line}: skipped, {reason}: {command}");
        }
        println!("README.md:{}: running\n{}", block.first_line, block.lines.join("\n"));
        let status = Command::new("bash")
            .args(["-c", &script])
            .current_dir(&scratch)
            .env("PATH", &path)
            .env("CARGO_TARGET_DIR", target())
            .env("CARGO_INSTALL_ROOT", scratch.join("installed"))
            .status()
            .map_err(|why| format!("cannot run bash: {why}"))?;
        if !status.success() {
            return Err(format!("{status} from the block at README.md:{}", block.first_line));
        }
    }
    Ok(())
}

/// Commands between fences.
#[derive(Debug, PartialEq)]
struct Block {
    /// Where it begins in the file, from 1.
    first_line: usize,
    lines: Vec<String>,
}

impl Block {
    /// One script in which line numbers are those of the README, and the lines left out of it.
    fn script(&self) -> (String, Vec<(usize, &str, &'static str)>) {
        let mut script = String::from(
            "set -euo pipefail; trap 'echo \"README.md:$LINENO: failed: $BASH_COMMAND\" >&2' ERR",
        );
        script.push_str(&"\n".repeat(self.first_line - 1));
        let mut skipped = Vec::new();
        for (i, line) in self.lines.iter().enumerate() {
            match SKIPPED.iter().find(|(start, _)| line.trim_start().starts_with(start)) {
                Some((_, reason)) => skipped.push((self.first_line + i, line.as_str(), *reason)),
                None => script.push_str(&line.replace(FROM_CHECKOUT.0, FROM_CHECKOUT.1)),
            }
            script.push('\n');
        }
        (script, skipped)
    }
}

/// The blocks of a Markdown text whose fence is exactly ` ```sh `.
fn shell_blocks(text: &str) -> Result<Vec<Block>, String> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, bool, Vec<String>)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let fence = line.trim_start().strip_prefix("```");
        match (&mut open, fence) {
            (None, Some(info)) => open = Some((number, info.trim() == "sh", Vec::new())),
            (None, None) => (),
            (Some((_, _, lines)), None) => lines.push(line.to_owned()),
            (Some(_), Some(_)) => {
                if let Some((number, true, lines)) = open.take() {
                    blocks.push(Block { first_line: number + 1, lines });
                }
            }
        }
    }
    match open {
        Some((number, ..)) => Err(format!("README.md:{number}: the fence is never closed")),
        None => Ok(blocks),
    }
}

/// Copies a folder with its times, so that cargo sees files it has already built.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        if NOT_COPIED.iter().any(|skip| name == *skip) {
            continue;
        }
        let (source, copied) = (entry.path(), to.join(&name));
        if kind.is_dir() {
            copy(&source, &copied)?;
        } else if kind.is_file() {
            fs::copy(&source, &copied)?;
            fs::File::options()
                .write(true)
                .open(&copied)?
                .set_modified(entry.metadata()?.modified()?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Title\n```sh\ntrustvb fit\ncargo xtask test\n```\n\n```sh no-run\nrm x\n```\n```rust\nlet x = 1;\n```\n";

    #[test]
    fn only_blocks_marked_sh_are_run() {
        let lines = vec!["trustvb fit".to_owned(), "cargo xtask test".to_owned()];
        assert_eq!(shell_blocks(TEXT).unwrap(), [Block { first_line: 3, lines }]);
        assert!(shell_blocks("```sh\ntrue\n").is_err());
    }

    #[test]
    fn scripts_keep_line_numbers_and_leave_out_the_running_command() {
        let blocks = shell_blocks(TEXT).unwrap();
        let (script, skipped) = blocks[0].script();
        assert_eq!(script.lines().nth(2), Some("trustvb fit"));
        assert_eq!(script.lines().nth(3), Some(""));
        assert_eq!(skipped, [(4, "cargo xtask test", "it is the running command")]);
    }
}
