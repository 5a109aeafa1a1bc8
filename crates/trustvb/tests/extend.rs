//! Tables that grow: bit for bit those that were built whole, and no fit is made twice.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::tables::bits;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use trustvb::backend::{Backend, Cpu, Job, Sink, Work};
use trustvb::calibrate::Method;
use trustvb::data::{Dataset, ReadOptions, read_csv};
use trustvb::fit::{FitOptions, Matching, Stopping};
use trustvb::model::{ColumnMixture, GaussianMixture, ModelData, RegressionMixture};
use trustvb::problem::Problem;
use trustvb::table::{Blueprint, Plan, Watch};

/// Counts paths, and those whose first fit was there.
#[derive(Default)]
struct Counting {
    paths: AtomicUsize,
    begun: AtomicUsize,
}

impl Backend for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn run(&self, work: &Work<'_>, jobs: &[Job], cancel: &AtomicBool, sink: &Sink<'_>) {
        let known = jobs.iter().filter(|job| work.known.is_some_and(|k| k.contains_key(job)));
        self.begun.fetch_add(known.count(), Ordering::Relaxed);
        self.paths.fetch_add(jobs.len(), Ordering::Relaxed);
        Cpu.run(work, jobs, cancel, sink);
    }
}

/// A change of wishes.
type Change<'a> = &'a dyn Fn(&mut Plan);

fn blueprint(problem: &Problem, methods: &[Method], change: Change<'_>) -> Blueprint {
    let mut plan = Plan { bootstraps: 12, grid: 7, ..Plan::for_methods(3, methods) };
    change(&mut plan);
    problem.table().plan(plan).check().unwrap()
}

fn problems() -> Vec<Problem> {
    let formula = "y ~ 0 + x1 + x2 | group";
    let text: String = (0..120)
        .map(|i| {
            format!(
                "{},{},{}\n",
                ["a", "b"][i % 2],
                (i * 7) % 4 + i % 2,
                ["", "u", "v"][(i * 5 + i % 2) % 3]
            )
        })
        .collect();
    let options = ReadOptions { as_text: true, keep_missing: true, ..ReadOptions::default() };
    let frame = read_csv(format!("x,n,y\n{text}").as_bytes(), "columns", &options).unwrap();
    vec![
        GaussianMixture::new(2).bind(Dataset::faithful()).unwrap(),
        Problem::new(
            RegressionMixture::new(2, formula),
            ModelData::Groups(common::grouped("bmlr_small.csv", formula)),
        )
        .unwrap(),
        ColumnMixture::new(2).bind(&frame, &[]).unwrap(),
    ]
}

#[test]
fn a_table_gains_its_grid_bit_for_bit() {
    let changes: [(&str, Change<'_>); 5] = [
        ("usual", &|_| ()),
        ("restarts", &|plan| plan.restarts = Some(2)),
        ("by weight", &|plan| plan.matching = Some(Matching::Weight)),
        ("as published", &|plan| plan.published = true),
        ("cut short", &|plan| {
            plan.fit = FitOptions {
                max_sweeps: 3,
                stopping: Stopping::Relative(1e-12),
                ..plan.fit.clone()
            }
        }),
    ];
    for problem in problems() {
        for (name, change) in changes {
            let first = blueprint(&problem, &[Method::RECOMMENDED, Method::Vb], change);
            let first = first.build(&Cpu, &Watch::silent()).unwrap();
            assert_eq!(first.omegas(), [1.0]);
            let wanted = blueprint(&problem, &[Method::Anchored, Method::Tvb], change);
            assert_eq!(wanted.known_fits(&first), 13, "{name}");
            let backend = Counting::default();
            let grown = wanted.extend(&first, &backend, &Watch::silent()).unwrap();
            let whole = wanted.build(&Cpu, &Watch::silent()).unwrap();
            assert_eq!(bits(&grown), bits(&whole), "{name}");
            assert_eq!(grown.manifest(), whole.manifest());
            assert_eq!(backend.paths.into_inner(), 26, "{name}: 13 of each design");
            assert_eq!(backend.begun.into_inner(), 13, "{name}: those of all units go on");
        }
    }
}

#[test]
fn paths_that_are_there_are_taken() {
    let problem = GaussianMixture::new(2).bind(Dataset::faithful()).unwrap();
    let anchored = blueprint(&problem, &[Method::Anchored], &|_| ());
    let there = anchored.build(&Cpu, &Watch::silent()).unwrap();
    // The same table again is no work at all.
    let backend = Counting::default();
    let again = anchored.extend(&there, &backend, &Watch::silent()).unwrap();
    assert_eq!((bits(&again), backend.paths.into_inner()), (bits(&there), 0));
    // Another design and more bootstraps are only what is new.
    let more = blueprint(&problem, &[Method::Anchored, Method::Tvb], &|plan| plan.bootstraps = 20);
    let backend = Counting::default();
    let grown = more.extend(&there, &backend, &Watch::silent()).unwrap();
    assert_eq!(bits(&grown), bits(&more.build(&Cpu, &Watch::silent()).unwrap()));
    assert_eq!(backend.paths.into_inner(), 8 + 21);
    // Another seed, model or grid have nothing in common.
    for change in
        [&(|plan: &mut Plan| plan.seed = 4) as Change<'_>, &|plan| plan.grid = 8, &|plan| {
            plan.restarts = Some(1)
        }]
    {
        assert_eq!(blueprint(&problem, &[Method::Anchored], change).known_fits(&there), 0);
    }
    let three = GaussianMixture::new(3).bind(Dataset::faithful()).unwrap();
    assert_eq!(blueprint(&three, &[Method::Anchored], &|_| ()).known_fits(&there), 0);
}

/// A table that was kept in a file has no states: it is built anew, and the answer is the same.
#[cfg(feature = "parquet")]
#[test]
fn a_table_from_a_file_is_built_anew() {
    let folder = tempfile::tempdir().unwrap();
    let place = trustvb::location::Location::from(folder.path().join("first.tvb"));
    let problem = GaussianMixture::new(2).bind(Dataset::faithful()).unwrap();
    let first = blueprint(&problem, &[Method::RECOMMENDED], &|_| ());
    trustvb::table::save(&first.build(&Cpu, &Watch::silent()).unwrap(), &place).unwrap();
    let read = trustvb::table::open(&place).unwrap();
    let wanted = blueprint(&problem, &[Method::Anchored], &|_| ());
    assert_eq!(wanted.known_fits(&read), 0);
    let grown = wanted.extend(&read, &Cpu, &Watch::silent()).unwrap();
    assert_eq!(bits(&grown), bits(&wanted.build(&Cpu, &Watch::silent()).unwrap()));
}
