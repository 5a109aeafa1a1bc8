//! Groups as their sufficient statistics, and the change of units between data and model.

use super::super::prior::PriorBase;
use crate::data::Grouped;
use crate::fit::Clusterable;
use crate::linalg::{cholesky, packed_index, packed_len, solve_cholesky};
use crate::model::moments;
use crate::simd::LANES;
use rayon::prelude::*;

/// Standardised columns: `z_j = (x_j − centre_j)/scale_j`, `u = (y − centre_y)/scale_y`, and so
/// `β = T b + t` between coefficients in the data's units (`β`) and the model's (`b`).
#[derive(Clone, Debug)]
pub(super) struct Units {
    centre: Vec<f64>,
    scale: Vec<f64>,
    centre_y: f64,
    pub(super) scale_y: f64,
    intercept: Option<usize>,
}

impl Units {
    fn new(data: &Grouped, base: PriorBase) -> Units {
        let p = data.n_columns();
        let constant = |x: &[f64]| x.iter().all(|v| *v == x[0]);
        let intercept =
            (0..p).find(|&j| data.design_column(j)[0] == 1.0 && constant(data.design_column(j)));
        let mut units = Units {
            centre: vec![0.0; p],
            scale: vec![1.0; p],
            centre_y: 0.0,
            scale_y: 1.0,
            intercept,
        };
        if base == PriorBase::Paper {
            return units;
        }
        // Without an intercept a shift would change the model, so columns are only scaled.
        let spread = |x: &[f64]| {
            let n = x.len() as f64;
            let centre = if intercept.is_some() { x.iter().sum::<f64>() / n } else { 0.0 };
            let scale = (x.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / n).sqrt();
            (centre, if scale > 0.0 { scale } else { 1.0 })
        };
        let spreads: Vec<(f64, f64)> =
            (0..p).into_par_iter().map(|j| spread(data.design_column(j))).collect();
        for j in (0..p).filter(|j| Some(*j) != intercept) {
            (units.centre[j], units.scale[j]) = spreads[j];
        }
        (units.centre_y, units.scale_y) = spread(data.response());
        units
    }

    /// Coefficients in the data's units.
    pub(super) fn to_data(&self, b: &[f64]) -> Vec<f64> {
        let mut beta: Vec<f64> = self.difference_to_data(b);
        if let Some(i) = self.intercept {
            beta[i] += self.centre_y;
        }
        beta
    }

    /// `T b`: a difference of coefficients, in the data's units.
    fn difference_to_data(&self, b: &[f64]) -> Vec<f64> {
        let mut beta: Vec<f64> =
            b.iter().zip(&self.scale).map(|(b, s)| self.scale_y * b / s).collect();
        if let Some(i) = self.intercept {
            beta[i] -= beta.iter().zip(&self.centre).map(|(b, c)| b * c).sum::<f64>();
        }
        beta
    }

    /// `T^-1 β`: a difference of coefficients, in the model's units.
    fn difference_to_model(&self, beta: &[f64]) -> Vec<f64> {
        let mut b: Vec<f64> =
            beta.iter().zip(&self.scale).map(|(b, s)| b * s / self.scale_y).collect();
        if let Some(i) = self.intercept {
            let moved: f64 = beta.iter().zip(&self.centre).map(|(b, c)| b * c).sum();
            b[i] += moved / self.scale_y;
        }
        b
    }

    /// Coefficients in the model's units.
    pub(super) fn to_model(&self, beta: &[f64]) -> Vec<f64> {
        let mut moved = beta.to_vec();
        if let Some(i) = self.intercept {
            moved[i] -= self.centre_y;
        }
        self.difference_to_model(&moved)
    }

    /// `T S Tᵀ`, packed.
    pub(super) fn covariance_to_data(&self, s: &[f64]) -> Vec<f64> {
        both_sides(self.scale.len(), s, |x| self.difference_to_data(x))
    }

    /// `T^-1 S T^-T`, packed.
    pub(super) fn covariance_to_model(&self, s: &[f64]) -> Vec<f64> {
        both_sides(self.scale.len(), s, |x| self.difference_to_model(x))
    }
}

/// `A S Aᵀ` of a packed symmetric `S` and a linear map `A`.
fn both_sides(p: usize, s: &[f64], map: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let columns: Vec<Vec<f64>> =
        (0..p).map(|j| map(&(0..p).map(|i| s[packed_index(i, j)]).collect::<Vec<f64>>())).collect();
    let mut out = vec![0.0; packed_len(p)];
    for i in 0..p {
        let row = map(&columns.iter().map(|column| column[i]).collect::<Vec<f64>>());
        for j in 0..=i {
            out[packed_index(i, j)] = row[j];
        }
    }
    out
}

