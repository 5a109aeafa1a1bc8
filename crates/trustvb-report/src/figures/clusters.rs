//! Scatter of two columns coloured by mixture component, with the components' ellipses and centres.

use super::figure::{Figure, FigurePanel};
use super::panel::{
    LegendMark, Margins, Panel, Rect, clipped, nothing_to_show, overhang, panel_title,
    ticks_across, ticks_up, title_room, x_axis, x_axis_room, y_axis, y_axis_room,
};
use super::scale::Scale;
use super::svg::Element;
use super::text;
use super::theme::{Paint, StyleBook, TICK_SIZE};

/// Points drawn at most; the eye sees no more, and a larger file is slow to open.
const MOST_POINTS: usize = 5_000;

/// A data point with the component it most likely belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClusterPoint {
    /// Value in the first column.
    pub x: f64,
    /// Value in the second column.
    pub y: f64,
    /// The component's number, counted from 1.
    pub component: usize,
    /// The probability of that component for this point, shown as opacity.
    pub responsibility: f64,
}

/// A contour of a component's Gaussian.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClusterEllipse {
    /// The component's number, counted from 1.
    pub component: usize,
    /// The centre.
    pub centre: [f64; 2],
    /// The covariance of the two columns.
    pub covariance: [[f64; 2]; 2],
    /// The probability inside the ellipse, such as 0.95.
    pub level: f64,
}

impl ClusterEllipse {
    /// Points on the contour, or `None` if the covariance is not one or the level not in (0, 1).
    pub(super) fn outline(&self) -> Option<Vec<(f64, f64)>> {
        const CORNERS: usize = 96;
        let [[a, b], [c, d]] = self.covariance;
        let b = (b + c) / 2.0;
        // Cholesky factor: the unit circle is mapped onto the ellipse.
        let l11 = a.sqrt();
        let l21 = if l11 > 0.0 { b / l11 } else { 0.0 };
        let l22 = (d - l21 * l21).max(0.0).sqrt();
        let radius = (-2.0 * (1.0 - self.level).ln()).sqrt();
        let inputs = [self.centre[0], self.centre[1], l11, l21, l22, d, radius];
        let valid = self.level > 0.0 && self.level < 1.0 && b * b <= a * d * (1.0 + 1e-9);
        if !valid || inputs.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let corner = |i: usize| {
            let (sin, cos) = (std::f64::consts::TAU * i as f64 / CORNERS as f64).sin_cos();
            let x = self.centre[0] + radius * l11 * cos;
            (x, self.centre[1] + radius * (l21 * cos + l22 * sin))
        };
        Some((0..CORNERS).map(corner).collect())
    }
}

/// The clusters in the plane of two columns.
#[derive(Clone, Debug, Default)]
pub struct ClustersPanel {
    /// The panel's title; may be empty.
    pub title: String,
    /// Name of the first column.
    pub x_name: String,
    /// Name of the second column.
    pub y_name: String,
    /// The data.
    pub points: Vec<ClusterPoint>,
    /// The contours; a component may have several, and its centre is marked once.
    pub ellipses: Vec<ClusterEllipse>,
}

/// The clusters as a figure of their own.
pub type ClustersFigure = Figure<ClustersPanel>;

impl FigurePanel for ClustersPanel {}

impl ClustersPanel {
    fn scales(&self) -> (Scale, Scale) {
        let outlines: Vec<(f64, f64)> =
            self.ellipses.iter().filter_map(ClusterEllipse::outline).flatten().collect();
        let whole = self.points.iter().filter(|p| p.x.is_finite() && p.y.is_finite());
        let x = whole.clone().map(|p| p.x).chain(outlines.iter().map(|o| o.0));
        let y = whole.map(|p| p.y).chain(outlines.iter().map(|o| o.1));
        (Scale::linear_over(x, 0.03), Scale::linear_over(y, 0.03))
    }

    fn drawn(&self) -> Vec<&ClusterPoint> {
        let kept = spread_sample(self.points.len(), MOST_POINTS);
        kept.into_iter().map(|i| &self.points[i]).collect()
    }

