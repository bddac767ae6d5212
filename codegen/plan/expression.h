// Turns "element of value v at this position" into nodes of a kernel: elementwise operations become Compute nodes,
// views move the position, gathers and windows add computed indices to it, and values that lie in memory become loads.
#pragma once
#include <unordered_map>

#include "codegen/plan/kernel.h"

namespace tercet::codegen {

/// Why a value lies in memory instead of being computed where it is read: the first reason that was found.
enum class Kept : uint8_t {
  No,
  Needed,        // as a whole: a parameter, a result, what a native step reads or makes, what a reduction makes
  Reshaped,      // a reshape merges axes of it
  Overwritten,   // an array that it is read from is changed before it is used
  Repeated,      // each element is read many times, and is dear
  Shared,        // read at several places, and dear
  Long,          // the expression is too long to be compiled at once
};

/// What the planner knows about a function's values.
struct ValueFacts {
  const Function& function;
  std::vector<const Op*> definition;  // nullptr for parameters
  std::vector<bool> in_memory;        // its elements are loaded, not computed again
  std::vector<Kept> kept;
  std::vector<int64_t> cost;          // of computing an element from what is in memory, in scalar operations
  const Op* op(ValueId v) const { return definition[v]; }
};

class ExpressionBuilder {
 public:
  ExpressionBuilder(const ValueFacts& facts, Kernel& kernel) : facts_(facts), kernel_(kernel) {}

  /// The element of `v` at `position`.
  NodeId read(ValueId v, const Position& position);
  /// The same, computed from the operands even when `v` lies in memory: for the kernel that puts it there.
  NodeId compute(ValueId v, const Position& position);
  /// Number of the kernel's buffer that holds `v`.
  int32_t buffer(ValueId v);
  /// The value of an index at `position` as i64, moved into [0, bound].
  NodeId clamped(ValueId index, const Position& position, const Dim& bound);

  /// The same as a part of an address; linear in the loop counters where that is known and stays within the bound.
  Index index_of(ValueId index, const Position& position, const Dim& bound);

 private:
  struct Read {
    Position position;
    NodeId node;
  };
  struct Rule;  // one case per kind of row

  NodeId load(ValueId v, const Position& position);
  NodeId add(Node node);

  const ValueFacts& facts_;
  Kernel& kernel_;
  std::unordered_map<ValueId, std::vector<Read>> reads_;
};

/// Bits of the only element of a constant.
uint64_t bits_of(const Array& scalar);
/// Where operand 0 of a CodeView op is read when its result is read at `position`.
Position viewed_position(const Function& f, const Op& op, const Position& position);
/// i0, i1, … for an array of this rank.
Position identity_position(size_t rank);

}  // namespace tercet::codegen
