//! Intervals of many quantities by several methods, row by row, with their numbers at the side.

use super::grid::Grid;
use super::panel::{
    LegendMark, Margins, Panel, Rect, interval_bar, nothing_to_show, overhang, panel_title,
    ticks_across, title_room, x_axis, x_axis_room,
};
use super::scale::Scale;
use super::svg::Element;
use super::text;
use super::theme::{LABEL_SIZE, Paint, StyleBook, TICK_SIZE};

const LINE: f64 = 15.0;
const PAD: f64 = 9.0;
const MOST_LABEL: f64 = 210.0;

/// One interval.
#[derive(Clone, Debug, Default)]
pub struct ForestInterval {
    /// The method's name.
    pub method: String,
    /// The point estimate.
    pub estimate: f64,
    /// Lower limit; an infinite one is drawn as an arrow.
    pub lower: f64,
    /// Upper limit; an infinite one is drawn as an arrow.
    pub upper: f64,
}

/// A quantity with its intervals.
#[derive(Clone, Debug, Default)]
pub struct ForestQuantity {
    /// Its name.
    pub name: String,
    /// One interval per method.
    pub intervals: Vec<ForestInterval>,
    /// A known true value.
    pub truth: Option<f64>,
}

/// Quantities that share an axis.
#[derive(Clone, Debug, Default)]
pub struct ForestPanel {
    /// The panel's title; may be empty.
    pub title: String,
    /// The axis' title, with units; may be empty.
    pub x_label: String,
    /// The quantities from top to bottom.
    pub quantities: Vec<ForestQuantity>,
    /// A value to compare with, such as 0, drawn as a vertical line.
    pub reference: Option<f64>,
}

/// Panels of intervals, one below the other, each with an axis of its own.
///
/// Quantities in different units belong into different panels.
#[derive(Clone, Debug, Default)]
pub struct ForestFigure {
    /// The figure's title; may be empty.
    pub title: String,
    /// Text under the figure; may be empty.
    pub caption: String,
    /// The panels from top to bottom.
    pub panels: Vec<ForestPanel>,
}

impl ForestFigure {
    /// The figure as an SVG document.
    pub fn render(&self) -> String {
        Grid::new(&self.title).caption(&self.caption).flow(&self.panels, 1).render()
    }
}

impl ForestQuantity {
    fn height(&self) -> f64 {
        self.intervals.len().max(1) as f64 * LINE + PAD
    }

    /// The numbers of the intervals, all with the same decimals.
    fn numbers(&self) -> Vec<String> {
        let values: Vec<f64> =
            self.intervals.iter().flat_map(|i| [i.estimate, i.lower, i.upper]).collect();
        text::aligned(&values)
            .chunks_exact(3)
            .zip(&self.intervals)
            .map(|(n, i)| {
                let end = |value: f64, shown: &String, sign: &str| {
                    if value.is_infinite() { format!("{sign}∞") } else { shown.clone() }
                };
                format!("{} [{}, {}]", n[0], end(i.lower, &n[1], "−"), end(i.upper, &n[2], ""))
            })
            .collect()
    }
}

impl ForestPanel {
    fn scale(&self) -> Scale {
        let ends = self.quantities.iter().flat_map(|q| {
            let ends = q.intervals.iter().flat_map(|i| [i.estimate, i.lower, i.upper]);
            ends.chain(q.truth)
        });
        Scale::linear_over(ends.chain(self.reference), 0.04)
    }
}

fn draw_interval(
    interval: &ForestInterval,
    numbers: &str,
    y: f64,
    x: &Scale,
    styles: &StyleBook,
) -> Element {
    let style = styles.get(&interval.method);
    let mut group = Element::group();
    group.push_some(interval_bar(x, y, (interval.lower, interval.upper), style.paint));
    if let Some(centre) = x.clamped(interval.estimate) {
        group.push(style.marker.draw(centre, y, 3.6, style.paint));
    }
    group.tooltip(format!("{}: {numbers}", interval.method))
}

