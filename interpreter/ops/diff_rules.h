// Tools for derivative rules: formulas over values under construction, constants, and the same value under another type.
#pragma once
#include "interpreter/ir/differentiation.h"
#include "interpreter/ops/rows.h"

namespace tercet {

/// The value under a type that has the same sizes in other words.
ValueId with_type(Builder& b, ValueId value, Type type, Span span = {});
/// Every element has this value.
ValueId filled(Builder& b, Type type, double value, Span span = {});
inline ValueId zeros_of(Builder& b, Type type, Span span = {}) { return filled(b, std::move(type), 0, span); }
ValueId cotangent_or_zeros(ReverseContext& c, size_t result = 0);
ValueId take_or_zeros(ReverseContext& c, size_t operand);
/// Repeats `x`, whose axes become `axes` of the result.
ValueId repeated(Builder& b, ValueId x, const std::vector<Dim>& dims, const std::vector<int64_t>& axes, Span span);
ValueId reordered(Builder& b, ValueId x, const std::vector<int64_t>& perm, Span span);

/// An index limited to 0 .. size - 1, as i64: transposes of what clamps must clamp.
ValueId clamped(Builder& b, ValueId index, const Dim& size, Span span);

/// A value in a formula: x * exp(-y) emits the operations. Both sides of an operator have one type; numbers take it.
struct Expr {
  Builder* b = nullptr;
  ValueId id = no_value;
  Span span;

  Expr emit(const OpDef& op, std::vector<ValueId> inputs, Attrs attrs = {}) const { return {b, b->emit(op, std::move(inputs), std::move(attrs), span), span}; }
  Expr number(double value) const { return {b, filled(*b, b->type(id), value, span), span}; }
  const Type& type() const { return b->type(id); }
};
inline Expr operator+(Expr x, Expr y) { return x.emit(add_op, {x.id, y.id}); }
inline Expr operator-(Expr x, Expr y) { return x.emit(sub_op, {x.id, y.id}); }
inline Expr operator*(Expr x, Expr y) { return x.emit(mul_op, {x.id, y.id}); }
inline Expr operator/(Expr x, Expr y) { return x.emit(div_op, {x.id, y.id}); }
inline Expr operator-(Expr x) { return x.emit(neg_op, {x.id}); }
inline Expr operator+(Expr x, double y) { return x + x.number(y); }
inline Expr operator-(Expr x, double y) { return x - x.number(y); }
inline Expr operator-(double x, Expr y) { return y.number(x) - y; }
inline Expr operator*(double x, Expr y) { return y.number(x) * y; }
inline Expr operator/(double x, Expr y) { return y.number(x) / y; }
inline Expr operator==(Expr x, Expr y) { return x.emit(eq_op, {x.id, y.id}); }
inline Expr operator!=(Expr x, Expr y) { return x.emit(ne_op, {x.id, y.id}); }
inline Expr operator>(Expr x, Expr y) { return x.emit(gt_op, {x.id, y.id}); }
inline Expr operator<(Expr x, Expr y) { return x.emit(lt_op, {x.id, y.id}); }
inline Expr operator>=(Expr x, Expr y) { return x.emit(ge_op, {x.id, y.id}); }
inline Expr operator&(Expr x, Expr y) { return x.emit(bit_and_op, {x.id, y.id}); }
inline Expr operator|(Expr x, Expr y) { return x.emit(bit_or_op, {x.id, y.id}); }
inline Expr choose(Expr mask, Expr x, Expr y) { return mask.emit(select_op, {mask.id, x.id, y.id}); }
inline Expr as(Expr x, DType dtype) { return x.emit(cast_op, {x.id}, {{"dtype", dtype}}); }
/// The row of that name on these operands.
Expr call(const char* name, Expr x);
Expr call(const char* name, Expr x, Expr y);

/// PartialFn of one operand from a formula over (operand, result), of two from one per operand over (x, y, result).
template <Expr (*F)(Expr x, Expr r)> ValueId partial_1(Builder& b, const Op& op, size_t) {
  return F({&b, op.inputs[0], op.span}, {&b, op.output(), op.span}).id;
}
template <Expr (*Dx)(Expr x, Expr y, Expr r), Expr (*Dy)(Expr x, Expr y, Expr r)> ValueId partial_2(Builder& b, const Op& op, size_t i) {
  Expr x{&b, op.inputs[0], op.span}, y{&b, op.inputs[1], op.span}, r{&b, op.output(), op.span};
  return (i == 0 ? Dx : Dy)(x, y, r).id;
}

/// An array as [lines, n]: one axis brought to the end, the others joined; and back.
class Lines {
 public:
  Lines(Builder& b, const Type& type, int64_t axis, Span span);
  ValueId flat(ValueId x) const;
  ValueId back(ValueId x) const;
  const Dim& lines() const { return lines_; }
  const Dim& length() const { return length_; }
  /// Elements of each line in reverse order.
  ValueId flipped(ValueId flat) const;
  /// The products of all elements before each one.
  ValueId products_before(ValueId flat) const;
  /// Sums of `values` [lines, m] into zeros [lines, n] at `index` [lines, m].
  ValueId scattered(ValueId values, ValueId index) const;

 private:
  Builder& b_;
  std::vector<Dim> dims_;
  std::vector<int64_t> to_, from_;   // permutations
  Dim lines_ = 1, length_;
  Span span_;
};

}  // namespace tercet
