//! What models are compared by.

use super::Candidate;
use serde::{Deserialize, Serialize};

/// A criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Criterion {
    /// Likelihood at the posterior mean, less what its free numbers are worth.
    Bic,
    /// The same, less what cannot be told apart.
    Icl,
    /// VB's own bound on the log evidence.
    Bound,
    /// The bound and, where tails are heavier than the model's, what heavier ones would add to it.
    Evidence,
}

impl Criterion {
    /// All of them.
    pub const ALL: [Criterion; 4] =
        [Criterion::Bic, Criterion::Icl, Criterion::Bound, Criterion::Evidence];

    /// Those that are shown side by side; the last of all is the bound, but for tails.
    pub const SHOWN: [Criterion; 3] = [Criterion::Bic, Criterion::Icl, Criterion::Bound];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Criterion::Bic => "bic",
            Criterion::Icl => "icl",
            Criterion::Bound => "bound",
            Criterion::Evidence => "evidence",
        }
    }

    /// The criterion of this name.
    pub fn named(name: &str) -> Option<Criterion> {
        Criterion::ALL.into_iter().find(|criterion| criterion.name() == name)
    }

    /// As it is said: `BIC`.
    pub fn title(self) -> &'static str {
        match self {
            Criterion::Bic => "BIC",
            Criterion::Icl => "ICL",
            Criterion::Bound => "bound",
            Criterion::Evidence => "evidence",
        }
    }

    /// A candidate's value, as it is shown.
    pub fn value(self, candidate: &Candidate) -> f64 {
        match self {
            Criterion::Bic => candidate.bic,
            Criterion::Icl => candidate.icl,
            Criterion::Bound => candidate.bound,
            Criterion::Evidence => candidate.evidence,
        }
    }

    /// Whether a lower value is better.
    pub fn is_cost(self) -> bool {
        matches!(self, Criterion::Bic | Criterion::Icl)
    }

    /// Lower is better, on the scale of twice a log likelihood.
    pub(super) fn badness(self, candidate: &Candidate) -> f64 {
        match self {
            Criterion::Bic | Criterion::Icl => self.value(candidate),
            Criterion::Bound | Criterion::Evidence => -2.0 * self.value(candidate),
        }
    }

    /// The candidates that have a value, best first; of equals the first one, which has fewer components. Those with components
    /// that hold next to no data come last: they say no more than others with fewer components do.
    pub(super) fn order(self, candidates: &[Candidate]) -> Vec<usize> {
        let mut order: Vec<usize> =
            (0..candidates.len()).filter(|&at| self.value(&candidates[at]).is_finite()).collect();
        order.sort_by(|&a, &b| {
            let has_emptied = |at: usize| candidates[at].emptied() > 0;
            let by_value = self.badness(&candidates[a]).total_cmp(&self.badness(&candidates[b]));
            has_emptied(a).cmp(&has_emptied(b)).then(by_value)
        });
        order
    }
}
