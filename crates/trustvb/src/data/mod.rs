//! Reads CSV and Parquet files into data that the models can take without checking again.
//!
//! A file becomes a [`Frame`] (named columns of numbers or text), and a frame becomes either a
//! [`Dataset`] for Gaussian mixtures or, through a [`Formula`], a [`Grouped`] data set for mixtures
//! of regressions. Whatever is wrong with a file is said once, here, as a [`DataError`] that names
//! the file, the row, the column, the value and the way out.
//!
//! ```
//! use trustvb::data::{Formula, ReadOptions, read_csv};
//!
//! let text = "plot,height,light\nA,1.5,0.2\nA,1.9,0.4\nB,0.7,0.9\n";
//! let formula = Formula::parse("height ~ light | plot")?;
//! let frame = read_csv(text.as_bytes(), "plants.csv", &formula.read_options())?;
//! let plants = formula.apply(&frame)?;
//! assert_eq!(plants.design_names(), ["(Intercept)", "light"]);
//! assert_eq!(plants.groups(), [0, 0, 1]);
//! # Ok::<(), trustvb::data::DataError>(())
//! ```

mod by;
mod centres;
mod codes;
mod collinear;
mod csv;
mod dataset;
mod error;
mod formula;
mod frame;
mod grouped;
mod lines;
mod missing;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "parquet_disabled.rs"]
mod parquet;
mod pieces;
mod read;
mod regressors;
mod replace;
mod select;
mod wording;

pub use by::{Slice, as_written};
pub use centres::read_centres;
pub(crate) use codes::{Distinct, Look};
pub(crate) use csv::is_missing;
pub use csv::{read_csv, write_csv};
pub use dataset::Dataset;
pub(crate) use dataset::{check_components, check_rows};
pub use error::DataError;
pub use formula::Formula;
pub use frame::{Column, Frame, TextColumn};
pub use grouped::Grouped;
pub use missing::{BadCell, MissingCells, RowUnit};
pub use parquet::write_parquet;
#[cfg(feature = "parquet")]
pub use parquet::{Cells, ColumnValues, Sheet, write_columns_parquet};
#[cfg(feature = "parquet")]
pub(crate) use parquet::{
    RowGroups, SomeRows, dataset_bytes, metadata_of, parquet_bytes, read_columns, read_dataset_in,
    read_sheet, read_some,
};
pub use pieces::Pieces;
pub use read::{ReadOptions, read_path};
pub use regressors::GroupNames;
pub(crate) use regressors::{Regressors, check_for_mixture};
pub use replace::{abandon_files, replace_file};
#[cfg(feature = "parquet")]
pub(crate) use replace::{create_file, remove_leftovers};
