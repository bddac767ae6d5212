#include "interpreter/runtime/contract.h"

#include "interpreter/runtime/reduce.h"

namespace tercet {
namespace {

template <class C> C multiply_add(C a, C b, C acc) {
  if constexpr (std::is_floating_point_v<C>) return fma(a, b, acc);
  else return wrap_add(acc, wrap_mul(a, b));
}

/// Rows of `out` from one matrix pair: k is the outer loop over a row of b, so that n runs contiguously.
template <class T> void matrix_product(const T* a, const T* b, ContractSizes s, T* out) {
  using C = typename Compute<T>::type;
  std::vector<C> row(static_cast<size_t>(s.n));
  for (int64_t i = 0; i < s.m; ++i) {
    std::fill(row.begin(), row.end(), C(0));
    for (int64_t k = 0; k < s.k; ++k) {
      C left = Compute<T>::load(a[i * s.k + k]);
      const T* right = b + k * s.n;
      for (int64_t j = 0; j < s.n; ++j) row[static_cast<size_t>(j)] = multiply_add(left, Compute<T>::load(right[j]), row[static_cast<size_t>(j)]);
    }
    for (int64_t j = 0; j < s.n; ++j) out[i * s.n + j] = Compute<T>::store(row[static_cast<size_t>(j)]);
  }
}

template <class C> struct SumOf {
  using Acc = C;
  static C combine(C a, C b) { return wrap_add(a, b); }
};

/// One block of products: partials are fma chains, the first product of each starts its chain from +0.
template <class T> typename Compute<T>::type dot_block(const T* a, const T* b, int64_t n) {
  using C = typename Compute<T>::type;
  C p[reduce_partials] = {};
  for (int64_t i = 0; i < n; ++i) {
    C& slot = p[i % reduce_partials];
    slot = multiply_add(Compute<T>::load(a[i]), Compute<T>::load(b[i]), slot);
  }
  for (int64_t half = reduce_partials / 2; half > 0; half /= 2)
    for (int64_t j = 0; j < half; ++j) p[j] = wrap_add(p[j], p[j + half]);
  return p[0];
}

template <class T> T dot_product(const T* a, const T* b, int64_t n) {
  using C = typename Compute<T>::type;
  std::vector<C> blocks;
  for (int64_t at = 0; at < n; at += reduce_block) blocks.push_back(dot_block(a + at, b + at, std::min(reduce_block, n - at)));
  return Compute<T>::store(blocks.empty() ? C(0) : detail::combine_blocks<SumOf<C>>(blocks));
}

}  // namespace

void contract(DType dtype, ContractSizes s, bool vector_form, const std::byte* a_bytes, const std::byte* b_bytes, std::byte* out_bytes) {
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, StringRef> && !std::is_same_v<T, KeyBits> && !std::is_same_v<T, bool>) {
      auto *a = reinterpret_cast<const T*>(a_bytes), *b = reinterpret_cast<const T*>(b_bytes);
      auto* out = reinterpret_cast<T*>(out_bytes);
      for (int64_t i = 0; i < s.batch; ++i, a += s.m * s.k, b += s.k * s.n, out += s.m * s.n) {
        if (!vector_form) matrix_product(a, b, s, out);
        else
          for (int64_t r = 0; r < s.m; ++r)
            for (int64_t c = 0; c < s.n; ++c) out[r * s.n + c] = dot_product(a + r * s.k, b + c * s.k, s.k);
      }
    }
  });
}

}  // namespace tercet
