//! Variational Bayes with intervals whose coverage can be believed.
//!
//! VB fits a mixture quickly, but its intervals are too short where components overlap. This library
//! raises the likelihood to a power ω ≤ 1 (*bend*) and finds, for one scalar `h(θ)` at a time, the ω
//! at which the interval covers what it claims (*mend*). The method is that of Liu & Li, arXiv
//! 2512.22655; `docs/METHOD.md` in the repository has the equations that comments cite as (M1)–(M7).
//!
//! # The flow
//!
//! ```
//! use trustvb::prelude::*;
//!
//! let problem = GaussianMixture::new(2).bind(Dataset::faithful())?;
//! let table = problem.table().methods(&[Method::RECOMMENDED]).bootstraps(200).seed(1).build()?;
//! let answer = table.ask("mu[1,waiting] - mu[2,waiting]")?.level(0.9).recommended()?;
//! assert!(answer.lower < 25.4 && 25.4 < answer.upper);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```text
//! Dataset ─ Model ─ Resamples ─ Backend ─ TvbTable ─ Functional ─ Calibrator ─ Answer
//! ```
//!
//! 1. [`data`] reads CSV and Parquet into a [`data::Dataset`] (rows) or [`data::Grouped`] (groups with a
//!    response).
//! 2. [`model`] binds a prior to data. A [`model::ModelSpec`] is a model's settings without data, a
//!    [`problem::Problem`] the two together.
//! 3. [`fit`] does everything iterative: [`fit::fit`] for one fit, whole paths of ω for tables,
//!    [`fit::Linearisation`] for the influence of units.
//! 4. [`resample`] turns (seed, design, replicate) into weights on units.
//! 5. [`backend`] runs a batch of paths; [`backend::Cpu`] does so on all cores.
//! 6. [`table`] keeps the fits, in memory ([`table::TableRequest`]) or on disk
#![cfg_attr(feature = "parquet", doc = "   ([`table::Blueprint::build_in`], [`table::open`]).")]
#![cfg_attr(not(feature = "parquet"), doc = "   (with the feature `parquet`).")]
//! 7. [`functional`] parses what is asked, such as `mu[1,waiting] - mu[2,waiting]`, and finds its law.
//! 8. [`calibrate`] gives the interval with its evidence and its [`calibrate::Flag`]s; [`calibrate::Method`] lists how.
//! 9. [`answers`] are their JSON, CSV and sentences.
//! 10. [`predict`] says what a fit makes of units it has not seen.
//! 11. [`select`] compares numbers of components and shapes of covariances.
//! 12. [`study`] simulates data with known truth and finds out what the intervals are worth.
//!
//! A posterior is a product of named blocks of standard families ([`posterior`]); [`special`] and
//! [`linalg`] hold the numerics beneath, [`random`] the streams that make a seed a promise.
//!
//! # Features
//!
//! | feature | gives | costs |
//! |---|---|---|
//! | `parquet`, on by default | Parquet files as data, and with them tables and studies that are kept on disk | 30 crates, zstd in C among them |
//! | `remote` | tables in object stores (`s3://`, `gs://`, `az://`), and `parquet` | 100 crates more: an HTTP client with TLS, partly in C |
//!
//! Without features there is CSV, everything that is computed, and tables in memory; nothing of it is written in C.

// Says on docs.rs which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

pub mod answers;
pub mod backend;
pub mod calibrate;
pub mod data;
pub mod defaults;
pub mod fit;
pub mod functional;
#[cfg(feature = "parquet")]
pub mod groups;
mod hash;
pub mod linalg;
#[cfg(feature = "parquet")]
pub mod location;
pub mod memory;
pub mod model;
pub mod posterior;
pub mod predict;
pub mod prelude;
pub mod problem;
pub mod random;
pub mod remedy;
pub mod resample;
#[doc(hidden)]
pub mod roofline;
pub mod select;
#[allow(unsafe_code)]
mod simd;
pub mod special;
#[cfg(feature = "parquet")]
mod store;
pub mod study;
pub mod table;
pub mod weights;

/// The Rust of both READMEs, as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../README.md")]
struct Readme;
