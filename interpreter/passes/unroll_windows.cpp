#include "interpreter/passes/unroll_windows.h"

#include <algorithm>

#include "interpreter/ir/op_def.h"
#include "interpreter/ops/diff_rules.h"
#include "interpreter/ops/rows.h"
#include "interpreter/passes/replace_ops.h"
#include "interpreter/runtime/reduce.h"

namespace tercet {
namespace {

using Ints = std::vector<int64_t>;
using Dims = std::vector<Dim>;

constexpr int most_operations = 160;   // that a sum may become; bounds the time to compile it

Dims without(Dims dims, size_t axis) {
  dims.erase(dims.begin() + static_cast<ptrdiff_t>(axis));
  return dims;
}

/// An expression read at one place along an axis: the operations again, without that axis.
class Element {
 public:
  Element(Builder& b, int64_t at, Span span) : b_(b), at_(at), span_(span) {}

  ValueId of(ValueId v, size_t axis) {
    const Op* found = b_.definition(v);
    if (!found) return sliced(v, axis);
    const Op op = *found;   // emitting moves it
    if (std::holds_alternative<CodeElementwise>(op.def->code)) {
      std::vector<ValueId> inputs;
      for (ValueId x : op.inputs) inputs.push_back(of(x, axis));
      return b_.emit(*op.def, std::move(inputs), op.attrs, op.span);
    }
    if (op.def == &broadcast_op) return of_broadcast(op, axis);
    if (op.def == &iota_op) return of_iota(op, axis);
    if (op.def == &gather_op && axis < b_.type(op.inputs[1]).dims.size()) {
      std::vector<ValueId> inputs{op.inputs[0]};
      for (size_t k = 1; k < op.inputs.size(); ++k) inputs.push_back(of(op.inputs[k], axis));
      return b_.emit(gather_op, std::move(inputs), op.attrs, op.span);
    }
    return sliced(v, axis);
  }

 private:
  ValueId of_broadcast(const Op& op, size_t axis) {
    Ints axes = op.attrs.get<Ints>("axes");
    ValueId x = op.inputs[0];
    for (size_t k = axes.size(); k-- > 0;)
      if (axes[k] == static_cast<int64_t>(axis)) {
        x = b_.type(x).dims[k].is(1) ? Element(b_, 0, span_).of(x, k) : of(x, k);
        axes.erase(axes.begin() + static_cast<ptrdiff_t>(k));
      }
    for (int64_t& a : axes) a -= a > static_cast<int64_t>(axis);
    return b_.emit(broadcast_op, {x}, {{"dims", without(op.attrs.get<Dims>("dims"), axis)}, {"axes", axes}}, op.span);
  }
  ValueId of_iota(const Op& op, size_t axis) {
    const Dims dims = without(op.attrs.get<Dims>("dims"), axis);
    const auto counted = static_cast<size_t>(op.attrs.get<int64_t>("axis"));
    const DType dtype = op.attrs.get<DType>("dtype");
    if (counted == axis) return filled(b_, {dtype, dims}, static_cast<double>(at_), op.span);
    return b_.emit(iota_op, {}, {{"dims", dims}, {"axis", static_cast<int64_t>(counted - (counted > axis))}, {"dtype", dtype}}, op.span);
  }
  ValueId sliced(ValueId v, size_t axis) {
    Dims sizes = b_.type(v).dims, starts(sizes.size(), Dim(0));
    starts[axis] = Dim(at_);
    sizes[axis] = Dim(1);
    ValueId part = b_.emit(slice_op, {v}, {{"starts", starts}, {"sizes", sizes}, {"steps", Ints(sizes.size(), 1)}}, span_);
    return b_.emit(reshape_op, {part}, {{"dims", without(sizes, axis)}}, span_);
  }

  Builder& b_;
  int64_t at_;
  Span span_;
};

/// What a sum reads, as far as windows are concerned.
class Windows {
 public:
  explicit Windows(const Builder& b) : b_(b) {}

  /// Somewhere below `v` elements are read at counted places along `axis`; nothing there would be computed more often than before.
  bool found(ValueId v, size_t axis) { return visit(v, axis) && windows_; }
  int operations() const { return operations_; }

 private:
  bool visit(ValueId v, size_t axis) {
    const Op* op = b_.definition(v);
    if (!op || b_.type(v).is_ragged() || ++operations_ > most_operations) return false;
    if (std::holds_alternative<CodeElementwise>(op->def->code))
      return std::all_of(op->inputs.begin(), op->inputs.end(), [&](ValueId x) { return visit(x, axis); });
    if (op->def == &broadcast_op) return true;
    if (op->def != &gather_op || axis >= b_.type(op->inputs[1]).dims.size()) return false;
    windows_ = true;
    return std::all_of(op->inputs.begin() + 1, op->inputs.end(), [&](ValueId x) { return is_counted(x); });
  }
  /// Made of loop counters and constants alone.
  bool is_counted(ValueId v) {
    const Op* op = b_.definition(v);
    if (!op || ++operations_ > most_operations) return false;
    if (op->def == &iota_op || op->def == &constant_op || op->def == &dim_value_op) return true;
    if (op->def != &broadcast_op && !std::holds_alternative<CodeElementwise>(op->def->code)) return false;
    return std::all_of(op->inputs.begin(), op->inputs.end(), [&](ValueId x) { return is_counted(x); });
  }

  const Builder& b_;
  bool windows_ = false;
  int operations_ = 0;
};

/// How many elements each result sums, when it is a known small number; else 0.
int64_t length_of(const Type& type, const Op& op) {
  const Ints& axes = op.attrs.get<Ints>("axes");
  if (axes.size() != 1 || type.is_ragged() || type.dtype == DType::F16 || type.dtype == DType::BF16 || type.dtype == DType::Bool) return 0;
  const int64_t length = type.dims[static_cast<size_t>(axes[0])].constant().value_or(0);
  return length >= 2 && length <= reduce_partials ? length : 0;
}

bool may_be_unrolled(const Function& f, const Op& op) { return op.def == &sum_op && length_of(f.type(op.inputs[0]), op) > 0; }

std::vector<ValueId> unrolled(Builder& b, const Op& op) {
  const int64_t length = length_of(b.type(op.inputs[0]), op);
  const auto axis = static_cast<size_t>(op.attrs.get<Ints>("axes")[0]);
  Windows windows(b);
  if (length == 0 || !windows.found(op.inputs[0], axis) || windows.operations() * length > most_operations)
    return {b.emit(sum_op, op.inputs, op.attrs, op.span)};
  std::vector<ValueId> p;
  for (int64_t e = 0; e < length; ++e) p.push_back(Element(b, e, op.span).of(op.inputs[0], axis));
  // The tree over the partials, of which each element is one.
  for (size_t half = reduce_partials / 2; half > 0; half /= 2)
    for (size_t j = 0; j < half && j + half < p.size(); ++j) p[j] = b.emit(add_op, {p[j], p[j + half]}, {}, op.span);
  return {p[0]};
}

}  // namespace

FunctionPtr unroll_windows(const FunctionPtr& f) { return replace_ops(f, {may_be_unrolled, unrolled}); }

}  // namespace tercet
