//! What is meant where nothing is said: one list for the library, the command, study files and Python.

/// Components of a mixture.
pub const COMPONENTS: usize = 2;
/// Level of an interval.
pub const LEVEL: f64 = 0.95;
/// Seed of everything random.
pub const SEED: u64 = 1;
/// Bootstraps of each design.
pub const BOOTSTRAPS: u32 = 500;
/// Points of the grid of ω.
pub const GRID: usize = 100;
/// Points of the grid for the built-in data with all settings of the paper.
pub const PUBLISHED_GRID: usize = 500;
/// The smallest ω.
pub const OMEGA_MIN: f64 = 0.001;
/// Starts of the full-data fit, of which the best wins.
pub const STARTS: usize = 10;
/// The relative change at which a single fit has converged.
pub const TOLERANCE: f64 = 1e-10;
/// The relative change at which fits of a table have converged.
pub const TABLE_TOLERANCE: f64 = 1e-8;
/// Sweeps after which a fit gives up.
pub const MAX_SWEEPS: usize = 2000;
/// States that Anderson acceleration combines.
pub const ACCELERATION: usize = 5;
/// Draws behind each law that has no exact form.
pub const DRAWS: usize = 500;
/// Threads that anybody may ask for: results do not depend on them, and no machine has more cores.
pub const MAX_THREADS: usize = 1024;
/// Rows that a group must have.
pub const MIN_GROUP_ROWS: usize = 1;
