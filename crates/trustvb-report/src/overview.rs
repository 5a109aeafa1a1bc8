//! The answer first: a verdict in words and one row per quantity, VB's own interval against the one to use.

use crate::answers::{Own, deserved, headline, percent, range as range_of, sentence};
use crate::figures::{render_coverage_bar, render_interval_pair};
use crate::picture::Quantity;
use crate::plain::in_plain_words;
use trustvb::calibrate::{Answer, Flag, Method};
use trustvb::functional::Part;
use trustvb::resample::Design;
use trustvb::table::TvbTable;

/// The left end of the bars of coverage, unless something covers less.
const LEAST_COVERAGE: f64 = 0.5;

/// A coverage that is this far below the level is not called fine, however few the resamples are.
const NEAR: f64 = 0.03;

/// The methods that an overview needs of a table: the one to use, and VB's own to compare with.
pub(crate) fn overview_methods(table: &TvbTable) -> Vec<Method> {
    if Method::RECOMMENDED.is_possible(table) {
        vec![Method::RECOMMENDED, Method::Vb]
    } else {
        crate::answers::usual_methods(table)
    }
}

/// All quantities at one level.
pub(crate) struct Overview<'a> {
    pub(crate) level: f64,
    pub(crate) rows: Vec<Row<'a>>,
}

/// One quantity: the interval to use, and VB's own.
pub(crate) struct Row<'a> {
    pub(crate) part: &'a Part,
    /// Its name in words, if it has one.
    pub(crate) plain: Option<String>,
    pub(crate) quoted: &'a Answer,
    vb: Option<&'a Answer>,
    /// How many resamples its coverage rests on.
    resamples: usize,
}

/// A warning with the quantities it is about.
pub(crate) struct Merged {
    pub(crate) name: &'static str,
    pub(crate) sentence: String,
    /// Labels of quantities, each once.
    pub(crate) about: Vec<String>,
}

/// How VB's own interval does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It covers clearly less than it claims.
    TooShort,
    /// It seems to cover less than it claims, but resamples are too few to say so.
    Unclear,
    /// It covers what it claims, as far as resamples can tell.
    Fine,
    /// It covers clearly more than it claims.
    TooLong,
    /// Nothing says how often it covers.
    Unknown,
}

impl Verdict {
    /// For a cell of a table.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Verdict::TooShort => "VB's own is too short",
            Verdict::Unclear => "VB's own is not clearly too short",
            Verdict::Fine => "VB's own is fine",
            Verdict::TooLong => "VB's own is longer than it need be",
            Verdict::Unknown => "not known",
        }
    }
}

