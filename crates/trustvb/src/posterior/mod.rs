//! What a fit says about its parameters.

pub mod marginal;

pub use marginal::Marginal;
