//! Variational Bayes with intervals whose coverage can be believed.

pub mod data;
pub mod fit;
pub mod functional;
pub mod linalg;
pub mod model;
pub mod posterior;
pub mod random;
mod simd;
pub mod special;
