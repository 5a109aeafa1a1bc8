//! Puts panels into rows and columns with aligned plotting areas, one legend, a title and a caption.

use super::legend;
use super::panel::{LegendMark, Margins, Panel, Rect};
use super::svg::Element;
use super::text;
use super::theme::{FONT_FAMILY, LABEL_SIZE, Paint, StyleBook, TICK_SIZE, TITLE_SIZE, style_sheet};
use std::ops::Range;

const PADDING: f64 = 16.0;
const COLUMN_GAP: f64 = 20.0;
const ROW_GAP: f64 = 14.0;
const LEAST_WIDTH: f64 = 340.0;

/// A figure made of panels.
///
/// ```
/// use trustvb_report::{CoveragePanel, Grid};
///
/// let (first, second) = (CoveragePanel::default(), CoveragePanel::default());
/// let svg = Grid::new("Two panels").place(0, 0, &first).place(0, 1, &second).render();
/// assert!(svg.starts_with("<svg"));
/// ```
pub struct Grid<'a> {
    title: String,
    label: String,
    caption: String,
    legend: bool,
    cells: Vec<Cell<'a>>,
}

struct Cell<'a> {
    panel: &'a dyn Panel,
    row: usize,
    column: usize,
    row_span: usize,
    column_span: usize,
}

impl Cell<'_> {
    fn rows(&self) -> Range<usize> {
        self.row..self.row + self.row_span
    }

    fn columns(&self) -> Range<usize> {
        self.column..self.column + self.column_span
    }
}

impl<'a> Grid<'a> {
    /// An empty figure; an empty title takes no room.
    pub fn new(title: impl Into<String>) -> Self {
        let (label, caption) = (String::new(), String::new());
        Grid { title: title.into(), label, caption, legend: true, cells: Vec::new() }
    }

    /// Names the figure for those who cannot see it, where its title is not the name.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Leaves the legend out, where [`render_legend`](super::render_legend) stands beside several figures.
    pub fn without_legend(mut self) -> Self {
        self.legend = false;
        self
    }

    /// Sets the text under the figure, to which panels may add their notes.
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }

    /// Puts a panel at a row and a column, both counted from 0.
    pub fn place(self, row: usize, column: usize, panel: &'a dyn Panel) -> Self {
        self.place_over(row, column, (1, 1), panel)
    }

    /// Puts a panel over several rows and columns.
    pub fn place_over(
        mut self,
        row: usize,
        column: usize,
        (rows, columns): (usize, usize),
        panel: &'a dyn Panel,
    ) -> Self {
        let (row_span, column_span) = (rows.max(1), columns.max(1));
        self.cells.push(Cell { panel, row, column, row_span, column_span });
        self
    }

    /// Fills rows of `columns` panels each, from left to right.
    pub fn flow<P: Panel>(mut self, panels: &'a [P], columns: usize) -> Self {
        let columns = columns.max(1);
        for (i, panel) in panels.iter().enumerate() {
            self = self.place(i / columns, i % columns, panel);
        }
        self
    }

    /// The figure as an SVG document.
    pub fn render(&self) -> String {
        self.document(Place::File)
    }

    /// The figure as an element of a page that has [`style_sheet`] once for all
    /// figures. `id` begins the names inside the figure, which a page may hold only once.
    pub fn render_inline(&self, id: &str) -> String {
        let text = self.document(Place::Page);
        // No text can hold these: a quotation mark in it is escaped.
        text.replace("id=\"tvb-clip-", &format!("id=\"{id}-clip-"))
            .replace("clip-path=\"url(#tvb-clip-", &format!("clip-path=\"url(#{id}-clip-"))
    }

    fn document(&self, place: Place) -> String {
        let styles = StyleBook::new(self.cells.iter().flat_map(|cell| cell.panel.series()));
        let layout = Layout::of(&self.cells);
        let width = layout.width.max(LEAST_WIDTH);
        let room = width - 2.0 * PADDING;

        let mut body = Element::group();
        let mut y = PADDING;
        for line in text::wrap(&self.title, text::bold(TITLE_SIZE), room, 3) {
            y += TITLE_SIZE;
            body.push(Element::text(PADDING, y, TITLE_SIZE, line).fill(Paint::Text).bold());
            y += 5.0;
        }
        y += self.draw_legend(&mut body, &styles, room, y);
        // Empty space left of a short figure would look lopsided.
        let indent = (width - layout.width) / 2.0;
        for cell in &self.cells {
            let plot = layout.plot(cell, indent, y);
            body.push(cell.panel.draw(plot, &styles));
        }
        y += layout.height;
        if self.cells.is_empty() {
            y += 40.0;
            let empty = Element::text(width / 2.0, y, LABEL_SIZE, "nothing to show");
            body.push(empty.anchor("middle").fill(Paint::Muted));
            y += 30.0;
        }
        let caption = self.full_caption();
        let lines = text::wrap(&caption, text::room(TICK_SIZE), room, 9);
        if !lines.is_empty() {
            y += 6.0;
        }
        for line in lines {
            y += TICK_SIZE + 3.5;
            body.push(Element::text(PADDING, y, TICK_SIZE, line).fill(Paint::Muted));
        }
        let size = (width.ceil(), (y + PADDING).ceil());
        self.element(place, size, &caption, body).write()
    }

    fn element(
        &self,
        place: Place,
        (width, height): (f64, f64),
        caption: &str,
        body: Element,
    ) -> Element {
        let names = [&self.label, &self.title];
        let title = names.into_iter().find(|name| !name.is_empty());
        let title = title.map_or("trustvb figure", String::as_str);
        let mut description: Vec<String> = self.cells.iter().map(|c| c.panel.describe()).collect();
        description.push(caption.to_string());
        description.retain(|sentence| !sentence.is_empty());
        let svg = Element::new("svg")
            .attr("xmlns", "http://www.w3.org/2000/svg")
            .attr("class", "tvb")
            .attr("role", "img")
            .num("width", width)
            .num("height", height)
            .attr("viewBox", format!("0 0 {width} {height}"))
            .attr("font-family", FONT_FAMILY)
            .child(Element::new("title").content(title))
            .child(Element::new("desc").content(description.join(" ")));
        let svg = match place {
            Place::File => svg
                .child(Element::new("style").content(style_sheet()))
                .child(Element::rect(0.0, 0.0, width, height).fill(Paint::Background)),
            Place::Page => svg,
        };
        svg.child(body)
    }

    fn full_caption(&self) -> String {
        let mut parts = vec![self.caption.clone()];
        parts.extend(self.cells.iter().filter_map(|cell| cell.panel.note()));
        parts.retain(|part| !part.is_empty());
        parts.dedup();
        parts.join(" ")
    }

    /// Draws the legend from `top` downwards and returns the height it took.
    fn draw_legend(&self, body: &mut Element, styles: &StyleBook, room: f64, top: f64) -> f64 {
        if styles.entries().is_empty() || !self.legend {
            return 6.0;
        }
        let mark = |name: &String| {
            let shown = self.cells.iter().find(|cell| cell.panel.series().contains(name));
            shown.map_or(LegendMark::Line, |cell| cell.panel.legend_mark())
        };
        legend::draw(body, styles, &mark, (PADDING, top), room)
    }
}

