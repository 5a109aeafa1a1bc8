//! `cargo xtask cluster`, a step of `cargo xtask test --cluster`: job arrays on a real Slurm, a disk that fills, an
//! object store, and the Python package's cluster tests.
//!
//! The tests start Slurm's daemons themselves, on this machine alone, and stop them again.

use crate::command::{self, run, tests_of};
use crate::{apt, python};
use std::path::PathBuf;
use std::process::Command;

/// What Debian and Ubuntu call them.
const PACKAGES: [&str; 2] = ["slurm-wlm", "munge"];

/// The S3-compatible server that tests of object stores talk to.
const STORE: &str = "crates/trustvb-cli/tests/cluster/requirements.txt";

/// Programs that the tests start, with an option with which they end at once.
const PROGRAMS: [(&str, &str); 4] =
    [("munged", "--version"), ("slurmctld", "-V"), ("slurmd", "-V"), ("sbatch", "--version")];

/// Gets what the tests need: the Python of the object store.
pub(crate) fn fetch() -> Result<PathBuf, String> {
    let there = |(program, version): (&str, &str)| {
        // Daemons are not on the path of every user; sbatch fails where no cluster is configured.
        let starts = |name: &str| Command::new(name).arg(version).output().is_ok();
        starts(program) || starts(&format!("/usr/sbin/{program}"))
    };
    if !PROGRAMS.into_iter().all(there) {
        let by_hand =
            "install Slurm and MUNGE so that munged, slurmctld, slurmd and sbatch can be run";
        apt::install("Slurm or MUNGE", &PACKAGES, by_hand)?;
    }
    command::python("store-venv", STORE)
}

/// Installs what is missing and runs the tests; `installed` when the Python package of these sources has just been.
pub(crate) fn test(installed: bool) -> Result<(), String> {
    let server = fetch()?;
    // A test that cannot be made here says why.
    run(tests_of("cluster", &["--show-output"]).env("TRUSTVB_MOTO_PYTHON", server))?;
    python::test_cluster(installed)
}
