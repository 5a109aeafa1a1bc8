//! Answers questions about one table.

use super::{
    Answer, CalibrateError, CoverageCurve, CurvePoint, Flag, Memory, Method, Question, Target,
    analytic, balanced, bootstrap, boundary, compare_methods, flag, jackknife, sequential, shown,
    tempered, tvb, vb,
};
use crate::functional::Part;
use crate::model::Model;
use crate::posterior::Posterior;
use crate::resample::Design;
use crate::table::TvbTable;
use std::collections::BTreeMap;
#[cfg(feature = "parquet")]
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
#[cfg(feature = "parquet")]
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Answers questions about one table.
pub struct Calibrator<'a> {
    pub(super) table: &'a TvbTable,
    pub(super) model: Option<Arc<dyn Model>>,
    pub(super) draws: usize,
    /// What `analytic` has worked out for all functionals.
    pub(super) linearised: analytic::Cache,
    /// Whether `tvb` and `gpc` look beyond the first crossing.
    pub(super) whole_grid: bool,
    /// What the full fit and its bootstraps show, whatever is asked.
    pub(super) shown: Shown,
}

/// What holds for a table as a whole, found out when it is first needed.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) overlap: OnceLock<Option<f64>>,
    pub(super) made_by_prior: OnceLock<Vec<f64>>,
    /// Another optimum than the full fit's that is nearly as high, with its bound less that of the fit.
    pub(super) rival: OnceLock<Option<(f64, Posterior)>>,
    pub(super) of_fit: OnceLock<Vec<Flag>>,
    /// The prior's part of the counts in the full fit.
    pub(super) prior_counts: OnceLock<Vec<f64>>,
    /// Shares of bootstraps that another numbering would fit better, by design and grid point.
    mismatched: Mutex<BTreeMap<(Design, usize), f64>>,
    /// Those that were asked for and have not been found yet.
    #[cfg(feature = "parquet")]
    wanted: Mutex<BTreeSet<(Design, usize)>>,
    #[cfg(feature = "parquet")]
    is_looking_ahead: AtomicBool,
    /// Why a part of the table could not be read again.
    #[cfg(feature = "parquet")]
    unreadable: OnceLock<String>,
}

impl Shown {
    /// Share of bootstraps whose components are not those of the full data at grid point `i`.
    pub(super) fn mismatched(&self, table: &TvbTable, design: Design, i: usize) -> f64 {
        if let Some(share) = lock(&self.mismatched).get(&(design, i)) {
            return *share;
        }
        #[cfg(feature = "parquet")]
        if table.is_thin() {
            lock(&self.wanted).insert((design, i));
            // Nothing is looked up while it is found out what will be.
            if !self.is_looking_ahead.load(Ordering::Relaxed) {
                self.settle(table);
            }
            return lock(&self.mismatched).get(&(design, i)).copied().unwrap_or(0.0);
        }
        let share = shown::mismatched(table, design, i);
        lock(&self.mismatched).insert((design, i), share);
        share
    }

    /// Finds all that was wanted of a table that was read for certain questions.
    #[cfg(feature = "parquet")]
    fn settle(&self, table: &TvbTable) {
        let wanted: Vec<(Design, usize)> =
            std::mem::take(&mut *lock(&self.wanted)).into_iter().collect();
        let Some(thin) = table.thin().filter(|_| !wanted.is_empty()) else { return };
        match thin.mismatched(table, &wanted) {
            Ok(shares) => lock(&self.mismatched).extend(wanted.into_iter().zip(shares)),
            // The first reason is as good as any.
            Err(error) => _ = self.unreadable.set(error.to_string()),
        }
    }
}

