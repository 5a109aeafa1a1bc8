//! Variational Bayes with intervals whose coverage can be believed.

pub mod data;
pub mod fit;
pub mod linalg;
pub mod model;
pub mod posterior;
pub mod random;
mod simd;
pub mod special;

/// The README's Rust, run as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct ReadmeDoctests;
