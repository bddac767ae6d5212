#include "interpreter/runtime/text_hash.h"

#include <fmt/format.h>

#include "interpreter/runtime/row_runs.h"
#include "interpreter/runtime/string_table.h"
#include "interpreter/runtime/text_rows.h"

namespace tercet {
namespace {

/// splitmix64: spreads small seeds over all bits.
uint64_t mixed(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace

Array hash_tokens(const Array& tokens, int64_t size, int64_t seed) {
  if (size < 1 || size > INT32_MAX) fail(Kind::Value, {}, fmt::format("hash_tokens gives numbers below 1 to 2147483647, and this asks for {}", size));
  Array out = like_texts(tokens, DType::I32);
  const StringRef* in = tokens.data<StringRef>();
  int32_t* to = out.data<int32_t>();
  const uint64_t salt = seed ? mixed(static_cast<uint64_t>(seed)) : 0;
  parallel_chunks(total_elements(tokens), 1 << 12, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      poll_at(i);
      const uint64_t hash = mixed(hash_text(in[i]) ^ salt);
      to[i] = static_cast<int32_t>((static_cast<unsigned __int128>(hash) * static_cast<uint64_t>(size)) >> 64);
    }
  });
  return out;
}

Array minhash(const Array& tokens, int64_t n, int64_t seed) {
  if (n < 1 || n > 1 << 16) fail(Kind::Value, {}, fmt::format("minhash takes 1 to 65536 hashes, and this asks for {}", n));
  TERCET_CHECK(tokens.rank() > 0);
  Array out;
  out.dtype = DType::U32;
  out.shape = tokens.shape;
  out.shape.erase(out.shape.size() - 1);
  std::vector<int64_t> dense;
  const int64_t* offsets = nullptr;
  int64_t rows = 0;
  if (tokens.shape.back() == ragged_axis) {
    offsets = tokens.ragged->offsets.back().data();
    rows = static_cast<int64_t>(tokens.ragged->offsets.back().size()) - 1;
    if (tokens.ragged->offsets.size() > 1) {
      auto outer = std::make_shared<Ragged>(*tokens.ragged);
      outer->offsets.pop_back();
      out.ragged = std::move(outer);
    }
  } else {
    out.ragged = tokens.ragged;
    rows = 1;
    size_t level = 0;
    for (int64_t s : out.shape) rows = s == ragged_axis ? tokens.ragged->offsets[level++].back() : rows * s;
    for (int64_t r = 0; r <= rows; ++r) dense.push_back(r * tokens.shape.back());
    offsets = dense.data();
  }
  out.shape.push_back(n);
  Array values = Array::make(DType::U32, {rows, n});
  out.buffer = values.buffer;
  std::vector<uint32_t> factors, salts;
  for (int64_t j = 0; j < n; ++j) {
    const uint64_t word = mixed(mixed(static_cast<uint64_t>(seed)) + static_cast<uint64_t>(j));
    factors.push_back(static_cast<uint32_t>(word) | 1);
    salts.push_back(static_cast<uint32_t>(word >> 32));
  }
  const StringRef* in = tokens.data<StringRef>();
  each_run_of_rows(offsets, rows, n, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      uint32_t* __restrict least = values.data<uint32_t>() + r * n;
      const uint32_t *a = factors.data(), *b = salts.data();
      std::fill_n(least, n, UINT32_MAX);
      for (int64_t i = offsets[r]; i < offsets[r + 1]; ++i) {
        poll_at(i);
        const auto h = static_cast<uint32_t>(mixed(hash_text(in[i])));
        for (int64_t j = 0; j < n; ++j) {
          uint32_t x = (h ^ b[j]) * a[j];
          x ^= x >> 16;
          x *= 0x85EBCA6Bu;
          least[j] = std::min(least[j], x);
        }
      }
    }
  });
  return out;
}

}  // namespace tercet
