//! Quantiles of what resamples gave: order statistic `(B + 1)·p`, the rule for resampled quantiles.

/// Numbers in increasing order, without NaN.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sorted(Vec<f64>);

impl Sorted {
    /// Sorts; NaN, which stands for a fit that failed, is left out.
    pub(super) fn new(values: impl IntoIterator<Item = f64>) -> Sorted {
        let mut sorted: Vec<f64> = values.into_iter().filter(|x| !x.is_nan()).collect();
        sorted.sort_by(f64::total_cmp);
        Sorted(sorted)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        self.0.iter().copied()
    }

    /// The largest; NaN without any.
    pub(super) fn largest(&self) -> f64 {
        self.0.last().copied().unwrap_or(f64::NAN)
    }

    /// The share of numbers that are at most `x`.
    pub(super) fn share_up_to(&self, x: f64) -> f64 {
        self.0.partition_point(|&y| y <= x) as f64 / self.len() as f64
    }

    /// The `p` quantile, linear between order statistics and held at the ends; NaN without numbers.
    pub(super) fn quantile(&self, p: f64) -> f64 {
        self.order((self.len() + 1) as f64 * p - 1.0)
    }

    /// The quantiles that leave the same share on either side.
    pub(super) fn interval(&self, level: f64) -> (f64, f64) {
        let tail = 0.5 * (1.0 - level);
        (self.quantile(tail), self.quantile(1.0 - tail))
    }

    /// Their Monte-Carlo standard errors.
    pub(super) fn standard_errors(&self, level: f64) -> (f64, f64) {
        let tail = 0.5 * (1.0 - level);
        (self.standard_error(tail), self.standard_error(1.0 - tail))
    }

    /// Its Monte-Carlo standard error: half the distance between the order statistics one binomial standard
    /// deviation to either side. Near the ends it is too small.
    pub(super) fn standard_error(&self, p: f64) -> f64 {
        let n = self.len() as f64;
        let (centre, spread) = ((n + 1.0) * p - 1.0, (n * p * (1.0 - p)).sqrt());
        0.5 * (self.order(centre + spread) - self.order(centre - spread))
    }

    fn order(&self, at: f64) -> f64 {
        let Some(last) = self.len().checked_sub(1) else { return f64::NAN };
        let at = at.clamp(0.0, last as f64);
        let low = at.floor() as usize;
        let (a, b) = (self.0[low], self.0[(low + 1).min(last)]);
        if a == b { a } else { a + (at - low as f64) * (b - a) }
    }
}

#[cfg(test)]
mod tests {
    use super::Sorted;

    #[test]
    fn quantiles_of_ninety_nine_numbers() {
        let sorted = Sorted::new((1..=99).rev().map(f64::from).chain([f64::NAN]));
        assert_eq!((sorted.len(), sorted.quantile(0.9), sorted.quantile(0.025)), (99, 90.0, 2.5));
        assert_eq!(
            (sorted.quantile(0.0), sorted.quantile(1.0), sorted.largest()),
            (1.0, 99.0, 99.0)
        );
        assert!((sorted.share_up_to(90.0) - 90.0 / 99.0).abs() < 1e-12);
        // Of uniform numbers the 0.9 quantile has standard error √(0.09/n) of their range.
        assert!((sorted.standard_error(0.9) / 99.0 - 0.0301).abs() < 1e-3);
        assert!(Sorted::new([]).quantile(0.5).is_nan() && Sorted::new([f64::NAN]).is_empty());
    }
}
