//! Writes every figure, from made-up numbers, as SVG and PNG into a folder: `gallery FOLDER`.

use std::error::Error;
use std::path::PathBuf;

use trustvb_report::*;

/// A small generator, so that the gallery needs no other crate and never changes.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("which folder? gallery FOLDER")?);
    std::fs::create_dir_all(&folder)?;
    for (name, svg) in [
        ("coverage", coverage().render()),
        ("coverage-one", coverage_one().render()),
        ("density", density().render()),
        ("clusters", clusters().render()),
        ("clusters-many", clusters_many().render()),
        ("calibration", calibration().render()),
        ("calibration-two", calibration_of(2).render()),
        ("calibration-six", calibration_of(6).render()),
        ("matrix", matrix().render()),
        ("bound", bound().render()),
        ("omega", omega().render()),
        ("forest-many", forest_many().render()),
        ("forest", forest().render()),
        ("dots", dots().render()),
        ("boxes", boxes().render()),
        ("mixed", mixed()),
        ("hostile", hostile().render()),
    ] {
        save(&folder.join(format!("{name}.svg")), &svg)?;
        save(&folder.join(format!("{name}.png")), &svg)?;
    }
    Ok(())
}

const METHODS: [(&str, f64); 4] =
    [("tvb", 0.16), ("gpc", 0.46), ("anchored", 0.41), ("analytic", 0.43)];

fn coverage_panel(functional: &str, stretch: f64, levels: &[f64]) -> CoveragePanel {
    let mut noise = Noise(7);
    let omega: Vec<f64> = (0..100).map(|i| 10f64.powf(-3.0 * f64::from(i) / 99.0)).collect();
    let curves = METHODS
        .iter()
        .map(|&(method, centre)| {
            let centre = centre * stretch;
            let wobble = if method == "analytic" { 0.0 } else { 0.006 };
            let coverage: Vec<f64> = omega
                .iter()
                .map(|w| {
                    let z = (centre / w).ln() * 1.4 + 2.94;
                    let collapse = 0.35 / (1.0 + (w / 0.003).powi(3));
                    let c = 1.0 / (1.0 + (-z).exp()) - collapse + wobble * noise.normal();
                    c.clamp(0.0, 1.0)
                })
                .collect();
            let se = coverage.iter().map(|c| (c * (1.0 - c) / 500.0).sqrt()).collect();
            let se = if method == "analytic" { Vec::new() } else { se };
            CoverageCurve {
                method: method.into(),
                omega: omega.clone(),
                coverage,
                se,
                chosen: Some(centre),
            }
        })
        .collect();
    CoveragePanel {
        functional: functional.into(),
        levels: levels.to_vec(),
        curves,
        omega_min: Some(0.001),
        vb: Some(0.69),
    }
}

fn coverage() -> CoverageFigure {
    CoverageFigure {
        title: "Old Faithful: coverage of the intervals along ω".into(),
        caption: "Bands are ± 2 Monte-Carlo standard errors over 500 bootstraps; marks are the \
                  chosen ω. Below ω = 0.003 the prior takes over and components collapse."
            .into(),
        panels: vec![
            coverage_panel("pi[1]", 1.0, &[0.95]),
            coverage_panel("mu[1,waiting]", 1.4, &[0.95]),
            coverage_panel("mu[2,waiting] - mu[1,waiting]", 0.6, &[0.95]),
            coverage_panel("sd[1,eruptions]", 1.8, &[0.9, 0.95]),
        ],
        columns: 0,
    }
}

fn coverage_one() -> CoverageFigure {
    let mut panel = coverage_panel("cor[1,eruptions,waiting]", 1.0, &[0.95]);
    panel.curves.truncate(1);
    CoverageFigure { panels: vec![panel], ..Default::default() }
}

fn bell(method: &str, centre: f64, sd: f64) -> DensityCurve {
    let x: Vec<f64> = (0..201).map(|i| centre + sd * (f64::from(i) - 100.0) / 22.0).collect();
    let y = x.iter().map(|x| (-0.5 * ((x - centre) / sd).powi(2)).exp() / sd / 2.5066).collect();
    DensityCurve {
        method: method.into(),
        x,
        y,
        lower: centre - 1.96 * sd,
        upper: centre + 1.96 * sd,
        estimate: centre,
    }
}

