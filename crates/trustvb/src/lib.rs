//! Variational Bayes with intervals whose coverage can be believed.

pub mod backend;
pub mod calibrate;
pub mod data;
pub mod fit;
pub mod functional;
mod hash;
pub mod linalg;
pub mod model;
pub mod posterior;
pub mod random;
pub mod resample;
mod simd;
pub mod special;
pub mod table;
