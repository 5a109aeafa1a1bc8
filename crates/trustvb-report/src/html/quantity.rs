//! One quantity of a report: its densities and coverage curves, and which flags it has.

use super::Report;
use crate::figures::{CoveragePanel, Grid};
use crate::overview::shown;
use crate::picture::{Quantity, density_panel};
use maud::{Markup, PreEscaped, html};
use trustvb::answers::{headline, in_plain_words, quantity_in_words, sentence, significant};
use trustvb::calibrate::{Answer, Flag, Method};

/// One quantity, folded: the line that is always seen says what to use.
pub(super) fn section(
    report: &Report<'_>,
    at: usize,
    quantity: &Quantity<'_>,
    mut coverage: CoveragePanel,
) -> Markup {
    let (level, id) = (report.level(), report.anchor(at));
    let answers: Vec<&Answer> = quantity.at(level).collect();
    let vb = answers.iter().find(|a| a.method == Method::Vb).copied();
    let quoted = headline(answers.iter().copied());
    let label = quantity.part.label();
    let plain = in_plain_words(
        label,
        report.table.manifest().model.kind().called.one,
        &report.table.layout().coordinates,
    );
    let mut density = density_panel(report.table, quantity, level, report.draws);
    // The heading names it.
    density.functional.clear();
    coverage.functional.clear();
    let draw = |grid: Grid<'_>, name: &str| {
        let label = format!("{name} of {label}");
        PreEscaped(grid.without_legend().label(label).render_inline(&format!("{id}-{name}")))
    };
    let twins =
        (0..report.quantities.len()).filter(|other| report.twin(*other) == Some(at)).count();
    html! {
        article #(id) aria-labelledby={ (id) "-title" } {
            details.fold {
                summary {
                    h3 id={ (id) "-title" } {
                        @if let Some(plain) = &plain { (plain) " " }
                        code { (label) }
                    }
                    @if let Some(quoted) = quoted {
                        " " span.brief { (shown(quoted.lower, quoted)) " to " (shown(quoted.upper, quoted)) }
                    }
                }
                @if let Some(quoted) = quoted {
                    p { "It " (quantity_in_words(quoted, vb)) }
                }
                @if twins > 0 {
                    p { code { "pi[2]" } " is 1 − " code { "pi[1]" } ": what is shown here is the same for it, mirrored." }
                }
                figure.pair {
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
}

/// The names of flags, with the methods they are about: what they mean is said once, at the top. Remarks, which are no
/// warnings, are said here.
fn flags(answers: &[&Answer]) -> Markup {
    let mut found: Vec<(&Flag, Vec<&'static str>)> = Vec::new();
    for a in answers {
        for flag in &a.flags {
            match found.iter_mut().find(|(known, _)| known.name() == flag.name()) {
                Some((_, methods)) => methods.push(a.method.name()),
                None => found.push((flag, vec![a.method.name()])),
            }
        }
    }
    let (remarks, warnings): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|(flag, _)| flag.is_remark());
    html! {
        @if warnings.is_empty() && remarks.is_empty() {
            p.fine { "No flag: nothing that was checked speaks against these intervals." }
        }
        @if !warnings.is_empty() {
            p.warned {
                "Warnings: "
                @for (i, (flag, methods)) in warnings.iter().enumerate() {
                    @if i > 0 { "; " }
                    (flag.name()) " (" (methods.join(", ")) ")"
                }
                ". " a href="#answer" { "What they mean" } "."
            }
        }
        @for (flag, methods) in &remarks { p { (methods.join(", ")) ": " (sentence(&flag.sentence())) } }
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
