//! Reads and writes Parquet files column by column, without Arrow.

mod arrow;
mod column;
mod read;
mod sheet;
mod some;
mod write;

pub(super) use read::{ParquetRows, read_parquet};
pub(crate) use read::{read_columns, read_dataset_in};
pub use sheet::{Cells, Sheet};
pub(crate) use sheet::{metadata_of, read_sheet};
pub(crate) use some::{SomeRows, read_some};
pub use write::{ColumnValues, write_columns_parquet, write_parquet};
pub(crate) use write::{RowGroups, dataset_bytes, parquet_bytes};

#[cfg(test)]
mod tests;
