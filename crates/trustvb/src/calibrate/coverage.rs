//! The coverage curve of a functional: how often replicates' intervals hold a checked value, by ω.

use super::evidence::{Evidence, Target};
use crate::resample::Design;
use serde::Serialize;
use std::collections::BTreeMap;

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

/// A curve that is evaluated where it is needed.
///
/// It remembers which points it was asked for: they are what is reported.
pub struct CoverageCurve<'a> {
    evidence: &'a dyn Evidence,
    design: Design,
    target: Target,
    /// CDF values of the usable replicates, by grid point.
    known: BTreeMap<usize, Vec<f64>>,
}

impl<'a> CoverageCurve<'a> {
    pub(super) fn new(evidence: &'a dyn Evidence, design: Design, target: Target) -> Self {
        CoverageCurve { evidence, design, target, known: BTreeMap::new() }
    }

    /// The same curve with nothing looked at.
    pub(super) fn anew(&self) -> CoverageCurve<'a> {
        CoverageCurve::new(self.evidence, self.design, self.target)
    }

    pub(super) fn evidence(&self) -> &'a dyn Evidence {
        self.evidence
    }

    pub(super) fn design(&self) -> Design {
        self.design
    }

    pub(super) fn omegas(&self) -> &'a [f64] {
        self.evidence.omegas_of(self.design)
    }

    pub(super) fn len(&self) -> usize {
        self.omegas().len()
    }

    /// Coverage at grid point `i`, with its standard error; NaN when no replicate is usable there.
    pub(super) fn at(&mut self, i: usize, level: f64) -> (f64, f64) {
        let (evidence, design, target) = (self.evidence, self.design, self.target);
        let u = self.known.entry(i).or_insert_with(|| evidence.places(design, target, i));
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
                CurvePoint { omega: self.omegas()[i], coverage, se }
            })
            .collect()
    }

    /// Whether every further point takes draws for every replicate.
    pub(super) fn is_costly(&self) -> bool {
        self.evidence.is_costly()
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
