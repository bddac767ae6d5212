// Orders for sorting: stable, NaN last whatever its sign bit, -0.0 equal to 0.0 (jax-semantics section 2).
//
// stable_order gives indices, sort_row values, top_order the indices of the k largest. Elements may be `stride` apart,
// n < 2^31. Numbers are sorted by integer keys (sort_keys.h), strings by comparison of their bytes.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "interpreter/runtime/array.h"
#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/scratch.h"
#include "interpreter/runtime/sort_keys.h"

namespace tercet {
namespace detail {

/// Buffers stay with their thread for the next row, unless they are big; also when a poll throws.
template <class V> struct LetGo {
  V &items, &spare;
  ~LetGo() {
    constexpr size_t kept = size_t{1} << 18;
    if (items.capacity() > kept) items = V();
    if (spare.capacity() > kept) spare = V();
  }
};

/// Calls f<direction>(): descending or not as a template argument.
template <class F> void with_direction(bool descending, F f) {
  if (descending) f.template operator()<Direction::Descending>();
  else f.template operator()<Direction::Ascending>();
}

template <class T> void order_strings(const T* x, int64_t n, int64_t stride, bool descending, Scratch<int32_t>& order) {
  order.resize(static_cast<size_t>(n));
  in_strips(n, [&](int64_t begin, int64_t end) { std::iota(order.begin() + begin, order.begin() + end, static_cast<int32_t>(begin)); });
  PollCounter polls;
  std::stable_sort(order.begin(), order.end(), [&](int32_t i, int32_t j) {
    polls.add(4);
    return descending ? x[j * stride].view() < x[i * stride].view() : x[i * stride].view() < x[j * stride].view();
  });
}

template <class T> bool is_negative_zero(T x) {
  if constexpr (!is_float_storage<T>) return false;
  else return std::bit_cast<BitsOf<T>>(x) == static_cast<BitsOf<T>>(BitsOf<T>(1) << (8 * sizeof(T) - 1));
}

/// Is one of `block_size` elements larger than the limit, or NaN? In vectors, whatever the compiler makes of loops.
inline constexpr int64_t block_size = 64;
template <class T> bool any_larger(const T* x, T limit) {
  typedef T Vector __attribute__((vector_size(32)));
  constexpr int64_t lanes = 32 / sizeof(T);
  const Vector limits = limit - Vector{};
  decltype(limits <= limits) larger{};
  for (int64_t i = 0; i < block_size; i += lanes) {
    Vector v;
    std::memcpy(&v, x + i, sizeof v);
    larger |= ~(v <= limits);
  }
  bool any = false;
  for (int64_t i = 0; i < lanes; ++i) any |= larger[i] != 0;
  return any;
}

/// The element whose ascending key is `key`: the inverse of order_key.
template <class T> T element_of_key(BitsOf<T> key) {
  using U = BitsOf<T>;
  constexpr U top = static_cast<U>(U(1) << (8 * sizeof(U) - 1));
  if constexpr (is_float_storage<T>) {
    constexpr U nan = static_cast<U>(infinity_bits<T>() | (infinity_bits<T>() >> 1 & ~infinity_bits<T>()) );
    if (key == static_cast<U>(~U(0))) return std::bit_cast<T>(nan);
    return std::bit_cast<T>(static_cast<U>(key < top ? top | (top - key) : key - top));
  } else {
    return std::bit_cast<T>(static_cast<U>(std::is_signed_v<T> ? key ^ top : key));
  }
}

}  // namespace detail

/// order[i] = index of the element that comes i-th among the n elements `stride` apart. Ties keep their order, also
/// when descending (NaN is last then too).
template <class T> void stable_order(const T* x, int64_t n, int64_t stride, bool descending, Scratch<int32_t>& order) {
  if constexpr (std::is_same_v<T, StringRef>) return detail::order_strings(x, n, stride, descending, order);
  else {
    using K = detail::BitsOf<T>;
    thread_local Scratch<detail::Item<K>> items, spare;
    detail::LetGo<Scratch<detail::Item<K>>> let_go{items, spare};
    items.resize(static_cast<size_t>(n));
    detail::with_direction(descending, [&]<Direction direction>() {
      in_strips(n, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          items[static_cast<size_t>(i)] = detail::make_item<K>(order_key<direction>(x[i * stride]), static_cast<uint32_t>(i));
      });
    });
    detail::sort_items<K>(items, spare);
    order.resize(static_cast<size_t>(n));
    in_strips(n, [&](int64_t begin, int64_t end) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) order[i] = static_cast<int32_t>(detail::index_of(items[i]));
    });
  }
}

