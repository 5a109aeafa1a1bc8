//! Variational Bayes with intervals whose coverage can be believed.

pub mod data;
