//! Small pieces of text that several error messages share.

use super::missing::BadCell;

/// Lists longer than this are counted instead of printed.
const LIST_LIMIT: usize = 20;

/// `` `a` ``, `` `a` and `b` ``, `` `a`, `b` and `c` ``; long lists end in a count.
pub(super) fn quoted_list<S: AsRef<str>>(names: &[S]) -> String {
    let shown = if names.len() > LIST_LIMIT { LIST_LIMIT - 1 } else { names.len() };
    let mut parts: Vec<String> =
        names[..shown].iter().map(|name| format!("`{}`", name.as_ref())).collect();
    if shown < names.len() {
        parts.push(format!("{} more", names.len() - shown));
    }
    match parts.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// `column `a` has 2 different values only, 0 and 1`, and for several columns all of them.
pub(super) fn two_values(columns: &[(String, [f64; 2])]) -> String {
    match columns {
        [(name, [a, b])] => format!("column `{name}` has 2 different values only, {a} and {b}"),
        several => {
            let names: Vec<&str> = several.iter().map(|(name, _)| name.as_str()).collect();
            format!("columns {} have 2 different values each", quoted_list(&names))
        }
    }
}

/// `1 row`, `2 rows`.
pub(super) fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// The first bad cells as `line 3, column `x`: `NA``, joined by semicolons.
pub(super) fn cell_list(cells: &[BadCell], unit: &str) -> String {
    let parts: Vec<String> = cells
        .iter()
        .map(|cell| {
            let what = if cell.text.is_empty() {
                "empty".to_owned()
            } else {
                format!("`{}`", shorten(&cell.text))
            };
            format!("{unit} {}, column `{}`: {what}", cell.row, cell.column)
        })
        .collect();
    parts.join("; ")
}

/// Cuts a cell's text so that a message stays on a screen.
pub(super) fn shorten(text: &str) -> String {
    const KEPT: usize = 40;
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match clean.char_indices().nth(KEPT) {
        Some((end, _)) => format!("{}…", &clean[..end]),
        None => clean,
    }
}

/// The text with a caret under the character numbered `at` (from 0), each indented by two blanks.
pub(super) fn caret(text: &str, at: usize) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("  {clean}\n  {}^", " ".repeat(at))
}

/// What to say after "no such column": the nearest name, and the list when it is short.
pub(super) fn suggestion<S: AsRef<str>>(wanted: &str, names: &[S]) -> String {
    let lower = wanted.to_lowercase();
    let nearest = names
        .iter()
        .map(|name| (strsim::jaro_winkler(&lower, &name.as_ref().to_lowercase()), name.as_ref()))
        .filter(|(score, _)| *score > 0.8)
        .fold(None::<(f64, &str)>, |best, next| match best {
            Some(held) if held.0 >= next.0 => Some(held),
            _ => Some(next),
        });
    let listed = if names.len() <= LIST_LIMIT {
        format!("ts columns are {}", quoted_list(names))
    } else {
        format!("t has {} columns", names.len())
    };
    match nearest {
        Some((_, name)) => format!("did you mean `{name}`? I{listed}"),
        None => format!("i{listed}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_joined_and_cut() {
        assert_eq!(quoted_list::<&str>(&[]), "");
        assert_eq!(quoted_list(&["a"]), "`a`");
        assert_eq!(quoted_list(&["a", "b", "c"]), "`a`, `b` and `c`");
        let many: Vec<String> = (0..30).map(|i| format!("x{i}")).collect();
        assert!(quoted_list(&many).ends_with("`x18` and 11 more"));
    }

    #[test]
    fn long_cells_are_shortened_at_a_character() {
        assert_eq!(shorten("ab\ncd"), "ab cd");
        assert_eq!(shorten(&"é".repeat(50)), format!("{}…", "é".repeat(40)));
    }
}
