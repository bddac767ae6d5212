// Square tiles of f32 or f64, turned round in registers. AVX2, which every machine of ours has.
//
// Example:  Vector x[lanes]; x[r] = load(rows[r] + at); transpose(x);   // x[p] has element at + p of each row
#pragma once
#include <immintrin.h>

#include <type_traits>

namespace tercet {

struct TileF32 {
  using Scalar = float;
  using Vector = __m256;
  static constexpr int lanes = 8;
  static Vector load(const float* p) { return _mm256_loadu_ps(p); }
  static Vector load_some(const float* p, int count) {
    return _mm256_maskload_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)));
  }
  static void store(float* p, Vector v) { _mm256_storeu_ps(p, v); }
  static Vector fma(Vector a, float b, Vector c) { return _mm256_fmadd_ps(a, _mm256_set1_ps(b), c); }
  static void transpose(Vector* x) {
    Vector a[8], b[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 2) a[i] = _mm256_unpacklo_ps(x[i], x[i + 1]), a[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i += 4)
#pragma GCC unroll 8
      for (int j = 0; j < 2; ++j) {   // columns 2j and 2j + 1 of either half
        b[i + 2 * j] = _mm256_shuffle_ps(a[i + j], a[i + j + 2], 0x44);
        b[i + 2 * j + 1] = _mm256_shuffle_ps(a[i + j], a[i + j + 2], 0xee);
      }
#pragma GCC unroll 8
    for (int i = 0; i < 4; ++i) {
      x[i] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
      x[i + 4] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
    }
  }
};
struct TileF64 {
  using Scalar = double;
  using Vector = __m256d;
  static constexpr int lanes = 4;
  static Vector load(const double* p) { return _mm256_loadu_pd(p); }
  static Vector load_some(const double* p, int count) {
    return _mm256_maskload_pd(p, _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3)));
  }
  static void store(double* p, Vector v) { _mm256_storeu_pd(p, v); }
  static Vector fma(Vector a, double b, Vector c) { return _mm256_fmadd_pd(a, _mm256_set1_pd(b), c); }
  static void transpose(Vector* x) {
    const Vector even = _mm256_unpacklo_pd(x[0], x[1]), odd = _mm256_unpackhi_pd(x[0], x[1]);
    const Vector even_below = _mm256_unpacklo_pd(x[2], x[3]), odd_below = _mm256_unpackhi_pd(x[2], x[3]);
    x[0] = _mm256_permute2f128_pd(even, even_below, 0x20);
    x[1] = _mm256_permute2f128_pd(odd, odd_below, 0x20);
    x[2] = _mm256_permute2f128_pd(even, even_below, 0x31);
    x[3] = _mm256_permute2f128_pd(odd, odd_below, 0x31);
  }
};
template <class C> using TileOf = std::conditional_t<std::is_same_v<C, float>, TileF32, TileF64>;

}  // namespace tercet
