// Polls within long loops, counted in elements: a poll costs about as much as ten of them.
//
// Example: in_strips(n, [=](int64_t begin, int64_t end) { for (int64_t i = begin; i < end; ++i) y[i] = f(x[i]); });
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "interpreter/runtime/parallel.h"

namespace tercet {

inline constexpr int64_t poll_strip = int64_t{1} << 15;   // elements: some 10 microseconds, or 1 ms of costly ones

/// Calls f(begin, end) for strips that cover [0, count) in order, and polls between them.
template <class F> void in_strips(int64_t count, F f) {
  for (int64_t begin = 0; begin < count; begin += poll_strip) {
    if (begin) poll();
    f(begin, std::min(count, begin + poll_strip));
  }
}

/// Polls when about a strip of elements has been counted since the last time: for loops over parts of any size.
class PollCounter {
 public:
  void add(int64_t elements) {
    if ((left_ -= elements) > 0) return;
    left_ = poll_strip;
    poll();
  }

 private:
  int64_t left_ = poll_strip;
};

/// memcpy and memset of any number of bytes.
void copy_bytes(void* to, const void* from, size_t bytes);
void clear_bytes(void* to, size_t bytes);

}  // namespace tercet
