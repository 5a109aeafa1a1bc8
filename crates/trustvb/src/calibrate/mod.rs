//! Mend: from the fits in a table to an interval whose coverage can be believed.
//!
//! A calibrator turns evidence about coverage into an interval and its story: ω̂, the curve it looked at, the
//! Monte-Carlo error, where the answer sits, and what speaks against trusting it. [`Method::RECOMMENDED`] is the one to
//! use. The paper's calibrators report the interval of the full data at ω̂; `tempered` and `jackknife` stretch that at
//! ω = 1; `balanced` and `bootstrap` look at estimates only.

mod analytic;
mod anchored;
mod balanced;
mod bootstrap;
mod coverage;
mod evidence;
mod flag;
mod given;
mod gpc;
mod jackknife;
mod law;
mod memory;
mod method;
mod order;
mod sequential;
mod temper;
mod tempered;
mod tvb;
mod vb;

pub use balanced::Balance;
pub use coverage::{CoverageCurve, CurvePoint};
pub use evidence::{Choice, Evidence, GivenEvidence, Places, Target, choose};
pub use flag::Flag;
pub(crate) use flag::compare_methods;
pub use given::{GivenFit, GivenFits, GivenInterval};
pub use law::Law;
pub use memory::Memory;
pub use method::Method;
pub use temper::{Reach, Stretches, stretched};

use crate::backend::Job;
use crate::fit::StatusCode;
use crate::functional::Part;
use crate::model::{Model, ModelError};
use crate::posterior::Posterior;
use crate::resample::Design;
use crate::table::TvbTable;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// A calibrated interval with its evidence.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The functional, as typed.
    pub functional: String,
    /// The same with column names.
    pub label: String,
    /// Who answered.
    pub method: Method,
    /// The level asked for.
    pub level: f64,
    /// ω̂.
    pub omega: f64,
    /// h at the posterior mean of the full-data fit at ω = 1.
    pub estimate: f64,
    /// Lower limit.
    pub lower: f64,
    /// Upper limit.
    pub upper: f64,
    /// Estimated coverage at ω̂, where there is evidence.
    pub coverage: Option<f64>,
    /// Its Monte-Carlo standard error (0 for `analytic`, which has none).
    pub coverage_se: Option<f64>,
    /// Monte-Carlo standard errors of the limits, when they come from draws.
    pub limits_se: Option<(f64, f64)>,
    /// What to know before trusting it.
    pub flags: Vec<Flag>,
    /// The coverage curve as far as it was evaluated, from large to small ω.
    pub curve: Vec<CurvePoint>,
    /// Fits made for this answer beyond those in the table.
    pub extra_fits: usize,
    /// The full-data posterior at ω̂, from which the interval was taken.
    pub posterior: Posterior,
    /// The law of the functional: `Beta`, `scaled t`, …, or `draws`.
    pub law: String,
}

impl Answer {
    /// ω̂, unless the method has none.
    pub fn shown_omega(&self) -> Option<f64> {
        (self.method == Method::Vb || self.method.chooses_omega()).then_some(self.omega)
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// The table lacks what the method needs.
    #[error("{method} needs {needs}, which the table does not have; {remedy}")]
    Missing {
        /// The method.
        method: &'static str,
        /// What is missing.
        needs: &'static str,
        /// How to get it.
        remedy: &'static str,
    },
    /// A method that makes fits of its own.
    #[error(
        "{0} needs more of a model of this library than fits made elsewhere can tell; use balanced, \
         tempered, anchored, gpc or tvb"
    )]
    NeedsModel(&'static str),
    /// An estimate or a limit that the scale it is said to be on does not hold.
    #[error(
        "{value} is not {bounds}, as {what} of this scale must be; use the scale `real`, or a law that \
         keeps to the scale"
    )]
    Scale {
        /// The number.
        value: f64,
        /// What it is.
        what: &'static str,
        /// Where it must lie.
        bounds: &'static str,
    },
    /// A level outside (0, 1).
    #[error("the level {0} is not between 0 and 1; 0.95 asks for a 95% interval")]
    Level(f64),
    /// The full-data fit at ω = 1 is degenerate or not there.
    #[error(
        "the table has no full-data fit at ω = 1, so there is nothing to calibrate: the fit failed, \
         or the table is not complete (`trustvb table info` tells which)"
    )]
    NoFullFit,
    /// The stored data do not make the stored model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Nobody waits for the answer any more.
    #[error("interrupted")]
    Cancelled,
}

