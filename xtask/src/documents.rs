//! Runs the shell commands of README and docs, and compares what they print with what the pages show.
//!
//! Every block whose fence says `sh` and nothing else is one bash script that stops at its first error. Each page has
//! a copy of the repository to itself, so what it writes does not stay, with the `trustvb` that cargo's tests have built
//! first on the path. A `text` block directly after it is what it prints on a terminal of 80 columns, to the last digit.
//! A block that says `sh fails` must fail, and what is shown is its complaint.

use crate::command::{self, root, target};
use crate::markdown::{Block, shell_blocks};
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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

/// Columns of the terminal on which pages show what is printed.
const WIDTH: usize = 80;

/// What to do where a page shows other output than is printed.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Stale {
    /// Fail.
    Refuse,
    /// Write what is printed into the page.
    Mend,
}

/// Builds the program and runs every block of every page.
pub(crate) fn run(stale: Stale) -> Result<(), String> {
    let program = command::built()?;
    let folder = program.parent().map(Path::to_path_buf).unwrap_or_default();
    let scratch = target().join("xtask-documents");
    let mut path = vec![folder, scratch.join("installed/bin")];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let path = std::env::join_paths(path).map_err(|why| why.to_string())?;
    let mut wrong = Vec::new();
    for page in pages()? {
        let file = root().join(&page);
        let text = fs::read_to_string(&file).map_err(|why| format!("cannot read {page}: {why}"))?;
        let blocks = shell_blocks(&page, &text)?;
        if blocks.is_empty() && page == "README.md" {
            return Err("README.md has no block of commands marked ```sh".to_owned());
        }
        if blocks.is_empty() {
            continue;
        }
        if scratch.exists() {
            fs::remove_dir_all(&scratch).map_err(|why| format!("{}: {why}", scratch.display()))?;
        }
        copy(&root(), &scratch).map_err(|why| format!("cannot copy the repository: {why}"))?;
        let mut mended = text.clone();
        // From the last to the first, so that the lines of those to come keep their numbers.
        let mut outputs = Vec::new();
        for block in &blocks {
            outputs.push(run_block(&page, block, &scratch, &path)?);
        }
        for (block, printed) in blocks.iter().zip(&outputs).rev() {
            let Some(shown) = &block.output else { continue };
            let Some(difference) = shown.difference(printed) else { continue };
            let at = format!("{page}:{}", shown.first_line);
            if stale == Stale::Refuse || shown.is_partial() {
                wrong.push(format!("{at} shows what is not printed\n  {difference}"));
                continue;
            }
            mended = shown.replaced(&mended, printed);
            println!("{at}: written again");
        }
        if mended != text {
            fs::write(&file, mended).map_err(|why| format!("cannot write {page}: {why}"))?;
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "{}\n`cargo xtask documents --write` mends blocks that leave nothing out",
            wrong.join("\n")
        )),
    }
}

