//! Running other programs, and saying which one failed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Where builds go: `CARGO_TARGET_DIR`, or `target` in the root.
pub(crate) fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()))
}

/// Writes a file, and makes its folder if need be.
pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<(), String> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .map_err(|why| format!("{}: {why}", path.display()))
}

/// An empty folder, whatever was there.
pub(crate) fn emptied(folder: &Path) -> Result<(), String> {
    let gone = if folder.exists() { fs::remove_dir_all(folder) } else { Ok(()) };
    gone.and_then(|()| fs::create_dir_all(folder))
        .map_err(|why| format!("{}: {why}", folder.display()))
}

/// A command of this cargo, in the root.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// A command as one would type it.
pub(crate) fn text(command: &Command) -> String {
    let mut words: Vec<String> = command
        .get_envs()
        .filter(|(name, _)| *name != "PATH")
        .filter_map(|(name, value)| {
            Some(format!("{}='{}'", name.to_string_lossy(), value?.to_string_lossy()))
        })
        .collect();
    let program = Path::new(command.get_program());
    words.push(program.file_name().unwrap_or(command.get_program()).to_string_lossy().into_owned());
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}

/// Runs a command to its end; the error names it.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{status} from: {}", text(command))),
        Err(why) => Err(format!("cannot run: {}: {why}", text(command))),
    }
}

/// Runs a command to its end and returns what it wrote to standard output.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let output = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|why| format!("cannot run: {}: {why}", text(command)))?;
    if !output.status.success() {
        return Err(format!("{} from: {}", output.status, text(command)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The Python of the virtual environment `target/NAME` with what `requirements` (from the root) pins, made
/// if need be.
pub(crate) fn python(name: &str, requirements: &str) -> Result<PathBuf, String> {
    let environment = target().join(name);
    let python = environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if !python.exists() {
        let system = if cfg!(windows) { "python" } else { "python3" };
        run(Command::new(system).args(["-m", "venv"]).arg(&environment))?;
    }
    let requirements = root().join(requirements);
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "-r"]).arg(requirements))?;
    Ok(python)
}

/// A tool of the registry, given as `name@version`, in `target/tools`: built if it is not there, with little optimisation,
/// because it takes longer to build than to run.
pub(crate) fn tool(crate_: &str, options: &[&str]) -> Result<PathBuf, String> {
    let tools = target().join("tools");
    let name = crate_.split('@').next().unwrap_or(crate_);
    let program = tools.join("bin").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        let mut install = cargo(&["install", "--quiet", "--locked", "--debug", crate_]);
        install.args(options).arg("--root").arg(&tools);
        install.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1").env("CARGO_PROFILE_DEV_DEBUG", "false");
        run(&mut install)?;
    }
    Ok(program)
}

/// Everything that cargo's tests are made of. trustvb-py and trustvb-r have their own tests, in Python and R; a test binary
/// would want a libpython or a libR.
pub(crate) const TESTS: [&str; 11] = [
    "test",
    "--workspace",
    "--exclude",
    "trustvb-py",
    "--exclude",
    "trustvb-r",
    "--lib",
    "--bins",
    "--tests",
    "--examples",
    "--locked",
];

/// One file of tests, built with the features of all of them, so that no dependency is built again; those that are ignored
/// because they need more than Rust, one after the other.
pub(crate) fn tests_of(name: &str, options: &[&str]) -> Command {
    let mut command = cargo(&TESTS[..6]);
    command.args(["--test", name, "--locked", "--", "--ignored", "--test-threads=1"]);
    command.args(options);
    command
}

/// The variable that names a `trustvb` that is built already, and in which tests look for the one to compare with.
pub(crate) const COMMAND: &str = "TRUSTVB_COMMAND";

/// The `trustvb` that cargo's tests build, optimised as they are, unless another is named. A plain `cargo build` has other
/// features of dependencies, and would build them once more.
pub(crate) fn built() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os(COMMAND) {
        return Ok(named.into());
    }
    run(cargo(&TESTS).arg("--no-run"))?;
    Ok(target().join("debug").join(format!("trustvb{}", std::env::consts::EXE_SUFFIX)))
}
