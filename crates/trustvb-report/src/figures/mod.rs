//! Figures: plain numbers in, an SVG document out, and PNG drawn the same on every machine.
//!
//! Nothing here knows the library: a figure is drawn from names and numbers, whoever computed them.

mod bound;
mod boxes;
mod calibration;
mod category;
mod clusters;
mod coverage;
mod density;
mod dots;
mod figure;
mod forest;
mod grid;
mod legend;
mod levels;
mod matrix;
mod omega;
mod panel;
mod png;
mod profile;
mod ranks;
mod scale;
mod selection;
mod strip;
mod svg;
mod text;
mod theme;

pub use bound::{BoundFigure, BoundPanel};
pub use boxes::{BoxFigure, BoxGroup, BoxPanel, BoxSummary};
pub use calibration::{CalibrationFigure, CalibrationRow};
pub use clusters::{ClusterEllipse, ClusterPoint, ClustersFigure, ClustersPanel};
pub use coverage::{CoverageCurve, CoverageFigure, CoveragePanel};
pub use density::{DensityCurve, DensityFigure, DensityPanel};
pub use dots::{Dot, DotsFigure, DotsGroup, DotsPanel};
pub use figure::{Figure, FigurePanel};
pub use forest::{ForestFigure, ForestInterval, ForestPanel, ForestQuantity};
pub use grid::Grid;
pub use legend::render_legend;
pub use levels::{LevelCurve, LevelFigure, LevelPanel};
pub use matrix::{MatrixComponent, ScatterMatrixFigure};
pub use omega::{ChosenOmega, OmegaFigure, OmegaPanel, OmegaQuantity};
pub use panel::{LegendMark, Margins, Panel, Rect};
pub use png::{FigureError, SAVED_SCALE, render_png, save};
pub use profile::{ProfileFigure, ProfileLine, ProfilePanel, ProfileValue};
pub use ranks::{RankCounts, RankFigure, RankPanel};
pub use scale::{Scale, Tick};
pub use selection::{SelectionFigure, SelectionLine, SelectionPanel};
pub use strip::{render_coverage_bar, render_interval_pair};
pub use svg::Element;
pub use theme::{Marker, Paint, SeriesStyle, StyleBook, style_sheet};
