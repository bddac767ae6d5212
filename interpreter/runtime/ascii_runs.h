// Runs of ASCII characters of one class in text that is ASCII alone: 64 characters at a time, by masks.
//
// A character is looked up by its two halves (nibbles), a known use of byte shuffles: bit h of table[l] says whether the
// character 16 * h + l is of the class.
#pragma once
#include <immintrin.h>

#include <bit>
#include <cstring>
#include <string_view>

#include "interpreter/runtime/array.h"

namespace tercet {

class AsciiClass128 {
 public:
  template <class F> explicit AsciiClass128(F contains) {
    for (int c = 0; c < 128; ++c)
      if (contains(static_cast<char>(c))) table_[c % 16] = static_cast<char>(table_[c % 16] | (1 << (c / 16)));
  }

  /// Calls f(begin, end) for every run in `text`, which is ASCII.
  template <class F> void each_run(std::string_view text, F f) const {
    bool inside = false;
    size_t begin = 0;
    uint64_t before = 0;   // was the character before of the class?
    for (size_t block = 0; block < text.size(); block += 64) {
      const uint64_t is = mask_of(text, block);
      uint64_t edges = is ^ (is << 1 | before);
      before = is >> 63;
      for (; edges; edges &= edges - 1) {
        const size_t at = block + static_cast<size_t>(std::countr_zero(edges));
        if (inside) f(begin, at);
        else begin = at;
        inside = !inside;
      }
    }
    if (inside) f(begin, text.size());
  }

 private:
  uint64_t mask_of(std::string_view text, size_t at) const {
    alignas(32) char last[64];
    const char* from = text.data() + at;
    const size_t left = text.size() - at;
    if (left < 64) {
      std::memcpy(last, from, left);
      from = last;
    }
    const uint64_t both = half(from) | static_cast<uint64_t>(half(from + 32)) << 32;
    return left < 64 ? both & ((uint64_t{1} << left) - 1) : both;
  }
  uint32_t half(const char* from) const {
    const __m256i text = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i table = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table_)));
    const __m256i bits = _mm256_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m256i low = _mm256_and_si256(text, _mm256_set1_epi8(15)), high = _mm256_and_si256(_mm256_srli_epi16(text, 4), _mm256_set1_epi8(15));
    const __m256i found = _mm256_and_si256(_mm256_shuffle_epi8(table, low), _mm256_shuffle_epi8(bits, high));
    return ~static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(found, _mm256_setzero_si256())));
  }
  char table_[16] = {};
};

/// The element of text[begin .. end), made without loops where the text has bytes to spare behind it.
inline StringRef part_of(std::string_view text, size_t begin, size_t end) {
  const size_t size = end - begin;
  if (size > 12 || begin + 12 > text.size()) return StringRef(text.substr(begin, size));
  uint64_t first;
  uint32_t last;
  std::memcpy(&first, text.data() + begin, 8);
  std::memcpy(&last, text.data() + begin + 8, 4);
  if (size < 8) first &= (uint64_t{1} << (8 * size)) - 1, last = 0;
  else last &= static_cast<uint32_t>((uint64_t{1} << (8 * (size - 8))) - 1);
  StringRef out;
  out.size = static_cast<uint32_t>(size);
  std::memcpy(out.prefix, &first, 4);
  const uint64_t rest = first >> 32 | static_cast<uint64_t>(last) << 32;
  std::memcpy(out.rest, &rest, 8);
  return out;
}

}  // namespace tercet
