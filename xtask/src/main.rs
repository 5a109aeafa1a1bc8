//! The project's tasks: what continuous integration and people run.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a task talks to its user")]

mod api;
mod apt;
mod audit;
mod bench;
mod bench_classes;
mod bench_defaults;
mod bench_explore;
mod bench_intervals;
mod bench_plans;
mod browser;
mod checksums;
mod cluster;
mod command;
mod crates;
mod dist;
mod documents;
mod fixtures;
mod fuzz;
mod licences;
mod markdown;
#[cfg(test)]
mod paper;
mod platform;
mod python;
mod r;
mod r_stage;
mod release;
mod site;
mod sources;
mod steps;
mod test;
mod wheels;

use dist::Program;
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
  browser         report, explorer and site in a headless Chromium alone (installs it if it is missing)
  documents [--write]
                  the commands of README and docs alone; --write puts what they print into the pages
  site [--references]
                  the pages of README and docs as a site in target/site, which a browser opens from the disk;
                  with the references of Rust and R
  release         all of the next five, and what each cost; what is made is in target/dist, nothing is published
  audit [--advisories]
                  licences, bans and sources of dependencies by cargo-deny (installed into target/tools), and where
                  unsafe code is; --advisories also fetches the advisory database
  api [--write]   what programs can name of the libraries, against the lists in docs/api (installs cargo-public-api into
                  target/tools); --write writes these again
  crates          the crates as they would be published, each built from its package
  dist [--check | --of-tests]
                  the command as an archive with completions, manual pages, licences and checksums, unpacked and run
                  in an empty environment; --check builds it twice and compares; --of-tests packs the tests' program
  wheels          the Python wheel (linked by zig for old systems) tried with every Python that is found, and the
                  sources, built without a network
  bench           seconds per fit against scikit-learn and StepMix, and of intervals against R's mclust where that is
                  installed, to benches/RESULTS.md (needs Python)
  bench --defaults
                  only its sections on defaults and starts, which replace those of the file
  bench classes   only its section on latent classes
  bench intervals [--try]
                  only its section on intervals; --try measures little and writes nothing
  bench plans     only its section on what `trustvb table plan` says and what tables cost
  fuzz [--minutes N] [--seed N] [--inputs N]
                  mutated files, formulas, quantities and requests, none of which may panic; findings go to
                  fuzz/corpus
  fixtures        write the test fixtures that need Python again
  pictures        write the pictures of README and docs again (needs Chromium)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(code) = again_without_package(&arguments) {
        return code;
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        ["test"] => test::run(Scope::Usual),
        ["test", "--quick"] => test::run(Scope::Quick),
        ["test", "--cluster"] => test::run(Scope::Cluster),
        ["cluster"] => cluster::test(false),
        ["python"] => python::test(),
        ["r"] => r::test(true),
        ["r", "--tarball"] => r::tarball().map(|_| ()),
        ["browser"] => site::build(References::None).and_then(|()| browser::test()),
        ["documents"] => documents::run(Stale::Refuse),
        ["documents", "--write"] => documents::run(Stale::Mend),
        ["site"] => site::build(References::None),
        ["site", "--references"] => site::build(References::All),
        ["release"] => release::run(),
        ["audit"] => audit::run_task(false),
        ["audit", "--advisories"] => audit::run_task(true),
        ["api"] => api::run_task(Stale::Refuse),
        ["api", "--write"] => api::run_task(Stale::Mend),
        ["crates"] => crates::run_task(),
        ["dist"] => dist::run_task(Program::Portable).map(|_| ()),
        ["dist", "--of-tests"] => dist::run_task(Program::OfTests).map(|_| ()),
        ["dist", "--check"] => dist::check(),
        ["wheels"] => wheels::run_task(),
        ["bench"] => bench::run(),
        ["bench", "--defaults"] => bench_defaults::again(),
        ["bench", "classes"] => bench_classes::run(),
        ["bench", "intervals"] => bench_intervals::run(),
        ["bench", "intervals", "--try"] => bench_intervals::try_out(),
        ["bench", "plans"] => bench_plans::run(),
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

/// Runs this program again without the variables by which `cargo run` tells it its package, if there are any.
///
/// Build scripts of others watch variables of these names. If they were handed on, ring and all that is built with it,
/// the library included, would be built again whenever a plain `cargo test` follows a task, or a task follows that.
fn again_without_package(arguments: &[String]) -> Option<ExitCode> {
    let is_of_package =
        |name: &str| ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|it| name.starts_with(it));
    let names = std::env::vars_os().map(|(name, _)| name);
    let names: Vec<_> = names.filter(|name| name.to_str().is_some_and(is_of_package)).collect();
    if names.is_empty() {
        return None;
    }
    let mut again = std::process::Command::new(std::env::current_exe().ok()?);
    again.args(arguments);
    for name in names {
        again.env_remove(name);
    }
    let code = again.status().ok()?.code().and_then(|code| u8::try_from(code).ok());
    Some(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
