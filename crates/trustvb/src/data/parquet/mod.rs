//! Reads and writes Parquet files column by column, without Arrow.

mod read;
mod write;

pub(super) use read::read_parquet;
pub(crate) use read::{read_dataset, read_table};
pub use write::write_parquet;
pub(crate) use write::{ColumnValues, dataset_bytes, table_bytes, write_table};

#[cfg(test)]
mod tests;
