// Sorting by unsigned integer keys: every number type maps to one whose plain order is the order wanted.
//
// Example: order_key<Direction::Descending>(-1.5f) < order_key<Direction::Descending>(-2.0f).
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "interpreter/runtime/dtype.h"
#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/scratch.h"

namespace tercet {

/// Ascending and descending put NaN last; Largest is descending with NaN first (top_k).
enum class Direction : uint8_t { Ascending, Descending, Largest };

namespace detail {

template <class T> using BitsOf = std::conditional_t<sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

template <class T> inline constexpr bool is_float_storage =
    std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat>;

/// The pattern of infinity: magnitudes above it are NaN.
template <class T> constexpr BitsOf<T> infinity_bits() {
  if constexpr (std::is_same_v<T, Half>) return 0x7c00;
  else if constexpr (std::is_same_v<T, BFloat>) return 0x7f80;
  else return std::bit_cast<BitsOf<T>>(std::numeric_limits<T>::infinity());
}

}  // namespace detail

/// Equal values (-0 and 0, any two NaN) have equal keys.
template <Direction direction, class T> detail::BitsOf<T> order_key(T x) {
  using U = detail::BitsOf<T>;
  constexpr U top = static_cast<U>(U(1) << (8 * sizeof(U) - 1));
  constexpr bool down = direction != Direction::Ascending;
  const U bits = std::bit_cast<U>(x);
  if constexpr (detail::is_float_storage<T>) {
    const U magnitude = bits & static_cast<U>(top - 1);
    const U ascending = static_cast<U>(bits & top ? top - magnitude : top + magnitude);  // both zeros: top
    const U key = down ? static_cast<U>(~ascending) : ascending;
    return magnitude > detail::infinity_bits<T>() ? (direction == Direction::Largest ? U(0) : static_cast<U>(~U(0))) : key;
  } else {
    const U ascending = std::is_signed_v<T> ? bits ^ top : bits;
    return down ? static_cast<U>(~ascending) : ascending;
  }
}

namespace detail {

/// A key with the index it came from; sorted by both, so that an unstable sort of items is a stable sort of elements.
/// Up to 32 bits of key share one word with the index.
struct WideItem {
  uint64_t key;
  uint32_t index;
  bool operator<(const WideItem& other) const { return key != other.key ? key < other.key : index < other.index; }
};
template <class K> using Item = std::conditional_t<sizeof(K) == 8, WideItem, uint64_t>;

template <class K> Item<K> make_item(K key, uint32_t index) {
  if constexpr (sizeof(K) == 8) return {key, index};
  else return uint64_t{key} << 32 | index;
}
inline uint32_t index_of(const WideItem& item) { return item.index; }
inline uint32_t index_of(uint64_t item) { return static_cast<uint32_t>(item); }
inline uint64_t key_of(const WideItem& item) { return item.key; }
inline uint64_t key_of(uint64_t item) { return item >> 32; }

/// Least significant digit first; stable. `get(item)` is a key of `bits` bits. A digit all items share is skipped.
template <int bits, int width, class I, class Get> void radix_passes(Scratch<I>& items, Scratch<I>& spare, Get get) {
  constexpr int passes = (bits + width - 1) / width;
  constexpr size_t buckets = size_t{1} << width;
  std::array<std::array<uint32_t, buckets>, passes> counts{};
  const auto n = static_cast<int64_t>(items.size());
  in_strips(n, [&](int64_t begin, int64_t end) {
    for (const I* item = items.data() + begin; item < items.data() + end; ++item) {
      const uint64_t key = get(*item);
      for (int pass = 0; pass < passes; ++pass) ++counts[static_cast<size_t>(pass)][(key >> (pass * width)) & (buckets - 1)];
    }
  });
  spare.resize(items.size());
  for (int pass = 0; pass < passes; ++pass) {
    auto& start = counts[static_cast<size_t>(pass)];
    if (start[(get(items[0]) >> (pass * width)) & (buckets - 1)] == items.size()) continue;
    uint32_t sum = 0;
    for (uint32_t& count : start) sum += std::exchange(count, sum);
    in_strips(n, [&](int64_t begin, int64_t end) {
      for (const I* item = items.data() + begin; item < items.data() + end; ++item) spare[start[(get(*item) >> (pass * width)) & (buckets - 1)]++] = *item;
    });
    items.swap(spare);
  }
}

/// Short rows are compared; longer ones pay for 256 buckets, long ones for 2048.
template <int bits, class I, class Get> void sort_by_key(Scratch<I>& items, Scratch<I>& spare, Get get) {
  if (items.size() < 48) std::sort(items.begin(), items.end());
  else if (bits <= 16 || items.size() < 2000) radix_passes<bits, 8>(items, spare, get);
  else radix_passes<bits, 11>(items, spare, get);
}

template <class K> void sort_items(Scratch<Item<K>>& items, Scratch<Item<K>>& spare) {
  sort_by_key<8 * sizeof(K)>(items, spare, [](const Item<K>& item) { return key_of(item); });
}

}  // namespace detail
}  // namespace tercet
