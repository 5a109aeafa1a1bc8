//! How many components, and of which shape: fits of all that are asked for, compared by bound, BIC and ICL.
//!
//! | | | better |
//! |---|---|---|
//! | bound | (M2) at ω = 1 plus `log K!`, because `q` describes one of the K! orders of components | higher |
//! | BIC | `−2 log p(x\|θ̂) + d log n` at the posterior mean θ̂, with d free numbers and n units (Schwarz 1978) | lower |
//! | ICL | BIC less `2 Σ_n log max_k r_nk`, what the units' own components leave in doubt (Biernacki, Celeux & Govaert 2000) | lower |
//!
//! | evidence | the bound, and what it would gain from a prior that knew how far apart centres are, (M9); where tails are heavier than a Gaussian's also what t tails would add, less ½ log n for their degrees of freedom | higher |
//!
//! BIC asks which density describes the data, ICL which clusters can be told apart, the bound how probable the data are
//! before anything is known. Where bounds compare, the choice is by the evidence: in many columns BIC prefers too few
//! components, and without tails more components than groups describe a heavy tail. A fit is the one that `fit` makes.

mod agreement;
mod criterion;
mod words;

pub use agreement::Agreement;
pub use criterion::Criterion;

use crate::fit::{self, Fit, FitOptions, Progress, Start};
use crate::model::{Heap, Model, ModelData, ModelError, ModelSpec, Tails, Weighted, coded, heaps};
use crate::special::gamma::ln_gamma;
use crate::table::STARTS;
use crate::weights::UnitWeights;
use agreement::Densities;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why there is nothing to choose from.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// No number of components was given.
    #[error("no number of components is given: say a range such as 1:8")]
    Empty,
    /// A component needs two units, or it is one of them.
    #[error(
        "{k} components need at least {} {unit}, two for each, but there are {n}; ask for at most {}",
        2 * k,
        n / 2
    )]
    TooMany {
        /// The most that was asked for.
        k: usize,
        /// Units that there are.
        n: usize,
        /// What they are called.
        unit: &'static str,
    },
    /// The data or the settings do not allow it.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Not one fit has an answer.
    #[error("no fit has an answer; the first says: {0}")]
    Nothing(String),
    /// Nobody waits for the answer any more.
    #[error("interrupted")]
    Cancelled,
}

/// One model that was compared.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its settings.
    pub spec: ModelSpec,
    /// Number of components.
    pub n_components: usize,
    /// Its shape, where the model has several.
    pub shape: Option<&'static str>,
    /// Numbers that are free in it.
    pub n_free: usize,
    /// The fit; `None` where there is none.
    pub fit: Option<Fit>,
    /// Why there is none.
    pub failure: Option<String>,
    /// The bound (M2), plus `log K!`.
    pub bound: f64,
    /// Log likelihood at the posterior mean; NaN where it cannot be had.
    pub ln_likelihood: f64,
    /// See [`Criterion::Bic`].
    pub bic: f64,
    /// See [`Criterion::Icl`].
    pub icl: f64,
    /// See [`Criterion::Evidence`].
    pub evidence: f64,
    /// Tails that are heavier than the model's, where they add to the evidence.
    pub tails: Option<Tails>,
    /// Its components that collapsed on a value.
    pub heaps: Vec<Heap>,
    /// The columns that look like codes and are taken for numbers.
    pub coded: Vec<(String, usize)>,
    /// Log density of each unit at the posterior means; empty where it cannot be had.
    densities: Vec<f64>,
}

impl Candidate {
    /// Components that hold next to no data.
    pub fn emptied(&self) -> usize {
        self.fit.as_ref().map_or(0, |fit| fit.emptied.len())
    }
}

/// What is compared, and how it is fitted.
#[derive(Clone, Debug)]
pub struct SelectRequest<'a> {
    data: &'a ModelData,
    weights: Option<Arc<UnitWeights>>,
    /// Shapes, each with any number of components.
    specs: Vec<ModelSpec>,
    components: Vec<usize>,
    criterion: Option<Criterion>,
    starts: usize,
    seed: u64,
    options: FitOptions,
    cancel: Option<&'a AtomicBool>,
}

/// How far a comparison is.
#[derive(Clone, Copy, Debug)]
pub struct SelectProgress {
    /// Fits that are done.
    pub done: usize,
    /// Fits in all, those from neighbours not counted.
    pub total: usize,
    /// Components of the fit that is made.
    pub n_components: usize,
    /// Its shape, where there are several.
    pub shape: Option<&'static str>,
}

