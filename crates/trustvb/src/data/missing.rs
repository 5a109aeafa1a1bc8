//! Which cells hold no finite number, and how their rows are counted.

use super::wording::{cell_list, count};
use crate::remedy::Remedy;

/// How rows are counted in messages about one source of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowUnit {
    /// Lines of a text file; the header is line 1.
    Line,
    /// Rows of a table without lines (Parquet, memory); the first is row 1.
    Row,
}

impl RowUnit {
    pub(crate) fn word(self) -> &'static str {
        match self {
            RowUnit::Line => "line",
            RowUnit::Row => "row",
        }
    }
}

/// One cell that holds no finite number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadCell {
    /// Line or row, as [`MissingCells::unit`] says.
    pub row: u64,
    /// Name of the column.
    pub column: String,
    /// What the cell holds; empty for an empty cell.
    pub text: String,
}

/// The cells that are missing or infinite: the first few, and how many there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingCells {
    /// The file.
    pub file: String,
    /// How `row` is counted in `first`.
    pub unit: RowUnit,
    /// The first five in the order of rows.
    pub first: Vec<BadCell>,
    /// Number of such cells.
    pub n_cells: usize,
    /// Number of rows with at least one.
    pub n_rows: usize,
    /// Whether they are columns for a model that takes rows of numbers only.
    pub of_numbers_only: bool,
}

impl MissingCells {
    /// How many cells a message lists.
    pub(super) const SHOWN: usize = 5;

    /// What to do about them.
    pub(super) fn remedies(&self) -> Vec<Remedy> {
        let mut list = vec![Remedy::Do("fill in the values"), Remedy::DropMissing];
        // It has no place for infinite numbers.
        let infinite = |cell: &BadCell| cell.text.to_ascii_lowercase().contains("inf");
        if self.of_numbers_only && !self.first.iter().any(infinite) {
            list.push(Remedy::MixedModel("them"));
        }
        list
    }

    /// The whole message.
    pub(super) fn text(&self) -> String {
        let rest = self.n_cells - self.first.len().min(self.n_cells);
        let more = if rest > 0 { format!("; and {rest} more") } else { String::new() };
        format!(
            "{}: {} missing or infinite, in {} ({}{more})",
            self.file,
            if self.n_cells == 1 {
                "1 cell is".to_owned()
            } else {
                format!("{} cells are", self.n_cells)
            },
            count(self.n_rows, "row"),
            cell_list(&self.first, self.unit.word()),
        )
    }
}
