#include "interpreter/ops/indexing_diff.h"

#include <algorithm>

#include "interpreter/ops/diff_rules.h"
#include "interpreter/ops/view_rules.h"

namespace tercet {
namespace {

using Ints = std::vector<int64_t>;
using Dims = std::vector<Dim>;

std::vector<ValueId> from(const Op& op, size_t first) { return {op.inputs.begin() + static_cast<std::ptrdiff_t>(first), op.inputs.end()}; }

/// What a scatter's reverse rule is made of: reads and writes at the same indices.
struct Scattered {
  explicit Scattered(ReverseContext& context)
      : c(context), b(c.out()), axes(c.op().attrs.get<Ints>("axes")), batch(c.op().attrs.get<int64_t>("batch")), indices(from(c.op(), 2)),
        x(expr(c.operand(0))), v(expr(c.operand(1))), result(expr(c.result())), ct(expr(c.cotangent())) {}

  Expr expr(ValueId id) const { return {&b, id, c.op().span}; }
  Expr read(Expr from) const { return gather(from, axes); }
  Expr gather(Expr from, const Ints& at) const {
    std::vector<ValueId> inputs = indices;
    inputs.insert(inputs.begin(), from.id);
    return from.emit(gather_op, std::move(inputs), {{"axes", at}, {"batch", batch}});
  }
  Expr write(Expr to, Expr values, const char* mode) const { return scatter(to, values, axes, mode); }
  Expr scatter(Expr to, Expr values, const Ints& at, const char* mode) const {
    std::vector<ValueId> inputs{to.id, values.id};
    inputs.insert(inputs.end(), indices.begin(), indices.end());
    return to.emit(scatter_op, std::move(inputs), {{"axes", at}, {"batch", batch}, {"mode", std::string(mode)}});
  }
  /// A value per position, repeated for the elements that belong to it.
  Expr per_element(Expr position) const {
    if (position.type().rank() == v.type().rank()) return position;
    Ints axes_of;
    for (int64_t k = 0; k < position.type().rank(); ++k) axes_of.push_back(k);
    return expr(repeated(b, position.id, v.type().dims, axes_of, c.op().span));
  }
  /// Positions whose indices are in range: others were left out.
  Expr in_range() const {
    Expr all;
    for (size_t j = 0; j < axes.size(); ++j) {
      Expr i = expr(b.emit(cast_op, {indices[j]}, {{"dtype", DType::I64}}, c.op().span));
      ValueId size = b.emit(dim_value_op, {}, {{"dim", x.type().dims[static_cast<size_t>(axes[j])]}}, c.op().span);
      Expr n = i.type().rank() ? expr(repeated(b, size, i.type().dims, {}, c.op().span)) : expr(size);
      Expr inside = (i >= i.number(0)) & (i < n);
      all = all.b ? all & inside : inside;
    }
    return all;
  }
  /// Positions that wrote last to their place.
  Expr last() const {
    Dims dims;
    Ints places;
    for (int64_t k = 0; k < x.type().rank(); ++k) {
      if (k >= batch && !contains(axes, k)) continue;
      dims.push_back(x.type().dims[static_cast<size_t>(k)]);
    }
    for (int64_t axis : axes) {   // the kept axes keep their order
      auto before = std::count_if(axes.begin(), axes.end(), [&](int64_t other) { return other < axis; });
      places.push_back(batch + before);
    }
    const Dims positions = b.type(indices[0]).dims;
    Dim count = 1;
    for (const Dim& d : positions) count = count * d;
    ValueId line = b.emit(iota_op, {}, {{"dims", Dims{count}}, {"axis", int64_t{0}}, {"dtype", DType::I64}}, c.op().span);
    Expr number = expr(b.emit(reshape_op, {line}, {{"dims", positions}}, c.op().span));
    Expr none = expr(filled(b, {DType::I64, dims}, -1, c.op().span));
    return gather(scatter(none, number, places, "set"), places) == number;
  }