impl<'a> Overview<'a> {
    pub(crate) fn new(table: &TvbTable, quantities: &'a [Quantity<'a>], level: f64) -> Self {
        let coordinates = &table.layout().coordinates;
        let resamples = table.bootstraps(Design::Full).count();
        let row = |quantity: &'a Quantity<'a>| {
            let quoted = headline(quantity.at(level))?;
            let vb = quantity.at(level).find(|a| a.method == Method::Vb);
            let plain = in_plain_words(quantity.part.label(), coordinates);
            Some(Row { part: quantity.part, plain, quoted, vb, resamples })
        };
        Overview { level, rows: quantities.iter().filter_map(row).collect() }
    }

    /// What VB claims, how often that holds, and which intervals to use.
    pub(crate) fn verdict(&self) -> String {
        let level = percent(self.level);
        let known: Vec<&Row<'_>> = self.rows.iter().filter(|row| row.covers().is_some()).collect();
        let all = self.rows.len();
        let short: Vec<&Row<'_>> =
            known.iter().copied().filter(|row| row.verdict() == Verdict::TooShort).collect();
        let one = all == 1;
        if self.rows.iter().all(|row| row.quoted.method == Method::Vb) {
            return match (known.is_empty(), short.is_empty()) {
                (true, _) => format!("VB's own {level} intervals, which nothing here calibrates."),
                (false, true) => {
                    format!("VB's own {level} intervals cover about {}.", covered(&known))
                }
                (false, false) => {
                    format!("VB's {level} intervals cover only about {} here.", covered(&short))
                }
            };
        }
        match (known.len(), short.len()) {
            (0, _) => {
                format!("Calibrated {level} intervals. How often VB's own cover is not known.")
            }
            (_, 0) if known.iter().any(|row| row.verdict() == Verdict::Unclear) => format!(
                "{} clearly too short here: {} about {}.",
                if one {
                    format!("VB's own {level} interval is not")
                } else {
                    format!("None of VB's own {level} intervals is")
                },
                if one { "it covers" } else { "they cover" },
                covered(&known)
            ),
            (n, 0) if known.iter().all(|row| row.verdict() == Verdict::TooLong) => format!(
                "VB's own {level} {} longer than {} need be: {} about {}.",
                if n == 1 { "interval is" } else { "intervals are" },
                if n == 1 { "it" } else { "they" },
                if n == 1 { "it covers" } else { "they cover" },
                covered(&known)
            ),
            (_, 0) => format!(
                "VB's own {level} {} fine here: {} about {}.",
                if one { "interval is" } else { "intervals are" },
                if one { "it covers" } else { "they cover" },
                covered(&known)
            ),
            (_, 1) if one => format!(
                "VB's {level} interval covers only about {} here. Use the calibrated one.",
                covered(&short)
            ),
            (_, n) if n == all => format!(
                "VB's {level} intervals cover only about {} here. Use the calibrated ones.",
                covered(&short)
            ),
            (_, n) => format!(
                "VB's {level} {} too short for {n} of {all} quantities: {} only about {}. Use the calibrated ones.",
                if n == 1 { "interval is" } else { "intervals are" },
                if n == 1 { "it covers" } else { "they cover" },
                covered(&short)
            ),
        }
    }

    /// How many of the intervals to use carry a warning.
    pub(crate) fn warned(&self) -> Option<String> {
        let n = self.rows.iter().filter(|row| row.warnings().next().is_some()).count();
        let all = self.rows.len();
        match n {
            0 => None,
            n if n == all && n > 1 => Some(format!("All {n} intervals carry a warning:")),
            1 if all == 1 => Some("The interval carries a warning:".to_owned()),
            1 => Some(format!("1 of {all} intervals carries a warning:")),
            n => Some(format!("{n} of {all} intervals carry a warning:")),
        }
    }

    /// The warnings about the intervals to use, each once.
    pub(crate) fn warnings(&self) -> Vec<Merged> {
        merged(
            self.rows
                .iter()
                .flat_map(|row| row.warnings().map(|flag| (row.part.label().to_owned(), flag))),
        )
    }

    /// The left end of the bars of coverage, the same for all rows.
    fn least(&self) -> f64 {
        let least = self.rows.iter().filter_map(Row::covers).fold(1.0, f64::min);
        if least - 0.05 >= LEAST_COVERAGE { LEAST_COVERAGE } else { 0.0 }
    }

    /// VB's claim and what it covers, drawn; nothing where that is not known.
    pub(crate) fn coverage_bar(&self, row: &Row<'_>) -> Option<String> {
        Some(render_coverage_bar(
            self.level,
            row.covers()?,
            row.verdict() == Verdict::TooShort,
            self.least(),
        ))
    }
}

impl Row<'_> {
    /// VB's estimated coverage.
    pub(crate) fn covers(&self) -> Option<f64> {
        // The interval of something that cannot vary, as the only weight, is a point.
        let vb = self.vb.filter(|vb| vb.upper > vb.lower)?;
        vb.coverage.filter(|coverage| coverage.is_finite())
    }

    pub(crate) fn verdict(&self) -> Verdict {
        let Some((vb, coverage)) = self.vb.zip(self.covers()) else { return Verdict::Unknown };
        match Own::of(vb, self.resamples) {
            None => Verdict::Unknown,
            Some(Own::TooShort) => Verdict::TooShort,
            Some(Own::TooWide) => Verdict::TooLong,
            Some(Own::Fine) if coverage < vb.level - NEAR => Verdict::Unclear,
            Some(Own::Fine) => Verdict::Fine,
        }
    }

    /// How many times as long as VB's own the interval to use is.
    pub(crate) fn longer(&self) -> Option<f64> {
        let length = |a: &Answer| a.upper - a.lower;
        let ratio = length(self.quoted) / length(self.vb?);
        (ratio.is_finite() && self.quoted.method != Method::Vb).then_some(ratio)
    }

    /// A value as it is shown, with the decimals that the interval deserves.
    fn shown(&self, x: f64) -> String {
        shown(x, self.quoted)
    }

    pub(crate) fn estimate(&self) -> String {
        self.shown(self.quoted.estimate)
    }

    /// `0.589 to 0.703`, or that there is none.
    pub(crate) fn interval(&self) -> String {
        limits_text(self.quoted, self.quoted)
    }

    pub(crate) fn vb_interval(&self) -> Option<String> {
        self.vb.map(|vb| limits_text(vb, self.quoted))
    }

    /// What speaks against the interval to use.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = &Flag> {
        self.quoted.flags.iter().filter(|flag| !flag.is_remark())
    }

    /// Both intervals, drawn.
    pub(crate) fn pair(&self) -> String {
        let own = self.vb.map(|vb| (vb.lower, vb.upper));
        let used = (self.quoted.lower, self.quoted.upper);
        let name = match self.vb_interval() {
            Some(own) => format!("VB's own {own}, to use {}", self.interval()),
            None => format!("To use {}", self.interval()),
        };
        render_interval_pair(self.quoted.estimate, own, used, &name)
    }
}

