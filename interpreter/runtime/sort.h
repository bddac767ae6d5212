// Orders for sorting: stable, NaN last whatever its sign bit, -0.0 equal to 0.0 (jax-semantics section 2).
#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "interpreter/runtime/array.h"

namespace tercet {
namespace detail {

/// Sorts before: plain order, NaN after everything.
template <class T> bool sorts_before(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, StringRef>) return a.view() < b.view();
  else {
    auto x = Compute<T>::load(a), y = Compute<T>::load(b);
    return is_nan(y) ? !is_nan(x) : x < y;
  }
}

}  // namespace detail

/// order[i] = index of the element that comes i-th among the n elements `stride` apart. Ties keep their order, also
/// when descending (NaN is last then too).
template <class T> void stable_order(const T* x, int64_t n, int64_t stride, bool descending, std::vector<int32_t>& order) {
  order.resize(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t i, int32_t j) {
    const T &a = x[i * stride], &b = x[j * stride];
    if constexpr (!std::is_same_v<T, StringRef>)
      if (descending) return is_nan(Compute<T>::load(b)) ? !is_nan(Compute<T>::load(a)) : Compute<T>::load(a) > Compute<T>::load(b);
    return descending ? detail::sorts_before(b, a) : detail::sorts_before(a, b);
  });
}

/// The k largest of n contiguous elements, largest first; NaN is the largest, ties go to the lower index.
template <class T> void top_order(const T* x, int64_t n, int64_t k, std::vector<int32_t>& order) {
  order.resize(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  auto before = [&](int32_t i, int32_t j) {
    if (detail::sorts_before(x[j], x[i])) return true;
    if (detail::sorts_before(x[i], x[j])) return false;
    return i < j;
  };
  std::partial_sort(order.begin(), order.begin() + k, order.end(), before);
}

}  // namespace tercet
