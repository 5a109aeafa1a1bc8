//! The features of units, in which log densities are linear: eight units at a time, feature after feature.

use super::data::{ColumnKind, MixedData, MixtureColumn};
use crate::model::columns::restoring;
use crate::simd::LANES;
use crate::special::gamma::ln_gamma;

/// The kind of a column's features.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FeatureKind {
    /// `z` and `z²` with `x = centre + scale·z`.
    Gaussian { centre: f64, scale: f64 },
    /// An indicator for each level.
    Category { levels: usize },
    /// The count; `root_scale` is the standard deviation of its square root.
    Count,
}

/// A column among the features.
#[derive(Clone, Copy, Debug)]
pub(super) struct FeatureColumn {
    pub(super) kind: FeatureKind,
    /// The place of its first feature.
    pub(super) first: usize,
    /// The place of the feature that says whether a cell is there; `None` where all are, or where the others say it.
    pub(super) there: Option<usize>,
    /// Whether every unit has a value.
    complete: bool,
    /// The place of its first number in a centre.
    pub(super) centre_at: usize,
    /// The standard deviation of the square root of a count.
    pub(super) root_scale: f64,
}

impl FeatureColumn {
    /// Numbers in a centre: a mean, a rate, or a probability for each level.
    pub(super) fn centre_len(&self) -> usize {
        match self.kind {
            FeatureKind::Category { levels } => levels,
            FeatureKind::Gaussian { .. } | FeatureKind::Count => 1,
        }
    }

    /// How much of a sum over units is observed in it: `sums` are `N` and the features' sums.
    pub(super) fn observed(&self, sums: &[f64]) -> f64 {
        match (self.kind, self.there) {
            (FeatureKind::Category { levels }, _) => {
                sums[1 + self.first..1 + self.first + levels].iter().sum()
            }
            (_, Some(there)) => sums[1 + there],
            (_, None) => sums[0],
        }
    }
}

/// All units as features.
#[derive(Debug)]
pub(super) struct Features {
    n: usize,
    length: usize,
    centre_len: usize,
    columns: Vec<FeatureColumn>,
    pub(super) blocks: Vec<[f64; LANES]>,
    /// Mean size of each feature, against which changes are relative.
    pub(super) sizes: Vec<f64>,
    /// What a unit's density has that does not depend on the component: `−Σ log scale − Σ log x!`.
    pub(super) constants: Vec<f64>,
}

impl Features {
    pub(super) fn new(data: &MixedData, columns: &[MixtureColumn]) -> Features {
        let n = data.n_rows();
        let (mut length, mut centre_len, mut placed) = (0, 0, Vec::new());
        for (column, values) in columns.iter().zip(data.columns()) {
            let present = || values.iter().copied().filter(|x| !x.is_nan());
            let complete = present().count() == n;
            let (kind, own) = match &column.kind {
                ColumnKind::Gaussian => {
                    let (centre, scale) = mean_and_sd(present());
                    (FeatureKind::Gaussian { centre, scale }, 2)
                }
                ColumnKind::Count => (FeatureKind::Count, 1),
                ColumnKind::Category { levels } => {
                    (FeatureKind::Category { levels: levels.len() }, levels.len())
                }
            };
            let says_itself = matches!(kind, FeatureKind::Category { .. });
            let there = (!complete && !says_itself).then_some(length + own);
            let root_scale = match kind {
                FeatureKind::Count => mean_and_sd(present().map(f64::sqrt)).1.max(1e-3),
                _ => 1.0,
            };
            let (first, centre_at) = (length, centre_len);
            let at = FeatureColumn { kind, first, there, complete, centre_at, root_scale };
            length += own + usize::from(there.is_some());
            centre_len += at.centre_len();
            placed.push(at);
        }
        let mut features = Features {
            n,
            length,
            centre_len,
            columns: placed,
            blocks: vec![[0.0; LANES]; n.div_ceil(LANES) * length],
            sizes: Vec::new(),
            constants: vec![0.0; n],
        };
        for (at, values) in features.columns.clone().into_iter().zip(data.columns()) {
            for (unit, &x) in values.iter().enumerate().filter(|(_, x)| !x.is_nan()) {
                match at.kind {
                    FeatureKind::Gaussian { centre, scale } => {
                        let z = (x - centre) / scale;
                        features.set(unit, at.first, z);
                        features.set(unit, at.first + 1, z * z);
                        features.constants[unit] -= scale.ln();
                    }
                    FeatureKind::Category { .. } => features.set(unit, at.first + x as usize, 1.0),
                    FeatureKind::Count => {
                        features.set(unit, at.first, x);
                        features.constants[unit] -= ln_gamma(x + 1.0);
                    }
                }
                if let Some(there) = at.there {
                    features.set(unit, there, 1.0);
                }
            }
        }
        let size = |f: usize| (0..n).map(|i| features.get(i, f).abs()).sum::<f64>() / n as f64;
        features.sizes = (0..length).map(|f| size(f).max(1e-6)).collect();
        features
    }

    pub(super) fn len(&self) -> usize {
        self.n
    }

    pub(super) fn length(&self) -> usize {
        self.length
    }

    pub(super) fn columns(&self) -> &[FeatureColumn] {
        &self.columns
    }

    pub(super) fn get(&self, unit: usize, feature: usize) -> f64 {
        self.blocks[unit / LANES * self.length + feature][unit % LANES]
    }

    fn set(&mut self, unit: usize, feature: usize, value: f64) {
        self.blocks[unit / LANES * self.length + feature][unit % LANES] = value;
    }

    /// Whether a unit has a value in a column.
    pub(super) fn is_there(&self, unit: usize, column: &FeatureColumn) -> bool {
        if column.complete {
            return true;
        }
        match (column.kind, column.there) {
            (FeatureKind::Category { levels }, _) => {
                (0..levels).any(|l| self.get(unit, column.first + l) > 0.0)
            }
            (_, Some(there)) => self.get(unit, there) > 0.0,
            (_, None) => true,
        }
    }

    /// The values of a Gaussian column in the data's units, NaN where a cell is missing.
    pub(super) fn numbers(&self, column: usize) -> Option<Vec<f64>> {
        let column = &self.columns[column];
        let FeatureKind::Gaussian { centre, scale } = column.kind else { return None };
        let restored = restoring(centre, scale);
        let value = |unit| match self.is_there(unit, column) {
            true => restored(self.get(unit, column.first)),
            false => f64::NAN,
        };
        Some((0..self.n).map(value).collect())
    }

    /// The values of a column of counts, NaN where a cell is missing.
    pub(super) fn counts(&self, column: usize) -> Option<Vec<f64>> {
        let column = &self.columns[column];
        let value = |unit| match self.is_there(unit, column) {
            true => self.get(unit, column.first),
            false => f64::NAN,
        };
        (column.kind == FeatureKind::Count).then(|| (0..self.n).map(value).collect())
    }

    pub(super) fn centre_len(&self) -> usize {
        self.centre_len
    }

    /// A centre in the data's units from one among [`Points`](super::points::Points).
    pub(super) fn centre_to_data(&self, centre: &mut [f64]) {
        for column in &self.columns {
            let x = centre[column.centre_at];
            match column.kind {
                FeatureKind::Gaussian { centre: c, scale } => {
                    centre[column.centre_at] = c + scale * x
                }
                FeatureKind::Category { .. } => {}
                FeatureKind::Count => centre[column.centre_at] = (x * column.root_scale).powi(2),
            }
        }
    }
}

fn mean_and_sd(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    let variance = values.map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    (mean, variance.sqrt())
}