/// The README, and every page of docs in the order of their names.
fn pages() -> Result<Vec<String>, String> {
    let folder = root().join("docs");
    let entries = fs::read_dir(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let mut names: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    names.retain(|name| name.extension().is_some_and(|extension| extension == "md"));
    names.sort();
    let docs =
        names.iter().filter_map(|name| Some(format!("docs/{}", name.file_name()?.to_str()?)));
    Ok(std::iter::once("README.md".to_owned()).chain(docs).collect())
}

/// Runs a block and returns what it printed.
fn run_block(page: &str, block: &Block, scratch: &Path, path: &OsString) -> Result<String, String> {
    let (script, skipped) = script(page, block);
    for (line, command, reason) in skipped {
        println!("{page}:{line}: skipped, {reason}: {command}");
    }
    println!("{page}:{}: running\n{}", block.first_line, block.lines.join("\n"));
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(scratch)
        .env("PATH", path)
        .env("COLUMNS", WIDTH.to_string())
        .env("CARGO_TARGET_DIR", target())
        .env("CARGO_INSTALL_ROOT", scratch.join("installed"))
        .stdin(Stdio::null())
        .stderr(if block.fails { Stdio::piped() } else { Stdio::inherit() })
        .output()
        .map_err(|why| format!("cannot run bash: {why}"))?;
    let _ = std::io::stdout().write_all(&output.stdout);
    if output.status.success() == block.fails {
        return Err(format!("{} from the block at {page}:{}", output.status, block.first_line));
    }
    Ok(match block.fails {
        true => folded(&String::from_utf8_lossy(&output.stderr)),
        false => String::from_utf8_lossy(&output.stdout).into_owned(),
    })
}

/// Lines as a terminal shows long ones, broken between words.
fn folded(text: &str) -> String {
    let mut folded = String::new();
    for line in text.lines() {
        let mut width = 0;
        for word in line.split(' ') {
            let letters = word.chars().count();
            let (space, before) = match width {
                0 => ("", 0),
                _ if width + 1 + letters > WIDTH => ("\n", 0),
                _ => (" ", width + 1),
            };
            folded.push_str(space);
            folded.push_str(word);
            width = before + letters;
        }
        folded.push('\n');
    }
    folded
}

/// One script in which line numbers are those of the page, and the lines left out of it.
fn script<'a>(page: &str, block: &'a Block) -> (String, Vec<(usize, &'a str, &'static str)>) {
    let mut script = "set -euo pipefail".to_owned();
    if !block.fails {
        script
            .push_str(&format!("; trap 'echo \"{page}:$LINENO: failed: $BASH_COMMAND\" >&2' ERR"));
    }
    script.push_str(&"\n".repeat(block.first_line - 1));
    let mut skipped = Vec::new();
    for (i, line) in block.lines.iter().enumerate() {
        match SKIPPED.iter().find(|(start, _)| line.trim_start().starts_with(start)) {
            Some((_, reason)) => skipped.push((block.first_line + i, line.as_str(), *reason)),
            None => script.push_str(&line.replace(FROM_CHECKOUT.0, FROM_CHECKOUT.1)),
        }
        script.push('\n');
    }
    (script, skipped)
}

/// Copies a folder with its times, so that cargo sees files it has already built.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        // Of what a link leads to: the licences of crates are links.
        let (name, kind) = (entry.file_name(), entry.path().metadata()?);
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

    #[test]
    fn scripts_keep_line_numbers_and_leave_out_the_running_command() {
        let text = "# Title\n```sh\ncargo run --release -- fit\ncargo xtask test\n```\n";
        let blocks = shell_blocks("README.md", text).unwrap();
        let (script, skipped) = script("README.md", &blocks[0]);
        assert_eq!(script.lines().nth(2), Some("trustvb fit"));
        assert_eq!(script.lines().nth(3), Some(""));
        assert_eq!(skipped, [(4, "cargo xtask test", "it is the running command")]);
    }

    #[test]
    fn complaints_are_folded_as_a_terminal_does() {
        let long = "word ".repeat(20);
        let lines = ["word"; 16].join(" ") + "\n" + &["word"; 4].join(" ") + "\n";
        assert_eq!(folded(&format!("a  b\n{}\n", long.trim())), format!("a  b\n{lines}"));
    }

    #[test]
    fn every_page_is_looked_at() {
        let pages = pages().unwrap();
        assert_eq!(pages[0], "README.md");
        assert!(pages.contains(&"docs/METHOD.md".to_owned()), "{pages:?}");
    }

    #[test]
    fn the_readme_is_short_and_begins_with_the_two_commands() {
        let text = fs::read_to_string(root().join("README.md")).unwrap();
        let words = text.split_whitespace().count();
        assert!(words <= 1200, "README.md has {words} words");
        let blocks = shell_blocks("README.md", &text).unwrap();
        let commands: Vec<&str> =
            blocks.iter().flat_map(|b| b.lines.iter().map(String::as_str)).collect();
        assert_eq!(commands[..2], ["cargo run --release -- calibrate", "cargo xtask test"]);
        let long = text.lines().find(|line| line.chars().count() > 120 && !line.starts_with('|'));
        assert_eq!(long, None);
    }
}
