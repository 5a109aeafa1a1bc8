//! Coverage against the level that intervals claim: a line per method with its Monte-Carlo band, and the diagonal.

use super::figure::{Figure, FigurePanel, Scaled, on_one_scale};
use super::panel::{
    Margins, Panel, Rect, clipped, nothing_to_show, overhang, panel_title, runs, ticks_across,
    ticks_up, title_room, x_axis, x_axis_room, y_axis, y_axis_room,
};
use super::scale::{Scale, extent};
use super::svg::Element;
use super::text;
use super::theme::{Paint, StyleBook};

const X_LABEL: &str = "level claimed";
const Y_LABEL: &str = "coverage";

/// How often intervals of one method hold the truth, at each level.
#[derive(Clone, Debug, Default)]
pub struct LevelCurve {
    /// The method's name.
    pub method: String,
    /// Levels, ascending.
    pub levels: Vec<f64>,
    /// Coverage at each level; values that are not finite leave a gap.
    pub coverage: Vec<f64>,
    /// Monte-Carlo limits of each coverage; empty for none.
    pub limits: Vec<(f64, f64)>,
}

impl LevelCurve {
    /// Level, coverage and its limits, point by point.
    fn points(&self) -> impl Iterator<Item = (f64, f64, (f64, f64))> + '_ {
        self.levels.iter().zip(&self.coverage).enumerate().map(|(i, (&level, &coverage))| {
            (level, coverage, self.limits.get(i).copied().unwrap_or((coverage, coverage)))
        })
    }
}

/// Coverage against level for one quantity of one design.
#[derive(Clone, Debug, Default)]
pub struct LevelPanel {
    /// The panel's title; may be empty.
    pub title: String,
    /// One curve per method.
    pub curves: Vec<LevelCurve>,
}

/// Panels of coverage against level, on one scale.
pub type LevelFigure = Figure<LevelPanel>;

impl FigurePanel for LevelPanel {
    fn together(panels: &[Self]) -> Vec<Box<dyn Panel + '_>> {
        on_one_scale(panels)
    }
}

impl LevelPanel {
    fn claimed(&self) -> Scale {
        let (low, _) = extent(self.curves.iter().flat_map(|curve| curve.levels.iter().copied()));
        Scale::linear(tenth_below(low), 1.0)
    }

    fn draw_curve(&self, curve: &LevelCurve, x: &Scale, y: &Scale, styles: &StyleBook) -> Element {
        let style = styles.get(&curve.method);
        let mut group = Element::group();
        let place = |level: f64, value: f64| Some((x.position(level)?, y.position(value)?));
        let edge = |of: fn((f64, f64)) -> f64| {
            runs(curve.points().map(|(level, coverage, limits)| {
                place(level, coverage)?;
                place(level, of(limits))
            }))
        };
        for (upper, lower) in edge(|limits| limits.1).into_iter().zip(edge(|limits| limits.0)) {
            let outline: Vec<_> = upper.into_iter().chain(lower.into_iter().rev()).collect();
            let band = Element::path(&outline, true);
            group.push_some(band.map(|band| band.fill(style.paint).attr("fill-opacity", "0.16")));
        }
        for run in runs(curve.points().map(|(level, coverage, _)| place(level, coverage))) {
            let line = Element::path(&run, false).map(|line| {
                line.no_fill().stroke(style.paint, 1.9).dash(style.dash).tooltip(&curve.method)
            });
            group.push_some(line);
        }
        for (level, coverage, _) in curve.points() {
            let Some((px, py)) = place(level, coverage) else { continue };
            let mark = style.marker.draw(px, py, 2.6, style.paint);
            let (claims, holds) = (text::short(level, 3), text::short(coverage, 3));
            group
                .push(mark.tooltip(format!("{}: {claims} claimed, {holds} covered", curve.method)));
        }
        group
    }
}

/// The tenth at or below a share; half where there is none.
fn tenth_below(share: f64) -> f64 {
    if share.is_finite() { ((share * 10.0 + 1e-9).floor() / 10.0).clamp(0.0, 0.9) } else { 0.5 }
}

impl Panel for LevelPanel {
    fn size(&self) -> (f64, f64) {
        (230.0, 210.0)
    }

    fn margins(&self, width: f64, height: f64) -> Margins {
        self.margins_on(width, height, &self.scale())
    }

