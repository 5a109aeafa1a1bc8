//! Groups as their sufficient statistics, and the change of units between data and model.

use super::super::prior::PriorBase;
use super::gather::{Axis, Gather, Order};
use super::statistics::GroupStatistics;
use crate::data::Grouped;
use crate::fit::Clusterable;
use crate::linalg::{cholesky, packed_index, packed_len, solve_cholesky};
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

    /// The same from statistics.
    fn from_statistics(data: &GroupStatistics, base: PriorBase) -> Units {
        let p = data.n_columns();
        let intercept = (0..p).find(|&j| data.range(j) == [1.0, 1.0]);
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
        let pooled = data.pooled();
        let spread = |j: usize| {
            let centre = if intercept.is_some() { pooled.mean(j) } else { 0.0 };
            let scale = pooled.mean_square(j, centre).sqrt();
            let [least, largest] = data.range(j);
            let same = least == largest && (intercept.is_some() || least == 0.0);
            (centre, if same || scale == 0.0 { 1.0 } else { scale })
        };
        for j in (0..p).filter(|j| Some(*j) != intercept) {
            (units.centre[j], units.scale[j]) = spread(j);
        }
        (units.centre_y, units.scale_y) = spread(p);
        units
    }

    /// The `p` columns of the design and the response, in these units.
    fn axes<'a>(&self, data: &'a Grouped) -> Vec<Axis<'a>> {
        let design = (0..data.n_columns()).map(|j| Axis {
            values: data.design_column(j),
            centre: self.centre[j],
            scale: self.scale[j],
        });
        let response = Axis { values: data.response(), centre: self.centre_y, scale: self.scale_y };
        design.chain([response]).collect()
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

    /// `Tᵀ v`.
    pub(super) fn difference_to_data_transposed(&self, v: &[f64]) -> Vec<f64> {
        let along = self.intercept.map_or(0.0, |i| v[i]);
        let entry = |j: usize| self.scale_y * (v[j] - self.centre[j] * along) / self.scale[j];
        (0..v.len()).map(entry).collect()
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

/// Puts a group's features into its lane; `second` gives the sums of products of `(z_1 … z_p, u)`.
fn put(
    p: usize,
    features: &mut [[f64; LANES]],
    lane: usize,
    n_rows: f64,
    second: impl Fn(usize, usize) -> f64,
) {
    features[ROWS][lane] = n_rows;
    features[YY][lane] = second(p, p);
    for i in 0..p {
        features[XY + i][lane] = second(p, i);
        for j in 0..=i {
            features[XY + p + packed_index(i, j)][lane] = second(i, j);
        }
    }
}

impl Groups {
    pub(super) fn new(data: &Grouped, base: PriorBase) -> Groups {
        let (p, n) = (data.n_columns(), data.n_groups());
        let units = Units::new(data, base);
        let length = features(p);
        let mut blocks = vec![[0.0; LANES]; n.div_ceil(LANES) * length];
        let order = Order::new(data);
        let axes = units.axes(data);
        let width = p + 1;
        blocks.par_chunks_mut(length).enumerate().for_each_init(Gather::default, |gather, at| {
            let (block, features) = at;
            for group in block * LANES..n.min((block + 1) * LANES) {
                gather.add(&axes, &order, group);
                let second = |i: usize, j: usize| gather.sum(1 + width + packed_index(i, j));
                put(p, features, group % LANES, order.count(group) as f64, second);
            }
        });
        Groups::from_blocks(p, n, units, blocks)
    }

    /// The same from statistics, moved from their centre to the model's.
    pub(super) fn from_statistics(data: &GroupStatistics, base: PriorBase) -> Groups {
        let (p, n) = (data.n_columns(), data.n_groups());
        let units = Units::from_statistics(data, base);
        let length = features(p);
        let mut blocks = vec![[0.0; LANES]; n.div_ceil(LANES) * length];
        let centre: Vec<f64> = units.centre.iter().copied().chain([units.centre_y]).collect();
        let scale: Vec<f64> = units.scale.iter().copied().chain([units.scale_y]).collect();
        blocks.par_chunks_mut(length).enumerate().for_each(|(block, features)| {
            for group in block * LANES..n.min((block + 1) * LANES) {
                let sums = data.sums(group);
                let second =
                    |i: usize, j: usize| sums.product_about(&centre, i, j) / (scale[i] * scale[j]);
                put(p, features, group % LANES, sums.n_rows(), second);
            }
        });
        Groups::from_blocks(p, n, units, blocks)
    }

    fn from_blocks(p: usize, n: usize, units: Units, blocks: Vec<[f64; LANES]>) -> Groups {
        let length = features(p);
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
