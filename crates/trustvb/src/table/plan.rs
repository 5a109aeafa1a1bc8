//! What a user may say about a table, with the usual value for all that is left unsaid.

use super::{OmegaGrid, Replicates, Settings};
use crate::calibrate::Method;
use crate::defaults;
use crate::fit::{FitOptions, Matching, PathOptions, ReplicateStart, Start, Stopping};
use crate::model::ModelSpec;
use crate::remedy::{Advise, Remedy, Setting};
use crate::resample::{Design, GivenResamples, Resamples, Subsets};

/// Wishes that become [`Settings`] and [`Resamples`]; the same for every way of asking.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The designs that are needed: those of the methods to be asked.
    pub designs: Vec<Design>,
    /// Whether anything but ω = 1 will be asked.
    pub needs_grid: bool,
    /// Designs of whose bootstraps nothing but ω = 1 will be asked, although others have a grid.
    pub at_one: Vec<Design>,
    /// Points of the grid.
    pub grid: usize,
    /// The smallest ω.
    pub omega_min: f64,
    /// Bootstraps of each design, unless the user gives their own.
    pub bootstraps: u32,
    /// A new split and new bootstraps at every ω.
    pub fresh_splits: bool,
    /// Draw bootstraps of all units from subsets.
    pub subsets: Option<Subsets>,
    /// The user's own resamples.
    pub given: Option<GivenResamples>,
    /// How components are numbered.
    pub matching: Option<Matching>,
    /// Starts of each replicate's own, instead of the full-data fit.
    pub restarts: Option<usize>,
    /// Everything as the paper's code had it, unless said otherwise.
    pub published: bool,
    /// Seed of everything random.
    pub seed: u64,
    /// Where the full-data fit begins.
    pub start: Start,
    /// How each fit iterates; as published there is no choice.
    pub fit: FitOptions,
}

/// Points that a grid may have: beyond, they are closer than fits can tell.
pub const MAX_GRID: usize = 100_000;

/// Bootstraps that a design may have.
pub const MAX_BOOTSTRAPS: u32 = 10_000_000;

/// Units that a subset must have.
const SMALLEST_SUBSET: u32 = 200;

impl Plan {
    /// The usual table for these designs.
    pub fn new(seed: u64, designs: Vec<Design>) -> Plan {
        Plan {
            designs,
            needs_grid: true,
            at_one: Vec::new(),
            grid: defaults::GRID,
            omega_min: defaults::OMEGA_MIN,
            bootstraps: defaults::BOOTSTRAPS,
            fresh_splits: false,
            subsets: None,
            given: None,
            matching: None,
            restarts: None,
            published: false,
            seed,
            start: Start::KMeans { restarts: defaults::STARTS, seed },
            fit: FitOptions {
                stopping: Stopping::Relative(defaults::TABLE_TOLERANCE),
                ..FitOptions::default()
            },
        }
    }

    /// The usual table for these methods.
    pub fn for_methods(seed: u64, methods: &[Method]) -> Plan {
        let mut plan = Plan::new(seed, Vec::new());
        plan.serve(methods);
        plan
    }

    /// Asks for what these methods need, and for no more.
    pub fn serve(&mut self, methods: &[Method]) {
        self.designs = methods.iter().filter_map(|method| method.design()).collect();
        let on_grid: Vec<Design> = methods
            .iter()
            .filter(|method| method.needs_grid())
            .filter_map(|method| method.design())
            .collect();
        self.needs_grid = !on_grid.is_empty();
        self.at_one = [Design::Full, Design::Split]
            .into_iter()
            .filter(|design| self.designs.contains(design) && !on_grid.contains(design))
            .collect();
    }

    /// Refuses wishes that do not go together, or that no table can hold.
    fn check(&self) -> Result<(), PlanError> {
        let too_many = |setting, given: u64, most: u64| PlanError::TooMany { setting, given, most };
        if self.grid > MAX_GRID {
            return Err(too_many(Setting::Grid, self.grid as u64, MAX_GRID as u64));
        }
        if self.bootstraps > MAX_BOOTSTRAPS {
            return Err(too_many(
                Setting::Bootstraps,
                self.bootstraps.into(),
                MAX_BOOTSTRAPS.into(),
            ));
        }
        if let Some(subsets) = self.subsets.filter(|subsets| subsets.count > MAX_BOOTSTRAPS) {
            return Err(too_many(Setting::Subsets, subsets.count.into(), MAX_BOOTSTRAPS.into()));
        }
        if self.fresh_splits && self.given.is_some() {
            return Err(PlanError::FreshAndGiven);
        }
        if let Some(subsets) = self.subsets {
            if self.given.is_some() {
                return Err(PlanError::SubsetsAndGiven);
            }
            if self.designs.contains(&Design::Split) {
                return Err(PlanError::SubsetsAndSplits);
            }
            if subsets.count == 0 || subsets.size < SMALLEST_SUBSET {
                return Err(PlanError::SmallSubsets { size: subsets.size, count: subsets.count });
            }
        }
        Ok(())
    }

