//! Pictures and pages of trustvb: figures, the HTML report and the explorer. What answers say, as JSON, CSV and
//! sentences, is the library's: `trustvb::answers`.
//!
//! Figures take plain numbers and give an SVG document, or PNG drawn the same on every machine. Each figure is a struct
//! with documented fields and a `render` method. Its panels can be put together in other ways with a [`Grid`]; [`save`]
//! writes `.svg` or `.png` by the file's name.
//!
//! ```
//! use trustvb_report::{CoverageCurve, CoverageFigure, CoveragePanel};
//!
//! let curve = CoverageCurve {
//!     method: "anchored".into(),
//!     omega: vec![1.0, 0.5, 0.25],
//!     coverage: vec![0.63, 0.82, 0.96],
//!     se: vec![0.022, 0.017, 0.009],
//!     chosen: Some(0.27),
//! };
//! let panel = CoveragePanel {
//!     functional: "pi[1]".into(),
//!     levels: vec![0.95],
//!     curves: vec![curve],
//!     vb: Some(0.63),
//!     ..Default::default()
//! };
//! let svg = CoverageFigure { panels: vec![panel], ..Default::default() }.render();
//! assert!(svg.contains("pi[1]"));
//! ```
//!
//! All text is escaped, values that are not finite leave gaps, and an empty figure says so:
//! nothing that data can hold makes a figure fail.

#![forbid(unsafe_code)]

pub mod command;
pub mod explore;
mod figures;
pub mod html;
mod overview;
pub mod picture;
mod profile;

pub use figures::*;
pub use profile::profile;
