#include "codegen/plan/single_parts.h"

#include <algorithm>

#include "codegen/plan/roles.h"
#include "interpreter/ir/op_def.h"
#include "interpreter/ops/rows.h"
#include "interpreter/passes/replace_ops.h"

namespace tercet::codegen {
namespace {

using Ints = std::vector<int64_t>;
using Dims = std::vector<Dim>;

constexpr size_t most_parts = 16;

size_t axis_of(const Op& concat) { return static_cast<size_t>(concat.attrs.get<int64_t>("axis")); }

/// A concat of a few parts of size 1 along its axis.
bool has_single_parts(const Function& f, const Op& op) {
  if (op.def != &concat_op || op.inputs.size() > most_parts || !is_kernel_dtype(f.type(op.output()).dtype)) return false;
  return std::all_of(op.inputs.begin(), op.inputs.end(), [&](ValueId v) { return f.type(v).dims[axis_of(op)].is(1) && !f.type(v).is_ragged(); });
}

/// Part k without the axis.
ValueId part(Builder& b, const Op& concat, size_t k) {
  Dims dims = b.type(concat.inputs[k]).dims;
  dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis_of(concat)));
  return b.emit(reshape_op, {concat.inputs[k]}, {{"dims", dims}}, concat.span);
}

// ---- [a, b, c][i] is select(i >= 2, c, select(i >= 1, b, a)) ----
std::vector<ValueId> selected(Builder& b, const Op& op) {
  const size_t axis = axis_of(op);
  Dims dims = b.type(op.inputs[0]).dims;
  dims[axis] = Dim(static_cast<int64_t>(op.inputs.size()));
  Ints others;
  for (size_t k = 0; k < dims.size(); ++k)
    if (k != axis) others.push_back(static_cast<int64_t>(k));
  auto spread = [&](ValueId v, const Ints& axes) { return b.emit(broadcast_op, {v}, {{"dims", dims}, {"axes", axes}}, op.span); };
  ValueId out = spread(part(b, op, 0), others);
  const ValueId index = op.inputs.size() == 1 ? no_value : b.emit(iota_op, {}, {{"dims", dims}, {"axis", static_cast<int64_t>(axis)}, {"dtype", DType::I32}}, op.span);
  for (size_t k = 1; k < op.inputs.size(); ++k) {
    ValueId from = spread(b.emit(constant_op, {}, {{"value", scalar_of_int(DType::I32, static_cast<int64_t>(k))}}, op.span), {});
    out = b.emit(select_op, {b.emit(ge_op, {index, from}, {}, op.span), spread(part(b, op, k), others), out}, {}, op.span);
  }
  return {out};
}

// ---- reductions whose order does not matter ----
/// The operation of two that a reduction repeats; null where it depends on the order, or on places.
const OpDef* repeated(const Op& op, DType dtype) {
  auto* reduce = std::get_if<CodeReduce>(&op.def->code);
  if (!reduce) return nullptr;
  switch (reduce->kind) {
    case ReduceKind::Max: return &maximum_op;
    case ReduceKind::Min: return &minimum_op;
    case ReduceKind::Any: return &bit_or_op;
    case ReduceKind::All: return &bit_and_op;
    case ReduceKind::Sum: return is_int(dtype) ? &add_op : nullptr;
    case ReduceKind::Prod: return is_int(dtype) ? &mul_op : nullptr;
    case ReduceKind::ArgMax:
    case ReduceKind::ArgMin: return nullptr;
  }
  return nullptr;
}

/// Operations by what they give, of the function that was asked about last.
class Definitions {
 public:
  const Op* operator()(const Function& f, ValueId v) {
    if (&f != of_) {
      of_ = &f;
      known_.clear();
      for (const Op& op : f.ops)
        if (op.def == &concat_op) known_[op.output()] = &op;
    }
    auto found = known_.find(v);
    return found == known_.end() ? nullptr : found->second;
  }

 private:
  const Function* of_ = nullptr;
  std::unordered_map<ValueId, const Op*> known_;
};

std::vector<ValueId> combined(Builder& b, const Op& op) {
  const Op concat = *b.definition(op.inputs[0]);   // emitting moves it
  const OpDef& two = *repeated(op, b.type(op.inputs[0]).dtype);
  ValueId out = part(b, concat, 0);
  for (size_t k = 1; k < concat.inputs.size(); ++k) out = b.emit(two, {out, part(b, concat, k)}, {}, op.span);
  return {out};
}

}  // namespace

FunctionPtr read_single_parts(const FunctionPtr& f) {
  Definitions concat_of;
  auto of_single_parts = [&](const Function& function, const Op& op) {
    if (op.inputs.size() != 1 || op.outputs != 1 || !repeated(op, function.type(op.inputs[0]).dtype)) return false;
    const Op* concat = concat_of(function, op.inputs[0]);
    return concat && has_single_parts(function, *concat) && function.type(op.output()).dtype == function.type(op.inputs[0]).dtype &&
           op.attrs.get<Ints>("axes") == Ints{concat->attrs.get<int64_t>("axis")};
  };
  return replace_ops(replace_ops(f, {of_single_parts, combined}), {has_single_parts, selected});
}

}  // namespace tercet::codegen
