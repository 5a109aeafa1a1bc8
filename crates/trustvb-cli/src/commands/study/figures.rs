//! The figures of a study: coverage with its limits, lengths and chosen ω, a panel per design and
//! quantity.

use crate::failure::Failure;
use trustvb::study::{Results, Summary};
use trustvb_report::{
    BoxFigure, BoxGroup, BoxPanel, BoxSummary, Dot, DotsFigure, DotsGroup, DotsPanel, SAVED_SCALE,
    render_png,
};

/// Keeps a file of the study under a name.
pub(super) type Keep<'a> = dyn Fn(&str, Vec<u8>) -> Result<(), Failure> + 'a;

/// More panels than this become one figure for each quantity.
const MOST_PANELS: usize = 6;

/// Draws the figures as SVG and PNG: `coverage`, `length` and `omega`, or of a large study
/// `coverage-pi-1` and so on. They show the first level.
pub(super) fn draw(keep: &Keep<'_>, results: &Results, summary: &[Summary]) -> Result<(), Failure> {
    let Some(&level) = results.study.levels.first() else { return Ok(()) };
    let shown: Vec<&Summary> = summary.iter().filter(|s| s.level == level).collect();
    let all = panels(results, &shown);
    if all.len() <= MOST_PANELS {
        return draw_panels(keep, "", results, &all, level);
    }
    let mut quantities: Vec<&str> = Vec::new();
    for s in &shown {
        if !quantities.contains(&s.quantity.as_str()) {
            quantities.push(&s.quantity);
        }
    }
    for quantity in quantities {
        let own: Vec<&Summary> = shown.iter().copied().filter(|s| s.quantity == quantity).collect();
        let suffix = format!("-{}", plain(quantity));
        draw_panels(keep, &suffix, results, &panels(results, &own), level)?;
    }
    Ok(())
}

/// A quantity as part of a file's name: `mu[2,1] - mu[1,1]` is `mu-2-1-mu-1-1`.
fn plain(quantity: &str) -> String {
    let words = quantity.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    words.collect::<Vec<_>>().join("-")
}

fn draw_panels(
    keep: &Keep<'_>,
    suffix: &str,
    results: &Results,
    panels: &[PanelData<'_>],
    level: f64,
) -> Result<(), Failure> {
    let study = &results.study;
    let percent = format!("{:.0}%", 100.0 * level);
    let about = format!(
        "{} data sets in each cell, {} bootstraps, seed {}.",
        study.replications, study.bootstraps, study.seed
    );
    let dots = DotsFigure {
        title: format!("Coverage of {percent} intervals: {}", study.title),
        caption: format!(
            "Share of intervals that hold the truth, with Wilson's 95% limits. {about}"
        ),
        panels: panels.iter().map(|panel| panel.coverage(level)).collect(),
        columns: 0,
    };
    let lengths = BoxFigure {
        title: format!("Length of {percent} intervals: {}", study.title),
        caption: format!("Quartiles, with whiskers from 5% to 95%. {about}"),
        panels: panels.iter().map(PanelData::lengths).collect(),
        columns: 0,
    };
    let omegas = BoxFigure {
        title: format!("Chosen ω of {percent} intervals: {}", study.title),
        caption: format!("Quartiles, with whiskers from 5% to 95%. {about}"),
        panels: panels.iter().map(PanelData::omegas).collect(),
        columns: 0,
    };
    let mut figures = vec![("coverage", dots.render()), ("length", lengths.render())];
    if study.methods.iter().any(|m| m.chooses_omega()) {
        figures.push(("omega", omegas.render()));
    }
    for (name, svg) in figures {
        let png = render_png(&svg, SAVED_SCALE).map_err(Failure::run)?;
        keep(&format!("{name}{suffix}.png"), png)?;
        keep(&format!("{name}{suffix}.svg"), svg.into_bytes())?;
    }
    Ok(())
}

/// What one panel shows: a design and a quantity, group after group.
struct PanelData<'a> {
    title: String,
    x_label: &'static str,
    groups: Vec<(String, Vec<&'a Summary>)>,
}

fn panels<'a>(results: &Results, shown: &[&'a Summary]) -> Vec<PanelData<'a>> {
    let mut panels: Vec<(usize, String, PanelData<'a>)> = Vec::new();
    for s in shown {
        let design = &results.study.designs[s.design];
        let at = panels.iter().position(|(d, q, _)| *d == s.design && *q == s.quantity);
        let at = at.unwrap_or_else(|| {
            let x_label = match design.size_name() {
                "n" => "rows n",
                _ => "rows per group",
            };
            let title = match results.study.designs.len() {
                1 => s.quantity.clone(),
                _ => format!("{}: {}", design.shown(), s.quantity),
            };
            panels.push((
                s.design,
                s.quantity.clone(),
                PanelData { title, x_label, groups: Vec::new() },
            ));
            panels.len() - 1
        });
        let groups = &mut panels[at].2.groups;
        let name = s.size.to_string();
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, list)) => list.push(s),
            None => groups.push((name, vec![s])),
        }
    }
    panels.into_iter().map(|(_, _, panel)| panel).collect()
}

impl PanelData<'_> {
    fn coverage(&self, level: f64) -> DotsPanel {
        let groups = self.groups.iter().map(|(name, list)| DotsGroup {
            name: name.clone(),
            dots: list
                .iter()
                .map(|s| Dot {
                    series: s.method.name().to_owned(),
                    value: s.coverage,
                    lower: s.coverage_limits.0,
                    upper: s.coverage_limits.1,
                })
                .collect(),
        });
        DotsPanel {
            title: self.title.clone(),
            y_label: "coverage".to_owned(),
            x_label: self.x_label.to_owned(),
            groups: groups.collect(),
            nominal: Some(level),
        }
    }

    fn lengths(&self) -> BoxPanel {
        self.boxes("length", false, |s| Some(s.length))
    }

    fn omegas(&self) -> BoxPanel {
        self.boxes("chosen ω", true, |s| s.method.chooses_omega().then_some(s.omega))
    }

    fn boxes(
        &self,
        y_label: &str,
        log: bool,
        of: impl Fn(&Summary) -> Option<[f64; 5]>,
    ) -> BoxPanel {
        let one = |s: &&Summary| {
            let [min, q1, median, q3, max] = of(s)?;
            let series = s.method.name().to_owned();
            Some(BoxSummary { series, min, q1, median, q3, max })
        };
        let groups = self.groups.iter().map(|(name, list)| BoxGroup {
            name: name.clone(),
            boxes: list.iter().filter_map(one).collect(),
        });
        BoxPanel {
            title: self.title.clone(),
            y_label: y_label.to_owned(),
            x_label: self.x_label.to_owned(),
            groups: groups.collect(),
            log,
            reference: None,
        }
    }
}
