//! Densities of a functional, one per method, with the methods' intervals as bars under the curves.

use trustvb::answers::deserved;

use super::figure::{Figure, FigurePanel};
use super::panel::{
    Margins, Panel, Rect, clipped, interval_bar, nothing_to_show, overhang, panel_title, runs,
    ticks_across, title_room, x_axis, x_axis_room, y_label,
};
use super::scale::{Scale, extent, without_runaways};
use super::svg::Element;
use super::text;
use super::theme::{LABEL_SIZE, Paint, StyleBook, TICK_SIZE};

const BAR_STEP: f64 = 13.0;
const MOST_NAME: f64 = 90.0;
/// How far beyond all intervals a density is shown, in lengths of their span.
const TAILS: f64 = 1.0;

/// The density of a functional under one method, and the method's interval.
#[derive(Clone, Debug, Default)]
pub struct DensityCurve {
    /// The method's name: `vb`, `tvb`, `anchored` or any other.
    pub method: String,
    /// Where the density is given, in increasing order.
    pub x: Vec<f64>,
    /// The density there; values that are not finite leave a gap.
    pub y: Vec<f64>,
    /// The interval's lower limit.
    pub lower: f64,
    /// The interval's upper limit.
    pub upper: f64,
    /// The point estimate.
    pub estimate: f64,
}

/// The densities of one functional.
#[derive(Clone, Debug, Default)]
pub struct DensityPanel {
    /// The functional as the user typed it.
    pub functional: String,
    /// One curve per method; the first is drawn lowest.
    pub curves: Vec<DensityCurve>,
    /// A known true value, drawn as a vertical line.
    pub truth: Option<f64>,
    /// The axis' title, such as the unit; may be empty.
    pub x_label: String,
}

/// Densities of several functionals, a panel each.
pub type DensityFigure = Figure<DensityPanel>;

impl FigurePanel for DensityPanel {}

impl DensityPanel {
    /// The axis spans the intervals and the part of each curve that can be told from zero.
    fn x_scale(&self) -> Scale {
        let visible = self.curves.iter().flat_map(|curve| {
            let (_, highest) = extent(curve.y.iter().copied());
            let floor = highest * 0.004;
            curve.x.iter().zip(&curve.y).filter(move |(_, y)| **y >= floor).map(|(x, _)| *x)
        });
        let limits: Vec<(f64, f64, f64)> =
            self.curves.iter().map(|c| (c.estimate, c.lower, c.upper)).collect();
        let (low, high) = without_runaways(&limits);
        // A law that goes far beyond its interval has tails that nobody needs to see.
        let reach = (high - low) * TAILS;
        let visible =
            visible.filter(|x| !reach.is_finite() || (low - reach..=high + reach).contains(x));
        Scale::linear_over(visible.chain([low, high]).chain(self.truth), 0.02)
    }

    /// Room for the names of the bars.
    fn names_width(&self) -> f64 {
        let widths = self.curves.iter().map(|curve| text::width(&curve.method, TICK_SIZE));
        text::room(widths.fold(0.0, f64::max).min(MOST_NAME))
    }

    fn bars_height(&self) -> f64 {
        self.curves.len() as f64 * BAR_STEP + 6.0
    }

    fn draw_bar(&self, curve: &DensityCurve, y: f64, x: &Scale, styles: &StyleBook) -> Element {
        let style = styles.get(&curve.method);
        let mut group = Element::group();
        group.push_some(interval_bar(x, y, (curve.lower, curve.upper), style.paint));
        if let Some(centre) = x.clamped(curve.estimate) {
            group.push(style.marker.draw(centre, y, 3.2, style.paint));
        }
        let shown = |value: f64| text::with_minus(&deserved(value, curve.upper - curve.lower));
        let (lower, upper) = (shown(curve.lower), shown(curve.upper));
        group.tooltip(format!("{}: {} [{lower}, {upper}]", curve.method, shown(curve.estimate)))
    }
}

impl Panel for DensityPanel {
    fn size(&self) -> (f64, f64) {
        (250.0, 180.0)
    }

