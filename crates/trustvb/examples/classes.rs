//! Latent classes from a file with text, numbers and gaps: `cargo run --release -p trustvb --example classes -- data.csv 3`.
//!
//! Without arguments: a small questionnaire that is made up here.

#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;
use std::path::Path;
use trustvb::data::read_csv;
use trustvb::model::ColumnMixture;
use trustvb::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let options = ReadOptions { as_text: true, keep_missing: true, ..ReadOptions::default() };
    let (frame, classes) = match words.as_slice() {
        [] => (read_csv(questionnaire().as_bytes(), "questionnaire", &options)?, 2),
        [path, classes] => (read_path(Path::new(path), &options)?, classes.parse()?),
        _ => return Err("usage: classes [DATA.csv CLASSES]".into()),
    };
    let problem = ColumnMixture::new(classes).bind(&frame, &[])?;
    println!("{}", problem.spec().in_words(&problem.data().variables()));
    let table = problem.table().methods(&[Method::RECOMMENDED]).build()?;
    for functional in trustvb::functional::Functional::defaults(table.layout()) {
        let answer = table.ask(functional.text())?.recommended()?;
        println!(
            "{}: {:.3} [{:.3}, {:.3}]",
            answer.label, answer.estimate, answer.lower, answer.upper
        );
    }
    Ok(())
}

/// 120 answers of two kinds of people, a few of them missing.
fn questionnaire() -> String {
    let mut text = String::from("sport,fruit,sleep\n");
    for i in 0..120 {
        let active = i % 3 != 0;
        let yes = |odd: usize| if active == (i % odd != 0) { "yes" } else { "no" };
        let sport = if i % 17 == 0 { "" } else { yes(7) };
        let sleep = 6.5 + f64::from(u8::from(active)) + (i % 11) as f64 / 10.0;
        text += &format!("{sport},{},{sleep:.1}\n", yes(5));
    }
    text
}
