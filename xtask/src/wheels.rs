//! `cargo xtask wheels`: the Python package as a wheel for other machines, and as sources that build without a network.
//!
//! maturin builds the wheel, links it with zig on Linux, and refuses a platform tag that its symbols do not allow. It is then
//! installed into a clean environment of every Python that is found, where the README's examples must print what it shows.

use crate::command::{emptied, output, read, root, run, target, write};
use crate::markdown::blocks;
use crate::{checksums, dist, licences, platform, sources};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package, from the root.
pub(crate) const PACKAGE: &str = "crates/trustvb-py";

/// The first Python that it is for.
const OLDEST: (u32, u32) = (3, 10);

/// What `LICENSE-*` of the package's manifest finds beside the project's own.
const THIRD_PARTY: &str = "LICENSE-THIRD-PARTY";

/// Takes what is of this machine out of a wheel.
const WITHOUT_PATHS: &str = "xtask/src/without_paths.py";

/// Parts that a wheel must have, by what their names hold.
const PARTS: [&str; 6] = [
    "trustvb/_native.abi3.so",
    "trustvb/py.typed",
    "dist-info/licenses/LICENSE-APACHE",
    "dist-info/licenses/LICENSE-MIT",
    "dist-info/licenses/LICENSE-THIRD-PARTY",
    "dist-info/sboms/",
];

/// Makes and tries the wheel, then the sources.
pub(crate) fn run_task() -> Result<(), String> {
    let wheel = wheel()?;
    let pythons = pythons();
    if pythons.is_empty() {
        return Err(format!(
            "there is no Python {}.{} or later to try the wheel with",
            OLDEST.0, OLDEST.1
        ));
    }
    for (version, python) in &pythons {
        let environment = clean(python, &format!("wheel-{version}"))?;
        let mut install = Command::new(&environment);
        install.args(["-I", "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]);
        run(install.arg(&wheel))?;
        try_out(&environment)?;
        println!("xtask: the wheel works with Python {version}");
    }
    sources::run_task(pythons.values().next_back().unwrap_or(&PathBuf::from("python3")))?;
    checksums::write_all(&dist::folder())
}

/// Builds the wheel and looks into it.
fn wheel() -> Result<PathBuf, String> {
    let host = platform::host()?;
    let tools = platform::tools()?;
    let bin = tools.parent().unwrap_or(Path::new("."));
    let into = target().join("wheels");
    emptied(&into)?;
    let notice = root().join(PACKAGE).join(THIRD_PARTY);
    write(&notice, licences::texts("trustvb-py", &host)?)?;
    let mut build = Command::new(&tools);
    build.args(["-m", "maturin", "build", "--release", "--manifest-path"]);
    build.arg(format!("{PACKAGE}/Cargo.toml")).args(["--target", &host, "--out"]).arg(&into);
    if platform::uses_zig(&host) {
        let (major, minor) = platform::GLIBC;
        build.args(["--zig", "--compatibility", &format!("manylinux_{major}_{minor}")]);
    }
    platform::with_path(&mut build, bin)?;
    platform::without_paths(&mut build, &root())?;
    build.env("CARGO_TARGET_DIR", target()).env("CARGO_PROFILE_RELEASE_DEBUG", "false");
    let made = run(build.current_dir(root()));
    let removed = fs::remove_file(&notice).map_err(|why| format!("{}: {why}", notice.display()));
    made.and(removed)?;
    let wheel = only_file(&into, "whl")?;
    let mut plain = Command::new(&tools);
    plain.arg(root().join(WITHOUT_PATHS)).arg(&wheel).arg(root());
    run(plain.arg(platform::commit_time()?))?;
    look_into(&tools, &wheel)?;
    let kept = dist::folder().join(wheel.file_name().unwrap_or_default());
    fs::create_dir_all(dist::folder())
        .and_then(|()| fs::copy(&wheel, &kept))
        .map_err(|why| format!("{}: {why}", kept.display()))?;
    println!("xtask: the wheel is {}", kept.display());
    Ok(kept)
}

/// The only file with this ending in a folder.
pub(crate) fn only_file(folder: &Path, ending: &str) -> Result<PathBuf, String> {
    let entries = fs::read_dir(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.to_string_lossy().ends_with(&format!(".{ending}")));
    match files.as_slice() {
        [file] => Ok(file.clone()),
        _ => Err(format!("{} has {} files .{ending}", folder.display(), files.len())),
    }
}

/// Whether the wheel has its licences, its list of crates and its metadata.
fn look_into(python: &Path, wheel: &Path) -> Result<(), String> {
    let list = output(Command::new(python).args(["-m", "zipfile", "--list"]).arg(wheel))?;
    if let Some(missing) = PARTS.iter().find(|part| !list.contains(**part)) {
        return Err(format!("{} has no {missing}", wheel.display()));
    }
    let code = "import sys, zipfile\n\
        wheel = zipfile.ZipFile(sys.argv[1])\n\
        print(wheel.read(next(n for n in wheel.namelist() if n.endswith('dist-info/METADATA'))).decode())";
    let metadata = output(Command::new(python).args(["-c", code]).arg(wheel))?;
    let fields = [
        "Author: ",
        "License-Expression: MIT OR Apache-2.0",
        "Project-URL: ",
        "# trustvb for Python",
    ];
    match fields.iter().find(|field| !metadata.contains(**field)) {
        Some(missing) => Err(format!("the metadata of {} has no `{missing}`", wheel.display())),
        None => Ok(()),
    }
}

/// Every Python that is found and not too old, one for each version: on the path, and where pyenv keeps them.
fn pythons() -> BTreeMap<String, PathBuf> {
    let mut candidates: Vec<PathBuf> =
        (OLDEST.1..30).map(|minor| format!("python3.{minor}").into()).collect();
    candidates.extend(["python3".into(), "/usr/bin/python3".into()]);
    let pyenv = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let pyenv = pyenv.or_else(|| Some(std::env::home_dir()?.join(".pyenv")));
    let kept = pyenv.and_then(|folder| fs::read_dir(folder.join("versions")).ok());
    candidates.extend(
        kept.into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path().join("bin").join("python"))),
    );
    let mut found = BTreeMap::new();
    for python in candidates {
        // The path of the interpreter itself, so that a name that leads to pyenv leads where it is.
        let code = "import ensurepip, sys, venv; v = sys.version_info; print(v[0], v[1], v[2], sys.executable)";
        let Ok(said) = Command::new(&python).args(["-I", "-c", code]).output() else { continue };
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let words: Vec<&str> = said.trim().splitn(4, ' ').collect();
        if let [major, minor, patch, path] = words[..]
            && let (Ok(a), Ok(b)) = (major.parse::<u32>(), minor.parse::<u32>())
            && (a, b) >= OLDEST
        {
            found.entry(format!("{major}.{minor}.{patch}")).or_insert_with(|| path.into());
        }
    }
    found
}

