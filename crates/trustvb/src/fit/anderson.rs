//! Anderson acceleration of a fixed-point map (type II, Walker & Ni 2011).
//!
//! With `f_i = G(x_i) − x_i`, the next point is `G(x) − Σ γ_j (ΔG)_j` where γ minimises
//! `|f − Σ γ_j (Δf)_j|` in scaled entries. At most [`MAX_DEPTH`] differences are kept.

use crate::linalg::square::dot;
use crate::linalg::{cholesky, packed_index, packed_len, solve_cholesky};

pub(super) const MAX_DEPTH: usize = 10;

#[derive(Debug)]
pub(super) struct Anderson {
    n: usize,
    depth: usize,
    /// Differences held, and where the next goes.
    held: usize,
    next_slot: usize,
    has_last: bool,
    last_f: Vec<f64>,
    last_g: Vec<f64>,
    delta_f: Vec<f64>,
    delta_g: Vec<f64>,
    /// Reciprocals of the scale, or of its square.
    inverse: Vec<f64>,
}

impl Anderson {
    pub(super) fn new(n: usize) -> Anderson {
        Anderson {
            n,
            depth: 0,
            held: 0,
            next_slot: 0,
            has_last: false,
            last_f: vec![0.0; n],
            last_g: vec![0.0; n],
            delta_f: vec![0.0; n * MAX_DEPTH],
            delta_g: vec![0.0; n * MAX_DEPTH],
            inverse: vec![0.0; n],
        }
    }

    /// Forgets all history.
    pub(super) fn reset(&mut self, depth: usize) {
        self.depth = depth.min(MAX_DEPTH);
        self.held = 0;
        self.next_slot = 0;
        self.has_last = false;
    }

    /// Takes `x` and `g = G(x)`; replaces `g` by the accelerated point and says so, or leaves it.
    pub(super) fn propose(&mut self, x: &[f64], g: &mut [f64], scale: &[f64]) -> bool {
        let n = self.n;
        if self.has_last {
            let at = self.next_slot * n;
            for i in 0..n {
                self.delta_f[at + i] = g[i] - x[i] - self.last_f[i];
                self.delta_g[at + i] = g[i] - self.last_g[i];
            }
            self.next_slot = (self.next_slot + 1) % self.depth;
            self.held = (self.held + 1).min(self.depth);
        }
        for i in 0..n {
            self.last_f[i] = g[i] - x[i];
            self.last_g[i] = g[i];
        }
        self.has_last = true;
        let Some(gamma) = self.least_squares(scale) else { return false };
        for (slot, c) in gamma.iter().enumerate().take(self.held) {
            let delta = &self.delta_g[slot * n..(slot + 1) * n];
            for (g, d) in g.iter_mut().zip(delta) {
                *g -= c * d;
            }
        }
        true
    }

    /// Whether the map expands along a direction that the history has seen, and that direction.
    ///
    /// Acceleration finds any fixed point, also a saddle that plain sweeps would leave. With
    /// `ΔX = ΔG − ΔF`, the matrix `H = argmin |ΔX H − ΔG|` is the map's derivative on the span of
    /// the history; its largest eigenvalue, by the power method, tells which it is.
    pub(super) fn expanding_direction(&mut self, scale: &[f64], out: &mut [f64]) -> bool {
        let (n, m) = (self.n, self.held);
        if m == 0 {
            return false;
        }
        for (inverse, s) in self.inverse.iter_mut().zip(scale) {
            *inverse = 1.0 / s;
        }
        // In units of the scale, ΔG and then ΔX; the history is not needed any more.
        let Anderson { delta_f, delta_g, inverse, .. } = self;
        for (x, g) in delta_f.chunks_exact_mut(n).zip(delta_g.chunks_exact_mut(n)).take(m) {
            for ((x, g), inverse) in x.iter_mut().zip(g).zip(&*inverse) {
                *g *= inverse;
                *x = *g - *x * inverse;
            }
        }
        let x = |slot: usize| &delta_f[slot * n..(slot + 1) * n];
        let g = |slot: usize| &delta_g[slot * n..(slot + 1) * n];
        let mut gram = [0.0; packed_len(MAX_DEPTH)];
        let mut norm = [0.0; MAX_DEPTH];
        for a in 0..m {
            for b in 0..=a {
                gram[packed_index(a, b)] = dot(x(a), x(b));
            }
            norm[a] = gram[packed_index(a, a)].sqrt();
            // Shorter differences are rounding as much as anything else.
            if norm[a].is_nan() || norm[a] < 1e-12 {
                return false;
            }
        }
        let mut derivative = [[0.0; MAX_DEPTH]; MAX_DEPTH];
        for a in 0..m {
            for b in 0..=a {
                gram[packed_index(a, b)] /= norm[a] * norm[b];
            }
            gram[packed_index(a, a)] += 1e-10;
            for b in 0..m {
                derivative[b][a] = dot(x(a), g(b)) / (norm[a] * norm[b]);
            }
        }
        if cholesky(m, &mut gram).is_err() {
            return false;
        }
        for column in &mut derivative[..m] {
            solve_cholesky(m, &gram, column);
        }
        let Some((eigenvalue, vector)) = largest_eigenvalue(m, &derivative) else { return false };
        if eigenvalue <= 1.0 + 1e-4 {
            return false;
        }
        let mut largest = 0.0_f64;
        for i in 0..n {
            out[i] = (0..m).map(|a| vector[a] * x(a)[i] / norm[a]).sum();
            largest = largest.max(out[i].abs());
        }
        for i in 0..n {
            out[i] *= scale[i] / largest;
        }
        largest > 0.0
    }

