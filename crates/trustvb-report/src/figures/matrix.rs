//! Scatter matrix: every pair of columns with the components' ellipses, each column's histogram on the diagonal.

use super::clusters::{ClusterEllipse, Dots, spread_sample};
use super::grid::Grid;
use super::panel::{
    LegendMark, Margins, Panel, Rect, clipped, overhang, ticks_across, ticks_up, x_axis,
    x_axis_room, y_axis, y_axis_room,
};
use super::scale::Scale;
use super::svg::Element;
use super::text;
use super::theme::{LABEL_SIZE, Paint, StyleBook};

/// Columns shown at most; more would be too small to read.
const MOST_COLUMNS: usize = 6;
/// Points drawn in all panels together, at most.
const MOST_POINTS: usize = 6_000;
const SIDE: f64 = 128.0;
const BINS: usize = 18;

/// One component in all columns.
#[derive(Clone, Debug, Default)]
pub struct MatrixComponent {
    /// Its number, counted from 1.
    pub component: usize,
    /// The centre, a number per column.
    pub centre: Vec<f64>,
    /// The covariance, row by row.
    pub covariance: Vec<Vec<f64>>,
}

/// Data of three columns or more, with their components.
#[derive(Clone, Debug, Default)]
pub struct ScatterMatrixFigure {
    /// The figure's title; may be empty.
    pub title: String,
    /// Text under the figure; may be empty.
    pub caption: String,
    /// Names of the columns.
    pub names: Vec<String>,
    /// The columns, all of one length.
    pub columns: Vec<Vec<f64>>,
    /// The most likely component of each row, counted from 1.
    pub component: Vec<usize>,
    /// The probability of that component.
    pub responsibility: Vec<f64>,
    /// The components.
    pub components: Vec<MatrixComponent>,
    /// The probability inside the ellipses, such as 0.95.
    pub level: f64,
}

impl ScatterMatrixFigure {
    /// The figure as an SVG document.
    pub fn render(&self) -> String {
        self.with_grid(|grid| grid.render())
    }

    /// As [`Grid::render_inline`].
    pub fn render_inline(&self, id: &str) -> String {
        self.with_grid(|grid| grid.render_inline(id))
    }

    fn with_grid(&self, render: impl FnOnce(&Grid<'_>) -> String) -> String {
        let shown = self.columns.len().min(self.names.len()).min(MOST_COLUMNS);
        let scales: Vec<Scale> = (0..shown).map(|j| self.scale(j)).collect();
        let pairs = (shown * shown.saturating_sub(1) / 2).max(1);
        let rows = spread_sample(self.component.len(), MOST_POINTS / pairs);
        let panels: Vec<(usize, usize, MatrixPanel<'_>)> = (0..shown)
            .flat_map(|i| (0..=i).map(move |j| (i, j)))
            .map(|(i, j)| {
                let panel = MatrixPanel {
                    figure: self,
                    rows: &rows,
                    scales: &scales,
                    i,
                    j,
                    left: j == 0,
                    bottom: i + 1 == shown,
                };
                (i, j, panel)
            })
            .collect();
        let mut grid = Grid::new(&self.title).caption(self.full_caption(shown, rows.len()));
        for (i, j, panel) in &panels {
            grid = grid.place(*i, *j, panel);
        }
        render(&grid)
    }

    fn full_caption(&self, shown: usize, rows: usize) -> String {
        let mut parts = vec![self.caption.clone()];
        if shown < self.columns.len() {
            parts.push(format!("Showing the first {shown} of {} columns.", self.columns.len()));
        }
        if rows < self.component.len() {
            let (shown, all) = (text::count(rows), text::count(self.component.len()));
            parts.push(format!("Showing {shown} of {all} points, chosen by row number."));
        }
        parts.retain(|part| !part.is_empty());
        parts.join(" ")
    }

    fn ellipse(&self, component: &MatrixComponent, i: usize, j: usize) -> ClusterEllipse {
        let entry = |a: usize, b: usize| {
            let value = component.covariance.get(a).and_then(|row| row.get(b));
            value.copied().unwrap_or(f64::NAN)
        };
        let centre = |a: usize| component.centre.get(a).copied().unwrap_or(f64::NAN);
        ClusterEllipse {
            component: component.component,
            centre: [centre(j), centre(i)],
            covariance: [[entry(j, j), entry(j, i)], [entry(i, j), entry(i, i)]],
            level: self.level,
        }
    }

    /// One axis for a column wherever it stands: its values and its ellipses.
    fn scale(&self, j: usize) -> Scale {
        let ends = self.components.iter().flat_map(|component| {
            let outline = self.ellipse(component, j, j).outline().unwrap_or_default();
            outline.into_iter().map(|(x, _)| x).collect::<Vec<_>>()
        });
        Scale::linear_over(self.columns[j].iter().copied().chain(ends), 0.04)
    }
}

/// One cell of the matrix.
struct MatrixPanel<'a> {
    figure: &'a ScatterMatrixFigure,
    rows: &'a [usize],
    scales: &'a [Scale],
    i: usize,
    j: usize,
    left: bool,
    bottom: bool,
}

impl MatrixPanel<'_> {
    fn name(&self, j: usize) -> &str {
        &self.figure.names[j]
    }

