//! Data, model, prior, settings and versions: what a reader needs to judge the fits.

use super::Report;
use crate::command::resamples_in_words;
use crate::figures::{Grid, ScatterMatrixFigure};
use crate::picture::{ClusterPicture, bound_panel, clusters, ellipse_caption};
use crate::profile::profile;
use maud::{Markup, PreEscaped, html};
use trustvb::answers::{plural, significant};
use trustvb::fit::{Matching, ReplicateStart, Start, StatusCode, Stopping};
use trustvb::model::{PriorBase, PriorInWords};
use trustvb::table::{Manifest, TvbTable};

/// Columns summarised at most.
const MOST_COLUMNS: usize = 40;

pub(super) fn section(report: &Report<'_>) -> Markup {
    let table = report.table;
    let manifest = table.manifest();
    let bound = bound_panel(table);
    html! {
        section #model aria-labelledby="model-title" {
            h2 #model-title { "Data and model" }
            p { (manifest.model.in_words(&manifest.columns)) }
            @match clusters(table) {
                Some(picture) => { (clusters_figure(picture)) }
                None => { (profile_figure(report)) }
            }
            h3 { "Data" }
            (data(table))
            h3 { (capitalised(manifest.model.kind().called.many)) " at ω = 1" }
            (components(table))
            h3 { "Prior" }
            (prior(manifest))
            @if let Some(bound) = &bound {
                h3 { "Convergence" }
                figure {
                    (PreEscaped(Grid::new("").label("The bound of the full-data fit, sweep by sweep").place(0, 0, bound).render_inline("bound")))
                    figcaption {
                        "The bound of the full-data fit at ω = 1, which never falls; a line per start, the best one in colour."
                    }
                }
            }
            h3 { "Settings" }
            (settings(report))
        }
    }
}

/// What components are like, column by column, where there is no picture of the data.
fn profile_figure(report: &Report<'_>) -> Markup {
    let Some(figure) = profile(report.table, report.quantities, report.level()) else {
        return html! {};
    };
    let grid = Grid::new("").label(&figure.title).flow(&figure.panels, 1);
    html! {
        figure.wide {
            div.scroll tabindex="0" role="region" aria-label="Profile, drawn" {
                (PreEscaped(grid.render_inline("profile")))
            }
            figcaption { (figure.title) ". " (figure.caption) }
        }
    }
}

fn clusters_figure(picture: ClusterPicture) -> Markup {
    let svg = match picture {
        ClusterPicture::Plane(panel) => Grid::new("")
            .label("The data and their clusters")
            .place(0, 0, &panel)
            .render_inline("clusters"),
        ClusterPicture::Matrix(figure) => {
            ScatterMatrixFigure { ..figure }.render_inline("clusters")
        }
    };
    html! {
        figure.wide {
            div.scroll tabindex="0" role="region" aria-label="Clusters, drawn" { (PreEscaped(svg)) }
            figcaption { (ellipse_caption()) }
        }
    }
}

/// The word with a capital.
fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Numbers about each column.
fn data(table: &TvbTable) -> Markup {
    let manifest = table.manifest();
    let Some(data) = table.data() else {
        return html! {
            p {
                (plural(manifest.n_units, "unit", "units")) " with the columns "
                (manifest.columns.join(", ")) ". The table was built without the data, so they cannot be shown."
            }
        };
    };
    let variables = data.summaries();
    html! {
        p {
            (data.in_words())
            @if let Some(weights) = &manifest.weights {
                " They are " (weights.in_words()) ", and the numbers below are without weights."
            }
            " SHA-256 of names and values: " code.hash { (manifest.data_hash) } "."
        }
        div.scroll tabindex="0" role="region" aria-label="Columns" {
            table {
                caption.unseen { "Columns of the data" }
                thead {
                    tr {
                        th scope="col" { "column" }
                        @for name in ["mean", "sd", "least", "largest"] { th.number scope="col" { (name) } }
                    }
                }
                tbody {
                    @for variable in variables.iter().take(MOST_COLUMNS) {
                        tr {
                            th scope="row" { code { (variable.name) } }
                            @for x in variable.summary { td.number { (significant(x, 4)) } }
                        }
                    }
                }
            }
        }
        @if variables.len() > MOST_COLUMNS {
            p { "And " (variables.len() - MOST_COLUMNS) " columns more." }
        }
    }
}

/// The fit that everything is compared with.
fn components(table: &TvbTable) -> Markup {
    let Some(first) = table.full_data_posterior(1.0) else {
        return html! { p { "The table has no full-data fit at ω = 1." } };
    };
    let manifest = table.manifest();
    let coordinates = &manifest.layout.coordinates;
    let p = coordinates.len();
    let centres = first.centres();
    let gmm = first.gaussian(0).is_some();
    // Where a column's centre is several numbers, the profile shows them.
    let one_each = centres.len() == p * manifest.layout.n_components;
    let shown = if one_each { p.min(MOST_COLUMNS) } else { 0 };
    let sd = |k: usize, j: usize| {
        let (_, covariance) = first.gaussian(k)?;
        Some(covariance[trustvb::linalg::packed_index(j, j)].sqrt())
    };
    html! {
        div.scroll tabindex="0" role="region" aria-label="Components" {
            table {
                caption.unseen { "Components of the full-data fit" }
                thead {
                    tr {
                        th scope="col" { (table.manifest().model.kind().called.one) }
                        th.number scope="col" { "weight" }
                        @for name in &coordinates[..shown] {
                            th.number scope="col" { @if gmm { "mean of " } code { (name) } }
                            @if gmm { th.number scope="col" { "sd" } }
                        }
                    }
                }
                tbody {
                    @for (k, weight) in first.weights().iter().enumerate() {
                        tr {
                            th scope="row" { (k + 1) }
                            td.number { (significant(*weight, 3)) }
                            @for j in 0..shown {
                                td.number { (centres.get(k * p + j).map_or("–".to_owned(), |x| significant(*x, 4))) }
                                @if gmm { td.number { (sd(k, j).map_or("–".to_owned(), |x| significant(x, 3))) } }
                            }
                        }
                    }
                }
            }
        }
        @if one_each && shown < p { p { "And " (p - shown) " coordinates more." } }
    }
}

