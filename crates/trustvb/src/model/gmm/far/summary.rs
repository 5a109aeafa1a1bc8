//! What is known of the columns of rows that are not in memory.

use crate::data::DataError;

/// Means, spreads and ranges of columns.
#[derive(Clone, Debug, PartialEq)]
pub struct RowsSummary {
    /// Names of the columns.
    pub names: Vec<String>,
    /// How many rows there are.
    pub n_rows: usize,
    /// Their means.
    pub mean: Vec<f64>,
    /// Their standard deviations, with the divisor n.
    pub sd: Vec<f64>,
    /// Their least values.
    pub least: Vec<f64>,
    /// Their largest values.
    pub largest: Vec<f64>,
}

impl RowsSummary {
    /// Of all parts together, in their order; `source` is what messages call them. Parts without rows say nothing.
    pub fn merged(source: &str, parts: &[RowsSummary]) -> Result<RowsSummary, DataError> {
        let file = || source.to_owned();
        let Some(first) = parts.first() else { return Err(DataError::Empty { file: file() }) };
        if let Some((at, other)) = parts.iter().enumerate().find(|(_, x)| x.names != first.names) {
            let what = format!(
                "part {} has the columns {}, and the first has {}; give parts of the same columns",
                at + 1,
                other.names.join(", "),
                first.names.join(", ")
            );
            return Err(DataError::Units { file: file(), what });
        }
        let there: Vec<&RowsSummary> = parts.iter().filter(|part| part.n_rows > 0).collect();
        let n_rows: usize = there.iter().map(|part| part.n_rows).sum();
        let Some(base) = there.first() else {
            return Err(DataError::HeaderOnly { file: file(), n_columns: first.names.len() });
        };
        let share = |part: &RowsSummary| part.n_rows as f64 / n_rows as f64;
        let columns = 0..first.names.len();
        // About the mean of the first part, so that columns far from zero keep their digits.
        let mean = |j: usize| {
            let shift = |part: &&RowsSummary| share(part) * (part.mean[j] - base.mean[j]);
            base.mean[j] + there.iter().map(shift).sum::<f64>()
        };
        let mean: Vec<f64> = columns.clone().map(mean).collect();
        let sd = |j: usize| {
            let own = |part: &&RowsSummary| {
                share(part) * (part.sd[j].powi(2) + (part.mean[j] - mean[j]).powi(2))
            };
            there.iter().map(own).sum::<f64>().sqrt()
        };
        let least = |j: usize| there.iter().fold(f64::INFINITY, |x, part| x.min(part.least[j]));
        let largest =
            |j: usize| there.iter().fold(f64::NEG_INFINITY, |x, part| x.max(part.largest[j]));
        Ok(RowsSummary {
            names: first.names.clone(),
            n_rows,
            sd: columns.clone().map(sd).collect(),
            least: columns.clone().map(least).collect(),
            largest: columns.map(largest).collect(),
            mean,
        })
    }
}
