// AVX2: tiles of 6 x 2 or 12 x 1 registers of 8 f32 or 4 f64, and chains along rows. This is the baseline every machine of ours has.
#include <immintrin.h>

#include "interpreter/runtime/gemm_kernel.h"
#include "interpreter/runtime/matvec_kernel.h"

namespace tercet {
namespace {

struct NarrowF32 {
  using Scalar = float;
  using Vector = __m256;
  static constexpr int lanes = 8;
  static __m256i mask(int count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static Vector zero() { return _mm256_setzero_ps(); }
  static Vector load(const float* p) { return _mm256_loadu_ps(p); }
  static Vector load_some(const float* p, int count) { return _mm256_maskload_ps(p, mask(count)); }
  static void store(float* p, Vector v) { _mm256_storeu_ps(p, v); }
  static void store_some(float* p, Vector v, int count) { _mm256_maskstore_ps(p, mask(count), v); }
  static Vector broadcast(const float* p) { return _mm256_broadcast_ss(p); }
  static Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
  static void transpose(Vector* x) {
    Vector a[8], b[8];
#pragma GCC unroll 16
    for (int i = 0; i < 8; i += 2) a[i] = _mm256_unpacklo_ps(x[i], x[i + 1]), a[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
#pragma GCC unroll 16
    for (int i = 0; i < 8; i += 4)
#pragma GCC unroll 16
      for (int j = 0; j < 2; ++j) {   // columns 2j and 2j + 1 of either half
        b[i + 2 * j] = _mm256_shuffle_ps(a[i + j], a[i + j + 2], 0x44);
        b[i + 2 * j + 1] = _mm256_shuffle_ps(a[i + j], a[i + j + 2], 0xee);
      }
#pragma GCC unroll 16
    for (int i = 0; i < 4; ++i) {
      x[i] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
      x[i + 4] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
    }
  }
};
struct NarrowF64 {
  using Scalar = double;
  using Vector = __m256d;
  static constexpr int lanes = 4;
  static __m256i mask(int count) { return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3)); }
  static Vector zero() { return _mm256_setzero_pd(); }
  static Vector load(const double* p) { return _mm256_loadu_pd(p); }
  static Vector load_some(const double* p, int count) { return _mm256_maskload_pd(p, mask(count)); }
  static void store(double* p, Vector v) { _mm256_storeu_pd(p, v); }
  static void store_some(double* p, Vector v, int count) { _mm256_maskstore_pd(p, mask(count), v); }
  static Vector broadcast(const double* p) { return _mm256_broadcast_sd(p); }
  static Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_pd(a, b, c); }
  static void transpose(Vector* x) {
    Vector a[4];
#pragma GCC unroll 16
    for (int i = 0; i < 4; i += 2) a[i] = _mm256_unpacklo_pd(x[i], x[i + 1]), a[i + 1] = _mm256_unpackhi_pd(x[i], x[i + 1]);
#pragma GCC unroll 16
    for (int i = 0; i < 2; ++i) {
      x[i] = _mm256_permute2f128_pd(a[i], a[i + 2], 0x20);
      x[i + 2] = _mm256_permute2f128_pd(a[i], a[i + 2], 0x31);
    }
  }
};

#include "interpreter/runtime/gemm_tile.inc"
#include "interpreter/runtime/matvec_tile.inc"

}  // namespace

const GemmKernels<float> gemm_avx2_f32 = {{6, 16, run_columns<NarrowF32, 6, 2>}, {12, 8, run_columns<NarrowF32, 12, 1>}};
const GemmKernels<double> gemm_avx2_f64 = {{6, 8, run_columns<NarrowF64, 6, 2>}, {12, 4, run_columns<NarrowF64, 12, 1>}};
ChainKernel<float>* const chains_avx2_f32 = run_chains<NarrowF32>;
ChainKernel<double>* const chains_avx2_f64 = run_chains<NarrowF64>;

}  // namespace tercet