/// Sufficient statistics of all groups: per group `J, y'y, X'y, X'X` (packed), in blocks of eight.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    p: usize,
    n: usize,
    units: Units,
    /// Block `b`, feature `f` at `b*features + f`.
    pub(super) blocks: Vec<[f64; LANES]>,
    /// Typical size of each feature, for relative changes.
    pub(super) sizes: Vec<f64>,
    /// `Σ X'X / Σ J`, in the model's units.
    mean_cross_product: Vec<f64>,
}

/// Where the features of a group are: rows, `y'y`, then `X'y`, then the triangle of `X'X`.
pub(super) const ROWS: usize = 0;
pub(super) const YY: usize = 1;
pub(super) const XY: usize = 2;

/// Features of a group with `p` coefficients.
pub(super) const fn features(p: usize) -> usize {
    2 + p + packed_len(p)
}

impl Groups {
    pub(super) fn new(data: &Grouped, base: PriorBase) -> Groups {
        let (p, n) = (data.n_columns(), data.n_groups());
        let units = Units::new(data, base);
        let length = features(p);
        let mut blocks = vec![[0.0; LANES]; n.div_ceil(LANES) * length];
        let order = Order::new(data);
        blocks.par_chunks_mut(length).enumerate().for_each_init(Gather::default, |gather, at| {
            let (block, features) = at;
            for group in block * LANES..n.min((block + 1) * LANES) {
                let lane = group % LANES;
                gather.statistics(data, &units, &order, group, |feature, x| {
                    features[feature][lane] = x;
                });
            }
        });
        let mut total = vec![0.0; length];
        for features in blocks.chunks_exact(length) {
            for (total, lanes) in total.iter_mut().zip(features) {
                *total += lanes.iter().sum::<f64>();
            }
        }
        let diagonal = |j: usize| total[XY + p + packed_index(j, j)];
        let per_group = 1.0 / n as f64;
        let mut sizes = vec![0.0; length];
        sizes[ROWS] = total[ROWS] * per_group;
        sizes[YY] = total[YY] * per_group;
        for i in 0..p {
            sizes[XY + i] = (diagonal(i) * total[YY]).sqrt() * per_group;
            for j in 0..=i {
                sizes[XY + p + packed_index(i, j)] = (diagonal(i) * diagonal(j)).sqrt() * per_group;
            }
        }
        for size in &mut sizes {
            *size = size.max(f64::MIN_POSITIVE);
        }
        let mean_cross_product = total[XY + p..].iter().map(|x| x / total[ROWS]).collect();
        Groups { p, n, units, blocks, sizes, mean_cross_product }
    }

    pub(super) fn p(&self) -> usize {
        self.p
    }

    pub(super) fn len(&self) -> usize {
        self.n
    }

    pub(super) fn units(&self) -> &Units {
        &self.units
    }

    pub(super) fn feature(&self, group: usize, feature: usize) -> f64 {
        self.blocks[group / LANES * features(self.p) + feature][group % LANES]
    }

    /// `‖y − X b‖²` of a group.
    pub(super) fn residual(&self, group: usize, b: &[f64]) -> f64 {
        let p = self.p;
        let mut sum = self.feature(group, YY);
        for i in 0..p {
            sum -= 2.0 * b[i] * self.feature(group, XY + i);
            for j in 0..=i {
                let twice = if i == j { 1.0 } else { 2.0 };
                sum += twice * b[i] * b[j] * self.feature(group, XY + p + packed_index(i, j));
            }
        }
        sum.max(0.0)
    }
}

/// The rows of each group.
struct Order {
    /// Where each group's rows begin, and the end of the last.
    begins: Vec<usize>,
    /// Row numbers, group after group; `None` when the data have that order already.
    rows: Option<Vec<usize>>,
}