/// These hold whole entries only, so a panic elsewhere leaves them as good as before.
fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Calibrator<'a> {
    /// A calibrator for a table. `draws` is the number of draws behind each law that has no exact
    /// form; the final interval uses ten times as many.
    pub fn new(table: &'a TvbTable, draws: usize) -> Result<Calibrator<'a>, CalibrateError> {
        let model = table.problem()?.map(|problem| problem.model().clone());
        Ok(Calibrator::assemble(table, model, draws))
    }

    /// As [`Calibrator::new`], with the model that the table was built with, so that the table need
    /// not carry its data.
    pub fn with_model(table: &'a TvbTable, model: Arc<dyn Model>, draws: usize) -> Calibrator<'a> {
        Calibrator::assemble(table, Some(model), draws)
    }

    fn assemble(
        table: &'a TvbTable,
        model: Option<Arc<dyn Model>>,
        draws: usize,
    ) -> Calibrator<'a> {
        let whole_grid = table.manifest().published_intervals;
        let (linearised, shown) = (analytic::Cache::default(), Shown::default());
        Calibrator { table, model, draws, linearised, whole_grid, shown }
    }

    /// Lets `tvb` and `gpc` search the whole grid, as the paper does, and not only down to the first
    /// crossing. With a new split at every ω, the first crossing would be that of a lucky split.
    pub fn searching_whole_grid(mut self) -> Calibrator<'a> {
        self.whole_grid = true;
        self
    }

    /// Answers for one part of a functional by several methods at several levels, level after level
    /// within method after method.
    pub fn answer(
        &self,
        part: &Part,
        methods: &[Method],
        levels: &[f64],
    ) -> Result<Vec<Answer>, CalibrateError> {
        self.answer_with(part, methods, levels, &Memory::default(), &AtomicBool::new(false))
    }

    /// As [`Calibrator::answer`], with what earlier calls found out, and until `cancel` is set.
    pub fn answer_with(
        &self,
        part: &Part,
        methods: &[Method],
        levels: &[f64],
        memory: &Memory,
        cancel: &AtomicBool,
    ) -> Result<Vec<Answer>, CalibrateError> {
        if let Some(&level) = levels.iter().find(|l| !(**l > 0.0 && **l < 1.0)) {
            return Err(CalibrateError::Level(level));
        }
        let question = Question::new(self, part, memory, cancel)?;
        let mut answers = Vec::new();
        if !question.estimate.is_finite() {
            for &method in methods {
                answers.extend(
                    levels.iter().map(|&level| question.no_answer(method, level, Flag::Undefined)),
                );
            }
            return Ok(answers);
        }
        for method in methods {
            answers.extend(match method {
                Method::Vb => vb::answer(&question, levels),
                Method::Tvb | Method::Gpc | Method::Anchored => question.choose(*method, levels),
                Method::Balanced => balanced::answer(&question, levels),
                Method::Tempered => tempered::answer(&question, levels),
                Method::TvbSequential => sequential::answer(&question, levels),
                Method::Analytic => analytic::answer(&question, levels),
                Method::Jackknife => jackknife::answer(&question, levels),
                Method::Bootstrap => bootstrap::answer(&question, levels),
            }?);
        }
        if question.is_cancelled() {
            return Err(CalibrateError::Cancelled);
        }
        #[cfg(feature = "parquet")]
        if let Some(why) = self.shown.unreadable.get() {
            return Err(CalibrateError::Unreadable(why.clone()));
        }
        flag::from_undefined(&question, &mut answers);
        boundary::tell(&question, &mut answers);
        for answer in &mut answers {
            flag::from_full_fit(&question, answer);
        }
        compare_methods(&mut answers);
        Ok(answers)
    }

    /// As [`Calibrator::answer_with`], for many parts; `done` is told of each.
    ///
    /// A table that was read for certain questions ([`TableReader::for_parts`](crate::table::TableReader::for_parts)) is
    /// then read again once, and not for each of them.
    #[cfg(feature = "parquet")]
    pub fn answer_all(
        &self,
        parts: &[&Part],
        methods: &[Method],
        levels: &[f64],
        cancel: &AtomicBool,
        done: &dyn Fn(),
    ) -> Result<Vec<Vec<Answer>>, CalibrateError> {
        self.answer_all_with(parts, &[], (methods, levels), cancel, done)
    }

    /// The same with what earlier calls found out about each part, or about none.
    #[cfg(feature = "parquet")]
    pub(crate) fn answer_all_with(
        &self,
        parts: &[&Part],
        known: &[&Memory],
        (methods, levels): (&[Method], &[f64]),
        cancel: &AtomicBool,
        done: &dyn Fn(),
    ) -> Result<Vec<Vec<Answer>>, CalibrateError> {
        let on_grid: Vec<Method> =
            methods.iter().copied().filter(|method| method.needs_grid()).collect();
        let mut found: Vec<Memory> = Vec::new();
        if self.table.is_thin() && !on_grid.is_empty() {
            self.shown.is_looking_ahead.store(true, Ordering::Relaxed);
            let ahead = parts.iter().enumerate().try_for_each(|(at, part)| {
                let own = Memory::default();
                let memory = known.get(at).copied().unwrap_or(&own);
                self.answer_with(part, &on_grid, levels, memory, cancel)?;
                found.push(own);
                Ok::<(), CalibrateError>(())
            });
            self.shown.is_looking_ahead.store(false, Ordering::Relaxed);
            ahead?;
            self.shown.settle(self.table);
        }
        let answer = |(at, part): (usize, &&Part)| {
            let unknown = Memory::default();
            let memory = known.get(at).copied().or(found.get(at)).unwrap_or(&unknown);
            let answers = self.answer_with(part, methods, levels, memory, cancel);
            done();
            answers
        };
        parts.iter().enumerate().map(answer).collect()
    }

    /// The coverage curve that `method` looks at, at every `step`-th point of the grid and its last; for
    /// methods that choose no ω, which look at none, that of `anchored`.
    pub fn curve(
        &self,
        part: &Part,
        method: Method,
        level: f64,
        step: usize,
    ) -> Result<Vec<CurvePoint>, CalibrateError> {
        if !(level > 0.0 && level < 1.0) {
            return Err(CalibrateError::Level(level));
        }
        let (design, target) = match method {
            Method::Tvb => (Design::Split, Target::SameOmega),
            Method::Gpc => (Design::Full, Target::SameOmega),
            Method::Vb
            | Method::Balanced
            | Method::Jackknife
            | Method::Bootstrap
            | Method::Anchored => (Design::Full, Target::Anchor),
            Method::Tempered | Method::TvbSequential | Method::Analytic => {
                let answers = self.answer(part, &[method], &[level])?;
                return Ok(answers.into_iter().flat_map(|answer| answer.curve).collect());
            }
        };
        let (memory, cancel) = (Memory::default(), AtomicBool::new(false));
        let question = Question::new(self, part, &memory, &cancel)?;
        let mut curve = CoverageCurve::new(&question, design, target);
        tvb::check_bootstraps(&curve, method)?;
        for i in (0..curve.len()).step_by(step.max(1)).chain([curve.len() - 1]) {
            curve.at(i, level);
        }
        Ok(curve.points(level))
    }
}
