//! The answer first: a verdict in words and one row per quantity, VB's own interval against the one to use.

use crate::figures::{render_coverage_bar, render_interval_pair};
use crate::picture::Quantity;
use trustvb::answers::{
    self, Judged, Own, UNCHECKED, deserved, headline, in_plain_words, sentence, usual_methods,
    verdict_on,
};
use trustvb::calibrate::{Answer, Flag, Method};
use trustvb::functional::Part;
use trustvb::resample::Design;
use trustvb::table::TvbTable;

/// The left end of the bars of coverage, unless something covers less.
const LEAST_COVERAGE: f64 = 0.5;

/// The methods that an overview needs of a table: the one to use, and VB's own to compare with.
pub(crate) fn overview_methods(table: &TvbTable) -> Vec<Method> {
    if Method::RECOMMENDED.is_possible(table) {
        vec![Method::RECOMMENDED, Method::Vb]
    } else {
        usual_methods(table)
    }
}

/// All quantities at one level.
pub(crate) struct Overview<'a> {
    pub(crate) level: f64,
    /// How many resamples VB's coverage rests on.
    resamples: usize,
    pub(crate) rows: Vec<Row<'a>>,
}

/// One quantity: the interval to use, and VB's own.
pub(crate) struct Row<'a> {
    pub(crate) part: &'a Part,
    /// Its name in words, if it has one.
    pub(crate) plain: Option<String>,
    pub(crate) quoted: &'a Answer,
    vb: Option<&'a Answer>,
    /// What is known of VB's own.
    judged: Option<Judged>,
}

/// A warning with the quantities it is about.
pub(crate) struct Merged {
    pub(crate) name: &'static str,
    pub(crate) sentence: String,
    /// Labels of quantities, each once.
    pub(crate) about: Vec<String>,
}

impl<'a> Overview<'a> {
    pub(crate) fn new(table: &TvbTable, quantities: &'a [Quantity<'a>], level: f64) -> Self {
        let coordinates = &table.layout().coordinates;
        let called = table.manifest().model.kind().called.one;
        let resamples = table.bootstraps(Design::Full).count();
        let row = |quantity: &'a Quantity<'a>| {
            let quoted = headline(quantity.at(level))?;
            let vb = quantity.at(level).find(|a| a.method == Method::Vb);
            let plain = in_plain_words(quantity.part.label(), called, coordinates);
            let judged = vb.and_then(Judged::known);
            Some(Row { part: quantity.part, plain, quoted, vb, judged })
        };
        Overview { level, resamples, rows: quantities.iter().filter_map(row).collect() }
    }

    /// What VB claims, and how often that holds.
    pub(crate) fn verdict(&self) -> String {
        let known: Vec<_> = self.rows.iter().map(|row| (row.part.label(), row.judged)).collect();
        verdict_on(&known, self.level, self.resamples)
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
        Some(render_coverage_bar(self.level, row.covers()?, row.is_too_short(), self.least()))
    }
}

impl Row<'_> {
    /// VB's estimated coverage.
    pub(crate) fn covers(&self) -> Option<f64> {
        self.judged.map(|judged| judged.coverage)
    }

    /// What that says of VB's own, for a cell of a table.
    pub(crate) fn verdict(&self) -> &'static str {
        self.judged.map_or(UNCHECKED, |judged| judged.own.words())
    }

    fn is_too_short(&self) -> bool {
        self.judged.is_some_and(|judged| judged.own == Own::TooShort)
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

/// What the table is of, in a few words.
pub(crate) fn about(table: &TvbTable) -> String {
    let manifest = table.manifest();
    let what = manifest.model.kind().component.count(manifest.layout.n_components);
    format!("A mixture of {what}, {}.", manifest.units_in_words())
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
    let one = |(name, sentences, about): (&'static str, Vec<String>, Vec<String>)| {
        let said: Vec<String> = answers::merged(&sentences).into_iter().map(|(s, _)| s).collect();
        Merged { name, sentence: sentence(&said.join("; ")), about }
    };
    found.into_iter().map(one).collect()
}
