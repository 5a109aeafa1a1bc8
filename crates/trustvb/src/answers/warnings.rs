//! Warnings of many answers, each said once: which quantities it is about, and between which numbers it lies.

use crate::calibrate::{Answer, Method};
use std::ops::Range;

/// A warning, with all answers that carry it.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// The flag's name.
    pub name: &'static str,
    /// What it means; a number that differs between answers is a range.
    pub sentence: String,
    /// Whose answers carry it.
    pub methods: Vec<Method>,
    /// The quantities, by their place among those asked.
    pub quantities: Vec<usize>,
    /// At which levels.
    pub levels: Vec<f64>,
}

/// The warnings on the answers to each quantity.
///
/// Where the answer of `absorbing` carries a warning, the same one on other methods' answers to that quantity adds
/// nothing, and is left out.
pub fn warnings(quantities: &[&[Answer]], absorbing: Option<Method>) -> Vec<Warning> {
    let mut found: Vec<(Warning, Vec<String>)> = Vec::new();
    for (i, answers) in quantities.iter().enumerate() {
        for a in answers.iter() {
            for flag in a.flags.iter().filter(|flag| !flag.is_remark()) {
                let is_said = absorbing.is_some_and(|method| {
                    a.method != method
                        && answers.iter().any(|b| {
                            b.method == method && b.flags.iter().any(|f| f.name() == flag.name())
                        })
                });
                if is_said {
                    continue;
                }
                let text = flag.sentence();
                let same = |w: &Warning, texts: &[String]| {
                    w.name == flag.name()
                        && w.methods == [a.method]
                        && texts.iter().all(|known| frame(known) == frame(&text))
                };
                let at = found.iter().position(|(w, texts)| same(w, texts)).unwrap_or_else(|| {
                    let (name, methods) = (flag.name(), vec![a.method]);
                    let sentence = String::new();
                    let new =
                        Warning { name, sentence, methods, quantities: vec![], levels: vec![] };
                    found.push((new, Vec::new()));
                    found.len() - 1
                });
                let (warning, texts) = &mut found[at];
                add(&mut warning.quantities, i);
                add(&mut warning.levels, a.level);
                add(texts, text);
            }
        }
    }
    joined(found)
}

/// The warnings with their sentences, those of several methods on the same quantities as one.
fn joined(found: Vec<(Warning, Vec<String>)>) -> Vec<Warning> {
    let mut all: Vec<(Warning, Vec<String>)> = Vec::new();
    for (warning, texts) in found {
        let twin = all.iter_mut().find(|(w, known)| {
            (w.name, &w.quantities, &w.levels)
                == (warning.name, &warning.quantities, &warning.levels)
                && frame(&known[0]) == frame(&texts[0])
        });
        match twin {
            Some((w, known)) => {
                w.methods.extend(warning.methods);
                known.extend(texts);
            }
            None => all.push((warning, texts)),
        }
    }
    all.into_iter().map(|(warning, texts)| Warning { sentence: one(&texts), ..warning }).collect()
}

/// One sentence for texts of one frame.
fn one(texts: &[String]) -> String {
    with_ranges(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// Sentences that differ in numbers only as one, each with the places of those that it stands for.
///
/// A number that differs becomes a range. Components are listed, because what lies between two of them is a third.
pub fn merged(sentences: &[String]) -> Vec<(String, Vec<usize>)> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (i, text) in sentences.iter().enumerate() {
        match groups.iter_mut().find(|group| frame(&sentences[group[0]]) == frame(text)) {
            Some(group) => group.push(i),
            None => groups.push(vec![i]),
        }
    }
    let one = |group: Vec<usize>| {
        let texts: Vec<&str> = group.iter().map(|&i| sentences[i].as_str()).collect();
        (with_ranges(&texts), group)
    };
    groups.into_iter().map(one).collect()
}

/// Where the numbers of a sentence are; `1, 2` after `component` is one, a list of names.
fn numbers(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let is_negative = bytes[at] == b'-' && at > 0 && bytes[at - 1] == b' ' && digit(at + 1);
        if !digit(at) && !is_negative {
            at += 1;
            continue;
        }
        let begin = at;
        at += usize::from(is_negative);
        let names = is_name(text, begin);
        while digit(at)
            || (bytes.get(at) == Some(&b'.') && digit(at + 1))
            || (names && text[at..].starts_with(", ") && digit(at + 2))
            || (names && bytes.get(at) == Some(&b' ') && bytes.get(at - 1) == Some(&b','))
        {
            at += 1;
        }
        found.push(begin..at);
    }
    found
}

