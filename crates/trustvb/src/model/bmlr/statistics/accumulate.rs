//! Adds pieces of a file to the statistics, each while the next is being read.

use super::GroupStatistics;
use crate::data::{DataError, Formula, Frame, GroupNames, Grouped};
use crate::model::bmlr::gather::{Axis, Gather, Order};
use crate::model::moments;
use rayon::prelude::*;
use std::collections::HashMap;

impl GroupStatistics {
    /// Applies a formula to pieces of a file, such as [`Pieces`](crate::data::Pieces), and keeps only
    /// their sums. Rows of a group may be anywhere.
    ///
    /// A group's sums are taken piece by piece and added in the order of pieces: they depend on where
    /// pieces end, but not on the number of threads.
    pub fn from_pieces(
        formula: &Formula,
        pieces: impl IntoIterator<Item = Result<Frame, DataError>>,
    ) -> Result<GroupStatistics, DataError> {
        let mut accumulator =
            Accumulator { formula, held: None, places: HashMap::new(), n_dropped: 0, source: None };
        let mut pieces = pieces.into_iter();
        let mut next = pieces.next();
        while let Some(piece) = next {
            let frame = piece?;
            if rayon::current_num_threads() == 1 {
                accumulator.add(&frame)?;
                next = pieces.next();
            } else {
                let mut added = Ok(());
                next = rayon::in_place_scope(|scope| {
                    scope.spawn(|_| added = accumulator.add(&frame));
                    pieces.next()
                });
                added?;
            }
        }
        accumulator.finish()
    }

    /// Nothing yet, for data with these columns; sums will be taken about their means.
    fn empty(data: &Grouped, labelled: bool) -> GroupStatistics {
        let width = data.n_columns() + 1;
        let column = |j: usize| column(data, j);
        let is_one = |j: usize| column(j).iter().all(|x| *x == 1.0);
        // Without an intercept the model measures columns from zero. Whether a column of ones stays
        // one is not known yet; sums can be moved back if not.
        let intercept = (0..data.n_columns()).any(is_one);
        let centre = |j: usize| {
            let values = column(j);
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            if intercept && !(j < data.n_columns() && is_one(j)) { mean } else { 0.0 }
        };
        GroupStatistics {
            names: GroupNames {
                labels: labelled.then(Vec::new),
                n_groups: 0,
                ..GroupNames::clone(data)
            },
            n_dropped: 0,
            centre: (0..width).map(centre).collect(),
            ranges: vec![[f64::INFINITY, f64::NEG_INFINITY]; width],
            sums: Vec::new(),
        }
    }
}

/// Column `j` of the design, or the response after them.
fn column(data: &Grouped, j: usize) -> &[f64] {
    if j < data.n_columns() { data.design_column(j) } else { data.response() }
}

/// Statistics as they grow.
struct Accumulator<'a> {
    formula: &'a Formula,
    /// None before the first row.
    held: Option<GroupStatistics>,
    /// The number of each label's group.
    places: HashMap<String, usize>,
    n_dropped: usize,
    source: Option<String>,
}

impl Accumulator<'_> {
    fn add(&mut self, frame: &Frame) -> Result<(), DataError> {
        self.n_dropped += frame.dropped_rows().len();
        self.source.get_or_insert_with(|| frame.source().to_owned());
        if frame.n_rows() == 0 {
            return Ok(());
        }
        let data = self.formula.apply(frame)?;
        let labelled = self.formula.group().is_some();
        let held = self.held.get_or_insert_with(|| GroupStatistics::empty(&data, labelled));
        let (width, n_local) = (held.width(), data.n_groups());
        let places: Vec<usize> = match &mut held.names.labels {
            None => (held.names.n_groups..held.names.n_groups + n_local).collect(),
            Some(labels) => (0..n_local)
                .map(|group| {
                    let label = data.group_label(group);
                    if let Some(&place) = self.places.get(label.as_ref()) {
                        return place;
                    }
                    let label = label.into_owned();
                    labels.push(label.clone());
                    self.places.insert(label, labels.len() - 1);
                    labels.len() - 1
                })
                .collect(),
        };
        let names = &mut held.names;
        names.n_groups = names.labels.as_ref().map_or(names.n_groups + n_local, Vec::len);

        let length = moments::len(width);
        held.sums.resize(held.n_groups() * length, 0.0);
        let axes: Vec<Axis<'_>> = (0..width)
            .map(|j| Axis { values: column(&data, j), centre: held.centre[j], scale: 1.0 })
            .collect();
        let order = Order::new(&data);
        let mut sums = vec![0.0; n_local * length];
        sums.par_chunks_mut(length).enumerate().with_min_len(32).for_each_init(
            Gather::default,
            |gather, (group, sums)| {
                gather.add(&axes, &order, group);
                sums.iter_mut().enumerate().for_each(|(at, sum)| *sum = gather.sum(at));
            },
        );
        for (sums, place) in sums.chunks_exact(length).zip(places) {
            let held = &mut held.sums[place * length..(place + 1) * length];
            held.iter_mut().zip(sums).for_each(|(held, sum)| *held += sum);
        }
        for (axis, range) in axes.iter().zip(&mut held.ranges) {
            let [least, largest] = *range;
            *range = [
                axis.values.iter().copied().fold(least, f64::min),
                axis.values.iter().copied().fold(largest, f64::max),
            ];
        }
        Ok(())
    }

    fn finish(self) -> Result<GroupStatistics, DataError> {
        let Some(mut held) = self.held else {
            let file = self.source.unwrap_or_else(|| "the data".to_owned());
            return Err(DataError::HeaderOnly { file, n_columns: 0 });
        };
        held.n_dropped = self.n_dropped;
        let pooled = held.pooled();
        let overflow = (0..held.width()).find(|&j| !pooled.product(j, j, 0.0, 0.0).is_finite());
        match overflow {
            None => Ok(held),
            Some(j) => {
                let names = held.names.design.iter().chain([&held.names.response]);
                let [least, largest] = held.range(j);
                Err(DataError::SquaresOverflow {
                    file: held.source.clone(),
                    column: names.into_iter().nth(j).cloned().unwrap_or_default(),
                    value: if least.abs() > largest.abs() { least } else { largest },
                })
            }
        }
    }
}
