// Work on rows of different length on several threads: runs of neighbouring rows with about equally many elements, so
// that a row thousands of times longer than the others does not leave the other threads without work.
#pragma once
#include <algorithm>
#include <cstdint>

#include "interpreter/runtime/polling.h"

namespace tercet {

/// Rows that are not even worth being counted apart cost this many elements.
inline constexpr int64_t row_overhead = 8;

/// Calls f(begin, end) for runs of rows that cover all of them; row r has offsets[r] .. offsets[r + 1] elements, each as
/// costly as `cost` additions.
template <class F> void each_run_of_rows(const int64_t* offsets, int64_t rows, int64_t cost, F f) {
  auto work_before = [&](int64_t r) { return offsets[r] - offsets[0] + r * row_overhead; };
  const int64_t work = work_before(rows), grain = std::max<int64_t>(1, (int64_t{1} << 15) / std::max<int64_t>(cost, 1));
  const int64_t runs = chunk_count(work, grain);
  /// The first row from `low` on with that much work before it.
  auto first_with = [&](int64_t wanted, int64_t low) {
    for (int64_t high = rows; low < high;) {
      const int64_t middle = (low + high) / 2;
      if (work_before(middle) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  auto first_of = [&](int64_t run) { return run == runs ? rows : first_with(work / runs * run, 0); };
  /// Some rows at a time, so that there is a poll between.
  auto run_rows = [&](int64_t from, int64_t to) {
    const int64_t most = std::max<int64_t>(1, poll_strip * 4 / std::max<int64_t>(cost, 1));
    for (int64_t begin = from, end; begin < to; begin = end) {
      poll();
      end = std::min(to, first_with(work_before(begin) + most, begin + 1));
      f(begin, end);
    }
  };
  if (runs <= 1) return run_rows(0, rows);
  parallel_chunks(runs, 1, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t run = begin; run < end; ++run)
      if (const int64_t from = first_of(run), to = first_of(run + 1); from < to) run_rows(from, to);
  });
}

}  // namespace tercet
