//! A report to hand on: one HTML file that needs nothing else, in the order in which people read.
//!
//! The verdict with a row for each quantity, and each warning once; then, folded, the intervals by every method and each
//! quantity with its evidence; data, model and settings; how to make it again; how to cite. The page loads nothing, and its
//! security policy allows only its own style and script, by their hashes. All text is escaped.

mod answer;
mod model;
mod policy;
mod quantity;

pub(crate) use policy::source_hash;

use crate::command::{QuestionCommand, build_command};
use crate::figures::{Grid, style_sheet};
use crate::overview::{Overview, about, merged, shown};
use crate::picture::{Quantity, coverage_panels, forest_panels, omega_panel};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use trustvb::answers::{answers_csv, headline, omega_text, percent, plural};
use trustvb::calibrate::{Answer, Method};
use trustvb::table::TvbTable;

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// Quantities that are named at the top, and unfolded on paper, at most.
const FEW: usize = 12;

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
                    a.skip href="#answer" { "Skip to the answer" }
                    main.few[self.quantities.len() <= FEW] {
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

    /// What the table is of: its folder's own name.
    fn name(&self) -> &str {
        let last = self.folder.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next();
        let name = last.unwrap_or(self.folder);
        name.strip_suffix(".tvb").filter(|name| !name.is_empty()).unwrap_or(name)
    }

    fn title(&self) -> String {
        let levels: Vec<String> = self.levels.iter().map(|level| percent(*level)).collect();
        format!("{}: calibrated {} intervals", self.name(), levels.join(" and "))
    }

    /// The verdict, a row for each quantity, and what warns.
    fn answer(&self) -> Markup {
        let overview = Overview::new(self.table, self.quantities, self.level());
        let csv = answers_csv(self.all());
        html! {
            header {
                h1 { (self.title()) }
                p.asked {
                    (about(self.table)) " Asked of " code { (self.folder) } ": "
                    (plural(self.quantities.len(), "quantity", "quantities"))
                    @if self.quantities.len() <= FEW {
                        ", "
                        @for (i, quantity) in self.quantities.iter().enumerate() {
                            @if i > 0 { ", " }
                            code { (quantity.part.label()) }
                        }
                    }
                    "."
                }
            }
            section #answer aria-labelledby="answer-title" {
                h2 #answer-title { (overview.verdict()) }
                (answer::rows(self, &overview))
                div.tools {
                    button type="button" data-copy="answer-table" hidden { "Copy the table" }
                    a.button download="intervals.csv" href=(policy::data_uri("text/csv", &csv)) { "Download CSV" }
                    span.said role="status" aria-live="polite" {}
                }
                (self.warnings(&overview))
            }
        }
    }

    /// Each warning once: those about the intervals to use, then those about other methods.
    fn warnings(&self, overview: &Overview<'_>) -> Markup {
        let used = overview.warnings();
        let level = self.level();
        let others = merged(self.quantities.iter().flat_map(|quantity| {
            quantity.at(level).flat_map(move |a| {
                let about = format!("{} {}", quantity.part.label(), a.method.name());
                let flags = a.flags.iter().filter(|flag| !flag.is_remark());
                flags.map(move |flag| (about.clone(), flag))
            })
        }));
        let other = others.iter().filter(|w| used.iter().all(|known| known.name != w.name));
        html! {
            @if !used.is_empty() {
                h3 { "Warnings" }
                p { (overview.warned().unwrap_or_default()) }
                ul.flags {
                    @for warning in &used { (answer::warning(warning)) }
                }
            } @else if self.methods.iter().any(|m| *m != Method::Vb) {
                p.fine { "No warning speaks against the intervals to use." }
            }
            @let other: Vec<_> = other.collect();
            @if !other.is_empty() {
                details.fold {
                    summary { "Warnings about other methods: " (other.iter().map(|w| w.name).collect::<Vec<_>>().join(", ")) }
                    ul.flags { @for warning in other { (answer::warning(warning)) } }
                }
            }
        }
    }

    /// The intervals by every method, as a picture and as a table.
    fn intervals(&self) -> Markup {
        let level = self.level();
        let panels = forest_panels(self.table, self.quantities, level);
        let forest = Grid::new("")
            .label(format!("{} intervals of all quantities", percent(level)))
            .flow(&panels, 1)
            .render_inline("forest");
        let omega = omega_panel(self.table, self.quantities, level);
        let methods: Vec<&str> = self.methods.iter().map(|m| m.name()).collect();
        html! {
            section #intervals aria-labelledby="intervals-title" {
                h2 #intervals-title { "Every method" }
                details.fold {
                    summary { "Intervals by " (methods.join(", ")) }
                    figure.wide.fill {
                        div.scroll tabindex="0" role="region" aria-label="Intervals by method, drawn" { (PreEscaped(forest)) }
                        figcaption {
                            "Estimates with " (percent(level)) " intervals; at the right the numbers, and how often such intervals are estimated to cover. "
                            "Quantities in the same unit share an axis."
                        }
                    }
                    div.scroll tabindex="0" role="region" aria-label="Intervals by method, as a table" {
                        (self.table(&self.quantities.iter().collect::<Vec<_>>()))
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
        let at = self.quantities.iter().position(|q| std::ptr::eq(q, quantity)).unwrap_or(0);
        html! {
            tr.quoted[headline(quantity.at(a.level)).is_some_and(|q| std::ptr::eq(q, a))] {
                @if i == 0 {
                    th scope="rowgroup" rowspan=(quantity.answers.len()) {
                        a href={ "#" (self.anchor(at)) } { code { (a.label) } }
                    }
                }
                th scope="row" { (a.method.name()) }
                @if several { td.number { (percent(a.level)) } }
                td.number { (shown(a.estimate, a)) }
                td.number { (shown(a.lower, a)) }
                td.number { (shown(a.upper, a)) }
                td.number { (omega_text(a)) }
                td.steady { (coverage_text(a)) }
                td { @for flag in &a.flags { span.flag { (flag.name()) } " " } }
            }
        }
    }

    /// Each quantity with its evidence, folded.
    fn each(&self) -> Markup {
        let coverage = coverage_panels(self.table, self.quantities, self.level());
        html! {
            section #quantities aria-labelledby="quantities-title" {
                h2 #quantities-title { "Each quantity" }
                details.fold {
                    summary { "How to read the figures" }
                    p.how {
                        "Left: the law of the quantity under VB (ω = 1) and as each method with an ω has it, with the intervals as bars. "
                        "Right: how often intervals at ω cover the checked value over resamples, with ± 2 Monte-Carlo standard errors (analytic computes it without resampling); "
                        "a method chooses the ω at which its curve reaches the level. The ring is VB's own interval, at ω = 1. "
                        code { "tvb" } " looks at half samples, so its curve does not begin there. "
                        code { "balanced" } " and " code { "bootstrap" } " use the estimates of resamples alone and have neither law nor curve; "
                        code { "tempered" } " and " code { "jackknife" } " stretch VB's law about its estimate by 1/√ω and may have an ω above 1."
                    }
                }
                @for ((at, quantity), coverage) in self.quantities.iter().enumerate().zip(coverage) {
                    @if self.twin(at).is_none() { (quantity::section(self, at, quantity, coverage)) }
                }
            }
        }
    }

    /// The quantity that this one repeats: of two components, the second weight is 1 minus the first.
    fn twin(&self, at: usize) -> Option<usize> {
        if self.table.layout().n_components != 2 || self.quantities.get(at)?.part.label() != "pi[2]"
        {
            return None;
        }
        self.quantities.iter().position(|quantity| quantity.part.label() == "pi[1]")
    }

    /// Where a quantity is told more of: its place, because its name may be anything.
    fn anchor(&self, at: usize) -> String {
        format!("q{}", self.twin(at).unwrap_or(at) + 1)
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