  ReverseContext& c;
  Builder& b;
  const Ints& axes;
  int64_t batch;
  std::vector<ValueId> indices;
  Expr x, v, result, ct;
};

void reverse_add(const Scattered& s) {
  s.c.add(0, s.ct.id);
  if (!s.c.wanted(1)) return;
  Expr read = s.read(s.ct);
  s.c.add(1, choose(s.per_element(s.in_range()), read, read.number(0)).id);
}

void reverse_set(const Scattered& s) {
  if (s.c.wanted(0)) s.c.add(0, s.write(s.ct, s.v.number(0), "set").id);
  if (!s.c.wanted(1)) return;
  Expr read = s.read(s.ct);
  s.c.add(1, choose(s.per_element(s.in_range() & s.last()), read, read.number(0)).id);
}

/// All that equal the largest (smallest) share.
void reverse_extreme(const Scattered& s) {
  DType dtype = s.x.type().dtype;
  Expr x_wins = s.x == s.result, v_wins = (s.v == s.read(s.result)) & s.per_element(s.in_range());
  Expr share = s.ct / s.write(as(x_wins, dtype), as(v_wins, dtype), "add");
  s.c.add(0, choose(x_wins, share, share.number(0)).id);
  Expr read = s.read(share);
  s.c.add(1, choose(v_wins, read, read.number(0)).id);
}

/// The product of all other factors: the product of those that are not zero, if none or only this one is zero.
void reverse_multiply(const Scattered& s) {
  DType dtype = s.x.type().dtype;
  auto zero = [](Expr e) { return e == e.number(0); };
  auto or_one = [&](Expr e) { return choose(zero(e), e.number(1), e); };
  Expr zeros = s.write(as(zero(s.x), dtype), as(zero(s.v), dtype), "add");
  Expr product = s.write(or_one(s.x), or_one(s.v), "mul");
  auto others = [&](Expr factor, Expr zeros_there, Expr product_there) {
    Expr other_zeros = zeros_there - as(zero(factor), dtype);
    return choose(zero(other_zeros), product_there / or_one(factor), factor.number(0));
  };
  Expr of_x = others(s.x, zeros, product), of_v = others(s.v, s.read(zeros), s.read(product));
  s.c.add(0, s.ct.emit(strong_mul_op, {s.ct.id, of_x.id}).id);
  Expr ct = s.read(s.ct), inside = s.per_element(s.in_range());
  s.c.add(1, choose(inside, ct.emit(strong_mul_op, {ct.id, of_v.id}), ct.number(0)).id);
}

}  // namespace

void transpose_gather(ReverseContext& c) {
  Builder& b = c.out();
  const Attrs& attrs = c.op().attrs;
  const Ints& axes = attrs.get<Ints>("axes");
  std::vector<ValueId> inputs{take_or_zeros(c, 0), c.cotangent()};
  for (size_t j = 0; j < axes.size(); ++j)   // gather clamps, and so must this
    inputs.push_back(clamped(b, c.operand(j + 1), b.type(c.operand(0)).dims[static_cast<size_t>(axes[j])], c.op().span));
  Attrs place{{"axes", axes}, {"batch", attrs.get<int64_t>("batch")}, {"mode", std::string("add")}};
  c.add(0, c.out().emit(scatter_op, std::move(inputs), std::move(place), c.op().span));
}

void transpose_window(ReverseContext& c) {
  Builder& b = c.out();
  const Attrs& attrs = c.op().attrs;
  ValueId ct = c.cotangent(), sum = c.take(0), start = c.operand(1);
  if (sum != no_value) ct = b.emit(add_op, {b.emit(window_op, {sum, start}, attrs, c.op().span), ct}, {}, c.op().span);
  Attrs place{{"axis", attrs.get<int64_t>("axis")}, {"batch", attrs.get<int64_t>("batch")}};
  ValueId whole = sum != no_value ? sum : zeros_of(b, b.type(c.operand(0)), c.op().span);
  c.add(0, b.emit(window_update_op, {whole, ct, start}, std::move(place), c.op().span));
}

void transpose_window_update(ReverseContext& c) {
  Builder& b = c.out();
  ValueId ct = c.cotangent(), start = c.operand(2);
  const Type part = b.type(c.operand(1));
  if (c.wanted(0)) c.add(0, b.emit(window_update_op, {ct, zeros_of(b, part, c.op().span), start}, c.op().attrs, c.op().span));
  if (!c.wanted(1)) return;
  int64_t axis = c.op().attrs.get<int64_t>("axis");
  Attrs place{{"axis", axis}, {"batch", c.op().attrs.get<int64_t>("batch")}, {"size", part.dims[static_cast<size_t>(axis)]}};
  c.add(1, b.emit(window_op, {ct, start}, std::move(place), c.op().span));
}

void transpose_slice_update(ReverseContext& c) {
  Builder& b = c.out();
  ValueId ct = c.cotangent();
  const Type part = b.type(c.operand(1));
  if (c.wanted(0)) c.add(0, b.emit(slice_update_op, {ct, zeros_of(b, part, c.op().span)}, c.op().attrs, c.op().span));
  if (!c.wanted(1)) return;
  Attrs place = c.op().attrs;
  place.set("sizes", part.dims);
  c.add(1, b.emit(slice_op, {ct}, std::move(place), c.op().span));
}

void reverse_scatter(ReverseContext& c) {
  Scattered s(c);
  const std::string& mode = c.op().attrs.get<std::string>("mode");
  if (mode == "add") reverse_add(s);
  else if (mode == "set") reverse_set(s);
  else if (mode == "mul") reverse_multiply(s);
  else reverse_extreme(s);
}

}  // namespace tercet
