//! What the explorer knows: the open tables, and what was found out about each quantity asked so far.

use super::limits;
use crate::picture::Quantity;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use trustvb::calibrate::{CalibrateError, Memory, Method};
use trustvb::functional::{Functional, FunctionalError, Part};
use trustvb::model::ModelError;
use trustvb::table::TvbTable;

/// A table that questions are put to.
pub(super) struct OpenTable {
    /// Its folder, as the user wrote it.
    pub(super) name: String,
    pub(super) table: TvbTable,
}

/// A functional with what is known of it in one table.
pub(super) struct Known {
    pub(super) functional: Functional,
    /// What was found out about each part.
    memory: Vec<Memory>,
}

impl Known {
    fn bytes(&self) -> usize {
        self.memory.iter().map(Memory::bytes).sum()
    }
}

/// Tables and cache, shared by all requests.
pub(super) struct Session {
    tables: Vec<OpenTable>,
    draws: usize,
    /// The last functionals asked for, the latest at the end.
    known: Mutex<Vec<(usize, Arc<Known>)>>,
}

/// Why a question has no answer.
#[derive(Debug)]
pub(super) enum Refusal {
    /// There is no such table.
    NoTable(usize),
    /// The functional cannot be read.
    Functional(FunctionalError),
    /// It can be read but not asked here.
    TooMuch(String),
    /// The table has no answer.
    Calibrate(CalibrateError),
}

impl From<CalibrateError> for Refusal {
    fn from(error: CalibrateError) -> Refusal {
        Refusal::Calibrate(error)
    }
}

impl Session {
    pub(super) fn new(
        tables: Vec<(String, TvbTable)>,
        draws: usize,
    ) -> Result<Session, (String, ModelError)> {
        // The model takes time to set up when data are many; afterwards the table keeps it.
        let open = |(name, table): (String, TvbTable)| match table.problem() {
            Ok(_) => Ok(OpenTable { name, table }),
            Err(error) => Err((name, error)),
        };
        let tables = tables.into_iter().map(open).collect::<Result<_, _>>()?;
        Ok(Session { tables, draws, known: Mutex::new(Vec::new()) })
    }

    pub(super) fn tables(&self) -> &[OpenTable] {
        &self.tables
    }

    pub(super) fn draws(&self) -> usize {
        self.draws
    }

    pub(super) fn table(&self, at: usize) -> Result<&OpenTable, Refusal> {
        self.tables.get(at).ok_or(Refusal::NoTable(at))
    }

    /// Reads a functional for a table, or finds it among those asked before.
    pub(super) fn read(&self, at: usize, text: &str) -> Result<Arc<Known>, Refusal> {
        let table = &self.table(at)?.table;
        limits::check_text(text)?;
        let text = text.trim();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let same =
            |(table, found): &(usize, Arc<Known>)| *table == at && found.functional.text() == text;
        if let Some(place) = known.iter().position(same) {
            let entry = known.remove(place);
            known.push(entry.clone());
            return Ok(entry.1);
        }
        drop(known);
        let functional = Functional::parse(text, table.layout()).map_err(Refusal::Functional)?;
        limits::check_cost(&functional)?;
        let memory = functional.parts().iter().map(|_| Memory::default()).collect();
        Ok(Arc::new(Known { functional, memory }))
    }

    /// Keeps what was found out for the next question, and forgets the oldest beyond the limits.
    fn remember(&self, at: usize, entry: &Arc<Known>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.iter().any(|(_, found)| Arc::ptr_eq(found, entry)) {
            known.push((at, entry.clone()));
        }
        let mut bytes: usize = known.iter().map(|(_, found)| found.bytes()).sum();
        while known.len() > 1 && (known.len() > limits::KEPT || bytes > limits::KEPT_BYTES) {
            bytes -= known.remove(0).1.bytes();
        }
    }

    /// Answers for a list of functionals, as quantities. One calibrator serves all of them: what holds for the whole
    /// table is found out once.
    pub(super) fn ask_all<'a>(
        &self,
        at: usize,
        list: &'a [Arc<Known>],
        methods: &[Method],
        level: f64,
        cancel: &AtomicBool,
    ) -> Result<Vec<Quantity<'a>>, Refusal> {
        let open = self.table(at)?;
        let each = || list.iter().flat_map(|h| h.functional.parts().iter().zip(&h.memory));
        let (parts, known): (Vec<&Part>, Vec<&Memory>) = each().unzip();
        let how = (methods, &[level][..], self.draws);
        let answers = open.table.answer_all(&parts, &known, how, cancel, &|| ());
        list.iter().for_each(|known| self.remember(at, known));
        let quantities = parts.into_iter().zip(answers?);
        Ok(quantities.map(|(part, answers)| Quantity { part, answers }).collect())
    }
}
