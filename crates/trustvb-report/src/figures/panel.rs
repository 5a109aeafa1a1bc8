//! What a panel is to the grid that places it, and the axes that panels draw around their data.

use super::scale::{Scale, Tick};
use super::svg::{Element, number};
use super::text;
use super::theme::{LABEL_SIZE, Marker, PANEL_SIZE, Paint, StyleBook, TICK_SIZE};

/// A rectangle in pixels, y downwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Rect {
    /// The right edge.
    pub fn right(&self) -> f64 {
        self.x + self.width
    }

    /// The lower edge.
    pub fn bottom(&self) -> f64 {
        self.y + self.height
    }
}

/// The room a panel needs around its plotting area for titles, ticks and labels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Margins {
    /// Above.
    pub top: f64,
    /// To the right.
    pub right: f64,
    /// Below.
    pub bottom: f64,
    /// To the left.
    pub left: f64,
}

/// How the series of a panel are shown in the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LegendMark {
    /// A piece of line in the series' dashes.
    Line,
    /// The marker on a short error bar.
    Marker,
    /// A small box.
    Box,
}

/// One plotting area with what belongs to it.
///
/// A panel says how large its data area would like to be and how much room it needs around it,
/// and draws into the area it is given. It does not know its neighbours: the grid takes the
/// largest margins of a row or column, so that the data areas line up, and hands every panel
/// the same styles, so that a method has one look in the whole figure.
pub trait Panel {
    /// Natural width and height of the plotting area.
    fn size(&self) -> (f64, f64);
    /// The room needed around a plotting area of this width and height.
    fn margins(&self, width: f64, height: f64) -> Margins;
    /// The names that appear in the legend, in order.
    fn series(&self) -> Vec<String>;
    /// How those names are marked in the legend.
    fn legend_mark(&self) -> LegendMark {
        LegendMark::Line
    }
    /// Draws the panel around the given plotting area.
    fn draw(&self, plot: Rect, styles: &StyleBook) -> Element;
    /// What the panel shows, in a sentence for those who cannot see it.
    fn describe(&self) -> String;
    /// A remark that must stand under the figure.
    fn note(&self) -> Option<String> {
        None
    }
}

macro_rules! forward_panel {
    ($kind:ty) => {
        impl<P: Panel + ?Sized> Panel for $kind {
            fn size(&self) -> (f64, f64) {
                (**self).size()
            }

            fn margins(&self, width: f64, height: f64) -> Margins {
                (**self).margins(width, height)
            }

            fn series(&self) -> Vec<String> {
                (**self).series()
            }

            fn legend_mark(&self) -> LegendMark {
                (**self).legend_mark()
            }

            fn draw(&self, plot: Rect, styles: &StyleBook) -> Element {
                (**self).draw(plot, styles)
            }

            fn describe(&self) -> String {
                (**self).describe()
            }

            fn note(&self) -> Option<String> {
                (**self).note()
            }
        }
    };
}

forward_panel!(&P);
forward_panel!(Box<P>);

/// Lines that a panel's title may take, and the height of each but the first.
const TITLE_LINES: usize = 2;
const TITLE_LINE: f64 = PANEL_SIZE + 3.0;

/// A panel's title as it fits above a plotting area of this width.
fn title_lines(title: &str, width: f64) -> Vec<String> {
    let lines = text::lines(title, text::bold(PANEL_SIZE), width, TITLE_LINES);
    lines.iter().map(|line| text::both_ends(line, text::bold(PANEL_SIZE), width)).collect()
}

/// Height of a panel title with the space under it; nothing for an empty title.
pub(crate) fn title_room(title: &str, width: f64) -> f64 {
    match title_lines(title, width).len() {
        0 => 8.0,
        lines => PANEL_SIZE + 10.0 + TITLE_LINE * (lines - 1) as f64,
    }
}

/// A panel's title, `lift` pixels above the plotting area.
pub(crate) fn panel_title(plot: Rect, title: &str, lift: f64) -> Option<Element> {
    let lines = title_lines(title, plot.width);
    let last = lines.len().checked_sub(1)?;
    let mut group = Element::group();
    for (i, line) in lines.into_iter().enumerate() {
        let y = plot.y - lift - TITLE_LINE * (last - i) as f64;
        group.push(Element::text(plot.x, y, PANEL_SIZE, line).fill(Paint::Text).bold());
    }
    Some(group.tooltip(title))
}

