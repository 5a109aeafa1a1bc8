//! Coverage against ω: one line per method with its Monte-Carlo band, the nominal level and the chosen ω.

use super::grid::Grid;
use super::legend::flow;
use super::panel::{
    Margins, Panel, Rect, clipped, edged_marker, nothing_to_show, panel_title, runs, ticks_across,
    ticks_up, title_room, x_axis, x_axis_room, y_axis, y_axis_room,
};
use super::scale::{Scale, extent};
use super::svg::Element;
use super::text;
use super::theme::{Paint, StyleBook, TICK_SIZE};

const X_LABEL: &str = "ω";
const Y_LABEL: &str = "coverage";
const CHOSEN_LINE: f64 = TICK_SIZE + 5.0;
const MARK_ROOM: f64 = 12.0;

/// The estimated coverage of one method's intervals along ω.
#[derive(Clone, Debug, Default)]
pub struct CoverageCurve {
    /// The method's name: `tvb`, `gpc`, `anchored`, `analytic` or any other.
    pub method: String,
    /// The fractions ω.
    pub omega: Vec<f64>,
    /// Coverage at each ω; values that are not finite leave a gap.
    pub coverage: Vec<f64>,
    /// Monte-Carlo standard error at each ω; empty if there is none.
    pub se: Vec<f64>,
    /// The chosen ω, if the method found one.
    pub chosen: Option<f64>,
}

impl CoverageCurve {
    fn points(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        self.omega.iter().zip(&self.coverage).enumerate().map(|(i, (&omega, &coverage))| {
            let se = self.se.get(i).copied().filter(|se| se.is_finite()).unwrap_or(0.0);
            (omega, coverage, se)
        })
    }

    /// The coverage at ω, linear in log ω between the points around it.
    fn at(&self, omega: f64) -> Option<f64> {
        let mut points: Vec<(f64, f64)> = self
            .points()
            .filter(|(x, y, _)| x.is_finite() && *x > 0.0 && y.is_finite())
            .map(|(x, y, _)| (x.ln(), y))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let target = omega.ln();
        let after = points.iter().position(|(x, _)| *x >= target)?;
        let (x1, y1) = points[after];
        if after == 0 || x1 == target {
            return ((x1 - target).abs() < 1e-9).then_some(y1);
        }
        let (x0, y0) = points[after - 1];
        Some(y0 + (y1 - y0) * (target - x0) / (x1 - x0))
    }
}

/// The coverage curves of one functional.
#[derive(Clone, Debug, Default)]
pub struct CoveragePanel {
    /// The functional as the user typed it.
    pub functional: String,
    /// Nominal levels such as 0.95, each drawn as a horizontal line.
    pub levels: Vec<f64>,
    /// One curve per method; for several levels a method may appear once for each.
    pub curves: Vec<CoverageCurve>,
    /// The left end of the axis; the smallest ω of the curves if not given.
    pub omega_min: Option<f64>,
}

/// Coverage curves of several functionals, a panel each.
#[derive(Clone, Debug, Default)]
pub struct CoverageFigure {
    /// The figure's title; may be empty.
    pub title: String,
    /// Text under the figure; may be empty.
    pub caption: String,
    /// One panel per functional.
    pub panels: Vec<CoveragePanel>,
    /// Panels in a row; 0 chooses a number.
    pub columns: usize,
}

impl CoverageFigure {
    /// The figure as an SVG document.
    pub fn render(&self) -> String {
        let columns = columns_for(self.panels.len(), self.columns);
        Grid::new(&self.title).caption(&self.caption).flow(&self.panels, columns).render()
    }
}

/// The number of columns for a figure: as asked for, or at most three, without a lone last panel.
pub(crate) fn columns_for(n_panels: usize, asked: usize) -> usize {
    match (asked, n_panels) {
        (1.., _) => asked,
        (_, 0..=3) => n_panels.max(1),
        (_, 4) => 2,
        _ => 3,
    }
}