/// Where a figure will stand.
#[derive(Clone, Copy)]
enum Place {
    /// Alone: it brings its style sheet and background.
    File,
    /// In a page that has both.
    Page,
}

struct Layout {
    /// Left edge and width of each column's plotting area.
    columns: Vec<(f64, f64)>,
    /// Upper edge and height of each row's plotting area.
    rows: Vec<(f64, f64)>,
    width: f64,
    height: f64,
}

impl Layout {
    fn of(cells: &[Cell]) -> Self {
        let n_columns = cells.iter().map(|c| c.columns().end).max().unwrap_or(0);
        let n_rows = cells.iter().map(|c| c.rows().end).max().unwrap_or(0);
        let mut widths = vec![0.0f64; n_columns];
        let mut heights = vec![0.0f64; n_rows];
        for cell in cells {
            let (width, height) = cell.panel.size();
            if cell.column_span == 1 {
                widths[cell.column] = widths[cell.column].max(width);
            }
            if cell.row_span == 1 {
                heights[cell.row] = heights[cell.row].max(height);
            }
        }
        for cell in cells {
            let (width, height) = cell.panel.size();
            stretch(&mut widths[cell.columns()], width);
            stretch(&mut heights[cell.rows()], height);
        }
        let mut around_columns = vec![Margins::default(); n_columns];
        let mut around_rows = vec![Margins::default(); n_rows];
        for cell in cells {
            let (last_row, last_column) = (cell.rows().end - 1, cell.columns().end - 1);
            let width = widths[cell.columns()].iter().sum();
            let height = heights[cell.rows()].iter().sum();
            let margins = cell.panel.margins(width, height);
            let widest = |side: &mut f64, needed: f64| *side = side.max(needed);
            widest(&mut around_columns[cell.column].left, margins.left);
            widest(&mut around_columns[last_column].right, margins.right);
            widest(&mut around_rows[cell.row].top, margins.top);
            widest(&mut around_rows[last_row].bottom, margins.bottom);
        }
        let mut x = PADDING;
        let mut columns = Vec::new();
        for (width, margins) in widths.iter().zip(&around_columns) {
            if !columns.is_empty() {
                x += COLUMN_GAP;
            }
            columns.push((x + margins.left, *width));
            x += margins.left + width + margins.right;
        }
        let mut y = 0.0;
        let mut rows = Vec::new();
        for (height, margins) in heights.iter().zip(&around_rows) {
            if !rows.is_empty() {
                y += ROW_GAP;
            }
            rows.push((y + margins.top, *height));
            y += margins.top + height + margins.bottom;
        }
        Layout { columns, rows, width: x + PADDING, height: y }
    }

    fn plot(&self, cell: &Cell, indent: f64, top: f64) -> Rect {
        let (x, _) = self.columns[cell.column];
        let (last_x, last_width) = self.columns[cell.columns().end - 1];
        let (y, _) = self.rows[cell.row];
        let (last_y, last_height) = self.rows[cell.rows().end - 1];
        let (width, height) = (last_x + last_width - x, last_y + last_height - y);
        Rect { x: x + indent, y: y + top, width, height }
    }
}

/// Makes rows or columns longer, all by the same, until together they have the length needed.
fn stretch(lengths: &mut [f64], needed: f64) {
    let missing = needed - lengths.iter().sum::<f64>();
    let share = missing.max(0.0) / lengths.len() as f64;
    lengths.iter_mut().for_each(|length| *length += share);
}