impl Order {
    fn new(data: &Grouped) -> Order {
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
}

/// Memory for the moments of one group after the other.
#[derive(Default)]
struct Gather {
    blocks: Vec<[f64; LANES]>,
    weights: Vec<[f64; LANES]>,
    sums: Vec<[f64; LANES]>,
}

/// Blocks of rows that are gathered before their moments are taken.
const GATHERED: usize = 24;

impl Gather {
    /// The features of a group: moments of the rows `(z_1 … z_p, u)` in the model's units.
    fn statistics(
        &mut self,
        data: &Grouped,
        units: &Units,
        order: &Order,
        group: usize,
        mut put: impl FnMut(usize, f64),
    ) {
        let p = data.n_columns();
        let width = p + 1;
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
            for j in 0..width {
                let (column, centre, scale) = if j < p {
                    (data.design_column(j), units.centre[j], units.scale[j])
                } else {
                    (data.response(), units.centre_y, units.scale_y)
                };
                let mut fill = |i: usize, x: f64| {
                    self.blocks[i / LANES * width + j][i % LANES] = (x - centre) / scale;
                };
                match &order.rows {
                    None => (0..count).zip(&column[from..]).for_each(|(i, &x)| fill(i, x)),
                    Some(rows) => {
                        (0..count).zip(&rows[from..]).for_each(|(i, &row)| fill(i, column[row]));
                    }
                }
            }
            for i in count..n_blocks * LANES {
                self.weights[i / LANES][i % LANES] = 0.0;
            }
            moments::add(width, &self.blocks, &self.weights, &mut self.sums);
        }
        let sum = |at: usize| self.sums[at].iter().sum::<f64>();
        let second = |i: usize, j: usize| sum(1 + width + packed_index(i, j));
        put(ROWS, (end - begin) as f64);
        put(YY, second(p, p));
        for i in 0..p {
            put(XY + i, second(p, i));
            for j in 0..=i {
                put(XY + p + packed_index(i, j), second(i, j));
            }
        }
    }
}

/// Clusterwise regression: k-means with the residual sum of squares as loss.
impl Clusterable for Groups {
    fn n_units(&self) -> usize {
        self.n
    }
    fn centre_len(&self) -> usize {
        self.p
    }
    fn loss(&self, unit: usize, centre: &[f64]) -> f64 {
        self.residual(unit, centre)
    }
    /// The least-squares fit of one group, drawn towards that of all rows by a slight ridge, which
    /// decides where the group has fewer rows than coefficients.
    fn centre_of(&self, unit: usize, out: &mut [f64]) {
        self.refit(&mut std::iter::once((unit, 1.0)), out);
    }
    fn refit(&self, members: &mut dyn Iterator<Item = (usize, f64)>, out: &mut [f64]) {
        let p = self.p;
        let mut cross = vec![0.0; packed_len(p)];
        let mut right = vec![0.0; p];
        let mut any = false;
        for (unit, weight) in members {
            any = true;
            for (f, c) in cross.iter_mut().enumerate() {
                *c += weight * self.feature(unit, XY + p + f);
            }
            for (j, r) in right.iter_mut().enumerate() {
                *r += weight * self.feature(unit, XY + j);
            }
        }
        if !any {
            return;
        }
        for (c, mean) in cross.iter_mut().zip(&self.mean_cross_product) {
            *c += 1e-3 * mean;
        }
        if cholesky(p, &mut cross).is_ok() {
            solve_cholesky(p, &cross, &mut right);
            out.copy_from_slice(&right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_sums_over_the_rows_of_a_group() {
        for (p, interleaved) in [(2, false), (3, true), (9, true)] {
            let n_rows = 1000;
            let value = |row: usize, j: usize| ((row * 7 + j * 13) % 29) as f64 - 11.0;
            let column = |j: usize| (0..n_rows).map(|row| value(row, j)).collect::<Vec<f64>>();
            let group = |row: usize| if interleaved { row % 3 } else { row / 400 };
            let labels: Vec<String> = (0..n_rows).map(|row| group(row).to_string()).collect();
            let names = (0..p).map(|j| format!("x{j}")).collect();
            let design = (0..p).map(column).collect();
            let data =
                Grouped::from_columns("y".to_owned(), column(p), names, design, Some(&labels))
                    .unwrap();
            let groups = Groups::new(&data, PriorBase::Paper);
            for g in 0..3 {
                let sum = |i: usize, j: usize| -> f64 {
                    let rows = (0..n_rows).filter(|row| group(*row) == g);
                    rows.map(|row| value(row, i) * value(row, j)).sum()
                };
                // Integers, so every order of summation gives the same.
                assert_eq!(groups.feature(g, YY), sum(p, p));
                for i in 0..p {
                    assert_eq!(groups.feature(g, XY + i), sum(i, p));
                    for j in 0..=i {
                        assert_eq!(groups.feature(g, XY + p + packed_index(i, j)), sum(i, j));
                    }
                }
            }
            assert_eq!((0..3).map(|g| groups.feature(g, ROWS)).sum::<f64>(), n_rows as f64);
        }
    }
}
