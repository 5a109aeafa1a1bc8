//! What the R package asks of the library. It converts and forwards; all statistics are in `trustvb`, all convenience
//! in the package's own R code.

mod about;
mod answers;
mod engine;
mod errors;
mod frame;
mod function;
mod options;
mod predict;
mod select;
mod tables;
mod values;
mod work;