impl<'a> SelectRequest<'a> {
    /// Models like `spec` with these numbers of components: in all shapes, if bounds of shapes compare and `spec` is of the
    /// richest one, which nobody need have asked for.
    pub fn new(spec: &ModelSpec, data: &'a ModelData, components: &[usize]) -> SelectRequest<'a> {
        let mut components = components.to_vec();
        components.sort_unstable();
        components.dedup();
        let all = spec.shapes();
        let is_first = all.first().is_some_and(|first| first.shape() == spec.shape());
        let compare = spec.bounds_compare() && is_first && !matches!(data, ModelData::Far(_));
        SelectRequest {
            data,
            weights: None,
            specs: if compare { all } else { vec![spec.clone()] },
            components,
            criterion: None,
            starts: STARTS,
            seed: 1,
            options: FitOptions::default(),
            cancel: None,
        }
    }

    /// With weights of the units. Likelihoods are then those of the weighted units.
    pub fn weights(self, weights: Option<Arc<UnitWeights>>) -> Self {
        SelectRequest { weights, ..self }
    }

    fn n_units(&self) -> usize {
        self.weights.as_ref().map_or(self.data.n_units(), |weights| weights.n_units())
    }

    /// In these shapes, of those that the model has.
    pub fn shapes(self, wanted: &[&str]) -> Self {
        let all = self.specs[0].shapes();
        let own = |name: &&str| all.iter().find(|spec| spec.shape() == Some(name)).cloned();
        let specs: Vec<ModelSpec> = wanted.iter().filter_map(own).collect();
        if specs.is_empty() { self } else { SelectRequest { specs, ..self } }
    }

    /// Chosen by this criterion; otherwise by the evidence where bounds compare, by BIC where they do not, and by the bound
    /// where there is no likelihood.
    pub fn criterion(self, criterion: Criterion) -> Self {
        SelectRequest { criterion: Some(criterion), ..self }
    }

    /// So many random starts of each fit.
    pub fn starts(self, starts: usize) -> Self {
        SelectRequest { starts, ..self }
    }

    /// Seed of the random starts.
    pub fn seed(self, seed: u64) -> Self {
        SelectRequest { seed, ..self }
    }

    /// Iterated like this.
    pub fn options(self, options: FitOptions) -> Self {
        SelectRequest { options, ..self }
    }

    /// Given up between two fits once this is true.
    pub fn cancelled_by(self, cancel: &'a AtomicBool) -> Self {
        SelectRequest { cancel: Some(cancel), ..self }
    }

    /// Fits and compares.
    pub fn run(self) -> Result<Selection, SelectError> {
        self.run_watched(&mut |_| ())
    }

    /// As [`run`](Self::run), telling before every fit how far it is.
    pub fn run_watched(
        self,
        watch: &mut dyn FnMut(&SelectProgress),
    ) -> Result<Selection, SelectError> {
        let Some(&most) = self.components.last() else { return Err(SelectError::Empty) };
        let n = self.n_units();
        if most < 1 || self.components[0] < 1 {
            return Err(SelectError::Empty);
        }
        if most > 1 && 2 * most > n {
            return Err(SelectError::TooMany { k: most, n, unit: self.specs[0].unit().many });
        }
        let total = self.specs.len() * self.components.len();
        let mut candidates = Vec::with_capacity(total);
        for spec in &self.specs {
            candidates.extend(self.of_shape(spec, candidates.len(), total, watch)?);
        }
        let criterion = self.criterion.unwrap_or_else(|| {
            let has_likelihood = candidates.iter().any(|c| c.bic.is_finite());
            match has_likelihood {
                _ if self.specs.iter().all(|spec| spec.bounds_compare()) => Criterion::Evidence,
                true => Criterion::Bic,
                false => Criterion::Bound,
            }
        });
        let mut found = Selection::new(candidates, criterion, n)?;
        let densities = Densities {
            of: found.candidates.iter().map(|c| &c.densities[..]).collect(),
            repeats: self.weights.as_ref().map(|weights| weights.repeats()),
            each: self.weights.as_ref().map(|weights| weights.each()),
        };
        found.agreement = Agreement::new(&found.candidates, criterion, &densities, self.seed);
        Ok(found)
    }

    /// All numbers of components of one shape.
    fn of_shape(
        &self,
        spec: &ModelSpec,
        done: usize,
        total: usize,
        watch: &mut dyn FnMut(&SelectProgress),
    ) -> Result<Vec<Candidate>, SelectError> {
        let start = Start::KMeans { restarts: self.starts, seed: self.seed };
        let mut silent = |_: &Progress| ();
        let mut candidates = Vec::with_capacity(self.components.len());
        for (at, &k) in self.components.iter().enumerate() {
            let done = done + at;
            if self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                return Err(SelectError::Cancelled);
            }
            watch(&SelectProgress { done, total, n_components: k, shape: spec.shape() });
            let spec = spec.with_components(k);
            let mut model: Arc<dyn Model> = Arc::from(spec.build(self.data)?);
            if let Some(weights) = &self.weights {
                model = Arc::new(Weighted::new(model, weights.clone()));
            }
            let found = fit::fit(model.as_ref(), None, 1.0, &start, &self.options, &mut silent);
            let found = found.map_err(|why| why.to_string());
            candidates.push(self.candidate(spec, model.as_ref(), found));
        }
        Ok(candidates)
    }

