#include "interpreter/runtime/matvec.h"

#include <algorithm>
#include <cmath>

#include "interpreter/runtime/array.h"
#include "interpreter/runtime/half_rows.h"
#include "interpreter/runtime/matvec_kernel.h"
#include "interpreter/runtime/polling.h"

namespace tercet {
namespace {

/// One row's chain, for rows that are too few to fill vectors.
template <class C> C one_chain(int64_t k, const C* row, const C* vector, C sum) {
  for (int64_t p = 0; p < k; ++p) sum = std::fma(row[p], vector[p], sum);
  return sum;
}

template <class C> ChainKernel<C>* kernel_for(GemmIsa isa) {
  const bool wide = isa == GemmIsa::Avx512 || (isa == GemmIsa::Best && gemm_isa_available(GemmIsa::Avx512));
  if constexpr (std::is_same_v<C, float>) return wide ? chains_avx512_f32 : chains_avx2_f32;
  else return wide ? chains_avx512_f64 : chains_avx2_f64;
}

constexpr int64_t few_rows = 2;

template <class C>
void some_chains(ChainKernel<C>* kernel, int64_t count, int64_t k, const C* const* rows, const C* vector, C* sums, int64_t next) {
  if (count > few_rows) kernel(k, rows, vector, sums, next);
  else
    for (int64_t r = 0; r < count; ++r) sums[r] = one_chain(k, rows[r], vector, sums[r]);
}

}  // namespace

template <class T> void chain_rows(int64_t begin, int64_t end, int64_t k, const T* matrix, const T* vector, T* out, GemmIsa isa) {
  using C = typename Compute<T>::type;
  constexpr int64_t block = 512, some = chain_rows_at_once<C>;
  ChainKernel<C>* const kernel = kernel_for<C>(isa);
  PollCounter polls;
  for (int64_t i = begin; i < end; i += some) {
    const int64_t count = std::min(some, end - i);
    polls.add(count * k);
    C sums[some] = {};
    const C* rows[some];   // the last one as often as others are missing
    if constexpr (std::is_same_v<T, C>) {
      for (int64_t r = 0; r < some; ++r) rows[r] = matrix + (i + std::min(r, count - 1)) * k;
      some_chains(kernel, count, k, rows, vector, sums, i + some < end ? some * k : 0);
    } else {   // widened a block at a time
      C wide[some + 1][block];
      for (int64_t r = 0; r < some; ++r) rows[r] = wide[std::min(r, count - 1)];
      for (int64_t p = 0; p < k; p += block) {
        const int64_t n = std::min(block, k - p);
        widen_row(vector + p, n, wide[some]);
        for (int64_t r = 0; r < count; ++r) widen_row(matrix + (i + r) * k + p, n, wide[r]);
        some_chains(kernel, count, n, rows, wide[some], sums, 0);
      }
    }
    for (int64_t r = 0; r < count; ++r) out[i + r] = Compute<T>::store(sums[r]);
  }
}

template void chain_rows<float>(int64_t, int64_t, int64_t, const float*, const float*, float*, GemmIsa);
template void chain_rows<double>(int64_t, int64_t, int64_t, const double*, const double*, double*, GemmIsa);
template void chain_rows<Half>(int64_t, int64_t, int64_t, const Half*, const Half*, Half*, GemmIsa);
template void chain_rows<BFloat>(int64_t, int64_t, int64_t, const BFloat*, const BFloat*, BFloat*, GemmIsa);

}  // namespace tercet
