// The inner loops of matvec.cpp, one set per instruction set.
#pragma once
#include <cstdint>

namespace tercet {

/// Rows that are summed side by side: a cache line of sums.
template <class T> inline constexpr int chain_rows_at_once = 64 / sizeof(T);

/// sums[r] = chain of fma(rows[r][p], vector[p], sums[r]), p ascending over [0, k), for chain_rows_at_once rows. The rows that come next
/// begin `next` elements behind these; their beginning is fetched towards the end (0: none come).
template <class T> using ChainKernel = void(int64_t k, const T* const* rows, const T* vector, T* sums, int64_t next);

extern ChainKernel<float>* const chains_avx2_f32;
extern ChainKernel<float>* const chains_avx512_f32;
extern ChainKernel<double>* const chains_avx2_f64;
extern ChainKernel<double>* const chains_avx512_f64;

}  // namespace tercet
