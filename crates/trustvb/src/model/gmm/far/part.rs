//! Some of the rows in memory, which answer passes: what a worker holds, and how rows become blocks.

use super::{Pass, RowsSummary};
use crate::data::{Column, DataError, Dataset, Frame, Pieces, ReadOptions};
use crate::simd::LANES;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

/// Some of the rows of a data set, in memory.
///
/// It is loaded in the data's units, says what is known of its columns, and is brought to the units of the first pass in
/// place: rows are held once. The units of all passes must be the same, as those of one data set are.
///
/// ```
/// use std::sync::Arc;
/// use trustvb::data::Dataset;
/// use trustvb::model::{FarRows, Pass, RowKeeper, RowsPart, RowsSummary};
/// use trustvb::prelude::*;
///
/// /// Rows in two parts, which might be on two machines.
/// #[derive(Debug)]
/// struct Halves([RowsPart; 2]);
///
/// impl RowKeeper for Halves {
///     fn sums(&self, pass: &Pass) -> Result<Vec<f64>, String> {
///         let [one, two] = [self.0[0].sums(pass)?, self.0[1].sums(pass)?];
///         Ok(one.iter().zip(two).map(|(a, b)| a + b).collect())
///     }
///     fn rows(&self, units: (&[f64], &[f64]), numbers: &[usize]) -> Result<Vec<f64>, String> {
///         let first = self.0[0].summary().n_rows;
///         let row = |&n: &usize| match n < first {
///             true => self.0[0].rows(units, &[n]),
///             false => self.0[1].rows(units, &[n - first]),
///         };
///         Ok(numbers.iter().map(row).collect::<Result<Vec<_>, _>>()?.concat())
///     }
/// }
///
/// let data = Dataset::faithful();
/// let half = |from: usize, to: usize| {
///     let columns = (0..2).map(|j| data.column(j)[from..to].to_vec()).collect();
///     Dataset::from_columns(data.names().to_vec(), columns).map(|rows| RowsPart::new(&rows))
/// };
/// let halves = [half(0, 100)?, half(100, 272)?];
/// let known = RowsSummary::merged("two halves", &[0, 1].map(|i| halves[i].summary().clone()))?;
/// let far = FarRows::new("two halves", known, Arc::new(Halves(halves)));
/// let fit = Problem::new(GaussianMixture::new(2), far)?.fit().seed(1).run()?;
/// assert!((fit.posterior.weights()[0] - 0.642).abs() < 0.001);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RowsPart {
    summary: RowsSummary,
    dropped: usize,
    held: RwLock<Held>,
}

/// Units that rows are in: what is taken off each column, and what it is then divided by.
pub type RowUnits = (Vec<f64>, Vec<f64>);

#[derive(Debug)]
struct Held {
    blocks: Vec<[f64; LANES]>,
    /// The units that rows are in; none while they are those of the data.
    units: Option<RowUnits>,
}

impl RowsPart {
    /// Rows that are in memory.
    pub fn new(data: &Dataset) -> RowsPart {
        let (mut filler, mut blocks) = (Filler::new(data.names().to_vec()), Vec::new());
        let columns: Vec<&[f64]> = (0..data.n_columns()).map(|j| data.column(j)).collect();
        filler.push(&columns, &mut blocks);
        RowsPart::filled(filler, blocks)
    }

    /// No rows of these columns.
    pub fn empty(names: Vec<String>) -> RowsPart {
        RowsPart::filled(Filler::new(names), Vec::new())
    }

    /// Rows of a CSV or Parquet file, read in pieces, so that they are held once.
    pub fn read(path: &Path, options: &ReadOptions<'_>) -> Result<RowsPart, DataError> {
        let mut filled: Option<Filler> = None;
        let mut blocks = Vec::new();
        for frame in Pieces::open(path, options, Pieces::ROWS)? {
            Filler::push_frame(&mut filled, &frame?, &mut blocks)?;
        }
        let empty = || DataError::Empty { file: path.display().to_string() };
        Ok(RowsPart::filled(filled.ok_or_else(empty)?, blocks))
    }

    fn filled(mut filler: Filler, mut blocks: Vec<[f64; LANES]>) -> RowsPart {
        filler.finish(&mut blocks);
        let mut spread = filler.spread();
        spread.add(&blocks);
        RowsPart {
            dropped: filler.dropped,
            summary: spread.summary(),
            held: RwLock::new(Held { blocks, units: None }),
        }
    }

    /// What is known of its columns.
    pub fn summary(&self) -> &RowsSummary {
        &self.summary
    }

