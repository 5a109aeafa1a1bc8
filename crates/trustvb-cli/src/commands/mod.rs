//! One file per command.

pub(crate) mod by;
pub(crate) mod calibrate;
pub(crate) mod explore;
pub(crate) mod fit;
pub(crate) mod interval;
pub(crate) mod manual;
pub(crate) mod report;
pub(crate) mod select;
pub(crate) mod simulate;
pub(crate) mod slurm;
pub(crate) mod study;
pub(crate) mod table;

mod plot;