/// Ticks whose labels fit side by side in `length` pixels.
pub(crate) fn ticks_across(scale: &Scale, length: f64) -> Vec<Tick> {
    let scale = scale.onto(0.0, length);
    for target in (2..=((length / 55.0) as usize).max(3)).rev() {
        let ticks = scale.ticks(target);
        let mut end = f64::NEG_INFINITY;
        let fits = ticks.iter().filter(|t| !t.label.is_empty()).all(|tick| {
            let x = scale.position(tick.value).unwrap_or(0.0);
            let half = text::width(&tick.label, TICK_SIZE) / 2.0;
            let clear = x - half > end + 8.0;
            end = x + half;
            clear
        });
        if fits {
            return ticks;
        }
    }
    scale.ticks(2)
}

/// Room right of the plotting area for the half of the last tick label that sticks out.
pub(crate) fn overhang(scale: &Scale, length: f64) -> f64 {
    let onto = scale.onto(0.0, length);
    let end = |tick: &Tick| {
        let x = onto.position(tick.value).unwrap_or(0.0);
        x + text::width(&tick.label, TICK_SIZE) / 2.0 - length
    };
    ticks_across(scale, length).iter().map(end).fold(12.0, f64::max)
}

/// Ticks for a vertical axis of `length` pixels.
pub(crate) fn ticks_up(scale: &Scale, length: f64) -> Vec<Tick> {
    scale.ticks(((length / 34.0) as usize).max(2))
}

/// Room below the plotting area for a horizontal axis.
pub(crate) fn x_axis_room(label: &str) -> f64 {
    let ticks = 8.0 + TICK_SIZE;
    if label.is_empty() { ticks + 2.0 } else { ticks + LABEL_SIZE + 9.0 }
}

/// Room left of the plotting area for a vertical axis with these ticks.
pub(crate) fn y_axis_room(ticks: &[Tick], label: &str) -> f64 {
    tick_width(ticks) + 10.0 + if label.is_empty() { 0.0 } else { LABEL_SIZE + 8.0 }
}

fn tick_width(ticks: &[Tick]) -> f64 {
    text::room(ticks.iter().map(|t| text::width(&t.label, TICK_SIZE)).fold(0.0, f64::max))
}

/// Draws a horizontal axis along the lower edge, with grid lines.
pub(crate) fn x_axis(group: &mut Element, plot: Rect, scale: &Scale, ticks: &[Tick], label: &str) {
    for tick in ticks {
        let Some(x) = scale.position(tick.value) else { continue };
        let bottom = plot.bottom();
        if tick.label.is_empty() {
            group.push(Element::line(x, bottom, x, bottom + 2.5).stroke(Paint::Axis, 0.75));
            continue;
        }
        group.push(Element::line(x, plot.y, x, bottom).stroke(Paint::Grid, 1.0));
        group.push(Element::line(x, bottom, x, bottom + 4.5).stroke(Paint::Axis, 1.0));
        let y = bottom + 7.0 + TICK_SIZE;
        let text = Element::text(x, y, TICK_SIZE, tick.label.clone());
        group.push(text.anchor("middle").fill(Paint::Muted));
    }
    x_label(group, plot, label, plot.bottom() + x_axis_room(label) - 4.0);
    group.push(
        Element::line(plot.x, plot.bottom(), plot.right(), plot.bottom()).stroke(Paint::Axis, 1.0),
    );
}

/// Writes the title of a horizontal axis at a height.
pub(crate) fn x_label(group: &mut Element, plot: Rect, label: &str, y: f64) {
    if label.is_empty() {
        return;
    }
    let shown = text::both_ends(label, LABEL_SIZE, plot.width + 20.0);
    let element = Element::text(plot.x + plot.width / 2.0, y, LABEL_SIZE, shown);
    group.push(element.anchor("middle").fill(Paint::Text));
}

/// Draws a vertical axis along the left edge, with grid lines.
pub(crate) fn y_axis(group: &mut Element, plot: Rect, scale: &Scale, ticks: &[Tick], label: &str) {
    for tick in ticks {
        let Some(y) = scale.position(tick.value) else { continue };
        if tick.label.is_empty() {
            group.push(Element::line(plot.x - 2.5, y, plot.x, y).stroke(Paint::Axis, 0.75));
            continue;
        }
        group.push(Element::line(plot.x, y, plot.right(), y).stroke(Paint::Grid, 1.0));
        group.push(Element::line(plot.x - 4.5, y, plot.x, y).stroke(Paint::Axis, 1.0));
        let text = Element::text(plot.x - 8.0, y + TICK_SIZE * 0.36, TICK_SIZE, tick.label.clone());
        group.push(text.anchor("end").fill(Paint::Muted));
    }
    y_label(group, plot, label, tick_width(ticks) + 10.0);
    group.push(Element::line(plot.x, plot.y, plot.x, plot.bottom()).stroke(Paint::Axis, 1.0));
}

