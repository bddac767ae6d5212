// Native loops over many rows on several threads (oneTBB), for work whose rows do not depend on each other.
//
// The caller's memory budget and poll go with the work to the worker threads. When several chunks fail, the failure of
// the first one in order is thrown, as if the rows ran one after another.
// Example:  parallel_chunks(rows, 64, [&](int64_t chunk, int64_t begin, int64_t end) { … });
#pragma once
#include <cstdint>
#include <functional>

#include "base/poll.h"

namespace tercet {

/// Threads that work of this thread may use.
int64_t available_threads();

/// Lets work of this thread use at most that many for a scope; 0: as before.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;

 private:
  int previous_;
};

/// In how many chunks parallel_chunks cuts `count` rows, at least `grain` in each.
int64_t chunk_count(int64_t count, int64_t grain);

/// Calls body(chunk, begin, end) for contiguous chunks that cover [0, count) in order, and polls before each.
void parallel_chunks(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t, int64_t)>& body);

/// Lets this process use at most `threads` threads from now on (the command line's --threads).
void limit_threads(int threads);

}  // namespace tercet
