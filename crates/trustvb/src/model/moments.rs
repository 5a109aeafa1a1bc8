//! Weighted moments of rows: `Σw`, `Σwx` and the triangle of `Σwxxᵀ`, eight rows at a time.

use crate::linalg::{packed_index, packed_len};
use crate::simd::{InstructionSet, Kernel, LANES, Vector, dispatch_on};

/// Lanes of sums for rows of `p` numbers.
pub(super) const fn len(p: usize) -> usize {
    1 + p + packed_len(p)
}

/// Adds the moments of `blocks` (block after block, column after column) with weights `shares` to
/// `sums`. The order of additions into a sum does not depend on the instruction set.
#[inline(always)]
pub(super) fn accumulate<V: Vector>(
    p: usize,
    blocks: &[[f64; LANES]],
    shares: &[[f64; LANES]],
    sums: &mut [[f64; LANES]],
) {
    match p {
        1 => accumulate_few::<V, 1>(blocks, shares, sums),
        2 => accumulate_few::<V, 2>(blocks, shares, sums),
        3 => accumulate_few::<V, 3>(blocks, shares, sums),
        4 => accumulate_few::<V, 4>(blocks, shares, sums),
        5 => accumulate_few::<V, 5>(blocks, shares, sums),
        6 => accumulate_few::<V, 6>(blocks, shares, sums),
        _ => match V::TILE {
            4 => accumulate_any::<V, 4>(p, blocks, shares, sums),
            2 => accumulate_any::<V, 2>(p, blocks, shares, sums),
            _ => accumulate_any::<V, 1>(p, blocks, shares, sums),
        },
    }
}

/// [`accumulate`] with the best instructions there are.
pub(super) fn add(
    p: usize,
    blocks: &[[f64; LANES]],
    shares: &[[f64; LANES]],
    sums: &mut [[f64; LANES]],
) {
    dispatch_on(InstructionSet::best(), Add { p, blocks, shares, sums });
}

struct Add<'a> {
    p: usize,
    blocks: &'a [[f64; LANES]],
    shares: &'a [[f64; LANES]],
    sums: &'a mut [[f64; LANES]],
}

impl Kernel for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self) {
        accumulate::<V>(self.p, self.blocks, self.shares, self.sums);
    }
}

/// [`accumulate`] when all sums fit into registers.
#[inline(always)]
fn accumulate_few<V: Vector, const P: usize>(
    blocks: &[[f64; LANES]],
    shares: &[[f64; LANES]],
    sums: &mut [[f64; LANES]],
) {
    let (blocks, _) = blocks.as_chunks::<P>();
    let mut moments = Moments::<V, P>::load(sums);
    for (x, share) in blocks.iter().zip(shares) {
        moments.add(V::load(share), |j| V::load(&x[j]));
    }
    moments.store(sums);
}

/// The sums of one component in registers.
pub(super) struct Moments<V, const P: usize> {
    count: V,
    first: [V; P],
    second: [[V; P]; P],
}

impl<V: Vector, const P: usize> Moments<V, P> {
    #[inline(always)]
    pub(super) fn load(sums: &[[f64; LANES]]) -> Self {
        Moments {
            count: V::load(&sums[0]),
            first: std::array::from_fn(|j| V::load(&sums[1 + j])),
            second: std::array::from_fn(|i| {
                std::array::from_fn(|j| {
                    if j <= i { V::load(&sums[1 + P + i * (i + 1) / 2 + j]) } else { V::zero() }
                })
            }),
        }
    }

    /// Adds a block of rows with their shares. Columns are asked for when they are needed: with
    /// five or six there are no registers to hold them too.
    #[inline(always)]
    pub(super) fn add(&mut self, share: V, x: impl Fn(usize) -> V) {
        self.count = self.count.add(share);
        for i in 0..P {
            let t = share.mul(x(i));
            self.first[i] = self.first[i].add(t);
            for j in 0..=i {
                self.second[i][j] = t.mul_add(x(j), self.second[i][j]);
            }
        }
    }

