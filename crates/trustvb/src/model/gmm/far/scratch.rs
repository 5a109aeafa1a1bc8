//! Rows in a scratch file: a data set is read once, checked as always, and every pass reads numbers from the scratch
//! file, some megabytes at a time and ahead of the sums that are made of them.

use super::part::{Filler, scale_blocks};
use super::{FarRows, Pass, RowKeeper, RowsSummary};
use crate::data::{DataError, Frame, ReadOptions};
use crate::model::wish::Source;
use crate::simd::LANES;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that are read together, unless threads need more to share.
const READ: usize = 1 << 22;

/// Bytes of a block of one column.
const BLOCK: usize = 8 * LANES;

/// Rows of a source in a scratch file without a name, in the folder for temporary files (`TMPDIR`), and how many were left
/// out because something is missing; `look` is shown every piece. The file is gone when the last copy is dropped, however the program ends.
pub(in crate::model::gmm) fn stream(
    source: &dyn Source,
    options: ReadOptions<'_>,
    look: &mut dyn FnMut(&Frame),
) -> Result<(FarRows, usize), DataError> {
    let folder = std::env::temp_dir();
    let before = source.path().map(|path| (path.to_owned(), stamp(path)));
    let mut scratch = Writer::create(&folder)?;
    let mut name = String::new();
    let mut filler: Option<Filler> = None;
    source.pieces(options, &mut |pieces| {
        for frame in pieces {
            let frame = frame?;
            name = frame.source().to_owned();
            look(&frame);
            let mut blocks = Vec::new();
            Filler::push_frame(&mut filler, &frame, &mut blocks)?;
            scratch.write(&blocks)?;
        }
        Ok(())
    })?;
    let empty = || DataError::Empty { file: name.clone() };
    let mut filler = filler.ok_or_else(empty)?;
    let mut blocks = Vec::new();
    filler.finish(&mut blocks);
    scratch.write(&blocks)?;
    if let Some((path, before)) = before
        && stamp(&path) != before
    {
        return Err(DataError::Changed { file: path.display().to_string() });
    }
    let (summary, kept) = scratch.finish(&filler)?;
    Ok((FarRows::new(&name, summary, Arc::new(kept)), filler.dropped))
}

/// Length and time of a plain file, which tell that it changed; nothing of a pipe.
fn stamp(path: &Path) -> Option<(u64, Option<std::time::SystemTime>)> {
    let found: Metadata = std::fs::metadata(path).ok().filter(Metadata::is_file)?;
    Some((found.len(), found.modified().ok()))
}

/// A scratch file that is being written.
struct Writer {
    folder: PathBuf,
    file: File,
    bytes: Vec<u8>,
    written: u64,
}

impl Writer {
    fn create(folder: &Path) -> Result<Writer, DataError> {
        let refused = |source| DataError::Scratch { folder: words(folder), written: 0, source };
        let file = tempfile::tempfile_in(folder).map_err(refused)?;
        Ok(Writer { folder: folder.to_owned(), file, bytes: Vec::new(), written: 0 })
    }

    fn failed(&self, source: io::Error) -> DataError {
        DataError::Scratch { folder: words(&self.folder), written: self.written, source }
    }

