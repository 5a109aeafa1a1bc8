//! The seam of backends: one that makes the sweeps of many paths together gives the bits of the one that walks them
//! one by one, whatever a path does.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::tables::bits;
use common::{dataset, fixture};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use trustvb::backend::{Backend, Cpu, Job, Sink, Work};
use trustvb::fit::Walk;
use trustvb::prelude::*;
use trustvb::resample::Design;
use trustvb::table::{Plan, Watch};

/// All paths advance together, a sweep each, as they would on a device: its one sweeper is loaded with a path's weights
/// for every sweep, and knows nothing of fits.
#[derive(Default)]
struct Lockstep {
    /// Rounds in which more than one path made a sweep.
    together: AtomicUsize,
}

impl Backend for Lockstep {
    fn name(&self) -> &'static str {
        "lockstep"
    }

    fn run(&self, work: &Work<'_>, jobs: &[Job], _: &AtomicBool, sink: &Sink<'_>) {
        let mut device = work.model.sweeper();
        let mut walks: Vec<(Job, Walk<'_>)> =
            jobs.iter().map(|&job| (job, work.walk(job))).collect();
        loop {
            let mut made = 0;
            for (_, walk) in &mut walks {
                let weights = walk.weights().to_vec();
                let Some(sweep) = walk.wants() else { continue };
                made += 1;
                if sweep.staggered {
                    walk.step();
                    continue;
                }
                let result = device.load(Some(&weights)).and_then(|()| sweep.make(device.as_mut()));
                walk.take(result);
            }
            match made {
                0 => break,
                1 => (),
                _ => _ = self.together.fetch_add(1, Ordering::Relaxed),
            }
        }
        for (job, walk) in walks {
            if let ControlFlow::Break(()) = sink(job, walk.into_fits()) {
                return;
            }
        }
    }
}

/// The same plan by both.
fn both(problem: &Problem, plan: Plan) {
    let blueprint = problem.table().plan(plan).check().unwrap();
    let lockstep = Lockstep::default();
    let one_by_one = blueprint.build(&Cpu, &Watch::silent()).unwrap();
    let together = blueprint.build(&lockstep, &Watch::silent()).unwrap();
    assert!(lockstep.together.into_inner() > 1);
    assert!(bits(&one_by_one) == bits(&together));
}

fn plan(designs: &[Design]) -> Plan {
    Plan { grid: 25, bootstraps: 12, ..Plan::new(3, designs.to_vec()) }
}

const DESIGNS: [Design; 2] = [Design::Full, Design::Split];

#[test]
fn warm_paths_are_the_same() {
    let problem = GaussianMixture::new(2).bind(Dataset::faithful()).unwrap();
    both(&problem, plan(&DESIGNS));
    let frame = read_path(&fixture("bmlr_small.csv"), &ReadOptions::default()).unwrap();
    let problem = RegressionMixture::new(2, "y ~ 0 + x1 + x2 | group").bind(&frame).unwrap();
    both(&problem, plan(&DESIGNS));
}

#[test]
fn restarts_fresh_splits_and_published_fits_are_the_same() {
    let problem = GaussianMixture::new(3).bind(dataset("sim3x3.csv")).unwrap();
    both(&problem, Plan { restarts: Some(3), ..plan(&DESIGNS) });
    both(&problem, Plan { fresh_splits: true, ..plan(&[Design::Split]) });
    let problem = GaussianMixture::new(2)
        .prior(trustvb::model::GmmPrior::paper())
        .bind(Dataset::faithful())
        .unwrap();
    both(&problem, Plan { published: true, grid: 8, bootstraps: 4, ..plan(&DESIGNS) });
}

#[test]
fn components_that_empty_and_fits_that_fail_are_the_same() {
    // Two rows in three are alike: resamples have components without spread, and small ω none at all.
    let x: Vec<f64> = (0..30).map(|i| if i % 3 == 0 { f64::from(i) } else { 1.0 }).collect();
    let data = Dataset::from_columns(vec!["x".to_owned()], vec![x]).unwrap();
    let problem = GaussianMixture::new(4).bind(data).unwrap();
    both(&problem, plan(&DESIGNS));
}
