//! `--plot`: densities and coverage curves of what was asked, beside the clusters.

use crate::failure::Failure;
use crate::output::check_path;
use std::path::Path;
use trustvb::calibrate::{Answer, Law, Method};
use trustvb::functional::Part;
use trustvb::model::ModelData;
use trustvb::posterior::Posterior;
use trustvb::table::TvbTable;
use trustvb_report::{
    CalibrationFigure, CalibrationRow, ClusterEllipse, ClusterPoint, ClustersPanel, CoverageCurve,
    CoveragePanel, DensityCurve, DensityPanel, save,
};

/// Points of a density.
const POINTS: usize = 201;

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
    parts: &[&Part],
    answers: &[Answer],
    draws: usize,
) -> Result<(), Failure> {
    let Some(first) = table.full_data_posterior(1.0) else {
        return Err(Failure::Run("the full-data fit failed: there is nothing to draw".to_owned()));
    };
    let level = answers.first().map_or(0.95, |a| a.level);
    let manifest = table.manifest();
    let rows = parts
        .iter()
        .map(|part| {
            let own: Vec<&Answer> = answers
                .iter()
                .filter(|a| a.functional == part.name() && a.level == level)
                .collect();
            let law = Law::new(
                part,
                table.layout().clone(),
                manifest.published_intervals,
                manifest.seed,
                draws,
            );
            CalibrationRow {
                density: density(part, &law, &own),
                coverage: coverage(part, &own, level, manifest.omega_min),
            }
        })
        .collect();
    let figure = CalibrationFigure {
        title: format!("Calibrated {:.0}% intervals", 100.0 * level),
        caption: format!(
            "{} with {} components, {} units, seed {}",
            manifest.model.name(),
            manifest.layout.n_components,
            manifest.n_units,
            manifest.seed
        ),
        clusters: clusters(table, &first),
        rows,
    };
    save(path, &figure.render()).map_err(Failure::run)
}

fn density(part: &Part, law: &Law<'_>, answers: &[&Answer]) -> DensityPanel {
    let curves = answers
        .iter()
        .filter(|a| a.lower.is_finite())
        .map(|a| {
            // Percentiles have no posterior: only their interval is drawn.
            let points = match a.method {
                Method::Bootstrap => Vec::new(),
                _ => law.density(a.posterior.parameters(), POINTS),
            };
            let (x, y) = points.into_iter().unzip();
            DensityCurve {
                method: a.method.name().to_owned(),
                x,
                y,
                lower: a.lower,
                upper: a.upper,
                estimate: a.estimate,
            }
        })
        .collect();
    DensityPanel { functional: part.label().to_owned(), curves, truth: None }
}

fn coverage(part: &Part, answers: &[&Answer], level: f64, omega_min: f64) -> CoveragePanel {
    let curves = answers
        .iter()
        .filter(|a| !a.curve.is_empty())
        .map(|a| CoverageCurve {
            method: a.method.name().to_owned(),
            omega: a.curve.iter().map(|p| p.omega).collect(),
            coverage: a.curve.iter().map(|p| p.coverage).collect(),
            se: a.curve.iter().map(|p| p.se).collect(),
            chosen: Some(a.omega).filter(|w| w.is_finite()),
        })
        .collect();
    CoveragePanel {
        functional: part.label().to_owned(),
        levels: vec![level],
        curves,
        omega_min: Some(omega_min),
    }
}

/// The scatter of two-column data with the components' 95% ellipses.
fn clusters(table: &TvbTable, first: &Posterior) -> Option<ClustersPanel> {
    let Some(ModelData::Rows(data)) = table.data() else { return None };
    if data.n_columns() != 2 {
        return None;
    }
    let model = table.manifest().model.build(table.data()?).ok()?;
    let mut sweeper = model.sweeper();
    sweeper.load(None).ok()?;
    let responsibilities = sweeper.responsibilities_under(first).ok()?;
    let k = model.n_components();
    let points = (0..data.n_rows())
        .map(|n| {
            let r = &responsibilities[n * k..(n + 1) * k];
            let component = (0..k).max_by(|&i, &j| r[i].total_cmp(&r[j])).unwrap_or(0);
            ClusterPoint {
                x: data.column(0)[n],
                y: data.column(1)[n],
                component: component + 1,
                responsibility: r[component],
            }
        })
        .collect();
    let ellipses = (0..k)
        .filter_map(|c| {
            let block = first.normal_wishart("mu_lambda", c)?;
            let s = block.mean_covariance()?;
            Some(ClusterEllipse {
                component: c + 1,
                centre: [block.mean()[0], block.mean()[1]],
                covariance: [[s[0], s[1]], [s[1], s[2]]],
                level: 0.95,
            })
        })
        .collect();
    Some(ClustersPanel {
        title: "Clusters".to_owned(),
        x_name: data.names()[0].clone(),
        y_name: data.names()[1].clone(),
        points,
        ellipses,
    })
}
