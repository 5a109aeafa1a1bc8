//! A build on a disk that fills, and goes on when there is room; streamed rows that find none.

use super::common::{Scratch, assert_same_files, parts};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A disk in memory of a given size, gone when it is dropped.
struct Disk(PathBuf);

impl Disk {
    /// Mounts it, or says why that is not possible.
    fn new(place: &Path, kilobytes: usize) -> Result<Disk, String> {
        fs::create_dir(place).expect("a folder");
        let size = format!("size={kilobytes}k");
        mount(&["-t", "tmpfs", "-o", &size, "tmpfs"], place).map(|()| Disk(place.to_path_buf()))
    }

    /// Makes it larger.
    fn grow(&self, kilobytes: usize) {
        mount(&["-o", &format!("remount,size={kilobytes}k")], &self.0).expect("a larger disk");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let gone = Command::new("umount").arg(&self.0).status();
        if !gone.is_ok_and(|status| status.success()) {
            eprintln!("{} could not be unmounted", self.0.display());
        }
    }
}

fn mount(arguments: &[&str], place: &Path) -> Result<(), String> {
    let output = Command::new("mount").args(arguments).arg(place).output();
    match output.map_err(|e| e.to_string())? {
        output if output.status.success() => Ok(()),
        output => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

fn temporary_files(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("a listing");
    entries
        .filter(|e| e.as_ref().is_ok_and(|e| e.path().extension().is_some_and(|x| x == "tmp")))
        .count()
}

#[test]
#[ignore = "mounts a small disk, for which it must be root: `cargo xtask cluster` runs it"]
fn a_disk_that_fills_costs_only_the_parts_that_did_not_fit() {
    const SIZE: [&str; 4] = ["--grid", "60", "-B", "150"];
    let scratch = Scratch::new();
    scratch.ok(&[&["table", "build", "-o", "one.tvb"], &SIZE[..]].concat());
    let all = parts(&scratch.path("one.tvb"));
    let bytes: usize = super::common::files(&scratch.path("one.tvb")).values().map(Vec::len).sum();
    let disk = match Disk::new(&scratch.path("disk"), bytes / 2048) {
        Ok(disk) => disk,
        Err(why) => {
            println!("not tested, because no disk can be mounted here: {why}");
            return;
        }
    };
    let build = [&["table", "build", "-o", "disk/full.tvb"], &SIZE[..]].concat();
    let table = scratch.path("disk/full.tvb");
    // Twice, because the second finds the disk full from the start.
    for _ in 0..2 {
        let run = scratch.run(&build);
        assert_eq!(run.code, Some(1));
        for words in [
            "No space left on device",
            "disk/full.tvb/parts/",
            "the same command goes on from there",
        ] {
            assert!(run.stderr.contains(words), "{words:?} is not in {}", run.stderr);
        }
        let done = parts(&table);
        assert!(0 < done && done < all, "{done} of {all} parts");
        assert_eq!(temporary_files(&table.join("parts")), 0);
        let info = scratch.ok(&["table", "info", "disk/full.tvb"]).stdout;
        assert!(info.contains("missing: ") && !info.contains("damaged"), "{info}");
        assert!(info.contains(&format!("in {done} of {all} parts")), "{info}");
    }
    let run = scratch.run(&["table", "info", "disk/full.tvb", "--complete"]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("disk/full.tvb is not complete"), "{}", run.stderr);
    disk.grow(bytes / 512);
    scratch.ok(&build);
    assert_same_files(&scratch.path("one.tvb"), &table);
}

#[test]
#[ignore = "mounts a small disk, for which it must be root: `cargo xtask cluster` runs it"]
fn a_disk_without_room_for_streamed_rows_is_named() {
    let scratch = Scratch::new();
    scratch.ok(&["simulate", "gmm", "--n", "100000", "-o", "rows.parquet"]);
    // The numbers are 1.6 MB.
    let disk = match Disk::new(&scratch.path("disk"), 1000) {
        Ok(disk) => disk,
        Err(why) => {
            println!("not tested, because no disk can be mounted here: {why}");
            return;
        }
    };
    let fit = || {
        let mut command = scratch.command(&["fit", "rows.parquet", "--stream", "-q"]);
        command.env("TMPDIR", scratch.path("disk"));
        super::common::output(command)
    };
    let run = fit();
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    for words in ["No space left on device", "scratch file", "TMPDIR"] {
        assert!(run.stderr.contains(words), "{words:?} is not in {}", run.stderr);
    }
    assert_eq!(super::common::files(&scratch.path("disk")).len(), 0);
    disk.grow(4000);
    assert_eq!(fit().code, Some(0));
}
