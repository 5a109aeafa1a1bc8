//! Eight doubles at a time, on whatever instructions the machine has.
//!
//! A kernel is written once against [`Vector`] and compiled for AVX-512, for AVX2 with FMA and
//! for the baseline; [`dispatch_on`] runs the best one at run time. Always eight lanes, whatever the
//! register width, and always fused multiply-adds where the machine has them, so that every
//! machine with FMA computes the same bits. All unsafe code of the library is in this folder.

mod lines;
mod math;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use lines::Lines;
pub(crate) use math::{exp, ln, ln_and_inverse};

/// Lanes of a vector, and rows of a block of data.
pub(crate) const LANES: usize = 8;

/// Eight doubles. Methods are lane by lane unless they say otherwise.
pub(crate) trait Vector: Copy {
    /// What one register holds of it.
    type Part: Part;
    fn splat(x: f64) -> Self;
    fn load(x: &[f64; LANES]) -> Self;
    fn store(self, out: &mut [f64; LANES]);
    fn add(self, o: Self) -> Self;
    fn sub(self, o: Self) -> Self;
    fn mul(self, o: Self) -> Self;
    fn div(self, o: Self) -> Self;
    fn neg(self) -> Self;
    fn max(self, o: Self) -> Self;
    fn min(self, o: Self) -> Self;
    /// `self * b + c`, rounded once where the machine can.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// `2^n` for integral `n` in `[-1022, 1023]` held as `n + 1.5·2^52` (see [`math::exp`]).
    fn power_of_two(shifted: Self) -> Self;
    /// Splits a positive normal number into exponent `e` (as a double) and mantissa in `[√½, √2)`.
    fn split_exponent(self) -> (Self, Self);

    /// Sum of the lanes, in the same order for every instruction set.
    #[inline(always)]
    fn sum(self) -> f64 {
        let mut lanes = [0.0; LANES];
        self.store(&mut lanes);
        ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6]))
            + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
    }

    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }
}

/// As many of the eight lanes as one register holds. Tiles of sums are made of these: with whole vectors of several
/// registers a tile would be so small that loads take longer than sums.
pub(crate) trait Part: Copy {
    /// Parts of eight lanes: 1, 2 or 4.
    const COUNT: usize;
    /// The most rows of a tile of sums that, with three or four columns, leaves registers for what is added to it.
    const ROWS: usize;
    fn splat(x: f64) -> Self;
    /// Part number `part` of `x`, which is less than [`COUNT`](Part::COUNT).
    fn load(x: &[f64; LANES], part: usize) -> Self;
    fn store(self, out: &mut [f64; LANES], part: usize);
    fn mul(self, o: Self) -> Self;
    /// As [`Vector::mul_add`].
    fn mul_add(self, b: Self, c: Self) -> Self;
}

/// Two portable lanes, as many as a register of the baseline holds.
#[derive(Clone, Copy)]
pub(crate) struct Pair([f64; 2]);

impl Part for Pair {
    const COUNT: usize = 4;
    const ROWS: usize = if cfg!(target_arch = "aarch64") { 4 } else { 3 };

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Pair([x; 2])
    }
    #[inline(always)]
    fn load(x: &[f64; LANES], part: usize) -> Self {
        // The remainder tells the compiler that no index is out of bounds.
        Pair(x.as_chunks().0[part % Self::COUNT])
    }
    #[inline(always)]
    fn store(self, out: &mut [f64; LANES], part: usize) {
        out.as_chunks_mut().0[part % Self::COUNT] = self.0;
    }
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Pair([self.0[0] * o.0[0], self.0[1] * o.0[1]])
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Pair(std::array::from_fn(|i| mul_add(self.0[i], b.0[i], c.0[i])))
    }
}

/// `a b + c`, rounded once where the baseline can do that quickly.
#[inline(always)]
fn mul_add(a: f64, b: f64, c: f64) -> f64 {
    if cfg!(any(target_arch = "aarch64", target_feature = "fma")) {
        a.mul_add(b, c)
    } else {
        a * b + c
    }
}

/// Portable lanes: plain arrays, which the compiler turns into what the baseline offers.
#[derive(Clone, Copy)]
pub(crate) struct Portable([f64; LANES]);

#[inline(always)]
fn lanes(f: impl Fn(usize) -> f64) -> Portable {
    Portable(std::array::from_fn(f))
}

/// On aarch64 these are NEON instructions, which are part of its baseline.
impl Vector for Portable {
    type Part = Pair;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Portable([x; LANES])
    }
    #[inline(always)]
    fn load(x: &[f64; LANES]) -> Self {
        Portable(*x)
    }
    #[inline(always)]
    fn store(self, out: &mut [f64; LANES]) {
        *out = self.0;
    }
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        lanes(|i| self.0[i] + o.0[i])
    }
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        lanes(|i| self.0[i] - o.0[i])
    }
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        lanes(|i| self.0[i] * o.0[i])
    }
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        lanes(|i| self.0[i] / o.0[i])
    }
    #[inline(always)]
    fn neg(self) -> Self {
        lanes(|i| -self.0[i])
    }
    #[inline(always)]
    fn max(self, o: Self) -> Self {
        lanes(|i| if self.0[i] > o.0[i] { self.0[i] } else { o.0[i] })
    }
    #[inline(always)]
    fn min(self, o: Self) -> Self {
        lanes(|i| if self.0[i] < o.0[i] { self.0[i] } else { o.0[i] })
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        lanes(|i| mul_add(self.0[i], b.0[i], c.0[i]))
    }
    #[inline(always)]
    fn power_of_two(shifted: Self) -> Self {
        lanes(|i| f64::from_bits(shifted.0[i].to_bits().wrapping_add(1023) << 52))
    }
    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        let exponent = |i: usize| {
            let bits = self.0[i].to_bits();
            // Rounds the mantissa's choice of exponent at √2 instead of 2.
            (bits.wrapping_sub(math::SQRT_HALF_BITS) as i64) >> 52
        };
        let e = lanes(|i| exponent(i) as f64);
        let m =
            lanes(|i| f64::from_bits(self.0[i].to_bits().wrapping_sub((exponent(i) as u64) << 52)));
        (e, m)
    }
}

/// A computation that can be compiled for any [`Vector`].
pub(crate) trait Kernel {
    type Output;
    /// Must be `#[inline(always)]`, as must everything it calls that touches vectors.
    fn run<V: Vector>(self) -> Self::Output;
}

/// The instruction sets a kernel is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstructionSet {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

impl InstructionSet {
    /// Those this machine can run, best first.
    pub(crate) fn available() -> Vec<InstructionSet> {
        let mut sets = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if x86::has_avx512() {
                sets.push(InstructionSet::Avx512);
            }
            if x86::has_avx2() {
                sets.push(InstructionSet::Avx2);
            }
        }
        sets.push(InstructionSet::Portable);
        sets
    }

    /// The best one, looked up once.
    pub(crate) fn best() -> InstructionSet {
        use std::sync::OnceLock;
        static BEST: OnceLock<InstructionSet> = OnceLock::new();
        *BEST.get_or_init(|| InstructionSet::available()[0])
    }
}

/// Runs `kernel` compiled for `set`, which must be one of [`InstructionSet::available`].
pub(crate) fn dispatch_on<K: Kernel>(set: InstructionSet, kernel: K) -> K::Output {
    match set {
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 => x86::run_avx512(kernel),
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => x86::run_avx2(kernel),
        InstructionSet::Portable => kernel.run::<Portable>(),
    }
}
