// The reduction order, defined once for every dtype and evaluator (language.md section 10).
//
// The reduced sequence (several axes count as one, row-major) is cut into blocks of 4096 elements. In a block element i
// goes to partial i mod 16, each partial a left fold; the 16 partials combine as a tree: p[j] with p[j + 8], then + 4,
// + 2, + 1. Blocks combine pairwise, level by level: r[2i] with r[2i + 1], an odd last one is carried up. A missing
// partial is absent: here it holds the operation's identity (-0 for a float sum), which changes no bit. So the result
// depends on the elements alone: not on SIMD width, threads, or which axis it is.
// f16 and bf16 accumulate in f32 and round once. NaN wins max and min, +0 > -0.
//
// Example: sum over the middle of f32[2, 100, 3]:  reduce<ReducerFor<ReduceKind::Sum, float>>(x, 2, 100, 3, out);
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "interpreter/runtime/array.h"
#include "interpreter/runtime/half_rows.h"
#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/reduce_kind.h"

namespace tercet {

inline constexpr int64_t reduce_block = 4096;
inline constexpr int64_t reduce_partials = 16;

namespace detail {

/// maximum/minimum of number.h for a loop that is to be vectorised: selects only.
template <bool largest, class T> T extreme(T a, T b) {
  if constexpr (!std::is_floating_point_v<T>) return (largest ? a > b : a < b) ? a : b;
  else {
    using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    const U x = std::bit_cast<U>(a), y = std::bit_cast<U>(b);
    const T same = std::bit_cast<T>(largest ? x & y : x | y);  // equal, or zeros of two signs
    const T one = (largest ? a > b : a < b) ? a : b;
    const T ordered = a == b ? same : one;
    const T left = a != a ? std::numeric_limits<T>::quiet_NaN() : ordered;
    return b != b ? std::numeric_limits<T>::quiet_NaN() : left;
  }
}

/// bool partials are bytes: the compiler has vectors of those.
template <class Acc> using Partial = std::conditional_t<std::is_same_v<Acc, bool>, uint8_t, Acc>;

}  // namespace detail

/// Kind K over elements of T: accumulator, combination, neutral element, value of an empty sequence.
template <ReduceKind K, class T> struct ReducerFor {
  using Element = T;
  using Acc = detail::Partial<typename Compute<T>::type>;
  static Acc combine(Acc a, Acc b) {
    if constexpr (K == ReduceKind::Sum) return wrap_add(a, b);
    else if constexpr (K == ReduceKind::Prod) return wrap_mul(a, b);
    else if constexpr (K == ReduceKind::Max) return detail::extreme<true>(a, b);
    else if constexpr (K == ReduceKind::Min) return detail::extreme<false>(a, b);
    else if constexpr (K == ReduceKind::Any) return static_cast<Acc>(a | b);
    else return static_cast<Acc>(a & b);
  }
  static constexpr Acc identity() {
    using Limits = std::numeric_limits<Acc>;
    if constexpr (K == ReduceKind::Prod || K == ReduceKind::All) return Acc(1);
    else if constexpr (K == ReduceKind::Sum && std::is_floating_point_v<Acc>) return Acc(-0.0);
    else if constexpr (K == ReduceKind::Max) return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    else if constexpr (K == ReduceKind::Min) return Limits::has_infinity ? Limits::infinity() : Limits::max();
    else return Acc(0);
  }
  static constexpr Acc empty() { return K == ReduceKind::Prod || K == ReduceKind::All ? Acc(1) : Acc(0); }
  static T store(Acc a) {
    if constexpr (std::is_same_v<T, bool>) return a != 0;
    else return Compute<T>::store(a);
  }
};

namespace detail {

/// Results of blocks in order, combined pairwise level by level; `pending[level]` waits for its right neighbour.
template <class R> class PairwiseFold {
 public:
  void add(typename R::Acc value) {
    size_t level = 0;
    for (; (count_ >> level) & 1; ++level) value = R::combine(pending_[level], value);
    pending_[level] = value;
    ++count_;
  }
  typename R::Acc result() const {
    size_t level = static_cast<size_t>(std::countr_zero(count_));
    auto value = pending_[level];
    for (++level; count_ >> level; ++level)
      if ((count_ >> level) & 1) value = R::combine(pending_[level], value);
    return value;
  }

 private:
  uint64_t count_ = 0;
  std::array<typename R::Acc, 52> pending_;
};

/// count elements as accumulators: in place, or converted into `buffer`.
template <class R> const typename R::Acc* as_accumulators(const typename R::Element* x, int64_t count, typename R::Acc* buffer) {
  if constexpr (std::is_same_v<typename R::Element, typename R::Acc>) return x;
  else {
    if constexpr (std::is_same_v<typename R::Acc, float>) widen_row(x, count, buffer);
    else for (int64_t i = 0; i < count; ++i) buffer[i] = x[i];
    return buffer;
  }
}

/// p[i] = combine(p[i], x[i]).
template <class R> void combine_into(typename R::Acc* __restrict p, const typename R::Acc* __restrict x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) p[i] = R::combine(p[i], x[i]);
}
/// The tree over 16 partials of `width` lanes each, `step` apart; the result is in the first.
template <class R> void combine_partials(typename R::Acc* p, int64_t width, int64_t step) {
  for (int64_t half = reduce_partials / 2; half > 0; half /= 2)
    for (int64_t j = 0; j < half; ++j) combine_into<R>(p + j * step, p + (j + half) * step, width);
}

template <class R> typename R::Acc combine_all(typename R::Acc* p) {
  for (int64_t half = reduce_partials / 2; half > 0; half /= 2)
    for (int64_t j = 0; j < half; ++j) p[j] = R::combine(p[j], p[j + half]);
  return p[0];
}
/// The last, incomplete group. Not inlined: partials indexed by a run-time bound would leave the registers everywhere.
template <class R> [[gnu::noinline]] typename R::Acc combine_rest(typename R::Acc* p, const typename R::Acc* from, int64_t count) {
  for (int64_t j = 0; j < count; ++j) p[j] = R::combine(p[j], from[j]);
  return combine_all<R>(p);
}
template <class R> void combine_groups(typename R::Acc* __restrict p, const typename R::Acc* __restrict from, int64_t count) {
  for (int64_t i = 0; i + reduce_partials <= count; i += reduce_partials)
    for (int64_t j = 0; j < reduce_partials; ++j) p[j] = R::combine(p[j], from[i + j]);
}

/// One block of a contiguous sequence: the partials stay in registers.
template <class R> typename R::Acc reduce_block_of_row(const typename R::Element* x, int64_t n) {
  using Acc = typename R::Acc;
  Acc p[reduce_partials];
  for (Acc& slot : p) slot = R::identity();
  const int64_t whole = n / reduce_partials * reduce_partials;
  if constexpr (std::is_same_v<typename R::Element, Acc>) {
    combine_groups<R>(p, x, whole);
    return whole == n ? combine_all<R>(p) : combine_rest<R>(p, x + whole, n - whole);
  } else {
    constexpr int64_t run = 256;
    Acc buffer[run];
    for (int64_t at = 0; at < whole; at += run) {
      const int64_t count = std::min(run, whole - at);
      combine_groups<R>(p, as_accumulators<R>(x + at, count, buffer), count);
    }
    return combine_rest<R>(p, as_accumulators<R>(x + whole, n - whole, buffer), n - whole);
  }
}

template <class R> typename R::Acc reduce_row(const typename R::Element* x, int64_t n) {
  if (n <= reduce_block) return reduce_block_of_row<R>(x, n);
  PairwiseFold<R> blocks;
  PollCounter polls;
  for (int64_t at = 0; at < n; at += reduce_block) {
    polls.add(reduce_block);
    blocks.add(reduce_block_of_row<R>(x + at, std::min(reduce_block, n - at)));
  }
  return blocks.result();
}

/// Rows of n < 16 elements: each element is a partial, and 16 rows go side by side.
template <class R> void reduce_short_rows(const typename R::Element* x, int64_t rows, int64_t n, typename R::Element* out) {
  using Acc = typename R::Acc;
  constexpr int64_t together = 16;
  Acc buffer[together * reduce_partials], p[together * reduce_partials];
  PollCounter polls;
  for (int64_t at = 0; at < rows; at += together, x += together * n) {
    polls.add(together * n);
    const int64_t some = std::min(together, rows - at);
    const Acc* from = as_accumulators<R>(x, some * n, buffer);
    for (int64_t r = 0; r < some; ++r)
      for (int64_t j = 0; j < n; ++j) p[j * together + r] = from[r * n + j];
    for (int64_t half = reduce_partials / 2; half > 0; half /= 2)
      for (int64_t j = 0; j < half && j + half < n; ++j)
        for (int64_t r = 0; r < together; ++r)
          p[j * together + r] = R::combine(p[j * together + r], p[(j + half) * together + r]);
    for (int64_t r = 0; r < some; ++r) out[at + r] = R::store(p[r]);
  }
}

inline constexpr int64_t reduce_strip = 256;  // columns at a time: 16 partial rows of f32 are 16 kB

/// One block of `width` neighbouring columns, rows `inner` apart; the result is in p[0 .. width).
template <class R>
void reduce_block_of_columns(const typename R::Element* x, int64_t n, int64_t inner, int64_t width, typename R::Acc* p) {
  typename R::Acc buffer[reduce_strip];
  std::fill(p, p + reduce_partials * width, R::identity());
  for (int64_t i = 0; i < n; ++i)
    combine_into<R>(p + i % reduce_partials * width, as_accumulators<R>(x + i * inner, width, buffer), width);
  combine_partials<R>(p, width, width);
}

/// The same for a few columns that are all there are: 16 rows of them are one contiguous run.
template <class R> void reduce_block_of_narrow(const typename R::Element* x, int64_t n, int64_t inner, typename R::Acc* p) {
  typename R::Acc buffer[reduce_strip];
  const int64_t run = reduce_partials * inner;
  std::fill(p, p + run, R::identity());
  for (int64_t at = 0; at < n * inner; at += run) {
    const int64_t count = std::min(run, n * inner - at);
    combine_into<R>(p, as_accumulators<R>(x + at, count, buffer), count);
  }
  combine_partials<R>(p, inner, inner);
}

/// Columns [0, width) of [n, inner]; blocks of a level wait in rows of `pending`.
template <class R>
void reduce_columns(const typename R::Element* x, int64_t n, int64_t inner, int64_t width, typename R::Element* out) {
  using Acc = typename R::Acc;
  Acc p[reduce_partials * reduce_strip];
  std::vector<Acc> pending;
  uint64_t count = 0;
  const bool narrow = width == inner && reduce_partials * inner <= reduce_strip;
  PollCounter polls;
  for (int64_t at = 0; at < n; at += reduce_block, ++count) {
    polls.add(reduce_block * width);
    const int64_t rows = std::min(reduce_block, n - at);
    if (narrow) reduce_block_of_narrow<R>(x + at * inner, rows, inner, p);
    else reduce_block_of_columns<R>(x + at * inner, rows, inner, width, p);
    if (n <= reduce_block) break;
    size_t level = 0;
    for (; (count >> level) & 1; ++level) {
      Acc* left = pending.data() + static_cast<int64_t>(level) * width;
      for (int64_t c = 0; c < width; ++c) p[c] = R::combine(left[c], p[c]);
    }
    pending.resize(std::max(pending.size(), (level + 1) * static_cast<size_t>(width)));
    std::copy(p, p + width, pending.begin() + static_cast<int64_t>(level) * width);
  }
  bool started = count == 0;
  for (size_t level = 0; count >> level; ++level) {
    if (!((count >> level) & 1)) continue;
    const Acc* left = pending.data() + static_cast<int64_t>(level) * width;
    if (!started) std::copy(left, left + width, p);
    else for (int64_t c = 0; c < width; ++c) p[c] = R::combine(left[c], p[c]);
    started = true;
  }
  for (int64_t c = 0; c < width; ++c) out[c] = R::store(p[c]);
}

}  // namespace detail

