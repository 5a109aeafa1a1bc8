//! `cargo xtask crates`: the crates as they would be published, each built from its own package.

use crate::command::{cargo, output, target, text};
use crate::{api, checksums, dist};
use std::fs;
use std::process::Command;

/// The crates that are published, each after those that it depends on.
pub(crate) const PUBLISHED: [&str; 3] = ["trustvb", "trustvb-report", "trustvb-cli"];

/// What each package must hold.
const PARTS: [&str; 4] = ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "Cargo.toml"];

/// What a registry shows of a crate, and what refuses one without.
const FIELDS: [&str; 6] = [
    "description = ",
    "documentation = ",
    "license = ",
    "keywords = ",
    "categories = ",
    "rust-version = ",
];

/// Packages the crates, builds each from its package against the others, and looks into them.
pub(crate) fn run_task() -> Result<(), String> {
    say_rust()?;
    api::document_as_docs_rs()?;
    package()?;
    fs::create_dir_all(dist::folder()).map_err(|why| why.to_string())?;
    for name in PUBLISHED {
        let full = format!("{name}-{}", env!("CARGO_PKG_VERSION"));
        let file = target().join("package").join(format!("{full}.crate"));
        let list = output(Command::new("tar").arg("-tzf").arg(&file))?;
        if let Some(missing) =
            PARTS.iter().find(|part| !list.lines().any(|line| line == format!("{full}/{part}")))
        {
            return Err(format!("{} has no {missing}", file.display()));
        }
        let mut manifest = Command::new("tar");
        manifest.arg("-xzOf").arg(&file).arg(format!("{full}/Cargo.toml"));
        let manifest = output(&mut manifest)?;
        if let Some(missing) = FIELDS.iter().find(|field| !manifest.contains(**field)) {
            return Err(format!("the manifest of {full} has no `{missing}`"));
        }
        let kept = dist::folder().join(format!("{full}.crate"));
        let size = fs::copy(&file, &kept).map_err(|why| format!("{}: {why}", kept.display()))?;
        println!(
            "xtask: {} has {:.2} MB, {} files",
            kept.display(),
            size as f64 / 1e6,
            list.lines().count()
        );
    }
    checksums::write_all(&dist::folder())
}

/// Packages and builds. cargo only warns of versions in the lock file that their authors have withdrawn since.
fn package() -> Result<(), String> {
    let mut package = cargo(&["package", "--locked", "--allow-dirty"]);
    for name in PUBLISHED {
        package.args(["--package", name]);
    }
    let made = package.output().map_err(|why| format!("cannot run: {}: {why}", text(&package)))?;
    let said = String::from_utf8_lossy(&made.stderr);
    if !made.status.success() {
        return Err(format!("{} from: {}\n{said}", made.status, text(&package)));
    }
    let warnings: Vec<&str> = said.lines().filter(|line| line.starts_with("warning: ")).collect();
    warnings.iter().for_each(|warning| println!("{warning}"));
    match warnings.iter().find(|warning| warning.contains(" is yanked ")) {
        Some(withdrawn) => Err(format!("a dependency was withdrawn: {withdrawn}")),
        None => Ok(()),
    }
}

/// Says whether this Rust is the first that the crates are for: what is built with it then holds for that one too.
fn say_rust() -> Result<(), String> {
    let first = env!("CARGO_PKG_RUST_VERSION");
    let said = output(Command::new("rustc").arg("--version"))?;
    let is_first = said.split(' ').nth(1).is_some_and(|this| this == format!("{first}.0"));
    println!(
        "xtask: Rust {first} is the first that the crates are for; {} is {}",
        said.trim(),
        if is_first { "that one" } else { "another, and tells nothing of it" }
    );
    Ok(())
}