fn density_panel(functional: &str, centre: f64, sd: f64) -> DensityPanel {
    DensityPanel {
        functional: functional.into(),
        curves: vec![
            bell("vb", centre, sd),
            bell("tvb", centre - 0.1 * sd, 2.1 * sd),
            bell("gpc", centre, 1.45 * sd),
            bell("anchored", centre + 0.05 * sd, 1.55 * sd),
        ],
        truth: None,
        x_label: String::new(),
    }
}

fn density() -> DensityFigure {
    let mut with_truth = density_panel("pi[1]", 0.643, 0.018);
    with_truth.truth = Some(0.62);
    DensityFigure {
        title: "Densities before and after calibration".into(),
        caption: "Bars are 95% intervals with the estimate marked; dotted, the true value.".into(),
        panels: vec![
            with_truth,
            density_panel("mu[1,waiting]", 79.97, 0.42),
            density_panel("1e-6 * tau[2]", 3.2e-7, 4e-8),
        ],
        columns: 0,
    }
}

fn faithful_like(n: usize) -> ClustersPanel {
    let mut noise = Noise(11);
    let points = (0..n)
        .map(|_| {
            let second = noise.uniform() < 0.36;
            let (cx, cy, sx, sy) =
                if second { (2.04, 54.5, 0.27, 5.9) } else { (4.29, 79.97, 0.42, 6.0) };
            let (a, b) = (noise.normal(), noise.normal());
            let (x, y) = (cx + sx * a, cy + sy * (0.4 * a + 0.92 * b));
            let odds = ((x - 3.05) * 5.0).exp();
            let first = odds / (1.0 + odds);
            let (component, responsibility) =
                if first >= 0.5 { (1, first) } else { (2, 1.0 - first) };
            ClusterPoint { x, y, component, responsibility }
        })
        .collect();
    let ellipse = |component, centre, covariance, level| ClusterEllipse {
        component,
        centre,
        covariance,
        level,
    };
    let ellipses = [0.5, 0.95]
        .into_iter()
        .flat_map(|level| {
            [
                ellipse(1, [4.29, 79.97], [[0.17, 0.94], [0.94, 36.0]], level),
                ellipse(2, [2.04, 54.5], [[0.07, 0.44], [0.44, 33.7]], level),
            ]
        })
        .collect();
    ClustersPanel {
        title: String::new(),
        x_name: "eruptions".into(),
        y_name: "waiting".into(),
        points,
        ellipses,
    }
}

fn clusters() -> ClustersFigure {
    ClustersFigure {
        title: "Old Faithful in two components".into(),
        caption: "Ellipses hold 50% and 95% of a component; pale points are of doubtful \
                  membership."
            .into(),
        panels: vec![faithful_like(272)],
        columns: 0,
    }
}

fn clusters_many() -> ClustersFigure {
    ClustersFigure {
        title: "Many points".into(),
        panels: vec![faithful_like(20_000)],
        ..clusters()
    }
}

fn calibration() -> CalibrationFigure {
    let row = |functional: &str, centre, sd, stretch| CalibrationRow {
        density: density_panel(functional, centre, sd),
        coverage: coverage_panel(functional, stretch, &[0.95]),
    };
    CalibrationFigure {
        title: "Old Faithful: two components, calibrated at 95%".into(),
        caption: "Left: the fit. Middle: densities with 95% intervals. Right: coverage along ω, \
                  with ± 2 Monte-Carlo standard errors."
            .into(),
        clusters: Some(faithful_like(272)),
        rows: vec![
            row("pi[1]", 0.643, 0.018, 1.0),
            row("mu[1,waiting]", 79.97, 0.42, 1.4),
            row("mu[2,waiting]", 54.6, 0.61, 0.8),
        ],
    }
}

fn calibration_of(n: usize) -> CalibrationFigure {
    let mut figure = calibration();
    let rows = figure.rows.clone();
    figure.rows = rows.into_iter().cycle().take(n).collect();
    figure
}

