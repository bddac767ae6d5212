#include "interpreter/runtime/half_rows.h"

#include <immintrin.h>

#include <bit>

namespace tercet {

void widen_row(const Half* from, int64_t count, float* to) {
  int64_t i = 0;
  const __m256 nan = _mm256_set1_ps(std::bit_cast<float>(0x7fc00000u));
  for (; i + 8 <= count; i += 8) {
    const __m256 x = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
    _mm256_storeu_ps(to + i, _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q)));
  }
  for (; i < count; ++i) to[i] = to_float(from[i]);
}

void widen_row(const BFloat* from, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t bits = static_cast<uint32_t>(from[i].bits) << 16;
    to[i] = std::bit_cast<float>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : bits);
  }
}

void narrow_row(const float* from, int64_t count, Half* to) {
  int64_t i = 0;
  const __m256 nan = _mm256_set1_ps(std::bit_cast<float>(0x7fc00000u));
  for (; i + 8 <= count; i += 8) {
    const __m256 x = _mm256_loadu_ps(from + i);
    const __m256 clean = _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm256_cvtps_ph(clean, _MM_FROUND_TO_NEAREST_INT));
  }
  for (; i < count; ++i) to[i] = to_half(from[i]);
}

void narrow_row(const float* from, int64_t count, BFloat* to) {
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t bits = std::bit_cast<uint32_t>(from[i]);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    to[i].bits = static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
  }
}

}  // namespace tercet
