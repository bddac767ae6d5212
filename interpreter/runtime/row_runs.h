// Work on rows of different length on several threads: runs of neighbouring rows with about equally many elements, so
// that a row thousands of times longer than the others does not leave the other threads without work.
#pragma once
#include <algorithm>
#include <cstdint>

#include "interpreter/runtime/parallel.h"

namespace tercet {

/// Rows that are not even worth being counted apart cost this many elements.
inline constexpr int64_t row_overhead = 8;

/// Calls f(begin, end) for runs of rows that cover all of them; row r has offsets[r] .. offsets[r + 1] elements, each as
/// costly as `cost` additions.
template <class F> void each_run_of_rows(const int64_t* offsets, int64_t rows, int64_t cost, F f) {
  auto work_before = [&](int64_t r) { return offsets[r] - offsets[0] + r * row_overhead; };
  const int64_t work = work_before(rows), grain = std::max<int64_t>(1, (int64_t{1} << 15) / std::max<int64_t>(cost, 1));
  const int64_t runs = chunk_count(work, grain);
  auto first_of = [&](int64_t run) {
    if (run == runs) return rows;
    int64_t low = 0, high = rows;
    for (const int64_t wanted = work / runs * run; low < high;) {
      const int64_t middle = (low + high) / 2;
      if (work_before(middle) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  if (runs <= 1) {
    poll();
    if (rows) f(int64_t{0}, rows);
    return;
  }
  parallel_chunks(runs, 1, [&](int64_t, int64_t begin, int64_t end) {
    for (int64_t run = begin; run < end; ++run)
      if (const int64_t from = first_of(run), to = first_of(run + 1); from < to) f(from, to);
  });
}

}  // namespace tercet
