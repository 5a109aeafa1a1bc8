//! Coverage against ω: one line per method with its Monte-Carlo band, the nominal level and the chosen ω.

use super::figure::{Figure, FigurePanel};
use super::legend::flow;
use super::panel::{
    Margins, Panel, Rect, clipped, edged_marker, nothing_to_show, panel_title, runs, ticks_across,
    ticks_up, title_room, x_axis, x_axis_room, y_axis, y_axis_room,
};
use super::scale::{Scale, extent};
use super::svg::Element;
use super::text;
use super::theme::{Paint, StyleBook, TICK_SIZE};
use trustvb::answers::whole_percent;

const X_LABEL: &str = "ω";
const LONGER: &str = "← longer";
const OWN: &str = "VB →";
const Y_LABEL: &str = "coverage";
const CHOSEN_LINE: f64 = TICK_SIZE + 5.0;
const MARK_ROOM: f64 = 12.0;
const MOST_NAME: f64 = 90.0;
/// How far below the smallest ω̂ the axis goes on: what lies beyond is flat.
const BELOW: f64 = 3.0;

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
    /// The left end of the axis where no ω is chosen; the smallest ω of the curves if not given.
    pub omega_min: Option<f64>,
    /// What VB's own interval, at ω = 1, is estimated to cover.
    pub vb: Option<f64>,
}

/// Coverage curves of several functionals, a panel each.
pub type CoverageFigure = Figure<CoveragePanel>;

impl FigurePanel for CoveragePanel {}

impl CoveragePanel {
    /// Coverage always goes from 0 to 1, so that panels can be compared; ω goes a little further than what was chosen.
    fn scales(&self) -> (Scale, Scale) {
        let omegas = self.curves.iter().flat_map(|c| c.omega.iter().copied());
        let (low, high) = extent(omegas.filter(|omega| *omega > 0.0));
        let least = self.omega_min.filter(|v| v.is_finite() && *v > 0.0 && *v < 1.0).unwrap_or(low);
        let least = if least.is_finite() { least } else { 1e-3 };
        let (chosen, _) = extent(self.curves.iter().map(|c| c.chosen.unwrap_or(0.0)));
        let low = if chosen > 0.0 { (chosen / BELOW).max(least) } else { least };
        (Scale::log(low.min(1.0 / BELOW), high.max(1.0)), Scale::linear(0.0, 1.02))
    }

    /// VB's own coverage, if it is one.
    fn own(&self) -> Option<f64> {
        self.vb.filter(|coverage| (0.0..=1.0).contains(coverage))
    }

    /// What stands at the right: where a line ends, and its name.
    fn names(&self) -> Vec<(f64, String)> {
        let level = |level: &f64| {
            (*level, format!("{}%", text::short(level * 100.0, 3).trim_end_matches(".0")))
        };
        let name = |curve: &CoverageCurve| {
            let last = curve.points().filter(|(x, y, _)| *x > 0.0 && y.is_finite());
            let (_, at, _) = last.max_by(|a, b| a.0.total_cmp(&b.0))?;
            Some((at, text::both_ends(&curve.method, TICK_SIZE, MOST_NAME)))
        };
        let levels = self.levels.iter().filter(|l| (0.0..=1.0).contains(*l)).map(level);
        // Its name is its coverage.
        let named = self.curves.iter().filter(|curve| self.own().is_none() || curve.method != "vb");
        let own = self.own().map(|coverage| (coverage, format!("VB: {}", whole_percent(coverage))));
        levels.chain(named.filter_map(name)).chain(own).collect()
    }

    fn names_width(&self) -> f64 {
        let widths = self.names().into_iter().map(|(_, name)| text::width(&name, TICK_SIZE));
        text::room(widths.fold(0.0, f64::max))
    }

    /// Method and chosen ω of each curve as text, for the line under the title.
    fn chosen(&self) -> Vec<(&str, String)> {
        if self.curves.iter().all(|curve| curve.chosen.is_none()) {
            return Vec::new();
        }
        let text = |curve: &CoverageCurve| match curve.chosen {
            Some(omega) if omega.is_finite() => {
                format!("{} ω = {}", curve.method, text::short(omega, 3))
            }
            _ => format!("{}: no ω found", curve.method),
        };
        // VB chooses nothing.
        let choosing = self.curves.iter().filter(|curve| curve.method != "vb");
        choosing.map(|curve| (curve.method.as_str(), text(curve))).collect()
    }

