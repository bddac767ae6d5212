// The lanes' sizes that differ, while a function is batched into a builder: which symbols they are, and where the elements
// of lanes of such a size lie (Packing in batching.h).
//
// Sizes are in the lane's terms: names that all lanes share stand for sizes of the batched function already.
// Example: rows of lengths k; then x[1:] has the size max(k - 1, 0), whose packing is made of its value in every lane.
#pragma once
#include <deque>
#include <map>
#include <unordered_map>

#include "interpreter/ir/batching.h"

namespace tercet {

class Packings {
 public:
  Packings(Builder& out, Dim lanes) : out_(out), lanes_(std::move(lanes)) {}
  bool varies(const Dim& d) const;
  /// A packing of a size that is new: the size in each lane is computed, and where lanes begin.
  const Packing& of(const Dim& size, Span span);
  ValueId in_lanes(const Dim& size, Span span);
  ValueId ids(const Packing& packing, Span span);
  ValueId places(const Packing& packing, Span span);
  const Packing& define(const Dim& symbol, const Dim& total, ValueId offsets, Span span);
  const Packing& define(const Dim& symbol, ValueId lengths, Span span);
  /// Lanes that all have n elements.
  const Packing& uniform(const Dim& n, Span span);
  ValueId lengths_of(ValueId offsets, Span span);

 private:
  const Packing& add(Packing packing);
  const Packing* multiple(const Dim& size, Span span);
  ValueId number(int64_t value);
  ValueId spread(ValueId scalar, Span span);          // over the lanes
  ValueId atom(const DimAtom& atom, Span span);
  ValueId apply(const OpDef& op, ValueId a, ValueId b, Span span) { return out_.emit(op, {a, b}, {}, span); }

  Builder& out_;
  Dim lanes_;
  std::deque<Packing> all_;
  std::unordered_map<uint64_t, const Packing*> symbols_;
};

}  // namespace tercet
