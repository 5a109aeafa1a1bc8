//! `--plot`: densities and coverage curves of what was asked, beside the clusters; `--profile`: components over columns.

use crate::args::QuestionArgs;
use crate::failure::Failure;
use crate::output::check_path;
use std::path::Path;
use trustvb::table::TvbTable;
use trustvb_report::picture::{ClusterPicture, Quantity, clusters, coverage_panels, density_panel};
use trustvb_report::{CalibrationFigure, CalibrationRow, profile, save};

/// Refuses files that cannot be drawn before any work is done.
pub(crate) fn check_all(question: &QuestionArgs) -> Result<(), Failure> {
    check(question.plot.as_deref())?;
    check_for("--profile", question.profile.as_deref())
}

/// Refuses a file that `--plot` cannot draw.
pub(crate) fn check(path: Option<&Path>) -> Result<(), Failure> {
    check_for("--plot", path)
}

fn check_for(option: &str, path: Option<&Path>) -> Result<(), Failure> {
    match path.map(|p| (p, p.extension().and_then(|e| e.to_str()).map(str::to_lowercase))) {
        None => Ok(()),
        Some((path, Some(e))) if e == "svg" || e == "png" => check_path(option, path),
        Some((path, _)) => Err(Failure::Usage(format!(
            "{option} {}: the name must end in .svg or .png",
            path.display()
        ))),
    }
}

/// Draws the paper's Figure 4 for these answers: clusters, densities with intervals, curves.
pub(crate) fn draw(
    path: &Path,
    table: &TvbTable,
    quantities: &[Quantity<'_>],
    level: f64,
    draws: usize,
) -> Result<(), Failure> {
    if table.full_data_posterior(1.0).is_none() {
        return Err(Failure::Run("the full-data fit failed: there is nothing to draw".to_owned()));
    }
    let manifest = table.manifest();
    let rows = quantities
        .iter()
        .zip(coverage_panels(table, quantities, level))
        .map(|(quantity, coverage)| CalibrationRow {
            density: density_panel(table, quantity, level, draws),
            coverage,
        })
        .collect();
    let clusters = match clusters(table) {
        Some(ClusterPicture::Plane(mut panel)) => {
            panel.title = "Clusters".to_owned();
            Some(panel)
        }
        Some(ClusterPicture::Matrix(_)) | None => None,
    };
    let figure = CalibrationFigure {
        title: format!("Calibrated {:.0}% intervals", 100.0 * level),
        caption: format!(
            "Mixture of {}, {}, seed {}",
            manifest.model.kind().component.count(manifest.layout.n_components),
            manifest.units_in_words(),
            manifest.seed
        ),
        clusters,
        rows,
    };
    save(path, &figure.render()).map_err(Failure::run)
}

/// Draws what each component is like, column by column.
pub(crate) fn draw_profile(
    path: &Path,
    table: &TvbTable,
    quantities: &[Quantity<'_>],
    level: f64,
) -> Result<(), Failure> {
    let Some(figure) = profile(table, quantities, level) else {
        return Err(Failure::Run(format!(
            "--profile: {} has no means or probabilities of columns to draw; use --plot",
            table.manifest().model.title()
        )));
    };
    save(path, &figure.render()).map_err(Failure::run)
}