fn prior(manifest: &Manifest) -> Markup {
    let PriorInWords { base, usual, given } = manifest.model.prior_in_words(&manifest.columns);
    html! {
        p {
            @match base {
                PriorBase::Default => { "The default, which does not depend on the columns' units: " }
                PriorBase::Standardised => { "The paper's on standardised columns: " }
                PriorBase::Paper => { "The paper's: " }
            }
            (usual) ", computed from the sample that is fitted."
        }
        @if !given.is_empty() {
            p {
                "Of these, set by hand: "
                @for (i, (name, value)) in given.iter().enumerate() {
                    @if i > 0 { "; " }
                    code { (name) " = " (value) }
                }
                "."
            }
        }
    }
}

fn settings(report: &Report<'_>) -> Markup {
    let (table, manifest) = (report.table, report.table.manifest());
    let mut rows: Vec<(&str, String)> = vec![
        ("seed", manifest.seed.to_string()),
        (
            "grid",
            format!(
                "{} ω from 1 to {}, even in log ω",
                manifest.omegas.len(),
                manifest.omegas.last().copied().unwrap_or(1.0)
            ),
        ),
        ("resamples", resamples(table)),
        ("fits", fits(table)),
        ("start of the full-data fit", start(manifest)),
        ("start of resamples", replicate_start(manifest)),
        ("components matched", matching(manifest).to_owned()),
        ("iteration", iteration(manifest)),
        (
            "draws",
            format!("{} where there is no exact law, ten times as many for limits", report.draws),
        ),
        ("trustvb", versions(manifest)),
        ("table format", manifest.schema.to_string()),
    ];
    if manifest.published_intervals {
        let what =
            "as published: t quantile × posterior standard deviation, search over the whole grid";
        rows.insert(1, ("intervals", what.to_owned()));
    }
    html! {
        table.settings {
            caption.unseen { "Settings" }
            tbody { @for (name, value) in &rows { tr { th scope="row" { (name) } td { (value) } } } }
        }
    }
}

fn versions(manifest: &Manifest) -> String {
    let here = env!("CARGO_PKG_VERSION");
    if manifest.library == here {
        here.to_owned()
    } else {
        format!("{here}; the table was built by {}", manifest.library)
    }
}

fn resamples(table: &TvbTable) -> String {
    let manifest = table.manifest();
    let mut text = resamples_in_words(table);
    if manifest.fresh_splits {
        text.push_str(", a new split at every ω");
    }
    if let Some(hash) = &manifest.resamples {
        text.push_str(&format!(", given by the user (SHA-256 {hash})"));
    }
    text
}

fn fits(table: &TvbTable) -> String {
    let (mut limit, mut failed) = (0, 0);
    for status in table.paths().flat_map(|(_, path)| &path.status) {
        limit += usize::from(*status == StatusCode::HitLimit);
        failed += usize::from(*status == StatusCode::Degenerate);
    }
    let all = table.n_fits();
    match (limit, failed) {
        (0, 0) => format!("{all}, all converged"),
        _ => format!("{all}; {limit} did not converge, {failed} failed"),
    }
}

fn start(manifest: &Manifest) -> String {
    match &manifest.start {
        Start::KMeans { restarts, .. } => {
            format!("the best of {}", plural(*restarts, "k-means++ start", "k-means++ starts"))
        }
        Start::Centres(_) => "centres given by the user".to_owned(),
    }
}

fn replicate_start(manifest: &Manifest) -> String {
    match &manifest.path.start {
        ReplicateStart::Warm => "from the full-data fit, then along the grid".to_owned(),
        ReplicateStart::ColdEveryOmega => "k-means at every ω, as published".to_owned(),
        ReplicateStart::Restarts(n) => {
            plural(*n, "k-means start", "k-means starts") + " of its own"
        }
    }
}

fn matching(manifest: &Manifest) -> &'static str {
    match manifest.path.matching {
        Matching::Assignment => "by resemblance to the full-data fit",
        Matching::Weight => "by weight, the paper's rule",
    }
}

fn iteration(manifest: &Manifest) -> String {
    let fit = &manifest.path.fit;
    let stop = match fit.stopping {
        Stopping::Relative(x) => format!("until the state changes by less than {x:e} of its size"),
        Stopping::AbsoluteBound(x) => format!("until the bound changes by less than {x:e}"),
    };
    let how = match fit.acceleration {
        0 => "plain sweeps".to_owned(),
        depth => format!("Anderson acceleration of depth {depth}"),
    };
    format!("{how}, {stop}, at most {} sweeps", fit.max_sweeps)
}
