//! Eigenvalues and eigenvectors of a symmetric matrix, by Jacobi's rotations: short, and as accurate as any at our sizes.

/// Sweeps over all pairs after which it is good enough; six or so do.
const MOST_SWEEPS: usize = 30;

/// Eigenvalues of a symmetric `p × p` matrix in ascending order, and their unit vectors, a row each.
///
/// Cyclic Jacobi (Golub & Van Loan, Matrix Computations, section 8.5): each rotation makes one off-diagonal element 0, and
/// their sum of squares falls quadratically in the end.
pub(crate) fn symmetric_eigen(p: usize, mut a: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
    let mut vectors = vec![0.0; p * p];
    (0..p).for_each(|i| vectors[i * p + i] = 1.0);
    let size: f64 = a.iter().map(|x| x * x).sum();
    for _ in 0..MOST_SWEEPS {
        let off: f64 = (0..p)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| a[i * p + j].powi(2))
            .sum();
        if off <= f64::EPSILON.powi(2) * size {
            break;
        }
        for i in 1..p {
            for j in 0..i {
                rotate(p, &mut a, &mut vectors, j, i);
            }
        }
    }
    let mut order: Vec<usize> = (0..p).collect();
    order.sort_by(|&i, &j| a[i * p + i].total_cmp(&a[j * p + j]));
    let values = order.iter().map(|&i| a[i * p + i]).collect();
    let sorted = order.iter().flat_map(|&i| vectors[i * p..(i + 1) * p].to_vec()).collect();
    (values, sorted)
}

/// Makes element `(i, j)` of `a` zero, `i < j`; `vectors` has the rotations so far, a vector in each row.
fn rotate(p: usize, a: &mut [f64], vectors: &mut [f64], i: usize, j: usize) {
    let apart = a[i * p + j];
    if apart == 0.0 {
        return;
    }
    let ratio = (a[j * p + j] - a[i * p + i]) / (2.0 * apart);
    let tangent = ratio.signum() / (ratio.abs() + (1.0 + ratio * ratio).sqrt());
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    let sine = tangent * cosine;
    let turn = |rows: &mut [f64]| {
        let (first, second) = rows.split_at_mut(j * p);
        for (x, y) in first[i * p..(i + 1) * p].iter_mut().zip(&mut second[..p]) {
            (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
        }
    };
    let (own, other) = (a[i * p + i] - tangent * apart, a[j * p + j] + tangent * apart);
    turn(a);
    (a[i * p + i], a[i * p + j]) = (own, 0.0);
    (a[j * p + i], a[j * p + j]) = (0.0, other);
    // Columns are as rows are: reading them there is quicker.
    for k in 0..p {
        (a[k * p + i], a[k * p + j]) = (a[i * p + k], a[j * p + k]);
    }
    turn(vectors);
}

#[cfg(test)]
mod tests {
    use super::symmetric_eigen;
    use std::f64::consts::PI;

    /// The second difference has eigenvalues `2 − 2 cos(kπ/(p+1))` and sines for vectors.
    #[test]
    fn the_second_difference_has_its_known_eigenvalues() {
        for p in [1, 2, 3, 10, 40] {
            let mut a = vec![0.0; p * p];
            for i in 0..p {
                a[i * p + i] = 2.0;
                if i > 0 {
                    a[i * p + i - 1] = -1.0;
                    a[(i - 1) * p + i] = -1.0;
                }
            }
            let (values, vectors) = symmetric_eigen(p, a);
            for k in 0..p {
                let angle = (k + 1) as f64 * PI / (p + 1) as f64;
                assert!((values[k] - (2.0 - 2.0 * angle.cos())).abs() < 1e-13, "p {p}, value {k}");
                let norm = (2.0 / (p + 1) as f64).sqrt();
                let along: f64 = (0..p)
                    .map(|i| vectors[k * p + i] * norm * ((i + 1) as f64 * angle).sin())
                    .sum();
                assert!((along.abs() - 1.0).abs() < 1e-12, "p {p}, vector {k}: {along}");
            }
        }
    }

    #[test]
    fn equal_eigenvalues_have_orthogonal_vectors() {
        // The identity and a matrix of ones: 1 three times, and 5.
        let a = (0..16).map(|at| if at % 5 == 0 { 2.0 } else { 1.0 }).collect();
        let (values, vectors) = symmetric_eigen(4, a);
        for (value, expected) in values.iter().zip([1.0, 1.0, 1.0, 5.0]) {
            assert!((value - expected).abs() < 1e-14);
        }
        for i in 0..4 {
            for j in 0..4 {
                let product: f64 = (0..4).map(|k| vectors[i * 4 + k] * vectors[j * 4 + k]).sum();
                assert!((product - f64::from(i == j)).abs() < 1e-14);
            }
        }
    }
}
