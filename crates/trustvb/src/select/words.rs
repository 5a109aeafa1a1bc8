//! A recommendation in plain words, and all that was compared as JSON.

use super::{Candidate, Criterion, Selection};
use crate::calibrate::Flag;
use crate::model::Heap;
use serde_json::{Map, Value, json};

impl Candidate {
    /// `3 components, tied`.
    pub fn in_words(&self) -> String {
        let components = self.spec.kind().called.count(self.n_components);
        match self.shape {
            Some(shape) => format!("{components}, {shape} covariances"),
            None => components,
        }
    }

    /// The options of a command line that ask for it.
    pub fn options(&self) -> String {
        let mut options = format!("-k {}", self.n_components);
        for (option, value) in self.spec.options(false) {
            if option == "--covariance" {
                options.push_str(&format!(" {option} {value}"));
            }
        }
        options
    }
}

impl Candidate {
    /// Its numbers; what is not finite is null.
    pub fn to_json(&self) -> Value {
        json!({
            "components": self.n_components,
            "covariance": self.shape,
            "free_parameters": self.n_free,
            "log_likelihood": self.ln_likelihood,
            "bic": self.bic,
            "icl": self.icl,
            "bound": self.bound,
            "evidence": self.evidence,
            "tails_df": self.tails.map(|tails| tails.df),
            "emptied": self.emptied(),
            "heaps": self.heaps.iter().map(heap_json).collect::<Vec<_>>(),
            "status": self.fit.as_ref().map(|fit| fit.outcome.status.name()),
            "why": self.failure,
        })
    }
}

fn heap_json(heap: &Heap) -> Value {
    let Heap { component, column, value, share } = heap;
    json!({ "component": component, "column": column, "value": value, "share": share })
}

impl Selection {
    /// What was compared, what was chosen by which criterion, and the words.
    pub fn to_json(&self) -> Value {
        let chosen_by: Map<String, Value> = Criterion::ALL
            .iter()
            .map(|criterion| {
                let at = self.chosen_by(*criterion);
                (criterion.name().to_owned(), json!(at.map(|at| self.candidates[at].to_json())))
            })
            .collect();
        json!({
            "model": self.chosen().spec.name(),
            "criterion": self.criterion.name(),
            "chosen": self.chosen().to_json(),
            "next": self.next().map(Candidate::to_json),
            "margin": self.margin(),
            "agreement": self.agreement.shares.iter().map(|(at, share)| json!({
                "components": self.candidates[*at].n_components,
                "covariance": self.candidates[*at].shape,
                "share": share,
            })).collect::<Vec<_>>(),
            "words": self.in_words(),
            "options": self.chosen().options(),
            "chosen_by": chosen_by,
            "candidates": self.candidates.iter().map(Candidate::to_json).collect::<Vec<_>>(),
            "n_units": self.n_units,
        })
    }
}

/// A flag as a sentence of its own, with its name.
fn sentence(flag: &Flag) -> String {
    let text = flag.to_string();
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{} ({}).", letters.as_str(), flag.name())
}

/// `93%`; never 100% where one resample said otherwise.
fn percent(share: f64) -> String {
    match (100.0 * share).round() {
        x if x >= 100.0 && share < 1.0 => "over 99%".to_owned(),
        x => format!("{x}%"),
    }
}

/// What a difference is worth (Kass & Raftery 1995), on the scale of twice a log likelihood.
fn worth(margin: f64) -> &'static str {
    match margin {
        x if x < 2.0 => "a difference not worth more than a bare mention",
        x if x < 6.0 => "positive evidence, not strong",
        x if x < 10.0 => "strong evidence",
        _ => "very strong evidence",
    }
}

impl Selection {
    /// How clear the choice is, by resamples.
    fn agreement_in_words(&self) -> Option<String> {
        let best = self.chosen();
        let of = |at: usize| &self.candidates[at];
        let several = self.candidates.iter().any(|c| c.n_components != best.n_components);
        let is_chosen = |at: usize| match several {
            true => of(at).n_components == best.n_components,
            false => of(at).shape == best.shape,
        };
        let name = |at: usize| match (several, of(at).shape) {
            (false, Some(shape)) => format!("{shape} covariances"),
            _ => best.spec.kind().called.count(of(at).n_components),
        };
        let shares = &self.agreement.shares;
        let (chosen, share) = *shares.iter().find(|(at, _)| is_chosen(*at))?;
        let clear = match share {
            x if x >= 0.95 => "The choice is clear",
            x if x >= 0.8 => "The choice is fairly clear",
            _ => "The choice is not clear",
        };
        let others = shares.iter().filter(|(at, share)| !is_chosen(*at) && *share >= 0.01);
        let others: Vec<String> = others
            .map(|(at, share)| match several {
                true => format!("{} in {}", of(*at).n_components, percent(*share)),
                false => format!("{} in {}", name(*at), percent(*share)),
            })
            .collect();
        let rest = match others.is_empty() {
            true => String::new(),
            false => format!(" ({})", others.join(", ")),
        };
        Some(format!("{clear}: {} in {} of resamples{rest}.", name(chosen), percent(share)))
    }

