//! `cargo xtask dist`: the command as an archive to hand on, unpacked and tried in an empty environment.
//!
//! The archive holds the program, completions, manual pages, README and docs, and the licences of all that is compiled in.
//! Names are sorted and times are the commit's, so that the same commit gives the same archive.

use crate::command::{built, emptied, read, root, run, target, write};
use crate::{checksums, licences, platform};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Shells with the name that each looks for.
const COMPLETIONS: [(&str, &str); 4] = [
    ("bash", "trustvb.bash"),
    ("zsh", "_trustvb"),
    ("fish", "trustvb.fish"),
    ("powershell", "_trustvb.ps1"),
];

/// What to do with the archive.
const INSTALL: &str = include_str!("install.txt");

/// Files of the root that go along; README's links lead to the rest.
const FILES: [&str; 6] =
    ["README.md", "CHANGELOG.md", "LICENSE", "LICENSE-APACHE", "LICENSE-MIT", "SECURITY.md"];

/// Which program goes into the archive.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Program {
    /// Built for other machines too.
    Portable,
    /// The one that cargo's tests use: quick to have, and good for trying the archive.
    OfTests,
}

/// Where what is handed on goes.
pub(crate) fn folder() -> PathBuf {
    target().join("dist")
}

/// Makes the archive and tries it.
pub(crate) fn run_task(program: Program) -> Result<PathBuf, String> {
    let host = platform::host()?;
    let file = match program {
        Program::Portable => portable(&host, &root(), &target())?,
        Program::OfTests => built()?,
    };
    let into = match program {
        Program::Portable => folder(),
        Program::OfTests => target().join("dist-of-tests"),
    };
    let archive = pack(&file, &host, &into)?;
    checksums::write_all(&into)?;
    try_out(&archive, program)?;
    println!("xtask: the archive is {}", archive.display());
    Ok(archive)
}

/// Builds the archive a second time, in a clone elsewhere, and compares.
pub(crate) fn check() -> Result<(), String> {
    let first = run_task(Program::Portable)?;
    let (clone, host) = (target().join("dist-again"), platform::host()?);
    emptied(&clone)?;
    run(Command::new("git").args(["clone", "--quiet", "--local"]).arg(root()).arg(&clone))?;
    let again = portable(&host, &clone, &clone.join("target"))?;
    let second = pack(&again, &host, &clone.join("target/dist"))?;
    let (a, b) = (checksums::of(&first)?, checksums::of(&second)?);
    if a != b {
        return Err(format!(
            "two builds of a commit differ: {} and {}; are there changes that are not committed?",
            first.display(),
            second.display()
        ));
    }
    println!("xtask: two builds in two folders gave the same archive, {a}");
    Ok(())
}

