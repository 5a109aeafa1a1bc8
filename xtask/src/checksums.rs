//! SHA256SUMS: what `sha256sum --check` reads.

use crate::command::write;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

const NAME: &str = "SHA256SUMS";

/// A file's checksum in hexadecimal.
pub(crate) fn of(file: &Path) -> Result<String, String> {
    let bytes = fs::read(file).map_err(|why| format!("{}: {why}", file.display()))?;
    Ok(Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Writes the checksums of all files of a folder into it.
pub(crate) fn write_all(folder: &Path) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.is_file() && !path.ends_with(NAME));
    files.sort();
    let mut lines = String::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        lines.push_str(&format!("{}  {name}\n", of(&file)?));
    }
    write(&folder.join(NAME), lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_sha256sum() {
        let folder = crate::command::target().join("xtask-checksums");
        crate::command::emptied(&folder).unwrap();
        write(&folder.join("abc"), "abc").unwrap();
        write_all(&folder).unwrap();
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  abc\n";
        assert_eq!(fs::read_to_string(folder.join(NAME)).unwrap(), expected);
        fs::remove_dir_all(&folder).unwrap();
    }
}
