//! The least an E-step must do, for benchmarks: read the rows and take the exponentials; and the most a core can do.

use crate::simd::{InstructionSet, Kernel, LANES, Part, Vector, dispatch_on, exp};

/// Blocks of eight rows, as an E-step reads them.
pub struct Blocks {
    p: usize,
    values: Vec<[f64; LANES]>,
}

impl Blocks {
    /// `n` rows of `p` small numbers.
    pub fn new(n: usize, p: usize) -> Blocks {
        let values = (0..n.div_ceil(LANES) * p)
            .map(|i| std::array::from_fn(|lane| -(((i * LANES + lane) % 97) as f64) / 10.0))
            .collect();
        Blocks { p, values }
    }

    /// Reads every row and takes `exponentials` of its sum; returns something that depends on all.
    pub fn read_and_exp(&self, exponentials: usize) -> f64 {
        dispatch_on(InstructionSet::best(), ReadAndExp { blocks: self, exponentials })
    }
}

/// Makes `16 · rounds` fused multiply-adds of eight numbers, all in registers; returns something that depends on all. On
/// a machine without them they are products and sums.
pub fn multiply_adds(rounds: usize) -> f64 {
    dispatch_on(InstructionSet::best(), MultiplyAdds(rounds))
}

struct MultiplyAdds(usize);

impl Kernel for MultiplyAdds {
    type Output = f64;

    #[inline(always)]
    fn run<V: Vector>(self) -> f64 {
        // Chains enough to keep the units busy, and few enough for 16 registers.
        const CHAINS: usize = 12;
        let mut sums = [V::Part::splat(1.0); CHAINS];
        // Equal chains would be made one.
        for (i, sum) in sums.iter_mut().enumerate() {
            *sum = V::Part::splat(1.0 + i as f64);
        }
        let (factor, more) = (V::Part::splat(0.999_999), V::Part::splat(1e-6));
        for _ in 0..(16 * V::Part::COUNT * self.0).div_ceil(CHAINS) {
            for sum in &mut sums {
                *sum = sum.mul_add(factor, more);
            }
        }
        let mut total = 0.0;
        for sum in sums {
            let mut lanes = [0.0; LANES];
            sum.store(&mut lanes, 0);
            total += lanes.iter().sum::<f64>();
        }
        total
    }
}

struct ReadAndExp<'a> {
    blocks: &'a Blocks,
    exponentials: usize,
}

impl Kernel for ReadAndExp<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<V: Vector>(self) -> f64 {
        let mut total = V::zero();
        for block in self.blocks.values.chunks_exact(self.blocks.p) {
            let mut sum = V::zero();
            for x in block {
                sum = sum.add(V::load(x));
            }
            for e in 0..self.exponentials {
                total = total.add(exp(sum.sub(V::splat(e as f64))));
            }
        }
        total.sum()
    }
}
