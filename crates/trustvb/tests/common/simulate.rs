//! Small random data sets, fixed by their seed.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use trustvb::data::{Dataset, Grouped};
use trustvb::random::{Purpose, stream};

/// Rows of a Gaussian mixture and centres near which its components lie.
#[derive(Clone, Debug)]
pub(crate) struct Mixture {
    /// Values by column.
    pub(crate) columns: Vec<Vec<f64>>,
    /// One centre after the other.
    pub(crate) centres: Vec<f64>,
}

impl Mixture {
    /// `n` rows of `k` components in `p` columns. Each component has unit variances and lies
    /// `separation` away from the others along every column.
    pub(crate) fn new(seed: u64, n: usize, p: usize, k: usize, separation: f64) -> Mixture {
        let mut rng = stream(seed, Purpose::Simulate, 0);
        let mut centres = Vec::with_capacity(k * p);
        for component in 0..k {
            for j in 0..p {
                // Columns take the components in turn, so that no two columns say the same.
                let place = (component + j) % k;
                centres.push(separation * place as f64 + 0.1 * normal(&mut rng));
            }
        }
        let mut columns = vec![Vec::with_capacity(n); p];
        for _ in 0..n {
            let component = below(&mut rng, k);
            let common = 0.4 * normal(&mut rng);
            for (j, column) in columns.iter_mut().enumerate() {
                column.push(centres[component * p + j] + common + 0.9 * normal(&mut rng));
            }
        }
        Mixture { columns, centres }
    }

    pub(crate) fn dataset(&self) -> Dataset {
        let names = (1..=self.columns.len()).map(|j| format!("x{j}")).collect();
        Dataset::from_columns(names, self.columns.clone()).unwrap()
    }

    /// Row `i` `counts[i]` times.
    pub(crate) fn repeated(&self, counts: &[f64]) -> Mixture {
        let columns = self.columns.iter().map(|c| repeat(c, counts)).collect();
        Mixture { columns, centres: self.centres.clone() }
    }
}

/// Grouped rows of a mixture of regressions and its coefficients.
#[derive(Clone, Debug)]
pub(crate) struct Regressions {
    /// The response.
    pub(crate) y: Vec<f64>,
    /// The design by column; with an intercept the first is one.
    pub(crate) x: Vec<Vec<f64>>,
    /// The group of each row.
    pub(crate) groups: Vec<usize>,
    /// Coefficients, component after component.
    pub(crate) centres: Vec<f64>,
}

impl Regressions {
    /// `n` groups of 3 to 5 rows, `p` columns beside an optional intercept, unit noise;
    /// coefficients of different components are `separation` apart.
    pub(crate) fn new(
        seed: u64,
        n: usize,
        p: usize,
        k: usize,
        separation: f64,
        intercept: bool,
    ) -> Regressions {
        let mut rng = stream(seed, Purpose::Simulate, 1);
        let width = p + usize::from(intercept);
        let mut centres = Vec::with_capacity(k * width);
        for component in 0..k {
            for j in 0..width {
                let place = (component + j) % k;
                centres.push(separation * place as f64 + 0.1 * normal(&mut rng));
            }
        }
        let (mut y, mut x, mut groups) = (Vec::new(), vec![Vec::new(); width], Vec::new());
        for group in 0..n {
            let component = below(&mut rng, k);
            for _ in 0..3 + below(&mut rng, 3) {
                let mut mean = 0.0;
                for (j, column) in x.iter_mut().enumerate() {
                    let value = if intercept && j == 0 { 1.0 } else { normal(&mut rng) };
                    column.push(value);
                    mean += value * centres[component * width + j];
                }
                y.push(mean + normal(&mut rng));
                groups.push(group);
            }
        }
        Regressions { y, x, groups, centres }
    }

    pub(crate) fn grouped(&self) -> Grouped {
        let names = (1..=self.x.len()).map(|j| format!("x{j}")).collect();
        let labels: Vec<String> = self.groups.iter().map(|g| format!("g{g}")).collect();
        Grouped::from_columns("y".into(), self.y.clone(), names, self.x.clone(), Some(&labels))
            .unwrap()
    }

    /// Group `g` `counts[g]` times, each time as a group of its own.
    pub(crate) fn repeated(&self, counts: &[f64]) -> Regressions {
        let most = counts.iter().fold(0.0_f64, |m, c| m.max(*c)) as usize;
        let (mut y, mut x, mut groups) = (Vec::new(), vec![Vec::new(); self.x.len()], Vec::new());
        for (row, &group) in self.groups.iter().enumerate() {
            for copy in 0..counts[group] as usize {
                y.push(self.y[row]);
                for (to, from) in x.iter_mut().zip(&self.x) {
                    to.push(from[row]);
                }
                groups.push(group * most + copy);
            }
        }
        Regressions { y, x, groups, centres: self.centres.clone() }
    }
}

/// How units are weighted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Weighting {
    /// No weights.
    One,
    /// A bootstrap: integers that add up to the number of units.
    Bootstrap,
    /// Any number from 0 to 2; a third of the units has weight 0.
    Fractional,
}

impl Weighting {
    pub(crate) fn draw(self, seed: u64, n: usize) -> Option<Vec<f64>> {
        let mut rng = stream(seed, Purpose::Simulate, 2);
        match self {
            Weighting::One => None,
            Weighting::Bootstrap => {
                let mut weights = vec![0.0; n];
                for _ in 0..n {
                    weights[below(&mut rng, n)] += 1.0;
                }
                Some(weights)
            }
            Weighting::Fractional => {
                Some((0..n).map(|_| (3.0 * uniform(&mut rng) - 1.0).max(0.0)).collect())
            }
        }
    }
}

/// The numbers `0..n` in random order.
pub(crate) fn shuffled(seed: u64, n: usize) -> Vec<usize> {
    let mut rng = stream(seed, Purpose::Simulate, 3);
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, below(&mut rng, i + 1));
    }
    order
}

fn repeat(values: &[f64], counts: &[f64]) -> Vec<f64> {
    values.iter().zip(counts).flat_map(|(&x, &c)| std::iter::repeat_n(x, c as usize)).collect()
}

pub(crate) fn normal(rng: &mut impl Rng) -> f64 {
    StandardNormal.sample(rng)
}

fn uniform(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

fn below(rng: &mut impl Rng, n: usize) -> usize {
    (uniform(rng) * n as f64) as usize
}

/// `n` standard Normal numbers.
pub(crate) fn normals(seed: u64, n: usize) -> Vec<f64> {
    let mut rng = stream(seed, Purpose::Simulate, 4);
    (0..n).map(|_| normal(&mut rng)).collect()
}
