//! Histograms of where the truth falls among limits: a step line per method around 1, with the band that chance explains.

use super::figure::{Figure, FigurePanel, Scaled, on_one_scale};
use super::panel::{
    Margins, Panel, Rect, nothing_to_show, overhang, panel_title, ticks_across, ticks_up,
    title_room, x_axis, x_axis_room, y_axis, y_axis_room,
};
use super::scale::Scale;
use super::svg::Element;
use super::text;
use super::theme::{Paint, StyleBook};

const X_LABEL: &str = "where the truth falls: 0 low, 1 high";
const Y_LABEL: &str = "share / promised share";

/// Counts of one method.
#[derive(Clone, Debug, Default)]
pub struct RankCounts {
    /// The method's name.
    pub method: String,
    /// Data sets in each bin.
    pub counts: Vec<usize>,
}

/// Ranks of the truth for one quantity of one design.
#[derive(Clone, Debug, Default)]
pub struct RankPanel {
    /// The panel's title; may be empty.
    pub title: String,
    /// Edges of the bins, from 0 to 1: the shares that limits promise.
    pub edges: Vec<f64>,
    /// One histogram per method.
    pub methods: Vec<RankCounts>,
}

/// Panels of ranks, on one scale.
pub type RankFigure = Figure<RankPanel>;

impl FigurePanel for RankPanel {
    fn together(panels: &[Self]) -> Vec<Box<dyn Panel + '_>> {
        on_one_scale(panels)
    }
}

/// A bin and how high a line stands over it.
struct Bin {
    left: f64,
    right: f64,
    ratio: f64,
}

impl RankPanel {
    /// Bins of a method: counts over what they should be.
    fn bins(&self, counts: &[usize]) -> Vec<Bin> {
        let total: usize = counts.iter().sum();
        let bin = |(edge, count): (&[f64], &usize)| {
            let (left, right) = (edge[0], edge[1]);
            let expected = total as f64 * (right - left);
            (expected > 0.0).then(|| Bin { left, right, ratio: *count as f64 / expected })
        };
        self.edges.windows(2).zip(counts).filter_map(bin).collect()
    }

    /// Two binomial standard errors of each bin's ratio, for the method with the fewest data sets.
    fn band(&self) -> Vec<(f64, f64, f64)> {
        let totals = self.methods.iter().map(|m| m.counts.iter().sum::<usize>());
        let Some(total) = totals.filter(|total| *total > 0).min() else { return Vec::new() };
        let error = |share: f64| 2.0 * ((1.0 - share) / (share * total as f64)).sqrt();
        let bins = self.edges.windows(2).filter(|edge| edge[1] > edge[0]);
        bins.map(|edge| (edge[0], edge[1], error(edge[1] - edge[0]))).collect()
    }

    fn across(&self) -> Scale {
        Scale::linear(0.0, 1.0)
    }
}

impl Panel for RankPanel {
    fn size(&self) -> (f64, f64) {
        (230.0, 180.0)
    }

    fn margins(&self, width: f64, height: f64) -> Margins {
        self.margins_on(width, height, &self.scale())
    }

    fn series(&self) -> Vec<String> {
        self.methods.iter().map(|m| m.method.clone()).collect()
    }

    fn draw(&self, plot: Rect, styles: &StyleBook) -> Element {
        self.draw_on(plot, styles, &self.scale())
    }

    fn describe(&self) -> String {
        let ends = |m: &RankCounts| {
            let bins = self.bins(&m.counts);
            let (first, last) = (bins.first()?, bins.last()?);
            let times = |bin: &Bin| text::short(bin.ratio, 2);
            Some(format!("{} {} and {} times", m.method, times(first), times(last)))
        };
        let ends: Vec<String> = self.methods.iter().filter_map(ends).collect();
        format!(
            "Where the truth falls among limits, {}; in the lowest and the highest bin, as often as it should: {}.",
            self.title,
            ends.join("; ")
        )
    }
}

