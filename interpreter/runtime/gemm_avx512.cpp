// AVX-512: tiles of 6 x 4 or 12 x 2 registers of 16 f32 or 8 f64. Called only where the processor has it.
#include <immintrin.h>

#include <type_traits>
#include <utility>

#include "interpreter/runtime/gemm_kernel.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512dq,avx512bw"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw")
#endif

namespace tercet {
namespace {

inline int clamp_count(int count, int lanes) { return count < 0 ? 0 : count < lanes ? count : lanes; }

struct WideF32 {
  using Scalar = float;
  using Vector = __m512;
  static constexpr int lanes = 16;
  static __mmask16 mask(int count) { return static_cast<__mmask16>((1u << clamp_count(count, 16)) - 1); }
  static Vector zero() { return _mm512_setzero_ps(); }
  static Vector load(const float* p) { return _mm512_loadu_ps(p); }
  static Vector load_some(const float* p, int count) { return _mm512_maskz_loadu_ps(mask(count), p); }
  static void store(float* p, Vector v) { _mm512_storeu_ps(p, v); }
  static void store_some(float* p, Vector v, int count) { _mm512_mask_storeu_ps(p, mask(count), v); }
  static Vector broadcast(const float* p) { return _mm512_set1_ps(*p); }
  static Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
};
struct WideF64 {
  using Scalar = double;
  using Vector = __m512d;
  static constexpr int lanes = 8;
  static __mmask8 mask(int count) { return static_cast<__mmask8>((1u << clamp_count(count, 8)) - 1); }
  static Vector zero() { return _mm512_setzero_pd(); }
  static Vector load(const double* p) { return _mm512_loadu_pd(p); }
  static Vector load_some(const double* p, int count) { return _mm512_maskz_loadu_pd(mask(count), p); }
  static void store(double* p, Vector v) { _mm512_storeu_pd(p, v); }
  static void store_some(double* p, Vector v, int count) { _mm512_mask_storeu_pd(p, mask(count), v); }
  static Vector broadcast(const double* p) { return _mm512_set1_pd(*p); }
  static Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_pd(a, b, c); }
};

#include "interpreter/runtime/gemm_tile.inc"

}  // namespace

constinit const GemmKernels<float> gemm_avx512_f32 = {kernel_of<WideF32, 6, 4>(), kernel_of<WideF32, 12, 2>()};
constinit const GemmKernels<double> gemm_avx512_f64 = {kernel_of<WideF64, 6, 4>(), kernel_of<WideF64, 12, 2>()};

}  // namespace tercet

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