    /// What units have, added up with their weights.
    fn total(&self, of_units: Vec<f64>) -> f64 {
        match &self.weights {
            Some(weights) => weights.totals().iter().zip(of_units).map(|(w, x)| w * x).sum(),
            None => of_units.iter().sum(),
        }
    }

    /// A fit with its criteria.
    fn candidate(
        &self,
        spec: ModelSpec,
        model: &dyn Model,
        found: Result<Fit, String>,
    ) -> Candidate {
        let k = spec.n_components();
        let n_free = spec.n_free(&self.data.variables());
        let (fit, failure) = match found {
            Ok(fit) => (Some(fit), None),
            Err(why) => (None, Some(why)),
        };
        let mut candidate = Candidate {
            spec: spec.clone(),
            n_components: k,
            shape: spec.shape(),
            n_free,
            failure,
            bound: f64::NAN,
            ln_likelihood: f64::NAN,
            bic: f64::NAN,
            icl: f64::NAN,
            evidence: f64::NAN,
            tails: None,
            heaps: Vec::new(),
            coded: coded(model),
            densities: Vec::new(),
            fit: None,
        };
        if let Some(fit) = &fit {
            candidate.bound = fit.outcome.bound + ln_gamma(k as f64 + 1.0);
            if let Some(densities) = spec.ln_densities(self.data, &fit.posterior) {
                candidate.densities.clone_from(&densities);
                candidate.ln_likelihood = self.total(densities);
            }
            let n = self.n_units() as f64;
            candidate.bic = -2.0 * candidate.ln_likelihood + n_free as f64 * n.ln();
            candidate.icl = candidate.bic + 2.0 * self.total(doubts(model, fit));
            let counts = self.weights.as_ref().map(|weights| weights.totals());
            let tails = spec.tails(self.data, &fit.posterior, counts.as_deref());
            let worth = |tails: &Tails| tails.gain - 0.5 * n.ln();
            candidate.tails = tails.filter(|tails| worth(tails) > 0.0);
            let apart = spec.apart(self.data, &fit.posterior, counts.as_deref());
            let of_tails = candidate.tails.as_ref().map_or(0.0, worth);
            candidate.evidence = candidate.bound + apart + of_tails;
            candidate.heaps = heaps(model, &fit.posterior);
        }
        candidate.fit = fit;
        candidate
    }
}

/// `−log max_k r_nk` of each unit; NaN where there are no responsibilities.
fn doubts(model: &dyn Model, fit: &Fit) -> Vec<f64> {
    let mut sweeper = model.sweeper();
    let found = sweeper.load(None).and_then(|()| sweeper.responsibilities_under(&fit.posterior));
    let k = model.n_components();
    let own = |r: &[f64]| -r.iter().copied().fold(0.0, f64::max).ln();
    let unknown = if model.is_far() { 1 } else { model.n_units() };
    found.map_or(vec![f64::NAN; unknown], |all| all.chunks_exact(k).map(own).collect())
}

/// What was compared, and which is recommended.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Shape after shape, each with fewer components first.
    pub candidates: Vec<Candidate>,
    /// What it was chosen by.
    pub criterion: Criterion,
    /// Number of units.
    pub n_units: usize,
    /// How often resamples agree on the number of components.
    pub agreement: Agreement,
    chosen: usize,
    next: Option<usize>,
}

impl Selection {
    fn new(
        candidates: Vec<Candidate>,
        criterion: Criterion,
        n_units: usize,
    ) -> Result<Selection, SelectError> {
        let order = criterion.order(&candidates);
        let Some(&chosen) = order.first() else {
            let why = candidates.into_iter().find_map(|c| c.failure);
            let why = why.unwrap_or_else(|| "the data allow no likelihood".to_owned());
            return Err(SelectError::Nothing(why));
        };
        let (next, agreement) = (order.get(1).copied(), Agreement::default());
        Ok(Selection { candidates, criterion, n_units, agreement, chosen, next })
    }

    /// The recommended one.
    pub fn chosen(&self) -> &Candidate {
        &self.candidates[self.chosen]
    }

    /// Its place among the candidates.
    pub fn chosen_at(&self) -> usize {
        self.chosen
    }

    /// The next best.
    pub fn next(&self) -> Option<&Candidate> {
        self.next.map(|at| &self.candidates[at])
    }

    /// By how much the recommended one is better than the next, on the scale of twice a log likelihood; infinite where it is
    /// the only one.
    pub fn margin(&self) -> f64 {
        let next = self.next().map(|next| self.criterion.badness(next));
        next.map_or(f64::INFINITY, |next| next - self.criterion.badness(self.chosen()))
    }

    /// What another criterion chooses: the candidate's place.
    pub fn chosen_by(&self, criterion: Criterion) -> Option<usize> {
        criterion.order(&self.candidates).first().copied()
    }
}