impl CoveragePanel {
    fn scales(&self) -> (Scale, Scale) {
        let omegas = self.curves.iter().flat_map(|c| c.omega.iter().copied());
        let (low, high) = extent(omegas.filter(|omega| *omega > 0.0));
        let low = self.omega_min.filter(|v| v.is_finite() && *v > 0.0 && *v < 1.0).unwrap_or(low);
        let low = if low.is_finite() { low.min(0.5) } else { 1e-3 };
        let x = Scale::log(low, high.max(1.0));

        let levels = self.levels.iter().map(|level| level - 0.15);
        let values = self.curves.iter().flat_map(|c| c.points().map(|(_, y, se)| y - 2.0 * se));
        let (lowest, _) = extent(values.chain(levels));
        let lowest = if lowest.is_finite() { lowest.clamp(0.0, 0.9) } else { 0.0 };
        let lowest = ((lowest - 0.02) * 10.0).floor().max(0.0) / 10.0;
        (x, Scale::linear(lowest, 1.0 + 0.02 * (1.0 - lowest)))
    }

    /// Method and chosen ω of each curve as text, for the line under the title.
    fn chosen(&self) -> Vec<(&str, String)> {
        if self.curves.iter().all(|curve| curve.chosen.is_none()) {
            return Vec::new();
        }
        let text = |curve: &CoverageCurve| match curve.chosen {
            Some(omega) if omega.is_finite() => format!("ω = {}", text::short(omega, 2)),
            _ => "no ω found".to_string(),
        };
        self.curves.iter().map(|curve| (curve.method.as_str(), text(curve))).collect()
    }

    fn chosen_places(&self, width: f64) -> (Vec<(f64, usize)>, usize) {
        let widths: Vec<f64> = self
            .chosen()
            .iter()
            .map(|(_, label)| MARK_ROOM + text::width(label, TICK_SIZE) + 12.0)
            .collect();
        let places = flow(&widths, width + 12.0);
        let lines = places.last().map_or(0, |(_, line)| line + 1);
        (places, lines)
    }

    fn draw_curve(
        &self,
        curve: &CoverageCurve,
        x: &Scale,
        y: &Scale,
        styles: &StyleBook,
    ) -> Element {
        let style = styles.get(&curve.method);
        let mut group = Element::group();
        let place = |omega: f64, value: f64| Some((x.position(omega)?, y.position(value)?));
        if !curve.se.is_empty() {
            // A missing value is a gap: `min` and `max` would turn NaN into a limit.
            let edge = |sign: f64| {
                runs(curve.points().map(|(omega, value, se)| {
                    place(omega, value)?;
                    place(omega, (value + sign * 2.0 * se).clamp(0.0, 1.0))
                }))
            };
            for (upper, lower) in edge(1.0).into_iter().zip(edge(-1.0)) {
                let outline: Vec<_> = upper.into_iter().chain(lower.into_iter().rev()).collect();
                let band = Element::path(&outline, true);
                group.push_some(band.map(|b| b.fill(style.paint).attr("fill-opacity", "0.14")));
            }
        }
        for run in runs(curve.points().map(|(omega, value, _)| place(omega, value))) {
            if let [(px, py)] = run[..] {
                group.push(Element::circle(px, py, 1.8).fill(style.paint));
            }
            let line = Element::path(&run, false).map(|line| {
                line.no_fill()
                    .stroke(style.paint, 1.9)
                    .dash(style.dash)
                    .attr("stroke-linejoin", "round")
                    .tooltip(&curve.method)
            });
            group.push_some(line);
        }
        group
    }

    fn draw_chosen(
        &self,
        group: &mut Element,
        curve: &CoverageCurve,
        plot: Rect,
        (x, y): (&Scale, &Scale),
        styles: &StyleBook,
    ) {
        let Some(omega) = curve.chosen else { return };
        let Some(px) = x.clamped(omega) else { return };
        let style = styles.get(&curve.method);
        let height = curve.at(omega).or_else(|| self.levels.first().copied());
        let py = height.and_then(|value| y.clamped(value)).unwrap_or(plot.y);
        let stem = Element::line(px, py, px, plot.bottom()).stroke(style.paint, 1.1);
        group.push(stem.dash("2 2"));
        let tip = format!("{}: chosen ω = {}", curve.method, text::short(omega, 3));
        group.push(edged_marker(style.marker, px, py, 4.2, style.paint).tooltip(tip));
    }
}

impl Panel for CoveragePanel {
    fn size(&self) -> (f64, f64) {
        (250.0, 180.0)
    }

    fn margins(&self, width: f64, height: f64) -> Margins {
        let (_, y) = self.scales();
        Margins {
            top: title_room(&self.functional) + self.chosen_places(width).1 as f64 * CHOSEN_LINE,
            right: if self.levels.is_empty() { 10.0 } else { 32.0 },
            bottom: x_axis_room(X_LABEL),
            left: y_axis_room(&ticks_up(&y, height), Y_LABEL),
        }
    }