/// x is [outer, n, inner] row-major; out is [outer, inner]: the middle axis reduced.
template <class R>
void reduce(const typename R::Element* x, int64_t outer, int64_t n, int64_t inner, typename R::Element* out) {
  if (n == 0) {
    std::fill(out, out + outer * inner, R::store(R::empty()));
    return;
  }
  if (inner == 1 && n < reduce_partials) return detail::reduce_short_rows<R>(x, outer, n, out);
  PollCounter polls;
  for (int64_t o = 0; o < outer; ++o, x += n * inner, out += inner) {
    polls.add(n);
    if (inner == 1) *out = R::store(detail::reduce_row<R>(x, n));
    else
      for (int64_t c = 0; c < inner; c += detail::reduce_strip) {
        polls.add(n * std::min(detail::reduce_strip, inner));
        detail::reduce_columns<R>(x + c, n, inner, std::min(detail::reduce_strip, inner - c), out + c);
      }
  }
}

namespace detail {

/// a comes before b as the wanted extreme: NaN before all.
template <bool largest, class A> bool beats(A a, A b) {
  return (largest ? a > b : a < b) | (is_nan(a) & !is_nan(b));
}

template <bool largest, class T> int64_t arg_of_row(const T* x, int64_t n) {
  using R = ReducerFor<largest ? ReduceKind::Max : ReduceKind::Min, T>;
  if (n < 4 * reduce_partials) {
    int64_t at = 0;
    for (int64_t i = 1; i < n; ++i)
      if (beats<largest>(Compute<T>::load(x[i]), Compute<T>::load(x[at]))) at = i;
    return at;
  }
  // The extreme of each stretch by the fast routine; then the place in the first stretch that has the best.
  constexpr int64_t stretch = 512;
  auto best = reduce_block_of_row<R>(x, std::min(stretch, n));
  int64_t start = 0;
  PollCounter polls;
  for (int64_t at = stretch; at < n; at += stretch) {
    polls.add(stretch);
    auto here = reduce_block_of_row<R>(x + at, std::min(stretch, n - at));
    if (!beats<largest>(here, best)) continue;
    best = here;
    start = at;
  }
  for (int64_t i = start; i < n; ++i) {
    auto value = Compute<T>::load(x[i]);
    if (value == best || (is_nan(best) && is_nan(value))) return i;
  }
  return start;
}

template <bool largest, class T> void arg_of_columns(const T* x, int64_t n, int64_t inner, int64_t width, int32_t* out) {
  using A = typename Compute<T>::type;
  A best[reduce_strip];
  for (int64_t c = 0; c < width; ++c) best[c] = Compute<T>::load(x[c]), out[c] = 0;
  PollCounter polls;
  for (int64_t k = 1; k < n; ++k, polls.add(width))
    for (int64_t c = 0; c < width; ++c) {
      const A value = Compute<T>::load(x[k * inner + c]);
      const bool better = beats<largest>(value, best[c]);
      best[c] = better ? value : best[c];
      out[c] = better ? static_cast<int32_t>(k) : out[c];
    }
}

}  // namespace detail

