//! A question to a table, asked word by word: what is left unsaid has its usual value.

use super::{Answer, CalibrateError, Calibrator, Method};
use crate::functional::{Functional, FunctionalError};
use crate::table::TvbTable;
#[cfg(feature = "parquet")]
use std::sync::atomic::AtomicBool;

/// A quantity that is asked of a table; [`TvbTable::ask`] begins it.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    table: &'a TvbTable,
    functional: Functional,
    level: f64,
    draws: usize,
}

pub use crate::defaults::DRAWS;
use crate::defaults::LEVEL;

impl<'a> Ask<'a> {
    pub(crate) fn new(table: &'a TvbTable, text: &str) -> Result<Ask<'a>, FunctionalError> {
        let functional = Functional::parse(text, table.layout())?;
        Ok(Ask { table, functional, level: LEVEL, draws: DRAWS })
    }

    /// The level of the intervals; 0.95 unless told otherwise.
    pub fn level(self, level: f64) -> Ask<'a> {
        Ask { level, ..self }
    }

    /// Draws behind each law that has no exact form.
    pub fn draws(self, draws: usize) -> Ask<'a> {
        Ask { draws, ..self }
    }

    /// The interval to use, for a quantity that is one number.
    pub fn recommended(self) -> Result<Answer, CalibrateError> {
        let parts = self.functional.parts().len();
        let mut answers = self.by(&[Method::RECOMMENDED])?;
        match answers.pop() {
            Some(answer) if parts == 1 => Ok(answer),
            _ => Err(CalibrateError::Parts { text: self.functional.text().to_owned(), parts }),
        }
    }

    /// The intervals of several methods, number after number of the quantity.
    pub fn by(&self, methods: &[Method]) -> Result<Vec<Answer>, CalibrateError> {
        let parts = self.functional.parts();
        #[cfg(feature = "parquet")]
        if self.table.is_thin() {
            let (parts, never) = (parts.iter().collect::<Vec<_>>(), AtomicBool::new(false));
            let how = (methods, &[self.level][..], self.draws);
            let answers = self.table.answer_all(&parts, &[], how, &never, &|| ())?;
            return Ok(answers.into_iter().flatten().collect());
        }
        let calibrator = Calibrator::new(self.table, self.draws)?;
        let mut answers = Vec::new();
        for part in parts {
            answers.extend(calibrator.answer(part, methods, &[self.level])?);
        }
        Ok(answers)
    }
}