    fn margins(&self, width: f64, _height: f64) -> Margins {
        Margins {
            top: title_room(&self.functional, width),
            right: overhang(&self.x_scale(), width).max(self.names_width() + 10.0),
            bottom: x_axis_room(&self.x_label),
            left: LABEL_SIZE + 10.0,
        }
    }

    fn series(&self) -> Vec<String> {
        self.curves.iter().map(|curve| curve.method.clone()).collect()
    }

    fn draw(&self, plot: Rect, styles: &StyleBook) -> Element {
        let x = self.x_scale().onto(plot.x, plot.right());
        let base = plot.bottom() - self.bars_height().min(plot.height * 0.6);
        let heights = self
            .curves
            .iter()
            .flat_map(|c| c.x.iter().zip(&c.y).filter(|(at, _)| x.contains(**at)).map(|(_, y)| *y));
        let (_, highest) = extent(heights);
        let highest = if highest > 0.0 { highest } else { 1.0 };
        let y = Scale::linear(0.0, highest * 1.06).onto(base, plot.y);

        let mut group = Element::group();
        x_axis(&mut group, plot, &x, &ticks_across(&x, plot.width), &self.x_label);
        y_label(&mut group, Rect { height: base - plot.y, ..plot }, "density", 0.0);
        group.push(Element::line(plot.x, base, plot.right(), base).stroke(Paint::Axis, 0.75));
        group.push_some(panel_title(plot, &self.functional, 8.0));

        let mut inside = clipped(&mut group, plot, 0.0);
        if let Some(at) = self.truth.and_then(|truth| x.position(truth)) {
            let line = Element::line(at, plot.y, at, plot.bottom()).stroke(Paint::Muted, 1.2);
            inside.push(line.dash("1.5 2.5").tooltip("true value"));
        }
        let mut lines = Vec::new();
        for curve in &self.curves {
            let style = styles.get(&curve.method);
            let place = |(at, value): (&f64, &f64)| {
                let value =
                    if value.is_finite() { value.clamp(0.0, highest * 2.0) } else { f64::NAN };
                Some((x.position(*at)?, y.position(value)?))
            };
            for run in runs(curve.x.iter().zip(&curve.y).map(place)) {
                let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
                let mut outline = vec![(first.0, base)];
                outline.extend(&run);
                outline.push((last.0, base));
                let area = Element::path(&outline, true);
                inside.push_some(area.map(|a| a.fill(style.paint).attr("fill-opacity", "0.07")));
                lines.extend(Element::path(&run, false).map(|line| {
                    let line = line.no_fill().stroke(style.paint, 1.9).dash(style.dash);
                    line.attr("stroke-linejoin", "round").tooltip(&curve.method)
                }));
            }
        }
        lines.into_iter().for_each(|line| inside.push(line));
        let step = (plot.bottom() - base - 6.0) / self.curves.len().max(1) as f64;
        for (i, curve) in self.curves.iter().enumerate() {
            let at = base + 3.0 + (i as f64 + 0.5) * step;
            inside.push(self.draw_bar(curve, at, &x, styles));
            let name = text::both_ends(&curve.method, TICK_SIZE, MOST_NAME);
            let label = Element::text(plot.right() + 6.0, at + TICK_SIZE * 0.36, TICK_SIZE, name);
            group.push(label.fill(Paint::Text));
        }
        group.push(inside);
        if self.curves.is_empty() {
            group.push(nothing_to_show(plot));
        }
        group
    }

    fn describe(&self) -> String {
        let intervals: Vec<String> = self
            .curves
            .iter()
            .map(|curve| {
                let shown = |value| text::with_minus(&deserved(value, curve.upper - curve.lower));
                format!("{} from {} to {}", curve.method, shown(curve.lower), shown(curve.upper))
            })
            .collect();
        format!("Densities of {}; intervals: {}.", self.functional, intervals.join(", "))
    }

    fn note(&self) -> Option<String> {
        let x = self.x_scale();
        let beyond = |c: &&DensityCurve| {
            [c.lower, c.upper].iter().any(|end| end.is_finite() && !x.contains(*end))
        };
        let names: Vec<&str> =
            self.curves.iter().filter(beyond).map(|curve| curve.method.as_str()).collect();
        (!names.is_empty())
            .then(|| format!("An arrow goes on beyond the axis: {}.", names.join(", ")))
    }
}
