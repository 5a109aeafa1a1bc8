//! Boxplots from five-number summaries, as for the lengths of intervals and the chosen ω in a study.

use super::category::{CategoryAxis, distinct};
use super::figure::{Figure, FigurePanel, Scaled, on_one_scale};
use super::panel::{
    LegendMark, Margins, Panel, Rect, nothing_to_show, panel_title, ticks_up, title_room, y_axis,
    y_axis_room,
};
use super::scale::Scale;
use super::svg::Element;
use super::text;
use super::theme::{Paint, StyleBook};

/// Panels share a scale unless one reaches this many times as far as another.
const MOST_UNLIKE: f64 = 4.0;

/// A distribution in five numbers.
#[derive(Clone, Debug, Default)]
pub struct BoxSummary {
    /// The method or other series it belongs to.
    pub series: String,
    /// Lower end of the whisker.
    pub min: f64,
    /// First quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// Upper end of the whisker.
    pub max: f64,
}

/// The boxes of one group.
#[derive(Clone, Debug, Default)]
pub struct BoxGroup {
    /// The group's name under the axis.
    pub name: String,
    /// At most one box per series.
    pub boxes: Vec<BoxSummary>,
}

/// Groups of boxes on one axis.
#[derive(Clone, Debug, Default)]
pub struct BoxPanel {
    /// The panel's title; may be empty.
    pub title: String,
    /// What is measured.
    pub y_label: String,
    /// What the groups are; may be empty.
    pub x_label: String,
    /// The groups from left to right.
    pub groups: Vec<BoxGroup>,
    /// Whether the axis is logarithmic, as it should be for ω.
    pub log: bool,
    /// A value to compare with, drawn as a horizontal line.
    pub reference: Option<f64>,
    /// What the axis must reach at least, so that panels that are read together have the same one.
    pub over: Option<(f64, f64)>,
}

/// Panels of boxplots, on one scale where they are of about the same size.
pub type BoxFigure = Figure<BoxPanel>;

impl FigurePanel for BoxPanel {
    /// Lengths of a weight and of a mean say nothing about each other; those of one quantity do.
    fn together(panels: &[Self]) -> Vec<Box<dyn Panel + '_>> {
        let sizes = || panels.iter().map(|panel| panel.scale().limits().1);
        let (least, largest) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
        // Whoever says what axes must reach has thought of it.
        let said = panels.iter().any(|panel| panel.over.is_some());
        let alike = panels.iter().all(|panel| panel.log) || largest <= MOST_UNLIKE * least;
        if alike && !said {
            return on_one_scale(panels);
        }
        panels.iter().map(|panel| Box::new(panel) as Box<dyn Panel + '_>).collect()
    }
}

impl BoxPanel {
    fn axis(&self) -> CategoryAxis<'_> {
        let names = self.groups.iter().map(|group| group.name.as_str()).collect();
        CategoryAxis::new(names, self.series().len(), &self.x_label)
    }
}

fn draw_box(summary: &BoxSummary, x: f64, half: f64, y: &Scale, paint: Paint) -> Element {
    let mut group = Element::group();
    let place = |value: f64| y.clamped(value);
    if let (Some(q1), Some(q3)) = (place(summary.q1), place(summary.q3)) {
        for (from, to) in [(q1, place(summary.min)), (q3, place(summary.max))] {
            let Some(to) = to else { continue };
            group.push(Element::line(x, from, x, to).stroke(paint, 1.3));
            group.push(Element::line(x - half * 0.5, to, x + half * 0.5, to).stroke(paint, 1.3));
        }
        let (top, height) = (q1.min(q3), (q1 - q3).abs());
        group.push(Element::rect(x - half, top, 2.0 * half, height).fill(Paint::Background));
        let body = Element::rect(x - half, top, 2.0 * half, height).fill(paint);
        group.push(body.attr("fill-opacity", "0.3").stroke(paint, 1.3));
    }
    if let Some(median) = place(summary.median) {
        group.push(Element::line(x - half, median, x + half, median).stroke(paint, 2.4));
    }
    group
}

impl Panel for BoxPanel {
    fn size(&self) -> (f64, f64) {
        (self.axis().width(20.0), 210.0)
    }

    fn margins(&self, width: f64, height: f64) -> Margins {
        self.margins_on(width, height, &self.scale())
    }

    fn series(&self) -> Vec<String> {
        distinct(self.groups.iter().flat_map(|g| g.boxes.iter().map(|b| b.series.as_str())))
    }

    fn legend_mark(&self) -> LegendMark {
        LegendMark::Box
    }

    fn draw(&self, plot: Rect, styles: &StyleBook) -> Element {
        self.draw_on(plot, styles, &self.scale())
    }

    fn describe(&self) -> String {
        let n = self.groups.len();
        format!("Boxplots of {} for {} in {n} groups.", self.y_label, self.series().join(", "))
    }
}

impl Scaled for BoxPanel {
    fn scale(&self) -> Scale {
        let boxes = self.groups.iter().flat_map(|group| &group.boxes);
        let values = boxes.flat_map(|b| [b.min, b.q1, b.median, b.q3, b.max]);
        let reach = self.over.into_iter().flat_map(|(low, high)| [low, high]);
        let values = values.chain(self.reference).chain(reach);
        if self.log { Scale::log_over(values, 0.05) } else { Scale::linear_over(values, 0.05) }
    }

    fn margins_on(&self, width: f64, height: f64, scale: &Scale) -> Margins {
        let ticks = ticks_up(scale, height);
        Margins {
            top: title_room(&self.title, width),
            right: 12.0,
            bottom: self.axis().room(width),
            left: y_axis_room(&ticks, &self.y_label),
        }
    }

    fn draw_on(&self, plot: Rect, styles: &StyleBook, scale: &Scale) -> Element {
        let y = scale.onto(plot.bottom(), plot.y);
        let (axis, series) = (self.axis(), self.series());
        let half = (axis.step(plot.width) * 0.38).max(1.5);
        let mut group = Element::group();
        axis.draw_bands(&mut group, plot);
        y_axis(&mut group, plot, &y, &ticks_up(&y, plot.height), &self.y_label);
        axis.draw(&mut group, plot);
        group.push_some(panel_title(plot, &self.title, 8.0));
        if let Some(height) = self.reference.and_then(|value| y.position(value)) {
            let line = Element::line(plot.x, height, plot.right(), height);
            group.push(line.stroke(Paint::Text, 1.0).dash("5 3"));
        }
        for (i, members) in self.groups.iter().enumerate() {
            for summary in &members.boxes {
                let place = series.iter().position(|name| *name == summary.series).unwrap_or(0);
                let x = axis.position(plot, i, place);
                let paint = styles.get(&summary.series).paint;
                let median = text::short(summary.median, 3);
                let tip = format!("{}, {}: median {median}", members.name, summary.series);
                group.push(draw_box(summary, x, half, &y, paint).tooltip(tip));
            }
        }
        if self.groups.is_empty() {
            group.push(nothing_to_show(plot));
        }
        group
    }
}
