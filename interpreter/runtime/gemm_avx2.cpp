// AVX2: tiles of 6 x 2 or 12 x 1 registers of 8 f32 or 4 f64. This is the baseline every machine of ours has.
#include <immintrin.h>

#include <type_traits>
#include <utility>

#include "interpreter/runtime/gemm_kernel.h"

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
};

#include "interpreter/runtime/gemm_tile.inc"

}  // namespace

constinit const GemmKernels<float> gemm_avx2_f32 = {kernel_of<NarrowF32, 6, 2>(), kernel_of<NarrowF32, 12, 1>()};
constinit const GemmKernels<double> gemm_avx2_f64 = {kernel_of<NarrowF64, 6, 2>(), kernel_of<NarrowF64, 12, 1>()};

}  // namespace tercet
