//! Writing a file so that a reader sees the old one or the new one, never half of it.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
#[cfg(feature = "parquet")]
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
#[cfg(feature = "parquet")]
use std::time::Duration;

/// The age at which a temporary file is a leftover: writing one takes seconds, and clocks of machines that
/// share a folder differ by minutes at most.
#[cfg(feature = "parquet")]
const LEFTOVER: Duration = Duration::from_secs(60 * 60);

/// Temporary files that are being written.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A temporary file, known as unfinished until this is dropped.
struct Unfinished(PathBuf);

impl Unfinished {
    fn new(path: PathBuf) -> Unfinished {
        if let Ok(mut list) = UNFINISHED.lock() {
            list.push(path.clone());
        }
        Unfinished(path)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Ok(mut list) = UNFINISHED.lock() {
            list.retain(|path| *path != self.0);
        }
    }
}

/// Removes the files that this process has begun and not finished. For a process that is about to end: what is
/// being written will not be there.
pub fn abandon_files() {
    if let Ok(list) = UNFINISHED.lock() {
        for path in list.iter() {
            // It may just have got its name.
            let _ = fs::remove_file(path);
        }
    }
}

/// Lets `write` fill a temporary file beside `path`, syncs it, and renames it to `path`.
pub fn replace_file(path: &Path, write: impl FnOnce(File) -> io::Result<File>) -> io::Result<()> {
    let temporary = Unfinished::new(temporary_name(path));
    let temporary = &temporary.0;
    let written = File::create_new(temporary)
        .and_then(write)
        .and_then(|file| file.sync_all())
        .and_then(|()| fs::rename(temporary, path))
        .and_then(|()| sync_folder(path));
    if written.is_err() {
        // The first error is the one to report; the file may not even exist.
        let _ = fs::remove_file(temporary);
    }
    written
}

/// Writes a file that must not be there yet; `false` if it is. Of several writers one succeeds, and readers see
/// the whole file or none: a temporary file gets its name by a link, which never replaces. Where there are no links
/// the file is created empty and then filled, and a reader may see less than the whole for a moment.
#[cfg(feature = "parquet")]
pub(crate) fn create_file(path: &Path, content: &[u8]) -> io::Result<bool> {
    let temporary = Unfinished::new(temporary_name(path));
    let temporary = &temporary.0;
    let fill = |mut file: File| file.write_all(content).and_then(|()| file.sync_all());
    let linked =
        File::create_new(temporary).and_then(fill).and_then(|()| fs::hard_link(temporary, path));
    // What is left has a second name, or is of no use.
    let _ = fs::remove_file(temporary);
    let exists = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
    let created = match linked {
        Err(error) if no_links(&error) => File::create_new(path).and_then(fill),
        other => other,
    };
    match created {
        Err(error) if exists(&error) => Ok(false),
        other => other.and_then(|()| sync_folder(path)).map(|()| true),
    }
}

/// Whether a file system says that it has no links.
#[cfg(feature = "parquet")]
fn no_links(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied)
        || matches!(error.raw_os_error(), Some(libc_codes::EPERM | libc_codes::EMLINK))
}

/// Numbers of errors by which Unix systems say that a link cannot be made.
#[cfg(feature = "parquet")]
mod libc_codes {
    pub(super) const EPERM: i32 = 1;
    pub(super) const EMLINK: i32 = 31;
}

/// Removes what writers that were killed have left in a folder. Fresh files stay: somebody may be writing
/// them, perhaps on another machine.
#[cfg(feature = "parquet")]
pub(crate) fn remove_leftovers(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let age = entry.metadata().and_then(|m| m.modified()).map(|time| time.elapsed());
        let old = age.is_ok_and(|age| age.is_ok_and(|age| age > LEFTOVER));
        if old && name.starts_with('.') && name.ends_with(".tmp") {
            // Whoever cannot remove it can still write beside it; another may have been quicker.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// `.NAME.PROCESS-RANDOM.tmp` in the same folder: hidden, and no other writer's. Processes on two machines
/// may have the same number.
fn temporary_name(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    let random = RandomState::new().build_hasher().finish();
    name.push(format!(".{}-{random:016x}.tmp", std::process::id()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "parquet")]
    #[test]
    fn only_old_temporary_files_are_leftovers() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path();
        let old = std::time::SystemTime::now() - 2 * LEFTOVER;
        for (name, time) in [
            (".part.parquet.7-1.tmp", Some(old)),
            (".part.parquet.8-2.tmp", None),
            ("part.parquet", Some(old)),
            ("mine.tmp", Some(old)),
        ] {
            let file = File::create(folder.join(name)).expect("a file");
            if let Some(time) = time {
                file.set_modified(time).expect("a time");
            }
        }
        remove_leftovers(folder);
        let entries = fs::read_dir(folder).expect("a listing");
        let mut left: Vec<_> = entries.map(|e| e.expect("an entry").file_name()).collect();
        left.sort();
        assert_eq!(left, [".part.parquet.8-2.tmp", "mine.tmp", "part.parquet"]);
    }

    #[test]
    fn no_two_writers_share_a_temporary_name() {
        let path = Path::new("parts/full-00000.parquet");
        assert_ne!(temporary_name(path), temporary_name(path));
    }
}
