//! What to know before trusting an interval, as a name for programs and a sentence for people.

use super::{
    Answer, Choice, CoverageCurve, Evidence, FromCounts, Method, Misfit, Question, misfits,
};
use crate::fit::{StatusCode, is_emptied};
use crate::model::{Heap, Model, Noun, coded, heaps};
use crate::posterior::{Block, Family, Posterior, Sharing};
use crate::resample::Design;
use crate::table::TvbTable;

/// A warning or remark on an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Flag {
    /// VB already covers: ω̂ = 1.
    AtOmegaOne,
    /// ω̂ is the smallest ω of the grid.
    AtGridEdge,
    /// The coverage curve stays below the level everywhere.
    NeverReachesLevel {
        /// The highest estimated coverage.
        highest: f64,
    },
    /// The curve falls again at smaller ω.
    NotMonotone,
    /// Fits at ω̂ that did not converge or failed.
    UnconvergedFits {
        /// Their share.
        share: f64,
    },
    /// Replicates whose components do not match the full-data fit's at ω̂.
    ComponentsUnstable {
        /// Their share.
        share: f64,
        /// What components are called.
        called: Noun,
    },
    /// So few bootstraps that the coverage is uncertain.
    FewBootstraps {
        /// How many.
        bootstraps: usize,
    },
    /// Replicates are missing from the table.
    IncompleteTable {
        /// Replicates there.
        found: usize,
        /// Replicates expected.
        expected: usize,
    },
    /// The full-data fit at ω̂ failed.
    FullFitFailed,
    /// The functional has no value at the posterior mean.
    Undefined,
    /// No resample could be checked, because the fits it needs failed.
    NoEvidence,
    /// The estimate is not in the interval.
    EstimateOutside,
    /// Components of the full-data fit with less than one unit's worth of data.
    EmptiedComponents {
        /// Their 1-based numbers.
        components: Vec<usize>,
        /// What components are called.
        called: Noun,
    },
    /// The influence of units is not defined, so `analytic` has no answer.
    NoInfluence(String),
    /// `anchored` and `analytic` disagree.
    MethodsDisagree {
        /// Length of the analytic interval over that of the anchored one.
        ratio: f64,
        /// Which evidence is thin, and why.
        thin: &'static str,
    },
    /// The prior has moved the middle of the interval.
    PriorShifts {
        /// By this share of its half-length.
        share: f64,
        /// What components are called.
        called: Noun,
    },
    /// VB is wider than it need be: ω̂ > 1.
    AboveOmegaOne {
        /// ω̂.
        omega: f64,
    },
    /// Resamples move the weights far more than VB's posterior says.
    ComponentsOverlap {
        /// How many times as much.
        times: f64,
        /// What components are called.
        called: Noun,
    },
    /// The spread of a component is not that of its data.
    PriorDominates {
        /// 1-based component.
        component: usize,
        /// By which factor they differ.
        times: f64,
    },
    /// A component has too few rows for a covariance of so many columns.
    FewRows {
        /// 1-based component.
        component: usize,
        /// Its rows, rounded.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// Another optimum is about as good, and its estimate is not in the interval.
    OtherOptimum {
        /// What the bound is there, less what it is here.
        ahead: f64,
        /// The estimate there.
        estimate: f64,
    },
    /// A component's regression has so few rows that its coefficients cannot be learned from them.
    FewRowsOfRegression {
        /// 1-based component.
        component: usize,
        /// Its rows, rounded.
        rows: usize,
        /// Coefficients.
        coefficients: usize,
    },
    /// Components that collapsed on a value that many of their units have.
    Heap {
        /// Each of them, with column and value.
        heaps: Vec<Heap>,
    },
    /// Columns that are taken for numbers and look like codes.
    Codes {
        /// Their names, with how many different values each has.
        columns: Vec<(String, usize)>,
    },
    /// Columns that are plainly not as the model has them.
    Misfit {
        /// Each of them, with its component.
        misfits: Vec<Misfit>,
    },
    /// Every resample has the same estimate, so that resampling says nothing.
    IdenticalEstimates,
    /// Derivatives were used to cut the Monte-Carlo error of the resamples.
    Steadied {
        /// The share of the variance of the resamples' estimates that they explain.
        explained: f64,
    },
    /// So few units show it that resamples know little of it.
    Boundary {
        /// Expected units for it or against it, whichever are fewer.
        rare: f64,
        /// Expected units in all.
        units: f64,
        /// Whether it is a share of them, and not a rate.
        is_share: bool,
        /// What units are called.
        called: Noun,
        /// What of the interval comes from these counts.
        limits: FromCounts,
    },
    /// The functional has no value in some resamples, though they have fits.
    UndefinedInResamples {
        /// How many, of how many; `None` if it is that which they are checked against.
        of: Option<(usize, usize)>,
    },
}

