// Helpers for batch rules: attributes of an operation that gets one more axis in front.
#pragma once
#include "interpreter/ir/batching.h"
#include "interpreter/ir/eval.h"
#include "interpreter/ir/op_def.h"

namespace tercet {

/// sizes with the lanes in front.
inline std::vector<Dim> with_lanes(const BatchContext& c, const std::vector<Dim>& sizes) {
  std::vector<Dim> out = c.sizes(sizes);
  out.insert(out.begin(), c.lanes());
  return out;
}

/// axes counted one further, optionally with axis 0 in front.
inline std::vector<int64_t> shifted(std::vector<int64_t> axes, bool with_zero = false) {
  for (int64_t& a : axes) ++a;
  if (with_zero) axes.insert(axes.begin(), 0);
  return axes;
}

template <class T> std::vector<T> prepended(T first, std::vector<T> rest) {
  rest.insert(rest.begin(), std::move(first));
  return rest;
}

/// Every operand with a lane axis.
inline std::vector<ValueId> all_mapped(BatchContext& c, std::span<const BatchedValue> operands, Span span) {
  std::vector<ValueId> out;
  for (const BatchedValue& v : operands) out.push_back(c.mapped(v, span));
  return out;
}

/// Emits `op` with new attributes on mapped operands; every result is mapped.
inline std::vector<BatchedValue> emit_mapped(BatchContext& c, const Op& op, std::vector<ValueId> inputs, Attrs attrs) {
  std::vector<BatchedValue> out;
  for (ValueId v : c.out().emit_many(*op.def, std::move(inputs), std::move(attrs), op.span)) out.push_back({v, true});
  return out;
}

/// Which operands have a lane axis.
inline std::vector<bool> flags_of(std::span<const BatchedValue> operands) {
  std::vector<bool> out;
  for (const BatchedValue& v : operands) out.push_back(v.mapped);
  return out;
}

/// Operands of an operation with closed bodies: the mask of live lanes goes behind them.
inline std::vector<ValueId> with_live(BatchContext& c, std::vector<ValueId> inputs) {
  if (c.live() != no_value) inputs.push_back(c.live());
  return inputs;
}

/// The first two axes change places: lanes and what is in front of them.
ValueId swap_front(Builder& b, ValueId v, Span span);

}  // namespace tercet
