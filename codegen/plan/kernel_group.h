// A kernel while it is being planned: its roots (what must be computed for its effect or its result) over one iteration
// space.
#pragma once
#include "codegen/plan/expression.h"
#include "codegen/plan/schedule.h"

namespace tercet::codegen {

/// A value to put into memory, a reduction, a check or a scatter.
struct Root {
  enum Kind : uint8_t { StoreRoot, ReduceRoot, CheckRoot, ScatterRoot } kind;
  const Op* op = nullptr;  // not for values to put into memory
  std::vector<ValueId> outputs;
  std::vector<ValueId> reads;  // values read at the point of the iteration space
  ValueId live = no_value;     // mask over the leading axes
  std::vector<Dim> space;
  std::vector<int64_t> reduced;  // axes of reductions; of scatters, those that must be walked in order
  std::vector<Dim> sizes;        // every size it needs

  static Root store(const Function& f, ValueId v);
  /// Puts the elements of `from` into `to`.
  static Root copy(const Function& f, ValueId to, ValueId from);
  static Root scatter(const Function& f, const Op& op);
  static Root reduce(const Function& f, const Op& op);
  static Root check(const Function& f, const Op& op);
};

/// A value in memory that a root reads. `moved`: somewhere else than at the point that is computed.
struct Leaf {
  ValueId value;
  bool moved;
};
struct Leaves {
  std::vector<Leaf> values;
  std::vector<Dim> sizes;  // that what is computed on the way names
  size_t visited = 0;      // values that the root computes or reads
};
Leaves find_leaves(const ValueFacts& facts, const Root& root);

class KernelGroup {
 public:
  /// `size`: values that the root computes or reads.
  KernelGroup(const ValueFacts& facts, Root first, size_t size);
  /// Adds a root of the same iteration space unless the kernel would get too large or could not be scheduled any more.
  bool try_add(const Root& root, size_t size);
  Fit fit() const;
  bool stores(ValueId v) const;
  std::vector<ValueId> written() const;
  /// Drops the roots that put values into memory for this kernel alone, and returns these values.
  std::vector<ValueId> drop_stores(const std::vector<bool>& needed);
  Kernel finish() const;

 private:
  Kernel build(Fit& fit) const;
  void add(Kernel& k, ExpressionBuilder& expressions, const Root& root) const;

  const ValueFacts& facts_;
  std::vector<Root> roots_;
  size_t size_;
};

/// `written` may take the memory of `dying`: same elements' size and count, read only where the same element is
/// written.
bool may_reuse(const Function& f, const Kernel& kernel, ValueId written, ValueId dying);

}  // namespace tercet::codegen