impl Flag {
    /// What a fit of all units shows by itself, for whatever is asked of it.
    pub fn of_fit(model: &dyn Model, posterior: &Posterior) -> Vec<Flag> {
        let (heaps, columns) = (heaps(model, posterior), coded(model));
        let told = |misfit: &Misfit| {
            columns.iter().any(|(name, _)| *name == misfit.column)
                || heaps.iter().any(|heap| heap.column == misfit.column)
        };
        let mut misfits = misfits(model, posterior);
        misfits.retain(|misfit| !told(misfit));
        let misfit = (!misfits.is_empty()).then_some(Flag::Misfit { misfits });
        let heap = (!heaps.is_empty()).then_some(Flag::Heap { heaps });
        let codes = (!columns.is_empty()).then_some(Flag::Codes { columns });
        heap.into_iter().chain(codes).chain(misfit).collect()
    }

    /// All names. New ones are added at the end: their places are bits in the parts of studies.
    pub const NAMES: [&str; 28] = [
        "at-omega-1",
        "at-grid-edge",
        "never-reaches-level",
        "not-monotone",
        "unconverged-fits",
        "components-unstable",
        "few-bootstraps",
        "incomplete-table",
        "full-fit-failed",
        "undefined",
        "no-evidence",
        "estimate-outside",
        "emptied-components",
        "no-influence",
        "methods-disagree",
        "prior-shifts",
        "above-omega-1",
        "identical-estimates",
        "components-overlap",
        "prior-dominates",
        "few-rows",
        "steadied",
        "other-optimum",
        "heap",
        "codes",
        "boundary",
        "undefined-in-resamples",
        "misfit",
    ];

    /// Names of those that only tell, and are no reason for distrust.
    pub const REMARKS: [&str; 3] = ["at-omega-1", "above-omega-1", "steadied"];

    /// Its name in JSON and tables.
    pub fn name(&self) -> &'static str {
        match self {
            Flag::AtOmegaOne => "at-omega-1",
            Flag::AtGridEdge => "at-grid-edge",
            Flag::NeverReachesLevel { .. } => "never-reaches-level",
            Flag::NotMonotone => "not-monotone",
            Flag::UnconvergedFits { .. } => "unconverged-fits",
            Flag::ComponentsUnstable { .. } => "components-unstable",
            Flag::FewBootstraps { .. } => "few-bootstraps",
            Flag::IncompleteTable { .. } => "incomplete-table",
            Flag::FullFitFailed => "full-fit-failed",
            Flag::Undefined => "undefined",
            Flag::NoEvidence => "no-evidence",
            Flag::EstimateOutside => "estimate-outside",
            Flag::EmptiedComponents { .. } => "emptied-components",
            Flag::NoInfluence(_) => "no-influence",
            Flag::MethodsDisagree { .. } => "methods-disagree",
            Flag::PriorShifts { .. } => "prior-shifts",
            Flag::AboveOmegaOne { .. } => "above-omega-1",
            Flag::IdenticalEstimates => "identical-estimates",
            Flag::ComponentsOverlap { .. } => "components-overlap",
            Flag::PriorDominates { .. } => "prior-dominates",
            Flag::FewRows { .. } | Flag::FewRowsOfRegression { .. } => "few-rows",
            Flag::Steadied { .. } => "steadied",
            Flag::OtherOptimum { .. } => "other-optimum",
            Flag::Heap { .. } => "heap",
            Flag::Codes { .. } => "codes",
            Flag::Misfit { .. } => "misfit",
            Flag::Boundary { .. } => "boundary",
            Flag::UndefinedInResamples { .. } => "undefined-in-resamples",
        }
    }

    /// Whether it only tells, and is no reason for distrust.
    pub fn is_remark(&self) -> bool {
        Flag::REMARKS.contains(&self.name())
    }
}

/// A middle that is moved by more than this share of the half-length makes misses one-sided: in studies they are
/// several times as frequent on one side as on the other.
const SHIFTED: f64 = 0.1;

/// The share of resamples from which on it matters that they failed, or have other components. Fewer have not been seen to
/// change the coverage of intervals (study `broad`).
const MANY: f64 = 0.05;

