//! The figures of a study: coverage with its limits, lengths and chosen ω, a panel per design and
//! quantity.

use crate::failure::Failure;
use trustvb::answers::percent;
use trustvb::study::{Results, Summary};
use trustvb_report::{
    BoxFigure, BoxGroup, BoxPanel, BoxSummary, Dot, DotsFigure, DotsGroup, DotsPanel, SAVED_SCALE,
    render_png,
};

/// Keeps a file of the study under a name.
pub(super) type Keep<'a> = dyn Fn(&str, Vec<u8>) -> Result<(), Failure> + 'a;

/// Lengths that differ by more than this factor are drawn on a log scale.
const MOST_TIMES: f64 = 20.0;

/// More panels than this become one figure for each quantity.
pub(super) const MOST_PANELS: usize = 6;

/// Draws the figures as SVG and PNG: `coverage`, `length` and `omega`, or of a large study
/// `coverage-pi-1` and so on. They show the first level. Axes are the same wherever numbers can be compared: of coverage
/// and ω in all figures of the study, of lengths in all panels of a quantity.
pub(super) fn draw(keep: &Keep<'_>, results: &Results, summary: &[Summary]) -> Result<(), Failure> {
    let Some(&level) = results.study.levels.first() else { return Ok(()) };
    let shown: Vec<&Summary> = summary.iter().filter(|s| s.level == level).collect();
    let drawing = Drawing { keep, results, level, all: &shown };
    let mut quantities: Vec<&str> = Vec::new();
    for s in &shown {
        if !quantities.contains(&s.quantity.as_str()) {
            quantities.push(&s.quantity);
        }
    }
    if panels(results, &shown).len() <= MOST_PANELS {
        return drawing.draw("", &shown, &quantities);
    }
    for quantity in quantities {
        let own: Vec<&Summary> = shown.iter().copied().filter(|s| s.quantity == quantity).collect();
        drawing.draw(&format!("-{}", plain(quantity)), &own, &[quantity])?;
    }
    Ok(())
}

/// A quantity as part of a file's name: `mu[2,1] - mu[1,1]` is `mu-2-1-mu-1-1`.
pub(super) fn plain(quantity: &str) -> String {
    let words = quantity.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// All that figures of a study have in common.
struct Drawing<'a> {
    keep: &'a Keep<'a>,
    results: &'a Results,
    level: f64,
    all: &'a [&'a Summary],
}

impl Drawing<'_> {
    fn draw(&self, suffix: &str, shown: &[&Summary], of: &[&str]) -> Result<(), Failure> {
        let study = &self.results.study;
        let panels = panels(self.results, shown);
        // A figure of one quantity names it once.
        let what = match of {
            [one] => format!("{} intervals of {one}", percent(self.level)),
            _ => format!("{} intervals", percent(self.level)),
        };
        let about = about(self.results);
        let limits = |s: &&Summary| [s.coverage_limits.0, s.coverage_limits.1];
        let coverages = reach(self.all.iter().flat_map(limits));
        let dots = DotsFigure {
            title: format!("How often {what} hold the truth: {}", study.title),
            caption: format!(
                "Share of intervals that hold the truth, with Wilson's 95% limits; the line is what they claim. {about}"
            ),
            panels: panels.iter().map(|panel| panel.coverage(self.level, coverages)).collect(),
            columns: 0,
        };
        let length = |panel: &PanelData<'_>| {
            let own = self.all.iter().filter(|s| s.quantity == panel.quantity);
            panel.lengths(reach(own.flat_map(|s| s.length)))
        };
        let lengths = BoxFigure {
            title: format!("How long {what} are: {}", study.title),
            caption: format!("Quartiles, with whiskers from 5% to 95%. {about}"),
            panels: panels.iter().map(length).collect(),
            columns: 0,
        };
        let choosing = || self.all.iter().filter(|s| s.method.chooses_omega());
        let chosen = reach(choosing().flat_map(|s| s.omega));
        let omegas = BoxFigure {
            title: format!("The ω chosen for {what}: {}", study.title),
            caption: format!("Quartiles, with whiskers from 5% to 95%. {about}"),
            panels: panels.iter().map(|panel| panel.omegas(chosen)).collect(),
            columns: 0,
        };
        let mut figures = vec![("coverage", dots.render()), ("length", lengths.render())];
        if study.methods.iter().any(|m| m.chooses_omega()) {
            figures.push(("omega", omegas.render()));
        }
        figures.into_iter().try_for_each(|(name, svg)| save(self.keep, name, suffix, svg))
    }
}

/// The numbers behind a figure, for its caption.
pub(super) fn about(results: &Results) -> String {
    let study = &results.study;
    format!(
        "{} data sets in each cell, {} bootstraps, seed {}.",
        study.replications, study.bootstraps, study.seed
    )
}

/// Keeps a figure as SVG and PNG.
pub(super) fn save(keep: &Keep<'_>, name: &str, suffix: &str, svg: String) -> Result<(), Failure> {
    let png = render_png(&svg, SAVED_SCALE).map_err(Failure::run)?;
    keep(&format!("{name}{suffix}.png"), png)?;
    keep(&format!("{name}{suffix}.svg"), svg.into_bytes())
}

/// From the least to the largest of some numbers.
fn reach(numbers: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = numbers.filter(|x| x.is_finite());
    finite.fold(None, |reach, x| {
        let (low, high): (f64, f64) = reach.unwrap_or((x, x));
        Some((low.min(x), high.max(x)))
    })
}

/// What one panel shows: a design and a quantity, group after group.
struct PanelData<'a> {
    title: String,
    quantity: &'a str,
    x_label: &'static str,
    groups: Vec<(String, Vec<&'a Summary>)>,
}

fn panels<'a>(results: &Results, shown: &[&'a Summary]) -> Vec<PanelData<'a>> {
    let one = shown.windows(2).all(|pair| pair[0].quantity == pair[1].quantity);
    let mut panels: Vec<(usize, String, PanelData<'a>)> = Vec::new();
    for s in shown {
        let design = &results.study.designs[s.design];
        let at = panels.iter().position(|(d, q, _)| *d == s.design && *q == s.quantity);
        let at = at.unwrap_or_else(|| {
            let x_label = match design.size_name() {
                "n" => "rows n",
                _ => "rows per group",
            };
            let title = match (results.study.designs.len(), one) {
                (1, _) => s.quantity.clone(),
                (_, true) => design.shown().to_owned(),
                (_, false) => format!("{}: {}", design.shown(), s.quantity),
            };
            let panel = PanelData { title, quantity: &s.quantity, x_label, groups: Vec::new() };
            panels.push((s.design, s.quantity.clone(), panel));
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
    fn coverage(&self, level: f64, over: Option<(f64, f64)>) -> DotsPanel {
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
            over,
        }
    }

    fn lengths(&self, over: Option<(f64, f64)>) -> BoxPanel {
        // A method whose intervals run away must not make lines of all others.
        let log = over.is_some_and(|(low, high)| low > 0.0 && high > MOST_TIMES * low);
        let label = if log { "length, on a log scale" } else { "length" };
        BoxPanel { over, ..self.boxes(label, log, |s| Some(s.length)) }
    }

    fn omegas(&self, over: Option<(f64, f64)>) -> BoxPanel {
        let of = |s: &Summary| s.method.chooses_omega().then_some(s.omega);
        BoxPanel { over, ..self.boxes("chosen ω", true, of) }
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
            over: None,
        }
    }
}
