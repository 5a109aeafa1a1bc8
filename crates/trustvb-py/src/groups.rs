//! What came of many groups, kept in a Parquet file as they are finished: the store of `calibrate --by -o NAME.parquet`.

use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use trustvb::data::{Cells, Sheet};
use trustvb::groups::{Run, Unfinished, is_finished, read_finished};

use crate::errors::{IntoException, value_error};

/// A column of words or numbers.
#[derive(FromPyObject, IntoPyObject)]
pub(crate) enum Column {
    Text(Vec<String>),
    Numbers(Vec<f64>),
}

type Columns = Vec<(String, Column)>;

fn sheet(columns: Columns) -> Sheet {
    let cells = |column| match column {
        Column::Text(words) => Cells::Text(words),
        Column::Numbers(numbers) => Cells::Numbers(numbers),
    };
    Sheet { columns: columns.into_iter().map(|(name, own)| (name, cells(own))).collect() }
}

fn columns(sheet: Sheet) -> Columns {
    let column = |cells| match cells {
        Cells::Text(words) => Column::Text(words),
        Cells::Numbers(numbers) => Column::Numbers(numbers),
        Cells::Integers(x) => Column::Numbers(x.into_iter().map(f64::from).collect()),
    };
    sheet.columns.into_iter().map(|(name, cells)| (name, column(cells))).collect()
}

/// Groups of a run that are kept block by block, and become a file when all are there.
#[pyclass(frozen, module = "trustvb._native")]
pub(crate) struct KeptGroups {
    file: PathBuf,
    run: Run,
    unfinished: Mutex<Option<Unfinished>>,
}

impl KeptGroups {
    fn lock(&self) -> MutexGuard<'_, Option<Unfinished>> {
        self.unfinished.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, work: impl FnOnce(&Unfinished) -> PyResult<T>) -> PyResult<T> {
        match self.lock().as_ref() {
            Some(unfinished) => work(unfinished),
            None => Err(value_error(format!("{} is finished", self.file.display()))),
        }
    }
}

#[pymethods]
impl KeptGroups {
    /// Goes on with a file, or begins it. `settings` is JSON: all that decides an answer, beside the data.
    #[new]
    fn claim(
        file: PathBuf,
        by: String,
        data_hash: String,
        n_groups: usize,
        settings: &str,
    ) -> PyResult<KeptGroups> {
        let settings = serde_json::from_str(settings).map_err(IntoException::into_exception)?;
        let run = Run { by, source: "the data".to_owned(), data_hash, n_groups, settings };
        let unfinished = match is_finished(&file, &run) {
            true => None,
            false => Some(Unfinished::claim(&file, &run).map_err(IntoException::into_exception)?),
        };
        Ok(KeptGroups { file, run, unfinished: Mutex::new(unfinished) })
    }

    /// The groups of each block that is not there yet, as first and last but one.
    fn missing(&self) -> Vec<(usize, usize, usize)> {
        let unfinished = self.lock();
        let Some(unfinished) = unfinished.as_ref() else { return Vec::new() };
        (0..unfinished.n_blocks())
            .filter(|block| unfinished.read(*block).is_err())
            .map(|block| {
                let groups = unfinished.groups_of(block);
                (block, groups.start, groups.end)
            })
            .collect()
    }

    /// Keeps the rows of a block.
    fn keep(&self, block: usize, rows: Columns) -> PyResult<()> {
        self.with(|unfinished| {
            unfinished.keep(block, &sheet(rows)).map_err(IntoException::into_exception)
        })
    }

    /// Makes the file of all blocks; the first error where no group succeeded.
    fn finish(&self) -> PyResult<Option<String>> {
        let Some(unfinished) = self.lock().take() else { return Ok(None) };
        let finished = unfinished.finish().map_err(IntoException::into_exception)?;
        Ok(finished.err())
    }

    /// All rows of the finished file.
    fn rows(&self) -> PyResult<Columns> {
        let sheet = read_finished(&self.file, &self.run).map_err(IntoException::into_exception)?;
        Ok(columns(sheet))
    }
}