/// Whether the number that begins here is a component's.
fn is_name(text: &str, begin: usize) -> bool {
    text[..begin].ends_with("component ") || text[..begin].ends_with("components ")
}

/// A sentence without its numbers.
fn frame(text: &str) -> Vec<&str> {
    let mut from = 0;
    let mut pieces = Vec::new();
    for number in numbers(text) {
        pieces.push(&text[from..number.start]);
        from = number.end;
    }
    pieces.push(&text[from..]);
    pieces
}

/// Sentences that differ in numbers only, as one with ranges.
fn with_ranges(texts: &[&str]) -> String {
    let Some(first) = texts.first() else { return String::new() };
    let columns: Vec<Vec<&str>> =
        texts.iter().map(|text| numbers(text).into_iter().map(|n| &text[n]).collect()).collect();
    let mut sentence = String::new();
    for (i, piece) in frame(first).into_iter().enumerate() {
        sentence.push_str(piece);
        let mut values: Vec<(f64, &str)> = columns
            .iter()
            .filter_map(|row| row.get(i))
            .flat_map(|text| text.split(", "))
            .map(|text| (text.parse().unwrap_or(f64::NAN), text))
            .collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        values.dedup();
        match values.as_slice() {
            [] => {}
            list if is_name(&sentence, sentence.len()) => {
                let names: Vec<&str> = list.iter().map(|(_, name)| *name).collect();
                sentence.push_str(&names.join(", "));
            }
            [(_, lowest), .., (_, highest)] => sentence.push_str(&format!("{lowest}–{highest}")),
            [(_, value)] => sentence.push_str(value),
        }
    }
    sentence
}

/// More runs than this are counted, not named.
const MAX_RUNS: usize = 4;

/// Places in a list as runs of its labels: `pi[1], mu[1,a] to mu[3,b]`.
pub fn runs<'a>(places: &[usize], label: impl Fn(usize) -> &'a str) -> String {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for &place in places {
        match found.last_mut() {
            Some((_, end)) if *end + 1 == place => *end = place,
            _ => found.push((place, place)),
        }
    }
    let shown = if found.len() > MAX_RUNS { MAX_RUNS - 1 } else { found.len() };
    let mut texts: Vec<String> = found[..shown]
        .iter()
        .map(|&(a, b)| match b - a {
            0 => label(a).to_owned(),
            1 => format!("{}, {}", label(a), label(b)),
            _ => format!("{} to {}", label(a), label(b)),
        })
        .collect();
    let more: usize = found[shown..].iter().map(|(a, b)| b - a + 1).sum();
    if more > 0 {
        texts.push(format!("{more} more"));
    }
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_differ_in_numbers_become_one() {
        let all =
            |texts: &[&str]| merged(&texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>());
        let texts =
            ["by 15% of it, use -B 500", "by 9.5% of it, use -B 500", "by 11% of it, use -B 500"];
        assert_eq!(all(&texts), [("by 9.5–15% of it, use -B 500".to_owned(), vec![0, 1, 2])]);
        assert_eq!(all(&texts[..1]), [(texts[0].to_owned(), vec![0])]);
        let signs = ["would answer -0.5: so", "would answer 12: so"];
        assert_eq!(all(&signs), [("would answer -0.5–12: so".to_owned(), vec![0, 1])]);
        assert_eq!(all(&["the same", "the same"]), [("the same".to_owned(), vec![0, 1])]);
        // Components are names.
        assert_eq!(
            all(&["component 3 has 9", "component 1 has 4", "component 3 has 9"])[0].0,
            "component 1, 3 has 4–9"
        );
        assert_eq!(all(&["component 1, 2 is", "component 4 is"])[0].0, "component 1, 2, 4 is");
        assert_eq!(
            all(&["one thing", "another thing", "one thing"]),
            [("one thing".to_owned(), vec![0, 2]), ("another thing".to_owned(), vec![1])]
        );
        assert_eq!(all(&[]), []);
    }

    #[test]
    fn places_are_named_as_runs() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let label = |i: usize| names[i];
        assert_eq!(runs(&[0, 2, 3, 4, 5], label), "a, c to f");
        assert_eq!(runs(&[0, 1, 3], label), "a, b, d");
        assert_eq!(runs(&[0, 2, 4, 6, 8, 9], label), "a, c, e, 3 more");
    }
}