/// Answers questions about one table.
pub struct Calibrator<'a> {
    table: &'a TvbTable,
    model: Option<OwnedOrLent<'a>>,
    draws: usize,
    /// What `analytic` has worked out for all functionals.
    linearised: analytic::Cache,
    /// Whether `tvb` and `gpc` look beyond the first crossing.
    whole_grid: bool,
    /// What the full fit and its bootstraps show, whatever is asked.
    shown: Shown,
}

/// What holds for a table as a whole, found out when it is first needed.
#[derive(Default)]
struct Shown {
    overlap: OnceLock<Option<f64>>,
    made_by_prior: OnceLock<Vec<f64>>,
}

/// A model made from the table's data, or the one that the table was built with.
enum OwnedOrLent<'a> {
    Owned(Box<dyn Model>),
    Lent(&'a dyn Model),
    Shared(Arc<dyn Model>),
}

impl<'a> Calibrator<'a> {
    /// A calibrator for a table. `draws` is the number of draws behind each law that has no exact
    /// form; the final interval uses ten times as many.
    pub fn new(table: &'a TvbTable, draws: usize) -> Result<Calibrator<'a>, CalibrateError> {
        let model = match table.data() {
            Some(data) => Some(OwnedOrLent::Owned(table.manifest().model.build(data)?)),
            None => None,
        };
        Ok(Calibrator::assemble(table, model, draws))
    }

    /// As [`Calibrator::new`], with the model that the table was built with, so that the table need
    /// not carry its data.
    pub fn with_model(table: &'a TvbTable, model: &'a dyn Model, draws: usize) -> Calibrator<'a> {
        Calibrator::assemble(table, Some(OwnedOrLent::Lent(model)), draws)
    }

    /// As [`Calibrator::new`], with the table's model on its data shared with others; without one,
    /// methods that fit anew have no answer.
    pub fn with_shared_model(
        table: &'a TvbTable,
        model: Option<Arc<dyn Model>>,
        draws: usize,
    ) -> Calibrator<'a> {
        Calibrator::assemble(table, model.map(OwnedOrLent::Shared), draws)
    }

    fn assemble(
        table: &'a TvbTable,
        model: Option<OwnedOrLent<'a>>,
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
                Method::Balanced => balanced::answer(&question, levels),
                Method::Tempered => tempered::answer(&question, levels),
                Method::Tvb => tvb::answer(&question, levels),
                Method::TvbSequential => sequential::answer(&question, levels),
                Method::Gpc => gpc::answer(&question, levels),
                Method::Anchored => anchored::answer(&question, levels),
                Method::Analytic => analytic::answer(&question, levels),
                Method::Jackknife => jackknife::answer(&question, levels),
                Method::Bootstrap => bootstrap::answer(&question, levels),
            }?);
        }
        if question.is_cancelled() {
            return Err(CalibrateError::Cancelled);
        }
        for answer in &mut answers {
            flag::from_full_fit(&question, answer);
        }
        compare_methods(&mut answers);
        Ok(answers)
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

