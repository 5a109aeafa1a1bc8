//! Dots with error bars over groups and series, as for the coverage that a study measured.

use super::category::{CategoryAxis, distinct};
use super::figure::{Figure, FigurePanel, Scaled, on_one_scale};
use super::panel::{
    LegendMark, Margins, Panel, Rect, nothing_to_show, panel_title, ticks_up, title_room, y_axis,
    y_axis_room,
};
use super::scale::Scale;
use super::svg::Element;
use super::text;
use super::theme::{Paint, StyleBook, TICK_SIZE};

/// One value with its error bar.
#[derive(Clone, Debug, Default)]
pub struct Dot {
    /// The method or other series it belongs to.
    pub series: String,
    /// The value.
    pub value: f64,
    /// Lower end of the error bar; not finite for none.
    pub lower: f64,
    /// Upper end of the error bar; not finite for none.
    pub upper: f64,
}

/// The dots of one group.
#[derive(Clone, Debug, Default)]
pub struct DotsGroup {
    /// The group's name under the axis.
    pub name: String,
    /// At most one dot per series.
    pub dots: Vec<Dot>,
}

/// Groups of dots on one axis.
#[derive(Clone, Debug, Default)]
pub struct DotsPanel {
    /// The panel's title; may be empty.
    pub title: String,
    /// What is measured.
    pub y_label: String,
    /// What the groups are; may be empty.
    pub x_label: String,
    /// The groups from left to right.
    pub groups: Vec<DotsGroup>,
    /// The value aimed at, such as 0.95, drawn as a horizontal line.
    pub nominal: Option<f64>,
    /// What the axis must reach at least, so that several figures have the same one.
    pub over: Option<(f64, f64)>,
}

/// Panels of dots, on one scale.
pub type DotsFigure = Figure<DotsPanel>;

impl FigurePanel for DotsPanel {
    fn together(panels: &[Self]) -> Vec<Box<dyn Panel + '_>> {
        on_one_scale(panels)
    }
}

impl DotsPanel {
    fn axis(&self) -> CategoryAxis<'_> {
        let names = self.groups.iter().map(|group| group.name.as_str()).collect();
        CategoryAxis::new(names, self.series().len(), &self.x_label)
    }
}

impl Panel for DotsPanel {
    fn size(&self) -> (f64, f64) {
        (self.axis().width(14.0), 210.0)
    }

    fn margins(&self, width: f64, height: f64) -> Margins {
        self.margins_on(width, height, &self.scale())
    }

    fn series(&self) -> Vec<String> {
        distinct(self.groups.iter().flat_map(|g| g.dots.iter().map(|dot| dot.series.as_str())))
    }

    fn legend_mark(&self) -> LegendMark {
        LegendMark::Marker
    }

    fn draw(&self, plot: Rect, styles: &StyleBook) -> Element {
        self.draw_on(plot, styles, &self.scale())
    }

    fn describe(&self) -> String {
        let n = self.groups.len();
        format!("{} of {} in {n} groups.", self.y_label, self.series().join(", "))
    }
}

impl Scaled for DotsPanel {
    fn scale(&self) -> Scale {
        let dots = self.groups.iter().flat_map(|group| &group.dots);
        let values = dots.flat_map(|dot| [dot.value, dot.lower, dot.upper]);
        let reach = self.over.into_iter().flat_map(|(low, high)| [low, high]);
        Scale::linear_over(values.chain(self.nominal).chain(reach), 0.06)
    }

    fn margins_on(&self, width: f64, height: f64, scale: &Scale) -> Margins {
        let ticks = ticks_up(scale, height);
        Margins {
            top: title_room(&self.title, width),
            right: if self.nominal.is_some() { 36.0 } else { 12.0 },
            bottom: self.axis().room(width),
            left: y_axis_room(&ticks, &self.y_label),
        }
    }

    fn draw_on(&self, plot: Rect, styles: &StyleBook, scale: &Scale) -> Element {
        let y = scale.onto(plot.bottom(), plot.y);
        let (axis, series) = (self.axis(), self.series());
        let mut group = Element::group();
        axis.draw_bands(&mut group, plot);
        y_axis(&mut group, plot, &y, &ticks_up(&y, plot.height), &self.y_label);
        axis.draw(&mut group, plot);
        group.push_some(panel_title(plot, &self.title, 8.0));
        if let Some(height) = self.nominal.and_then(|value| y.position(value)) {
            let line = Element::line(plot.x, height, plot.right(), height);
            group.push(line.stroke(Paint::Text, 1.0).dash("5 3"));
            let label = self.nominal.map_or_else(String::new, |value| text::short(value, 3));
            let label = label.trim_end_matches('0').trim_end_matches('.').to_string();
            let text =
                Element::text(plot.right() + 5.0, height + TICK_SIZE * 0.36, TICK_SIZE, label);
            group.push(text.fill(Paint::Text));
        }
        for (i, members) in self.groups.iter().enumerate() {
            for dot in &members.dots {
                let Some(height) = y.position(dot.value) else { continue };
                let place = series.iter().position(|name| *name == dot.series).unwrap_or(0);
                let x = axis.position(plot, i, place);
                let style = styles.get(&dot.series);
                let mut mark = Element::group();
                if let (Some(low), Some(high)) = (y.position(dot.lower), y.position(dot.upper)) {
                    mark.push(Element::line(x, low, x, high).stroke(style.paint, 1.6));
                }
                mark.push(style.marker.draw(x, height, 3.5, style.paint));
                let value = text::short(dot.value, 3);
                group.push(mark.tooltip(format!("{}, {}: {value}", members.name, dot.series)));
            }
        }
        if self.groups.is_empty() {
            group.push(nothing_to_show(plot));
        }
        group
    }
}
