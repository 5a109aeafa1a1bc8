//! Intervals of many quantities by several methods, row by row, with their numbers and coverage at the side.

use trustvb::answers::{deserved, whole_percent};

use super::figure::{Figure, FigurePanel};
use super::panel::{
    LegendMark, Margins, Panel, Rect, interval_bar, nothing_to_show, overhang, panel_title,
    ticks_across, title_room, x_axis, x_axis_room,
};
use super::scale::{Scale, without_runaways};
use super::svg::Element;
use super::text;
use super::theme::{LABEL_SIZE, Paint, StyleBook, TICK_SIZE};

const LINE: f64 = 15.0;
const PAD: f64 = 9.0;
const MOST_LABEL: f64 = 210.0;
/// Intervals beyond the axis that are named.
const MOST_NOTED: usize = 4;

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
    /// How often such intervals are estimated to cover, where that is known.
    pub coverage: Option<f64>,
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

/// Panels of intervals, one below the other, each with an axis of its own: quantities in different units belong
/// into different panels.
pub type ForestFigure = Figure<ForestPanel>;

impl FigurePanel for ForestPanel {
    const COLUMNS: usize = 1;
}

impl ForestQuantity {
    fn height(&self) -> f64 {
        self.intervals.len().max(1) as f64 * LINE + PAD
    }

    /// The numbers of the intervals.
    fn numbers(&self) -> Vec<String> {
        self.intervals.iter().map(ForestInterval::numbers).collect()
    }
}

impl ForestInterval {
    /// Estimate and limits, rounded as in tables.
    fn numbers(&self) -> String {
        let end = |x: f64| match x {
            f64::INFINITY => "∞".to_owned(),
            f64::NEG_INFINITY => "−∞".to_owned(),
            x => text::with_minus(&deserved(x, self.upper - self.lower)),
        };
        format!("{} [{}, {}]", end(self.estimate), end(self.lower), end(self.upper))
    }

    fn covers(&self) -> String {
        let share = self.coverage.filter(|c| (0.0..=1.0).contains(c));
        share.map_or_else(String::new, |c| format!("covers {}", whole_percent(c)))
    }
}

impl ForestPanel {
    /// The axis spans all that is drawn, but for intervals that would squeeze all others.
    fn scale(&self) -> Scale {
        let intervals: Vec<(f64, f64, f64)> = self
            .quantities
            .iter()
            .flat_map(|q| q.intervals.iter().map(|i| (i.estimate, i.lower, i.upper)))
            .collect();
        let (low, high) = without_runaways(&intervals);
        let truths = self.quantities.iter().filter_map(|q| q.truth);
        Scale::linear_over([low, high].into_iter().chain(truths).chain(self.reference), 0.04)
    }

    /// Width of the numbers, and of what is said of coverage beside them.
    fn columns(&self) -> (f64, f64) {
        let widest = |texts: Vec<String>| {
            text::room(texts.iter().map(|t| text::width(t, TICK_SIZE)).fold(0.0, f64::max))
        };
        let intervals = || self.quantities.iter().flat_map(|q| &q.intervals);
        let numbers = widest(intervals().map(ForestInterval::numbers).collect());
        (numbers, widest(intervals().map(ForestInterval::covers).collect()))
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
        let names = self.quantities.iter().map(|q| text::width(&q.name, LABEL_SIZE));
        let left = names.fold(0.0, f64::max);
        let (numbers, covers) = self.columns();
        let right = numbers + if covers > 0.0 { covers + 12.0 } else { 0.0 };
        Margins {
            top: title_room(&self.title, width),
            right: (right + 12.0).max(overhang(&self.scale(), width)),
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
        let (beside, _) = self.columns();
        let mut top = plot.y;
        for quantity in &self.quantities {
            let height = quantity.height();
            let middle = top + height / 2.0;
            let shown = text::both_ends(&quantity.name, LABEL_SIZE, MOST_LABEL);
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
                let base = y + TICK_SIZE * 0.36;
                let text = Element::text(plot.right() + 8.0, base, TICK_SIZE, numbers);
                group.push(text.fill(Paint::Muted));
                let at = plot.right() + 20.0 + beside;
                let text = Element::text(at, base, TICK_SIZE, interval.covers());
                group.push(text.fill(Paint::Text));
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
                let texts: Vec<String> = intervals
                    .map(|(i, numbers)| {
                        format!("{} {numbers} {}", i.method, i.covers()).trim_end().to_owned()
                    })
                    .collect();
                format!("{}: {}", quantity.name, texts.join(", "))
            })
            .collect();
        format!("Intervals. {}.", rows.join("; "))
    }

    fn note(&self) -> Option<String> {
        let scale = self.scale();
        let beyond = |i: &&ForestInterval| {
            [i.lower, i.upper].iter().any(|x| x.is_finite() && !scale.contains(*x))
        };
        let mut names = Vec::new();
        for quantity in &self.quantities {
            let methods = quantity.intervals.iter().filter(beyond);
            names.extend(methods.map(|i| format!("{} of {}", i.method, quantity.name)));
        }
        names.dedup();
        let more = names.len().saturating_sub(MOST_NOTED);
        names.truncate(MOST_NOTED);
        if more > 0 {
            names.push(format!("and {more} more"));
        }
        (!names.is_empty())
            .then(|| format!("An arrow goes on beyond the axis: {}.", names.join(", ")))
    }
}
