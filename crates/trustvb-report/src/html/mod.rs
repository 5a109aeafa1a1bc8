//! A report to hand on: one HTML file that needs nothing else, in the order in which people read.
//!
//! What was asked and the answer in words; the intervals; each quantity with its evidence and its
//! warnings; data, model and settings; how to make it again; how to cite. The page loads nothing, and its
//! security policy allows only its own style and script, by their hashes. All text is escaped.

mod model;
mod policy;
mod quantity;

pub(crate) use policy::source_hash;

use crate::answers::{answers_csv, headline, in_words, omega_text, percent, plural, remarks};
use crate::answers::{deserved, quantity_in_words};
use crate::command::{QuestionCommand, build_command};
use crate::figures::{Grid, style_sheet};
use crate::picture::{Quantity, forest_panels, omega_panel};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use trustvb::calibrate::{Answer, Method};
use trustvb::table::TvbTable;

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// Quantities whose answer is told in a sentence of its own at the top.
const TOLD: usize = 12;

/// What a report is about.
pub struct Report<'a> {
    /// The table.
    pub table: &'a TvbTable,
    /// Its folder, as the user wrote it.
    pub folder: &'a str,
    /// The functionals as typed.
    pub functionals: &'a [String],
    /// The quantities with their answers.
    pub quantities: &'a [Quantity<'a>],
    /// The levels asked for; the first one is drawn.
    pub levels: &'a [f64],
    /// The methods asked for.
    pub methods: &'a [Method],
    /// Draws behind each law that has no exact form.
    pub draws: usize,
}