impl Evidence for Question<'_> {
    fn omegas(&self) -> &[f64] {
        self.table.omegas()
    }

    /// What is known, computed if nothing is. Once the question is cancelled nothing is computed: the
    /// answer will not be given.
    fn places(&self, design: Design, target: Target, i: usize) -> Vec<f64> {
        let key = (design, target, i);
        if let Some(known) = self.memory.get(key) {
            return known;
        }
        if self.is_cancelled() {
            return Vec::new();
        }
        let at = match target {
            Target::SameOmega => i,
            Target::Anchor => 0,
        };
        let values = self.checked_values(design, at);
        let paths: Vec<_> = self.table.bootstraps(design).collect();
        let places: Vec<f64> = paths
            .into_par_iter()
            .with_min_len(16)
            .filter_map(|(job, path)| {
                let value = *values.get(&self.table.checked_against(*job))?;
                Some((self.table.parameters(path, i)?, value))
            })
            .map(|(parameters, value)| self.law.place(parameters, value))
            .filter(|u| !u.is_nan())
            .collect();
        self.memory.keep(key, &places);
        places
    }

    fn bootstraps(&self, design: Design) -> (usize, usize) {
        let expected = self.table.manifest().bootstraps_of(design) as usize;
        (self.table.bootstraps(design).count(), expected)
    }

    fn has_checked_fit(&self, design: Design) -> bool {
        !self.table.checked_jobs(design).is_empty()
    }

    fn unconverged(&self, design: Design, i: usize) -> f64 {
        let (mut bad, mut all) = (0u32, 0u32);
        for (_, path) in self.table.bootstraps(design) {
            all += 1;
            bad +=
                u32::from(!matches!(path.status[i], StatusCode::Converged | StatusCode::Stalled));
        }
        f64::from(bad) / f64::from(all.max(1))
    }

    fn mismatched(&self, design: Design, i: usize) -> f64 {
        flag::mismatched(self.table, design, i)
    }

    fn is_costly(&self) -> bool {
        !self.law.is_exact()
    }

    fn searches_whole_grid(&self) -> bool {
        self.whole_grid
    }
}

/// One functional asked of one table, with what all methods share.
struct Question<'a> {
    table: &'a TvbTable,
    model: Option<&'a dyn Model>,
    part: &'a Part,
    law: Law<'a>,
    estimate: f64,
    first: Posterior,
    linearised: &'a analytic::Cache,
    /// Whether `tvb` and `gpc` look beyond the first crossing.
    whole_grid: bool,
    shown: &'a Shown,
    memory: &'a Memory,
    cancel: &'a AtomicBool,
}

