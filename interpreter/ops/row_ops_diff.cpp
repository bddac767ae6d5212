#include "interpreter/ops/row_ops_diff.h"

#include <algorithm>

#include "interpreter/ops/diff_rules.h"
#include "interpreter/ops/row_ops.h"

namespace tercet {
namespace {

using Dims = std::vector<Dim>;
using Ints = std::vector<int64_t>;

/// An operation on rows: its elements and offsets, and what lies where.
struct RowsOf {
  RowsOf(ReverseContext& context, Expr values, ValueId at)
      : c(context), b(c.out()), span(c.op().span), x(values), offsets(at), total(x.type().dims[0]), rows(b.type(offsets).dims[0] - Dim(1)) {}
  RowsOf(ReverseContext& context, size_t values, ValueId at)
      : RowsOf(context, Expr{&context.out(), context.operand(values), context.op().span}, at) {}
  explicit RowsOf(ReverseContext& context) : RowsOf(context, 0, context.op().inputs.back()) {}

  Expr expr(ValueId v) const { return {&b, v, span}; }
  ValueId ids() {
    if (ids_ == no_value) ids_ = b.emit(row_ids_op, {offsets}, {{"total", total}}, span);
    return ids_;
  }
  /// from[index, …] along axis 0.
  Expr take(ValueId from, ValueId index) const { return expr(b.emit(gather_op, {from, index}, {{"axes", Ints{0}}, {"batch", int64_t{0}}}, span)); }
  /// i64[rows]: where each row begins or, with `by` 1, ends.
  ValueId bounds(int64_t by) const {
    return b.emit(slice_op, {offsets}, {{"starts", Dims{Dim(by)}}, {"sizes", Dims{rows}}, {"steps", Ints{1}}}, span);
  }
  Expr begins() { return take(bounds(0), ids()); }   // of each element's row
  Expr ends() { return take(bounds(1), ids()); }
  Expr places() const { return expr(b.emit(iota_op, {}, {{"dims", Dims{total}}, {"axis", int64_t{0}}, {"dtype", DType::I64}}, span)); }
  /// One entry a row, repeated along the axes that a reduction of x took away.
  Expr spread(ValueId of_rows) {
    Expr each = take(of_rows, ids());
    const Dims dims = x.type().dims;
    Ints axes{0};
    for (int64_t k = x.type().rank() - each.type().rank() + 1; k < x.type().rank(); ++k) axes.push_back(k);
    return expr(repeated(b, each.id, dims, axes, span));
  }
  /// Elements of each row in reverse order.
  Expr flipped(Expr v) { return take(v.id, (begins() + ends() - places() - 1).id); }
  /// `values` added into zeros like x at index along axis 0.
  Expr scattered(ValueId values, ValueId index) {
    return expr(b.emit(scatter_op, {zeros_of(b, x.type(), span), values, index}, {{"axes", Ints{0}}, {"batch", int64_t{0}}, {"mode", std::string("add")}}, span));
  }
  /// For the elements of x as [total, n]: that place, and back.
  Expr as_matrix(Expr v) const {
    Dim n(1);
    for (size_t k = 1; k < v.type().dims.size(); ++k) n = n * v.type().dims[k];
    return v.emit(reshape_op, {v.id}, {{"dims", Dims{v.type().dims[0], n}}});
  }

  ReverseContext& c;
  Builder& b;
  Span span;
  Expr x;
  ValueId offsets;
  Dim total, rows;

