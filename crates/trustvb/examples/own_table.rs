//! A table that is kept and asked later: `cargo run --release -p trustvb --example own_table -- folder.tvb`.
//!
//! Run it again and nothing is fitted: the parts are there.

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;
use std::path::Path;
use trustvb::backend::Cpu;
use trustvb::prelude::*;
use trustvb::table::{Shard, Watch, open};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "faithful.tvb".to_owned());
    let place = Location::from_argument(Path::new(&folder))?;
    let problem = GaussianMixture::new(2).bind(Dataset::faithful())?;
    let blueprint = problem.table().bootstraps(200).grid(30).seed(1).check()?;
    blueprint.build_in(&place, true, Shard::default(), &Cpu, &Watch::silent())?;
    let table = open(&place)?;
    for quantity in ["pi[1]", "mu[1,waiting] - mu[2,waiting]", "log(sd[1,eruptions])"] {
        let answer = table.ask(quantity)?.recommended()?;
        println!("{quantity}: {:.3} [{:.3}, {:.3}]", answer.estimate, answer.lower, answer.upper);
    }
    Ok(())
}