impl<'a> Question<'a> {
    fn new(
        calibrator: &'a Calibrator<'a>,
        part: &'a Part,
        memory: &'a Memory,
        cancel: &'a AtomicBool,
    ) -> Result<Question<'a>, CalibrateError> {
        let table = calibrator.table;
        let first =
            table.full_data_posterior(table.omegas()[0]).ok_or(CalibrateError::NoFullFit)?;
        let manifest = table.manifest();
        let law = Law::new(
            part,
            table.layout().clone(),
            manifest.published_intervals,
            manifest.seed,
            calibrator.draws,
        );
        Ok(Question {
            table,
            model: calibrator.model.as_ref().map(|model| match model {
                OwnedOrLent::Owned(model) => model.as_ref(),
                OwnedOrLent::Lent(model) => *model,
                OwnedOrLent::Shared(model) => model.as_ref(),
            }),
            part,
            law,
            estimate: part.plug_in(first.parameters()),
            first,
            linearised: &calibrator.linearised,
            whole_grid: calibrator.whole_grid,
            shown: &calibrator.shown,
            memory,
            cancel,
        })
    }

    /// The plug-in values at grid point `at` that bootstraps of a design are checked against.
    fn checked_values(&self, design: Design, at: usize) -> HashMap<Job, f64> {
        let parameters = |job: Job| self.table.parameters(self.table.path(job)?, at);
        let jobs = self.table.checked_jobs(design).into_iter();
        jobs.filter_map(|job| Some((job, self.part.plug_in(parameters(job)?)))).collect()
    }

    /// How many times as much bootstraps move the weights as VB says, if that is known.
    fn overlap(&self) -> Option<f64> {
        *self.shown.overlap.get_or_init(|| flag::overlap(self.table))
    }

    /// By what factor the spread of each component differs from that of its data.
    fn made_by_prior(&self) -> &[f64] {
        let found = || self.model.map(|model| model.made_by_prior(&self.first));
        self.shown.made_by_prior.get_or_init(|| found().unwrap_or_default())
    }

    /// Whether the answer is no longer wanted.
    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// The model, which methods that fit anew need.
    fn model(&self, method: Method) -> Result<&'a dyn Model, CalibrateError> {
        self.model.ok_or(CalibrateError::Missing {
            method: method.name(),
            needs: "the data",
            remedy: "build the table without --without-data",
        })
    }

    /// The answer at ω̂ from the full-data posterior there.
    fn finish(&self, method: Method, level: f64, omega: f64, posterior: &Posterior) -> Answer {
        let (lower, upper, limits_se) = self.law.interval(posterior.parameters(), level);
        Answer {
            functional: self.part.name().to_owned(),
            label: self.part.label().to_owned(),
            method,
            level,
            omega,
            estimate: self.estimate,
            lower,
            upper,
            coverage: None,
            coverage_se: None,
            limits_se,
            flags: Vec::new(),
            curve: Vec::new(),
            extra_fits: 0,
            posterior: posterior.clone(),
            law: self.law.describe(),
        }
    }

    /// A fit's estimate with limits, on the scale where h is unbounded.
    fn reach(&self, posterior: &Posterior, (lower, upper): (f64, f64)) -> Reach {
        let range = self.part.range();
        Reach {
            estimate: range.unbounded(self.part.plug_in(posterior.parameters())),
            lower: range.unbounded(lower),
            upper: range.unbounded(upper),
        }
    }

    /// Stretches an answer's interval about its estimate: ω̂ = 1/stretch². `se` is the stretch's standard error.
    fn stretch(&self, answer: &mut Answer, reach: &Reach, stretch: f64, se: f64) {
        let range = self.part.range();
        let limits = |by: f64| {
            let (lower, upper) = reach.stretched(by);
            (range.bounded(lower), range.bounded(upper))
        };
        let (lower, upper) = limits(stretch);
        let (further_down, further_up) = limits(stretch + se);
        let of_draws = answer.limits_se.unwrap_or((0.0, 0.0));
        answer.limits_se = Some((
            (lower - further_down).hypot(stretch * of_draws.0),
            (further_up - upper).hypot(stretch * of_draws.1),
        ));
        (answer.lower, answer.upper) = (lower, upper);
        answer.omega = stretch.powi(-2);
        if answer.omega > 1.0 {
            answer.flags.push(Flag::AboveOmegaOne { omega: answer.omega });
        }
    }

    /// Answers of a method that needs only the evidence in the table.
    fn choose(&self, method: Method, levels: &[f64]) -> Result<Vec<Answer>, CalibrateError> {
        let choices = choose(self, method, levels)?;
        let answers = choices.into_iter().zip(levels).map(|(choice, &level)| {
            let mut answer = match method {
                _ if choice.omega.is_nan() => {
                    let mut answer = self.finish(method, level, f64::NAN, &self.first);
                    (answer.lower, answer.upper, answer.limits_se) = (f64::NAN, f64::NAN, None);
                    answer
                }
                Method::Vb => self.finish(method, level, choice.omega, &self.first),
                _ => self.finish_on_grid(method, level, choice.omega),
            };
            (answer.coverage, answer.coverage_se) = (choice.coverage, choice.coverage_se);
            answer.flags.extend(choice.flags);
            answer.curve = choice.curve;
            answer
        });
        Ok(answers.collect())
    }

    /// An answer without an interval, and why.
    fn no_answer(&self, method: Method, level: f64, why: Flag) -> Answer {
        let mut answer = self.finish(method, level, f64::NAN, &self.first);
        (answer.lower, answer.upper, answer.limits_se) = (f64::NAN, f64::NAN, None);
        answer.flags.push(why);
        answer
    }

    /// As [`Question::finish`] for an ω within the grid; an interval of NaN when the fits there failed.
    fn finish_on_grid(&self, method: Method, level: f64, omega: f64) -> Answer {
        match self.table.full_data_posterior(omega) {
            Some(posterior) => self.finish(method, level, omega, &posterior),
            None => {
                let mut answer = self.finish(method, level, omega, &self.first);
                (answer.lower, answer.upper) = (f64::NAN, f64::NAN);
                answer.flags.push(Flag::FullFitFailed);
                answer
            }
        }
    }
}