 private:
  ValueId ids_ = no_value;
};

}  // namespace

void transpose_sum_rows(ReverseContext& c) {
  RowsOf r(c);
  c.add(0, r.spread(c.cotangent()).id);
}

/// The elements that equal the result share its cotangent; NaN equals NaN.
void reverse_extreme_rows(ReverseContext& c) {
  RowsOf r(c);
  Expr result = r.spread(c.result());
  Expr wins = (r.x == result) | ((r.x != r.x) & (result != result));
  const OpDef& sum = *rows_version(sum_op);
  ValueId count = r.b.emit(sum, {as(wins, r.x.type().dtype).id, r.offsets}, c.op().attrs, r.span);
  Expr share = r.spread((r.expr(c.cotangent()) / r.expr(count)).id);
  c.add(0, choose(wins, share, share.number(0)).id);
}

/// The product of all others in the row: those before times those behind.
void reverse_prod_rows(ReverseContext& c) {
  RowsOf whole(c);
  Builder& b = c.out();
  const Dims dims = whole.x.type().dims;
  const auto axes = static_cast<size_t>(c.op().attrs.get<int64_t>("axes"));
  Dim times(1);   // elements of the other reduced axes: with them the rows are that much longer
  for (size_t k = 1; k < axes; ++k) times = times * dims[k];
  Dims joined(dims.begin() + static_cast<std::ptrdiff_t>(axes), dims.end());
  joined.insert(joined.begin(), dims[0] * times);
  ValueId factor = repeated(b, b.emit(dim_value_op, {}, {{"dim", times}}, whole.span), b.type(whole.offsets).dims, {}, whole.span);
  RowsOf r(c, whole.x.emit(reshape_op, {whole.x.id}, {{"dims", joined}}), b.emit(mul_op, {whole.offsets, factor}, {}, whole.span));
  auto before = [&](Expr x) {   // products of the elements before each one: the first in a row has 1
    Expr first = r.places() == r.begins();
    Expr previous = r.take(x.id, (r.places() - 1).id);
    Ints along{0};
    Expr mask = r.expr(repeated(r.b, first.id, x.type().dims, along, r.span));
    Expr shifted = choose(mask, x.number(1), previous);
    return r.expr(r.b.emit(*rows_version(cumprod_op), {shifted.id, r.offsets}, {}, r.span));
  };
  Expr others = before(r.x) * r.flipped(before(r.flipped(r.x)));
  Expr ct = others.emit(*find_op("strong_mul"), {r.spread(c.cotangent()).id, others.id});
  c.add(0, ct.emit(reshape_op, {ct.id}, {{"dims", dims}}).id);
}

void transpose_cumsum_rows(ReverseContext& c) {
  RowsOf r(c);
  Expr flipped = r.flipped(r.expr(c.cotangent()));
  c.add(0, r.flipped(r.expr(r.b.emit(*rows_version(cumsum_op), {flipped.id, r.offsets}, {}, r.span))).id);
}

/// Each place's cotangent goes to the element that set its value: the first one, among equals.
void reverse_running_extreme_rows(ReverseContext& c) {
  RowsOf r(c);
  Expr y = r.as_matrix(r.expr(c.result())), ct = r.as_matrix(r.expr(c.cotangent()));
  const Dims dims = y.type().dims;
  auto over = [&](Expr v) { return r.expr(repeated(r.b, v.id, dims, {0}, r.span)); };
  Expr first = over(r.places() == r.begins());
  Expr start = choose(first | (y != r.take(y.id, (r.places() - 1).id)), over(r.places()), over(r.begins()));
  ValueId from = r.b.emit(*rows_version(cummax_op), {start.id, r.offsets}, {}, r.span);
  ValueId column = r.b.emit(iota_op, {}, {{"dims", dims}, {"axis", int64_t{1}}, {"dtype", DType::I64}}, r.span);
  ValueId sums = r.b.emit(scatter_op, {zeros_of(r.b, y.type(), r.span), ct.id, from, column}, {{"axes", Ints{0, 1}}, {"batch", int64_t{0}}, {"mode", std::string("add")}}, r.span);
  c.add(0, r.b.emit(reshape_op, {sums}, {{"dims", r.x.type().dims}}, r.span));
}

void reverse_sort_rows(ReverseContext& c) {
  RowsOf r(c);
  Expr order = r.as_matrix(as(r.expr(r.b.emit(*rows_version(argsort_op), {r.x.id, r.offsets}, c.op().attrs, r.span)), DType::I64));
  Expr ct = r.as_matrix(r.expr(c.cotangent()));
  Expr from = order + r.expr(repeated(r.b, r.begins().id, order.type().dims, {0}, r.span));
  ValueId column = r.b.emit(iota_op, {}, {{"dims", order.type().dims}, {"axis", int64_t{1}}, {"dtype", DType::I64}}, r.span);
  ValueId sums = r.b.emit(scatter_op, {zeros_of(r.b, ct.type(), r.span), ct.id, from.id, column}, {{"axes", Ints{0, 1}}, {"batch", int64_t{0}}, {"mode", std::string("add")}}, r.span);
  c.add(0, r.b.emit(reshape_op, {sums}, {{"dims", r.x.type().dims}}, r.span));
}

void reverse_top_k_rows(ReverseContext& c) {
  if (c.cotangent(0) == no_value) return;
  RowsOf r(c);
  Expr at = as(r.expr(c.result(1)), DType::I64);
  at = at + r.expr(repeated(r.b, r.bounds(0), at.type().dims, {0}, r.span));
  c.add(0, r.scattered(c.cotangent(0), at.id).id);
}

void transpose_gather_sum_rows(ReverseContext& c) {
  if (!c.wanted(0)) return;
  Builder& b = c.out();
  const ValueId ids = c.operand(1), offsets = c.operand(2);
  ValueId row = b.emit(row_ids_op, {offsets}, {{"total", b.type(ids).dims[0]}}, c.op().span);
  ValueId each = b.emit(gather_op, {c.cotangent(), row}, {{"axes", Ints{0}}, {"batch", int64_t{0}}}, c.op().span);
  ValueId sum = take_or_zeros(c, 0);
  c.add(0, b.emit(scatter_op, {sum, each, ids}, {{"axes", Ints{0}}, {"batch", int64_t{0}}, {"mode", std::string("add")}}, c.op().span));
}

void transpose_concat_rows(ReverseContext& c) {
  const ValueId whole = c.op().inputs.back();
  Builder& b = c.out();
  const Dim rows = b.type(whole).dims[0] - Dim(1);
  Expr at{&b, b.emit(slice_op, {whole}, {{"starts", Dims{Dim(0)}}, {"sizes", Dims{rows}}, {"steps", Ints{1}}}, c.op().span), c.op().span};
  for (size_t p = 0; p + 1 < c.op().inputs.size(); p += 2) {
    RowsOf part(c, p, c.operand(p + 1));
    if (c.wanted(p)) {
      Expr place = part.places() - part.begins() + part.take(at.id, part.ids());
      c.add(p, part.take(c.cotangent(), place.id).id);
    }
    at = at + part.expr(part.bounds(1)) - part.expr(part.bounds(0));
  }
}

/// a [total, m…] and b [total, n…] gave [rows, m…, n…].
void transpose_dot_rows(ReverseContext& c) {
  RowsOf r(c);
  Expr ct = r.take(c.cotangent(), r.ids());
  const int64_t m = r.b.type(c.operand(0)).rank() - 1, n = r.b.type(c.operand(1)).rank() - 1;
  for (size_t side : {size_t{0}, size_t{1}}) {
    if (!c.wanted(side)) continue;
    Ints other{0}, summed;   // the axes of ct that the other side's are, and those that the sum takes away
    for (int64_t k = 0; k < (side ? m : n); ++k) other.push_back(1 + (side ? k : m + k)), summed.push_back(other.back());
    Expr product = ct * r.expr(repeated(r.b, c.operand(1 - side), ct.type().dims, other, r.span));
    c.add(side, summed.empty() ? product.id : r.b.emit(sum_op, {product.id}, {{"axes", summed}}, r.span));
  }
}

void transpose_rows_at(ReverseContext& c) {
  c.add(0, c.out().emit(*find_op("flatten"), {c.cotangent()}, {{"defines", Dim::symbol("total")}}, c.op().span));
}

void transpose_flatten(ReverseContext& c) {
  Builder& b = c.out();
  const Dims& dims = b.type(c.operand(0)).dims;
  if (std::count_if(dims.begin(), dims.end(), [](const Dim& d) { return d.is_ragged(); }) != 1)
    fail(Kind::Unsupported, c.op().span, "the gradient of rows of rows of different length");
  c.add(0, b.emit(rows_at_op, {c.cotangent(), b.emit(row_offsets_op, {c.operand(0)}, {}, c.op().span)}, {}, c.op().span));
}

}  // namespace tercet
