//! Writing a file so that a reader sees the old one or the new one, never half of it.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

/// Lets `write` fill a temporary file beside `path`, syncs it, and renames it to `path`.
pub fn replace_file(path: &Path, write: impl FnOnce(File) -> io::Result<File>) -> io::Result<()> {
    let temporary = temporary_name(path);
    let written = File::create(&temporary)
        .and_then(write)
        .and_then(|file| file.sync_all())
        .and_then(|()| fs::rename(&temporary, path))
        .and_then(|()| sync_folder(path));
    if written.is_err() {
        // The first error is the one to report; the file may not even exist.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// `.NAME.NUMBER.tmp` in the same folder: hidden, and nobody else's. The number is random because processes of several
/// machines, which may have the same number, can share a folder.
fn temporary_name(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    let random = RandomState::new().hash_one(std::process::id());
    name.push(format!(".{random:016x}.tmp"));
    path.with_file_name(name)
}

/// Makes the new name itself durable, where folders can be synced.
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
