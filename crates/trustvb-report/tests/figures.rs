//! Every figure as a document: well-formed, safe and finite whatever the numbers and names are.

use std::path::Path;

use proptest::prelude::*;
use roxmltree::Document;
use trustvb_report::*;

const NASTY: [f64; 8] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e308, -1e308, 5e-324];
const HOSTILE: &str = "<script>alert('x')</script>\"&\u{0}\u{1b}]]>";

/// Every figure, its numbers taken in turn from `values`, its names all `name`.
fn every_figure(values: &[f64], name: &str) -> Vec<(&'static str, String)> {
    let mut next = values.iter().copied().cycle();
    let mut take = || next.next().unwrap_or(f64::NAN);
    let text = || name.to_string();
    let n = values.len();

    let mut coverage_panel = || CoveragePanel {
        functional: text(),
        levels: vec![take(), 0.95],
        curves: (0..2)
            .map(|_| CoverageCurve {
                method: text(),
                omega: (0..n).map(|_| take()).collect(),
                coverage: (0..n).map(|_| take()).collect(),
                se: (0..n / 2).map(|_| take()).collect(),
                chosen: Some(take()),
            })
            .collect(),
        omega_min: Some(take()),
        vb: Some(take()),
    };
    let coverage = vec![coverage_panel(), coverage_panel()];
    let mut density_panel = || DensityPanel {
        functional: text(),
        curves: (0..3)
            .map(|_| DensityCurve {
                method: text(),
                x: (0..n).map(|_| take()).collect(),
                y: (0..n).map(|_| take()).collect(),
                lower: take(),
                upper: take(),
                estimate: take(),
            })
            .collect(),
        truth: Some(take()),
        x_label: text(),
    };
    let density = vec![density_panel(), density_panel()];
    let clusters = ClustersPanel {
        title: text(),
        x_name: text(),
        y_name: text(),
        points: (0..n)
            .map(|i| ClusterPoint { x: take(), y: take(), component: i, responsibility: take() })
            .collect(),
        ellipses: (0..n)
            .map(|i| ClusterEllipse {
                component: i,
                centre: [take(), take()],
                covariance: [[take(), take()], [take(), take()]],
                level: take(),
            })
            .collect(),
    };
    let interval = |values: [f64; 4]| ForestInterval {
        method: text(),
        estimate: values[0],
        lower: values[1],
        upper: values[2],
        coverage: Some(values[3]),
    };
    let forest = ForestPanel {
        title: text(),
        x_label: text(),
        quantities: (0..n)
            .map(|_| ForestQuantity {
                name: text(),
                intervals: vec![interval([take(), take(), take(), take()]); 2],
                truth: Some(take()),
            })
            .collect(),
        reference: Some(take()),
    };
    let dots = DotsPanel {
        title: text(),
        y_label: text(),
        x_label: text(),
        groups: (0..n)
            .map(|_| DotsGroup {
                name: text(),
                dots: vec![Dot { series: text(), value: take(), lower: take(), upper: take() }],
            })
            .collect(),
        nominal: Some(take()),
        over: Some((take(), take())),
    };
    let mut boxes = |log| BoxPanel {
        title: text(),
        y_label: text(),
        x_label: text(),
        groups: (0..n)
            .map(|_| BoxGroup {
                name: text(),
                boxes: vec![BoxSummary {
                    series: text(),
                    min: take(),
                    q1: take(),
                    median: take(),
                    q3: take(),
                    max: take(),
                }],
            })
            .collect(),
        log,
        reference: Some(take()),
        over: None,
    };
    let boxes = vec![boxes(false), boxes(true)];
    let bound = BoundPanel {
        title: text(),
        traces: (0..2).map(|_| (0..n).map(|_| take()).collect()).collect(),
    };
    let omega = OmegaPanel {
        title: text(),
        quantities: (0..n)
            .map(|_| OmegaQuantity {
                name: text(),
                chosen: vec![ChosenOmega { method: text(), omega: take() }; 2],
            })
            .collect(),
        omega_min: Some(take()),
    };
    let matrix = ScatterMatrixFigure {
        title: text(),
        caption: text(),
        names: (0..8).map(|_| text()).collect(),
        columns: (0..8).map(|_| (0..n).map(|_| take()).collect()).collect(),
        component: (0..n).collect(),
        responsibility: (0..n / 2).map(|_| take()).collect(),
        components: (0..2)
            .map(|k| MatrixComponent {
                component: k,
                centre: (0..7).map(|_| take()).collect(),
                covariance: (0..6).map(|_| (0..5).map(|_| take()).collect()).collect(),
            })
            .collect(),
        level: take(),
    };
    let levels = LevelPanel {
        title: text(),
        curves: (0..2)
            .map(|_| LevelCurve {
                method: text(),
                levels: (0..n).map(|_| take()).collect(),
                coverage: (0..n).map(|_| take()).collect(),
                limits: (0..n / 2).map(|_| (take(), take())).collect(),
            })
            .collect(),
    };
    let ranks = RankPanel {
        title: text(),
        edges: (0..n).map(|_| take()).collect(),
        methods: vec![RankCounts { method: text(), counts: (0..n).collect() }; 2],
    };
    let rows = density
        .iter()
        .zip(&coverage)
        .map(|(d, c)| CalibrationRow { density: d.clone(), coverage: c.clone() })
        .collect();
    let (title, caption) = (text(), text());
    let calibration = CalibrationFigure {
        title: text(),
        caption: text(),
        clusters: Some(clusters.clone()),
        rows,
    };
    vec![
        ("calibration", calibration.render()),
        ("coverage", CoverageFigure { title, caption, panels: coverage, columns: 0 }.render()),
        ("density", DensityFigure { panels: density, ..Default::default() }.render()),
        ("clusters", ClustersFigure { panels: vec![clusters], ..Default::default() }.render()),
        ("forest", ForestFigure { panels: vec![forest], ..Default::default() }.render()),
        ("dots", DotsFigure { panels: vec![dots], ..Default::default() }.render()),
        ("boxes", BoxFigure { panels: boxes, ..Default::default() }.render()),
        (
            "bound",
            BoundFigure { title: text(), panels: vec![bound], ..Default::default() }.render(),
        ),
        ("omega", OmegaFigure { panels: vec![omega], ..Default::default() }.render()),
        ("levels", LevelFigure { panels: vec![levels], ..Default::default() }.render()),
        ("ranks", RankFigure { panels: vec![ranks], ..Default::default() }.render()),
        ("matrix", matrix.render()),
        ("matrix inline", matrix.render_inline("m1")),
    ]
}

