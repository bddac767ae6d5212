// The reduction order, defined once for every dtype and evaluator (language.md section 10).
//
// The reduced sequence (several axes count as one, row-major) is cut into blocks of 4096 elements. In a block element i
// goes to partial i mod 16, each partial a left fold; the 16 partials combine as a tree: p[j] with p[j + 8], then + 4,
// + 2, + 1. Blocks combine pairwise, level by level: r[2i] with r[2i + 1], an odd last one is carried up. A missing
// partial is absent. So the result depends on the elements alone: not on SIMD width, threads, or which axis it is.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "interpreter/runtime/reduce_kind.h"
#include "interpreter/runtime/array.h"

namespace tercet {

inline constexpr int64_t reduce_block = 4096;
inline constexpr int64_t reduce_partials = 16;

/// Kind K over elements of T: accumulator, combination, neutral element, value of an empty sequence.
template <ReduceKind K, class T> struct ReducerFor {
  using Element = T;
  using Acc = typename Compute<T>::type;
  static Acc combine(Acc a, Acc b) {
    if constexpr (K == ReduceKind::Sum) return wrap_add(a, b);
    else if constexpr (K == ReduceKind::Prod) return wrap_mul(a, b);
    else if constexpr (K == ReduceKind::Max) return maximum(a, b);
    else if constexpr (K == ReduceKind::Min) return minimum(a, b);
    else if constexpr (K == ReduceKind::Any) return a | b;
    else return a & b;
  }
  static Acc empty() {
    if constexpr (K == ReduceKind::Prod || K == ReduceKind::All) return Acc(1);
    else return Acc(0);
  }
};

namespace detail {

/// One block: n <= reduce_block elements, `stride` apart.
template <class R> typename R::Acc reduce_one_block(const typename R::Element* x, int64_t n, int64_t stride) {
  using Load = Compute<typename R::Element>;
  std::array<typename R::Acc, reduce_partials> p{};
  int64_t filled = std::min(n, reduce_partials);
  for (int64_t j = 0; j < filled; ++j) p[static_cast<size_t>(j)] = Load::load(x[j * stride]);
  for (int64_t i = reduce_partials; i < n; ++i) {
    auto& slot = p[static_cast<size_t>(i % reduce_partials)];
    slot = R::combine(slot, Load::load(x[i * stride]));
  }
  for (int64_t half = reduce_partials / 2; half > 0; half /= 2)
    for (int64_t j = 0; j < half; ++j)
      if (j + half < filled) p[static_cast<size_t>(j)] = R::combine(p[static_cast<size_t>(j)], p[static_cast<size_t>(j + half)]);
      else break;
  return p[0];
}

/// Pairwise, level by level; the odd last one is carried up. Overwrites `blocks`.
template <class R> typename R::Acc combine_blocks(std::vector<typename R::Acc>& blocks) {
  size_t n = blocks.size();
  while (n > 1) {
    for (size_t i = 0; i + 1 < n; i += 2) blocks[i / 2] = R::combine(blocks[i], blocks[i + 1]);
    if (n % 2) blocks[n / 2] = blocks[n - 1];
    n = (n + 1) / 2;
  }
  return blocks[0];
}

template <class R> typename R::Acc reduce_sequence(const typename R::Element* x, int64_t n, int64_t stride) {
  if (n == 0) return R::empty();
  if (n <= reduce_block) return reduce_one_block<R>(x, n, stride);
  std::vector<typename R::Acc> blocks;
  for (int64_t at = 0; at < n; at += reduce_block)
    blocks.push_back(reduce_one_block<R>(x + at * stride, std::min(reduce_block, n - at), stride));
  return combine_blocks<R>(blocks);
}

}  // namespace detail

/// x is [outer, n, inner] row-major; out is [outer, inner]: the middle axis reduced.
template <class R>
void reduce(const typename R::Element* x, int64_t outer, int64_t n, int64_t inner, typename R::Element* out) {
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i)
      out[o * inner + i] = Compute<typename R::Element>::store(detail::reduce_sequence<R>(x + o * n * inner + i, n, inner));
}

/// Index of the first largest (smallest) element along the middle axis; the first NaN wins.
template <bool Largest, class T> void arg_reduce(const T* x, int64_t outer, int64_t n, int64_t inner, int32_t* out) {
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      const T* at = x + o * n * inner + i;
      int64_t best = 0;
      for (int64_t k = 1; k < n; ++k) {
        auto candidate = Compute<T>::load(at[k * inner]), now = Compute<T>::load(at[best * inner]);
        if (is_nan(now)) break;
        if (is_nan(candidate) || (Largest ? candidate > now : candidate < now)) best = k;
      }
      out[o * inner + i] = static_cast<int32_t>(best);
    }
}

/// Left fold along the middle axis, every step kept. f16 and bf16 round at each step, as their result is stored there.
template <class R>
void cumulate(const typename R::Element* x, int64_t outer, int64_t n, int64_t inner, typename R::Element* out) {
  using C = Compute<typename R::Element>;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t k = 0; k < n; ++k)
      for (int64_t i = 0; i < inner; ++i) {
        int64_t at = (o * n + k) * inner + i;
        out[at] = k == 0 ? x[at] : C::store(R::combine(C::load(out[at - inner]), C::load(x[at])));
      }
}

}  // namespace tercet
