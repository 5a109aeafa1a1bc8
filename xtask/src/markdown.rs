//! Blocks of a Markdown page: commands, and the output that the page shows for them.

/// Commands between fences, and what the page says they print.
#[derive(Debug, PartialEq)]
pub(crate) struct Block {
    /// Where it begins in the file, from 1.
    pub(crate) first_line: usize,
    pub(crate) lines: Vec<String>,
    /// Whether it must fail, and the page shows its complaint.
    pub(crate) fails: bool,
    /// The `text` block that follows with nothing but empty lines between.
    pub(crate) output: Option<Output>,
}

/// A block of output.
#[derive(Debug, PartialEq)]
pub(crate) struct Output {
    /// Where it begins in the file, from 1.
    pub(crate) first_line: usize,
    pub(crate) lines: Vec<String>,
}

/// A line that stands for any number of lines.
const LEFT_OUT: &str = "…";

/// What a fence says after its language where commands must fail.
const FAILS: &str = " fails";

/// The blocks of a page whose fence is exactly ` ```sh ` or ` ```sh fails `.
pub(crate) fn shell_blocks(page: &str, text: &str) -> Result<Vec<Block>, String> {
    blocks(page, text, "sh")
}

/// The blocks of a page whose fence has this word and no other, but for `fails`.
pub(crate) fn blocks(page: &str, text: &str, language: &str) -> Result<Vec<Block>, String> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Option<(usize, String, Vec<String>)> = None;
    // Whether nothing but empty lines has come since the last block of commands.
    let mut directly = false;
    for (number, line) in (1..).zip(text.lines()) {
        let fence = line.trim_start().strip_prefix("```");
        match (&mut open, fence) {
            (None, Some(info)) => open = Some((number, info.trim().to_owned(), Vec::new())),
            (None, None) => directly &= line.trim().is_empty(),
            (Some((_, _, lines)), None) => lines.push(line.to_owned()),
            (Some(_), Some(_)) => {
                let Some((number, info, lines)) = open.take() else { continue };
                let first_line = number + 1;
                let plain = info.strip_suffix(FAILS).unwrap_or(&info);
                let own = plain == language;
                match info.as_str() {
                    _ if own => {
                        let fails = plain != info;
                        blocks.push(Block { first_line, lines, fails, output: None });
                    }
                    "text" if directly => {
                        if let Some(block) = blocks.last_mut() {
                            block.output = Some(Output { first_line, lines });
                        }
                    }
                    _ => {}
                }
                directly = own;
            }
        }
    }
    match open {
        Some((number, ..)) => Err(format!("{page}:{number}: the fence is never closed")),
        None => Ok(blocks),
    }
}

impl Output {
    /// The first line that was not printed, with what was printed in its place.
    pub(crate) fn difference(&self, printed: &str) -> Option<String> {
        let printed: Vec<&str> = printed.trim_end().lines().map(str::trim_end).collect();
        let shown: Vec<&str> = self.lines.iter().map(|line| line.trim_end()).collect();
        let failed = first_mismatch(&shown, &printed)?;
        let shown = shown.get(failed.0).unwrap_or(&"the end of the block");
        let printed = printed.get(failed.1).unwrap_or(&"the end of the output");
        Some(format!("shown:   {shown}\n  printed: {printed}"))
    }

    /// The page with this block replaced by what was printed, which must hold nothing left out.
    pub(crate) fn replaced(&self, page: &str, printed: &str) -> String {
        let mut lines: Vec<&str> = page.lines().collect();
        let first = self.first_line - 1;
        lines
            .splice(first..first + self.lines.len(), printed.trim_end().lines().map(str::trim_end));
        lines.join("\n") + "\n"
    }

    /// Whether lines are left out of it.
    pub(crate) fn is_partial(&self) -> bool {
        self.lines.iter().any(|line| line.trim() == LEFT_OUT)
    }
}

/// Where lines shown and printed part, if they do.
fn first_mismatch(shown: &[&str], printed: &[&str]) -> Option<(usize, usize)> {
    let (mut at, mut skipped) = (0, false);
    for (i, line) in shown.iter().enumerate() {
        if line.trim() == LEFT_OUT {
            skipped = true;
            continue;
        }
        let here = match skipped {
            true => printed[at..].iter().position(|p| p == line).map(|ahead| at + ahead),
            false => (printed.get(at) == Some(line)).then_some(at),
        };
        match here {
            Some(found) => (at, skipped) = (found + 1, false),
            None => return Some((i, at)),
        }
    }
    (at < printed.len() && !skipped).then_some((shown.len(), at))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Title\n```sh\ntrustvb fit\ncargo xtask test\n```\n\n```text\na\nb\n```\n\n```sh no-run\nrm x\n```\n\
                        ```text\nnot compared\n```\n```rust\nlet x = 1;\n```\n";

    fn output(lines: &[&str]) -> Output {
        Output { first_line: 1, lines: lines.iter().map(|line| (*line).to_owned()).collect() }
    }

    #[test]
    fn only_blocks_marked_sh_are_run() {
        let blocks = shell_blocks("README.md", TEXT).unwrap();
        assert_eq!(blocks.len(), 1);
        assert_eq!((blocks[0].first_line, blocks[0].lines.len()), (3, 2));
        let shown = blocks[0].output.as_ref().unwrap();
        assert_eq!((shown.first_line, shown.lines.join(" ")), (8, "a b".to_owned()));
        assert!(shell_blocks("README.md", "```sh\ntrue\n").is_err());
        let failing = shell_blocks("x.md", "```sh fails\nfalse\n```\n```text\nno\n```\n").unwrap();
        assert!(failing[0].fails && failing[0].output.is_some() && !blocks[0].fails);
        // Words between commands and output: it is not theirs alone.
        let apart = shell_blocks("x.md", "```sh\ntrue\n```\nAnd:\n```text\na\n```\n").unwrap();
        assert_eq!(apart[0].output, None);
    }

    #[test]
    fn output_is_compared_line_by_line() {
        assert_eq!(output(&["a", "b"]).difference("a\nb\n"), None);
        assert!(output(&["a", "b"]).difference("a\nc\n").unwrap().contains("printed: c"));
        assert!(output(&["a"]).difference("a\nb\n").is_some());
        assert!(output(&["a", "b"]).difference("a\n").is_some());
        assert_eq!(output(&["a", "…", "d"]).difference("a\nb\nc\nd\n"), None);
        assert_eq!(output(&["a", "…"]).difference("a\nb\n"), None);
        assert!(output(&["a", "…", "e"]).difference("a\nb\n").is_some());
    }

    #[test]
    fn output_can_be_written_again() {
        let blocks = shell_blocks("README.md", TEXT).unwrap();
        let shown = blocks[0].output.as_ref().unwrap();
        let page = shown.replaced(TEXT, "x\ny\nz\n");
        assert!(page.contains("```text\nx\ny\nz\n```\n\n```sh no-run"), "{page}");
        assert!(output(&["…"]).is_partial() && !shown.is_partial());
    }
}