/// out[i * out_stride] = the i-th of the n elements `stride` apart. `out` may be `x`.
template <class T> void sort_row(const T* x, int64_t n, int64_t stride, bool descending, T* out, int64_t out_stride) {
  if constexpr (!std::is_same_v<T, StringRef>) {
    // Without a negative zero, elements of one key are one value: keys alone are enough.
    bool plain = true;
    in_strips(n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) plain &= !detail::is_negative_zero(x[i * stride]);
    });
    if (plain) {
      using K = detail::BitsOf<T>;
      thread_local Scratch<K> keys, spare;
      detail::LetGo<Scratch<K>> let_go{keys, spare};
      keys.resize(static_cast<size_t>(n));
      detail::with_direction(descending, [&]<Direction direction>() {
        in_strips(n, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) keys[static_cast<size_t>(i)] = order_key<direction>(x[i * stride]);
        });
        detail::sort_by_key<8 * sizeof(K)>(keys, spare, [](K key) { return uint64_t{key}; });
        constexpr K nan = static_cast<K>(~K(0));
        in_strips(n, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const K key = keys[static_cast<size_t>(i)];
            const bool flip = direction == Direction::Descending && !(detail::is_float_storage<T> && key == nan);
            out[i * out_stride] = detail::element_of_key<T>(flip ? static_cast<K>(~key) : key);
          }
        });
      });
      return;
    }
  }
  Scratch<int32_t> order;
  stable_order(x, n, stride, descending, order);
  Scratch<T> sorted(static_cast<size_t>(n));
  in_strips(n, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) sorted[i] = x[order[i] * stride];
  });
  in_strips(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i * out_stride] = sorted[static_cast<size_t>(i)];
  });
}

/// The k largest of n contiguous elements, largest first; NaN is the largest, ties go to the lower index. k <= n.
template <class T> void top_order(const T* x, int64_t n, int64_t k, Scratch<int32_t>& order) {
  if constexpr (std::is_same_v<T, StringRef>) {
    detail::order_strings(x, n, 1, true, order);
    order.resize(static_cast<size_t>(k));
  } else {
    // Candidates better than the k-th best so far: few are kept in order; of many, the k best stay when they have become too many.
    using K = detail::BitsOf<T>;
    using I = detail::Item<K>;
    constexpr size_t few = 32;
    const auto kept = static_cast<size_t>(k), room = 2 * kept;
    thread_local Scratch<I> items, spare;
    detail::LetGo<Scratch<I>> let_go{items, spare};
    items.clear();
    if (k == 0) return order.clear();
    if (room > size_t{poll_strip}) items.reserve(std::min(room, static_cast<size_t>(n)));   // growing would copy much at once
    bool full = false;
    I worst{};
    PollCounter polls;
    auto before = [&](const I& a, const I& b) { return polls.add(1), a < b; };
    auto shrink = [&] {
      if (items.size() < size_t{poll_strip}) {
        polls.add(static_cast<int64_t>(items.size()));
        std::nth_element(items.begin(), items.begin() + (k - 1), items.end());
      } else {
        std::nth_element(items.begin(), items.begin() + (k - 1), items.end(), before);
      }
      items.resize(kept);
      worst = items.back();
      full = true;
    };
    auto look_at = [&](int64_t i) {
      const I item = detail::make_item<K>(order_key<Direction::Largest>(x[i]), static_cast<uint32_t>(i));
      if (full && !(item < worst)) return;
      if (kept <= few) {   // always in order
        if (full) items.pop_back();
        items.insert(std::upper_bound(items.begin(), items.end(), item), item);
        full = items.size() == kept;
        worst = items.back();
        return;
      }
      items.push_back(item);
      if (items.size() >= room) shrink();
    };
    int64_t i = 0;
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      // Most elements are smaller than the k-th best: blocks without a larger one are passed over by a vector loop. (Not
      // smaller or equal: NaN is the largest. Of equal ones the first counts.)
      for (; i + detail::block_size <= n; i += detail::block_size) {
        polls.add(detail::block_size);
        if (!full) {
          for (int64_t j = 0; j < detail::block_size; ++j) look_at(i + j);
          continue;
        }
        const T limit = x[detail::index_of(worst)];
        if (limit != limit || !detail::any_larger(x + i, limit)) continue;
        for (int64_t j = 0; j < detail::block_size; ++j)
          if (!(x[i + j] <= limit)) look_at(i + j);
      }
    }
    for (; i < n; ++i) polls.add(1), look_at(i);
    if (items.size() < size_t{poll_strip}) std::sort(items.begin(), items.end());
    else std::sort(items.begin(), items.end(), before);
    order.resize(kept);
    in_strips(k, [&](int64_t begin, int64_t end) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) order[i] = static_cast<int32_t>(detail::index_of(items[i]));
    });
  }
}

}  // namespace tercet
