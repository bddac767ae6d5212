// How gather and scatter walk their operands: shared by the two rows.
#pragma once
#include "interpreter/ir/eval.h"
#include "interpreter/ir/op_def.h"
#include "interpreter/runtime/scratch.h"

namespace tercet {

/// Integers of any dtype as i64.
Scratch<int64_t> as_int64(const Array& a);

/// Where each indexed position lies in x, and the block of elements that belongs to it.
class IndexPlan {
 public:
  /// `axes[j]` of x is indexed by indices[j]; the first `batch` axes of x and of the indices go together.
  IndexPlan(const Shape& x, std::span<const int64_t> axes, int64_t batch, std::span<const Array> indices);
  int64_t positions() const { return positions_; }                 // elements of each index array
  int64_t block() const { return static_cast<int64_t>(rest_.size()); }
  const std::vector<int64_t>& rest() const { return rest_; }       // offsets of the block's elements
  bool contiguous() const { return contiguous_; }                  // the block is one run
  /// Offset of position i in x; indices out of range are clamped.
  int64_t clamped(int64_t i) const;
  /// Offset of position i, or -1 when an index is out of range.
  int64_t checked(int64_t i) const;

 private:
  int64_t batch_offset(int64_t i) const { return i / per_batch_ * batch_stride_; }
  std::vector<Scratch<int64_t>> indices_;
  std::vector<int64_t> sizes_, strides_, rest_;
  int64_t positions_ = 1, per_batch_ = 1, batch_stride_ = 0;
  bool contiguous_ = true;
};

}  // namespace tercet
