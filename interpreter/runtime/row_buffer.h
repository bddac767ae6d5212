// A vector that only grows at its end, in blocks, so that growing copies nothing, however long it gets.
#pragma once
#include <algorithm>

#include "interpreter/runtime/polling.h"
#include "interpreter/runtime/scratch.h"

namespace tercet {

/// Example: RowBuffer<int> row;  row.push_back(3);  row.copy_to(out);
template <class T> class RowBuffer {
 public:
  void reserve(size_t count) {
    if (blocks_.empty() && count > 0) blocks_.emplace_back().reserve(std::min(count, largest));
  }
  void push_back(T value) {
    if (blocks_.empty() || blocks_.back().size() == blocks_.back().capacity()) grow();
    blocks_.back().push_back(value);
  }
  template <class... A> void emplace_back(A&&... arguments) { push_back(T(std::forward<A>(arguments)...)); }
  /// `count` elements one after another.
  void append(const T* from, size_t count) {
    while (count > 0) {
      if (blocks_.empty() || blocks_.back().size() == blocks_.back().capacity()) grow();
      const size_t some = std::min(count, blocks_.back().capacity() - blocks_.back().size());
      blocks_.back().insert(blocks_.back().end(), from, from + some);
      from += some, count -= some;
      if (count > 0) poll();
    }
  }
  size_t size() const { return before_ + (blocks_.empty() ? 0 : blocks_.back().size()); }
  void copy_to(T* to) const {
    for (const Scratch<T>& block : blocks_) {
      copy_bytes(to, block.data(), block.size() * sizeof(T));
      to += block.size();
    }
  }

 private:
  static constexpr size_t smallest = 64, largest = size_t{1} << 20;
  void grow() {
    const size_t next = blocks_.empty() ? smallest : std::min(2 * blocks_.back().size(), largest);
    if (!blocks_.empty()) before_ += blocks_.back().size();
    blocks_.emplace_back().reserve(next);
  }
  std::vector<Scratch<T>> blocks_;
  size_t before_ = 0;   // elements in all blocks but the last
};

}  // namespace tercet