    #[inline(always)]
    pub(super) fn store(&self, sums: &mut [[f64; LANES]]) {
        self.count.store(&mut sums[0]);
        for i in 0..P {
            self.first[i].store(&mut sums[1 + i]);
            for j in 0..=i {
                self.second[i][j].store(&mut sums[1 + P + i * (i + 1) / 2 + j]);
            }
        }
    }
}

/// As [`accumulate_few`] for any number of columns: a matrix product in tiles of `T` by `T` products.
#[inline(always)]
fn accumulate_any<V: Vector, const T: usize>(
    p: usize,
    blocks: &[[f64; LANES]],
    shares: &[[f64; LANES]],
    sums: &mut [[f64; LANES]],
) {
    let mut count = V::load(&sums[0]);
    for share in shares {
        count = count.add(V::load(share));
    }
    count.store(&mut sums[0]);
    let (first, second) = sums[1..].split_at_mut(p);
    let whole = p - p % T;
    for i in (0..whole).step_by(T) {
        add_firsts::<V, T>(i, p, blocks, shares, first);
    }
    for i in whole..p {
        add_firsts::<V, 1>(i, p, blocks, shares, first);
    }
    for i in (0..whole).step_by(T) {
        for j in (0..=i).step_by(T) {
            add_products::<V, T, T>((i, j), p, blocks, shares, second);
        }
    }
    for i in whole..p {
        for j in (0..whole).step_by(T) {
            add_products::<V, 1, T>((i, j), p, blocks, shares, second);
        }
        for j in whole..=i {
            add_products::<V, 1, 1>((i, j), p, blocks, shares, second);
        }
    }
}

/// Adds `Σ share·x_i` to `first`, for `R` columns from `i` on.
#[inline(always)]
fn add_firsts<V: Vector, const R: usize>(
    i: usize,
    p: usize,
    blocks: &[[f64; LANES]],
    shares: &[[f64; LANES]],
    first: &mut [[f64; LANES]],
) {
    let mut sums: [V; R] = std::array::from_fn(|r| V::load(&first[i + r]));
    for (x, share) in blocks.chunks_exact(p).zip(shares) {
        let (x, share) = (&x[i..i + R], V::load(share));
        for r in 0..R {
            sums[r] = share.mul_add(V::load(&x[r]), sums[r]);
        }
    }
    for r in 0..R {
        sums[r].store(&mut first[i + r]);
    }
}

/// Adds `Σ share·x_i·x_j` to the packed `second`, for a tile whose first entry is `(i, j)`; what
/// lies above the diagonal is computed and dropped.
#[inline(always)]
fn add_products<V: Vector, const R: usize, const C: usize>(
    (i, j): (usize, usize),
    p: usize,
    blocks: &[[f64; LANES]],
    shares: &[[f64; LANES]],
    second: &mut [[f64; LANES]],
) {
    let inside = |r: usize, c: usize| j + c <= i + r;
    let mut products: [[V; C]; R] = std::array::from_fn(|r| {
        std::array::from_fn(|c| {
            if inside(r, c) { V::load(&second[packed_index(i + r, 0) + j + c]) } else { V::zero() }
        })
    });
    for (x, share) in blocks.chunks_exact(p).zip(shares) {
        let share = V::load(share);
        let (rows, columns) = (&x[i..i + R], &x[j..j + C]);
        let columns: [V; C] = std::array::from_fn(|c| V::load(&columns[c]));
        for r in 0..R {
            let t = share.mul(V::load(&rows[r]));
            for c in 0..C {
                products[r][c] = t.mul_add(columns[c], products[r][c]);
            }
        }
    }
    for r in 0..R {
        for c in 0..C {
            if inside(r, c) {
                products[r][c].store(&mut second[packed_index(i + r, 0) + j + c]);
            }
        }
    }
}
