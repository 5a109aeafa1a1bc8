//! `trustvb manual`: manual pages for `man`.

use crate::args::write_manual;
use crate::failure::Failure;
use std::fs;
use std::path::Path;

/// Writes a page for each command into a folder, which is made if need be.
pub(crate) fn run(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).and_then(|()| write_manual(folder)).map_err(|e| {
        Failure::Run(format!(
            "{}: {e}; check the folder, its permissions and the disk",
            folder.display()
        ))
    })
}