    /// The recommendation, a sentence or more, each with its own point.
    pub fn in_words(&self) -> Vec<String> {
        let (best, title) = (self.chosen(), self.criterion.title());
        let extreme = if self.criterion.is_cost() { "lowest" } else { "highest" };
        let mut said = Vec::new();
        match self.next() {
            None => said.push(format!("{}: there is nothing to compare it with.", best.in_words())),
            Some(next) => {
                let margin = self.margin();
                // A bound is a log evidence; the words are for twice that.
                let shown = if self.criterion.is_cost() { margin } else { 0.5 * margin };
                // The height of a density on a heap of equal values is rounding's, and no evidence of groups.
                let worth = match (best.heaps.is_empty(), self.agreement.shares.is_empty()) {
                    (false, _) => {
                        ", which is no evidence, because a component collapsed on equal values"
                            .to_owned()
                    }
                    // How often resamples agree says it better.
                    (true, false) => String::new(),
                    (true, true) => format!(": {}", worth(margin)),
                };
                said.push(format!(
                    "Recommended: {}. Its {title} is the {extreme}, {shown:.1} better than the next ({}){worth}.",
                    best.in_words(),
                    next.in_words(),
                ));
                said.extend(self.agreement_in_words());
            }
        }
        if let Some(tails) = best.tails.filter(|_| self.criterion == Criterion::Evidence) {
            said.push(format!(
                "Tails are heavier than a Gaussian's, as of a t with about {} degrees of freedom: more {} would describe \
                 the tails.",
                tails.df,
                best.spec.kind().called.many
            ));
        }
        for other in Criterion::SHOWN.into_iter().filter(|c| *c != self.criterion) {
            let Some(at) = self.chosen_by(other).filter(|at| *at != self.chosen_at()) else {
                continue;
            };
            let why = match other {
                Criterion::Icl => " (it asks for components that can be told apart)",
                Criterion::Bound
                    if self.criterion == Criterion::Evidence && best.tails.is_some() =>
                {
                    " (it knows no heavy tails)"
                }
                Criterion::Bound if self.criterion == Criterion::Evidence => {
                    " (its prior has centres anywhere)"
                }
                Criterion::Bound if self.candidates[at].n_free < best.n_free => {
                    " (VB's bound prefers simpler models)"
                }
                Criterion::Bic if self.candidates[at].n_free < best.n_free => {
                    " (it charges more for each free number)"
                }
                _ => "",
            };
            let choice = self.candidates[at].in_words();
            let title = match other {
                Criterion::Bound => "The bound",
                named => named.title(),
            };
            said.push(format!("{title} would choose {choice}{why}."));
        }
        let of_shape = |c: &&Candidate| c.shape == best.shape;
        let most = self.candidates.iter().filter(of_shape).map(|c| c.n_components).max();
        if most == Some(best.n_components) && self.candidates.len() > 1 && best.n_components > 1 {
            said.push(format!(
                "It is the largest number that was tried: try more than {}.",
                best.n_components
            ));
        }
        let called = best.spec.kind().called.many;
        match best.emptied() {
            0 => {}
            1 => said.push(format!("One of its {called} holds next to no data.")),
            n => said.push(format!("{n} of its {called} hold next to no data.")),
        }
        if !best.heaps.is_empty() {
            said.push(sentence(&Flag::Heap { heaps: best.heaps.clone() }));
        }
        if !best.coded.is_empty() {
            said.push(sentence(&Flag::Codes { columns: best.coded.clone() }));
        }
        if self.candidates.iter().all(|c| c.bic.is_nan()) {
            said.push(
                "BIC and ICL need all rows, which were not held: only the bound is compared."
                    .to_owned(),
            );
        }
        said
    }
}