    /// Whether points lie so close that they should be small and pale.
    fn crowded(&self) -> bool {
        self.points.len() > 1_500
    }

    fn draw_points(&self, inside: &mut Element, x: &Scale, y: &Scale) {
        let drawn = self.drawn();
        let (radius, strength) = if self.crowded() { (1.8, 0.4) } else { (2.6, 0.75) };
        let mut dots = Dots::default();
        for point in drawn {
            let (Some(px), Some(py)) = (x.position(point.x), y.position(point.y)) else { continue };
            dots.add(point.component, point.responsibility, px, py);
        }
        dots.draw(inside, radius, strength);
    }
}

/// Points of a scatter, gathered by colour and opacity, which keeps the file small.
#[derive(Default)]
pub(super) struct Dots {
    groups: Vec<(Look, Vec<(f64, f64)>)>,
}

/// A component, and its probability in tenths.
type Look = (usize, u32);

impl Dots {
    /// Adds a point of a component, counted from 1, with the probability that it belongs there.
    pub(super) fn add(&mut self, component: usize, responsibility: f64, x: f64, y: f64) {
        let responsibility = responsibility.clamp(0.0, 1.0);
        let responsibility = if responsibility.is_nan() { 0.0 } else { responsibility };
        let key = (component, (responsibility * 10.0).round() as u32);
        match self.groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, points)) => points.push((x, y)),
            None => self.groups.push((key, vec![(x, y)])),
        }
    }

    /// Draws them, the certain ones with opacity `strength`.
    pub(super) fn draw(self, inside: &mut Element, radius: f64, strength: f64) {
        for ((component, tenth), points) in self.groups {
            let opacity = 0.12 + (strength - 0.12) * f64::from(tenth) / 10.0;
            let paint = Paint::component(component.saturating_sub(1));
            let mut group = Element::group().fill(paint).num("fill-opacity", opacity);
            points.into_iter().for_each(|(x, y)| group.push(Element::circle(x, y, radius)));
            inside.push(group);
        }
    }
}

/// At most `most` of `n` rows, in order: all of them, or a choice that depends on `n` alone.
///
/// Rows are ranked by a hash of their position, because every n-th row of a file that was sorted or
/// collected in turns would not be a fair picture.
pub(super) fn spread_sample(n: usize, most: usize) -> Vec<usize> {
    if n <= most {
        return (0..n).collect();
    }
    let mut ranked: Vec<(u64, usize)> = (0..n).map(|i| (mix(i as u64), i)).collect();
    ranked.select_nth_unstable(most);
    let mut kept: Vec<usize> = ranked[..most].iter().map(|(_, i)| *i).collect();
    kept.sort_unstable();
    kept
}

