//! Solves `x − T x = b` for a linear map `T` that can only be applied: GMRES, started anew after a fixed number of steps.
//!
//! The derivative of a sweep has few eigenvalues near 1, one for each slow direction of the fit, and many near 0. Residuals
//! fall fast as soon as the slow ones are found, so a few dozen applications are enough where sweeps would need hundreds.

use crate::linalg::square::{add_scaled, dot};

/// The residual, relative to `b`, at which a solution is good.
const TOLERANCE: f64 = 1e-11;

/// The residual that is good enough when no step improves on it any more.
const ENOUGH: f64 = 1e-8;

/// Steps before a new start: as many vectors are kept.
const STEPS: usize = 80;

/// New starts.
const STARTS: usize = 6;

/// The solution, or the relative residual that was left.
pub(super) fn solve(b: &[f64], apply: impl Fn(&[f64], &mut [f64])) -> Result<Vec<f64>, f64> {
    let n = b.len();
    let size = dot(b, b).sqrt();
    let mut x = vec![0.0; n];
    if size == 0.0 {
        return Ok(x);
    }
    let mut residual = b.to_vec();
    let mut left = size;
    let mut applied = vec![0.0; n];
    for _ in 0..STARTS {
        let before = left;
        for (x, step) in x.iter_mut().zip(cycle(&residual, TOLERANCE * size, &apply)) {
            *x += step;
        }
        apply(&x, &mut applied);
        for i in 0..n {
            residual[i] = b[i] - x[i] + applied[i];
        }
        left = dot(&residual, &residual).sqrt();
        if left <= TOLERANCE * size {
            return Ok(x);
        }
        if left.is_nan() || left > 0.1 * before {
            break;
        }
    }
    if left <= ENOUGH * size { Ok(x) } else { Err(left / size) }
}

/// At most [`STEPS`] steps of GMRES from 0 towards `b`, until the residual is at most `wanted`.
fn cycle(b: &[f64], wanted: f64, apply: impl Fn(&[f64], &mut [f64])) -> Vec<f64> {
    let n = b.len();
    let mut left = dot(b, b).sqrt();
    let mut basis: Vec<Vec<f64>> = vec![b.iter().map(|x| x / left).collect()];
    // Columns of the triangle, rotations that made it, and the right-hand side in the basis.
    let mut triangle: Vec<Vec<f64>> = Vec::new();
    let mut rotations: Vec<(f64, f64)> = Vec::new();
    let mut right = vec![left];
    while triangle.len() < STEPS.min(n) && left > wanted {
        let last = &basis[basis.len() - 1];
        let mut next = vec![0.0; n];
        apply(last, &mut next);
        next.iter_mut().zip(last).for_each(|(next, x)| *next = x - *next);
        let mut column = vec![0.0; basis.len()];
        // Twice, so that rounding does not make the basis oblique.
        for _ in 0..2 {
            for (c, v) in column.iter_mut().zip(&basis) {
                let along = dot(&next, v);
                add_scaled(-along, v, &mut next);
                *c += along;
            }
        }
        let beyond = dot(&next, &next).sqrt();
        for (i, (cos, sin)) in rotations.iter().enumerate() {
            let (above, below) = (column[i], column[i + 1]);
            column[i] = cos * above + sin * below;
            column[i + 1] = cos * below - sin * above;
        }
        let last = column.len() - 1;
        let length = column[last].hypot(beyond);
        if length.is_nan() || length == 0.0 {
            break;
        }
        let (cos, sin) = (column[last] / length, beyond / length);
        column[last] = length;
        rotations.push((cos, sin));
        triangle.push(column);
        right.push(-sin * right[last]);
        right[last] *= cos;
        left = right[last + 1].abs();
        if beyond <= f64::EPSILON * length {
            break;
        }
        basis.push(next.iter().map(|x| x / beyond).collect());
    }
    let mut shares = right[..triangle.len()].to_vec();
    for i in (0..triangle.len()).rev() {
        shares[i] /= triangle[i][i];
        let share = shares[i];
        for (j, above) in triangle[i][..i].iter().enumerate() {
            shares[j] -= share * above;
        }
    }
    let mut x = vec![0.0; n];
    for (share, v) in shares.iter().zip(&basis) {
        add_scaled(*share, v, &mut x);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A map with a few eigenvalues near 1 and the rest near 0, not symmetric.
    fn slow(x: &[f64], out: &mut [f64]) {
        let n = x.len();
        for i in 0..n {
            let own = if i < 4 { 0.9999 - 0.03 * i as f64 } else { 0.3 / i as f64 };
            out[i] = own * x[i] + 0.01 * x[(i + 1) % n];
        }
    }

    #[test]
    fn solves_what_was_multiplied() {
        for n in [1, 2, 37, 300] {
            let expected: Vec<f64> = (0..n).map(|i| (i as f64).sin() + 0.1).collect();
            let mut b = vec![0.0; n];
            slow(&expected, &mut b);
            b.iter_mut().zip(&expected).for_each(|(b, x)| *b = x - *b);
            let found = solve(&b, slow).unwrap();
            for (got, expected) in found.iter().zip(&expected) {
                assert!((got - expected).abs() < 1e-6, "{n}: {got} instead of {expected}");
            }
        }
    }

    #[test]
    fn says_when_there_is_no_solution() {
        // x − T x has no first entry, b has.
        let projection = |x: &[f64], out: &mut [f64]| {
            out.fill(0.0);
            out[0] = x[0];
        };
        let left = solve(&[1.0, 2.0, 3.0], projection).unwrap_err();
        assert!(left > 0.1, "{left}");
        assert_eq!(solve(&[0.0, 2.0, 3.0], projection).unwrap(), [0.0, 2.0, 3.0]);
    }
}