impl Panel for ForestPanel {
    fn size(&self) -> (f64, f64) {
        (360.0, self.quantities.iter().map(ForestQuantity::height).sum::<f64>().max(40.0))
    }

    fn margins(&self, width: f64, _height: f64) -> Margins {
        let widest = |size: f64, names: &mut dyn Iterator<Item = String>| {
            names.map(|name| text::width(&name, size)).fold(0.0, f64::max)
        };
        let left = widest(LABEL_SIZE, &mut self.quantities.iter().map(|q| q.name.clone()));
        let right = widest(TICK_SIZE, &mut self.quantities.iter().flat_map(|q| q.numbers()));
        Margins {
            top: title_room(&self.title),
            right: (text::room(right) + 12.0).max(overhang(&self.scale(), width)),
            bottom: x_axis_room(&self.x_label),
            left: text::room(left.min(MOST_LABEL)) + 12.0,
        }
    }

    fn series(&self) -> Vec<String> {
        let intervals = self.quantities.iter().flat_map(|q| &q.intervals);
        intervals.map(|interval| interval.method.clone()).collect()
    }

    fn legend_mark(&self) -> LegendMark {
        LegendMark::Marker
    }

    fn draw(&self, plot: Rect, styles: &StyleBook) -> Element {
        let x = self.scale().onto(plot.x, plot.right());
        let mut group = Element::group();
        let mut y = plot.y;
        for (i, quantity) in self.quantities.iter().enumerate() {
            if i % 2 == 0 {
                let band = Element::rect(plot.x, y, plot.width, quantity.height());
                group.push(band.fill(Paint::Band));
            }
            y += quantity.height();
        }
        x_axis(&mut group, plot, &x, &ticks_across(&x, plot.width), &self.x_label);
        group.push_some(panel_title(plot, &self.title, 8.0));
        if let Some(at) = self.reference.and_then(|value| x.position(value)) {
            let line = Element::line(at, plot.y, at, plot.bottom()).stroke(Paint::Text, 1.0);
            group.push(line.dash("5 3"));
        }
        let mut top = plot.y;
        for quantity in &self.quantities {
            let height = quantity.height();
            let middle = top + height / 2.0;
            let shown = text::shorten(&quantity.name, LABEL_SIZE, MOST_LABEL);
            let label = Element::text(plot.x - 8.0, middle + LABEL_SIZE * 0.36, LABEL_SIZE, shown);
            group.push(label.anchor("end").fill(Paint::Text).tooltip(&quantity.name));
            if let Some(at) = quantity.truth.and_then(|value| x.position(value)) {
                let line = Element::line(at, top + 2.0, at, top + height - 2.0);
                group.push(line.stroke(Paint::Muted, 1.4).dash("1.5 2").tooltip("true value"));
            }
            for (i, (interval, numbers)) in
                quantity.intervals.iter().zip(quantity.numbers()).enumerate()
            {
                let y = top + PAD / 2.0 + (i as f64 + 0.5) * LINE;
                group.push(draw_interval(interval, &numbers, y, &x, styles));
                let text =
                    Element::text(plot.right() + 8.0, y + TICK_SIZE * 0.36, TICK_SIZE, numbers);
                group.push(text.fill(Paint::Muted));
            }
            top += height;
        }
        if self.quantities.is_empty() {
            group.push(nothing_to_show(plot));
        }
        group
    }

    fn describe(&self) -> String {
        let rows: Vec<String> = self
            .quantities
            .iter()
            .map(|quantity| {
                let intervals = quantity.intervals.iter().zip(quantity.numbers());
                let texts: Vec<String> =
                    intervals.map(|(i, numbers)| format!("{} {numbers}", i.method)).collect();
                format!("{}: {}", quantity.name, texts.join(", "))
            })
            .collect();
        format!("Intervals. {}.", rows.join("; "))
    }
}
