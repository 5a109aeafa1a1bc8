//! What holds for the source itself: where unsafe code may be, and that nobody asks which model it is.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

/// All Rust files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    found
}

/// The lines of a file that are code, before its tests.
fn code(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap().to_owned();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).map(str::to_owned).collect()
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// `forbid` cannot be lifted for one module, so the library's root denies and this looks.
#[test]
fn unsafe_code_is_in_one_folder() {
    let allowed = source().join("simd");
    for path in files(&source()).iter().filter(|path| !path.starts_with(&allowed)) {
        let unsafe_line =
            code(path).into_iter().find(|line| line.contains("unsafe ") && !line.contains("\""));
        assert_eq!(unsafe_line, None, "{}", path.display());
    }
}

/// Outside a model's folder only the registry names it, and the modules that re-export what is public.
#[test]
fn nobody_asks_which_model_it_is() {
    let model = source().join("model");
    let lists = ["registry.rs", "mod.rs", "data.rs"].map(|name| model.join(name));
    let of_models = ["gmm", "bmlr", "mixture"].map(|name| model.join(name));
    let named = [
        "ModelSpec::Gmm",
        "ModelSpec::Bmlr",
        "ModelSpec::Mixture",
        "Simulation::Gmm",
        "Simulation::Bmlr",
    ];
    for path in files(&source()) {
        if lists.contains(&path) || of_models.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        let found = code(&path).into_iter().find(|line| named.iter().any(|n| line.contains(n)));
        assert_eq!(found, None, "{}", path.display());
    }
}