    fn write(&mut self, blocks: &[[f64; LANES]]) -> Result<(), DataError> {
        self.bytes.clear();
        self.bytes.extend(blocks.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        self.file.write_all(&self.bytes).map_err(|source| self.failed(source))?;
        self.written += self.bytes.len() as u64;
        Ok(())
    }

    /// Looks at the rows twice more: for their spread, and to bring them to the units of passes.
    fn finish(mut self, filler: &Filler) -> Result<(RowsSummary, ScratchRows), DataError> {
        let mut spread = filler.spread();
        let mut blocks = Vec::new();
        let width = BLOCK * spread.n_columns();
        let (length, written) = ((READ / width).max(1), self.written);
        let at = |turn: u64| turn * (length * width) as u64;
        let turns = written.div_ceil((length * width) as u64);
        let count = |turn: u64| (written - at(turn)).min((length * width) as u64) as usize;
        for turn in 0..turns {
            let Writer { file, bytes, .. } = &mut self;
            read(file, at(turn), count(turn), bytes, &mut blocks).map_err(|e| self.failed(e))?;
            spread.add(&blocks);
        }
        let mut summary = spread.summary();
        // A column that does not change is refused by whoever builds the model.
        summary.sd.iter_mut().filter(|sd| **sd == 0.0).for_each(|sd| *sd = 1.0);
        for turn in 0..turns {
            let Writer { file, bytes, .. } = &mut self;
            read(file, at(turn), count(turn), bytes, &mut blocks).map_err(|e| self.failed(e))?;
            let n = filler.n_rows.saturating_sub(turn as usize * length * LANES);
            scale_blocks(&mut blocks, n, &summary.mean, &summary.sd);
            self.file.seek(SeekFrom::Start(at(turn))).map_err(|e| self.failed(e))?;
            let so_far = self.written;
            self.write(&blocks)?;
            self.written = so_far;
        }
        let (p, n) = (summary.names.len(), summary.n_rows);
        let folder = self.folder;
        Ok((summary, ScratchRows { folder, file: Mutex::new(self.file), p, n }))
    }
}

fn words(folder: &Path) -> String {
    folder.display().to_string()
}

/// Reads some blocks from a place of a file.
fn read(
    file: &mut File,
    from: u64,
    count: usize,
    bytes: &mut Vec<u8>,
    blocks: &mut Vec<[f64; LANES]>,
) -> io::Result<()> {
    file.seek(SeekFrom::Start(from))?;
    bytes.resize(count, 0);
    file.read_exact(bytes)?;
    blocks.resize(count / BLOCK, [0.0; LANES]);
    let (numbers, _) = bytes.as_chunks();
    for (x, bytes) in blocks.as_flattened_mut().iter_mut().zip(numbers) {
        *x = f64::from_le_bytes(*bytes);
    }
    Ok(())
}

/// Rows in a scratch file, in the units of passes.
#[derive(Debug)]
struct ScratchRows {
    folder: PathBuf,
    file: Mutex<File>,
    p: usize,
    n: usize,
}

/// Blocks on their way from the reader, to be used again.
type Slab = Vec<[f64; LANES]>;

impl ScratchRows {
    fn failed(&self, error: io::Error) -> String {
        format!("the scratch file in {}: {error}", self.folder.display())
    }

    fn read(
        &self,
        first: usize,
        count: usize,
        bytes: &mut Vec<u8>,
        slab: &mut Slab,
    ) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let width = BLOCK * self.p;
        read(&mut file, (first * width) as u64, count * width, bytes, slab)
    }

    /// Gives all blocks to `take`, whole pieces of a pass at a time, while a thread reads the next ones.
    fn each(&self, mut take: impl FnMut(&[[f64; LANES]], usize)) -> io::Result<()> {
        let piece = Pass::piece_length(self.p);
        let pieces = READ / (piece * BLOCK * self.p);
        let length = piece * pieces.max(2 * rayon::current_num_threads());
        let n_blocks = self.n.div_ceil(LANES);
        std::thread::scope(|scope| {
            let (full, filled) = sync_channel::<io::Result<Slab>>(1);
            let (empty, emptied) = channel::<Slab>();
            // Two: one is read while sums are made of the other.
            for _ in 0..2 {
                let _ = empty.send(Slab::new());
            }
            scope.spawn(move || {
                let mut bytes = Vec::new();
                for first in (0..n_blocks).step_by(length) {
                    // Nobody listens, or gives back, after an error.
                    let Ok(mut slab) = emptied.recv() else { return };
                    let count = length.min(n_blocks - first);
                    let done = self.read(first, count, &mut bytes, &mut slab);
                    if full.send(done.map(|()| slab)).is_err() {
                        return;
                    }
                }
            });
            for (turn, slab) in filled.into_iter().enumerate() {
                let slab = slab?;
                let before = turn * length * LANES;
                take(&slab, (self.n - before).min(length * LANES));
                let _ = empty.send(slab);
            }
            Ok(())
        })
    }
}

impl RowKeeper for ScratchRows {
    fn sums(&self, pass: &Pass) -> Result<Vec<f64>, String> {
        let mut sums = vec![0.0; pass.n_sums()];
        self.each(|blocks, n| pass.add(blocks, n, &mut sums)).map_err(|e| self.failed(e))?;
        Ok(sums)
    }

    fn rows(&self, _units: (&[f64], &[f64]), numbers: &[usize]) -> Result<Vec<f64>, String> {
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_unstable_by_key(|&i| numbers[i]);
        let mut all = vec![0.0; numbers.len() * self.p];
        let (mut slab, mut bytes) = (Slab::new(), Vec::new());
        let mut there = usize::MAX;
        for i in order {
            let (block, lane) = (numbers[i] / LANES, numbers[i] % LANES);
            if block != there {
                self.read(block, 1, &mut bytes, &mut slab).map_err(|e| self.failed(e))?;
                there = block;
            }
            for (x, column) in all[i * self.p..(i + 1) * self.p].iter_mut().zip(&slab) {
                *x = column[lane];
            }
        }
        Ok(all)
    }
}
