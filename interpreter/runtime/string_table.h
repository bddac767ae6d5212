// A hash table from texts to numbers 0, 1, 2 …, in order of first insertion: what vocabularies are made of.
//
// Open addressing with linear probing, at most half full. Short texts (up to 12 bytes) are compared and hashed as the
// two words of their element. Texts are referred to, not copied.
// Example:  StringTable t;  t.insert(StringRef("a"));  t.find(StringRef("a"))  // 0
#pragma once
#include <bit>
#include <cstring>
#include <vector>

#include "interpreter/runtime/array.h"

namespace tercet {

/// 64-bit hash of a text; equal texts have equal hashes. Mixing by 64 x 64 -> 128 bit products, as wyhash does.
inline uint64_t hash_text(const StringRef& text) {
  auto mix = [](uint64_t a, uint64_t b) {
    auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  constexpr uint64_t k0 = 0xa0761d6478bd642f, k1 = 0xe7037ed1a0b428db;
  uint64_t words[2];
  if (text.size <= 12) {
    std::memcpy(words, static_cast<const void*>(&text), 16);
    return mix(words[0] ^ k0, words[1] ^ k1);
  }
  uint64_t h = mix(text.size ^ k0, k1);
  if (text.size < 16) {
    std::memcpy(words, text.pointer, 8);
    std::memcpy(words + 1, text.pointer + text.size - 8, 8);
    return mix(words[0] ^ h, words[1] ^ k1);
  }
  const char *at = text.pointer, *last = at + text.size - 16;   // the last block overlaps the one before
  for (;; at += 16) {
    if (at > last) at = last;
    std::memcpy(words, at, 16);
    h = mix(words[0] ^ h, words[1] ^ k1);
    if (at == last) return h;
  }
}

inline bool same_text(const StringRef& a, const StringRef& b) {
  if (a.size <= 12) return std::memcmp(static_cast<const void*>(&a), static_cast<const void*>(&b), 16) == 0;
  return a.size == b.size && std::memcmp(a.pointer, b.pointer, a.size) == 0;
}

class StringTable {
 public:
  StringTable() : slots_(64, -1) {}

  int64_t size() const { return static_cast<int64_t>(entries_.size()); }
  const StringRef& text(int64_t i) const { return entries_[static_cast<size_t>(i)].text; }

  /// The number of a text, or -1.
  int64_t find(const StringRef& text) const {
    return *const_cast<StringTable*>(this)->slot_of(text, hash_text(text));
  }

  /// The number of a text, a new one when it is not there yet.
  int64_t insert(const StringRef& text) { return insert(text, hash_text(text)); }
  /// With the hash at hand; prefetch(hash) some texts earlier hides the way to memory.
  void prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }
  int64_t insert(const StringRef& text, uint64_t hash) {
    int64_t* slot = slot_of(text, hash);
    if (*slot >= 0) return *slot;
    int64_t number = *slot = size();
    entries_.push_back({text, hash});
    if (2 * entries_.size() > slots_.size()) grow();
    return number;
  }

 private:
  struct Entry {
    StringRef text;
    uint64_t hash;
  };

  int64_t* slot_of(const StringRef& text, uint64_t hash) {
    size_t mask = slots_.size() - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      int64_t number = slots_[i];
      if (number < 0) return &slots_[i];
      const Entry& entry = entries_[static_cast<size_t>(number)];
      if (entry.hash == hash && same_text(entry.text, text)) return &slots_[i];
    }
  }

  void grow() {
    slots_.assign(slots_.size() * 4, -1);
    size_t mask = slots_.size() - 1;
    for (size_t n = 0; n < entries_.size(); ++n) {
      size_t i = entries_[n].hash & mask;
      while (slots_[i] >= 0) i = (i + 1) & mask;
      slots_[i] = static_cast<int64_t>(n);
    }
  }

  std::vector<int64_t> slots_;     // number of an entry, -1 when free; the size is a power of two
  std::vector<Entry> entries_;
};

}  // namespace tercet