    /// γ of the scaled least-squares problem, by normal equations on unit columns with a ridge of
    /// rounding size. `None` without history or when it cannot be solved.
    fn least_squares(&mut self, scale: &[f64]) -> Option<[f64; MAX_DEPTH]> {
        let (n, m) = (self.n, self.held);
        if m == 0 {
            return None;
        }
        for (inverse, s) in self.inverse.iter_mut().zip(scale) {
            *inverse = 1.0 / (s * s);
        }
        let column = |slot: usize| &self.delta_f[slot * n..(slot + 1) * n];
        let dot = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().zip(b).zip(&self.inverse).map(|((a, b), i)| a * b * i).sum()
        };
        let mut gram = [0.0; packed_len(MAX_DEPTH)];
        let mut right = [0.0; MAX_DEPTH];
        let mut norm = [0.0; MAX_DEPTH];
        for i in 0..m {
            for j in 0..=i {
                gram[packed_index(i, j)] = dot(column(i), column(j));
            }
            right[i] = dot(column(i), &self.last_f);
            norm[i] = gram[packed_index(i, i)].sqrt();
        }
        for i in 0..m {
            for j in 0..=i {
                gram[packed_index(i, j)] /= norm[i] * norm[j];
            }
            gram[packed_index(i, i)] += 1e-13;
            right[i] /= norm[i];
        }
        cholesky(m, &mut gram).ok()?;
        solve_cholesky(m, &gram, &mut right);
        for i in 0..m {
            right[i] /= norm[i];
        }
        right.iter().all(|x| x.is_finite()).then_some(right)
    }
}

/// The eigenvalue of largest size of a small matrix given by columns, and its vector, by the power
/// method; given up early when it is clearly below 1.
fn largest_eigenvalue(
    m: usize,
    columns: &[[f64; MAX_DEPTH]; MAX_DEPTH],
) -> Option<(f64, [f64; MAX_DEPTH])> {
    let mut vector = [0.0; MAX_DEPTH];
    vector[..m].fill(1.0 / (m as f64).sqrt());
    let mut eigenvalue = 0.0;
    for step in 0..60 {
        let mut image = [0.0; MAX_DEPTH];
        for (column, v) in columns[..m].iter().zip(&vector) {
            for a in 0..m {
                image[a] += column[a] * v;
            }
        }
        eigenvalue = image.iter().map(|x| x * x).sum::<f64>().sqrt();
        if !(eigenvalue > 0.0 && eigenvalue.is_finite()) || (step == 8 && eigenvalue < 0.9) {
            return None;
        }
        vector = image.map(|x| x / eigenvalue);
    }
    Some((eigenvalue, vector))
}

#[cfg(test)]
mod tests {
    use super::Anderson;

    #[test]
    fn an_expanding_direction_is_found_and_a_contraction_has_none() {
        for (a, expands) in [([1.2, 0.5, -0.3], true), ([0.9, 0.5, 0.3], false)] {
            let mut x = vec![0.0; 3];
            let mut anderson = Anderson::new(3);
            anderson.reset(5);
            for _ in 0..5 {
                let mut g: Vec<f64> = x.iter().zip(a).map(|(x, a)| a * x + 1.0).collect();
                anderson.propose(&x, &mut g, &[1.0; 3]);
                x = g;
            }
            let mut direction = [0.0; 3];
            assert_eq!(anderson.expanding_direction(&[1.0; 3], &mut direction), expands);
            if expands {
                assert!(direction[0].abs() > 0.99 && direction[1].abs() < 0.01);
            }
        }
    }

    #[test]
    fn a_linear_map_is_solved_in_as_many_steps_as_it_has_directions() {
        // G(x) = A x + 1 with eigenvalues 0.9, 0.5, -0.3.
        let a = [0.9, 0.5, -0.3];
        let mut x = vec![0.0; 3];
        let mut anderson = Anderson::new(3);
        anderson.reset(5);
        for _ in 0..5 {
            let mut g: Vec<f64> = x.iter().zip(a).map(|(x, a)| a * x + 1.0).collect();
            anderson.propose(&x, &mut g, &[1.0; 3]);
            x = g;
        }
        for (x, a) in x.iter().zip(a) {
            assert!((x - 1.0 / (1.0 - a)).abs() < 1e-9, "{x} {a}");
        }
    }
}
