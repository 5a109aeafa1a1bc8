//! The vectors of x86-64: one 512-bit register, or two of 256 bits.

use super::{Kernel, LANES, Part, Vector, math};
use std::arch::x86_64::*;

pub(super) fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") && has_avx2()
}

pub(super) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

pub(super) fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    fn inner<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<Avx512>()
    }
    assert!(has_avx512());
    // SAFETY: the features were checked on the line above.
    unsafe { inner(kernel) }
}

pub(super) fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    #[target_feature(enable = "avx2,fma")]
    fn inner<K: Kernel>(kernel: K) -> K::Output {
        kernel.run::<Avx2>()
    }
    assert!(has_avx2());
    // SAFETY: the features were checked on the line above.
    unsafe { inner(kernel) }
}

// SAFETY of every intrinsic below: these types are private to this file and reach a kernel only
// through `run_avx512` and `run_avx2`, which check the features first.

/// One 512-bit register.
#[derive(Clone, Copy)]
struct Avx512(__m512d);

/// A whole vector is one part; there are 32 registers.
impl Part for Avx512 {
    const COUNT: usize = 1;
    const ROWS: usize = 4;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Vector::splat(x)
    }
    #[inline(always)]
    fn load(x: &[f64; LANES], _: usize) -> Self {
        Vector::load(x)
    }
    #[inline(always)]
    fn store(self, out: &mut [f64; LANES], _: usize) {
        Vector::store(self, out);
    }
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Vector::mul(self, o)
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Vector::mul_add(self, b, c)
    }
}

impl Vector for Avx512 {
    type Part = Avx512;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Avx512(unsafe { _mm512_set1_pd(x) })
    }
    #[inline(always)]
    fn load(x: &[f64; LANES]) -> Self {
        Avx512(unsafe { _mm512_loadu_pd(x.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, out: &mut [f64; LANES]) {
        unsafe { _mm512_storeu_pd(out.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Avx512(unsafe { _mm512_add_pd(self.0, o.0) })
    }
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Avx512(unsafe { _mm512_sub_pd(self.0, o.0) })
    }
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Avx512(unsafe { _mm512_mul_pd(self.0, o.0) })
    }
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        Avx512(unsafe { _mm512_div_pd(self.0, o.0) })
    }
    #[inline(always)]
    fn neg(self) -> Self {
        Avx512(unsafe { _mm512_xor_pd(self.0, _mm512_set1_pd(-0.0)) })
    }
    #[inline(always)]
    fn max(self, o: Self) -> Self {
        Avx512(unsafe { _mm512_max_pd(self.0, o.0) })
    }
    #[inline(always)]
    fn min(self, o: Self) -> Self {
        Avx512(unsafe { _mm512_min_pd(self.0, o.0) })
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Avx512(unsafe { _mm512_fmadd_pd(self.0, b.0, c.0) })
    }
    #[inline(always)]
    fn power_of_two(shifted: Self) -> Self {
        unsafe {
            let bits = _mm512_castpd_si512(shifted.0);
            let biased = _mm512_add_epi64(bits, _mm512_set1_epi64(1023));
            Avx512(_mm512_castsi512_pd(_mm512_slli_epi64(biased, 52)))
        }
    }
    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        unsafe {
            let bits = _mm512_castpd_si512(self.0);
            let offset = _mm512_sub_epi64(bits, _mm512_set1_epi64(math::SQRT_HALF_BITS as i64));
            let e = _mm512_srai_epi64(offset, 52);
            let m = _mm512_sub_epi64(bits, _mm512_slli_epi64(e, 52));
            (Avx512(_mm512_cvtepi64_pd(e)), Avx512(_mm512_castsi512_pd(m)))
        }
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        let halves =
            unsafe { Avx2(_mm512_castpd512_pd256(self.0), _mm512_extractf64x4_pd(self.0, 1)) };
        halves.sum()
    }
}

/// One 256-bit register, of which there are 16.
#[derive(Clone, Copy)]
struct Half(__m256d);