    fn series(&self) -> Vec<String> {
        self.curves.iter().map(|curve| curve.method.clone()).collect()
    }

    fn draw(&self, plot: Rect, styles: &StyleBook) -> Element {
        let (x, y) = self.scales();
        let (x, y) = (x.onto(plot.x, plot.right()), y.onto(plot.bottom(), plot.y));
        let mut group = Element::group();
        y_axis(&mut group, plot, &y, &ticks_up(&y, plot.height), Y_LABEL);
        x_axis(&mut group, plot, &x, &ticks_across(&x, plot.width), X_LABEL);

        let (places, lines) = self.chosen_places(plot.width);
        let room = lines as f64 * CHOSEN_LINE;
        group.push_some(panel_title(plot, &self.functional, room + 8.0));
        for ((method, label), (dx, line)) in self.chosen().into_iter().zip(places) {
            let style = styles.get(method);
            let base = plot.y - 7.0 - (lines - 1 - line) as f64 * CHOSEN_LINE;
            group.push(style.marker.draw(plot.x + dx + 4.0, base - 3.8, 3.4, style.paint));
            let text = Element::text(plot.x + dx + MARK_ROOM, base, TICK_SIZE, label);
            group.push(text.fill(Paint::Muted).tooltip(method));
        }

        let levels: Vec<f64> = self.levels.iter().copied().filter(|l| y.contains(*l)).collect();
        let heights: Vec<f64> = levels.iter().filter_map(|level| y.position(*level)).collect();
        let labels = text::spread(&heights, TICK_SIZE + 1.0, plot.y, plot.bottom());
        for ((level, height), label) in levels.iter().zip(&heights).zip(labels) {
            let line = Element::line(plot.x, *height, plot.right(), *height);
            group.push(line.stroke(Paint::Text, 1.0).dash("5 3"));
            let name = format!("{}%", text::short(level * 100.0, 3).trim_end_matches(".0"));
            let text = Element::text(plot.right() + 5.0, label + TICK_SIZE * 0.36, TICK_SIZE, name);
            group.push(text.fill(Paint::Text));
        }

        let mut inside = clipped(&mut group, plot, 1.0);
        for curve in &self.curves {
            inside.push(self.draw_curve(curve, &x, &y, styles));
        }
        group.push(inside);
        for curve in &self.curves {
            self.draw_chosen(&mut group, curve, plot, (&x, &y), styles);
        }
        if self.curves.iter().all(|curve| curve.points().all(|(_, value, _)| !value.is_finite())) {
            group.push(nothing_to_show(plot));
        }
        group
    }

    fn describe(&self) -> String {
        let chosen: Vec<String> =
            self.chosen().iter().map(|(method, label)| format!("{method} {label}")).collect();
        let methods = self.series().join(", ");
        let mut text = format!("Coverage of {} against ω for {methods}.", self.functional);
        if !chosen.is_empty() {
            text.push_str(&format!(" Chosen: {}.", chosen.join(", ")));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_is_interpolated_in_log_omega() {
        let curve = CoverageCurve {
            omega: vec![1.0, 0.01, 0.1],
            coverage: vec![0.5, 0.99, f64::NAN],
            ..Default::default()
        };
        assert!((curve.at(0.1).unwrap() - 0.745).abs() < 1e-12);
        assert_eq!(curve.at(1.0), Some(0.5));
        assert_eq!(curve.at(2.0), None);
        assert_eq!(curve.at(0.001), None);
    }

    #[test]
    fn a_missing_coverage_is_a_gap_and_does_not_stretch_the_axis() {
        let curve = CoverageCurve {
            method: "tvb".into(),
            omega: vec![1.0, 0.8, 0.6, 0.4, 0.2],
            coverage: vec![0.9, 0.92, f64::NAN, 0.95, 0.97],
            se: vec![0.01; 5],
            chosen: None,
        };
        let panel = CoveragePanel { levels: vec![0.95], curves: vec![curve], ..Default::default() };
        let (x, y) = panel.scales();
        assert!(y.limits().0 > 0.6, "{:?}", y.limits());
        let drawn = panel.draw_curve(&panel.curves[0], &x, &y, &StyleBook::default()).write();
        assert_eq!(drawn.matches("fill-opacity").count(), 2, "{drawn}");
    }
}
