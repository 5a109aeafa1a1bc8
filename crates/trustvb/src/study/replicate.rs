//! One data set, all methods: the fits that methods share are made once.

use super::record::{Outcome, Place, Record};
use super::simulate::calibration_seed;
use super::{Cell, Labels, Study, StudyMethod};
use crate::backend::{Backend, Cpu, Job, Work};
use crate::calibrate::{Answer, Calibrator, Method, compare_methods};
use crate::fit::{
    FitOptions, Matching, PathOptions, Reference, ReplicateStart, Start, Stopping, match_components,
};
use crate::functional::Functional;
use crate::model::{Degenerate, Model};
use crate::resample::{Design, Resamples};
use crate::table::{Manifest, OmegaGrid, Replicates, Settings, TvbTable};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Everything that the methods of one replication have in common.
struct Shared<'a> {
    cell: &'a Cell,
    model: Arc<dyn Model>,
    settings: Settings,
    cancel: &'a AtomicBool,
}

/// A table with what it cost.
struct Costed {
    table: TvbTable,
    fits: usize,
    seconds: f64,
}

/// The records of replication `number` (from 1) of a cell, quantity after quantity, method after
/// method, level after level; `None` when cancelled.
pub(super) fn replicate(
    study: &Study,
    cell: &Cell,
    number: u32,
    cancel: &AtomicBool,
) -> Option<Vec<Record>> {
    let clock = Instant::now();
    let failed = |outcome: Outcome| {
        let seconds = clock.elapsed().as_secs_f64();
        Some(
            places(study, cell.targets.len(), number)
                .map(|p| Record::failed(p, outcome, seconds))
                .collect(),
        )
    };
    let Ok(data) = cell.simulation.draw(cell.seed, u64::from(number)) else {
        return failed(Outcome::Refused);
    };
    let clock = Instant::now();
    let Ok(model) = cell.spec.build(&data) else { return failed(Outcome::Refused) };
    drop(data);
    let seed = calibration_seed(cell.seed, u64::from(number));
    let shared =
        Shared { cell, model: Arc::from(model), settings: settings(study, cell, seed), cancel };
    let Ok(first) = shared.reference(&[1.0]) else { return failed(Outcome::FitFailed) };
    let order = match study.labels {
        Labels::Matched => match_components(&cell.truth, &first.posteriors[0]),
        Labels::Weight => (0..cell.layout.n_components).collect(),
    };
    let first = first.permuted(shared.model.as_ref(), &order);
    let small =
        Costed { seconds: clock.elapsed().as_secs_f64(), ..shared.table(&first, &[1.0], 0, None)? };

    // Whether a method needs the whole grid with such bootstraps.
    let needs = |design: Design, fresh: bool| {
        study.methods.iter().any(|m| {
            let method = m.method();
            method.needs_grid() && method.design() == Some(design) && m.has_fresh_splits() == fresh
        })
    };
    let mut grid = None;
    if study.methods.iter().any(|m| m.method().needs_grid()) {
        let clock = Instant::now();
        let omegas = OmegaGrid { points: study.grid, min: study.omega_min }.omegas();
        let Ok(path) = shared.reference(&omegas) else { return failed(Outcome::FitFailed) };
        let path = path.permuted(shared.model.as_ref(), &order);
        grid = Some((omegas, path, clock.elapsed().as_secs_f64()));
    }
    // (design, fresh splits) on the whole grid, and bootstraps at ω = 1 only.
    let on_grid = |design: Design, fresh: bool| -> Option<Option<Costed>> {
        let Some((omegas, path, seconds)) = grid.as_ref().filter(|_| needs(design, fresh)) else {
            return Some(None);
        };
        let mut made = shared.table(path, omegas, study.bootstraps, Some((design, fresh)))?;
        made.seconds += seconds + small.seconds;
        Some(Some(made))
    };
    let full = on_grid(Design::Full, false)?;
    let split = on_grid(Design::Split, false)?;
    let fresh = on_grid(Design::Split, true)?;
    let percentiles = match study.methods.iter().any(|m| m.needs_bootstraps_at_one()) {
        false => None,
        true => {
            let mut made =
                shared.table(&first, &[1.0], study.bootstraps, Some((Design::Full, false)))?;
            made.seconds += small.seconds;
            Some(made)
        }
    };

    let mut records = Vec::new();
    for (quantity, part) in cell.functionals.iter().flat_map(Functional::parts).enumerate() {
        let mut found: Vec<(StudyMethod, Vec<Answer>, usize, f64)> = Vec::new();
        for &method in &study.methods {
            if cancel.load(Ordering::Relaxed) {
                return None;
            }
            // VB's own coverage is told by bootstraps, where there are some.
            let is_vb = method == Method::Vb;
            let behind = match (method.method().design(), method.method().needs_grid()) {
                _ if is_vb => full.as_ref().or(percentiles.as_ref()),
                _ if method.has_fresh_splits() => fresh.as_ref(),
                (Some(Design::Split), _) => split.as_ref(),
                (Some(_), true) => full.as_ref(),
                (Some(_), false) => percentiles.as_ref(),
                (None, _) => None,
            };
            let behind = behind.unwrap_or(&small);
            let clock = Instant::now();
            let mut calibrator =
                Calibrator::with_model(&behind.table, shared.model.clone(), study.draws);
            if method.has_fresh_splits() {
                calibrator = calibrator.searching_whole_grid();
            }
            let answers =
                calibrator.answer(part, &[method.method()], &study.levels).unwrap_or_default();
            let (fits, seconds) = match is_vb {
                true => (1, small.seconds),
                false => (behind.fits, behind.seconds + clock.elapsed().as_secs_f64()),
            };
            found.push((method, answers, fits, seconds));
        }
        compare(&mut found);
        for (at, (_, answers, fits, seconds)) in found.iter().enumerate() {
            for level in 0..study.levels.len() {
                let place = Place {
                    replication: number,
                    quantity: quantity as u32,
                    method: at as u32,
                    level: level as u32,
                };
                records.push(match answers.get(level) {
                    Some(a) => Record::new(place, a, fits + a.extra_fits, *seconds),
                    None => Record::failed(place, Outcome::FitFailed, *seconds),
                });
            }
        }
    }
    Some(records)
}

