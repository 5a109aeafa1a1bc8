//! Which component of one fit is which component of another: an assignment problem.

use crate::posterior::Posterior;

/// The order of `fit`'s components that resembles `reference` most: new `k` = old `order[k]`.
pub fn match_components(reference: &Posterior, fit: &Posterior) -> Vec<usize> {
    let k = reference.layout().n_components;
    let cost: Vec<f64> = (0..k * k)
        .map(|at| {
            let d = reference.distance(at / k, fit, at % k);
            // A distance beyond all others must not drown the rest of the sum.
            if d.is_finite() { d.min(1e12) } else { 1e12 }
        })
        .collect();
    assignment(k, &cost)
}

/// The assignment of columns to rows with the least total cost (Kuhn 1955, in the O(k³) form with
/// potentials and shortest augmenting paths); `cost` is row-major `k × k`.
pub fn assignment(k: usize, cost: &[f64]) -> Vec<usize> {
    if let Some(order) = cheapest_of_each(k, cost) {
        return order;
    }
    // 1-based with a virtual column 0 that holds the row being added.
    let (mut row_potential, mut column_potential) = (vec![0.0; k + 1], vec![0.0; k + 1]);
    let mut row_of = vec![0usize; k + 1];
    for row in 1..=k {
        row_of[0] = row;
        let mut column = 0;
        let mut least = vec![f64::INFINITY; k + 1];
        let mut from = vec![0usize; k + 1];
        let mut visited = vec![false; k + 1];
        while row_of[column] != 0 {
            visited[column] = true;
            let r = row_of[column];
            let (mut step, mut next) = (f64::INFINITY, 0);
            for c in 1..=k {
                if visited[c] {
                    continue;
                }
                let reduced = cost[(r - 1) * k + c - 1] - row_potential[r] - column_potential[c];
                if reduced < least[c] {
                    least[c] = reduced;
                    from[c] = column;
                }
                if least[c] < step {
                    step = least[c];
                    next = c;
                }
            }
            for c in 0..=k {
                if visited[c] {
                    row_potential[row_of[c]] += step;
                    column_potential[c] -= step;
                } else {
                    least[c] -= step;
                }
            }
            column = next;
        }
        while column != 0 {
            row_of[column] = row_of[from[column]];
            column = from[column];
        }
    }
    let mut order = vec![0; k];
    for c in 1..=k {
        order[row_of[c] - 1] = c - 1;
    }
    order
}

/// The cheapest column of every row, where no two rows have the same: then nothing can cost less, as is usual when fits are
/// near each other.
fn cheapest_of_each(k: usize, cost: &[f64]) -> Option<Vec<usize>> {
    let mut order = Vec::with_capacity(k);
    for row in cost.chunks_exact(k) {
        let cheapest = (0..k).min_by(|&a, &b| row[a].total_cmp(&row[b]))?;
        if order.contains(&cheapest) {
            return None;
        }
        order.push(cheapest);
    }
    Some(order)
}

#[cfg(test)]
mod tests {
    use super::assignment;
    use proptest::prelude::*;

    fn permutations(k: usize) -> Vec<Vec<usize>> {
        if k == 0 {
            return vec![vec![]];
        }
        let mut all = Vec::new();
        for shorter in permutations(k - 1) {
            for at in 0..k {
                let mut longer = shorter.clone();
                longer.insert(at, k - 1);
                all.push(longer);
            }
        }
        all
    }

    proptest! {
        #[test]
        fn finds_the_cheapest_of_all_permutations(
            k in 1usize..6,
            cost in prop::collection::vec(0.0f64..10.0, 25),
        ) {
            let price =
                |order: &[usize]| order.iter().enumerate().map(|(i, &j)| cost[i * k + j]).sum::<f64>();
            let best = permutations(k).iter().map(|o| price(o)).fold(f64::INFINITY, f64::min);
            prop_assert!((price(&assignment(k, &cost)) - best).abs() < 1e-9);
        }
    }
}
