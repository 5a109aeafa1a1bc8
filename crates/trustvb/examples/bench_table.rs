//! Builds one table several times and prints the seconds of each build, for `benches/python_overhead.py`.
//!
//! Usage: `bench_table DATA.csv GRID BOOTSTRAPS REPEATS`; both designs, one thread for each core that rayon
//! is given.

#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::error::Error;
use std::path::Path;
use std::time::Instant;
use trustvb::backend::Cpu;
use trustvb::data::{ReadOptions, read_path};
use trustvb::model::{GaussianMixture, ModelData, ModelSpec};
use trustvb::resample::Design;
use trustvb::table::{Plan, Watch, build};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [path, grid, bootstraps, repeats] = words.as_slice() else {
        return Err("usage: bench_table DATA.csv GRID BOOTSTRAPS REPEATS".into());
    };
    let data = read_path(Path::new(path), &ReadOptions::default())?.into_dataset()?;
    let (grid, bootstraps) = (grid.parse()?, bootstraps.parse()?);
    for _ in 0..repeats.parse()? {
        let spec = ModelSpec::from(GaussianMixture::new(2));
        let data = ModelData::Rows(data.clone());
        let model = spec.build(&data)?;
        let plan = Plan { grid, bootstraps, ..Plan::new(1, vec![Design::Full, Design::Split]) };
        let began = Instant::now();
        let (settings, resamples) = plan.settings(spec)?;
        let table = build(settings, model.as_ref(), data, &resamples, &Cpu, &Watch::silent())?;
        println!("{}", began.elapsed().as_secs_f64());
        drop(table);
    }
    Ok(())
}
