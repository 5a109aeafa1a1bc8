//! From answers and their table to the panels that show them.

use crate::figures::{
    BoundPanel, ChosenOmega, ClusterEllipse, ClusterPoint, ClustersPanel, CoverageCurve,
    CoveragePanel, DensityCurve, DensityPanel, ForestInterval, ForestPanel, ForestQuantity,
    MatrixComponent, OmegaPanel, OmegaQuantity, ScatterMatrixFigure,
};
use trustvb::answers::percent;
use trustvb::calibrate::{Answer, Calibrator, Law, Method};
use trustvb::data::Dataset;
use trustvb::fit::fit;
use trustvb::functional::{Part, Range};
use trustvb::linalg::packed_index;
use trustvb::posterior::Posterior;
use trustvb::table::TvbTable;

/// Points of a density.
const POINTS: usize = 201;

/// Points of the curve of VB's own coverage, about so many.
const CURVE_POINTS: usize = 24;

/// Width of the filter over densities of draws, in points.
const SMOOTH: f64 = 6.0;

/// The probability inside the ellipses of clusters.
const ELLIPSE: f64 = 0.95;

/// How far beyond 1 and ω̂ a curve of coverage is drawn: a curve of stretches goes on to where nothing is covered, and
/// would take half the axis.
const BEYOND: f64 = 2.0;

/// One scalar with its answers.
#[derive(Clone, Debug)]
pub struct Quantity<'a> {
    /// What was asked.
    pub part: &'a Part,
    /// The answers, by method and level.
    pub answers: Vec<Answer>,
}

impl Quantity<'_> {
    /// Its answers at a level.
    pub fn at(&self, level: f64) -> impl Iterator<Item = &Answer> {
        self.answers.iter().filter(move |a| a.level == level)
    }
}

/// The densities behind a quantity's intervals at a level.
///
/// Two methods that chose the same fit share a density; each has its own bar.
pub fn density_panel(
    table: &TvbTable,
    quantity: &Quantity<'_>,
    level: f64,
    draws: usize,
) -> DensityPanel {
    let manifest = table.manifest();
    let law = Law::new(
        quantity.part,
        table.layout().clone(),
        manifest.published_intervals,
        manifest.seed,
        draws,
    );
    let mut known: Vec<(&Posterior, Vec<f64>, Vec<f64>)> = Vec::new();
    let mut curves = Vec::new();
    for a in quantity.at(level).filter(|a| a.lower.is_finite()) {
        let parameters = a.posterior.parameters();
        let (x, y) = match known.iter().find(|(posterior, ..)| **posterior == a.posterior) {
            // Only the interval is drawn.
            _ if !a.method.has_posterior() => (Vec::new(), Vec::new()),
            // Its posterior is VB's: the ω is that of a stretch.
            _ if a.method.stretches() => {
                law.tempered_density(parameters, a.omega, POINTS).into_iter().unzip()
            }
            Some((_, x, y)) => (x.clone(), y.clone()),
            None => {
                let (x, y): (Vec<f64>, Vec<f64>) =
                    law.density(parameters, POINTS).into_iter().unzip();
                known.push((&a.posterior, x.clone(), y.clone()));
                (x, y)
            }
        };
        let y = if law.is_exact() { y } else { smooth(&y) };
        curves.push(DensityCurve {
            method: a.method.name().to_owned(),
            x,
            y,
            lower: a.lower,
            upper: a.upper,
            estimate: a.estimate,
        });
    }
    let x_label = axis_label(table, quantity.part);
    DensityPanel { functional: quantity.part.label().to_owned(), curves, truth: None, x_label }
}

/// A density at even points without the ripples that its draws left.
fn smooth(y: &[f64]) -> Vec<f64> {
    let reach = (3.0 * SMOOTH) as usize;
    let weight = |d: usize| (-0.5 * (d as f64 / SMOOTH).powi(2)).exp();
    (0..y.len())
        .map(|i| {
            let near = i.saturating_sub(reach)..(i + reach + 1).min(y.len());
            let total: f64 = near.clone().map(|j| weight(i.abs_diff(j))).sum();
            near.map(|j| weight(i.abs_diff(j)) * y[j]).sum::<f64>() / total
        })
        .collect()
}

/// What stands at an axis of a quantity's values.
fn axis_label(table: &TvbTable, part: &Part) -> String {
    match (part.unit(table.layout()), part.range()) {
        (Some(unit), Range::Unit) if unit.is_empty() => "probability".to_owned(),
        (Some(unit), _) if !unit.is_empty() => unit,
        _ => "value".to_owned(),
    }
}

