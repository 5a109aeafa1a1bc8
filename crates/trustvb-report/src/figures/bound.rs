//! The bound sweep by sweep: one line per start, the best one in front.

use super::figure::{Figure, FigurePanel};
use super::panel::{
    Margins, Panel, Rect, clipped, edged_marker, nothing_to_show, overhang, panel_title, runs,
    ticks_across, ticks_up, title_room, x_axis, x_axis_room, y_axis, y_axis_room,
};
use super::scale::{Scale, extent};
use super::svg::Element;
use super::text;
use super::theme::{Marker, Paint, StyleBook};

const X_LABEL: &str = "sweep";
const Y_LABEL: &str = "bound";

/// The bound over the sweeps of one fit, from one or several starts.
#[derive(Clone, Debug, Default)]
pub struct BoundPanel {
    /// The panel's title; may be empty.
    pub title: String,
    /// The bound after each sweep, start by start; values that are not finite leave a gap.
    pub traces: Vec<Vec<f64>>,
}

/// The bound as a figure of its own.
pub type BoundFigure = Figure<BoundPanel>;

impl FigurePanel for BoundPanel {}

impl BoundPanel {
    /// The trace that ends highest, the first of equals.
    fn best(&self) -> Option<usize> {
        let end = |i: &usize| self.traces[*i].last().copied().filter(|x| x.is_finite());
        (0..self.traces.len()).filter(|i| end(i).is_some()).max_by(|a, b| {
            end(a).partial_cmp(&end(b)).unwrap_or(std::cmp::Ordering::Equal).then(b.cmp(a))
        })
    }

    /// The axis leaves out what lies far below the ends: first sweeps can be arbitrarily bad.
    fn scales(&self) -> (Scale, Scale) {
        let longest = self.traces.iter().map(Vec::len).max().unwrap_or(0).max(2);
        let second = self.traces.iter().flat_map(|trace| {
            let skipped = usize::from(trace.len() > 3);
            trace[skipped..].iter().copied()
        });
        let (low, high) = extent(second);
        let y = Scale::linear_over([low, high], 0.06);
        (Scale::linear(1.0, longest as f64), y)
    }
}

impl Panel for BoundPanel {
    fn size(&self) -> (f64, f64) {
        (290.0, 180.0)
    }

    fn margins(&self, width: f64, height: f64) -> Margins {
        let (x, y) = self.scales();
        Margins {
            top: title_room(&self.title, width),
            right: overhang(&x, width),
            bottom: x_axis_room(X_LABEL),
            left: y_axis_room(&ticks_up(&y, height), Y_LABEL),
        }
    }

    /// Starts have no names.
    fn series(&self) -> Vec<String> {
        Vec::new()
    }

    fn draw(&self, plot: Rect, _styles: &StyleBook) -> Element {
        let (x, y) = self.scales();
        let (x, y) = (x.onto(plot.x, plot.right()), y.onto(plot.bottom(), plot.y));
        let mut group = Element::group();
        y_axis(&mut group, plot, &y, &ticks_up(&y, plot.height), Y_LABEL);
        x_axis(&mut group, plot, &x, &ticks_across(&x, plot.width), X_LABEL);
        group.push_some(panel_title(plot, &self.title, 8.0));
        let best = self.best();
        let mut inside = clipped(&mut group, plot, 1.0);
        let order = (0..self.traces.len()).filter(|i| Some(*i) != best).chain(best);
        for i in order {
            let (paint, width) =
                if Some(i) == best { (Paint::Blue, 2.0) } else { (Paint::Axis, 1.0) };
            let points = self.traces[i].iter().enumerate();
            let place = |(sweep, bound): (usize, &f64)| {
                Some((x.position(sweep as f64 + 1.0)?, y.position(*bound)?))
            };
            for run in runs(points.map(place)) {
                let line = Element::path(&run, false).map(|line| {
                    let line = line.no_fill().stroke(paint, width);
                    line.attr("stroke-linejoin", "round").tooltip(format!("start {}", i + 1))
                });
                inside.push_some(line);
            }
        }
        group.push(inside);
        let end = best.and_then(|i| {
            let trace = &self.traces[i];
            Some((x.position(trace.len() as f64)?, y.position(*trace.last()?)?, i))
        });
        match end {
            Some((px, py, i)) => {
                let bound = self.traces[i].last().copied().unwrap_or(f64::NAN);
                let tip = format!("start {}, the best: {}", i + 1, text::short(bound, 7));
                group.push(edged_marker(Marker::Disc, px, py, 4.0, Paint::Blue).tooltip(tip));
            }
            None => group.push(nothing_to_show(plot)),
        }
        group
    }

    fn describe(&self) -> String {
        match self.best() {
            None => "The bound by sweep; there is none.".to_owned(),
            Some(best) => {
                let trace = &self.traces[best];
                format!(
                    "The bound by sweep from {} starts; the best ends at {} after {} sweeps.",
                    self.traces.len(),
                    text::short(trace.last().copied().unwrap_or(f64::NAN), 7),
                    trace.len()
                )
            }
        }
    }
}