/// A number of an answer as tables and figures show it.
pub(crate) fn shown(x: f64, answer: &Answer) -> String {
    match x {
        f64::INFINITY => "∞".to_owned(),
        f64::NEG_INFINITY => "−∞".to_owned(),
        x => deserved(x, answer.upper - answer.lower).replace('-', "−"),
    }
}

/// Limits with the decimals that `beside` deserves, which stands in the same row.
fn limits_text(answer: &Answer, beside: &Answer) -> String {
    if answer.lower.is_nan() || answer.upper.is_nan() {
        return "no interval".to_owned();
    }
    format!("{} to {}", shown(answer.lower, beside), shown(answer.upper, beside))
}

/// `69–79%`, or `69%`.
fn covered(rows: &[&Row<'_>]) -> String {
    range_of(&rows.iter().filter_map(|row| row.covers()).collect::<Vec<_>>())
}

/// What the table is of, in a few words.
pub(crate) fn about(table: &TvbTable) -> String {
    let manifest = table.manifest();
    let what = manifest.model.kind().component.count(manifest.layout.n_components);
    format!("A mixture of {what}, {}.", manifest.model.unit().count(manifest.n_units))
}

/// Flags by name, each once; where only their numbers differ, with the range of the numbers.
pub(crate) fn merged<'a>(flags: impl IntoIterator<Item = (String, &'a Flag)>) -> Vec<Merged> {
    let mut found: Vec<(&'static str, Vec<String>, Vec<String>)> = Vec::new();
    for (label, flag) in flags {
        let at = found.iter().position(|(name, ..)| *name == flag.name());
        let at = at.unwrap_or_else(|| {
            found.push((flag.name(), Vec::new(), Vec::new()));
            found.len() - 1
        });
        let (_, sentences, about) = &mut found[at];
        sentences.push(flag.sentence());
        if !about.contains(&label) {
            about.push(label);
        }
    }
    found
        .into_iter()
        .map(|(name, sentences, about)| Merged {
            name,
            sentence: sentence(&over_all(&sentences)),
            about,
        })
        .collect()
}

/// One sentence for several that differ in their numbers only; all of them where they differ otherwise.
fn over_all(sentences: &[String]) -> String {
    let split: Vec<Vec<&str>> = sentences.iter().map(|s| s.split(' ').collect()).collect();
    let Some(first) = split.first() else { return String::new() };
    let mut distinct: Vec<&str> = Vec::new();
    for sentence in sentences {
        if !distinct.contains(&sentence.as_str()) {
            distinct.push(sentence);
        }
    }
    let whole = distinct.join("; ");
    if split.iter().any(|words| words.len() != first.len()) {
        return whole;
    }
    let merged: Option<Vec<String>> = (0..first.len())
        .map(|i| {
            let words: Vec<&str> = split.iter().map(|words| words[i]).collect();
            // The number of a component is a name.
            if i > 0 && first[i - 1] == "component" { names(&words) } else { range(&words) }
        })
        .collect();
    merged.map_or(whole, |words| words.join(" "))
}

/// Different names, each once.
fn names(words: &[&str]) -> Option<String> {
    let mut found: Vec<&str> = words.to_vec();
    found.sort_unstable();
    found.dedup();
    Some(found.join(", "))
}

/// Words that are all the same, or numbers with the same ending, as one word.
fn range(words: &[&str]) -> Option<String> {
    let first = words.first()?;
    if words.iter().all(|word| word == first) {
        return Some((*first).to_owned());
    }
    let cut = |word: &&str| {
        let number = word.trim_end_matches(|c: char| !c.is_ascii_digit());
        let value: f64 = number.parse().ok()?;
        Some((value, number.to_owned(), word[number.len()..].to_owned()))
    };
    let mut numbers: Vec<(f64, String, String)> = words.iter().map(cut).collect::<Option<_>>()?;
    numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (low, high) = (numbers.first()?, numbers.last()?);
    numbers.iter().all(|(.., end)| *end == low.2).then(|| format!("{}–{}{}", low.1, high.1, low.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_differ_in_numbers_become_one() {
        let all =
            |texts: &[&str]| over_all(&texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>());
        assert_eq!(all(&["by 12% of it", "by 9.5% of it", "by 30% of it"]), "by 9.5–30% of it");
        assert_eq!(all(&["the same", "the same"]), "the same");
        assert_eq!(
            all(&["component 3 has 9", "component 1 has 4", "component 3 has 9"]),
            "component 1, 3 has 4–9"
        );
        assert_eq!(all(&["one thing", "another thing", "one thing"]), "one thing; another thing");
        assert_eq!(
            all(&["component 1, 2 is", "component 1 is"]),
            "component 1, 2 is; component 1 is"
        );
        assert_eq!(all(&[]), "");
    }
}
