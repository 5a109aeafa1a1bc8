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
use crate::model::Model;
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

impl Costed {
    /// With the seconds that went before.
    fn after(mut self, seconds: f64) -> Costed {
        self.seconds += seconds;
        self
    }
}

/// Why a replication has no answers.
enum Stop {
    /// It is no longer wanted.
    Cancelled,
    /// The data give none.
    Failed(Outcome),
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
    let made = Shared::draw(study, cell, number, cancel)
        .and_then(|(shared, clock)| Ok((Tables::make(study, &shared, clock)?, shared)));
    match made {
        Ok((tables, shared)) => records(study, &shared, &tables, number),
        Err(Stop::Cancelled) => None,
        Err(Stop::Failed(outcome)) => {
            let seconds = clock.elapsed().as_secs_f64();
            let failed = |place| Record::failed(place, outcome, seconds);
            Some(places(study, cell.targets.len(), number).map(failed).collect())
        }
    }
}

/// The tables that methods read, each made once.
struct Tables {
    /// The fit at ω = 1.
    small: Costed,
    /// Bootstraps of all units on the whole grid.
    full: Option<Costed>,
    /// A split and bootstraps of one half on the whole grid.
    split: Option<Costed>,
    /// The same, anew at every ω.
    fresh: Option<Costed>,
    /// Bootstraps of all units at ω = 1.
    at_one: Option<Costed>,
}

impl Tables {
    /// Those that the study's methods need; `clock` runs since the data were there.
    fn make(study: &Study, shared: &Shared<'_>, clock: Instant) -> Result<Tables, Stop> {
        let first = shared.reference(&[1.0])?;
        let order = match study.labels {
            Labels::Matched => match_components(&shared.cell.truth, &first.posteriors[0]),
            Labels::Weight => (0..shared.cell.layout.n_components).collect(),
        };
        let first = first.permuted(shared.model.as_ref(), &order);
        let small = shared.table(&first, &[1.0], 0, None)?;
        let small = Costed { seconds: clock.elapsed().as_secs_f64(), ..small };
        let before = small.seconds;
        let mut tables = Tables { small, full: None, split: None, fresh: None, at_one: None };
        if study.methods.iter().any(|m| m.method().needs_grid()) {
            let clock = Instant::now();
            let omegas = OmegaGrid { points: study.grid, min: study.omega_min }.omegas();
            let path = shared.reference(&omegas)?.permuted(shared.model.as_ref(), &order);
            let before = before + clock.elapsed().as_secs_f64();
            // Whether a method needs the whole grid with such bootstraps, and if so the table.
            let on_grid = |design: Design, fresh: bool| -> Result<Option<Costed>, Stop> {
                let needed = study.methods.iter().any(|m| {
                    let (method, is_fresh) = (m.method(), m.has_fresh_splits());
                    method.needs_grid() && method.design() == Some(design) && is_fresh == fresh
                });
                let make = || shared.table(&path, &omegas, study.bootstraps, Some((design, fresh)));
                needed.then(|| make().map(|made| made.after(before))).transpose()
            };
            tables.full = on_grid(Design::Full, false)?;
            tables.split = on_grid(Design::Split, false)?;
            tables.fresh = on_grid(Design::Split, true)?;
        }
        if study.methods.iter().any(|m| m.needs_bootstraps_at_one()) {
            let bootstraps = Some((Design::Full, false));
            let made = shared.table(&first, &[1.0], study.bootstraps, bootstraps)?;
            tables.at_one = Some(made.after(before));
        }
        Ok(tables)
    }

    /// The table that a method reads.
    fn behind(&self, method: StudyMethod) -> &Costed {
        let behind = match (method.method().design(), method.method().needs_grid()) {
            // VB's own coverage is told by bootstraps, where there are some.
            _ if method == Method::Vb => self.full.as_ref().or(self.at_one.as_ref()),
            _ if method.has_fresh_splits() => self.fresh.as_ref(),
            (Some(Design::Split), _) => self.split.as_ref(),
            (Some(_), true) => self.full.as_ref(),
            (Some(_), false) => self.at_one.as_ref(),
            (None, _) => None,
        };
        behind.unwrap_or(&self.small)
    }
}

/// Asks the tables by every method; `None` when cancelled.
fn records(
    study: &Study,
    shared: &Shared<'_>,
    tables: &Tables,
    number: u32,
) -> Option<Vec<Record>> {
    let mut records = Vec::new();
    for (quantity, part) in shared.cell.functionals.iter().flat_map(Functional::parts).enumerate() {
        let mut found: Vec<(StudyMethod, Vec<Answer>, usize, f64)> = Vec::new();
        for &method in &study.methods {
            if shared.cancel.load(Ordering::Relaxed) {
                return None;
            }
            let behind = tables.behind(method);
            let clock = Instant::now();
            let mut calibrator =
                Calibrator::with_model(&behind.table, shared.model.clone(), study.draws);
            if method.has_fresh_splits() {
                calibrator = calibrator.searching_whole_grid();
            }
            let answers =
                calibrator.answer(part, &[method.method()], &study.levels).unwrap_or_default();
            let (fits, seconds) = match method == Method::Vb {
                true => (1, tables.small.seconds),
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
        at_one: Vec::new(),
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

impl<'a> Shared<'a> {
    /// Draws a data set and binds the model to it; the clock runs since the data are there.
    fn draw(
        study: &Study,
        cell: &'a Cell,
        number: u32,
        cancel: &'a AtomicBool,
    ) -> Result<(Shared<'a>, Instant), Stop> {
        let refused = |_| Stop::Failed(Outcome::Refused);
        let data = cell.simulation.draw(cell.seed, u64::from(number)).map_err(refused)?;
        let clock = Instant::now();
        let model = cell.spec.build(&data).map_err(|_| Stop::Failed(Outcome::Refused))?;
        let seed = calibration_seed(cell.seed, u64::from(number));
        let settings = settings(study, cell, seed);
        Ok((Shared { cell, model: Arc::from(model), settings, cancel }, clock))
    }

    fn reference(&self, omegas: &[f64]) -> Result<Reference, Stop> {
        Reference::new(self.model.as_ref(), omegas, &self.settings.start, &self.settings.path)
            .map_err(|_| Stop::Failed(Outcome::FitFailed))
    }

    /// The full-data path with `bootstraps` of a design.
    fn table(
        &self,
        reference: &Reference,
        omegas: &[f64],
        bootstraps: u32,
        design: Option<(Design, bool)>,
    ) -> Result<Costed, Stop> {
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
            first: 0,
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
            return Err(Stop::Cancelled);
        }
        let n_units = self.model.n_units();
        let manifest = Manifest::without_data(settings, &self.cell.layout, n_units);
        let table = TvbTable::new(manifest, paths, None);
        Ok(Costed { table, fits, seconds: clock.elapsed().as_secs_f64() })
    }
}
