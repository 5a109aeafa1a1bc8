//! Reads CSV and Parquet files into data that the models can take without checking again.

mod collinear;
mod csv;
mod dataset;
mod error;
mod frame;
mod lines;
mod missing;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "parquet_disabled.rs"]
mod parquet;
mod read;
mod select;
mod wording;

pub use csv::{read_csv, write_csv};
pub use dataset::Dataset;
pub use error::DataError;
pub use frame::{Column, Frame, TextColumn};
pub use missing::{BadCell, MissingCells, RowUnit};
pub use parquet::write_parquet;
pub use read::{ReadOptions, read_path};
