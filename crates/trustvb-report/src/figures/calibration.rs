//! The overview of a calibration: clusters on the left, then for each functional its densities and coverage.

use super::clusters::ClustersPanel;
use super::coverage::CoveragePanel;
use super::density::DensityPanel;
use super::grid::Grid;
use trustvb::answers::whole_percent;

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
    /// The figure as an SVG document. Where no method looks at a curve there are no panels for them, and the densities
    /// say what VB covers.
    pub fn render(&self) -> String {
        let curves = self.rows.iter().any(|row| !row.coverage.curves.is_empty());
        let alone: Vec<DensityPanel> = match curves {
            true => Vec::new(),
            false => self.rows.iter().map(CalibrationRow::titled_by_coverage).collect(),
        };
        let mut grid = Grid::new(&self.title).caption(&self.caption);
        let n = self.rows.len();
        let (beside, first) = match &self.clusters {
            None => (if curves { n } else { 0 }, 0),
            // One or two rows are about as high as the clusters are wide.
            Some(clusters) if n <= 2 => {
                grid = grid.place_over(0, 0, (n, 1), clusters);
                (n, 1)
            }
            // More rows flow around them, so that no corner stays empty.
            Some(clusters) => {
                let beside = if n.is_multiple_of(2) || !curves { 2 } else { 3 };
                grid = grid.place_over(0, 0, (beside, 2), clusters);
                (beside, 2)
            }
        };
        // Rows with curves are two panels wide and flow two to a line, others three.
        let (width, to_a_line) = if curves { (2, 2) } else { (1, 3) };
        for (i, row) in self.rows.iter().enumerate() {
            let (line, column) = match i.checked_sub(beside) {
                None => (i, first),
                Some(after) => (beside + after / to_a_line, width * (after % to_a_line)),
            };
            grid = match alone.get(i) {
                Some(density) => grid.place(line, column, density),
                None => {
                    grid.place(line, column, &row.density).place(line, column + 1, &row.coverage)
                }
            };
        }
        grid.render()
    }
}

impl CalibrationRow {
    /// The densities alone, with what VB covers in their title.
    fn titled_by_coverage(&self) -> DensityPanel {
        let mut density = self.density.clone();
        if let Some(covers) = self.coverage.vb {
            density.functional += &format!(": VB covers {}", whole_percent(covers));
        }
        density
    }
}
