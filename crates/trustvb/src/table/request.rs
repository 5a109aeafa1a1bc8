//! A table that is asked for, and one that can be built: from wishes to settings that were checked.

use super::{BuildError, Manifest, Plan, PlanError, Settings, TvbTable, Watch, build};
use crate::backend::{Backend, Cpu};
use crate::calibrate::Method;
use crate::defaults;
use crate::fit::Start;
use crate::problem::Problem;
use crate::resample::Resamples;

/// A table that is asked for: what is left unsaid has its usual value.
///
/// ```
/// use trustvb::prelude::*;
///
/// let problem = GaussianMixture::new(2).bind(Dataset::faithful())?;
/// let table = problem.table().methods(&[Method::RECOMMENDED]).bootstraps(100).seed(1).build()?;
/// let answer = table.ask("pi[1]")?.level(0.95).recommended()?;
/// assert!(answer.lower < 0.642 && 0.642 < answer.upper);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TableRequest<'a> {
    problem: &'a Problem,
    plan: Plan,
    /// Whether methods were named.
    is_named: bool,
}

impl<'a> TableRequest<'a> {
    pub(crate) fn new(problem: &'a Problem) -> TableRequest<'a> {
        TableRequest { problem, plan: Plan::new(defaults::SEED, Vec::new()), is_named: false }
    }

    /// For these methods, and no more than they need. Without them it is for those of [`Plan::usual`].
    pub fn methods(mut self, methods: &[Method]) -> Self {
        self.plan.serve(methods);
        self.is_named = true;
        self
    }

    /// So many bootstraps of each design.
    pub fn bootstraps(mut self, bootstraps: u32) -> Self {
        self.plan.bootstraps = bootstraps;
        self
    }

    /// So many points of the grid of ω.
    pub fn grid(mut self, points: usize) -> Self {
        self.plan.grid = points;
        self
    }

    /// The smallest ω.
    pub fn omega_min(mut self, omega: f64) -> Self {
        self.plan.omega_min = omega;
        self
    }

    /// Seed of everything random.
    pub fn seed(mut self, seed: u64) -> Self {
        self.plan.seed = seed;
        if let Start::KMeans { seed: own, .. } = &mut self.plan.start {
            *own = seed;
        }
        self
    }

    /// All wishes at once.
    pub fn plan(mut self, plan: Plan) -> Self {
        self.plan = plan;
        self.is_named = true;
        self
    }

    /// Checks the wishes.
    pub fn check(mut self) -> Result<Blueprint, PlanError> {
        if !self.is_named {
            let usual = self.plan.usual(self.problem, false);
            self.plan.serve(&usual.methods);
        }
        let resamples_all = !self.plan.designs.is_empty() && self.plan.subsets.is_none();
        if self.problem.data().is_far() && resamples_all {
            return Err(PlanError::Far);
        }
        let (settings, resamples) = self.plan.settings(self.problem.spec().clone())?;
        Ok(Blueprint { problem: self.problem.clone(), settings, resamples })
    }

    /// Builds it in memory, on all cores.
    pub fn build(self) -> Result<TvbTable, BuildError> {
        self.check()?.build(&Cpu, &Watch::silent())
    }
}

/// A table that can be built: a problem, settings that were checked, and their resamples.
#[derive(Clone, Debug)]
pub struct Blueprint {
    /// What is fitted.
    pub problem: Problem,
    /// What the table is made with.
    pub settings: Settings,
    /// Where weights come from.
    pub resamples: Resamples,
}

impl Blueprint {
    /// What the table will say of itself.
    pub fn manifest(&self) -> Manifest {
        Manifest::new(self.settings.clone(), &self.problem)
    }

    /// Builds the table in memory.
    pub fn build(&self, backend: &dyn Backend, watch: &Watch<'_>) -> Result<TvbTable, BuildError> {
        build::build(self, backend, watch)
    }
}
