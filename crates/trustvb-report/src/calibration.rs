//! The overview of a calibration: clusters on the left, then for each functional its densities and coverage.

use crate::clusters::ClustersPanel;
use crate::coverage::CoveragePanel;
use crate::density::DensityPanel;
use crate::grid::Grid;

/// One functional: how its density changes, and the curve that says by how much it should.
#[derive(Clone, Debug, Default)]
pub struct CalibrationRow {
    /// The densities with their intervals.
    pub density: DensityPanel,
    /// The coverage curves with the chosen ω.
    pub coverage: CoveragePanel,
}

/// Clusters, densities and coverage curves in one figure.
#[derive(Clone, Debug, Default)]
pub struct CalibrationFigure {
    /// The figure's title; may be empty.
    pub title: String,
    /// Text under the figure; may be empty.
    pub caption: String,
    /// The clusters, where two columns can show them.
    pub clusters: Option<ClustersPanel>,
    /// One row per functional.
    pub rows: Vec<CalibrationRow>,
}

impl CalibrationFigure {
    /// The figure as an SVG document.
    pub fn render(&self) -> String {
        let mut grid = Grid::new(&self.title).caption(&self.caption);
        let mut first = 0;
        if let Some(clusters) = &self.clusters {
            // Two rows are about as high as the clusters are wide.
            grid = grid.place_tall(0, 0, self.rows.len().clamp(1, 2), clusters);
            first = 1;
        }
        for (i, row) in self.rows.iter().enumerate() {
            grid = grid.place(i, first, &row.density).place(i, first + 1, &row.coverage);
        }
        grid.render()
    }
}
