//! Answers as people and programs read them: JSON, CSV and sentences, one form for every way of asking.
//!
//! What an answer has is listed once ([`fields`]); JSON, CSV, and dictionaries of other languages are made from that
//! list. What is said of VB's own intervals ([`verdict()`]) and of warnings ([`warnings()`]) is worded here and nowhere
//! else.

mod numbers;
mod plain;
mod record;
mod verdict;
mod warnings;
mod words;

pub use crate::calibrate::{Own, UNCHECKED};
pub use numbers::{deserved, number, percent, significant, whole_percent};
pub use plain::{Element, in_plain_words};
pub use record::{Field, answer_json, answers_csv, answers_json, csv_cell, csv_number, fields};
pub use verdict::{Judged, verdict, verdict_on};
pub use warnings::{Warning, merged, runs, warnings};
pub use words::{in_words, omega_text, plural, quantity_in_words, sentence};

use crate::calibrate::{Answer, Method};
use crate::table::TvbTable;

/// The methods that are asked when none are named, as far as a table can answer them.
pub fn usual_methods(table: &TvbTable) -> Vec<Method> {
    Method::usual(false).iter().copied().filter(|method| method.is_possible(table)).collect()
}

/// Whose interval to quote where there is room for one: the best evidence first.
const PREFERRED: [Method; 10] = [
    Method::RECOMMENDED,
    Method::Tempered,
    Method::Anchored,
    Method::Analytic,
    Method::Gpc,
    Method::Tvb,
    Method::TvbSequential,
    Method::Jackknife,
    Method::Bootstrap,
    Method::Vb,
];

/// The answer to quote among those for one quantity at one level: the preferred method's, if it has
/// an interval.
pub fn headline<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Option<&'a Answer> {
    let answers: Vec<&Answer> = answers.into_iter().collect();
    let of = |method: &Method| answers.iter().find(|a| a.method == *method).copied();
    let with_interval = |a: &&Answer| a.lower.is_finite() || a.upper.is_finite();
    PREFERRED.iter().filter_map(of).find(with_interval).or_else(|| PREFERRED.iter().find_map(of))
}