fn empty_figures() -> Vec<(&'static str, String)> {
    vec![
        ("calibration", CalibrationFigure::default().render()),
        ("coverage", CoverageFigure::default().render()),
        ("density", DensityFigure::default().render()),
        ("clusters", ClustersFigure::default().render()),
        ("forest", ForestFigure::default().render()),
        ("dots", DotsFigure::default().render()),
        ("boxes", BoxFigure::default().render()),
        ("grid", Grid::new("").render()),
        ("bound", BoundFigure::default().render()),
        ("omega", OmegaFigure::default().render()),
        ("levels", LevelFigure::default().render()),
        ("ranks", RankFigure::default().render()),
        ("matrix", ScatterMatrixFigure::default().render()),
    ]
}

/// Fails unless the text is a figure that any renderer can draw.
fn check(what: &str, svg: &str) {
    let document = Document::parse(svg).unwrap_or_else(|e| panic!("{what}: {e}"));
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "svg");
    assert_eq!(root.attribute("role"), Some("img"));
    let names: Vec<_> =
        root.children().filter(|c| c.is_element()).map(|c| c.tag_name().name()).collect();
    assert_eq!(names[..2], ["title", "desc"], "{what}");
    for node in document.descendants().filter(|node| node.is_element()) {
        assert_ne!(node.tag_name().name(), "script", "{what}");
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            assert!(!name.starts_with("on"), "{what}: {name}");
            assert!(!value.contains("NaN") && !value.contains("inf"), "{what}: {name}={value}");
        }
        let text = node.text().unwrap_or_default();
        assert!(!text.contains("NaN") && !text.contains("inf"), "{what}: {text}");
    }
}

#[test]
fn figures_of_ordinary_numbers_are_well_formed() {
    for (what, svg) in every_figure(&[0.1, 0.4, 0.7, 0.9, 0.95], "mu[1,waiting]") {
        check(what, &svg);
        assert!(svg.contains("mu[1,waiting]"), "{what}");
    }
}

#[test]
fn figures_survive_nasty_numbers_and_names() {
    for (what, svg) in every_figure(&NASTY, HOSTILE) {
        check(what, &svg);
        assert!(!svg.contains("<script"), "{what}");
    }
    for value in NASTY {
        every_figure(&[value], "h").iter().for_each(|(what, svg)| check(what, svg));
    }
}

#[test]
fn empty_figures_say_so() {
    for (what, svg) in empty_figures().into_iter().chain(every_figure(&[], "")) {
        check(what, &svg);
        render_png(&svg, 0.5).unwrap();
    }
    for (what, svg) in empty_figures() {
        assert!(svg.contains("nothing to show"), "{what}");
    }
}

