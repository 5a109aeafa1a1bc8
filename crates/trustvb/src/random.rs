//! Streams of random numbers that depend on (seed, purpose, number) and on nothing else.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::HashMap;

/// What a stream is for. The numbers are part of the promise that a seed fixes the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Starting centres; number = start.
    Start = 1,
    /// Half samples; number = split.
    Split = 2,
    /// Bootstraps of the half sample; number = replicate.
    SplitBootstrap = 3,
    /// Bootstraps of all units; number = replicate.
    FullBootstrap = 4,
    /// Draws for functionals without an exact law; number = draw.
    Draw = 5,
    /// Simulated data; number = replication.
    Simulate = 6,
    /// Seeds of a study's replications; number = replication.
    Study = 7,
    /// Subsets of the units; number = subset.
    Subset = 8,
    /// Orders of the values that resamples are given for cells that few units show; number = place of the parameter.
    Boundary = 9,
    /// Resamples of log densities, which compare models; number = 0.
    Agreement = 11,
}

/// The stream of (seed, purpose, number).
pub fn stream(seed: u64, purpose: Purpose, number: u64) -> ChaCha8Rng {
    let mut key = [0u8; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&(purpose as u64).to_le_bytes());
    key[16..24].copy_from_slice(&number.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}

/// A uniform double in `[0, 1)`.
pub(crate) fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// A uniform index below `n`, without bias (Lemire 2019).
pub(crate) fn index(rng: &mut ChaCha8Rng, n: usize) -> usize {
    let n = n as u64;
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(n);
        let low = product as u64;
        if low >= n || low >= n.wrapping_neg() % n {
            return (product >> 64) as usize;
        }
    }
}

/// The first `most` numbers of a random order of `0..n`, as swaps in a list of all of them would give; only the numbers
/// that were moved are kept. `index` draws a place among so many.
pub(crate) fn some_of(n: usize, most: usize, mut index: impl FnMut(usize) -> usize) -> Vec<usize> {
    let mut moved: HashMap<usize, usize> = HashMap::new();
    let draw = |i: usize| {
        let j = i + index(n - i);
        let here = moved.remove(&i).unwrap_or(i);
        if i == j { here } else { moved.insert(j, here).unwrap_or(j) }
    };
    (0..most.min(n)).map(draw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_pinned() {
        let mut rng = stream(1, Purpose::Start, 2);
        assert_eq!([rng.next_u64(), rng.next_u64()], PINNED);
        assert_ne!(stream(1, Purpose::Split, 2).next_u64(), PINNED[0]);
        assert_ne!(stream(1, Purpose::Start, 3).next_u64(), PINNED[0]);
        let mut rng = stream(1, Purpose::Start, 2);
        let counts = (0..30_000).fold([0; 3], |mut c, _| {
            c[index(&mut rng, 3)] += 1;
            c
        });
        assert!(counts.iter().all(|c| (9_700..10_300).contains(c)), "{counts:?}");
    }

    #[test]
    fn some_are_those_of_a_list() {
        for (n, most) in [(1, 1), (10, 10), (50, 7), (1000, 400), (3, 9)] {
            let mut rng = stream(3, Purpose::Start, 0);
            let mut list: Vec<usize> = (0..n).collect();
            for i in 0..most.min(n) {
                let j = i + index(&mut rng, n - i);
                list.swap(i, j);
            }
            let mut rng = stream(3, Purpose::Start, 0);
            assert_eq!(some_of(n, most, |n| index(&mut rng, n)), list[..most.min(n)]);
        }
    }

    const PINNED: [u64; 2] = [2_854_601_930_109_921_036, 3_342_390_558_771_667_851];
}