impl Report<'_> {
    /// The page.
    pub fn render(&self) -> String {
        let style = format!("{STYLE}\n{}", style_sheet());
        let policy = format!(
            "default-src 'none'; style-src {}; script-src {}; img-src data:; base-uri 'none'; \
             form-action 'none'",
            source_hash(&style),
            source_hash(SCRIPT)
        );
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="generator" content={ "trustvb " (env!("CARGO_PKG_VERSION")) };
                    title { (self.title()) }
                    style { (PreEscaped(&style)) }
                }
                body {
                    a.skip href="#intervals" { "Skip to the intervals" }
                    main {
                        (self.answer())
                        (self.intervals())
                        (self.each())
                        (model::section(self))
                        (self.again())
                        (self.cite())
                    }
                    footer {
                        p { "Made by trustvb " (env!("CARGO_PKG_VERSION")) ". This file needs no network." }
                    }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        };
        page.into_string()
    }

    fn level(&self) -> f64 {
        self.levels.first().copied().unwrap_or(0.95)
    }

    fn all(&self) -> impl Iterator<Item = &Answer> {
        self.quantities.iter().flat_map(|quantity| &quantity.answers)
    }

    fn title(&self) -> String {
        let levels: Vec<String> = self.levels.iter().map(|level| percent(*level)).collect();
        format!("Calibrated {} intervals", levels.join(" and "))
    }

    /// What was asked, and the answer in words.
    fn answer(&self) -> Markup {
        let manifest = self.table.manifest();
        let methods: Vec<&str> = self.methods.iter().map(|m| m.name()).collect();
        let level = self.level();
        let told = self.quantities.iter().take(TOLD);
        html! {
            header {
                h1 { (self.title()) }
                p.asked {
                    "Asked of " code { (self.folder) } ", a mixture of "
                    (manifest.model.kind().component.count(manifest.layout.n_components)) " fitted to "
                    (plural(manifest.n_units, "unit", "units")) ": "
                    @if self.quantities.len() <= TOLD {
                        (plural(self.quantities.len(), "quantity", "quantities")) ", "
                        @for (i, quantity) in self.quantities.iter().enumerate() {
                            @if i > 0 { ", " }
                            code { (quantity.part.label()) }
                        }
                    } @else {
                        (self.quantities.len()) " quantities"
                    }
                    "; by " (methods.join(", ")) "."
                }
            }
            section #answer aria-labelledby="answer-title" {
                h2 #answer-title { "The answer" }
                div.lead { @for sentence in in_words(self.all()) { p { (sentence) } } }
                ul.answers {
                    @for quantity in told {
                        @let vb = quantity.at(level).find(|a| a.method == Method::Vb);
                        @if let Some(quoted) = headline(quantity.at(level)) {
                            li {
                                code { (quantity.part.label()) } " " (quantity_in_words(quoted, vb))
                                @if quoted.flags.iter().any(|flag| !flag.is_remark()) {
                                    " " a.warned href={ "#" (quantity::id(self, quantity)) } { "Read the warnings." }
                                }
                            }
                        }
                    }
                }
                @if self.quantities.len() > TOLD {
                    p { "The other " (self.quantities.len() - TOLD) " are in the table below." }
                }
            }
        }
    }

    /// The intervals as a picture and as a table.
    fn intervals(&self) -> Markup {
        let level = self.level();
        let panels = forest_panels(self.table, self.quantities, level);
        let forest = Grid::new("")
            .label(format!("{} intervals of all quantities", percent(level)))
            .flow(&panels, 1)
            .render_inline("forest");
        let omega = omega_panel(self.table, self.quantities, level);
        let csv = answers_csv(self.all());
        let warnings = remarks(self.all());
        html! {
            section #intervals aria-labelledby="intervals-title" {
                h2 #intervals-title { "Intervals" }
                figure.wide.fill {
                    div.scroll tabindex="0" role="region" aria-label="Intervals, drawn" { (PreEscaped(forest)) }
                    figcaption {
                        "Estimates with " (percent(level)) " intervals, numbers at the right. Quantities in the same unit share an axis."
                    }
                }
                div.tools {
                    button type="button" data-copy="intervals-table" hidden { "Copy the table" }
                    a.button download="intervals.csv" href=(policy::data_uri("text/csv", &csv)) { "Download CSV" }
                    span.said role="status" aria-live="polite" {}
                }
                div.scroll tabindex="0" role="region" aria-label="Intervals, as a table" {
                    (self.table(&self.quantities.iter().collect::<Vec<_>>()))
                }
                @if !warnings.is_empty() {
                    h3 { "Warnings" }
                    ul.flags {
                        @for warning in &warnings {
                            @let (name, text) = warning.sentence.split_once(": ").unwrap_or(("", &warning.sentence));
                            li.warning {
                                strong { (name) } ": " (text) ". "
                                span.about { "(" (warning.about.join(", ")) ")" }
                            }
                        }
                    }
                }
                @if omega.quantities.iter().any(|q| !q.chosen.is_empty()) {
                    h3 { "How far each quantity is bent" }
                    figure.wide {
                        div.scroll tabindex="0" role="region" aria-label="Chosen ω, drawn" {
                            (PreEscaped(Grid::new("").label("The ω that each method chose").place(0, 0, &omega).render_inline("omega")))
                        }
                        figcaption {
                            "The power ω to which each method raises the likelihood or, for " code { "tempered" } " and " code { "jackknife" }
                            ", VB's posterior. At ω = 1 VB's own interval is kept; the smaller ω, the longer the interval, and above 1 it is shorter than VB's."
                        }
                    }
                }
            }
        }
    }

    fn table(&self, quantities: &[&Quantity<'_>]) -> Markup {
        let several = self.levels.len() > 1;
        html! {
            table #intervals-table {
                caption.unseen { "Intervals by quantity and method" }
                thead {
                    tr {
                        th scope="col" { "quantity" }
                        th scope="col" { "method" }
                        @if several { th.number scope="col" { "level" } }
                        th.number scope="col" { "estimate" }
                        th.number scope="col" { "lower" }
                        th.number scope="col" { "upper" }
                        th.number scope="col" { "ω" }
                        th scope="col" { "est. coverage" }
                        th scope="col" { "flags" }
                    }
                }
                @for quantity in quantities {
                    tbody {
                        @for (i, a) in quantity.answers.iter().enumerate() {
                            (self.row(quantity, i, a, several))
                        }
                    }
                }
            }
        }
    }

    fn row(&self, quantity: &Quantity<'_>, i: usize, a: &Answer, several: bool) -> Markup {
        let width = a.upper - a.lower;
        html! {
            tr.quoted[headline(quantity.at(a.level)).is_some_and(|q| std::ptr::eq(q, a))] {
                @if i == 0 {
                    th scope="rowgroup" rowspan=(quantity.answers.len()) {
                        a href={ "#" (quantity::id(self, quantity)) } { code { (a.label) } }
                    }
                }
                th scope="row" { (a.method.name()) }
                @if several { td.number { (percent(a.level)) } }
                td.number { (deserved(a.estimate, width)) }
                td.number { (deserved(a.lower, width)) }
                td.number { (deserved(a.upper, width)) }
                td.number { (omega_text(a)) }
                td.steady { (coverage_text(a)) }
                td { @for flag in &a.flags { span.flag { (flag.name()) } " " } }
            }
        }
    }

    /// Each quantity with its evidence.
    fn each(&self) -> Markup {
        html! {
            section #quantities aria-labelledby="quantities-title" {
                h2 #quantities-title { "Each quantity" }
                p.how {
                    "Left: the law of the quantity under VB (ω = 1) and as each method with an ω has it, with the intervals as bars. "
                    "Right: how often intervals at ω cover the checked value over resamples, with ± 2 Monte-Carlo standard errors (analytic computes it without resampling); "
                    "a method chooses the ω at which its curve reaches the level. "
                    code { "balanced" } " and " code { "bootstrap" } " use the estimates of resamples alone and have neither law nor curve; "
                    code { "tempered" } " and " code { "jackknife" } " stretch VB's law about its estimate by 1/√ω and may have an ω above 1."
                }
                @for quantity in self.quantities { (quantity::section(self, quantity)) }
            }
        }
    }

    fn again(&self) -> Markup {
        let ask = QuestionCommand {
            verb: "report",
            table: self.folder,
            functionals: self.functionals.to_vec(),
            levels: self.levels,
            methods: self.methods,
            draws: self.draws,
            more: vec!["-o".to_owned(), "report.html".to_owned()],
        };
        let build = build_command(self.table, self.folder);
        html! {
            section #again aria-labelledby="again-title" {
                h2 #again-title { "Make it again" }
                p { "This report:" }
                (command("again-report", &ask.text()))
                p { "The table it was asked of, with trustvb " (self.table.manifest().library) ":" }
                (command("again-table", &build.text))
                @for (name, content) in &build.files {
                    p { code { (name) } " must hold" @if content.contains('\n') { ":" } @else { " " (content) "." } }
                    @if content.contains('\n') { pre { code { (content) } } }
                }
                p {
                    "Same seed, same numbers: bit for bit for any number of threads, built at once or in shards."
                }
            }
        }
    }

    fn cite(&self) -> Markup {
        let version = &self.table.manifest().library;
        let bibtex = format!(
            "@misc{{liu2025bend,\n  title  = {{Bend to Mend: Toward Trustworthy Variational Bayes with Valid Uncertainty Quantification}},\n  \
             author = {{Liu, Jiaming and Li, Meng}},\n  year   = {{2025}},\n  eprint = {{2512.22655}},\n  archivePrefix = {{arXiv}}\n}}\n\n\
             @software{{trustvb,\n  title   = {{trustvb: calibrated intervals for variational Bayes}},\n  version = {{{version}}}\n}}"
        );
        html! {
            section #cite aria-labelledby="cite-title" {
                h2 #cite-title { "How to cite" }
                p {
                    "The method: Jiaming Liu and Meng Li, " cite { "Bend to Mend: Toward Trustworthy Variational Bayes with Valid Uncertainty Quantification" }
                    ", arXiv 2512.22655. The methods " code { "balanced" } ", " code { "tempered" } ", " code { "jackknife" } ", "
                    code { "anchored" } " and " code { "analytic" }
                    " are this program's own, so cite it beside the paper when you use them: trustvb, version " (version) "."
                }
                (command("bibtex", &bibtex))
            }
        }
    }
}

/// A text to copy.
fn command(id: &str, text: &str) -> Markup {
    html! {
        div.command {
            pre tabindex="0" { code #(id) { (text) } }
            button type="button" data-copy=(id) hidden { "Copy" }
        }
    }
}

/// Estimated coverage with its Monte-Carlo error.
pub(crate) fn coverage_text(a: &Answer) -> String {
    match (a.coverage, a.coverage_se) {
        (Some(c), Some(se)) if se > 0.0 => format!("{c:.3} ± {se:.3}"),
        (Some(c), _) => format!("{c:.3}"),
        (None, _) => "–".to_owned(),
    }
}
