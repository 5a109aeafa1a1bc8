//! `cargo xtask fuzz`: mutated inputs for everything that reads what others wrote; a bounded run with a seed.

use crate::command::{cargo, run, target};
use std::process::Command;

/// Runs the fuzzer with these options; without any, as often as `cargo xtask test` does.
pub(crate) fn fuzz(options: &[&str]) -> Result<(), String> {
    if options.is_empty() {
        return short();
    }
    // Thousands of inputs want a quick program; a few are not worth building one.
    let mut arguments = vec!["run", "--quiet", "--package", "trustvb-report", "--example", "fuzz"];
    arguments.extend(["--locked", "--release", "--"]);
    arguments.extend(options);
    run(&mut cargo(&arguments))
}

/// As part of the tests: built with their features, so that no dependency is built again.
fn short() -> Result<(), String> {
    let build = [
        "build",
        "--workspace",
        "--exclude",
        "trustvb-py",
        "--exclude",
        "trustvb-r",
        "--example",
        "fuzz",
        "--locked",
    ];
    run(&mut cargo(&build))?;
    let program = format!("debug/examples/fuzz{}", std::env::consts::EXE_SUFFIX);
    run(Command::new(target().join(program))
        .args(["--inputs", "20000"])
        .current_dir(crate::command::root()))
}
