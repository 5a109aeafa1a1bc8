//! Special functions and the distributions built on them, accurate in the tails and at large shapes.
//!
//! These are written by hand because every crate we measured fails somewhere we need: `statrs` puts the
//! 0.975 quantile of a t with 1e7 degrees of freedom at 1.8266 instead of 1.95996, `statrs` and `special`
//! miss the same quantile of Beta(0.001, 5) by a factor of 78, and others stop or panic at large shapes.
//!
//! Three ideas carry all of it. Prefactors such as `x^a e^-x / Γ(a)` are written as a Stirling error and
//! a deviance, which do not cancel at large shapes (Loader 2000). Every distribution function is computed
//! as a pair of tails, the smaller one directly and the other as its complement, from arguments that are
//! given together with their complements. Quantiles are found on the log or logit scale, where the
//! logarithm of a tail is concave and Newton's method converges from anywhere.

pub mod beta;
pub mod gamma;
pub mod gamma_dist;
pub mod normal;
mod root;
pub mod student;
mod tail;

#[cfg(test)]
mod tests;
