//! What was found out about one functional in one table, for the next question.

use super::evidence::Target;
use crate::resample::Design;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is known of one functional in one table: the CDF value of the checked value in every replicate
/// looked at.
///
/// A value is in the central `1−a` interval iff its CDF value `u` is in `[a/2, 1−a/2]` (see
/// [`Law::place`](super::Law::place)), so this answers for every level. Kept from one call of
/// [`Calibrator::answer_with`](super::Calibrator::answer_with) to the next it makes a change of level
/// cheap; it never changes an answer. Do not use it for another functional or table.
#[derive(Debug, Default)]
pub struct Memory {
    known: Mutex<Known>,
}

/// CDF values of replicates, by design, checked value and grid point.
type Known = BTreeMap<(Design, Target, usize), Vec<f64>>;

impl Memory {
    /// Its size in memory, about.
    pub fn bytes(&self) -> usize {
        self.lock().values().map(|u| size_of_val::<[f64]>(u) + 64).sum()
    }

    pub(super) fn get(&self, key: (Design, Target, usize)) -> Option<Vec<f64>> {
        self.lock().get(&key).cloned()
    }

    pub(super) fn keep(&self, key: (Design, Target, usize), places: &[f64]) {
        self.lock().insert(key, places.to_vec());
    }

    /// The map holds whole entries only, so a panic elsewhere leaves it as good as before.
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
