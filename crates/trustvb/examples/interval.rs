//! The interval to use for one quantity: `cargo run --release -p trustvb --example interval -- data.csv 3 'mu[1,x]'`.
//!
//! Without arguments: the weight of the heavier of two Gaussians in the built-in Old Faithful data.

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;
use std::path::Path;
use trustvb::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (data, components, quantity) = match words.as_slice() {
        [] => (Dataset::faithful(), 2, "pi[1]"),
        [path, components, quantity] => {
            let frame = read_path(Path::new(path), &ReadOptions::default())?;
            (frame.into_dataset()?, components.parse()?, quantity.as_str())
        }
        _ => return Err("usage: interval [DATA.csv COMPONENTS QUANTITY]".into()),
    };
    let problem = GaussianMixture::new(components).bind(data)?;
    let table = problem.table().methods(&[Method::RECOMMENDED, Method::Vb]).build()?;
    for answer in table.ask(quantity)?.level(0.95).by(&[Method::RECOMMENDED, Method::Vb])? {
        println!(
            "{:9} {}: [{:.4}, {:.4}]",
            answer.method, answer.label, answer.lower, answer.upper
        );
        for flag in &answer.flags {
            println!("          {}: {}", flag.name(), flag.sentence());
        }
    }
    Ok(())
}
