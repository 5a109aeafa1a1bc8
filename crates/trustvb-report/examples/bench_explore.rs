//! Times the explorer's answers, for `cargo xtask bench`: one line of JSON per measurement.
//!
//! The table is that of the paper's Old Faithful analysis, 500 ω × 501 fits × 2 designs. Questions go through
//! HTTP as the page's do, and come back with numbers and figures.

#![allow(clippy::print_stdout, reason = "an example prints")]

use serde_json::{Value, json};
use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Instant;
use trustvb::answers::usual_methods;
use trustvb::prelude::*;
use trustvb_report::explore::{ExploreOptions, Explorer};

/// Quantities with an exact law.
const EXACT: [&str; 10] = [
    "pi[1]",
    "pi[2]",
    "logit(pi[1])",
    "pi[1]/pi[2]",
    "mu[1,eruptions]",
    "mu[1,waiting]",
    "mu[2,waiting]",
    "mu[1,waiting] - 10*mu[1,eruptions]",
    "sd[1,waiting]",
    "log(sd[2,eruptions])",
];

/// Quantities that need draws.
const DRAWN: [&str; 7] = [
    "mu[1,waiting] - mu[2,waiting]",
    "mu[1,eruptions] - mu[2,eruptions]",
    "mu[1,waiting]/mu[2,waiting]",
    "cor[1,eruptions,waiting]",
    "cor[2,eruptions,waiting]",
    "sd[1,waiting]/sd[2,waiting]",
    "pi[1]*mu[1,waiting] + pi[2]*mu[2,waiting]",
];

fn table() -> Result<TvbTable, Box<dyn Error>> {
    let problem = GaussianMixture::new(2).bind(Dataset::faithful())?;
    let methods = [Method::Tvb, Method::Anchored];
    Ok(problem.table().methods(&methods).grid(500).build()?)
}

/// What the page asks for when it opens.
const FIRST: [&str; 6] =
    ["pi[1]", "pi[2]", "mu[1,eruptions]", "mu[1,waiting]", "mu[2,eruptions]", "mu[2,waiting]"];

/// Seconds until the whole answer is there.
fn ask(address: &str, path: &str, question: &Value) -> Result<f64, Box<dyn Error>> {
    let body = question.to_string();
    let began = Instant::now();
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )?;
    let mut reader = BufReader::new(stream);
    let mut status = String::new();
    reader.read_line(&mut status)?;
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest)?;
    let seconds = began.elapsed().as_secs_f64();
    if !status.contains(" 200 ") {
        return Err(format!("{question}: {status}{}", String::from_utf8_lossy(&rest)).into());
    }
    Ok(seconds)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

fn report(what: &str, value: f64, unit: &str) {
    println!("{}", json!({ "what": what, "value": value, "unit": unit }) as Value);
}

fn main() -> Result<(), Box<dyn Error>> {
    let table = table()?;
    let methods: Vec<&str> = usual_methods(&table).iter().map(|m| m.name()).collect();
    let options = ExploreOptions { bind: "127.0.0.1".parse()?, port: 0, token: false, draws: 500 };
    let explorer = Explorer::new(vec![("faithful.tvb".to_owned(), table)], &options)?;
    let url = explorer.url();
    let address = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
    std::thread::spawn(move || explorer.serve(std::future::pending()));

    let first = json!({ "table": 0, "functionals": FIRST, "level": 0.95, "methods": methods });
    let seconds = ask(&address, "/api/overview", &first)?;
    report("the first screen, six quantities", 1e3 * seconds, "ms");
    let one = |functional: &str, level: f64| json!({ "table": 0, "functional": functional, "level": level, "methods": methods });
    for (what, functionals) in [("an exact law", &EXACT[..]), ("draws", &DRAWN[..])] {
        let mut first = Vec::new();
        let mut moved = Vec::new();
        for functional in functionals {
            first.push(ask(&address, "/api/ask", &one(functional, 0.95))?);
            for level in [0.94, 0.93, 0.92, 0.91, 0.9] {
                moved.push(ask(&address, "/api/ask", &one(functional, level))?);
            }
        }
        let (n, unit) = (first.len(), "ms");
        let worst = first.iter().copied().fold(0.0, f64::max);
        report(&format!("a new quantity with {what}, median of {n}"), 1e3 * median(first), unit);
        report(&format!("a new quantity with {what}, the slowest"), 1e3 * worst, unit);
        report(
            &format!("another level of a quantity with {what}, median"),
            1e3 * median(moved),
            unit,
        );
    }
    Ok(())
}