/// The [`coverage_panel`] of each quantity; of a table that has not been read, a few are looked at together.
pub fn coverage_panels(
    table: &TvbTable,
    quantities: &[Quantity<'_>],
    level: f64,
) -> Vec<CoveragePanel> {
    let parts: Vec<&Part> = quantities.iter().map(|quantity| quantity.part).collect();
    let mut panels = Vec::with_capacity(parts.len());
    for batch in table.batches(&parts, OWN_CURVE) {
        let read = table.for_parts(&parts[batch.clone()], OWN_CURVE);
        let table = read.as_deref().unwrap_or(table);
        panels.extend(quantities[batch].iter().map(|q| coverage_panel(table, q, level)));
    }
    panels
}

/// The method that looks at what the curve of VB's own intervals does.
const OWN_CURVE: &[Method] = &[Method::Anchored];

/// The coverage curves of a quantity at a level, and what VB's own interval covers.
///
/// `tvb` looks at half samples, whose curve does not begin where VB's coverage is; so the curve over bootstraps of all
/// units is drawn too, where the law is exact and it costs little.
pub fn coverage_panel(table: &TvbTable, quantity: &Quantity<'_>, level: f64) -> CoveragePanel {
    let vb = quantity.at(level).find(|a| a.method == Method::Vb);
    let own = vb
        .filter(|_| quantity.part.exact().is_some())
        .and_then(|_| own_curve(table, quantity, level));
    let curves = quantity
        .at(level)
        .filter(|a| !a.curve.is_empty())
        .map(|a| {
            let points = || a.curve.iter().filter(|p| p.omega <= BEYOND * a.omega.max(1.0));
            CoverageCurve {
                method: a.method.name().to_owned(),
                omega: points().map(|p| p.omega).collect(),
                coverage: points().map(|p| p.coverage).collect(),
                se: points().map(|p| p.se).collect(),
                chosen: Some(a.omega).filter(|w| w.is_finite()),
            }
        })
        .chain(own)
        .collect();
    CoveragePanel {
        functional: quantity.part.label().to_owned(),
        levels: vec![level],
        curves,
        omega_min: Some(table.manifest().omega_min),
        vb: vb.and_then(|vb| vb.coverage),
    }
}

/// Coverage of VB's fits at each ω over bootstraps of all units; nothing where the table has none below ω = 1.
fn own_curve(table: &TvbTable, quantity: &Quantity<'_>, level: f64) -> Option<CoverageCurve> {
    let table = table.for_parts(&[quantity.part], OWN_CURVE).ok()?;
    let calibrator = Calibrator::new(&table, 1).ok()?;
    let step = (table.omegas().len() / CURVE_POINTS).max(1);
    let points = calibrator.curve(quantity.part, Method::Vb, level, step).ok()?;
    let points: Vec<_> = points.into_iter().filter(|p| p.coverage.is_finite()).collect();
    (points.len() > 1).then(|| CoverageCurve {
        method: Method::Vb.name().to_owned(),
        omega: points.iter().map(|p| p.omega).collect(),
        coverage: points.iter().map(|p| p.coverage).collect(),
        se: points.iter().map(|p| p.se).collect(),
        chosen: Some(1.0),
    })
}

/// The intervals at a level, quantities in the same unit on one axis.
pub fn forest_panels(
    table: &TvbTable,
    quantities: &[Quantity<'_>],
    level: f64,
) -> Vec<ForestPanel> {
    let mut panels: Vec<((String, bool), ForestPanel)> = Vec::new();
    for quantity in quantities {
        let part = quantity.part;
        let probability = part.range() == Range::Unit;
        // What has no unit that can be told shares its axis with nothing.
        let unit = part.unit(table.layout());
        let key = (unit.unwrap_or_else(|| format!("\0{}", part.name())), probability);
        let row = ForestQuantity {
            name: part.label().to_owned(),
            intervals: quantity
                .at(level)
                .map(|a| ForestInterval {
                    method: a.method.name().to_owned(),
                    estimate: a.estimate,
                    lower: a.lower,
                    upper: a.upper,
                    coverage: a.coverage,
                })
                .collect(),
            truth: None,
        };
        match panels.iter_mut().find(|(known, _)| *known == key) {
            Some((_, panel)) => panel.quantities.push(row),
            None => {
                let x_label = axis_label(table, part);
                let panel = ForestPanel { x_label, quantities: vec![row], ..Default::default() };
                panels.push((key, panel));
            }
        }
    }
    panels.into_iter().map(|(_, panel)| panel).collect()
}

/// The ω that each method chose for each quantity at a level.
pub fn omega_panel(table: &TvbTable, quantities: &[Quantity<'_>], level: f64) -> OmegaPanel {
    let quantities = quantities
        .iter()
        .map(|quantity| OmegaQuantity {
            name: quantity.part.label().to_owned(),
            chosen: quantity
                .at(level)
                .filter(|a| a.method.chooses_omega())
                .map(|a| ChosenOmega { method: a.method.name().to_owned(), omega: a.omega })
                .collect(),
        })
        .collect();
    OmegaPanel { title: String::new(), quantities, omega_min: Some(table.manifest().omega_min) }
}

/// How the data of a Gaussian mixture are shown.
#[derive(Clone, Debug)]
pub enum ClusterPicture {
    /// Two columns.
    Plane(ClustersPanel),
    /// Three columns or more.
    Matrix(ScatterMatrixFigure),
}

/// What the ellipses are, for a caption.
pub(crate) fn ellipse_caption() -> String {
    format!(
        "Ellipses hold {} of a component; pale points are of doubtful membership.",
        percent(ELLIPSE)
    )
}

/// The data with the components of the fit at ω = 1; `None` without rows of at least two columns.
pub fn clusters(table: &TvbTable) -> Option<ClusterPicture> {
    let data = table.data()?.rows()?;
    let first = table.full_data_posterior(1.0)?;
    let problem = table.problem().ok()??;
    let model = problem.model();
    let mut sweeper = model.sweeper();
    sweeper.load(None).ok()?;
    let responsibilities = sweeper.responsibilities_under(&first).ok()?;
    let k = model.n_components();
    let likely: Vec<(usize, f64)> = responsibilities
        .chunks_exact(k)
        .map(|r| {
            let best = (0..k).max_by(|&i, &j| r[i].total_cmp(&r[j])).unwrap_or(0);
            (best + 1, r[best])
        })
        .collect();
    match data.n_columns() {
        0 | 1 => None,
        2 => Some(ClusterPicture::Plane(plane(data, &first, k, &likely))),
        _ => Some(ClusterPicture::Matrix(matrix(data, &first, k, &likely))),
    }
}

fn plane(data: &Dataset, first: &Posterior, k: usize, likely: &[(usize, f64)]) -> ClustersPanel {
    let points = likely
        .iter()
        .enumerate()
        .map(|(n, &(component, responsibility))| ClusterPoint {
            x: data.column(0)[n],
            y: data.column(1)[n],
            component,
            responsibility,
        })
        .collect();
    let ellipses = (0..k)
        .filter_map(|c| {
            let (mean, s) = first.gaussian(c)?;
            Some(ClusterEllipse {
                component: c + 1,
                centre: [mean[0], mean[1]],
                covariance: [[s[0], s[1]], [s[1], s[2]]],
                level: ELLIPSE,
            })
        })
        .collect();
    ClustersPanel {
        title: String::new(),
        x_name: data.names()[0].clone(),
        y_name: data.names()[1].clone(),
        points,
        ellipses,
    }
}

fn matrix(
    data: &Dataset,
    first: &Posterior,
    k: usize,
    likely: &[(usize, f64)],
) -> ScatterMatrixFigure {
    let p = data.n_columns();
    let components = (0..k)
        .filter_map(|c| {
            let (centre, s) = first.gaussian(c)?;
            let entry = |i: usize, j: usize| s[packed_index(i.max(j), i.min(j))];
            Some(MatrixComponent {
                component: c + 1,
                centre,
                covariance: (0..p).map(|i| (0..p).map(|j| entry(i, j)).collect()).collect(),
            })
        })
        .collect();
    ScatterMatrixFigure {
        names: data.names().to_vec(),
        columns: (0..p).map(|j| data.column(j).to_vec()).collect(),
        component: likely.iter().map(|(component, _)| *component).collect(),
        responsibility: likely.iter().map(|(_, r)| *r).collect(),
        components,
        level: ELLIPSE,
        ..Default::default()
    }
}

/// The bound over the sweeps of the full-data fit at ω = 1, which is made again for it; `None`
/// without the data.
pub fn bound_panel(table: &TvbTable) -> Option<BoundPanel> {
    let manifest = table.manifest();
    let problem = table.problem().ok()??;
    let model = problem.model();
    let mut traces: Vec<Vec<f64>> = Vec::new();
    let rises = model.is_ascent();
    let mut watch = |progress: &trustvb::fit::Progress| {
        if traces.len() <= progress.start {
            traces.resize(progress.start + 1, Vec::new());
        }
        let trace = &mut traces[progress.start];
        // An accelerated step that lowers the bound is undone, and is no part of the fit.
        if !rises || trace.last().is_none_or(|last| progress.bound >= *last) {
            trace.push(progress.bound);
        }
    };
    fit(model.as_ref(), None, 1.0, &manifest.start, &manifest.path.fit, &mut watch).ok()?;
    Some(BoundPanel { title: String::new(), traces })
}
