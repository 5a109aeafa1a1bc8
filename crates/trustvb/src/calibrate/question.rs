//! One functional asked of one table, with what all methods share.

use super::boundary::Boundary;
use super::calibrator::{Calibrator, Shown};
use super::evidence::{Evidence, Target, choose};
use super::law::Law;
use super::temper::Reach;
use super::{Answer, CalibrateError, Flag, Memory, Method, analytic, bootstrap, flag, shown};
use crate::backend::Job;
use crate::fit::{StatusCode, fit, is_searched_whole, match_components};
use crate::functional::Part;
use crate::model::{Model, Noun};
use crate::posterior::Posterior;
use crate::remedy::Remedy;
use crate::resample::Design;
use crate::table::TvbTable;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// One functional asked of one table, with what all methods share.
pub(super) struct Question<'a> {
    pub(super) table: &'a TvbTable,
    pub(super) model: Option<&'a dyn Model>,
    pub(super) part: &'a Part,
    pub(super) law: Law<'a>,
    pub(super) estimate: f64,
    pub(super) first: Posterior,
    pub(super) linearised: &'a analytic::Cache,
    /// Whether `tvb` and `gpc` look beyond the first crossing.
    pub(super) whole_grid: bool,
    pub(super) shown: &'a Shown,
    pub(super) memory: &'a Memory,
    pub(super) cancel: &'a AtomicBool,
    boundary: OnceLock<Option<Boundary>>,
    estimates: OnceLock<Vec<f64>>,
}

