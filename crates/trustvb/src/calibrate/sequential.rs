//! `tvb-sequential`: the paper's stochastic approximation (Algorithm 1).
//!
//! From ω = 1, with a new split and new bootstraps at each step k = 1, 2, …:
//! `log ω ← log ω + κ_k (ĉ − (1−a))`, `κ_k = (k+1)^-0.51`, until ĉ > 1−a or within 1e-3 of it, at
//! most 100 steps.

use super::flag::Flag;
use super::{Answer, CalibrateError, CurvePoint, Method, Question};
use crate::backend::{Backend, Cpu, Job, Work};
use crate::fit::{Matching, PathFits, PathOptions, Reference, Start, StatusCode, match_components};
use crate::model::Model;
use crate::remedy::Remedy;
use crate::resample::{Design, Resamples};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

const MAX_STEPS: usize = 100;

pub(super) fn answer(
    question: &Question<'_>,
    levels: &[f64],
) -> Result<Vec<Answer>, CalibrateError> {
    let model = question.model(Method::TvbSequential)?;
    if model.is_far() {
        return Err(CalibrateError::Missing {
            method: Method::TvbSequential.name(),
            needs: "rows in memory, to resample them",
            remedy: Remedy::Methods(&["jackknife", "vb"]),
        });
    }
    levels.iter().map(|&level| run(question, model, level)).collect()
}

fn run(question: &Question<'_>, model: &dyn Model, level: f64) -> Result<Answer, CalibrateError> {
    let manifest = question.table.manifest();
    let bootstraps = manifest.bootstraps;
    let resamples = Resamples::new(manifest.seed, true, None);
    let (mut omega, mut points) = (1.0_f64, Vec::new());
    let mut fits = 0;
    let (mut coverage, mut posterior) = (f64::NAN, question.first.clone());
    let mut reached = false;
    for k in 1..=MAX_STEPS {
        if question.is_cancelled() {
            break;
        }
        let Some(reference) = full_fit(question, model, omega) else { break };
        fits += 2 + bootstraps as usize;
        let at = Step { number: k, omega, level, bootstraps };
        let Some(found) = step(question, model, &reference, &resamples, at) else { break };
        coverage = found;
        posterior = reference.posteriors[0].clone();
        let se = (coverage * (1.0 - coverage) / f64::from(bootstraps)).sqrt();
        points.push(CurvePoint { omega, coverage, se });
        if coverage > level || (coverage - level).abs() <= 1e-3 {
            reached = true;
            break;
        }
        omega *= (((k + 1) as f64).powf(-0.51) * (coverage - level)).exp();
    }
    let omega = points.last().map_or(f64::NAN, |p| p.omega);
    let mut answer = question.finish(Method::TvbSequential, level, omega, &posterior);
    if let Some(last) = points.last() {
        (answer.coverage, answer.coverage_se) = (Some(coverage), Some(last.se));
    }
    if omega == 1.0 && reached {
        answer.flags.push(Flag::AtOmegaOne);
    }
    if !reached {
        let highest = points.iter().map(|p| p.coverage).fold(0.0, f64::max);
        answer.flags.push(Flag::NeverReachesLevel { highest });
    }
    points.sort_by(|a, b| b.omega.total_cmp(&a.omega));
    answer.curve = points;
    answer.extra_fits = fits;
    Ok(answer)
}

/// One step of the iteration.
#[derive(Clone, Copy)]
struct Step {
    number: usize,
    omega: f64,
    level: f64,
    bootstraps: u32,
}

fn options<'a>(question: &'a Question<'_>) -> &'a PathOptions {
    &question.table.manifest().path
}

/// The full-data fit at ω, started from the centres of the one at ω = 1.
fn full_fit(question: &Question<'_>, model: &dyn Model, omega: f64) -> Option<Reference> {
    let centres = question.first.centres();
    let reference =
        Reference::new(model, &[omega], &Start::Centres(centres), options(question)).ok()?;
    if options(question).matching == Matching::Weight {
        return Some(reference);
    }
    let order = match_components(&question.first, &reference.posteriors[0]);
    Some(reference.permuted(model, &order))
}

/// ĉ at one ω: a new split, its bootstraps, and how many of their intervals hold h of the half.
fn step(
    question: &Question<'_>,
    model: &dyn Model,
    reference: &Reference,
    resamples: &Resamples,
    at: Step,
) -> Option<f64> {
    let omegas = [at.omega];
    let work = Work {
        model,
        omegas: &omegas,
        resamples,
        reference,
        options: options(question),
        first: at.number,
        known: None,
    };
    let parameters =
        |fits: PathFits| (fits.status[0] != StatusCode::Degenerate).then_some(fits.parameters);
    let of_half = Mutex::new(None);
    let split = |replicate| Job { design: Design::Split, replicate };
    Cpu.run(&work, &[split(0)], question.cancel, &|_, fits| {
        *of_half.lock().unwrap_or_else(PoisonError::into_inner) = parameters(fits);
        ControlFlow::Continue(())
    });
    let of_half = of_half.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    let value = question.part.plug_in(&of_half);
    let tail = 0.5 * (1.0 - at.level);
    let (tried, inside) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let jobs: Vec<Job> = (1..=at.bootstraps).map(split).collect();
    Cpu.run(&work, &jobs, question.cancel, &|_, fits| {
        if let Some(parameters) = parameters(fits) {
            tried.fetch_add(1, Ordering::Relaxed);
            if (tail..=1.0 - tail).contains(&question.law.place(&parameters, value)) {
                inside.fetch_add(1, Ordering::Relaxed);
            }
        }
        ControlFlow::Continue(())
    });
    let (tried, inside) = (tried.into_inner(), inside.into_inner());
    (tried > 0 && !question.is_cancelled()).then(|| inside as f64 / tried as f64)
}
