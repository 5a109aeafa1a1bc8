//! A criterion against the number of components: one line per shape, the chosen one marked.

use super::figure::{Figure, FigurePanel};
use super::panel::{
    Margins, Panel, Rect, clipped, edged_marker, nothing_to_show, overhang, panel_title, runs,
    ticks_up, title_room, x_axis, x_axis_room, y_axis, y_axis_room,
};
use super::scale::{Scale, Tick};
use super::svg::Element;
use super::text;
use super::theme::{Marker, Paint, StyleBook};

const X_LABEL: &str = "components";
/// Numbers that are written along the axis at most.
const MOST_TICKS: usize = 12;
/// Values this many times as far from the best as the middle one are left out of the axis: one component is often
/// arbitrarily bad.
const FAR: f64 = 3.0;

/// The values of one shape.
#[derive(Clone, Debug, Default)]
pub struct SelectionLine {
    /// Its name; the same for all in a figure without shapes.
    pub name: String,
    /// Numbers of components.
    pub components: Vec<usize>,
    /// The criterion for each; values that are not finite leave a gap.
    pub values: Vec<f64>,
}

/// One criterion of several models.
#[derive(Clone, Debug, Default)]
pub struct SelectionPanel {
    /// The criterion's name.
    pub criterion: String,
    /// Whether a lower value is better.
    pub lower_is_better: bool,
    /// One line per shape.
    pub lines: Vec<SelectionLine>,
    /// Line and place of the best value.
    pub best: Option<(usize, usize)>,
    /// Whether this is what was chosen by.
    pub decides: bool,
}

/// Several criteria, a panel each.
pub type SelectionFigure = Figure<SelectionPanel>;

impl FigurePanel for SelectionPanel {
    const COLUMNS: usize = 3;
}

impl SelectionPanel {
    fn label(&self) -> String {
        let better = if self.lower_is_better { "lower" } else { "higher" };
        format!("{} ({better} is better)", self.criterion)
    }

    fn title(&self) -> String {
        if self.decides { format!("{} decides", self.criterion) } else { self.criterion.clone() }
    }

    fn scales(&self) -> (Scale, Scale) {
        let all = || self.lines.iter().flat_map(|line| line.components.iter().copied());
        let (low, high) = (all().min().unwrap_or(1), all().max().unwrap_or(1));
        let sign = if self.lower_is_better { 1.0 } else { -1.0 };
        let values = self.lines.iter().flat_map(|line| line.values.iter().copied());
        let mut costs: Vec<f64> = values.filter(|x| x.is_finite()).map(|x| sign * x).collect();
        costs.sort_by(f64::total_cmp);
        let shown: Vec<f64> = match costs.as_slice() {
            [] => vec![0.0, 1.0],
            [best, ..] => {
                let most = best + FAR * (costs[costs.len() / 2] - best).max(1.0);
                costs.iter().filter(|x| **x <= most).map(|x| sign * x).collect()
            }
        };
        let x = Scale::linear(low as f64 - 0.3, high as f64 + 0.3);
        (x, Scale::linear_over(shown, 0.08))
    }

    fn ticks(&self) -> Vec<Tick> {
        let mut all: Vec<usize> =
            self.lines.iter().flat_map(|line| line.components.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        let step = all.len().div_ceil(MOST_TICKS).max(1);
        let tick = |k: &usize| Tick { value: *k as f64, label: k.to_string() };
        all.iter().step_by(step).map(tick).collect()
    }
}

impl Panel for SelectionPanel {
    fn size(&self) -> (f64, f64) {
        (230.0, 190.0)
    }

    fn margins(&self, width: f64, height: f64) -> Margins {
        let (x, y) = self.scales();
        Margins {
            top: title_room(&self.title(), width),
            right: overhang(&x, width),
            bottom: x_axis_room(X_LABEL),
            left: y_axis_room(&ticks_up(&y, height), &self.label()),
        }
    }

    /// A line without a name needs no legend.
    fn series(&self) -> Vec<String> {
        let names = self.lines.iter().map(|line| line.name.clone());
        names.filter(|name| !name.is_empty()).collect()
    }

    fn draw(&self, plot: Rect, styles: &StyleBook) -> Element {
        let (x, y) = self.scales();
        let (x, y) = (x.onto(plot.x, plot.right()), y.onto(plot.bottom(), plot.y));
        let mut group = Element::group();
        y_axis(&mut group, plot, &y, &ticks_up(&y, plot.height), &self.label());
        x_axis(&mut group, plot, &x, &self.ticks(), X_LABEL);
        group.push_some(panel_title(plot, &self.title(), 8.0));
        let mut inside = clipped(&mut group, plot, 1.0);
        let mut empty = true;
        for line in &self.lines {
            let style = styles.get(&line.name);
            let points = || line.components.iter().zip(&line.values);
            let place = |(k, value): (&usize, &f64)| {
                let at = y.position(*value).filter(|_| value.is_finite())?;
                Some((x.position(*k as f64)?, at))
            };
            for run in runs(points().map(place)) {
                let path = Element::path(&run, false).map(|path| {
                    path.no_fill().stroke(style.paint, 1.9).dash(style.dash).tooltip(&line.name)
                });
                inside.push_some(path);
            }
            for (k, value) in points().filter(|(_, value)| y.contains(**value)) {
                let Some((px, py)) = place((k, value)) else { continue };
                empty = false;
                let tip = format!("{} {k}: {}", line.name, text::short(*value, 7));
                inside.push(style.marker.draw(px, py, 3.2, style.paint).tooltip(tip));
            }
        }
        group.push(inside);
        let best = self.best.and_then(|(line, at)| {
            let line = self.lines.get(line)?;
            let (k, value) = (*line.components.get(at)?, *line.values.get(at)?);
            Some((x.position(k as f64)?, y.position(value)?, k, line))
        });
        if let Some((px, py, k, line)) = best {
            let ring = Element::circle(px, py, 7.5).no_fill().stroke(Paint::Text, 1.6);
            group.push(ring.tooltip(format!("best: {k} {}", line.name)));
            let style = styles.get(&line.name);
            group.push(edged_marker(Marker::Disc, px, py, 3.4, style.paint));
        }
        if empty {
            group.push(nothing_to_show(plot));
        }
        group
    }

    fn describe(&self) -> String {
        let best = self.best.and_then(|(line, at)| {
            let line = self.lines.get(line)?;
            Some((line.components.get(at)?, line.values.get(at)?, &line.name))
        });
        match best {
            None => format!("{} by number of components; there is none.", self.criterion),
            Some((k, value, name)) => format!(
                "{} by number of components; the best is {} for {k} {}.",
                self.criterion,
                text::short(*value, 7),
                if name.is_empty() { "components" } else { name }
            ),
        }
    }
}
