//! The answer's table: a row for each quantity, and warnings as sentences.

use super::Report;
use crate::overview::{Merged, Overview};
use maud::{Markup, PreEscaped, html};
use trustvb::answers::percent;

/// Quantities that a warning names, at most.
const NAMED: usize = 8;

/// One row per quantity: the interval to use, VB's own, and what VB covers.
pub(super) fn rows(report: &Report<'_>, overview: &Overview<'_>) -> Markup {
    let level = percent(overview.level);
    let with_vb = overview.rows.iter().any(|row| row.vb_interval().is_some());
    let warned = overview.warned().is_some();
    html! {
        table #answer-table.overview.many[overview.rows.len() > super::FEW] {
            caption.unseen { "The interval to use for each quantity" }
            thead {
                tr {
                    th scope="col" { "quantity" }
                    th.number scope="col" { "estimate" }
                    th scope="col" { "use this " (level) " interval" }
                    @if with_vb {
                        th scope="col" { "VB’s own" }
                        th scope="col" { "longer by" }
                        th scope="col" { "VB’s own (grey), to use (blue)" }
                        th scope="col" { "VB claims " (level) ", covers" }
                    }
                    @if warned { th scope="col" { span.unseen { "warnings" } } }
                }
            }
            tbody {
                @for (at, row) in overview.rows.iter().enumerate() {
                    tr {
                        th scope="row" {
                            a href={ "#" (report.anchor(at)) } {
                                @if let Some(plain) = &row.plain { span.plain { (plain) } " " }
                                code { (row.part.label()) }
                            }
                        }
                        td.number.estimate { (row.estimate()) }
                        td.interval { strong { (row.interval()) } }
                        @if with_vb {
                            td.own { (row.vb_interval().unwrap_or_default()) }
                            td.longer { @match row.longer() { Some(ratio) => { (format!("×{ratio:.2}")) } None => { "–" } } }
                            td.pair-cell { (PreEscaped(row.pair())) }
                            td.bar-cell title=(row.verdict()) {
                                @match overview.coverage_bar(row) {
                                    Some(bar) => { (PreEscaped(bar)) span.unseen { " " (row.verdict()) } }
                                    None => { "not known" }
                                }
                            }
                        }
                        @if warned {
                            td.warned {
                                @let flags: Vec<&str> = row.warnings().map(|flag| flag.name()).collect();
                                @if !flags.is_empty() { span title=(flags.join(", ")) { "⚠ " (flags.len()) span.unseen { ": " (flags.join(", ")) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A warning with what it is about.
pub(super) fn warning(warning: &Merged) -> Markup {
    let more = warning.about.len().saturating_sub(NAMED);
    html! {
        li.warning {
            strong { (warning.name) } ": " (warning.sentence) " "
            span.about {
                "(" (warning.about.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", "))
                @if more > 0 { " and " (more) " more" }
                ")"
            }
        }
    }
}
