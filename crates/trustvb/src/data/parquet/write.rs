//! Writes a data set as Parquet so that a reader sees the whole file or none of it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::DoubleType;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::data::dataset::Dataset;
use crate::data::error::DataError;

/// Rows in a row group: 8 MB of doubles for each column.
const ROW_GROUP: usize = 1 << 20;

/// Writes the columns as doubles (byte-stream split, zstd) under a temporary name beside `path`,
/// syncs, and renames.
pub fn write_parquet(dataset: &Dataset, path: &Path) -> Result<(), DataError> {
    let temporary = temporary_name(path);
    let written = write_file(dataset, &temporary)
        .and_then(|()| fs::rename(&temporary, path))
        .and_then(|()| sync_folder(path));
    written.map_err(|source| {
        // The first error is the one to report; the file may not even exist.
        let _ = fs::remove_file(&temporary);
        DataError::Write { file: path.display().to_string(), source }
    })
}

fn temporary_name(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}

/// Makes the new name itself durable, where folders can be synced.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

fn write_file(dataset: &Dataset, path: &Path) -> io::Result<()> {
    let file = write_columns(dataset, File::create(path)?).map_err(|error| match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(inner) => *inner,
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    })?;
    file.sync_all()
}

fn write_columns(dataset: &Dataset, file: File) -> Result<File, ParquetError> {
    let mut fields = Vec::with_capacity(dataset.n_columns());
    for name in dataset.names() {
        let field = Type::primitive_type_builder(name, PhysicalType::DOUBLE)
            .with_repetition(Repetition::REQUIRED)
            .build()?;
        fields.push(Arc::new(field));
    }
    let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::BYTE_STREAM_SPLIT)
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("trustvb ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
    for start in (0..dataset.n_rows()).step_by(ROW_GROUP) {
        let end = (start + ROW_GROUP).min(dataset.n_rows());
        let mut group = writer.next_row_group()?;
        for j in 0..dataset.n_columns() {
            let Some(mut column) = group.next_column()? else { break };
            let values = &dataset.column(j)[start..end];
            column.typed::<DoubleType>().write_batch(values, None, None)?;
            column.close()?;
        }
        group.close()?;
    }
    writer.into_inner()
}