impl<'a> Question<'a> {
    pub(super) fn new(
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
            model: calibrator.model.as_deref(),
            part,
            law,
            estimate: part.plug_in(first.parameters()),
            first,
            linearised: &calibrator.linearised,
            whole_grid: calibrator.whole_grid,
            shown: &calibrator.shown,
            memory,
            cancel,
            boundary: OnceLock::new(),
            estimates: OnceLock::new(),
        })
    }

    /// The rule for cells that few units show, if the functional is made of any.
    pub(super) fn boundary(&self) -> Option<&Boundary> {
        let prior = || {
            let manifest = self.table.manifest();
            manifest.model.prior_counts(&self.first, self.table.omegas()[0], manifest.n_units)
        };
        let found = || Boundary::of(self, self.shown.prior_counts.get_or_init(prior));
        self.boundary.get_or_init(found).as_ref()
    }

    /// How many times as much shares of weighted units vary as those of units that count the same (Kish): `n Σw²/(Σw)²`.
    pub(super) fn least_excess(&self) -> f64 {
        let weights = self.table.weights();
        weights.map_or(1.0, |w| w.n_units() as f64 / w.effective_units()).max(1.0)
    }

    /// The estimate in every bootstrap of all units that has a fit; NaN where it has no value there.
    pub(super) fn estimates(&self) -> &[f64] {
        self.estimates.get_or_init(|| bootstrap::values(self))
    }

    /// In how many bootstraps of a design the functional has no value although there is a fit, and how many fits there
    /// are; `None` if the fits have no value that they are checked against.
    pub(super) fn undefined(&self, design: Design) -> Option<(usize, usize)> {
        if self.part.is_total() || (design == Design::Full && self.part.exact().is_some()) {
            return Some((0, 0));
        }
        if self.checked_values(design, 0).values().any(|x| x.is_nan()) {
            return None;
        }
        let count = |values: &[f64]| (values.iter().filter(|x| x.is_nan()).count(), values.len());
        if design == Design::Full {
            return Some(count(self.estimates()));
        }
        let rows = self.table.bootstraps(design).filter_map(|(_, path)| self.table.row(path, 0));
        Some(count(&rows.map(|row| self.part.plug_in(&row)).collect::<Vec<_>>()))
    }

    /// The plug-in values at grid point `at` that bootstraps of a design are checked against.
    pub(super) fn checked_values(&self, design: Design, at: usize) -> HashMap<Job, f64> {
        let parameters = |job: Job| self.table.parameters(self.table.path(job)?, at);
        let jobs = self.table.checked_jobs(design).into_iter();
        jobs.filter_map(|job| Some((job, self.part.plug_in(parameters(job)?)))).collect()
    }

    /// How many times as much bootstraps move the weights as VB says, if that is known.
    pub(super) fn overlap(&self) -> Option<f64> {
        *self.shown.overlap.get_or_init(|| shown::overlap(self.table))
    }

    /// By what factor the spread of each component differs from that of its data.
    pub(super) fn made_by_prior(&self) -> &[f64] {
        let found = || self.model.map(|model| model.made_by_prior(&self.first, None));
        self.shown.made_by_prior.get_or_init(|| found().unwrap_or_default())
    }

    /// Another optimum that is nearly as high as the full fit's, its components numbered as those of the fit are, and how much
    /// higher its bound is. A table that was read from a disk is searched once more.
    pub(super) fn rival(&self) -> Option<&(f64, Posterior)> {
        let found = || {
            let full = self.table.path(Job { design: Design::Full, replicate: 0 })?;
            let bound = *full.bound.first()?;
            let search = match (&full.search, self.model) {
                (Some(search), _) => search.clone(),
                (None, Some(model)) if is_searched_whole(model) => {
                    let manifest = self.table.manifest();
                    let (omega, options) = (self.table.omegas()[0], &manifest.path.fit);
                    let again = fit(model, None, omega, &manifest.start, options, &mut |_| ());
                    let again = again.ok()?;
                    // Else it is not the fit whose rival is asked for.
                    (again.outcome.bound == bound).then_some(again.search)?
                }
                _ => return None,
            };
            let rival = search.rival?;
            // Components may have been numbered anew since.
            let order = match_components(&self.first, &rival.posterior);
            Some((rival.bound - bound, rival.posterior.permuted(&order)))
        };
        self.shown.rival.get_or_init(found).as_ref()
    }

    /// What the full fit shows by itself.
    pub(super) fn of_fit(&self) -> &[Flag] {
        let found = || self.model.map(|model| Flag::of_fit(model, &self.first));
        self.shown.of_fit.get_or_init(|| found().unwrap_or_default())
    }

    /// Whether the answer is no longer wanted.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// The model, which methods that fit anew need.
    pub(super) fn model(&self, method: Method) -> Result<&'a dyn Model, CalibrateError> {
        self.model.ok_or(CalibrateError::Missing {
            method: method.name(),
            needs: "the data",
            remedy: Remedy::KeepData,
        })
    }

    /// The answer at ω̂ from the full-data posterior there.
    pub(super) fn finish(
        &self,
        method: Method,
        level: f64,
        omega: f64,
        posterior: &Posterior,
    ) -> Answer {
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
            own: None,
            limits_se,
            flags: Vec::new(),
            curve: Vec::new(),
            extra_fits: 0,
            posterior: posterior.clone(),
            law: self.law.describe(),
        }
    }

    /// Says of an answer that its limits come from estimates over bootstraps of all units, and what that may mean.
    pub(super) fn made_of_estimates(&self, answer: &mut Answer, law: &str) {
        answer.law = law.to_owned();
        flag::from_resamples(self, Design::Full, 0, &mut answer.flags);
        if !flag::first_fit_converged(self.table) {
            answer.flags.push(Flag::UnconvergedFits { share: 1.0 });
        }
    }

    /// A fit's estimate with limits, on the scale where h is unbounded.
    pub(super) fn reach(&self, posterior: &Posterior, (lower, upper): (f64, f64)) -> Reach {
        let range = self.part.range();
        Reach {
            estimate: range.unbounded(self.part.plug_in(posterior.parameters())),
            lower: range.unbounded(lower),
            upper: range.unbounded(upper),
        }
    }

    /// Stretches an answer's interval about its estimate: ω̂ = 1/stretch². `se` is the stretch's standard error.
    pub(super) fn stretch(&self, answer: &mut Answer, reach: &Reach, stretch: f64, se: f64) {
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
    pub(super) fn choose(
        &self,
        method: Method,
        levels: &[f64],
    ) -> Result<Vec<Answer>, CalibrateError> {
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
    pub(super) fn no_answer(&self, method: Method, level: f64, why: Flag) -> Answer {
        let mut answer = self.finish(method, level, f64::NAN, &self.first);
        (answer.lower, answer.upper, answer.limits_se) = (f64::NAN, f64::NAN, None);
        answer.flags.push(why);
        answer
    }

    /// As [`Question::finish`] for an ω within the grid; an interval of NaN when the fits there failed.
    pub(super) fn finish_on_grid(&self, method: Method, level: f64, omega: f64) -> Answer {
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

impl Evidence for Question<'_> {
    fn omegas(&self) -> &[f64] {
        self.table.omegas()
    }

    fn omegas_of(&self, design: Design) -> &[f64] {
        self.table.omegas_of(design)
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
                Some((self.table.row(path, i)?, value))
            })
            .map(|(parameters, value)| self.law.place(&parameters, value))
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
            let good =
                matches!(path.status.get(i), Some(StatusCode::Converged | StatusCode::Stalled));
            bad += u32::from(!good);
        }
        f64::from(bad) / f64::from(all.max(1))
    }

    fn called(&self) -> Noun {
        self.table.manifest().model.kind().called
    }

    fn mismatched(&self, design: Design, i: usize) -> f64 {
        self.shown.mismatched(self.table, design, i)
    }

    fn is_costly(&self) -> bool {
        !self.law.is_exact()
    }

    fn searches_whole_grid(&self) -> bool {
        self.whole_grid
    }
}
