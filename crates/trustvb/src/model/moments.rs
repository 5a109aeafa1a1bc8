//! Weighted moments of rows: `Σw`, `Σwx` and the triangle of `Σwxxᵀ`, eight rows at a time.

use super::kernel::CHUNK;
use super::panels::{Column, GROUP, Groups, Panels};
use crate::linalg::{packed_index, packed_len};
use crate::simd::{InstructionSet, Kernel, LANES, Lines, Part, Vector, dispatch_on};

/// Lanes of sums for rows of `p` numbers.
pub(super) const fn len(p: usize) -> usize {
    1 + p + packed_len(p)
}

/// The most columns whose sums all fit into registers.
pub(super) const FEW: usize = 6;

/// Adds the moments of `blocks` (block after block, column after column) with weights `shares` to
/// `sums`, for no more than [`FEW`] columns.
#[inline(always)]
pub(super) fn accumulate_few<V: Vector>(
    p: usize,
    blocks: &[[f64; LANES]],
    shares: &[[f64; LANES]],
    sums: &mut [[f64; LANES]],
) {
    match p {
        1 => accumulate_constant::<V, 1>(blocks, shares, sums),
        2 => accumulate_constant::<V, 2>(blocks, shares, sums),
        3 => accumulate_constant::<V, 3>(blocks, shares, sums),
        4 => accumulate_constant::<V, 4>(blocks, shares, sums),
        5 => accumulate_constant::<V, 5>(blocks, shares, sums),
        _ => accumulate_constant::<V, 6>(blocks, shares, sums),
    }
}

/// Adds the moments of `rows` with weights `shares` to `sums`, for more than [`FEW`] columns. `room` is for products of
/// weights and columns. The order of additions into a sum does not depend on the instruction set.
#[inline(always)]
pub(super) fn accumulate_many<V: Vector>(
    rows: Groups<'_>,
    shares: &[[f64; LANES]],
    sums: &mut [[f64; LANES]],
    room: &mut Lines,
) {
    let n_shares = shares.len().next_multiple_of(GROUP);
    let panel = V::Part::ROWS * n_shares;
    room.resize(n_shares + TOGETHER * panel);
    let (own, products) = room.split_at_mut(n_shares);
    own[shares.len()..].fill([0.0; LANES]);
    let mut count = V::load(&sums[0]);
    for (share, own) in shares.iter().zip(&mut *own) {
        let share = V::load(share);
        share.store(own);
        count = count.add(share);
    }
    count.store(&mut sums[0]);
    let (shares, _) = own.as_chunks();
    let (first, second) = sums[1..].split_at_mut(rows.p);
    let tiles = Tiles { rows, shares, first, second, products };
    match V::Part::ROWS {
        4 => tiles.add::<V::Part, 4, 3>(),
        _ => tiles.add::<V::Part, 3, 2>(),
    }
}

/// Adds the moments of a chunk of `blocks` with weights `shares` to `sums`, for any number of columns.
#[inline(always)]
pub(super) fn accumulate<V: Vector>(
    p: usize,
    blocks: &[[f64; LANES]],
    shares: &[[f64; LANES]],
    sums: &mut [[f64; LANES]],
    groups: &mut Lines,
    products: &mut Lines,
) {
    if p <= FEW {
        accumulate_few::<V>(p, blocks, shares, sums);
    } else {
        accumulate_many::<V>(Groups::new::<V>(p, blocks, groups), shares, sums, products);
    }
}

/// [`accumulate`] with the best instructions there are, chunk by chunk.
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
        let Add { p, blocks, shares, sums } = self;
        let (mut groups, mut products) = (Lines::default(), Lines::default());
        for (blocks, shares) in blocks.chunks(CHUNK * p).zip(shares.chunks(CHUNK)) {
            accumulate::<V>(p, blocks, shares, sums, &mut groups, &mut products);
        }
    }
}

#[inline(always)]
fn accumulate_constant<V: Vector, const P: usize>(
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
        let zero = V::zero();
        let mut own =
            Moments { count: V::load(&sums[0]), first: [zero; P], second: [[zero; P]; P] };
        for i in 0..P {
            own.first[i] = V::load(&sums[1 + i]);
            for j in 0..=i {
                own.second[i][j] = V::load(&sums[1 + P + i * (i + 1) / 2 + j]);
            }
        }
        own
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

/// Panels of rows whose products with shares are kept, so that a panel of columns serves them all while it is in the
/// first-level cache.
const TOGETHER: usize = 3;

/// Sums of many columns: a matrix product in tiles whose rows are the columns of one panel and whose columns are those of
/// another.
struct Tiles<'a> {
    rows: Groups<'a>,
    shares: &'a [Column],
    first: &'a mut [[f64; LANES]],
    second: &'a mut [[f64; LANES]],
    products: &'a mut [[f64; LANES]],
}

