//! The law of a functional as a sample shows it: distribution function, limits and their error, density.

use crate::special::normal;

/// A sorted sample of a functional. Draws at which the functional has no value are set apart.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledLaw {
    sorted: Vec<f64>,
    undefined: usize,
    bandwidth: f64,
}

impl SampledLaw {
    /// From the values of a functional at draws, in any order.
    pub fn new(mut values: Vec<f64>) -> SampledLaw {
        let total = values.len();
        values.retain(|x| !x.is_nan());
        values.sort_by(f64::total_cmp);
        let undefined = total - values.len();
        let mut law = SampledLaw { sorted: values, undefined, bandwidth: 0.0 };
        law.bandwidth = law.silverman();
        law
    }

    /// The sorted values.
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// At how many draws the functional had no value, as the log of a negative number has none. The
    /// law is that of the others; more than a few mean that the question is not a sensible one.
    pub fn undefined(&self) -> usize {
        self.undefined
    }

    /// The share of values that are at most `v`; NaN without any.
    pub fn cdf(&self, v: f64) -> f64 {
        if v.is_nan() {
            return v;
        }
        self.sorted.partition_point(|&x| x <= v) as f64 / self.sorted.len() as f64
    }

    /// Where `v` lies: its distribution function, and at a value that occurs the number between
    /// `P(h < v)` and `P(h ≤ v)` that is nearest to ½.
    pub fn place(&self, v: f64) -> f64 {
        let up_to = self.cdf(v);
        if up_to.is_nan() {
            return up_to;
        }
        let below = self.sorted.partition_point(|&x| x < v) as f64 / self.sorted.len() as f64;
        0.5_f64.clamp(below, up_to)
    }

    /// The `p`-quantile, linear between order statistics; NaN without values or outside [0, 1].
    pub fn quantile(&self, p: f64) -> f64 {
        if !(0.0..=1.0).contains(&p) {
            return f64::NAN;
        }
        self.order(p * self.sorted.len().saturating_sub(1) as f64)
    }

    /// The central interval that holds probability `level`.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let tail = 0.5 * (1.0 - level);
        (self.quantile(tail), self.quantile(1.0 - tail))
    }

    /// Monte-Carlo standard errors of the two ends of [`interval`](Self::interval).
    ///
    /// The number of draws below a quantile is binomial; half the distance between the order statistics
    /// one standard deviation of that number to either side is the error. Near the ends of the sample
    /// it is too small.
    pub fn standard_error_of_limits(&self, level: f64) -> (f64, f64) {
        let tail = 0.5 * (1.0 - level);
        (self.standard_error(tail), self.standard_error(1.0 - tail))
    }

    fn standard_error(&self, p: f64) -> f64 {
        if !(0.0..=1.0).contains(&p) {
            return f64::NAN;
        }
        let n = self.sorted.len() as f64;
        let spread = (n * p * (1.0 - p)).sqrt();
        let centre = p * (n - 1.0);
        0.5 * (self.order(centre + spread) - self.order(centre - spread))
    }

    /// The order statistic with 0-based number `at`, linear in between and held at the ends.
    fn order(&self, at: f64) -> f64 {
        let Some(last) = self.sorted.len().checked_sub(1) else { return f64::NAN };
        let at = at.clamp(0.0, last as f64);
        let low = at.floor() as usize;
        let part = at - low as f64;
        let (a, b) = (self.sorted[low], self.sorted[(low + 1).min(last)]);
        if part == 0.0 || a == b { a } else { a + part * (b - a) }
    }

    /// A Gaussian kernel density estimate at `x`, with Silverman's (1986) bandwidth.
    ///
    /// For a picture: it knows nothing of the range of the functional.
    pub fn density(&self, x: f64) -> f64 {
        let h = self.bandwidth;
        if !(h > 0.0 && h.is_finite()) {
            return if self.sorted.contains(&x) { f64::INFINITY } else { 0.0 };
        }
        // Beyond 8 bandwidths a kernel adds less than 1e-14 of its height.
        let from = self.sorted.partition_point(|&v| v < x - 8.0 * h);
        let to = self.sorted.partition_point(|&v| v <= x + 8.0 * h);
        let sum: f64 =
            self.sorted[from..to].iter().map(|v| normal::ln_pdf((x - v) / h).exp()).sum();
        sum / (h * self.sorted.len() as f64)
    }

    /// `0.9 · min(sd, iqr/1.34) · n^(-1/5)`.
    fn silverman(&self) -> f64 {
        let n = self.sorted.len() as f64;
        let mean = self.sorted.iter().sum::<f64>() / n;
        let variance = self.sorted.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
        let quartiles = (self.quantile(0.75) - self.quantile(0.25)) / 1.34;
        let spread = match (variance.sqrt(), quartiles) {
            (sd, iqr) if iqr > 0.0 && iqr < sd => iqr,
            (sd, iqr) if !sd.is_finite() => iqr,
            (sd, _) => sd,
        };
        0.9 * spread * n.powf(-0.2)
    }
}