    /// Rows that were left out because something is missing.
    pub fn n_dropped(&self) -> usize {
        self.dropped
    }

    /// Its columns, and the units that they are in where a pass has brought them there: with its summary, all of it.
    pub fn columns(&self) -> (Vec<Vec<f64>>, Option<RowUnits>) {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        let (p, n) = (self.summary.names.len(), self.summary.n_rows);
        let value = |i: usize, j: usize| held.blocks[i / LANES * p + j][i % LANES];
        let columns = (0..p).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
        (columns, held.units.clone())
    }

    /// The inverse of [`RowsPart::columns`]; `None` where lengths do not fit.
    pub fn restored(
        summary: RowsSummary,
        columns: &[&[f64]],
        units: Option<RowUnits>,
        dropped: usize,
    ) -> Option<RowsPart> {
        let (p, n) = (summary.names.len(), summary.n_rows);
        let per_column = [&summary.mean, &summary.sd, &summary.least, &summary.largest];
        let of_units = units.iter().flat_map(|(centre, scale)| [centre.len(), scale.len()]);
        let fits = columns.len() == p
            && columns.iter().all(|column| column.len() == n)
            && per_column.iter().map(|x| x.len()).chain(of_units).all(|length| length == p);
        fits.then(|| {
            let (mut filler, mut blocks) = (Filler::new(summary.names.clone()), Vec::new());
            filler.push(columns, &mut blocks);
            filler.finish(&mut blocks);
            RowsPart { summary, dropped, held: RwLock::new(Held { blocks, units }) }
        })
    }

    /// Bytes that it holds.
    pub fn n_bytes(&self) -> usize {
        8 * LANES * self.held.read().unwrap_or_else(PoisonError::into_inner).blocks.len()
    }

    /// The sums of a pass over these rows.
    pub fn sums(&self, pass: &Pass) -> Result<Vec<f64>, String> {
        let mut sums = vec![0.0; pass.n_sums()];
        self.in_units((&pass.centre, &pass.scale), |blocks| {
            pass.add(blocks, self.summary.n_rows, &mut sums);
        })?;
        Ok(sums)
    }

    /// Rows by number from 0, row after row, in the units given as centres and scales.
    pub fn rows(&self, units: (&[f64], &[f64]), numbers: &[usize]) -> Result<Vec<f64>, String> {
        let (p, n) = (self.summary.names.len(), self.summary.n_rows);
        if let Some(number) = numbers.iter().find(|number| **number >= n) {
            return Err(format!("row {} was asked for, of {n}", number + 1));
        }
        let mut all = Vec::with_capacity(numbers.len() * p);
        self.in_units(units, |blocks| {
            let row = |&i: &usize| (0..p).map(move |j| blocks[i / LANES * p + j][i % LANES]);
            all.extend(numbers.iter().flat_map(row));
        })?;
        Ok(all)
    }

    /// The blocks in these units, which are those of all passes.
    fn in_units(
        &self,
        (centre, scale): (&[f64], &[f64]),
        work: impl FnOnce(&[[f64; LANES]]),
    ) -> Result<(), String> {
        let p = self.summary.names.len();
        if centre.len() != p || scale.len() != p {
            return Err(format!("a pass over {} columns met rows of {p}", centre.len()));
        }
        let is_wanted =
            |held: &Held| held.units.as_ref().is_some_and(|(c, s)| c == centre && s == scale);
        let read = || self.held.read().unwrap_or_else(PoisonError::into_inner);
        if !is_wanted(&read()) {
            let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
            let Held { blocks, units } = &mut *held;
            match units {
                None => {
                    scale_blocks(blocks, self.summary.n_rows, centre, scale);
                    *units = Some((centre.to_vec(), scale.to_vec()));
                }
                Some((c, s)) if c.as_slice() == centre && s.as_slice() == scale => {}
                Some(_) => {
                    return Err(
                        "the rows are in the units of another data set; load them again".to_owned()
                    );
                }
            }
        }
        work(&read().blocks);
        Ok(())
    }
}

/// Brings the first `n` rows in blocks to units; rows that only fill the last block stay 0.
pub(super) fn scale_blocks(blocks: &mut [[f64; LANES]], n: usize, centre: &[f64], scale: &[f64]) {
    for (b, block) in blocks.chunks_exact_mut(centre.len()).enumerate() {
        let there = n.saturating_sub(b * LANES).min(LANES);
        for ((x, centre), scale) in block.iter_mut().zip(centre).zip(scale) {
            for x in &mut x[..there] {
                *x = (*x - centre) / scale;
            }
        }
    }
}