/// The finalizer of SplitMix64: a fixed shuffle of the integers.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Panel for ClustersPanel {
    fn size(&self) -> (f64, f64) {
        (330.0, 300.0)
    }

    fn margins(&self, width: f64, height: f64) -> Margins {
        let (x, y) = self.scales();
        Margins {
            top: title_room(&self.title, width),
            right: overhang(&x, width),
            bottom: x_axis_room(&self.x_name),
            left: y_axis_room(&ticks_up(&y, height), &self.y_name),
        }
    }

    /// Components are numbered at their centres; they need no legend.
    fn series(&self) -> Vec<String> {
        Vec::new()
    }

    fn legend_mark(&self) -> LegendMark {
        LegendMark::Marker
    }

    fn draw(&self, plot: Rect, _styles: &StyleBook) -> Element {
        let (x, y) = self.scales();
        let (x, y) = (x.onto(plot.x, plot.right()), y.onto(plot.bottom(), plot.y));
        let mut group = Element::group();
        y_axis(&mut group, plot, &y, &ticks_up(&y, plot.height), &self.y_name);
        x_axis(&mut group, plot, &x, &ticks_across(&x, plot.width), &self.x_name);
        group.push_some(panel_title(plot, &self.title, 8.0));

        let mut inside = clipped(&mut group, plot, 0.0);
        self.draw_points(&mut inside, &x, &y);
        for ellipse in &self.ellipses {
            let Some(outline) = ellipse.outline() else { continue };
            let place = |(at, value): &(f64, f64)| Some((x.position(*at)?, y.position(*value)?));
            let corners: Vec<_> = outline.iter().filter_map(place).collect();
            let paint = Paint::component(ellipse.component.saturating_sub(1));
            let percent = text::short(ellipse.level * 100.0, 3);
            let tip = format!("component {}: {percent}% ellipse", ellipse.component);
            let Some(line) = Element::path(&corners, true).map(Element::no_fill) else { continue };
            // A pale edge keeps the line visible in a cloud of its own colour.
            if self.crowded() {
                let edge = line.clone().stroke(Paint::Background, 4.0);
                inside.push(edge.attr("stroke-opacity", "0.8"));
            }
            inside.push(line.stroke(paint, 1.7).tooltip(tip));
        }
        let mut marked = Vec::new();
        for ellipse in &self.ellipses {
            let [cx, cy] = ellipse.centre;
            let (Some(px), Some(py)) = (x.position(cx), y.position(cy)) else { continue };
            if marked.contains(&ellipse.component) {
                continue;
            }
            marked.push(ellipse.component);
            let paint = Paint::component(ellipse.component.saturating_sub(1));
            let disc = Element::circle(px, py, 8.5).fill(paint).stroke(Paint::Background, 1.5);
            inside.push(disc);
            let label = Element::text(px, py + 3.8, TICK_SIZE, ellipse.component.to_string());
            inside.push(label.anchor("middle").fill(Paint::Background).bold());
        }
        group.push(inside);
        if self.points.is_empty() && self.ellipses.is_empty() {
            group.push(nothing_to_show(plot));
        }
        group
    }

    fn describe(&self) -> String {
        let mut components: Vec<usize> = self.points.iter().map(|p| p.component).collect();
        components.sort_unstable();
        components.dedup();
        format!(
            "{} points of {} against {} in {} components.",
            text::count(self.points.len()),
            self.y_name,
            self.x_name,
            components.len()
        )
    }

    fn note(&self) -> Option<String> {
        (self.points.len() > MOST_POINTS).then(|| {
            let (shown, all) = (text::count(MOST_POINTS), text::count(self.points.len()));
            format!("Showing {shown} of {all} points, chosen by row number.")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_is_deterministic_and_said() {
        let point = |i: usize| ClusterPoint { x: i as f64, component: 1, ..Default::default() };
        let panel =
            ClustersPanel { points: (0..12_345).map(point).collect(), ..Default::default() };
        let drawn: Vec<f64> = panel.drawn().iter().map(|p| p.x).collect();
        assert_eq!(drawn.len(), MOST_POINTS);
        assert!(drawn.windows(2).all(|pair| pair[0] < pair[1]));
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        assert!((mean - 6172.0).abs() < 150.0, "{mean}");
        assert_eq!(
            panel.note().as_deref(),
            Some("Showing 5,000 of 12,345 points, chosen by row number.")
        );
    }

    #[test]
    fn an_ellipse_has_the_radius_of_its_level() {
        let ellipse = ClusterEllipse {
            component: 1,
            centre: [1.0, 2.0],
            covariance: [[4.0, 0.0], [0.0, 1.0]],
            level: 0.95,
        };
        let outline = ellipse.outline().unwrap();
        // The 0.95 quantile of chi-squared with two degrees of freedom is 5.991.
        assert!((outline[0].0 - (1.0 + 2.0 * 5.991465f64.sqrt())).abs() < 1e-5);
        let bad = ClusterEllipse { covariance: [[1.0, 2.0], [2.0, 1.0]], ..ellipse };
        assert!(bad.outline().is_none());
        assert!(ClusterEllipse { level: 1.0, ..ellipse }.outline().is_none());
    }
}
