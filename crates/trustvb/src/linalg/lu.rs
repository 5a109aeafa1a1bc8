//! Gaussian elimination with partial pivoting for the one dense system we solve, `(I − J)ᵀ λ = ∇h`.

/// An LU factorisation of a square matrix.
#[derive(Debug)]
pub(crate) struct Lu {
    n: usize,
    factors: Vec<f64>,
    pivots: Vec<usize>,
}

impl Lu {
    /// Factorises the row-major `n × n` matrix `a`; `None` when it is singular to working precision.
    pub(crate) fn new(n: usize, mut a: Vec<f64>) -> Option<Lu> {
        let largest = a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let mut pivots = Vec::with_capacity(n);
        for column in 0..n {
            let pivot = (column..n)
                .max_by(|&i, &j| a[i * n + column].abs().total_cmp(&a[j * n + column].abs()))?;
            let value = a[pivot * n + column];
            if !value.is_finite() || value.abs() <= 1e-14 * largest {
                return None;
            }
            if pivot != column {
                for j in 0..n {
                    a.swap(pivot * n + j, column * n + j);
                }
            }
            pivots.push(pivot);
            let (above, below) = a.split_at_mut((column + 1) * n);
            let pivot_row = &above[column * n..];
            for row in below.chunks_exact_mut(n) {
                let factor = row[column] / value;
                row[column] = factor;
                if factor != 0.0 {
                    for j in column + 1..n {
                        row[j] -= factor * pivot_row[j];
                    }
                }
            }
        }
        Some(Lu { n, factors: a, pivots })
    }

    /// Solves `A x = b` in place.
    pub(crate) fn solve(&self, b: &mut [f64]) {
        let n = self.n;
        for (i, &pivot) in self.pivots.iter().enumerate() {
            b.swap(i, pivot);
        }
        for i in 0..n {
            let row = &self.factors[i * n..i * n + i];
            b[i] -= row.iter().zip(b.iter()).map(|(l, x)| l * x).sum::<f64>();
        }
        for i in (0..n).rev() {
            let row = &self.factors[i * n..(i + 1) * n];
            let sum: f64 = (i + 1..n).map(|j| row[j] * b[j]).sum();
            b[i] = (b[i] - sum) / row[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Lu;

    #[test]
    fn solves_what_was_multiplied() {
        let n = 6;
        let a: Vec<f64> = (0..n * n).map(|i| (1.0 + (i * i) as f64).sin()).collect();
        let x: Vec<f64> = (0..n).map(|i| i as f64 - 2.5).collect();
        let mut b: Vec<f64> = (0..n).map(|i| (0..n).map(|j| a[i * n + j] * x[j]).sum()).collect();
        Lu::new(n, a).unwrap().solve(&mut b);
        for (got, expected) in b.iter().zip(&x) {
            assert!((got - expected).abs() < 1e-10);
        }
        assert!(Lu::new(2, vec![1.0, 2.0, 2.0, 4.0]).is_none());
    }
}