impl Scaled for RankPanel {
    fn scale(&self) -> Scale {
        let bins = self.methods.iter().flat_map(|m| self.bins(&m.counts));
        let band = self.band().into_iter().map(|(_, _, error)| 1.0 + error);
        let highest = bins.map(|bin| bin.ratio).chain(band).fold(1.5, f64::max);
        Scale::linear(0.0, 1.04 * highest)
    }

    fn margins_on(&self, width: f64, height: f64, scale: &Scale) -> Margins {
        Margins {
            top: title_room(&self.title, width),
            right: overhang(&self.across(), width),
            bottom: x_axis_room(X_LABEL),
            left: y_axis_room(&ticks_up(scale, height), Y_LABEL),
        }
    }

    fn draw_on(&self, plot: Rect, styles: &StyleBook, scale: &Scale) -> Element {
        let x = self.across().onto(plot.x, plot.right());
        let y = scale.onto(plot.bottom(), plot.y);
        let mut group = Element::group();
        y_axis(&mut group, plot, &y, &ticks_up(&y, plot.height), Y_LABEL);
        x_axis(&mut group, plot, &x, &ticks_across(&x, plot.width), X_LABEL);
        group.push_some(panel_title(plot, &self.title, 8.0));
        for (left, right, error) in self.band() {
            let places = (
                x.position(left),
                x.position(right),
                y.clamped(1.0 + error),
                y.clamped(1.0 - error),
            );
            if let (Some(left), Some(right), Some(top), Some(bottom)) = places {
                let band = Element::rect(left, top, right - left, bottom - top).fill(Paint::Axis);
                group.push(band.attr("fill-opacity", "0.22").tooltip("what chance explains"));
            }
        }
        if let Some(one) = y.position(1.0) {
            let line = Element::line(plot.x, one, plot.right(), one);
            group.push(line.stroke(Paint::Text, 1.0).dash("5 3"));
        }
        for m in &self.methods {
            let style = styles.get(&m.method);
            let bins = self.bins(&m.counts);
            let corners =
                bins.iter().flat_map(|bin| [(bin.left, bin.ratio), (bin.right, bin.ratio)]);
            let steps: Vec<(f64, f64)> = corners
                .filter_map(|(at, ratio)| Some((x.position(at)?, y.position(ratio)?)))
                .collect();
            group.push_some(Element::path(&steps, false).map(|path| {
                path.no_fill().stroke(style.paint, 1.9).dash(style.dash).tooltip(&m.method)
            }));
        }
        if self.methods.iter().all(|m| self.bins(&m.counts).is_empty()) {
            group.push(nothing_to_show(plot));
        }
        group
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_compared_with_their_widths() {
        let panel = RankPanel {
            title: "pi[1]".into(),
            edges: vec![0.0, 0.1, 0.9, 1.0],
            methods: vec![
                RankCounts { method: "vb".into(), counts: vec![30, 50, 20] },
                RankCounts { method: "balanced".into(), counts: vec![10, 80, 10] },
            ],
        };
        let ratios =
            |m: usize| panel.bins(&panel.methods[m].counts).into_iter().map(|bin| bin.ratio);
        let close = |found: Vec<f64>, wanted: [f64; 3]| {
            assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        };
        close(ratios(0).collect(), [3.0, 0.625, 2.0]);
        close(ratios(1).collect(), [1.0; 3]);
        // Two standard errors of a share of 0.1 among 100, as a share of 0.1.
        assert!((panel.band()[0].2 - 0.6).abs() < 1e-12);
        assert!(panel.scale().limits().1 >= 3.0);
        assert!(panel.describe().contains("vb 3.0 and 2.0 times"), "{}", panel.describe());
    }

    #[test]
    fn nothing_is_drawn_from_nothing() {
        let none = RankCounts { method: "vb".into(), counts: vec![0, 0, 0] };
        let panel = RankPanel {
            edges: vec![0.0, 0.5, 0.5, 1.0],
            methods: vec![none],
            ..Default::default()
        };
        let plot = Rect { x: 0.0, y: 0.0, width: 230.0, height: 180.0 };
        let drawn = panel.draw(plot, &StyleBook::default()).write();
        assert!(drawn.contains("nothing to show") && !drawn.contains("NaN"), "{drawn}");
    }
}
