// Threefry-2x32 with 20 rounds over "number" (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011), and
// what random words become. Keys and counters are u64 words; halves are u32.
// Example:  joined(threefry(uint64_t{0}, uint64_t{0})) == 0x6b20015999ba4efe
#pragma once
#include <utility>

#include "interpreter/runtime/number.h"

namespace tercet {

namespace detail {
template <class N> N rotate_left(N x, unsigned by) { return static_cast<N>(shl(x, like_bits(x, by)) | shr(x, like_bits(x, 32 - by))); }
template <class N> auto upper_half(N x) { return cast<uint32_t>(shr(x, like_bits(x, 32))); }
template <class N> auto lower_half(N x) { return cast<uint32_t>(x); }
}  // namespace detail

/// The two halves of the block of a key at a counter.
template <class N> [[gnu::always_inline]] inline auto threefry(N key, N counter) {
  auto k0 = detail::upper_half(key), k1 = detail::lower_half(key);
  auto x0 = detail::upper_half(counter), x1 = detail::lower_half(counter);
  using W = decltype(x0);
  const W keys[] = {k0, k1, static_cast<W>(static_cast<W>(k0 ^ k1) ^ like_bits(k0, 0x1bd11bda))};
  constexpr unsigned rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  x0 = wrap_add(x0, keys[0]);
  x1 = wrap_add(x1, keys[1]);
  for (unsigned group = 0; group < 5; ++group) {
    for (unsigned r : rotations[group % 2]) {
      x0 = wrap_add(x0, x1);
      x1 = static_cast<W>(detail::rotate_left(x1, r) ^ x0);
    }
    x0 = wrap_add(x0, keys[(group + 1) % 3]);
    x1 = wrap_add(x1, wrap_add(keys[(group + 2) % 3], like_bits(k0, group + 1)));
  }
  return std::pair<W, W>(x0, x1);
}

/// A block as one u64, its first half above.
template <class W> auto joined(const std::pair<W, W>& block) {
  auto high = cast<uint64_t>(block.first), low = cast<uint64_t>(block.second);
  using N = decltype(high);
  return static_cast<N>(shl(high, like_bits(high, 32)) | low);
}
/// A block as 32 bits.
template <class W> W mixed(const std::pair<W, W>& block) { return static_cast<W>(block.first ^ block.second); }

/// Random bits as a float in [0, 1): as many of the upper bits as its mantissa stores. u64 -> f64, u32 -> f32,
/// u16 -> f16, u8 -> bf16 (the last two computed as f32).
inline double unit_interval(uint64_t bits) { return std::bit_cast<double>(bits >> 12 | 0x3ff0000000000000u) - 1.0; }
inline float unit_interval(uint32_t bits) { return std::bit_cast<float>(bits >> 9 | 0x3f800000u) - 1.0f; }
inline float unit_interval(uint16_t bits) { return static_cast<float>(bits >> 6) * 0x1p-10f; }
inline float unit_interval(uint8_t bits) { return static_cast<float>(bits >> 1) * 0x1p-7f; }
inline Num unit_interval(Num bits) {
  auto above = [&](unsigned n) { return shr(bits, like_bits(bits, n)); };
  auto less_one = [](Num x) { return x - like(x, 1.0); };
  switch (bits.dtype) {
    case DType::U64: return less_one(bit_cast_to<double>(above(12) | like_bits(bits, 0x3ff0000000000000u)));
    case DType::U32: return less_one(bit_cast_to<float>(above(9) | like_bits(bits, 0x3f800000u)));
    case DType::U16: {
      Num x = cast<float>(above(6));
      return x * like(x, 0x1p-10);
    }
    default: {
      Num x = cast<float>(above(1));
      return x * like(x, 0x1p-7);
    }
  }
}

}  // namespace tercet