/// Builds the program of the sources in `folder`, and says what it needs of the system.
fn portable(host: &str, folder: &Path, target: &Path) -> Result<PathBuf, String> {
    let mut build = platform::portable_build(host, folder)?;
    build.args(["--release", "--package", "trustvb-cli", "--locked", "--target-dir"]).arg(target);
    run(build
        .env("CARGO_PROFILE_RELEASE_STRIP", "true")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false"))?;
    let name = format!("trustvb{}", std::env::consts::EXE_SUFFIX);
    let program = target.join(host).join("release").join(name);
    let bytes = fs::read(&program).map_err(|why| format!("{}: {why}", program.display()))?;
    match platform::glibc(&bytes) {
        Some(found) if platform::uses_zig(host) && found > platform::GLIBC => Err(format!(
            "{} needs glibc {}.{}, later than {}.{}",
            program.display(),
            found.0,
            found.1,
            platform::GLIBC.0,
            platform::GLIBC.1
        )),
        found => {
            let needs = found.map(|(major, minor)| format!("glibc {major}.{minor} or later"));
            println!(
                "xtask: {} has {:.1} MB and needs {}",
                program.display(),
                bytes.len() as f64 / 1e6,
                needs.unwrap_or_else(|| "no glibc".to_owned())
            );
            Ok(program)
        }
    }
}

/// Puts the archive together and returns its path.
fn pack(program: &Path, host: &str, into: &Path) -> Result<PathBuf, String> {
    let name = format!("trustvb-{}-{host}", env!("CARGO_PKG_VERSION"));
    let staged = into.join(&name);
    emptied(&staged)?;
    copy(program, &staged.join(program.file_name().unwrap_or_default()))?;
    for file in FILES {
        copy(&root().join(file), &staged.join(file))?;
    }
    write(&staged.join("INSTALL.txt"), INSTALL)?;
    let third = licences::texts("trustvb-cli", host)?;
    write(&staged.join("LICENSE-THIRD-PARTY"), third)?;
    for page in pages()? {
        copy(&root().join(&page), &staged.join(&page))?;
    }
    for (shell, file) in COMPLETIONS {
        let made = Command::new(program).args(["completions", shell]).output();
        let made = made.map_err(|why| format!("{}: {why}", program.display()))?;
        write(&staged.join("completions").join(file), made.stdout)?;
    }
    run(Command::new(program).args(["manual", "-o"]).arg(staged.join("man/man1")))?;
    archive(into, &name)
}

/// What README and docs show or read: the files below docs that git knows.
fn pages() -> Result<Vec<String>, String> {
    let mut list = Command::new("git");
    list.args(["ls-files", "docs/*.md", "docs/data", "docs/gallery", "docs/pictures"]);
    list.arg("docs/studies/*.[ps][nv]g").current_dir(root());
    let list = crate::command::output(&mut list)?;
    Ok(list.lines().map(str::to_owned).collect())
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let parent = to.parent().unwrap_or(to);
    fs::create_dir_all(parent)
        .and_then(|()| fs::copy(from, to))
        .map(|_| ())
        .map_err(|why| format!("{} to {}: {why}", from.display(), to.display()))
}

/// Packs a folder, the same bytes for the same files, and removes it.
pub(crate) fn archive(into: &Path, name: &str) -> Result<PathBuf, String> {
    let archive = into.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.args(["--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.args(["--mode=u+rw,go=rX", "--use-compress-program=gzip -9n"]);
    tar.arg(format!("--mtime=@{}", platform::commit_time()?));
    run(tar.arg("--file").arg(&archive).arg(name).current_dir(into))?;
    fs::remove_dir_all(into.join(name)).map_err(|why| format!("{name}: {why}"))?;
    Ok(archive)
}

/// Unpacks the archive and runs the program without any variable of the environment, in a folder of its own.
fn try_out(archive: &Path, program: Program) -> Result<(), String> {
    let folder = target().join("dist-tried");
    emptied(&folder)?;
    run(Command::new("tar")
        .arg("-xzf")
        .arg(archive)
        .arg("--strip-components=1")
        .current_dir(&folder))?;
    let home = folder.join("home");
    emptied(&home)?;
    let said = |arguments: &[&str]| {
        let mut command = Command::new(folder.join("trustvb"));
        command.args(arguments).env_clear().env("HOME", &home).current_dir(&folder);
        crate::command::output(&mut command)
    };
    let version = said(&["--version"])?;
    println!("xtask: unpacked, it says it is {}", version.trim());
    if program == Program::Portable && !version.contains('(') && root().join(".git").exists() {
        return Err(format!("`trustvb --version` does not say the commit: {version}"));
    }
    let answer = said(&["calibrate", "docs/data/overlap.csv", "pi[1]", "--format", "json"])?;
    let answer: Value = serde_json::from_str(&answer).map_err(|why| format!("calibrate: {why}"))?;
    let intervals = answer["intervals"].as_array().map_or(&[][..], Vec::as_slice);
    let used =
        intervals.iter().find(|row| row["recommended"] == true).ok_or("no interval to use")?;
    let (lower, upper) = (used["lower"].as_f64(), used["upper"].as_f64());
    // The truth of these data is 0.65.
    if !(lower < Some(0.65) && Some(0.65) < upper) {
        return Err(format!("the interval to use for pi[1] is {lower:?} to {upper:?}"));
    }
    said(&[
        "table",
        "build",
        "docs/data/overlap.csv",
        "-o",
        "overlap.tvb",
        "--grid",
        "10",
        "-B",
        "50",
    ])?;
    said(&["report", "overlap.tvb", "-o", "report.html"])?;
    said(&["interval", "overlap.tvb", "pi[1]", "--plot", "pi.png"])?;
    for (shell, file) in COMPLETIONS {
        if read(&folder.join("completions").join(file))? != said(&["completions", shell])? {
            return Err(format!("completions/{file} is not what the program writes"));
        }
    }
    for file in ["report.html", "pi.png", "man/man1/trustvb-calibrate.1", "LICENSE-THIRD-PARTY"] {
        if fs::metadata(folder.join(file)).map_or(0, |found| found.len()) < 1000 {
            return Err(format!("{file} of the unpacked archive is missing or nearly empty"));
        }
    }
    Ok(())
}
