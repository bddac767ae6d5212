// Batch rules for lanes whose sizes differ: code on the packed elements of all lanes (batching.h), with the results of a
// loop over the lanes. What a rule cannot express stops with LaneDependentSize, and the lanes run one by one.
#pragma once
#include "interpreter/ir/batching.h"

namespace tercet {

#define TERCET_FLAT_RULE(name) \
  std::vector<BatchedValue> name(BatchContext& c, const Function& f, const Op& op, std::span<const BatchedValue> in)
// flat_structure.cpp
TERCET_FLAT_RULE(flat_iota);
TERCET_FLAT_RULE(flat_dim_value);
TERCET_FLAT_RULE(flat_broadcast);
TERCET_FLAT_RULE(flat_reshape);
TERCET_FLAT_RULE(flat_transpose);
TERCET_FLAT_RULE(flat_slice);
TERCET_FLAT_RULE(flat_concat);
// flat_indexing.cpp
TERCET_FLAT_RULE(flat_gather);
TERCET_FLAT_RULE(flat_scatter);
TERCET_FLAT_RULE(flat_window);
TERCET_FLAT_RULE(flat_slice_update);
TERCET_FLAT_RULE(flat_window_update);
TERCET_FLAT_RULE(flat_nonzero);
// flat_reductions.cpp
TERCET_FLAT_RULE(flat_reduce);
TERCET_FLAT_RULE(flat_scan);
TERCET_FLAT_RULE(flat_sorting);
TERCET_FLAT_RULE(flat_top_k);
TERCET_FLAT_RULE(flat_dot);
// flat_text.cpp
TERCET_FLAT_RULE(flat_as_rows);      // whose operand is one array of rows, and whose result has one value for each
TERCET_FLAT_RULE(flat_encode);
#undef TERCET_FLAT_RULE

/// Emits the ops that flat rules are made of.
class FlatEmitter {
 public:
  FlatEmitter(BatchContext& c, Span span) : c_(c), b_(c.out()), span_(span) {}
  ValueId number(int64_t value);
  ValueId add(ValueId a, ValueId b);
  ValueId multiply(ValueId a, int64_t by);
  ValueId wide(ValueId index);                                            // as i64
  /// `x` with its axis k as axis axes[k] of the result.
  ValueId spread(ValueId x, const std::vector<Dim>& dims, std::vector<int64_t> axes);
  /// x[index, …] along axis 0; index of any rank.
  ValueId take(ValueId x, ValueId index);
  /// i64[lanes]: where each lane begins.
  ValueId begins(const Packing& p);
  /// A value that has one entry for each lane along axis 0 (or is shared), for each element of packed lanes.
  ValueId for_each_element(BatchedValue v, const Packing& p);
  const std::vector<Dim>& dims(ValueId v) const { return b_.type(v).dims; }
  BatchContext& context() { return c_; }

 private:
  BatchContext& c_;
  Builder& b_;
  Span span_;
};

/// Lanes of a value that is not packed have these sizes in the batched function; only axis 0 of an operand or result may vary.
void require_even(BatchContext& c, std::span<const Dim> dims, Span span);
/// {lanes, …} for a mapped value, the dims themselves for a shared one.
std::vector<Dim> rest_of(BatchContext& c, const std::vector<Dim>& lane_dims, size_t from);
/// Array code for lanes of different length gives the rows of a ragged operand to the op: (ragged…) -> its result.
std::vector<BatchedValue> unpacked(BatchContext& c, const Op& op, ValueId ragged, const Dim& symbol);

}  // namespace tercet