/// A weight that resamples move this many times as much as VB's posterior says.
const OVERLAP: f64 = 4.0;

/// Rows per column below which a component's covariance is mostly noise.
const FEW_ROWS: f64 = 5.0;

/// A standard deviation that is off by this factor was made by the prior.
const MADE_BY_PRIOR: f64 = 1.25;

/// Fewer bootstraps than this make the coverage at 95% uncertain by more than 1.5 points.
const ENOUGH_BOOTSTRAPS: usize = 200;

/// A choice that rests on a coverage curve, with the remarks that the curve calls for.
pub(super) fn from_curve(
    curve: &mut CoverageCurve<'_>,
    level: f64,
    omega: f64,
    (coverage, se): (f64, f64),
) -> Choice {
    let mut flags = Vec::new();
    let (evidence, design, omegas) = (curve.evidence(), curve.design(), curve.omegas());
    let i = omegas.iter().position(|&w| w <= omega * (1.0 + 1e-12)).unwrap_or(0);
    if omega == 1.0 && curve.at(0, level).0 >= level {
        flags.push(Flag::AtOmegaOne);
    }
    if i == omegas.len() - 1 && omegas.len() > 1 && omega <= omegas[i] {
        flags.push(Flag::AtGridEdge);
    }
    let points = curve.points(level);
    let highest = points.iter().map(|p| p.coverage).fold(0.0, f64::max);
    if highest < level {
        flags.push(Flag::NeverReachesLevel { highest });
    }
    if curve.falls_again(level) {
        flags.push(Flag::NotMonotone);
    }
    from_resamples(evidence, design, i, &mut flags);
    Choice { omega, coverage: Some(coverage), coverage_se: Some(se), flags, curve: points }
}

/// Remarks on the bootstraps of a design at grid point `i`.
pub(super) fn from_resamples(
    evidence: &dyn Evidence,
    design: Design,
    i: usize,
    flags: &mut Vec<Flag>,
) {
    from_unconverged(evidence.unconverged(design, i), flags);
    let unstable = evidence.mismatched(design, i);
    if unstable > MANY {
        flags.push(Flag::ComponentsUnstable { share: unstable, called: evidence.called() });
    }
    let (bootstraps, expected) = evidence.bootstraps(design);
    from_number(bootstraps, flags);
    if bootstraps < expected {
        flags.push(Flag::IncompleteTable { found: bootstraps, expected });
    }
}

/// A remark on the share of bootstraps without a good fit.
pub(super) fn from_unconverged(share: f64, flags: &mut Vec<Flag>) {
    if share > MANY {
        flags.push(Flag::UnconvergedFits { share });
    }
}

/// A remark on too few bootstraps.
pub(super) fn from_number(bootstraps: usize, flags: &mut Vec<Flag>) {
    if bootstraps < ENOUGH_BOOTSTRAPS {
        flags.push(Flag::FewBootstraps { bootstraps });
    }
}

/// Says of answers whose functional has no value in some resamples that it has none: their fits did not fail.
pub(super) fn from_undefined(question: &Question<'_>, answers: &mut [Answer]) {
    if question.part.is_total() {
        return;
    }
    for answer in answers {
        let design = match answer.method {
            Method::Vb => Some(Design::Full),
            method => method.design(),
        };
        let Some(of) = design.map(|design| question.undefined(design)) else { continue };
        if of.is_none_or(|(undefined, _)| undefined > 0) {
            answer.flags.retain(|flag| *flag != Flag::NoEvidence);
            answer.flags.push(Flag::UndefinedInResamples { of });
        }
    }
}

