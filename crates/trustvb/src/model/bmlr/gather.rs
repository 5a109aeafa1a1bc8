//! Sums over the rows of a group: gathered from wherever they are, eight at a time.

use crate::data::Grouped;
use crate::model::moments;
use crate::simd::LANES;

/// A column and the units it is summed in: `(x − centre)/scale`.
#[derive(Clone, Copy)]
pub(super) struct Axis<'a> {
    pub(super) values: &'a [f64],
    pub(super) centre: f64,
    pub(super) scale: f64,
}

/// The rows of each group.
pub(super) struct Order {
    /// Where each group's rows begin, and the end of the last.
    begins: Vec<usize>,
    /// Row numbers, group after group; `None` when the data have that order already.
    rows: Option<Vec<usize>>,
}

impl Order {
    pub(super) fn new(data: &Grouped) -> Order {
        let groups = data.groups();
        let mut begins = vec![0; data.n_groups() + 1];
        for &group in groups {
            begins[group + 1] += 1;
        }
        for group in 0..data.n_groups() {
            begins[group + 1] += begins[group];
        }
        if groups.is_sorted() {
            return Order { begins, rows: None };
        }
        let mut next = begins.clone();
        let mut rows = vec![0; groups.len()];
        for (row, &group) in groups.iter().enumerate() {
            rows[next[group]] = row;
            next[group] += 1;
        }
        Order { begins, rows: Some(rows) }
    }

    /// Rows of a group.
    pub(super) fn count(&self, group: usize) -> usize {
        self.begins[group + 1] - self.begins[group]
    }
}

/// Memory for the moments of one group after the other.
#[derive(Default)]
pub(super) struct Gather {
    blocks: Vec<[f64; LANES]>,
    weights: Vec<[f64; LANES]>,
    sums: Vec<[f64; LANES]>,
}

/// Blocks of rows that are gathered before their moments are taken.
const GATHERED: usize = 24;

impl Gather {
    /// Takes the moments of a group's rows: their number, the sum of each axis, and the triangle of
    /// the sums of products, for [`sum`](Gather::sum).
    pub(super) fn add(&mut self, axes: &[Axis<'_>], order: &Order, group: usize) {
        let width = axes.len();
        self.sums.clear();
        self.sums.resize(moments::len(width), [0.0; LANES]);
        let (begin, end) = (order.begins[group], order.begins[group + 1]);
        for from in (begin..end).step_by(GATHERED * LANES) {
            let count = (end - from).min(GATHERED * LANES);
            let n_blocks = count.div_ceil(LANES);
            self.blocks.clear();
            self.blocks.resize(n_blocks * width, [0.0; LANES]);
            self.weights.clear();
            self.weights.resize(n_blocks, [1.0; LANES]);
            for (j, axis) in axes.iter().enumerate() {
                let mut fill = |i: usize, x: f64| {
                    self.blocks[i / LANES * width + j][i % LANES] = (x - axis.centre) / axis.scale;
                };
                match &order.rows {
                    None => (0..count).zip(&axis.values[from..]).for_each(|(i, &x)| fill(i, x)),
                    Some(rows) => {
                        let rows = (0..count).zip(&rows[from..]);
                        rows.for_each(|(i, &row)| fill(i, axis.values[row]));
                    }
                }
            }
            for i in count..n_blocks * LANES {
                self.weights[i / LANES][i % LANES] = 0.0;
            }
            moments::add(width, &self.blocks, &self.weights, &mut self.sums);
        }
    }

    /// The moment at this place, in the order of [`moments`].
    pub(super) fn sum(&self, at: usize) -> f64 {
        self.sums[at].iter().sum::<f64>()
    }
}
