//! A figure of panels of one kind, which agree on the axes that they share.

use super::grid::Grid;
use super::panel::{LegendMark, Margins, Panel, Rect};
use super::scale::Scale;
use super::svg::Element;
use super::theme::StyleBook;

/// A panel of which several make a figure.
pub trait FigurePanel: Panel + Sized {
    /// Panels in a row when none are asked for; 0 chooses by their number.
    const COLUMNS: usize = 0;

    /// The panels as they stand in one figure: those that share an axis agree on it.
    fn together(panels: &[Self]) -> Vec<Box<dyn Panel + '_>> {
        panels.iter().map(|panel| Box::new(panel) as Box<dyn Panel + '_>).collect()
    }
}

/// Panels of one kind with a title and a caption.
///
/// `CoverageFigure`, `DensityFigure`, `ForestFigure` and the others are this with their own panels.
#[derive(Clone, Debug, Default)]
pub struct Figure<P> {
    /// The figure's title; may be empty.
    pub title: String,
    /// Text under the figure; may be empty.
    pub caption: String,
    /// The panels, from left to right and then down.
    pub panels: Vec<P>,
    /// Panels in a row; 0 chooses a number.
    pub columns: usize,
}

impl<P: FigurePanel> Figure<P> {
    /// The figure as an SVG document.
    pub fn render(&self) -> String {
        let asked = if self.columns == 0 { P::COLUMNS } else { self.columns };
        let columns = columns_for(self.panels.len(), asked);
        let panels = P::together(&self.panels);
        Grid::new(&self.title).caption(&self.caption).flow(&panels, columns).render()
    }
}

/// The number of columns for a figure: as asked for, or at most three, without a lone last panel.
fn columns_for(n_panels: usize, asked: usize) -> usize {
    match (asked, n_panels) {
        (1.., _) => asked,
        (_, 0..=3) => n_panels.max(1),
        (_, 4) => 2,
        _ => 3,
    }
}

/// A panel that can be drawn on another vertical scale than its own.
pub(crate) trait Scaled: Panel {
    /// The scale that its own values ask for.
    fn scale(&self) -> Scale;
    /// As [`Panel::margins`], on a given scale.
    fn margins_on(&self, width: f64, height: f64, scale: &Scale) -> Margins;
    /// As [`Panel::draw`], on a given scale.
    fn draw_on(&self, plot: Rect, styles: &StyleBook, scale: &Scale) -> Element;
}

/// A panel with the scale that it shares with its neighbours.
struct OnScale<'a, P> {
    panel: &'a P,
    scale: Scale,
}

/// Panels on one scale that spans all of theirs.
pub(crate) fn on_one_scale<P: Scaled>(panels: &[P]) -> Vec<Box<dyn Panel + '_>> {
    let scales: Vec<Scale> = panels.iter().map(Scaled::scale).collect();
    let shared = scales.iter().copied().reduce(|a, b| a.and(&b));
    panels
        .iter()
        .zip(scales)
        .map(|(panel, own)| {
            let scale = shared.unwrap_or(own);
            Box::new(OnScale { panel, scale }) as Box<dyn Panel + '_>
        })
        .collect()
}

impl<P: Scaled> Panel for OnScale<'_, P> {
    fn size(&self) -> (f64, f64) {
        self.panel.size()
    }

    fn margins(&self, width: f64, height: f64) -> Margins {
        self.panel.margins_on(width, height, &self.scale)
    }

    fn series(&self) -> Vec<String> {
        self.panel.series()
    }

    fn legend_mark(&self) -> LegendMark {
        self.panel.legend_mark()
    }

    fn draw(&self, plot: Rect, styles: &StyleBook) -> Element {
        self.panel.draw_on(plot, styles, &self.scale)
    }

    fn describe(&self) -> String {
        self.panel.describe()
    }

    fn note(&self) -> Option<String> {
        self.panel.note()
    }
}
