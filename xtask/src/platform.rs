//! For which machines a build is, and how it is made to run on others than this one.
//!
//! What is linked here asks for this machine's glibc or a later one. On Linux, zig (from PyPI, as are its helper for cargo
//! and maturin) links for the oldest glibc that Rust itself runs on instead.

use crate::command::{cargo, output, python, root};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What `cargo xtask dist` and `wheels` install: zig, cargo-zigbuild, maturin.
pub(crate) const REQUIREMENTS: &str = "xtask/requirements.txt";

/// The oldest glibc that is linked for, as Rust's own programs are.
pub(crate) const GLIBC: (u32, u32) = (2, 17);

/// A separator of flags that may hold spaces.
const BETWEEN_FLAGS: &str = "\u{1f}";

/// This machine's platform as Rust calls it.
pub(crate) fn host() -> Result<String, String> {
    let said = output(Command::new("rustc").arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc -vV names no host".to_owned())
}

/// Whether zig links for this platform.
pub(crate) fn uses_zig(host: &str) -> bool {
    host.ends_with("-linux-gnu")
}

/// The Python that has zig and maturin, in an environment of its own.
pub(crate) fn tools() -> Result<PathBuf, String> {
    python("release-venv", REQUIREMENTS)
}

/// A cargo that builds for this platform, so that other machines of its kind can run it: with zig where zig can.
pub(crate) fn portable_build(host: &str, folder: &Path) -> Result<Command, String> {
    let mut command = if uses_zig(host) {
        let tools = tools()?;
        let bin = tools.parent().unwrap_or(Path::new("."));
        let mut zig = Command::new(bin.join("cargo-zigbuild"));
        zig.args(["zigbuild", "--target", &format!("{host}.{}.{}", GLIBC.0, GLIBC.1)]);
        with_path(&mut zig, bin)?;
        zig
    } else {
        let mut build = cargo(&["build"]);
        build.args(["--target", host]);
        build
    };
    command.current_dir(folder);
    without_paths(&mut command, folder)?;
    Ok(command)
}

/// Puts a folder first on the path of a command.
pub(crate) fn with_path(command: &mut Command, folder: &Path) -> Result<(), String> {
    let old = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(folder.to_path_buf()).chain(std::env::split_paths(&old));
    command.env("PATH", std::env::join_paths(all).map_err(|why| why.to_string())?);
    Ok(())
}

/// Keeps the paths of this machine out of what is built, and its time: two builds of a commit are then the same bytes.
pub(crate) fn without_paths(command: &mut Command, folder: &Path) -> Result<(), String> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let mut flags = vec![format!("--remap-path-prefix={}=trustvb", folder.display())];
    flags.extend(home.map(|home| format!("--remap-path-prefix={}=cargo", home.display())));
    command.env("CARGO_ENCODED_RUSTFLAGS", flags.join(BETWEEN_FLAGS));
    command.env("SOURCE_DATE_EPOCH", commit_time()?);
    Ok(())
}

/// When the commit that is checked out was made, in seconds; a copy without git is of no time.
pub(crate) fn commit_time() -> Result<String, String> {
    let git = Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root()).output();
    let time = git.ok().filter(|out| out.status.success()).map(|out| out.stdout);
    let time = time.map(|text| String::from_utf8_lossy(&text).trim().to_owned());
    Ok(time.filter(|time| !time.is_empty()).unwrap_or_else(|| "0".to_owned()))
}

/// The latest version of glibc whose symbols a program or library names, if it names any.
pub(crate) fn glibc(bytes: &[u8]) -> Option<(u32, u32)> {
    const NAME: &[u8] = b"GLIBC_";
    let number = |rest: &[u8]| {
        let end = rest.iter().position(|c| !c.is_ascii_digit() && *c != b'.').unwrap_or(rest.len());
        let (major, minor) = std::str::from_utf8(&rest[..end]).ok()?.split_once('.')?;
        let minor = minor.split('.').next()?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    let found = bytes.windows(NAME.len()).enumerate().filter(|(_, window)| *window == NAME);
    found.filter_map(|(at, _)| number(&bytes[at + NAME.len()..])).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_glibc_is_found() {
        let names = b"\0GLIBC_2.2.5\0GLIBC_2.17\0GLIBC_PRIVATE\0GLIBC_2.9\0GLIBC_";
        assert_eq!(glibc(names), Some((2, 17)));
        assert_eq!(glibc(b"nothing"), None);
    }
}
