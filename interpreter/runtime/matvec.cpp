// A square tile is read row by row and turned round in registers, so that one vector holds one element of each row: memory is read in
// whole vectors, and each row's sum still is a chain of its own, in its lane.
#include "interpreter/runtime/matvec.h"

#include <algorithm>
#include <cmath>

#include "interpreter/runtime/array.h"
#include "interpreter/runtime/half_rows.h"
#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/square_tile.h"

namespace tercet {
namespace {

/// Columns [at, at + count) of as many rows as there are lanes, put to the chains in `acc`; count is `lanes` when `whole`.
template <class C, bool whole>
[[gnu::always_inline]] inline void chain_tile(const C* const* rows, int64_t at, int64_t count, const C* vector, typename TileOf<C>::Vector& acc) {
  using Tile = TileOf<C>;
  constexpr int64_t ahead = 1024 / sizeof(C);   // what is asked of memory before it is read
  typename Tile::Vector tile[Tile::lanes];
#pragma GCC unroll 8
  for (int r = 0; r < Tile::lanes; ++r) {
    if constexpr (whole) tile[r] = Tile::load(rows[r] + at), __builtin_prefetch(rows[r] + at + ahead);
    else tile[r] = Tile::load_some(rows[r] + at, static_cast<int>(count));
  }
  Tile::transpose(tile);
#pragma GCC unroll 8
  for (int p = 0; p < Tile::lanes; ++p)
    if (whole || p < count) acc = Tile::fma(tile[p], vector[at + p], acc);
}

/// Rows summed side by side, in two blocks: while the chains of one wait for their steps the other's tile is turned round.
template <class C> constexpr int together = 2 * TileOf<C>::lanes;

/// sums[r] = chain of fma(rows[r][p], vector[p], sums[r]), p over [0, k), r < together. The second block is some columns behind the first:
/// in a matrix whose rows are 4 KB or a multiple apart, one column of sixteen rows does not fit the first-level cache.
template <class C> void chains(int64_t k, const C* const* rows, const C* vector, C* sums) {
  using Tile = TileOf<C>;
  constexpr int lanes = Tile::lanes;
  const int64_t whole = k / lanes * lanes, behind = std::min<int64_t>(512, k / 8 / lanes * lanes);
  auto first = Tile::load(sums), second = Tile::load(sums + lanes);
  int64_t p = 0;
  for (; p < behind; p += lanes) chain_tile<C, true>(rows, p, lanes, vector, first);
  for (; p < whole; p += lanes) {
    chain_tile<C, true>(rows, p, lanes, vector, first);
    chain_tile<C, true>(rows + lanes, p - behind, lanes, vector, second);
  }
  for (p -= behind; p < whole; p += lanes) chain_tile<C, true>(rows + lanes, p, lanes, vector, second);
  if (p < k) {
    chain_tile<C, false>(rows, p, k - p, vector, first);
    chain_tile<C, false>(rows + lanes, p, k - p, vector, second);
  }
  Tile::store(sums, first);
  Tile::store(sums + lanes, second);
}

/// Rows that are too few to fill vectors, one after another.
constexpr int64_t few_rows = 2;

template <class C> void some_chains(int64_t count, int64_t k, const C* const* rows, const C* vector, C* sums) {
  if (count > few_rows) return chains(k, rows, vector, sums);
  for (int64_t r = 0; r < count; ++r)
    for (int64_t p = 0; p < k; ++p) sums[r] = std::fma(rows[r][p], vector[p], sums[r]);
}

}  // namespace

template <class T> void chain_rows(int64_t begin, int64_t end, int64_t k, const T* matrix, const T* vector, T* out) {
  using C = typename Compute<T>::type;
  constexpr int64_t block = 512, some = together<C>;
  PollCounter polls;
  for (int64_t i = begin; i < end; i += some) {
    const int64_t count = std::min(some, end - i);
    polls.add(count * k);
    C sums[some] = {};
    const C* rows[some];   // the last one as often as others are missing
    if constexpr (std::is_same_v<T, C>) {
      for (int64_t r = 0; r < some; ++r) rows[r] = matrix + (i + std::min(r, count - 1)) * k;
      some_chains(count, k, rows, vector, sums);
    } else {   // widened a block at a time
      C wide[some + 1][block];
      for (int64_t r = 0; r < some; ++r) rows[r] = wide[std::min(r, count - 1)];
      for (int64_t p = 0; p < k; p += block) {
        const int64_t n = std::min(block, k - p);
        widen_row(vector + p, n, wide[some]);
        for (int64_t r = 0; r < count; ++r) widen_row(matrix + (i + r) * k + p, n, wide[r]);
        some_chains(count, n, rows, wide[some], sums);
      }
    }
    for (int64_t r = 0; r < count; ++r) out[i + r] = Compute<T>::store(sums[r]);
  }
}

template void chain_rows<float>(int64_t, int64_t, int64_t, const float*, const float*, float*);
template void chain_rows<double>(int64_t, int64_t, int64_t, const double*, const double*, double*);
template void chain_rows<Half>(int64_t, int64_t, int64_t, const Half*, const Half*, Half*);
template void chain_rows<BFloat>(int64_t, int64_t, int64_t, const BFloat*, const BFloat*, BFloat*);

}  // namespace tercet
