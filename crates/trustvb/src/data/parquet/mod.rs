//! Reads and writes Parquet files column by column, without Arrow.

mod column;
mod read;
mod write;

pub(crate) use read::read_table;
pub(super) use read::{ParquetRows, read_parquet};
pub use write::write_parquet;
pub(crate) use write::{ColumnValues, write_table};

#[cfg(test)]
mod tests;