    /// The settings of a table for `model`, and its resamples.
    pub fn settings(self, model: ModelSpec) -> Result<(Settings, Resamples), PlanError> {
        self.check()?;
        let needed = |design: Design| -> u32 {
            if !self.designs.contains(&design) {
                return 0;
            }
            match self.given.as_ref().map(|given| given.bootstraps(design)) {
                Some(n) if n > 0 => n as u32,
                _ => self.bootstraps,
            }
        };
        let replicates = Replicates { full: needed(Design::Full), split: needed(Design::Split) };
        let omegas = if !self.needs_grid || replicates.full + replicates.split == 0 {
            vec![1.0]
        } else {
            if self.grid > 1 && self.omega_min >= 1.0 {
                return Err(PlanError::NoRoom);
            }
            OmegaGrid { points: self.grid, min: self.omega_min }.omegas()
        };
        // Where the grid is one point, nothing is left out.
        let has = |design: &Design| match design {
            Design::Full => replicates.full > 0,
            Design::Split => replicates.split > 0,
            Design::Subset => false,
        };
        let at_one = match omegas.len() {
            1 => Vec::new(),
            _ => self.at_one.iter().copied().filter(has).collect(),
        };
        let path = PathOptions {
            fit: if self.published {
                FitOptions {
                    stopping: Stopping::AbsoluteBound(1e-4),
                    max_sweeps: 200,
                    acceleration: 0,
                    trace: false,
                }
            } else {
                self.fit
            },
            matching: self.matching.unwrap_or(if self.published {
                Matching::Weight
            } else {
                Matching::Assignment
            }),
            start: match (self.restarts, self.published) {
                (Some(n), _) => ReplicateStart::Restarts(n),
                (None, true) => ReplicateStart::ColdEveryOmega,
                (None, false) => ReplicateStart::Warm,
            },
            seed: self.seed,
        };
        let settings = Settings {
            model,
            omegas,
            omega_min: self.omega_min,
            replicates,
            at_one,
            bootstraps: self.bootstraps,
            fresh_splits: self.fresh_splits,
            subsets: self.subsets.filter(|_| replicates.full > 0),
            resamples: self.given.as_ref().map(GivenResamples::hash),
            seed: self.seed,
            start: self.start,
            path,
            published_intervals: self.published,
        };
        let resamples = Resamples::new(self.seed, self.fresh_splits, self.given);
        Ok((settings, resamples.with_subsets(self.subsets)))
    }
}

/// Wishes that do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Fresh splits and given ones.
    #[error("fresh splits are drawn anew at every ω, so they cannot go with resamples of your own")]
    FreshAndGiven,
    /// Little bootstraps and given ones.
    #[error("subsets have bootstraps of their own, so they cannot go with resamples of your own")]
    SubsetsAndGiven,
    /// Little bootstraps of half samples.
    #[error("bootstraps from subsets are of all units, and tvb needs those of half samples")]
    SubsetsAndSplits,
    /// Too few units for it.
    #[error(
        "{count} subsets would have {size} units each (the number of units to the power 0.7), and at least \
         {SMALLEST_SUBSET} are needed; with so few units, bootstraps of all of them are quick"
    )]
    SmallSubsets {
        /// Units in a subset.
        size: u32,
        /// Subsets.
        count: u32,
    },
    /// More than a table can have.
    #[error("{given} {}: there can be at most {most}", setting.noun())]
    TooMany {
        /// Of what.
        setting: Setting,
        /// As it was given.
        given: u64,
        /// The most there can be.
        most: u64,
    },
    /// A grid from 1 to 1.
    #[error("a smallest ω of 1 leaves no room for a grid")]
    NoRoom,
    /// Resamples of all of many rows that are not in memory.
    #[error("a resample has a weight for every row, and the rows are not in memory")]
    Far,
}

impl Advise for PlanError {
    fn remedies(&self) -> Vec<Remedy> {
        let only = match self {
            PlanError::FreshAndGiven => {
                Remedy::LeaveOut(&[Setting::FreshSplits, Setting::Resamples])
            }
            PlanError::SubsetsAndGiven => Remedy::LeaveOut(&[Setting::Subsets, Setting::Resamples]),
            PlanError::SubsetsAndSplits => Remedy::Methods(&["recommended", "vb"]),
            PlanError::SmallSubsets { .. } => Remedy::LeaveOut(&[Setting::Subsets]),
            PlanError::TooMany { setting, .. } => Remedy::Fewer(*setting),
            PlanError::NoRoom => Remedy::RoomForGrid,
            PlanError::Far => {
                return vec![Remedy::LittleBootstraps, Remedy::Methods(&["jackknife", "vb"])];
            }
        };
        vec![only]
    }
}
