//! Tests of what others cite: numbers of `paper/paper.md` are those of the pages it names, and versions are one.
//!
//! A paragraph of the paper that quotes measured numbers ends with `<!-- numbers: PAGE -->`; every number in it must
//! stand on that page, written the same.

use crate::command::root;
use std::collections::BTreeSet;
use std::fs;

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
}

/// Numbers of a text as they are written, with a percent sign or a range; those in code, in TeX and in keys of
/// references are no results.
fn numbers(text: &str) -> BTreeSet<String> {
    let mut kept = String::new();
    for (i, piece) in text.split(['`', '$']).enumerate() {
        kept.push_str(if i % 2 == 0 { piece } else { " " });
    }
    let words = kept.split(|c: char| c.is_whitespace() || "()[];,|".contains(c));
    let plain = words.filter(|word| !word.contains('@') && !word.contains("://"));
    let number = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_digit() && c != '%');
        word.starts_with(|c: char| c.is_ascii_digit()).then(|| word.to_owned())
    };
    plain.filter_map(number).collect()
}

/// Whether a number is a result rather than a way of counting: a percentage or a decimal.
fn is_measured(number: &str) -> bool {
    number.ends_with('%') || number.contains('.')
}

#[test]
fn the_paper_s_numbers_stand_on_the_pages_it_names() {
    let paper = read("paper/paper.md");
    let body = paper.splitn(3, "---").nth(2).expect("the paper has a head");
    let mut checked = 0;
    for paragraph in body.split("\n\n") {
        let Some((text, comment)) = paragraph.split_once("<!-- numbers: ") else {
            let stray: Vec<_> = numbers(paragraph).into_iter().filter(|n| is_measured(n)).collect();
            assert!(stray.is_empty(), "{stray:?} without `<!-- numbers: PAGE -->`: {paragraph}");
            continue;
        };
        let page = comment.trim().trim_end_matches("-->").trim();
        let known = numbers(&read(page));
        for number in numbers(text) {
            assert!(
                known.contains(&number),
                "paper/paper.md quotes {number}, which is not in {page}"
            );
            checked += 1;
        }
    }
    assert!(checked > 10, "{checked}");
}

/// What the Journal of Open Source Software asks for.
#[test]
fn the_paper_has_every_section_and_is_as_long_as_the_journal_wants() {
    let paper = read("paper/paper.md");
    let sections: Vec<&str> = paper.lines().filter_map(|line| line.strip_prefix("# ")).collect();
    let wanted = [
        "Summary",
        "Statement of need",
        "State of the field",
        "Software design",
        "Research impact statement",
        "AI usage disclosure",
        "Acknowledgements",
        "References",
    ];
    assert_eq!(sections, wanted);
    let words = paper.splitn(3, "---").nth(2).map_or(0, |body| body.split_whitespace().count());
    assert!((750..=1750).contains(&words), "the paper has {words} words");
}

#[test]
fn the_paper_s_references_are_there() {
    let (paper, references) = (read("paper/paper.md"), read("paper/paper.bib"));
    let cited: BTreeSet<&str> = paper
        .split('@')
        .skip(1)
        .map(|rest| rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default())
        .collect();
    let listed: BTreeSet<&str> =
        references.split('@').skip(1).filter_map(|rest| rest.split(['{', ',']).nth(1)).collect();
    assert_eq!(cited, listed, "what is cited and what is listed");
}

#[test]
fn the_citation_has_the_version_of_the_program() {
    let line = format!("version: {}", env!("CARGO_PKG_VERSION"));
    assert!(read("CITATION.cff").lines().any(|found| found == line), "CITATION.cff lacks {line:?}");
}

#[test]
fn numbers_are_found_as_they_are_written() {
    let found = numbers(
        "covers 95.0% on average, 57–62% (and `x 7`) of 249 pairs [@liu2025], $\\omega < 1$.",
    );
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["249", "57–62%", "95.0%"]);
}