impl Part for Half {
    const COUNT: usize = 2;
    const ROWS: usize = 3;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Half(unsafe { _mm256_set1_pd(x) })
    }
    #[inline(always)]
    fn load(x: &[f64; LANES], part: usize) -> Self {
        let half: &[f64; 4] = &x.as_chunks().0[part % 2];
        Half(unsafe { _mm256_loadu_pd(half.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, out: &mut [f64; LANES], part: usize) {
        let half: &mut [f64; 4] = &mut out.as_chunks_mut().0[part % 2];
        unsafe { _mm256_storeu_pd(half.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        Half(unsafe { _mm256_mul_pd(self.0, o.0) })
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Half(unsafe { _mm256_fmadd_pd(self.0, b.0, c.0) })
    }
}

/// Two 256-bit registers.
#[derive(Clone, Copy)]
struct Avx2(__m256d, __m256d);

impl Vector for Avx2 {
    type Part = Half;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        let v = unsafe { _mm256_set1_pd(x) };
        Avx2(v, v)
    }
    #[inline(always)]
    fn load(x: &[f64; LANES]) -> Self {
        unsafe { Avx2(_mm256_loadu_pd(x.as_ptr()), _mm256_loadu_pd(x.as_ptr().add(4))) }
    }
    #[inline(always)]
    fn store(self, out: &mut [f64; LANES]) {
        unsafe {
            _mm256_storeu_pd(out.as_mut_ptr(), self.0);
            _mm256_storeu_pd(out.as_mut_ptr().add(4), self.1);
        }
    }
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        unsafe { Avx2(_mm256_add_pd(self.0, o.0), _mm256_add_pd(self.1, o.1)) }
    }
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        unsafe { Avx2(_mm256_sub_pd(self.0, o.0), _mm256_sub_pd(self.1, o.1)) }
    }
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        unsafe { Avx2(_mm256_mul_pd(self.0, o.0), _mm256_mul_pd(self.1, o.1)) }
    }
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        unsafe { Avx2(_mm256_div_pd(self.0, o.0), _mm256_div_pd(self.1, o.1)) }
    }
    #[inline(always)]
    fn neg(self) -> Self {
        unsafe {
            let sign = _mm256_set1_pd(-0.0);
            Avx2(_mm256_xor_pd(self.0, sign), _mm256_xor_pd(self.1, sign))
        }
    }
    #[inline(always)]
    fn max(self, o: Self) -> Self {
        unsafe { Avx2(_mm256_max_pd(self.0, o.0), _mm256_max_pd(self.1, o.1)) }
    }
    #[inline(always)]
    fn min(self, o: Self) -> Self {
        unsafe { Avx2(_mm256_min_pd(self.0, o.0), _mm256_min_pd(self.1, o.1)) }
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        unsafe { Avx2(_mm256_fmadd_pd(self.0, b.0, c.0), _mm256_fmadd_pd(self.1, b.1, c.1)) }
    }
    #[inline(always)]
    fn power_of_two(shifted: Self) -> Self {
        #[inline(always)]
        fn half(x: __m256d) -> __m256d {
            unsafe {
                let biased = _mm256_add_epi64(_mm256_castpd_si256(x), _mm256_set1_epi64x(1023));
                _mm256_castsi256_pd(_mm256_slli_epi64(biased, 52))
            }
        }
        Avx2(half(shifted.0), half(shifted.1))
    }
    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        #[inline(always)]
        fn half(x: __m256d) -> (__m256d, __m256d) {
            unsafe {
                let bits = _mm256_castpd_si256(x);
                // AVX2 has no arithmetic shift of 64-bit lanes: bias the exponent by 1024 so that a
                // logical shift serves, and let the magic-number trick turn it into a double.
                let bias = 1024_i64 << 52;
                let offset = _mm256_add_epi64(
                    bits,
                    _mm256_set1_epi64x(bias.wrapping_sub(math::SQRT_HALF_BITS as i64)),
                );
                let shifted = _mm256_srli_epi64(offset, 52);
                let back = _mm256_sub_epi64(shifted, _mm256_set1_epi64x(1024));
                let m = _mm256_sub_epi64(bits, _mm256_slli_epi64(back, 52));
                let magic = 4_503_599_627_370_496.0_f64; // 2^52
                let e = _mm256_sub_pd(
                    _mm256_castsi256_pd(_mm256_or_si256(
                        shifted,
                        _mm256_castpd_si256(_mm256_set1_pd(magic)),
                    )),
                    _mm256_set1_pd(magic + 1024.0),
                );
                (e, _mm256_castsi256_pd(m))
            }
        }
        let (e0, m0) = half(self.0);
        let (e1, m1) = half(self.1);
        (Avx2(e0, e1), Avx2(m0, m1))
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        unsafe {
            let four = _mm256_add_pd(self.0, self.1);
            let two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
            _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
        }
    }
}
