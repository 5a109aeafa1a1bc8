//! `--plot`: densities and coverage curves of what was asked, beside the clusters.

use crate::failure::Failure;
use crate::output::check_path;
use std::path::Path;
use trustvb::table::TvbTable;
use trustvb_report::picture::{ClusterPicture, Quantity, clusters, coverage_panel, density_panel};
use trustvb_report::{CalibrationFigure, CalibrationRow, save};

/// Refuses a file that cannot be drawn before any work is done.
pub(crate) fn check(path: Option<&Path>) -> Result<(), Failure> {
    match path.map(|p| (p, p.extension().and_then(|e| e.to_str()).map(str::to_lowercase))) {
        None => Ok(()),
        Some((path, Some(e))) if e == "svg" || e == "png" => check_path("--plot", path),
        Some((path, _)) => Err(Failure::Usage(format!(
            "--plot {}: the name must end in .svg or .png",
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
        .map(|quantity| CalibrationRow {
            density: density_panel(table, quantity, level, draws),
            coverage: coverage_panel(table, quantity, level),
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
            manifest.model.unit().count(manifest.n_units),
            manifest.seed
        ),
        clusters,
        rows,
    };
    save(path, &figure.render()).map_err(Failure::run)
}