/// Writes the title of a vertical axis, turned, `offset` pixels left of the plotting area.
pub(crate) fn y_label(group: &mut Element, plot: Rect, label: &str, offset: f64) {
    if label.is_empty() {
        return;
    }
    let (x, y) = (plot.x - offset - 5.0, plot.y + plot.height / 2.0);
    let shown = text::both_ends(label, LABEL_SIZE, plot.height + 16.0);
    let element = Element::text(x, y, LABEL_SIZE, shown)
        .attr("transform", format!("rotate(-90 {} {})", number(x), number(y)));
    group.push(element.anchor("middle").fill(Paint::Text));
}

/// A group that shows only what lies inside the plotting area, with `slack` pixels around it.
///
/// The name of the clip is its geometry, so that several figures inlined in one page cannot
/// take each other's clips.
pub(crate) fn clipped(parent: &mut Element, plot: Rect, slack: f64) -> Element {
    let area = Rect {
        x: plot.x - slack,
        y: plot.y - slack,
        width: plot.width + 2.0 * slack,
        height: plot.height + 2.0 * slack,
    };
    let id = format!(
        "tvb-clip-{}-{}-{}-{}",
        number(area.x),
        number(area.y),
        number(area.width),
        number(area.height)
    );
    let reference = format!("url(#{id})");
    parent.push(Element::new("clipPath").attr("id", id).child(Element::rect(
        area.x,
        area.y,
        area.width,
        area.height,
    )));
    Element::group().attr("clip-path", reference)
}

/// Splits a series at values without a place into runs of pixel positions.
pub(crate) fn runs(points: impl Iterator<Item = Option<(f64, f64)>>) -> Vec<Vec<(f64, f64)>> {
    let mut runs = vec![Vec::new()];
    for point in points {
        match (point, runs.last_mut()) {
            (Some(point), Some(run)) => run.push(point),
            (None, Some(run)) if !run.is_empty() => runs.push(Vec::new()),
            _ => {}
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

/// A marker with a thin edge in the background's colour, which keeps it visible on lines.
pub(crate) fn edged_marker(marker: Marker, x: f64, y: f64, radius: f64, paint: Paint) -> Element {
    let element = marker.draw(x, y, radius, paint);
    if marker == Marker::Ring { element } else { element.stroke(Paint::Background, 0.8) }
}

/// A horizontal interval with a cap at each end, or an arrow where the end is infinite or beyond the axis.
pub(crate) fn interval_bar(
    x: &Scale,
    y: f64,
    (lower, upper): (f64, f64),
    paint: Paint,
) -> Option<Element> {
    let (left, right) = (x.clamped(lower)?, x.clamped(upper)?);
    let mut group = Element::group();
    group.push(Element::line(left, y, right, y).stroke(paint, 2.0));
    for (at, value, back) in [(left, lower, 5.0), (right, upper, -5.0)] {
        group.push_some(if x.contains(value) {
            let cap = Element::path(&[(at, y - 3.4), (at, y + 3.4)], false);
            cap.map(|cap| cap.no_fill().stroke(paint, 1.5))
        } else {
            arrow_head(at, y, back, paint)
        });
    }
    Some(group)
}

/// The head of an arrow that points away from `back`.
pub(crate) fn arrow_head(at: f64, y: f64, back: f64, paint: Paint) -> Option<Element> {
    let corners = [(at + back, y - 3.5), (at, y), (at + back, y + 3.5)];
    Element::path(&corners, false).map(|head| head.no_fill().stroke(paint, 1.5))
}

/// Says in the middle of an empty plotting area that it is empty on purpose.
pub(crate) fn nothing_to_show(plot: Rect) -> Element {
    let (x, y) = (plot.x + plot.width / 2.0, plot.y + plot.height / 2.0);
    Element::text(x, y, LABEL_SIZE, "nothing to show").anchor("middle").fill(Paint::Muted).halo()
}