    fn series(&self) -> Vec<String> {
        self.curves.iter().map(|curve| curve.method.clone()).collect()
    }

    fn draw(&self, plot: Rect, styles: &StyleBook) -> Element {
        self.draw_on(plot, styles, &self.scale())
    }

    fn describe(&self) -> String {
        let worst = |curve: &LevelCurve| {
            let off = curve.points().filter(|(_, coverage, _)| coverage.is_finite());
            let off = off.max_by(|a, b| (a.1 - a.0).abs().total_cmp(&(b.1 - b.0).abs()));
            let (level, coverage, _) = off?;
            let (level, coverage) = (text::short(level, 3), text::short(coverage, 3));
            Some(format!("{} is furthest off at {level}, where it covers {coverage}", curve.method))
        };
        let worst: Vec<String> = self.curves.iter().filter_map(worst).collect();
        format!("Coverage against level, {}: {}.", self.title, worst.join("; "))
    }
}

impl Scaled for LevelPanel {
    fn scale(&self) -> Scale {
        let lowest = self.curves.iter().flat_map(LevelCurve::points);
        let (low, _) =
            extent(lowest.flat_map(|(level, coverage, limits)| [level, coverage, limits.0]));
        Scale::linear(tenth_below(low), 1.0)
    }

    fn margins_on(&self, width: f64, height: f64, scale: &Scale) -> Margins {
        Margins {
            top: title_room(&self.title, width),
            right: overhang(&self.claimed(), width),
            bottom: x_axis_room(X_LABEL),
            left: y_axis_room(&ticks_up(scale, height), Y_LABEL),
        }
    }

    fn draw_on(&self, plot: Rect, styles: &StyleBook, scale: &Scale) -> Element {
        let x = self.claimed().onto(plot.x, plot.right());
        let y = scale.onto(plot.bottom(), plot.y);
        let mut group = Element::group();
        y_axis(&mut group, plot, &y, &ticks_up(&y, plot.height), Y_LABEL);
        x_axis(&mut group, plot, &x, &ticks_across(&x, plot.width), X_LABEL);
        group.push_some(panel_title(plot, &self.title, 8.0));
        let mut inside = clipped(&mut group, plot, 3.0);
        let ends = [x.limits().0.max(y.limits().0), 1.0];
        let at = |share: f64| Some((x.position(share)?, y.position(share)?));
        let diagonal: Vec<(f64, f64)> = ends.into_iter().filter_map(at).collect();
        inside.push_some(Element::path(&diagonal, false).map(|line| {
            line.no_fill().stroke(Paint::Text, 1.0).dash("5 3").tooltip("what intervals claim")
        }));
        for curve in &self.curves {
            inside.push(self.draw_curve(curve, &x, &y, styles));
        }
        group.push(inside);
        let mut points = self.curves.iter().flat_map(LevelCurve::points);
        if !points.any(|(_, coverage, _)| coverage.is_finite()) {
            group.push(nothing_to_show(plot));
        }
        group
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_begin_at_a_tenth_and_gaps_stay_gaps() {
        let curve = LevelCurve {
            method: "vb".into(),
            levels: vec![0.5, 0.7, 0.8, 0.9, 0.99],
            coverage: vec![0.31, 0.45, f64::NAN, 0.6, 0.8],
            limits: vec![
                (0.27, 0.36),
                (0.4, 0.5),
                (f64::NAN, f64::NAN),
                (0.55, 0.65),
                (0.75, 0.84),
            ],
        };
        let panel = LevelPanel { title: "pi[1]".into(), curves: vec![curve] };
        assert_eq!(panel.claimed().limits(), (0.5, 1.0));
        assert_eq!(panel.scale().limits(), (0.2, 1.0));
        let plot = Rect { x: 0.0, y: 0.0, width: 230.0, height: 210.0 };
        let drawn = panel.draw(plot, &StyleBook::default()).write();
        assert_eq!(drawn.matches("fill-opacity").count(), 2, "{drawn}");
        assert!(!drawn.contains("NaN"), "{drawn}");
        assert!(
            panel.describe().contains("vb is furthest off at 0.900, where it covers 0.600"),
            "{}",
            panel.describe()
        );
        assert_eq!(LevelPanel::default().scale().limits(), (0.5, 1.0));
    }
}