/// A new environment with nothing in it: its Python.
pub(crate) fn clean(python: &Path, name: &str) -> Result<PathBuf, String> {
    let folder = target().join("release-venvs").join(name);
    emptied(&folder)?;
    run(Command::new(python).args(["-I", "-m", "venv"]).arg(&folder))?;
    Ok(folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" }))
}

/// Runs the examples of the package's README, alone in an empty folder, and compares what they print.
pub(crate) fn try_out(python: &Path) -> Result<(), String> {
    let page = format!("{PACKAGE}/README.md");
    let examples = blocks(&page, &read(&root().join(&page))?, "python")?;
    let folder = target().join("wheel-tried");
    emptied(&folder)?;
    let lines: Vec<String> = examples.iter().flat_map(|block| block.lines.clone()).collect();
    write(&folder.join("readme.py"), lines.join("\n"))?;
    let mut program = Command::new(python);
    program.args(["-I", "readme.py"]).current_dir(&folder).env_clear().env("HOME", &folder);
    let printed = output(program.env("PYTHONUTF8", "1"))?;
    let shown = examples.iter().find_map(|block| block.output.as_ref());
    let shown = shown.ok_or_else(|| format!("{page} shows no output"))?;
    match shown.difference(&printed) {
        Some(difference) => Err(format!("{page} shows what is not printed\n  {difference}")),
        None => Ok(()),
    }
}
