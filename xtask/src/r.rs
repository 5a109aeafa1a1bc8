//! `cargo xtask r`, a step of `cargo xtask test`: the R package as its users build, check and install it.
//!
//! `R CMD INSTALL` compiles the package from the files of its tarball, with the profile of cargo's tests, so that what those
//! have built is not built again. `R CMD build` (for the vignette) and `R CMD check` then take that library, and the tests
//! compare the package with the `trustvb` command of the same sources.

use crate::command::{COMMAND, built, output, root, run, target};
use crate::markdown::blocks;
use crate::{apt, r_stage};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What Debian and Ubuntu call R, and the R packages that the package's tests and vignette use.
const PACKAGES: [&str; 10] = [
    "r-base-core",
    "r-cran-flexmix",
    "r-cran-generics",
    "r-cran-jsonlite",
    "r-cran-knitr",
    "r-cran-mclust",
    "r-cran-posterior",
    "r-cran-rmarkdown",
    "r-cran-testthat",
    "r-cran-tibble",
];

/// Programs beside them: what builds, and what makes HTML of the vignette.
const PROGRAMS: [&str; 2] = ["make", "pandoc"];

/// Where all of it is done.
fn folder() -> PathBuf {
    target().join("r")
}

/// Builds, checks and tests the package; `install` gets R where it is missing, and otherwise there is nothing to test.
pub(crate) fn test(install: bool) -> Result<(), String> {
    if !is_there() && !install {
        println!(
            "xtask: R or a package of its is not installed, so the R package is not tested; `cargo xtask r` gets it"
        );
        return Ok(());
    }
    let tarball = tarball()?;
    check(&tarball)?;
    page()
}

/// Gets R and its packages where they are missing.
pub(crate) fn fetch() -> Result<(), String> {
    if is_there() {
        return Ok(());
    }
    let packages: Vec<&str> = PACKAGES.into_iter().chain(PROGRAMS).collect();
    apt::install("R or a package of its", &packages, "install R and these packages by hand")
}

/// The package as one file, which needs nothing of this checkout: its path.
pub(crate) fn tarball() -> Result<PathBuf, String> {
    fetch()?;
    let staged = r_stage::stage(&folder())?;
    install(&staged)?;
    run(r("build").arg(&staged).env("TRUSTVB_R_LIBRARY", library()))?;
    let version = env!("CARGO_PKG_VERSION");
    let tarball = folder().join(format!("trustvb_{version}.tar.gz"));
    println!("xtask: the package is {}", tarball.display());
    Ok(tarball)
}

/// Where packages are installed.
fn packages() -> PathBuf {
    folder().join("library")
}

/// The native library that is built with the package, with the profile of cargo's tests and in their folder.
fn library() -> PathBuf {
    target().join("debug").join("libtrustvb_r.a")
}

/// Compiles the package where it is, and installs it.
fn install(staged: &Path) -> Result<(), String> {
    let packages = packages();
    fs::create_dir_all(&packages).map_err(|why| format!("{}: {why}", packages.display()))?;
    run(r("INSTALL")
        .arg(format!("--library={}", packages.display()))
        .arg(staged)
        .env("TRUSTVB_R_PROFILE", "dev")
        .env("TRUSTVB_R_TARGET", target()))
}

fn check(tarball: &Path) -> Result<(), String> {
    let command = built()?;
    run(r("check")
        .args(["--no-manual"])
        .arg(tarball)
        .env("TRUSTVB_R_LIBRARY", library())
        .env(COMMAND, command)
        .env("_R_CHECK_TESTS_NLINES_", "0"))?;
    let log = folder().join("trustvb.Rcheck").join("00check.log");
    let log = fs::read_to_string(&log).map_err(|why| format!("{}: {why}", log.display()))?;
    let status = log.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("none");
    match status.contains("ERROR") || status.contains("WARNING") {
        true => Err(format!("R CMD check: {status}; {} says why", folder().display())),
        false => Ok(()),
    }
}

/// The page whose R is run.
const PAGE: &str = "docs/R.md";

/// Stands between what two blocks print.
const MARK: &str = "-- the next block --";

/// Runs the R of the page with the package that was installed, and compares what it prints with what the page shows.
fn page() -> Result<(), String> {
    let file = root().join(PAGE);
    let text = fs::read_to_string(&file).map_err(|why| format!("{PAGE}: {why}"))?;
    let blocks = blocks(PAGE, &text, "r")?;
    let script: String = blocks
        .iter()
        .map(|block| format!("{}\ncat('{MARK}\\n')\n", block.lines.join("\n")))
        .collect();
    let path = folder().join("page.R");
    fs::write(&path, script).map_err(|why| format!("{}: {why}", path.display()))?;
    let printed = output(Command::new("Rscript").arg(&path).env("R_LIBS", packages()))?;
    for (block, printed) in blocks.iter().zip(printed.split(&format!("{MARK}\n"))) {
        if let Some(difference) = block.output.as_ref().and_then(|shown| shown.difference(printed))
        {
            let line = block.first_line;
            return Err(format!("{PAGE}:{line} shows what is not printed\n  {difference}"));
        }
    }
    println!("xtask: {PAGE} shows what its {} blocks of R print", blocks.len());
    Ok(())
}

/// A command of R, in the folder of all this.
fn r(task: &str) -> Command {
    let mut command = Command::new("R");
    command.args(["CMD", task]).current_dir(folder());
    command
}

/// Whether R and all that is needed of its packages can be used.
fn is_there() -> bool {
    let names = PACKAGES.iter().filter_map(|package| package.strip_prefix("r-cran-"));
    let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
    let code = format!("for (p in c({})) loadNamespace(p)", names.join(", "));
    let loads = Command::new("Rscript").args(["--vanilla", "-e", &code]).output();
    loads.is_ok_and(|out| out.status.success())
        && PROGRAMS.iter().all(|program| apt::there(program, "--version"))
}