/// Rows on their way into blocks of eight, with the sums that means are made of.
pub(super) struct Filler {
    names: Vec<String>,
    /// A block that is not full yet, and how many rows it has.
    begun: Vec<[f64; LANES]>,
    lane: usize,
    pub(super) n_rows: usize,
    pub(super) dropped: usize,
    sum: Vec<f64>,
    least: Vec<f64>,
    largest: Vec<f64>,
}

impl Filler {
    pub(super) fn new(names: Vec<String>) -> Filler {
        let p = names.len();
        Filler {
            names,
            begun: vec![[0.0; LANES]; p],
            lane: 0,
            n_rows: 0,
            dropped: 0,
            sum: vec![0.0; p],
            least: vec![f64::INFINITY; p],
            largest: vec![f64::NEG_INFINITY; p],
        }
    }

    /// Rows of a frame, of which the first names the columns; whole blocks are appended to `out`.
    pub(super) fn push_frame(
        filler: &mut Option<Filler>,
        frame: &Frame,
        out: &mut Vec<[f64; LANES]>,
    ) -> Result<(), DataError> {
        let mut columns: Vec<&[f64]> = Vec::with_capacity(frame.n_columns());
        for j in 0..frame.n_columns() {
            match frame.column(j) {
                Column::Numeric(values) => columns.push(values),
                // Readers are told to give numbers; whoever does not is told which column.
                Column::Text(text) => {
                    return Err(DataError::TextColumn {
                        file: frame.source().to_owned(),
                        column: frame.names()[j].clone(),
                        first: text.levels().first().cloned().unwrap_or_default(),
                    });
                }
            }
        }
        let filler = filler.get_or_insert_with(|| Filler::new(frame.names().to_vec()));
        filler.dropped += frame.dropped_rows().len();
        filler.push(&columns, out);
        Ok(())
    }

    /// Rows of columns of one length; whole blocks are appended to `out`.
    pub(super) fn push(&mut self, columns: &[&[f64]], out: &mut Vec<[f64; LANES]>) {
        let n = columns.first().map_or(0, |column| column.len());
        for (j, column) in columns.iter().enumerate() {
            for x in *column {
                self.sum[j] += x;
                self.least[j] = self.least[j].min(*x);
                self.largest[j] = self.largest[j].max(*x);
            }
        }
        self.n_rows += n;
        for i in 0..n {
            for (block, column) in self.begun.iter_mut().zip(columns) {
                block[self.lane] = column[i];
            }
            self.lane += 1;
            if self.lane == LANES {
                out.extend_from_slice(&self.begun);
                self.lane = 0;
            }
        }
    }

    /// The last block, filled up with zeros.
    pub(super) fn finish(&mut self, out: &mut Vec<[f64; LANES]>) {
        if self.lane > 0 {
            self.begun.iter_mut().for_each(|block| block[self.lane..].fill(0.0));
            out.extend_from_slice(&self.begun);
            self.lane = 0;
        }
    }

    /// The second look, at squares about the means that are known now.
    pub(super) fn spread(&self) -> Spread<'_> {
        let mean: Vec<f64> = self.sum.iter().map(|sum| sum / self.n_rows as f64).collect();
        Spread { filler: self, squares: vec![0.0; mean.len()], mean, seen: 0 }
    }
}

/// Sums of squares about means, block after block.
pub(super) struct Spread<'a> {
    filler: &'a Filler,
    mean: Vec<f64>,
    squares: Vec<f64>,
    seen: usize,
}

impl Spread<'_> {
    pub(super) fn n_columns(&self) -> usize {
        self.mean.len()
    }

    pub(super) fn add(&mut self, blocks: &[[f64; LANES]]) {
        for block in blocks.chunks_exact(self.mean.len().max(1)) {
            let there = self.filler.n_rows.saturating_sub(self.seen).min(LANES);
            for ((x, mean), square) in block.iter().zip(&self.mean).zip(&mut self.squares) {
                for x in &x[..there] {
                    *square += (x - mean) * (x - mean);
                }
            }
            self.seen += there;
        }
    }

    pub(super) fn summary(self) -> RowsSummary {
        let Spread { filler, mean, squares, .. } = self;
        let n = filler.n_rows as f64;
        RowsSummary {
            names: filler.names.clone(),
            n_rows: filler.n_rows,
            mean,
            sd: squares.iter().map(|square| (square / n).sqrt()).collect(),
            least: filler.least.clone(),
            largest: filler.largest.clone(),
        }
    }
}