/// Index of the first largest (smallest) element along the middle axis; the first NaN wins. n > 0.
template <bool Largest, class T> void arg_reduce(const T* x, int64_t outer, int64_t n, int64_t inner, int32_t* out) {
  PollCounter polls;
  for (int64_t o = 0; o < outer; ++o, x += n * inner, out += inner) {
    polls.add(n);
    if (inner == 1) *out = static_cast<int32_t>(detail::arg_of_row<Largest>(x, n));
    else
      for (int64_t c = 0; c < inner; c += detail::reduce_strip)
        detail::arg_of_columns<Largest>(x + c, n, inner, std::min(detail::reduce_strip, inner - c), out + c);
  }
}

namespace detail {

/// `rows` contiguous rows of n > 0 side by side, which hides the latency of the chain.
template <class R, int rows> void cumulate_rows(const typename R::Element* x, int64_t n, typename R::Element* out) {
  using C = Compute<typename R::Element>;
  typename R::Element last[rows];
  for (int r = 0; r < rows; ++r) last[r] = out[r * n] = x[r * n];
  in_strips(n - 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin + 1; k <= end; ++k)
      for (int r = 0; r < rows; ++r)
        last[r] = out[r * n + k] = R::store(R::combine(C::load(last[r]), C::load(x[r * n + k])));
  });
}

}  // namespace detail

/// Left fold along the middle axis, every step kept. f16 and bf16 round at each step, as their result is stored there.
/// `out` must not overlap x.
template <class R>
void cumulate(const typename R::Element* x, int64_t outer, int64_t n, int64_t inner, typename R::Element* out) {
  using C = Compute<typename R::Element>;
  if (n == 0) return;
  PollCounter polls;
  if (inner == 1) {
    for (; outer >= 8; outer -= 8, x += 8 * n, out += 8 * n, polls.add(8 * n)) detail::cumulate_rows<R, 8>(x, n, out);
    for (; outer > 0; --outer, x += n, out += n, polls.add(n)) detail::cumulate_rows<R, 1>(x, n, out);
    return;
  }
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t k = 0; k < n; ++k) {
      polls.add(inner);
      const int64_t at = (o * n + k) * inner;
      if (k == 0) std::copy(x + at, x + at + inner, out + at);
      else
        for (int64_t i = at; i < at + inner; ++i) out[i] = R::store(R::combine(C::load(out[i - inner]), C::load(x[i])));
    }
}

}  // namespace tercet
