//! Reads and writes Parquet files column by column, without Arrow.

mod read;
mod write;

pub(super) use read::read_parquet;
pub use write::write_parquet;

#[cfg(test)]
mod tests;
