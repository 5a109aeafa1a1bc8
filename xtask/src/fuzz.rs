//! `cargo xtask fuzz`: mutated inputs for everything that reads what others wrote; a bounded run with a seed.

use crate::command::{cargo, run};

/// Runs the fuzzer with these options; without any, as often as `cargo xtask test` does.
pub(crate) fn fuzz(options: &[&str]) -> Result<(), String> {
    let mut arguments =
        vec!["run", "--quiet", "--package", "trustvb-report", "--example", "fuzz", "--locked"];
    // Thousands of inputs want a quick program; a few are not worth building one.
    if !options.is_empty() {
        arguments.push("--release");
    }
    arguments.push("--");
    arguments.extend(if options.is_empty() { &SHORT } else { options });
    run(&mut cargo(&arguments))
}

const SHORT: [&str; 2] = ["--inputs", "20000"];
