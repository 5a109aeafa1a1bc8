//! The chosen ω of many quantities, a row each: how far each had to be bent.

use super::figure::{Figure, FigurePanel};
use super::panel::{
    LegendMark, Margins, Panel, Rect, edged_marker, nothing_to_show, overhang, panel_title,
    ticks_across, title_room, x_axis, x_axis_room,
};
use super::scale::{Scale, extent};
use super::svg::Element;
use super::text;
use super::theme::{LABEL_SIZE, Paint, StyleBook};

const ROW: f64 = 22.0;
const MOST_LABEL: f64 = 210.0;
const X_LABEL: &str = "chosen ω";

/// What one method chose for a quantity.
#[derive(Clone, Debug, Default)]
pub struct ChosenOmega {
    /// The method's name.
    pub method: String,
    /// ω̂; not finite if there is none.
    pub omega: f64,
}

/// A quantity with what was chosen for it.
#[derive(Clone, Debug, Default)]
pub struct OmegaQuantity {
    /// Its name.
    pub name: String,
    /// One entry per method.
    pub chosen: Vec<ChosenOmega>,
}

/// Chosen ω by quantity.
#[derive(Clone, Debug, Default)]
pub struct OmegaPanel {
    /// The panel's title; may be empty.
    pub title: String,
    /// The quantities from top to bottom.
    pub quantities: Vec<OmegaQuantity>,
    /// The left end of the axis, the smallest ω of the grid.
    pub omega_min: Option<f64>,
}

/// Chosen ω by quantity, as a figure of its own.
pub type OmegaFigure = Figure<OmegaPanel>;

impl FigurePanel for OmegaPanel {}

impl OmegaPanel {
    fn scale(&self) -> Scale {
        let chosen = self.quantities.iter().flat_map(|q| q.chosen.iter().map(|c| c.omega));
        let (low, high) = extent(chosen.filter(|omega| *omega > 0.0));
        let least = self.omega_min.filter(|v| v.is_finite() && *v > 0.0 && *v < 1.0);
        let low = least.unwrap_or(if low.is_finite() { low.min(0.1) } else { 0.1 });
        // Room on the right, where many end: a marker at 1 must not hang over the edge.
        Scale::log(low, if high.is_finite() { high.max(1.0) } else { 1.0 } * 1.12)
    }
}

impl Panel for OmegaPanel {
    fn size(&self) -> (f64, f64) {
        (300.0, (self.quantities.len() as f64 * ROW).max(40.0))
    }

    fn margins(&self, width: f64, _height: f64) -> Margins {
        let names = self.quantities.iter().map(|q| text::width(&q.name, LABEL_SIZE));
        Margins {
            top: title_room(&self.title, width),
            right: overhang(&self.scale(), width),
            bottom: x_axis_room(X_LABEL),
            left: text::room(names.fold(0.0, f64::max).min(MOST_LABEL)) + 12.0,
        }
    }

    fn series(&self) -> Vec<String> {
        let chosen = self.quantities.iter().flat_map(|q| &q.chosen);
        chosen.map(|c| c.method.clone()).collect()
    }

    fn legend_mark(&self) -> LegendMark {
        LegendMark::Marker
    }

    fn draw(&self, plot: Rect, styles: &StyleBook) -> Element {
        let x = self.scale().onto(plot.x, plot.right());
        let mut group = Element::group();
        let row = plot.height / self.quantities.len().max(1) as f64;
        for i in (0..self.quantities.len()).step_by(2) {
            let band = Element::rect(plot.x, plot.y + i as f64 * row, plot.width, row);
            group.push(band.fill(Paint::Band));
        }
        x_axis(&mut group, plot, &x, &ticks_across(&x, plot.width), X_LABEL);
        group.push_some(panel_title(plot, &self.title, 8.0));
        for (i, quantity) in self.quantities.iter().enumerate() {
            let middle = plot.y + (i as f64 + 0.5) * row;
            let shown = text::both_ends(&quantity.name, LABEL_SIZE, MOST_LABEL);
            let label = Element::text(plot.x - 8.0, middle + LABEL_SIZE * 0.36, LABEL_SIZE, shown);
            group.push(label.anchor("end").fill(Paint::Text).tooltip(&quantity.name));
            // Methods that agree would hide each other on one line.
            let n = quantity.chosen.len() as f64;
            for (j, chosen) in quantity.chosen.iter().enumerate() {
                let Some(at) = Some(chosen.omega).filter(|w| *w > 0.0).and_then(|w| x.clamped(w))
                else {
                    continue;
                };
                let style = styles.get(&chosen.method);
                let y = middle + (j as f64 - (n - 1.0) / 2.0) * (row - 8.0).min(4.5 * n) / n;
                let tip = format!(
                    "{}, {}: ω = {}",
                    quantity.name,
                    chosen.method,
                    text::short(chosen.omega, 3)
                );
                group.push(edged_marker(style.marker, at, y, 3.6, style.paint).tooltip(tip));
            }
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
                let chosen: Vec<String> = quantity
                    .chosen
                    .iter()
                    .map(|c| format!("{} {}", c.method, text::short(c.omega, 3)))
                    .collect();
                format!("{}: {}", quantity.name, chosen.join(", "))
            })
            .collect();
        format!("Chosen ω by quantity. {}.", rows.join("; "))
    }
}