/// Remarks on what the full data alone show.
pub(super) fn from_full_fit(question: &Question<'_>, answer: &mut Answer) {
    let called = question.called();
    if answer.lower.is_infinite() || answer.upper.is_infinite() {
        answer.flags.push(Flag::Undefined);
        return;
    }
    if answer.estimate < answer.lower || answer.estimate > answer.upper {
        answer.flags.push(Flag::EstimateOutside);
    } else {
        let there = question.part.plug_in(answer.posterior.parameters());
        let share = 2.0 * (there - answer.estimate).abs() / (answer.upper - answer.lower);
        if share > SHIFTED {
            answer.flags.push(Flag::PriorShifts { share, called });
        }
    }
    if let Some(times) = question.overlap().filter(|times| *times > OVERLAP) {
        answer.flags.push(Flag::ComponentsOverlap { times, called });
    }
    if let Some((ahead, rival)) = question.rival() {
        let estimate = question.part.plug_in(rival.parameters());
        if estimate < answer.lower || estimate > answer.upper {
            answer.flags.push(Flag::OtherOptimum { ahead: *ahead, estimate });
        }
    }
    for (k, &times) in question.made_by_prior().iter().enumerate() {
        if times > MADE_BY_PRIOR && question.part.has_shape_of(k) {
            answer.flags.push(Flag::PriorDominates { component: k + 1, times });
        }
    }
    answer.flags.extend(question.of_fit().iter().cloned());
    // Σα = Kα0 + ωn gives the prior's share back.
    let table = question.table;
    let Some(alpha) = question.first.mixing().map(|d| d.alpha()) else { return };
    let omega = table.omegas()[0];
    let k = alpha.len() as f64;
    let alpha0 = (alpha.iter().sum::<f64>() - omega * table.manifest().n_units as f64) / k;
    let counts: Vec<f64> = alpha.iter().map(|a| (a - alpha0) / omega).collect();
    let emptied: Vec<usize> =
        (0..counts.len()).filter(|&k| is_emptied(counts[k])).map(|k| k + 1).collect();
    if !emptied.is_empty() {
        answer.flags.push(Flag::EmptiedComponents { components: emptied, called });
    }
    if let Some(few) = few_rows_of_regression(question, &counts) {
        answer.flags.push(few);
    }
    let blocks = &table.layout().blocks;
    // A covariance that all components share is known from all rows.
    let own = |b: &&Block| b.family == Family::NormalWishart && b.sharing == Sharing::Nothing;
    let Some(gaussian) = blocks.iter().find(own) else { return };
    // An emptied component has been told.
    let few = |k: &usize| counts[*k] < FEW_ROWS * gaussian.dim as f64;
    if let Some(k) = (0..counts.len()).filter(few).find(|&k| !is_emptied(counts[k])) {
        answer.flags.push(Flag::FewRows {
            component: k + 1,
            rows: counts[k].round() as usize,
            columns: gaussian.dim,
        });
    }
}

/// A component whose regression has few rows for its coefficients, if there is one. Components have groups; their rows are
/// as many as groups have on average.
fn few_rows_of_regression(question: &Question<'_>, counts: &[f64]) -> Option<Flag> {
    let (table, data) = (question.table, question.table.data()?);
    let of_regression = |block: &&Block| block.family == Family::MvNormal;
    let coefficients = table.layout().blocks.iter().find(of_regression)?.dim;
    let rows = |k: usize| counts[k] * data.n_rows() as f64 / data.n_units().max(1) as f64;
    let few = |k: &usize| !is_emptied(counts[*k]) && rows(*k) < FEW_ROWS * coefficients as f64;
    let k = (0..counts.len()).find(few)?;
    Some(Flag::FewRowsOfRegression {
        component: k + 1,
        rows: rows(k).round() as usize,
        coefficients,
    })
}

/// Says so when `anchored` and `analytic` give lengths more than 10% apart, and which is the
/// weaker evidence.
pub(crate) fn compare_methods(answers: &mut [Answer]) {
    for a in 0..answers.len() {
        for b in 0..answers.len() {
            if answers[a].method != Method::Anchored
                || answers[b].method != Method::Analytic
                || answers[a].level != answers[b].level
            {
                continue;
            }
            let length = |answer: &Answer| answer.upper - answer.lower;
            let ratio = length(&answers[b]) / length(&answers[a]);
            if !(ratio.is_finite() && (ratio - 1.0).abs() > 0.1) {
                continue;
            }
            let weak = |flags: &[Flag]| {
                flags.iter().any(|flag| {
                    matches!(
                        flag,
                        Flag::ComponentsUnstable { .. }
                            | Flag::UnconvergedFits { .. }
                            | Flag::FewBootstraps { .. }
                            | Flag::NeverReachesLevel { .. }
                    )
                })
            };
            let thin = if weak(&answers[a].flags) {
                "the bootstrap evidence is thin, see its own remarks"
            } else {
                "the analytic one is a first-order approximation, so rather trust the anchored one"
            };
            for at in [a, b] {
                answers[at].flags.push(Flag::MethodsDisagree { ratio, thin });
            }
        }
    }
}

/// Whether the full-data fit at the first ω converged.
pub(super) fn first_fit_converged(table: &TvbTable) -> bool {
    table
        .path(crate::backend::Job { design: Design::Full, replicate: 0 })
        .is_some_and(|path| matches!(path.status[0], StatusCode::Converged | StatusCode::Stalled))
}