/// Three components in four columns.
fn matrix() -> ScatterMatrixFigure {
    let mut noise = Noise(3);
    let centres = [[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]];
    let spread = [0.45, 0.32, 0.4, 0.22];
    let mut columns = vec![Vec::new(); 4];
    let mut component = Vec::new();
    for i in 0..450 {
        let k = i % 3;
        let shared = noise.normal();
        for (j, column) in columns.iter_mut().enumerate() {
            let own = noise.normal();
            column.push(centres[k][j] + spread[j] * (0.6 * shared + 0.8 * own));
        }
        component.push(k + 1);
    }
    let covariance = (0..4)
        .map(|i| {
            let entry = |j: usize| if i == j { 1.0 } else { 0.36 } * spread[i] * spread[j];
            (0..4).map(entry).collect()
        })
        .collect::<Vec<Vec<f64>>>();
    ScatterMatrixFigure {
        title: "Three components in four columns".into(),
        caption: "Ellipses hold 95% of a component.".into(),
        names: ["sepal_length", "sepal_width", "petal_length", "petal_width"]
            .map(String::from)
            .to_vec(),
        columns,
        responsibility: vec![0.97; component.len()],
        component,
        components: (0..3)
            .map(|k| MatrixComponent {
                component: k + 1,
                centre: centres[k].to_vec(),
                covariance: covariance.clone(),
            })
            .collect(),
        level: 0.95,
    }
}

fn bound() -> BoundFigure {
    let trace = |end: f64, pace: f64, n: usize| {
        (0..n).map(|i| end - 180.0 * (-(i as f64) * pace).exp()).collect()
    };
    BoundFigure {
        title: "The bound rises".into(),
        caption: "One line per start.".into(),
        panels: vec![BoundPanel {
            title: String::new(),
            traces: vec![trace(-1241.4, 0.5, 20), trace(-1263.0, 0.3, 31), trace(-1241.4, 0.4, 24)],
        }],
        columns: 0,
    }
}

fn omega() -> OmegaFigure {
    let quantity = |name: &str, omegas: [f64; 3]| OmegaQuantity {
        name: name.into(),
        chosen: ["tvb", "anchored", "analytic"]
            .into_iter()
            .zip(omegas)
            .map(|(method, omega)| ChosenOmega { method: method.into(), omega })
            .collect(),
    };
    OmegaFigure {
        title: "How far each quantity is bent".into(),
        caption: "At ω = 1 VB's own interval is kept.".into(),
        panels: vec![OmegaPanel {
            title: String::new(),
            quantities: vec![
                quantity("pi[1]", [0.317, 0.266, 0.304]),
                quantity("mu[1,waiting]", [0.107, 0.415, 0.484]),
                quantity("mu[2,waiting]", [0.567, 1.0, 1.0]),
                quantity("a long name that has to be cut off somewhere", [0.001, f64::NAN, 1.0]),
            ],
            omega_min: Some(0.001),
        }],
        columns: 0,
    }
}

fn forest_many() -> ForestFigure {
    let names: Vec<String> = (1..=24).map(|k| format!("beta[{k},x1]")).collect();
    let rows: Vec<(&str, f64, f64)> = names
        .iter()
        .enumerate()
        .map(|(i, name)| (name.as_str(), (i as f64 * 0.7).sin(), 0.1 + 0.01 * i as f64))
        .collect();
    let mut panel = forest_panel("Coefficients", "", &rows);
    panel.reference = Some(0.0);
    ForestFigure { title: "Many quantities".into(), panels: vec![panel], ..Default::default() }
}

fn forest_panel(title: &str, unit: &str, rows: &[(&str, f64, f64)]) -> ForestPanel {
    let quantities = rows
        .iter()
        .map(|&(name, centre, sd)| {
            let interval = |method: &str, factor: f64| ForestInterval {
                method: method.into(),
                estimate: centre,
                lower: centre - 1.96 * sd * factor,
                upper: centre + 1.96 * sd * factor,
                coverage: (method == "vb").then_some(0.69),
            };
            let intervals = vec![
                interval("vb", 1.0),
                interval("tvb", 2.1),
                interval("anchored", 1.5),
                interval("analytic", 1.55),
            ];
            ForestQuantity { name: name.into(), intervals, truth: None }
        })
        .collect();
    ForestPanel { title: title.into(), x_label: unit.into(), quantities, reference: None }
}

