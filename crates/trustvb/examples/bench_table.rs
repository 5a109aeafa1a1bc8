//! Builds one table several times and prints the seconds of each build, for `benches/python_overhead.py`.
//!
//! Usage: `bench_table DATA.csv GRID BOOTSTRAPS REPEATS`; both designs, one thread for each core that rayon
//! is given.

#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::error::Error;
use std::path::Path;
use std::time::Instant;
use trustvb::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [path, grid, bootstraps, repeats] = words.as_slice() else {
        return Err("usage: bench_table DATA.csv GRID BOOTSTRAPS REPEATS".into());
    };
    let data = read_path(Path::new(path), &ReadOptions::default())?.into_dataset()?;
    let (grid, bootstraps) = (grid.parse()?, bootstraps.parse()?);
    for _ in 0..repeats.parse()? {
        let problem = GaussianMixture::new(2).bind(data.clone())?;
        let began = Instant::now();
        let table = problem.table().grid(grid).bootstraps(bootstraps).build()?;
        println!("{}", began.elapsed().as_secs_f64());
        drop(table);
    }
    Ok(())
}