impl Tiles<'_> {
    /// All tiles, when panels have `WIDE` columns or `NARROW`, which is one less.
    #[inline(always)]
    fn add<P: Part, const WIDE: usize, const NARROW: usize>(mut self) {
        let panels = Panels::new::<P>(self.rows.p);
        let length = WIDE * GROUP * self.shares.len();
        for from in (0..panels.number).step_by(TOGETHER) {
            let to = panels.number.min(from + TOGETHER);
            for row in from..to {
                let (own, place) = (panels.get(row), (row - from) * length);
                if own.width == WIDE {
                    self.add_diagonal::<P, WIDE>(own.start, place);
                } else {
                    self.add_diagonal::<P, NARROW>(own.start, place);
                }
            }
            for column in 0..to {
                let across = panels.get(column);
                for row in from.max(column + 1)..to {
                    let (own, place) = (panels.get(row), (row - from) * length);
                    let corner = (own.start, across.start);
                    // The first panels are the wide ones.
                    match (own.width == WIDE, across.width == WIDE) {
                        (true, _) => self.add_products::<P, WIDE, WIDE>(corner, place),
                        (_, true) => self.add_products::<P, NARROW, WIDE>(corner, place),
                        _ => self.add_products::<P, NARROW, NARROW>(corner, place),
                    }
                }
            }
        }
    }

    /// Adds `Σ share·x_i` and `Σ share·x_i·x_j` for `R` columns from `i` on; leaves `share·x_i` at `place` of the room.
    #[inline(always)]
    fn add_diagonal<P: Part, const R: usize>(&mut self, i: usize, place: usize) {
        let row = |r: usize| packed_index(i + r, 0) + i..packed_index(i + r, 0) + i + r + 1;
        let (shared, _) = self.products[place..].as_chunks_mut::<GROUP>();
        for part in 0..P::COUNT {
            let (mut sums, mut products) = ([P::splat(0.0); R], [[P::splat(0.0); R]; R]);
            for r in 0..R {
                sums[r] = P::load(&self.first[i + r], part);
                let second = &self.second[row(r)];
                for c in 0..=r {
                    products[r][c] = P::load(&second[c], part);
                }
            }
            let groups = self.rows.iter().zip(self.shares);
            for ((x, shares), shared) in groups.zip(shared.chunks_exact_mut(R)) {
                let x = &x[i..i + R];
                for t in 0..GROUP {
                    let share = P::load(&shares[t], part);
                    for r in 0..R {
                        let own = P::load(&x[r][t], part);
                        let product = share.mul(own);
                        product.store(&mut shared[r][t], part);
                        sums[r] = share.mul_add(own, sums[r]);
                        for c in 0..=r {
                            products[r][c] =
                                product.mul_add(P::load(&x[c][t], part), products[r][c]);
                        }
                    }
                }
            }
            for r in 0..R {
                sums[r].store(&mut self.first[i + r], part);
                let second = &mut self.second[row(r)];
                for c in 0..=r {
                    products[r][c].store(&mut second[c], part);
                }
            }
        }
    }

    /// Adds `Σ share·x_i·x_j` for `R` columns from `i` on, whose `share·x_i` are at `place` of the room, and `C` columns from
    /// `j` on.
    #[inline(always)]
    fn add_products<P: Part, const R: usize, const C: usize>(
        &mut self,
        (i, j): (usize, usize),
        place: usize,
    ) {
        let row = |r: usize| packed_index(i + r, 0) + j..packed_index(i + r, 0) + j + C;
        let (shared, _) = self.products[place..].as_chunks::<GROUP>();
        for part in 0..P::COUNT {
            let mut products = [[P::splat(0.0); C]; R];
            for r in 0..R {
                let second = &self.second[row(r)];
                for c in 0..C {
                    products[r][c] = P::load(&second[c], part);
                }
            }
            for (x, shared) in self.rows.iter().zip(shared.chunks_exact(R)) {
                let x = &x[j..j + C];
                for t in 0..GROUP {
                    for c in 0..C {
                        let x = P::load(&x[c][t], part);
                        for r in 0..R {
                            let shared = P::load(&shared[r][t], part);
                            products[r][c] = shared.mul_add(x, products[r][c]);
                        }
                    }
                }
            }
            for r in 0..R {
                let second = &mut self.second[row(r)];
                for c in 0..C {
                    products[r][c].store(&mut second[c], part);
                }
            }
        }
    }
}