fn forest() -> ForestFigure {
    let mut weights =
        forest_panel("Weights", "probability", &[("pi[1]", 0.643, 0.018), ("pi[2]", 0.357, 0.018)]);
    weights.quantities[0].truth = Some(0.65);
    let mut effects = forest_panel(
        "Effects",
        "",
        &[("beta[1,x1]", 0.5, 0.21), ("a long name that has to be cut off somewhere", -0.33, 0.3)],
    );
    effects.reference = Some(0.0);
    effects.quantities[1].intervals[1].upper = f64::INFINITY;
    ForestFigure {
        title: "95% intervals".into(),
        caption: "Estimates with limits at the right.".into(),
        panels: vec![
            weights,
            forest_panel(
                "Means",
                "minutes",
                &[("mu[1,waiting]", 79.97, 0.42), ("mu[2,waiting]", 54.6, 0.61)],
            ),
            effects,
        ],
        columns: 0,
    }
}

const STUDY: [&str; 5] =
    ["n = 300, sep 2", "n = 300, sep 3", "n = 1000, sep 2", "n = 1000, sep 3", "n = 3000, sep 2"];

fn dots_panel(title: &str, shift: f64) -> DotsPanel {
    let means = [
        ("vb", [0.659, 0.948, 0.63, 0.937, 0.56]),
        ("tvb", [0.929, 0.984, 0.951, 0.981, 0.967]),
        ("gpc", [0.949, 0.959, 0.934, 0.956, 0.943]),
        ("anchored", [0.945, 0.958, 0.949, 0.957, 0.952]),
    ];
    let groups = STUDY
        .iter()
        .enumerate()
        .map(|(i, name)| DotsGroup {
            name: (*name).into(),
            dots: means
                .iter()
                .map(|(method, values)| {
                    let value: f64 = (values[i] + shift).min(0.995);
                    let se = (value * (1.0 - value) / 600.0).sqrt();
                    let (lower, upper) = (value - 2.0 * se, value + 2.0 * se);
                    Dot { series: (*method).into(), value, lower, upper }
                })
                .collect(),
        })
        .collect();
    DotsPanel {
        title: title.into(),
        y_label: "coverage".into(),
        x_label: String::new(),
        groups,
        nominal: Some(0.95),
        over: None,
    }
}

fn dots() -> DotsFigure {
    DotsFigure {
        title: "Coverage over 600 data sets".into(),
        caption: "Bars are ± 2 standard errors.".into(),
        panels: vec![dots_panel("pi[1]", 0.0), dots_panel("mu[1,1]", 0.01)],
        columns: 2,
    }
}

fn box_panel(title: &str, y_label: &str, log: bool, scale: f64) -> BoxPanel {
    let groups = STUDY
        .iter()
        .enumerate()
        .map(|(i, name)| BoxGroup {
            name: (*name).into(),
            boxes: [("tvb", 1.3, 0.5), ("gpc", 1.0, 0.18), ("anchored", 1.02, 0.16)]
                .iter()
                .map(|&(method, centre, spread)| {
                    let at = |z: f64| scale * centre * (z * spread).exp() / (1.0 + i as f64 * 0.4);
                    BoxSummary {
                        series: method.into(),
                        min: at(-2.4),
                        q1: at(-0.67),
                        median: at(0.0),
                        q3: at(0.67),
                        max: at(2.5),
                    }
                })
                .collect(),
        })
        .collect();
    BoxPanel {
        title: title.into(),
        y_label: y_label.into(),
        x_label: "design".into(),
        groups,
        log,
        reference: None,
        over: None,
    }
}

fn boxes() -> BoxFigure {
    BoxFigure {
        title: "Lengths and fractions".into(),
        caption: "Boxes: quartiles; whiskers: extremes.".into(),
        panels: vec![
            box_panel("Length of the interval", "length", false, 0.2),
            box_panel("Chosen fraction", "ω", true, 0.3),
        ],
        columns: 1,
    }
}

fn mixed() -> String {
    let (clusters, dots) = (faithful_like(272), dots_panel("pi[1]", 0.0));
    let boxes = box_panel("Length", "length", false, 0.2);
    Grid::new("Panels of different kinds in one figure")
        .place_over(0, 0, (2, 1), &clusters)
        .place(0, 1, &dots)
        .place(1, 1, &boxes)
        .render()
}

fn hostile() -> DensityFigure {
    let mut panel =
        density_panel("<script>alert(\"x\")</script> & a name far too long to fit", 1e9, 3.0);
    panel.curves[1].y[50..80].fill(f64::NAN);
    panel.curves[2].upper = f64::INFINITY;
    panel.curves[3].method = "<b>bold</b>".into();
    DensityFigure {
        title: "Names are data: </text><script>".into(),
        panels: vec![panel, DensityPanel::default()],
        ..Default::default()
    }
}
