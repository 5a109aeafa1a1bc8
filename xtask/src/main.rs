//! The project's tasks: what continuous integration and people run.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a task talks to its user")]

mod apt;
mod bench;
mod bench_classes;
mod bench_defaults;
mod bench_explore;
mod browser;
mod cluster;
mod command;
mod documents;
mod fixtures;
mod fuzz;
mod markdown;
#[cfg(test)]
mod paper;
mod python;
mod r;
mod r_stage;
mod site;
mod test;

use documents::Stale;
use site::References;
use std::process::ExitCode;
use test::Scope;

const USAGE: &str = "\
usage: cargo xtask TASK

  test [--quick]  format, lints, tests, documentation, the Python package, the R package if R is there, the site,
                  browser tests (installs Chromium if it is missing) and the commands of README and docs, with what
                  they print; --quick leaves out the last six
  test --cluster  all of that with R, installed if it is missing, and the cluster tests
  cluster         the cluster tests alone: job arrays on a Slurm of this machine (installs it if it is
                  missing), a disk that fills (needs root), the Python package's
  python          the Python package alone: installed into an environment of its own, lints, tests
  r               the R package alone (installs R if it is missing): R CMD build, R CMD check, tests
  r --tarball     only the package as one file, which builds without this checkout
  documents [--write]
                  the commands of README and docs alone; --write puts what they print into the pages
  site [--references]
                  the pages of README and docs as a site in target/site, which a browser opens from the disk;
                  with the references of Rust and R
  bench           seconds per fit against scikit-learn and StepMix, to benches/RESULTS.md (needs Python)
  bench --defaults
                  only its sections on defaults and starts, which replace those of the file
  bench classes   only its section on latent classes
  fuzz [--minutes N] [--seed N] [--inputs N]
                  mutated files, formulas, quantities and requests, none of which may panic; findings go to
                  fuzz/corpus
  fixtures        write the test fixtures that need Python again
  pictures        write the pictures of README and docs again (needs Chromium)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        ["test"] => test::run(Scope::Usual),
        ["test", "--quick"] => test::run(Scope::Quick),
        ["test", "--cluster"] => test::run(Scope::Cluster),
        ["cluster"] => cluster::test(false),
        ["python"] => python::test(),
        ["r"] => r::test(true),
        ["r", "--tarball"] => r::tarball().map(|_| ()),
        ["documents"] => documents::run(Stale::Refuse),
        ["documents", "--write"] => documents::run(Stale::Mend),
        ["site"] => site::build(References::None),
        ["site", "--references"] => site::build(References::All),
        ["bench"] => bench::run(),
        ["bench", "--defaults"] => bench_defaults::again(),
        ["bench", "classes"] => bench_classes::run(),
        ["fuzz", options @ ..] => fuzz::fuzz(options),
        ["fixtures"] => fixtures::run(),
        ["pictures"] => browser::pictures(),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}