#[test]
fn the_same_numbers_give_the_same_document() {
    let figures = || every_figure(&[0.2, 0.5, 0.8], "pi[1]");
    assert_eq!(figures(), figures());
}

#[test]
fn a_method_looks_the_same_in_every_panel() {
    let panel = |methods: &[&str]| DotsPanel {
        groups: vec![DotsGroup {
            name: "g".into(),
            dots: methods
                .iter()
                .map(|m| Dot { series: (*m).into(), value: 0.9, lower: 0.8, upper: 1.0 })
                .collect(),
        }],
        ..Default::default()
    };
    let panels = vec![panel(&["mine", "tvb"]), panel(&["tvb", "yours", "mine"])];
    let svg = DotsFigure { panels, ..Default::default() }.render();
    let document = Document::parse(&svg).unwrap();
    let texts: Vec<_> = document
        .descendants()
        .filter(|n| n.has_tag_name(("http://www.w3.org/2000/svg", "text")))
        .filter_map(|n| n.text())
        .collect();
    for name in ["mine", "tvb", "yours"] {
        assert_eq!(texts.iter().filter(|t| **t == name).count(), 1, "{name} in the legend once");
    }
}

#[test]
fn a_png_has_the_size_of_its_figure() {
    for (what, svg) in every_figure(&[0.1, 0.4, 0.7, 0.9], "pi[1]") {
        let document = Document::parse(&svg).unwrap();
        let side = |name| document.root_element().attribute(name).unwrap().parse::<u32>().unwrap();
        let png = render_png(&svg, 2.0).unwrap();
        assert_eq!(&png[1..4], b"PNG");
        let stored = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        assert_eq!((stored(16), stored(20)), (2 * side("width"), 2 * side("height")), "{what}");
    }
}

#[test]
fn text_is_drawn_into_a_png() {
    let png = |title: &str| render_png(&Grid::new(title).render(), 1.0).unwrap();
    assert_ne!(png("coverage of ω"), png("coverage of π"));
}

#[test]
fn impossible_pictures_are_errors() {
    let svg = Grid::new("x").render();
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e4] {
        let error = render_png(&svg, scale).unwrap_err();
        assert!(matches!(error, FigureError::Size { .. }), "{scale}: {error}");
    }
    assert!(matches!(render_png("not svg", 1.0), Err(FigureError::Svg(_))));
}

