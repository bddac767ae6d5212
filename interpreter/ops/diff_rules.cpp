#include "interpreter/ops/diff_rules.h"

#include "interpreter/runtime/array.h"

namespace tercet {

using Ints = std::vector<int64_t>;
using Dims = std::vector<Dim>;

ValueId with_type(Builder& b, ValueId value, Type type, Span span) {
  if (b.type(value).dims == type.dims) return value;
  return b.emit(reshape_op, {value}, {{"dims", type.dims}}, span);
}

ValueId filled(Builder& b, Type type, double value, Span span) {
  ValueId one = b.emit(constant_op, {}, {{"value", scalar_of(type.dtype, value)}}, span);
  return type.dims.empty() ? one : repeated(b, one, type.dims, {}, span);
}

ValueId cotangent_or_zeros(ReverseContext& c, size_t result) {
  ValueId ct = c.cotangent(result);
  return ct != no_value ? ct : zeros_of(c.out(), c.out().type(c.result(result)), c.op().span);
}

ValueId take_or_zeros(ReverseContext& c, size_t operand) {
  ValueId sum = c.take(operand);
  return sum != no_value ? sum : zeros_of(c.out(), c.out().type(c.operand(operand)), c.op().span);
}

ValueId repeated(Builder& b, ValueId x, const Dims& dims, const Ints& axes, Span span) {
  return b.emit(broadcast_op, {x}, {{"dims", dims}, {"axes", axes}}, span);
}

ValueId reordered(Builder& b, ValueId x, const Ints& perm, Span span) {
  for (size_t k = 0; k < perm.size(); ++k)
    if (perm[k] != static_cast<int64_t>(k)) return b.emit(transpose_op, {x}, {{"perm", perm}}, span);
  return x;
}

ValueId clamped(Builder& b, ValueId index, const Dim& size, Span span) {
  Type type = b.type(index);
  type.dtype = DType::I64;
  ValueId last = b.emit(dim_value_op, {}, {{"dim", size - 1}}, span);
  if (!type.dims.empty()) last = repeated(b, last, type.dims, {}, span);
  ValueId wide = b.emit(cast_op, {index}, {{"dtype", DType::I64}}, span);
  return b.emit(minimum_op, {b.emit(maximum_op, {wide, zeros_of(b, type, span)}, {}, span), last}, {}, span);
}

Expr call(const char* name, Expr x) { return x.emit(*find_op(name), {x.id}); }
Expr call(const char* name, Expr x, Expr y) { return x.emit(*find_op(name), {x.id, y.id}); }

Lines::Lines(Builder& b, const Type& type, int64_t axis, Span span) : b_(b), span_(span) {
  for (int64_t k = 0; k < type.rank(); ++k)
    if (k != axis) to_.push_back(k);
  to_.push_back(axis);
  from_.resize(to_.size());
  for (size_t k = 0; k < to_.size(); ++k) {
    from_[static_cast<size_t>(to_[k])] = static_cast<int64_t>(k);
    dims_.push_back(type.dims[static_cast<size_t>(to_[k])]);
    if (k + 1 < to_.size()) lines_ = lines_ * dims_[k];
  }
  length_ = dims_.back();
}

ValueId Lines::flat(ValueId x) const {
  ValueId moved = reordered(b_, x, to_, span_);
  return b_.emit(reshape_op, {moved}, {{"dims", Dims{lines_, b_.type(moved).dims.back()}}}, span_);
}

ValueId Lines::back(ValueId x) const {
  Dims dims = dims_;
  dims.back() = b_.type(x).dims.back();
  return reordered(b_, b_.emit(reshape_op, {x}, {{"dims", dims}}, span_), from_, span_);
}

ValueId Lines::flipped(ValueId flat) const {
  return b_.emit(slice_op, {flat}, {{"starts", Dims{0, length_ - 1}}, {"sizes", Dims{lines_, length_}}, {"steps", Ints{1, -1}}}, span_);
}

ValueId Lines::products_before(ValueId flat) const {
  ValueId ones = filled(b_, {b_.type(flat).dtype, {lines_, 1}}, 1, span_);
  ValueId shifted = b_.emit(concat_op, {ones, flat}, {{"axis", int64_t{1}}}, span_);
  ValueId all = b_.emit(cumprod_op, {shifted}, {{"axis", int64_t{1}}}, span_);
  return b_.emit(slice_op, {all}, {{"starts", Dims{0, 0}}, {"sizes", Dims{lines_, length_}}, {"steps", Ints{1, 1}}}, span_);
}

ValueId Lines::scattered(ValueId values, ValueId index) const {
  ValueId zeros = zeros_of(b_, {b_.type(values).dtype, {lines_, length_}}, span_);
  return b_.emit(scatter_op, {zeros, values, index}, {{"axes", Ints{1}}, {"batch", int64_t{1}}, {"mode", std::string("add")}}, span_);
}

}  // namespace tercet