/// Lets answers of different tables be compared as those of one are.
fn compare(found: &mut [(StudyMethod, Vec<Answer>, usize, f64)]) {
    let mut all: Vec<Answer> = Vec::new();
    for (method, answers, ..) in found.iter_mut() {
        // Fresh splits are the same method on another table; nothing is compared with them.
        if !method.has_fresh_splits() {
            all.append(answers);
        }
    }
    compare_methods(&mut all);
    for answer in all {
        let own =
            found.iter_mut().find(|(m, ..)| !m.has_fresh_splits() && m.method() == answer.method);
        if let Some((_, answers, ..)) = own {
            answers.push(answer);
        }
    }
}

/// All records of a replication, in their order.
pub(super) fn places(
    study: &Study,
    quantities: usize,
    replication: u32,
) -> impl Iterator<Item = Place> + Clone + use<> {
    let (methods, levels) = (study.methods.len() as u32, study.levels.len() as u32);
    (0..quantities as u32).flat_map(move |quantity| {
        (0..methods).flat_map(move |method| {
            (0..levels).map(move |level| Place { replication, quantity, method, level })
        })
    })
}

/// The settings that `trustvb calibrate` would have with this seed.
fn settings(study: &Study, cell: &Cell, seed: u64) -> Settings {
    let fit = FitOptions { stopping: Stopping::Relative(study.tolerance), ..FitOptions::default() };
    Settings {
        model: cell.spec.clone(),
        omegas: vec![1.0],
        omega_min: study.omega_min,
        replicates: Replicates::default(),
        bootstraps: study.bootstraps,
        fresh_splits: false,
        subsets: None,
        resamples: None,
        seed,
        start: Start::KMeans { restarts: study.starts, seed },
        path: PathOptions {
            fit,
            matching: Matching::Assignment,
            start: ReplicateStart::Warm,
            seed,
        },
        published_intervals: false,
    }
}

impl Shared<'_> {
    fn reference(&self, omegas: &[f64]) -> Result<Reference, Degenerate> {
        Reference::new(self.model.as_ref(), omegas, &self.settings.start, &self.settings.path)
    }

    /// The full-data path with `bootstraps` of a design; `None` when cancelled.
    fn table(
        &self,
        reference: &Reference,
        omegas: &[f64],
        bootstraps: u32,
        design: Option<(Design, bool)>,
    ) -> Option<Costed> {
        let clock = Instant::now();
        let mut settings = self.settings.clone();
        settings.omegas = omegas.to_vec();
        let mut jobs = vec![Job { design: Design::Full, replicate: 0 }];
        if let Some((design, fresh)) = design {
            settings.fresh_splits = fresh;
            if design == Design::Split {
                settings.replicates.split = bootstraps;
                jobs.push(Job { design, replicate: 0 });
            } else {
                settings.replicates.full = bootstraps;
            }
            jobs.extend((1..=bootstraps).map(|replicate| Job { design, replicate }));
        }
        let resamples = Resamples::new(settings.seed, settings.fresh_splits, None);
        let work = Work {
            model: self.model.as_ref(),
            omegas,
            resamples: &resamples,
            reference,
            options: &self.settings.path,
            known: None,
        };
        let paths = Mutex::new(BTreeMap::new());
        let fits = jobs.len() * omegas.len();
        Cpu.run(&work, &jobs, self.cancel, &|job, fits| {
            paths.lock().unwrap_or_else(PoisonError::into_inner).insert(job, fits);
            ControlFlow::Continue(())
        });
        let paths = paths.into_inner().unwrap_or_else(PoisonError::into_inner);
        if paths.len() < jobs.len() {
            return None;
        }
        let n_units = self.model.n_units();
        let manifest = Manifest::without_data(settings, &self.cell.layout, n_units);
        let table = TvbTable::new(manifest, paths, None);
        Some(Costed { table, fits, seconds: clock.elapsed().as_secs_f64() })
    }
}