#[test]
fn saving_goes_by_the_extension() {
    let folder = tempfile::tempdir().unwrap();
    let svg = Grid::new("x").render();
    let at = |name: &str| folder.path().join(name);
    save(&at("a.svg"), &svg).unwrap();
    save(&at("a.PNG"), &svg).unwrap();
    assert_eq!(std::fs::read_to_string(at("a.svg")).unwrap(), svg);
    assert_eq!(&std::fs::read(at("a.PNG")).unwrap()[1..4], b"PNG");
    for name in ["a.pdf", "a", ".svg"] {
        let message = save(&at(name), &svg).unwrap_err().to_string();
        assert!(message.contains(".svg or .png"), "{message}");
    }
    let error = save(&at("missing/a.svg"), &svg).unwrap_err();
    assert!(error.to_string().contains("a.svg"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
    assert!(save(Path::new(""), &svg).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_numbers_break_a_figure(values in prop::collection::vec(any::<f64>(), 0..9), name in ".{0,40}") {
        for (what, svg) in every_figure(&values, &name) {
            let document = Document::parse(&svg);
            prop_assert!(document.is_ok(), "{what}: {document:?}");
            for attribute in document.unwrap().descendants().flat_map(|n| n.attributes()) {
                let value = attribute.value();
                prop_assert!(!value.contains("NaN") && !value.contains("inf"), "{what}: {value}");
            }
        }
    }
}

/// All texts of a figure.
fn texts(svg: &str) -> Vec<String> {
    let document = Document::parse(svg).expect("a document");
    let text =
        |node: roxmltree::Node<'_, '_>| node.has_tag_name(("http://www.w3.org/2000/svg", "text"));
    document
        .descendants()
        .filter(|n| text(*n))
        .filter_map(|n| n.text().map(str::to_owned))
        .collect()
}

#[test]
fn a_forest_tells_coverage_and_clips_what_runs_away() {
    let interval = |method: &str, lower: f64, upper: f64, coverage| ForestInterval {
        method: method.into(),
        estimate: 0.66,
        lower,
        upper,
        coverage,
    };
    let quantity = |name: &str| ForestQuantity {
        name: name.into(),
        intervals: vec![
            interval("balanced", 0.589, 0.703, None),
            interval("vb", 0.631, 0.689, Some(0.687)),
            interval("tvb", 0.592, 0.702, None),
        ],
        truth: None,
    };
    let mut panel =
        ForestPanel { quantities: vec![quantity("pi[1]"), quantity("x")], ..Default::default() };
    let svg = ForestFigure { panels: vec![panel.clone()], ..Default::default() }.render();
    assert!(texts(&svg).contains(&"covers 69%".to_owned()), "{:?}", texts(&svg));
    assert!(!svg.contains("beyond the axis"));
    panel.quantities[1].intervals[2] = interval("tvb", -4e5, 9.0, None);
    let svg = ForestFigure { panels: vec![panel], ..Default::default() }.render();
    assert!(svg.contains("An arrow goes on beyond the axis: tvb of x."));
    // The axis is still that of the others.
    assert!(texts(&svg).contains(&"0.66".to_owned()), "{:?}", texts(&svg));
}

#[test]
fn panels_of_a_study_share_their_axis() {
    let panel = |value: f64| DotsPanel {
        groups: vec![DotsGroup {
            name: "300".into(),
            dots: vec![Dot {
                series: "vb".into(),
                value,
                lower: value - 0.01,
                upper: value + 0.01,
            }],
        }],
        nominal: Some(0.95),
        ..Default::default()
    };
    let height = |svg: &str, place: usize| {
        let document = Document::parse(svg).unwrap();
        let dashed =
            document.descendants().filter(|n| n.attribute("stroke-dasharray") == Some("5 3"));
        dashed.map(|n| n.attribute("y1").unwrap().to_owned()).nth(place).unwrap()
    };
    let both = DotsFigure { panels: vec![panel(0.5), panel(0.94)], ..Default::default() }.render();
    assert_eq!(height(&both, 0), height(&both, 1), "0.95 is at one height");
    let boxes = |scale: f64| BoxPanel {
        groups: vec![BoxGroup {
            name: "300".into(),
            boxes: vec![BoxSummary {
                series: "vb".into(),
                min: scale,
                q1: 2.0 * scale,
                median: 3.0 * scale,
                q3: 4.0 * scale,
                max: 5.0 * scale,
            }],
        }],
        reference: Some(2.0),
        ..Default::default()
    };
    let alike = BoxFigure { panels: vec![boxes(1.0), boxes(2.0)], ..Default::default() }.render();
    assert_eq!(height(&alike, 0), height(&alike, 1));
    let unlike =
        BoxFigure { panels: vec![boxes(1.0), boxes(100.0)], ..Default::default() }.render();
    assert_ne!(
        height(&unlike, 0),
        height(&unlike, 1),
        "lengths in other units have their own axis"
    );
    // Figures that are read together have the axis that all of their numbers ask for.
    let over = Some((0.4, 1.0));
    let alone = |value: f64| DotsFigure {
        panels: vec![DotsPanel { over, ..panel(value) }],
        ..Default::default()
    };
    assert_eq!(height(&alone(0.5).render(), 0), height(&alone(0.94).render(), 0));
    let of_one_quantity = [boxes(1.0), boxes(100.0)]
        .map(|panel| BoxPanel { over: Some((1.0, 500.0)), ..panel })
        .to_vec();
    let figure = BoxFigure { panels: of_one_quantity, ..Default::default() }.render();
    assert_eq!(height(&figure, 0), height(&figure, 1));
}

#[test]
fn a_curve_says_what_vb_covers_and_which_way_is_longer() {
    let curve = CoverageCurve {
        method: "tvb".into(),
        omega: vec![1.0, 0.5, 0.25, 0.1, 0.001],
        coverage: vec![0.6, 0.8, 0.95, 1.0, 1.0],
        se: vec![0.02; 5],
        chosen: Some(0.25),
    };
    let panel = CoveragePanel {
        levels: vec![0.95],
        curves: vec![curve],
        vb: Some(0.687),
        ..Default::default()
    };
    let svg = CoverageFigure { panels: vec![panel], ..Default::default() }.render();
    let found = texts(&svg);
    for text in ["VB: 69%", "← longer", "VB →", "95%", "tvb ω = 0.250"] {
        assert!(found.contains(&text.to_owned()), "no {text} in {found:?}");
    }
    // Names of the legend and of the line.
    assert_eq!(found.iter().filter(|text| *text == "tvb").count(), 2);
    // What is flat beyond what was chosen takes no room.
    assert!(!found.contains(&"0.001".to_owned()), "{found:?}");
}
