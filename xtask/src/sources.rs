//! A step of `cargo xtask wheels`: the Python package as sources, and all crates that it is built from beside them.
//!
//! The sources ask for crates from the registry, as Rust's packages do. Where there is none, the second archive is unpacked
//! into them; cargo then takes the crates from there. That is tried with an empty cargo home and no network.

use crate::command::{cargo, emptied, output, root, run, target, write};
use crate::wheels::{PACKAGE, clean, only_file, try_out};
use crate::{dist, platform};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes both archives and builds from them, with the given Python.
pub(crate) fn run_task(python: &Path) -> Result<(), String> {
    let into = target().join("sdist");
    emptied(&into)?;
    let sdist = sdist(&into)?;
    let vendored = vendor(&sdist, &into)?;
    build_offline(python, &sdist, &vendored)?;
    fs::create_dir_all(dist::folder()).map_err(|why| why.to_string())?;
    for file in [&sdist, &vendored] {
        let kept = dist::folder().join(file.file_name().unwrap_or_default());
        fs::copy(file, &kept).map_err(|why| format!("{}: {why}", kept.display()))?;
        let size = fs::metadata(&kept).map_or(0, |found| found.len());
        println!("xtask: {} has {:.1} MB", kept.display(), size as f64 / 1e6);
    }
    Ok(())
}

/// The sources as maturin packs them. Its lock file is that of the whole workspace, which cargo would refuse where it must
/// not be changed; what the package does not need is taken out of it.
fn sdist(into: &Path) -> Result<PathBuf, String> {
    let mut sdist = Command::new(platform::tools()?);
    sdist.args(["-m", "maturin", "sdist", "--manifest-path"]);
    sdist.arg(format!("{PACKAGE}/Cargo.toml")).arg("--out").arg(into).current_dir(root());
    run(&mut sdist)?;
    let name = format!("trustvb-{}", env!("CARGO_PKG_VERSION"));
    let folder = into.join(&name);
    emptied(&folder)?;
    unpack(&only_file(into, "tar.gz")?, &folder)?;
    for locked in [None, Some("--locked")] {
        let mut metadata = cargo(&["metadata", "--format-version", "1"]);
        output(metadata.args(locked).current_dir(&folder))?;
    }
    dist::archive(into, &name)
}

/// All crates of the lock file, with what tells cargo where they are.
fn vendor(sdist: &Path, into: &Path) -> Result<PathBuf, String> {
    let sources = unpacked(sdist, "sdist-vendored")?;
    let name = format!("trustvb-{}-vendor", env!("CARGO_PKG_VERSION"));
    let folder = into.join(&name);
    let mut vendor = cargo(&["vendor", "--quiet", "--locked", "--versioned-dirs"]);
    vendor.arg(folder.join("vendor")).current_dir(&sources);
    output(&mut vendor)?;
    let config = "[source.crates-io]\nreplace-with = \"vendored\"\n\n\
                  [source.vendored]\ndirectory = \"vendor\"\n";
    write(&folder.join(".cargo/config.toml"), config)?;
    dist::archive(into, &name)
}

/// Installs from the two archives into a clean environment, without a network, and tries what was installed.
fn build_offline(python: &Path, sdist: &Path, vendored: &Path) -> Result<(), String> {
    let sources = unpacked(sdist, "sdist-tried")?;
    unpack(vendored, &sources)?;
    let python = clean(python, "sdist")?;
    // What comes from the registry of Python's packages, which is another one, comes first.
    let mut first = Command::new(&python);
    first.args(["-I", "-m", "pip", "install", "--quiet", "maturin", "numpy", "pandas", "-c"]);
    run(first.arg(root().join(platform::REQUIREMENTS)))?;
    let home = target().join("sdist-cargo-home");
    emptied(&home)?;
    let mut install = Command::new(&python);
    install.args([
        "-I",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--no-build-isolation",
        ".",
    ]);
    install.current_dir(&sources).env("CARGO_HOME", &home).env("CARGO_NET_OFFLINE", "true");
    // Quick to build: what it computes is the same.
    install.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1").env("CARGO_PROFILE_RELEASE_DEBUG", "false");
    install.env_remove("CARGO_TARGET_DIR").env_remove("RUSTFLAGS");
    platform::with_path(&mut install, python.parent().unwrap_or(Path::new(".")))?;
    run(&mut install)?;
    try_out(&python)?;
    println!("xtask: the sources build without a network, and work");
    Ok(())
}

fn unpacked(archive: &Path, name: &str) -> Result<PathBuf, String> {
    let folder = target().join(name);
    emptied(&folder)?;
    unpack(archive, &folder)?;
    Ok(folder)
}

fn unpack(archive: &Path, folder: &Path) -> Result<(), String> {
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(archive).arg("--strip-components=1").current_dir(folder);
    run(&mut tar)
}