    fn chosen_places(&self, width: f64) -> (Vec<(f64, usize)>, usize) {
        let widths: Vec<f64> = self
            .chosen()
            .iter()
            .map(|(_, label)| MARK_ROOM + text::room(text::width(label, TICK_SIZE)) + 12.0)
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
            top: title_room(&self.functional, width)
                + self.chosen_places(width).1 as f64 * CHOSEN_LINE,
            right: self.names_width() + 14.0,
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
        // What the axis means, on the line of its title.
        let base = plot.bottom() + x_axis_room(X_LABEL) - 4.0;
        group.push(Element::text(plot.x, base, TICK_SIZE, LONGER).fill(Paint::Muted));
        if let Some(at) = x.position(1.0) {
            group.push(Element::text(at, base, TICK_SIZE, OWN).anchor("end").fill(Paint::Muted));
        }

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

        for height in self.levels.iter().filter_map(|level| y.position(*level)) {
            let line = Element::line(plot.x, height, plot.right(), height);
            group.push(line.stroke(Paint::Text, 1.0).dash("5 3"));
        }
        let names = self.names();
        let heights: Vec<f64> =
            names.iter().map(|(at, _)| y.clamped(*at).unwrap_or(plot.bottom())).collect();
        let places = text::spread(&heights, TICK_SIZE + 2.0, plot.y, plot.bottom());
        for ((_, name), place) in names.into_iter().zip(places) {
            let base = place + TICK_SIZE * 0.36;
            let label = Element::text(plot.right() + 9.0, base, TICK_SIZE, name.clone());
            let label = if name.starts_with("VB: ") { label.bold() } else { label };
            group.push(label.fill(Paint::Text));
        }

        let mut inside = clipped(&mut group, plot, 1.0);
        for curve in &self.curves {
            inside.push(self.draw_curve(curve, &x, &y, styles));
        }
        group.push(inside);
        for curve in self.curves.iter().filter(|curve| curve.method != "vb") {
            self.draw_chosen(&mut group, curve, plot, (&x, &y), styles);
        }
        if let Some((px, py)) =
            self.own().and_then(|own| Some((x.position(1.0)?, y.position(own)?)))
        {
            let style = styles.get("vb");
            let tip =
                format!("VB's own interval covers {}", whole_percent(self.own().unwrap_or(0.0)));
            group.push(style.marker.draw(px, py, 4.4, style.paint).tooltip(tip));
        }
        if self.curves.iter().all(|curve| curve.points().all(|(_, value, _)| !value.is_finite())) {
            group.push(nothing_to_show(plot));
        }
        group
    }

    fn describe(&self) -> String {
        let chosen: Vec<String> = self.chosen().into_iter().map(|(_, label)| label).collect();
        let methods = self.series().join(", ");
        let mut text = format!("Coverage of {} against ω for {methods}.", self.functional);
        if let Some(own) = self.own() {
            text.push_str(&format!(" VB's own interval covers {}.", whole_percent(own)));
        }
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
    fn a_missing_coverage_is_a_gap() {
        let curve = CoverageCurve {
            method: "tvb".into(),
            omega: vec![1.0, 0.8, 0.6, 0.4, 0.2],
            coverage: vec![0.9, 0.92, f64::NAN, 0.95, 0.97],
            se: vec![0.01; 5],
            chosen: None,
        };
        let panel = CoveragePanel { levels: vec![0.95], curves: vec![curve], ..Default::default() };
        let (x, y) = panel.scales();
        assert_eq!(y.limits().0, 0.0);
        let drawn = panel.draw_curve(&panel.curves[0], &x, &y, &StyleBook::default()).write();
        assert_eq!(drawn.matches("fill-opacity").count(), 2, "{drawn}");
    }

    #[test]
    fn the_axis_ends_soon_after_what_was_chosen_and_says_what_vb_covers() {
        let curve = CoverageCurve {
            method: "tvb".into(),
            omega: vec![1.0, 0.3, 0.1, 0.01, 0.001],
            coverage: vec![0.6, 0.9, 0.99, 1.0, 1.0],
            se: Vec::new(),
            chosen: Some(0.3),
        };
        let mut panel = CoveragePanel {
            levels: vec![0.95],
            curves: vec![curve],
            omega_min: Some(0.001),
            vb: Some(0.687),
            ..Default::default()
        };
        assert!((panel.scales().0.limits().0 - 0.1).abs() < 1e-12);
        let names: Vec<String> = panel.names().into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["95%", "tvb", "VB: 69%"]);
        panel.curves[0].chosen = None;
        assert_eq!(panel.scales().0.limits().0, 0.001);
    }
}
