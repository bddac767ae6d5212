#include "interpreter/runtime/matvec.h"

#include <algorithm>
#include <cmath>

#include "interpreter/runtime/array.h"
#include "interpreter/runtime/half_rows.h"
#include "interpreter/runtime/polling.h"

namespace tercet {
namespace {

/// R rows side by side: a chain alone waits for each of its steps, R of them keep the arithmetic busy. Not to be packed into
/// vectors: gathering one element of each row costs more than it saves.
template <int R, class C> __attribute__((optimize("no-tree-slp-vectorize"))) void chains(int64_t k, const C* const* rows, const C* vector, C* sums) {
  C acc[R];
  for (int r = 0; r < R; ++r) acc[r] = sums[r];
  for (int64_t p = 0; p < k; ++p) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) acc[r] = std::fma(rows[r][p], vector[p], acc[r]);
  }
  for (int r = 0; r < R; ++r) sums[r] = acc[r];
}

template <class C> void some_chains(int64_t count, int64_t k, const C* const* rows, const C* vector, C* sums) {
  if (count == 8) return chains<8>(k, rows, vector, sums);
  for (int64_t r = 0; r < count; ++r) chains<1>(k, rows + r, vector, sums + r);
}

}  // namespace

template <class T> void chain_rows(int64_t begin, int64_t end, int64_t k, const T* matrix, const T* vector, T* out) {
  using C = typename Compute<T>::type;
  constexpr int64_t block = 512;
  PollCounter polls;
  for (int64_t i = begin; i < end; i += 8) {
    const int64_t count = std::min<int64_t>(8, end - i);
    polls.add(count * k);
    C sums[8] = {};
    const C* rows[8];
    if constexpr (std::is_same_v<T, C>) {
      for (int64_t r = 0; r < count; ++r) rows[r] = matrix + (i + r) * k;
      some_chains(count, k, rows, vector, sums);
    } else {   // widened a block at a time
      C wide[9][block];
      for (int64_t p = 0; p < k; p += block) {
        const int64_t n = std::min(block, k - p);
        widen_row(vector + p, n, wide[8]);
        for (int64_t r = 0; r < count; ++r) {
          widen_row(matrix + (i + r) * k + p, n, wide[r]);
          rows[r] = wide[r];
        }
        some_chains(count, n, rows, wide[8], sums);
      }
    }
    for (int64_t r = 0; r < count; ++r) out[i + r] = Compute<T>::store(sums[r]);
  }
}

template void chain_rows<float>(int64_t, int64_t, int64_t, const float*, const float*, float*);
template void chain_rows<double>(int64_t, int64_t, int64_t, const double*, const double*, double*);
template void chain_rows<Half>(int64_t, int64_t, int64_t, const Half*, const Half*, Half*);
template void chain_rows<BFloat>(int64_t, int64_t, int64_t, const BFloat*, const BFloat*, BFloat*);

}  // namespace tercet
