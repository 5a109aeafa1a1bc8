//! Variational Bayes with intervals whose coverage can be believed.
//!
//! VB fits a mixture quickly, but its intervals are too short where components overlap. This library
//! raises the likelihood to a power ω ≤ 1 (*bend*) and finds, for one scalar `h(θ)` at a time, the ω
//! at which the interval covers what it claims (*mend*). The method is that of Liu & Li, arXiv
//! 2512.22655; `docs/METHOD.md` in the repository has the equations that comments cite as (M1)–(M6).
//!
//! # The flow
//!
//! ```text
//! Dataset ─ Model ─ Resamples ─ Backend ─ TvbTable ─ Functional ─ Calibrator ─ Answer
//! ```
//!
//! 1. [`data`] reads CSV and Parquet into a [`data::Dataset`] (rows) or [`data::Grouped`] (groups with a
//!    response).
//! 2. [`model`] binds a prior to data. A [`model::ModelSpec`] is a model's settings without data, and
//!    [`model::ModelSpec::build`] gives the [`model::Model`].
//! 3. [`fit`] does everything iterative: [`fit::fit`] for one fit, whole paths of ω for tables,
//!    [`fit::Linearisation`] for the influence of units.
//! 4. [`resample`] turns (seed, design, replicate) into weights on units.
//! 5. [`backend`] runs a batch of paths; [`backend::Cpu`] does so on all cores.
//! 6. [`table`] keeps the fits, in memory ([`table::build`]) or on disk
#![cfg_attr(feature = "parquet", doc = "   ([`table::build_on_disk`], [`table::open`]).")]
#![cfg_attr(not(feature = "parquet"), doc = "   (with the feature `parquet`).")]
//! 7. [`functional`] parses what is asked, such as `mu[1,waiting] - mu[2,waiting]`, and finds its law.
//! 8. [`calibrate`] chooses ω and gives the interval with its evidence and its [`calibrate::Flag`]s.
//! 9. [`predict`] says what a fit makes of units it has not seen.
//! 10. [`study`] simulates data with known truth and finds out what the intervals are worth.
//!
//! A posterior is a product of named blocks of standard families ([`posterior`]); [`special`] and
//! [`linalg`] hold the numerics beneath, [`random`] the streams that make a seed a promise.
//!
//! # Example
//!
//! One VB fit of the built-in Old Faithful data, and the exact law of the first weight. It is *not*
//! calibrated; the README goes on to a table and a calibrated interval.
//!
//! ```
//! use trustvb::data::Dataset;
//! use trustvb::fit::{FitOptions, Start, fit};
//! use trustvb::functional::Functional;
//! use trustvb::model::{Gmm, GmmPrior, Update};
//!
//! let model = Gmm::new(&Dataset::faithful(), 2, GmmPrior::default(), Update::Corrected)?;
//! let start = Start::KMeans { restarts: 5, seed: 1 };
//! let fit = fit(&model, None, 1.0, &start, &FitOptions::default(), &mut |_| ())?;
//!
//! let weight = Functional::parse("pi[1]", fit.posterior.layout())?;
//! let law = weight.parts()[0].exact().expect("a weight has a Beta law");
//! let (lower, upper) = law.interval(fit.posterior.parameters(), 0.95);
//! assert!(lower < 0.642 && 0.642 < upper);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! `parquet` (on by default): Parquet files, and with them tables on disk. `remote`: tables in object stores.

#![deny(unsafe_code)]

pub mod backend;
pub mod calibrate;
pub mod data;
pub mod fit;
pub mod functional;
mod hash;
pub mod linalg;
#[cfg(feature = "parquet")]
pub mod location;
pub mod memory;
pub mod model;
pub mod posterior;
pub mod predict;
pub mod random;
pub mod resample;
#[doc(hidden)]
pub mod roofline;
#[allow(unsafe_code)]
mod simd;
pub mod special;
#[cfg(feature = "parquet")]
mod store;
pub mod study;
pub mod table;

/// The README's Rust, as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