    fn histogram(&self, plot: Rect) -> Element {
        let scale = self.scales[self.j].onto(plot.x, plot.right());
        let (low, high) = scale.limits();
        let mut counts = [0usize; BINS];
        for value in self.figure.columns[self.j].iter().filter(|v| v.is_finite()) {
            let at = ((value - low) / (high - low) * BINS as f64).floor();
            counts[(at.max(0.0) as usize).min(BINS - 1)] += 1;
        }
        let most = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
        let mut group = Element::group().fill(Paint::Axis).attr("fill-opacity", "0.45");
        let width = plot.width / BINS as f64;
        for (bin, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let height = (plot.height - 24.0) * count as f64 / most;
            let x = plot.x + bin as f64 * width;
            group.push(Element::rect(x + 0.5, plot.bottom() - height, width - 1.0, height));
        }
        group
    }
}

impl Panel for MatrixPanel<'_> {
    fn size(&self) -> (f64, f64) {
        (SIDE, SIDE)
    }

    fn margins(&self, width: f64, height: f64) -> Margins {
        let y = &self.scales[self.i];
        // The first cell is a histogram, whose height is a count and has no axis.
        let left = if self.left && self.i != self.j {
            y_axis_room(&ticks_up(y, height), self.name(self.i))
        } else {
            4.0
        };
        Margins {
            top: 4.0,
            right: if self.bottom { overhang(&self.scales[self.j], width) } else { 4.0 },
            bottom: if self.bottom { x_axis_room(self.name(self.j)) } else { 4.0 },
            left,
        }
    }

    fn series(&self) -> Vec<String> {
        Vec::new()
    }

    fn legend_mark(&self) -> LegendMark {
        LegendMark::Marker
    }

    fn draw(&self, plot: Rect, _styles: &StyleBook) -> Element {
        let mut group = Element::group();
        let x = self.scales[self.j].onto(plot.x, plot.right());
        let frame = Element::rect(plot.x, plot.y, plot.width, plot.height).no_fill();
        group.push(frame.stroke(Paint::Grid, 1.0));
        if self.bottom {
            x_axis(&mut group, plot, &x, &ticks_across(&x, plot.width), self.name(self.j));
        }
        if self.i == self.j {
            group.push(self.histogram(plot));
            let shown = text::shorten(self.name(self.j), text::bold(LABEL_SIZE), plot.width - 10.0);
            let label = Element::text(plot.x + 6.0, plot.y + 15.0, LABEL_SIZE, shown);
            group.push(label.fill(Paint::Text).bold().tooltip(self.name(self.j)));
            return group;
        }
        let y = self.scales[self.i].onto(plot.bottom(), plot.y);
        if self.left {
            y_axis(&mut group, plot, &y, &ticks_up(&y, plot.height), self.name(self.i));
        }
        let mut inside = clipped(&mut group, plot, 0.0);
        let mut dots = Dots::default();
        for &row in self.rows {
            let value = |j: usize| self.figure.columns[j].get(row).copied();
            let (Some(at), Some(value)) = (value(self.j), value(self.i)) else { continue };
            let (Some(px), Some(py)) = (x.position(at), y.position(value)) else { continue };
            let responsibility = self.figure.responsibility.get(row).copied();
            dots.add(self.figure.component[row], responsibility.unwrap_or(1.0), px, py);
        }
        dots.draw(&mut inside, 1.5, if self.rows.len() > 500 { 0.5 } else { 0.7 });
        for component in &self.figure.components {
            let ellipse = self.figure.ellipse(component, self.i, self.j);
            let corners: Vec<(f64, f64)> = ellipse
                .outline()
                .unwrap_or_default()
                .into_iter()
                .filter_map(|(at, value)| Some((x.position(at)?, y.position(value)?)))
                .collect();
            let paint = Paint::component(component.component.saturating_sub(1));
            let tip = format!("component {}", component.component);
            let line = Element::path(&corners, true);
            inside.push_some(line.map(|line| line.no_fill().stroke(paint, 1.5).tooltip(tip)));
        }
        group.push(inside);
        group
    }

    /// The whole is described once, by its first cell.
    fn describe(&self) -> String {
        if (self.i, self.j) != (0, 0) {
            return String::new();
        }
        format!(
            "Scatter matrix of {} with {} components.",
            self.figure.names[..self.scales.len()].join(", "),
            self.figure.components.len()
        )
    }
}
