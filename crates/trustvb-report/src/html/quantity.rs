//! One quantity of a report: its densities and coverage curves, and its flags in sentences.

use super::Report;
use crate::answers::{headline, quantity_in_words, sentence, significant};
use crate::figures::{Grid, render_legend};
use crate::picture::{Quantity, coverage_panel, density_panel};
use maud::{Markup, PreEscaped, html};
use trustvb::calibrate::{Answer, Method};

/// The anchor of a quantity: its place, because its name may be anything.
pub(super) fn id(report: &Report<'_>, quantity: &Quantity<'_>) -> String {
    let at = report.quantities.iter().position(|q| std::ptr::eq(q, quantity)).unwrap_or(0);
    format!("q{}", at + 1)
}

pub(super) fn section(report: &Report<'_>, quantity: &Quantity<'_>) -> Markup {
    let (level, id) = (report.level(), id(report, quantity));
    let answers: Vec<&Answer> = quantity.at(level).collect();
    let vb = answers.iter().find(|a| a.method == Method::Vb).copied();
    let methods: Vec<&str> = answers.iter().map(|a| a.method.name()).collect();
    let label = quantity.part.label();
    let mut density = density_panel(report.table, quantity, level, report.draws);
    let mut coverage = coverage_panel(report.table, quantity, level);
    // The heading names it.
    density.functional.clear();
    coverage.functional.clear();
    let draw = |grid: Grid<'_>, name: &str| {
        let label = format!("{name} of {label}");
        PreEscaped(grid.without_legend().label(label).render_inline(&format!("{id}-{name}")))
    };
    html! {
        article #(id) aria-labelledby={ (id) "-title" } {
            h3 id={ (id) "-title" } { code { (label) } }
            @if let Some(quoted) = headline(answers.iter().copied()) {
                p { "It " (quantity_in_words(quoted, vb)) }
            }
            figure.pair {
                (PreEscaped(render_legend(&methods, 420.0)))
                div.panels {
                    (draw(Grid::new("").place(0, 0, &density), "densities"))
                    @if !coverage.curves.is_empty() {
                        (draw(Grid::new("").place(0, 0, &coverage), "coverage"))
                    }
                }
            }
            (flags(&answers))
            p.law { (law(&answers)) }
        }
    }
}

/// Flags as sentences, each once with the methods it is about; warnings first.
fn flags(answers: &[&Answer]) -> Markup {
    let mut found: Vec<(bool, &'static str, String, Vec<&'static str>)> = Vec::new();
    for a in answers {
        for flag in &a.flags {
            let text = flag.sentence();
            match found.iter_mut().find(|(_, _, known, _)| *known == text) {
                Some((.., methods)) => methods.push(a.method.name()),
                None => found.push((flag.is_remark(), flag.name(), text, vec![a.method.name()])),
            }
        }
    }
    found.sort_by_key(|(is_remark, ..)| *is_remark);
    html! {
        @if found.is_empty() {
            p.fine { "No flag: nothing that was checked speaks against these intervals." }
        } @else {
            ul.flags {
                @for (is_remark, name, text, methods) in &found {
                    li.warning[!is_remark].remark[*is_remark] {
                        strong { (methods.join(", ")) } ": " (sentence(text)) " "
                        span.about { "(" (name) ")" }
                    }
                }
            }
        }
    }
}

/// Where the numbers of an interval come from.
fn law(answers: &[&Answer]) -> String {
    let law = match answers.iter().find(|a| a.method.has_posterior()).map(|a| a.law.as_str()) {
        None => "Its law is not used, only its estimates in resamples".to_owned(),
        Some("draws") => "Its law has no exact form and is drawn from".to_owned(),
        Some(law) => format!("Its law is exact: {law}"),
    };
    let share = |a: &&Answer| {
        let (lower, upper) = a.limits_se?;
        Some(lower.max(upper) / (a.upper - a.lower)).filter(|share| share.is_finite())
    };
    match answers.iter().filter_map(share).reduce(f64::max) {
        Some(worst) => format!(
            "{law}; the Monte-Carlo standard error of a limit, from draws or resamples, is at most {}% of the \
             interval's length.",
            significant(100.0 * worst, 2)
        ),
        None => format!("{law}."),
    }
}
