//! The axis of named groups that dots and boxes share.

use super::panel::{Rect, x_axis_room, x_label};
use super::svg::Element;
use super::text;
use super::theme::{Paint, TICK_SIZE};

const LABEL_LINES: usize = 3;
const LINE: f64 = TICK_SIZE + 2.5;

/// Groups side by side, each with a place for every series.
pub(crate) struct CategoryAxis<'a> {
    groups: Vec<&'a str>,
    n_series: usize,
    label: &'a str,
}

impl<'a> CategoryAxis<'a> {
    /// An axis of these groups; every group has room for the same number of series.
    pub(crate) fn new(groups: Vec<&'a str>, n_series: usize, label: &'a str) -> Self {
        CategoryAxis { groups, n_series: n_series.max(1), label }
    }

    /// The natural width of the plotting area.
    pub(crate) fn width(&self, per_series: f64) -> f64 {
        let names = self.groups.iter().map(|name| text::width(name, TICK_SIZE));
        let longest = names.fold(0.0, f64::max).min(110.0) + 10.0;
        let slot = (self.n_series as f64 * per_series + 22.0).max(58.0).max(longest);
        (self.groups.len() as f64 * slot).clamp(220.0, 1100.0)
    }

    fn slot(&self, width: f64) -> f64 {
        width / self.groups.len().max(1) as f64
    }

    /// The distance between neighbouring series in a group.
    pub(crate) fn step(&self, width: f64) -> f64 {
        (self.slot(width) * 0.78 / self.n_series as f64).min(26.0)
    }

    /// The centre of a series in a group.
    pub(crate) fn position(&self, plot: Rect, group: usize, series: usize) -> f64 {
        let offset = series as f64 - (self.n_series as f64 - 1.0) / 2.0;
        plot.x + (group as f64 + 0.5) * self.slot(plot.width) + offset * self.step(plot.width)
    }

    fn labels(&self, width: f64) -> Vec<Vec<String>> {
        let room = self.slot(width) - 6.0;
        self.groups.iter().map(|name| text::wrap(name, TICK_SIZE, room, LABEL_LINES)).collect()
    }

    /// Room below the plotting area.
    pub(crate) fn room(&self, width: f64) -> f64 {
        let lines = self.labels(width).iter().map(Vec::len).max().unwrap_or(1).max(1);
        x_axis_room(self.label) + (lines - 1) as f64 * LINE
    }

    /// Draws the bands behind the groups.
    pub(crate) fn draw_bands(&self, group: &mut Element, plot: Rect) {
        let slot = self.slot(plot.width);
        for i in (0..self.groups.len()).step_by(2).filter(|_| self.groups.len() > 1) {
            let band = Element::rect(plot.x + i as f64 * slot, plot.y, slot, plot.height);
            group.push(band.fill(Paint::Band));
        }
    }

    /// Draws the line and the names of the groups.
    pub(crate) fn draw(&self, group: &mut Element, plot: Rect) {
        let bottom = plot.bottom();
        for (i, lines) in self.labels(plot.width).into_iter().enumerate() {
            let x = plot.x + (i as f64 + 0.5) * self.slot(plot.width);
            for (j, line) in lines.into_iter().enumerate() {
                let y = bottom + 7.0 + TICK_SIZE + j as f64 * LINE;
                let text = Element::text(x, y, TICK_SIZE, line).anchor("middle").fill(Paint::Muted);
                group.push(text.tooltip(self.groups[i]));
            }
        }
        x_label(group, plot, self.label, bottom + self.room(plot.width) - 4.0);
        group.push(Element::line(plot.x, bottom, plot.right(), bottom).stroke(Paint::Axis, 1.0));
    }
}

/// Names in order of first appearance.
pub(crate) fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in names {
        if !found.iter().any(|known| known == name) {
            found.push(name.to_string());
        }
    }
    found
}
