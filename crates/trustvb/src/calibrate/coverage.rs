//! The coverage curve of a functional: how often replicates' intervals hold a checked value, by ω.

use super::Question;
use crate::fit::StatusCode;
use crate::resample::Design;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A point of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// ω.
    pub omega: f64,
    /// Estimated coverage.
    pub coverage: f64,
    /// Its Monte-Carlo standard error.
    pub se: f64,
}

/// Which value the replicates' intervals are checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    /// The plug-in value of the design's replicate 0 at the same ω.
    SameOmega,
    /// The plug-in value of the design's replicate 0 at ω = 1.
    Anchor,
}

/// What is known of one functional in one table: the CDF value of the checked value in every replicate
/// looked at.
///
/// A value is in the central `1−a` interval iff its CDF value `u` is in `[a/2, 1−a/2]` (see
/// [`Law::place`](super::Law::place)), so this answers for every level. Kept from one call of
/// [`Calibrator::answer_with`](super::Calibrator::answer_with) to the next it makes a change of level
/// cheap; it never changes an answer. Do not use it for another functional or table.
#[derive(Debug, Default)]
pub struct Evidence {
    known: Mutex<Places>,
}

/// CDF values of replicates, by design, checked value and grid point.
type Places = BTreeMap<(Design, Target, usize), Arc<[f64]>>;

impl Evidence {
    /// Its size in memory, about.
    pub fn bytes(&self) -> usize {
        self.lock().values().map(|u| size_of_val::<[f64]>(u) + 64).sum()
    }

    /// The map holds whole entries only, so a panic elsewhere leaves it as good as before.
    fn lock(&self) -> MutexGuard<'_, Places> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A curve at one level that is evaluated where it is needed.
///
/// It remembers which points it was asked for: they are what is reported, whatever else the evidence
/// holds from other levels.
pub struct CoverageCurve<'a> {
    question: &'a Question<'a>,
    design: Design,
    target: Target,
    /// CDF values of the usable replicates, by grid point.
    known: BTreeMap<usize, Arc<[f64]>>,
}

impl<'a> CoverageCurve<'a> {
    pub(super) fn new(question: &'a Question<'a>, design: Design, target: Target) -> Self {
        CoverageCurve { question, design, target, known: BTreeMap::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.question.table.omegas().len()
    }

    pub(super) fn bootstraps(&self) -> usize {
        self.question.table.bootstraps(self.design).count()
    }

    /// Coverage at grid point `i`, with its standard error; NaN when no replicate is usable there.
    pub(super) fn at(&mut self, i: usize, level: f64) -> (f64, f64) {
        let (question, design, target) = (self.question, self.design, self.target);
        let u = self.known.entry(i).or_insert_with(|| look_up(question, design, target, i));
        let tail = 0.5 * (1.0 - level);
        let inside = u.iter().filter(|u| (tail..=1.0 - tail).contains(*u)).count();
        let n = u.len() as f64;
        let coverage = inside as f64 / n;
        (coverage, (coverage * (1.0 - coverage) / n).sqrt())
    }

    /// Whether no replicate can be checked, not even at ω = 1.
    pub(super) fn is_empty(&mut self, level: f64) -> bool {
        self.at(0, level).0.is_nan()
    }

    /// Share of replicates at grid point `i` whose fit did not converge or failed.
    pub(super) fn unconverged(&self, i: usize) -> f64 {
        let (mut bad, mut all) = (0, 0);
        for path in self.question.table.bootstraps(self.design) {
            all += 1;
            bad +=
                usize::from(!matches!(path.status[i], StatusCode::Converged | StatusCode::Stalled));
        }
        f64::from(bad as u32) / f64::from((all as u32).max(1))
    }

    /// The grid points evaluated so far, from large ω to small.
    pub(super) fn evaluated(&self) -> Vec<usize> {
        self.known.keys().copied().collect()
    }

    /// The points evaluated so far.
    pub(super) fn points(&mut self, level: f64) -> Vec<CurvePoint> {
        self.evaluated()
            .into_iter()
            .map(|i| {
                let (coverage, se) = self.at(i, level);
                CurvePoint { omega: self.question.table.omegas()[i], coverage, se }
            })
            .collect()
    }

    /// Whether every further point takes draws for every replicate.
    pub(super) fn is_costly(&self) -> bool {
        !self.question.law.is_exact()
    }

    /// Every so many grid points, so that about two dozen span the grid.
    pub(super) fn stride(&self) -> usize {
        (self.len() / 24).max(1)
    }

    /// The first grid point, from ω = 1 downwards, with coverage at least `level`.
    ///
    /// A cheap law is followed point by point. A costly one is looked at in strides first and
    /// halved within the stride where it crosses.
    pub(super) fn first_crossing(&mut self, level: f64) -> Option<usize> {
        if !self.is_costly() {
            return (0..self.len()).find(|&i| self.at(i, level).0 >= level);
        }
        let last = self.len() - 1;
        let stride = self.stride();
        let (mut below, mut i) = (None, 0);
        loop {
            if self.at(i, level).0 >= level {
                break;
            }
            if i == last {
                return None;
            }
            below = Some(i);
            i = (i + stride).min(last);
        }
        let (Some(mut below), mut above) = (below, i) else { return Some(i) };
        while above - below > 1 {
            let middle = (above + below) / 2;
            if self.at(middle, level).0 >= level { above = middle } else { below = middle }
        }
        Some(above)
    }

    /// Looks at the rest of the grid in strides, so that the shape of the curve is known.
    pub(super) fn survey(&mut self, level: f64) {
        let stride = if self.is_costly() { 6 * self.stride() } else { self.stride() };
        for i in (0..self.len()).step_by(stride) {
            self.at(i, level);
        }
        self.at(self.len() - 1, level);
    }

    /// Whether coverage falls again, by more than noise, somewhere below a larger ω.
    pub(super) fn falls_again(&mut self, level: f64) -> bool {
        let mut highest = 0.0_f64;
        for point in self.points(level) {
            let noise = (4.0 * point.se).max(0.02);
            if point.coverage < highest - noise {
                return true;
            }
            highest = highest.max(point.coverage);
        }
        false
    }
}

/// What the evidence has for a grid point, computed if it has nothing. Once the question is
/// cancelled nothing is computed: the answer will not be given.
fn look_up(question: &Question<'_>, design: Design, target: Target, i: usize) -> Arc<[f64]> {
    let key = (design, target, i);
    if let Some(known) = question.evidence.lock().get(&key) {
        return known.clone();
    }
    if question.is_cancelled() {
        return Arc::new([]);
    }
    let found: Arc<[f64]> = evaluate(question, design, target, i).into();
    question.evidence.lock().insert(key, found.clone());
    found
}

fn evaluate(question: &Question<'_>, design: Design, target: Target, i: usize) -> Vec<f64> {
    let table = question.table;
    let at = match target {
        Target::SameOmega => i,
        Target::Anchor => 0,
    };
    let Some(checked) = table.zeroth(design, at) else { return Vec::new() };
    let value = question.part.plug_in(checked);
    let paths: Vec<_> = table.bootstraps(design).collect();
    paths
        .into_par_iter()
        .with_min_len(16)
        .filter_map(|path| table.parameters(path, i))
        .map(|parameters| question.law.place(parameters, value))
        .filter(|u| !u.is_nan())
        .collect()
}
